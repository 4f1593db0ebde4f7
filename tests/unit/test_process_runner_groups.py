"""Control groups and sizes of machines, over trees of files such as the kernel shows."""

from __future__ import annotations

from pathlib import Path

from acai_server.runners import cgroups, machines
from acai_server.runners.cgroups import Cgroups

MIB = 1024**2


def first_version(root: Path, own: str = "/user") -> Path:
    """Make hierarchies of version 1, the controllers of the CPU together; returns what stands for /proc/self."""
    lines, rows = [], []
    for number, names in enumerate(("memory", "cpu,cpuacct", "pids", "freezer"), 1):
        mount = root / names
        (mount / own.lstrip("/")).mkdir(parents=True)
        (mount / own.lstrip("/") / "cgroup.procs").touch()
        lines.append(f"{number}:{names}:{own}")
        rows.append(f"3{number} 2 0:3{number} / {mount} rw,nosuid - cgroup cgroup rw,{names}")
    return proc(root, lines, rows)


def second_version(root: Path, own: str, shown: str = "/") -> tuple[Path, Path]:
    """Make a hierarchy of version 2; returns its root, and what stands for /proc/self."""
    mount = root / "unified"
    mount.mkdir()
    (mount / "cgroup.controllers").write_text("cpuset cpu io memory pids\n")
    lines = [f"0::{own}"]
    return mount, proc(root, lines, [f"30 2 0:30 {shown} {mount} rw - cgroup2 cgroup2 rw"])


def proc(root: Path, lines: list[str], rows: list[str]) -> Path:
    found = root / "proc"
    found.mkdir()
    (found / "cgroup").write_text("".join(f"{line}\n" for line in lines))
    (found / "mountinfo").write_text("\n".join(["22 1 8:1 / / rw - ext4 /dev/sda1 rw", *rows]) + "\n")
    return found


def group(folder: Path, switched: str | None = None, **files: str) -> Path:
    """Make a group with these files."""
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "cgroup.procs").touch()
    (folder / "cgroup.controllers").write_text("cpuset cpu io memory pids\n")
    if switched is not None:
        (folder / "cgroup.subtree_control").write_text(switched)
    for name, text in files.items():
        (folder / name.replace("_", ".", 1)).write_text(text)
    return folder


def test_a_process_is_found_in_each_hierarchy_that_limits_something(tmp_path: Path) -> None:
    found = cgroups.mounts(first_version(tmp_path))
    assert [(mount.own.relative_to(tmp_path), mount.version) for mount in found] == [
        (Path("memory/user"), 1),
        (Path("cpu,cpuacct/user"), 1),
        (Path("pids/user"), 1),
    ]


def test_a_container_sees_its_own_group_as_the_root(tmp_path: Path) -> None:
    mount, here = second_version(tmp_path, "/docker/abc/inner", shown="/docker/abc")
    group(mount / "inner")
    assert [found.own for found in cgroups.mounts(here)] == [mount / "inner"]


def test_a_group_that_is_not_shown_here_is_the_root(tmp_path: Path) -> None:
    mount, here = second_version(tmp_path, "/../../elsewhere")
    assert [found.own for found in cgroups.mounts(here)] == [mount]


def test_without_control_groups_there_are_none(tmp_path: Path) -> None:
    groups = Cgroups("acai-x", proc=proc(tmp_path, [], []))
    assert (groups.make("job-1", 1, MIB), groups.paths("job-1"), groups.leftovers(set())) == ([], [], [])


def test_a_group_is_made_below_ours_in_each_hierarchy_of_version_1(tmp_path: Path) -> None:
    groups = Cgroups("acai-x", proc=first_version(tmp_path))
    made = groups.make("job-1", 1, MIB)
    names = ("memory", "cpu,cpuacct", "pids")
    assert made == [str(tmp_path / name / "user" / "acai-x" / "job-1") for name in names] == groups.paths("job-1")


def test_our_group_is_there_only_while_attempts_are(tmp_path: Path) -> None:
    groups = Cgroups("acai-x", proc=first_version(tmp_path))
    ours = tmp_path / "memory" / "user" / "acai-x"
    assert not ours.exists()
    made = groups.make("job-1", 1, MIB)
    groups.close()
    assert ours.exists()
    cgroups.remove(made)
    groups.close()
    assert not ours.exists()


def test_groups_of_attempts_that_nobody_knows_are_left_over(tmp_path: Path) -> None:
    here = first_version(tmp_path)
    made = Cgroups("acai-x", proc=here).make("job-1", 1, MIB)
    Cgroups("acai-x", proc=here).make("job-2", 1, MIB)
    assert Cgroups("acai-x", proc=here).leftovers({"job-2"}) == made
    assert Cgroups("acai-other", proc=here).leftovers(set()) == []


def test_limits_of_version_2_are_written_where_the_kernel_has_them(tmp_path: Path) -> None:
    mount, here = second_version(tmp_path, "/")
    group(mount, "")
    ours = group(mount / "acai-x", "")
    groups = Cgroups("acai-x", proc=here, max_processes=7)
    limits = {"memory_max": "", "memory_swap.max": "", "cpu_max": "", "cpu_weight": "", "pids_max": ""}
    mine = group(ours / "job-1", **limits)
    assert groups.make("job-1", 1.5, 600 * MIB) == [str(mine)]
    said = {name: (mine / name.replace("_", ".", 1)).read_text() for name in limits}
    assert said == {
        "memory_max": str(600 * MIB),
        "memory_swap.max": "0",
        "cpu_max": "150000 100000",
        "cpu_weight": "150",
        "pids_max": "7",
    }
    assert (ours / "cgroup.subtree_control").read_text() == "+cpu +memory +pids"


def test_a_group_with_processes_of_its_own_leaves_it_to_the_one_above(tmp_path: Path) -> None:
    mount, here = second_version(tmp_path, "/app.slice/lab.scope")
    group(mount, "cpu memory pids")
    group(mount / "app.slice", "cpu memory pids")
    own = group(mount / "app.slice" / "lab.scope")
    (own / "cgroup.subtree_control").mkdir()  # cannot be written, as the kernel refuses it
    group(mount / "app.slice" / "acai-x", "")
    paths = Cgroups("acai-x", proc=here).paths("job-1")
    assert paths == [str(mount / "app.slice" / "acai-x" / "job-1")]


def test_controllers_that_a_slice_does_not_have_are_done_without(tmp_path: Path) -> None:
    mount, here = second_version(tmp_path, "/app.slice")
    own = group(mount / "app.slice", "")
    (own / "cgroup.controllers").write_text("memory pids\n")
    ours = group(own / "acai-x", "")
    assert Cgroups("acai-x", proc=here).make("job-1", 1, MIB) == [str(ours / "job-1")]
    assert (ours / "cgroup.subtree_control").read_text() == "+memory +pids"


def test_a_quota_of_any_group_around_us_makes_the_machine_smaller(tmp_path: Path) -> None:
    mount, here = second_version(tmp_path, "/a/b")
    group(mount)
    group(mount / "a", cpu_max="25000 100000\n", memory_max=f"{300 * MIB}\n")
    group(mount / "a" / "b", cpu_max="max 100000\n", memory_max="max\n")
    assert (machines.cpus(here), machines.memory_bytes(here)) == (0.25, 300 * MIB)


def test_a_quota_of_version_1_makes_the_machine_smaller(tmp_path: Path) -> None:
    here = first_version(tmp_path)
    own = tmp_path / "cpu,cpuacct" / "user"
    (own / "cpu.cfs_quota_us").write_text("50000\n")
    (own / "cpu.cfs_period_us").write_text("100000\n")
    (tmp_path / "memory" / "user" / "memory.limit_in_bytes").write_text(f"{200 * MIB}\n")
    assert (machines.cpus(here), machines.memory_bytes(here)) == (0.5, 200 * MIB)


def test_a_limit_that_says_unlimited_is_none(tmp_path: Path) -> None:
    here = first_version(tmp_path)
    own = tmp_path / "cpu,cpuacct" / "user"
    (own / "cpu.cfs_quota_us").write_text("-1\n")
    (own / "cpu.cfs_period_us").write_text("100000\n")
    (tmp_path / "memory" / "user" / "memory.limit_in_bytes").write_text("9223372036854771712\n")
    nothing = proc(tmp_path / "memory", [], [])
    assert (machines.cpus(here), machines.memory_bytes(here)) == (
        machines.cpus(nothing),
        machines.memory_bytes(nothing),
    )


def test_gpus_are_counted_by_their_devices(tmp_path: Path) -> None:
    for name in ("nvidia0", "nvidia2", "nvidiactl", "nvidia-uvm", "sda1"):
        (tmp_path / name).touch()
    assert machines.gpus(tmp_path) == [0, 2]
