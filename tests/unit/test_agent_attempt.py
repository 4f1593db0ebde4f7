"""One attempt, by the real zipapp over a store in a folder. Runs on Python 3.8: so does what it tests."""

from __future__ import annotations

import json
import os
import sys
import time
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from acai_jupyter import trees
from acai_jupyter.agent.launch import Launch
from acai_jupyter.agent.outputs import find, send
from acai_jupyter.agent.stopping import Stop
from acai_jupyter.contract.loglines import tags
from tests.agents import Bench, bench_in

if TYPE_CHECKING:
    import subprocess

MIB = 1024**2
STUBBORN = """
import os, signal, sys
signal.signal(signal.SIGTERM, signal.SIG_IGN)
if os.fork() == 0:
    os.setsid()
print("pid", os.getpid(), flush=True)
while True: signal.pause()
"""


@pytest.fixture
def bench(tmp_path: Path) -> Bench:
    return bench_in(tmp_path)


def wait_for(process: subprocess.Popen[bytes], words: bytes) -> bytes:
    """Read what an agent prints until it has printed something."""
    assert process.stdout is not None
    said = b""
    while words not in said:
        piece = os.read(process.stdout.fileno(), 65536)
        assert piece, said
        said += piece
    return said


def is_alive(pid: int) -> bool:
    try:
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] != "Z"
    except OSError:
        return False


def ends(pid: int) -> bool:
    deadline = time.monotonic() + 60
    while is_alive(pid) and time.monotonic() < deadline:
        time.sleep(0.01)  # nothing tells of the end of a process that is nobody's child
    return not is_alive(pid)


def test_it_fetches_runs_and_keeps(bench: Bench) -> None:
    program = (
        "print(open('data/x.txt').read()); import os; os.makedirs('output/a'); open('output/a/y', 'w').write('made')"
    )
    done = bench.run(program, (("data/x.txt", b"input", False),))
    assert (done.status, done.errors, done.log, done.printed) == (0, b"", b"input\n", b"input\n")
    assert done.outputs == {"a/y": b"made"}
    assert [words["state"] for words in done.said] == ["downloading", "running", "uploading"]
    record = done.record
    assert (record["version"], record["exit_code"], record["reason"], record["warnings"]) == (3, 0, "", [])
    assert record["log_is_whole"] is True
    assert 0 < record["run_seconds"] <= record["billed_seconds"] <= record["ended_at"] - record["started_at"] + 0.5


def test_inputs_are_read_only_and_code_is_not(bench: Bench) -> None:
    program = "import os; print([oct(os.stat(p).st_mode & 0o777) for p in ('x', 'c')]); open('c', 'a').write('more')"
    done = bench.run(program, (("x", b"1", False), ("c", b"2", True)))
    assert done.status == 0
    assert b"0o444" in done.log
    assert done.log.count(b"0o444") == 1


def test_a_program_that_changes_its_copy_of_an_input_is_told(bench: Bench) -> None:
    program = (
        "import os\n"
        "for name in ('changed', 'same', 'touched', 'replaced', 'c'):\n"
        "    os.chmod(name, 0o644)\n"
        "open('changed', 'r+').write('2'); open('same', 'r+').write('1'); os.utime('touched')\n"
        "os.remove('replaced'); open('replaced', 'w').write('mine'); os.remove('pipe'); os.mkfifo('pipe')\n"
        "open('c', 'a').write('more'); os.remove('removed')\n"
    )
    inputs = [(name, b"1", False) for name in ("changed", "same", "touched", "replaced", "pipe", "removed", "left")]
    done = bench.run(program, (*inputs, ("c", b"1", True)))
    said = [f"the program changed its input /{name}" for name in ("changed", "replaced", "pipe")]
    assert (done.log, done.record["warnings"]) == (b"", said)


@pytest.mark.parametrize("path", ["../x", "a/../../x", "/etc/x", "", "a//b", "./x", "a\0b"])
def test_a_path_that_leads_outside_is_refused(bench: Bench, path: str) -> None:
    done = bench.run("print('ran')", ((path, b"1", False),))
    assert done.status == 125
    assert done.log == b""
    assert "is not a path inside the working folder" in done.record["reason"]


def test_an_input_with_other_bytes_is_refused(bench: Bench) -> None:
    place = bench.launch(["true"], (("x", b"right", False),))
    bench.write("in0", b"wrong")
    done = bench.end(bench.start(place))
    assert done.status == 125
    assert "'x' could not be transferred" in done.record["reason"] or "/x' could not be" in done.record["reason"]


def test_a_version_that_it_does_not_know_is_no_attempt(bench: Bench) -> None:
    done = bench.run("print('ran')", version=4)
    assert done.status != 0
    assert done.record == {}
    assert b"version 4" in done.errors


def test_a_program_that_fails_keeps_its_log_and_no_outputs(bench: Bench) -> None:
    done = bench.run("open('output/x', 'w').close(); print('said'); raise SystemExit(3)")
    assert (done.status, done.record["exit_code"], done.log, done.outputs) == (3, 3, b"said\n", {})


def test_partial_outputs_are_kept_when_that_is_asked_for(bench: Bench) -> None:
    done = bench.run("open('output/x', 'w').write('half'); raise SystemExit(3)", keep_partial=True)
    assert (done.status, done.outputs) == (3, {"x": b"half"})


def test_a_command_that_is_not_there_is_said(bench: Bench) -> None:
    done = bench.end(bench.start(bench.launch(["no-such-program"])))
    assert (done.status, done.record["reason"]) == (125, "the program could not be started: No such file or directory")


def test_a_stopped_program_ends_by_itself_and_that_is_said(bench: Bench) -> None:
    process = bench.start(
        bench.launch([sys.executable, "-c", "import time; print('here', flush=True); time.sleep(600)"])
    )
    wait_for(process, b"here")
    process.terminate()
    done = bench.end(process)
    assert (done.status, done.record["was_stopped"], done.record["reason"]) == (143, True, "it was stopped")
    assert done.log == b"here\n"


def test_one_that_ignores_it_is_ended_with_all_that_it_started(bench: Bench) -> None:
    process = bench.start(bench.launch([sys.executable, "-c", STUBBORN], grace_seconds=0.2))
    said = wait_for(process, b"pid ")
    while said.count(b"pid ") < 2 or not said.endswith(b"\n"):
        said += wait_for(process, b"\n")
    process.terminate()
    done = bench.end(process)
    assert (done.status, done.record["was_stopped"]) == (137, True)
    assert all(ends(int(line.split()[1])) for line in said.splitlines() if line.startswith(b"pid "))


def test_a_time_limit_ends_it_and_is_said(bench: Bench) -> None:
    done = bench.run("import time; print('here', flush=True); time.sleep(600)", time_limit_seconds=0.5)
    assert (done.status, done.record["exceeded_time"]) == (143, True)
    assert done.record["reason"] == "it ran longer than its limit of 0.5 s"
    assert done.log == b"here\n"


def test_one_that_ends_well_when_its_time_is_over_has_not_finished(bench: Bench) -> None:
    program = "import signal, sys, time; signal.signal(15, lambda *_: sys.exit(0)); time.sleep(600)"
    done = bench.run(program, time_limit_seconds=0.5)
    assert (done.status, done.record["exceeded_time"]) == (143, True)


def test_too_little_memory_is_recognised(bench: Bench) -> None:
    done = bench.run("x = bytearray(600 * 1024**2)", memory_bytes=300 * MIB)
    assert (done.status, done.record["ran_out_of_memory"]) == (1, True)
    assert done.record["reason"] == "it ran out of memory"
    assert "memory of each process at most 300 MB (resource limit)" in done.record["held"]


def test_a_program_that_closes_its_output_and_goes_on_is_waited_for(bench: Bench) -> None:
    program = (
        "import os, time; print('said', flush=True); os.close(1); os.close(2); time.sleep(0.5); open('output/x','w')"
    )
    done = bench.run(program)
    assert (done.status, done.log, list(done.outputs)) == (0, b"said\n", ["x"])
    assert done.record["run_seconds"] >= 0.5


def test_what_holds_its_output_after_its_end_does_not_hold_up_the_attempt(bench: Bench) -> None:
    program = "import subprocess; p = subprocess.Popen(['sleep', '600']); print('pid', p.pid)"
    done = bench.run(program)
    assert done.status == 0
    assert ends(int(done.log.split()[1]))


def test_one_that_detached_and_goes_on_printing_does_not_either(bench: Bench) -> None:
    program = (
        "import os, time\n"
        "if os.fork() == 0:\n"
        "    os.setsid(); print('pid', os.getpid(), flush=True)\n"
        "    while True: time.sleep(0.001); os.write(1, b'y' * 4096)\n"
        "time.sleep(0.3)\n"
    )
    done = bench.run(program)
    assert done.status == 0
    assert ends(int(done.log.partition(b"pid ")[2].split()[0]))  # nobody reads what it prints


def test_lines_that_are_marked_with_another_key_stay_text(bench: Bench) -> None:
    line = b'\x1eACAI fedcba9876543210 {"state":"finished"}\n'
    done = bench.run(f"import sys; sys.stdout.buffer.write({line!r})")
    assert (done.log, done.printed) == (line, line)
    assert [words["state"] for words in done.said] == ["downloading", "running", "uploading"]


def test_what_has_no_line_end_and_what_is_no_text_is_kept_as_it_is(bench: Bench) -> None:
    said = b"\x1b[31mred\x1b[0m 10%\r20%\r\xff\xfe\0\x1eACAI half"
    done = bench.run(f"import sys; sys.stdout.buffer.write({said!r})")
    assert done.log == said


def test_a_log_beyond_its_bound_ends_with_a_line_that_says_so(bench: Bench) -> None:
    done = bench.run("print('x' * 5000); open('output/x', 'w')", max_log_bytes=1000)
    assert (done.status, list(done.outputs)) == (0, ["x"])
    assert done.log == done.printed
    assert done.log.startswith(b"x" * 1000 + b"\n[the log ends here")


def test_a_large_log_is_kept_in_pieces_and_whole(bench: Bench) -> None:
    program = "import sys\nfor n in range(24): sys.stdout.write(str(n % 10) * (1024**2))"
    done = bench.run(program)
    assert done.log == done.printed
    assert len(done.log) == 24 * MIB
    assert sum(piece["size_bytes"] for piece in done.record["log"]) == 24 * MIB
    assert len(done.record["log"]) > 1
    assert max(size for piece in done.record["log"] for size, _ in piece["members"]) <= 4 * MIB


def test_a_live_channel_on_a_full_disk_ends_and_the_program_goes_on(bench: Bench) -> None:
    with Path("/dev/full").open("wb") as full:
        process = bench.start(bench.launch([sys.executable, "-c", "print('said'); open('output/x', 'w')"]), stdout=full)
        done = bench.end(process)
    assert (done.status, done.log, list(done.outputs)) == (0, b"said\n", ["x"])


def test_links_are_not_followed_and_odd_files_are_left_out(bench: Bench, tmp_path: Path) -> None:
    (tmp_path / "secret").write_text("secret")
    program = (
        "import os; os.symlink({!r}, 'output/link'); os.symlink({!r}, 'output/dir'); os.mkfifo('output/pipe');"
        "open('output/real', 'w').write('made')".format(str(tmp_path / "secret"), str(tmp_path))
    )
    done = bench.run(program)
    assert done.outputs == {"real": b"made"}
    assert done.record["warnings"] == [
        "links and what is no regular file are not kept: 'output/dir', 'output/link', 'output/pipe'"
    ]


def test_an_output_folder_that_is_a_link_holds_nothing(bench: Bench, tmp_path: Path) -> None:
    (tmp_path / "other").mkdir()
    (tmp_path / "other" / "secret").write_text("secret")
    done = bench.run("import os; os.rmdir('output'); os.symlink({!r}, 'output')".format(str(tmp_path / "other")))
    assert (done.status, done.outputs) == (0, {})
    assert done.record["warnings"] == ["links and what is no regular file are not kept: 'output'"]


def omitted(reason: str, *names: str) -> list[str]:
    return [f"output {name!a} was not kept: {reason}" for name in names]


def test_outputs_whose_names_cannot_be_paths_are_named_and_the_others_are_kept(bench: Bench) -> None:
    program = (
        "for name in (b'a\\xff', b'b\\nc', b'fine', 'd\\U0010ffff'.encode()):\n"
        "    open(b'output/' + name, 'w').close()\n"
    )
    done = bench.run(program)
    assert (done.status, done.record["reason"], list(done.outputs)) == (0, "", ["fine"])
    assert sorted(done.record["warnings"]) == [
        *omitted("its name is not valid UTF-8", "a\udcff"),
        *omitted("its name has a control character", "b\nc"),
        *omitted("its name has the character U+10FFFF", "d\U0010ffff"),
    ]


def test_an_output_with_a_long_path_is_named_and_the_others_are_kept(bench: Bench) -> None:
    program = (
        "import os\n"
        "for length in (99, 100, 101):\n"
        "    folder = 'output/' + 'd' * 49\n"
        "    os.makedirs(folder, exist_ok=True)\n"
        "    open(folder + '/' + 'x' * (length - 50), 'w').close()\n"
    )
    done = bench.run(program, max_output_path_bytes=100)
    assert done.status == 0
    assert sorted(map(len, done.outputs)) == [99, 100]
    reason = "its path is too long; below the output folder a path can have 100 bytes"
    assert done.record["warnings"] == omitted(reason, "d" * 49 + "/" + "x" * 51)


def test_of_many_outputs_that_cannot_be_kept_some_are_named_and_the_others_counted(bench: Bench) -> None:
    program = "for n in range(250): open(b'output/%03d\\xff' % n, 'w').close()\nopen('output/fine', 'w').close()"
    done = bench.run(program)
    assert (done.status, list(done.outputs)) == (0, ["fine"])
    warnings = done.record["warnings"]
    assert (len(warnings), warnings[-1]) == (21, "230 more outputs were not kept")


def test_an_output_nested_deeper_than_paths_is_named_and_the_others_are_kept(bench: Bench) -> None:
    program = (
        "import os\n"
        "open('output/fine', 'w').close()\n"
        "os.chdir('output')\n"
        "for level in range(3000):\n"
        "    open('x', 'w').close(); os.mkdir('d'); os.chdir('d')\n"
        "open('bottom', 'w').close()\n"
    )
    try:
        done = bench.run(program, max_output_path_bytes=20)
        assert (done.status, done.record["reason"]) == (0, "")
        assert sorted(done.outputs) == sorted(["fine", *("d/" * level + "x" for level in range(10))])
        reason = "its path is too long; below the output folder a path can have 20 bytes"
        deep = ["d/" * level + "x" for level in range(10, 31)]
        assert set(done.record["warnings"]) <= {*omitted(reason, *deep, "d/" * 31), "2 more outputs were not kept"}
        assert len(done.record["warnings"]) == 21
    finally:
        trees.remove(str(bench.folder / "attempt0"))


def test_two_names_that_are_the_same_in_their_normal_form_are_one_output(bench: Bench) -> None:
    program = (
        "import os\n"
        "open('output/e\\u0301', 'w').write('first'); open('output/\\u00e9', 'w').write('second')\n"
        "open('output/u\\u0308', 'w').write('file')\n"
        "os.mkdir('output/\\u00fc'); open('output/\\u00fc/x', 'w').close()\n"
    )
    done = bench.run(program)
    assert (done.status, done.outputs) == (0, {"\u00e9": b"first", "\u00fc": b"file"})
    composed = "once both are in Unicode's composed form (NFC)"
    assert sorted(done.record["warnings"]) == [
        *omitted(f"another output has the same name {composed}", "\u00e9"),
        *omitted(f"another output has the name of its folder {composed}", "\u00fc/x"),
    ]


def test_files_and_folders_without_permissions_are_kept(bench: Bench) -> None:
    program = (
        "import os; os.makedirs('output/locked'); open('output/locked/x', 'w').write('made')\n"
        "open('output/unreadable', 'w').write('too')\n"
        "os.chmod('output/unreadable', 0); os.chmod('output/locked', 0); os.chmod('output', 0)"
    )
    done = bench.run(program)
    assert (done.status, done.outputs) == (0, {"locked/x": b"made", "unreadable": b"too"})


def test_a_file_in_the_place_of_the_output_folder_is_named(bench: Bench) -> None:
    done = bench.run("import os; os.rmdir('output'); open('output', 'w').close()")
    assert (done.status, done.outputs) == (0, {})
    assert done.record["warnings"] == omitted("it is a file in the place of the output folder", "output")


def test_a_file_that_the_store_cannot_take_is_named_and_the_others_are_kept(bench: Bench) -> None:
    program = "open('output/large', 'wb').truncate(3 * 1024**3 // 2); open('output/small', 'w').write('x')"
    done = bench.run(program, max_object_bytes=1024**3)
    assert (done.status, done.outputs) == (0, {"small": b"x"})
    reason = "it has 1.5 GB, and the object store takes at most 1 GB of one file; write it as several files"
    assert done.record["warnings"] == omitted(reason, "large")


def test_a_sparse_file_larger_than_the_disk_of_the_store_does_not_fill_it(bench: Bench) -> None:
    done = bench.run("open('output/sparse', 'wb').truncate(1024**4); open('output/small', 'w').write('x')")
    assert (done.status, done.outputs, done.record["packs"]) == (74, {}, [])
    said = "its outputs could not be kept: they have 1024 GB, and the disk of the object store has "
    assert done.record["reason"].startswith(said)


def test_outputs_that_change_while_they_are_sent_are_named_and_the_others_are_kept(tmp_path: Path) -> None:
    """What a program that detached itself does meanwhile is done here between finding and sending."""
    output = tmp_path / "output"
    output.mkdir()
    for name in ("gone", "kept", "piped", "shorter"):
        (output / name).write_text(name)
    bench = bench_in(tmp_path)
    launch = Launch(str(bench.launch(["true"])), Stop())
    found = find(str(output), launch)
    (output / "gone").unlink()
    (output / "shorter").write_text("")
    (output / "piped").unlink()
    os.mkfifo(output / "piped")
    sent = send(found, launch)
    assert [(row[0], row[2], row[3]) for row in sent["outputs"]] == [("kept", 0, 4)]
    assert bench.read("pack0") == b"kept"
    assert found.omissions.warnings() == [
        *omitted("it cannot be read: No such file or directory", "gone"),
        *omitted("it is not a regular file any more", "piped"),
        *omitted("it became shorter while it was read", "shorter"),
    ]


def test_names_are_kept_in_their_normal_form(bench: Bench) -> None:
    done = bench.run("open('output/e\\u0301', 'w').write('x')")
    assert done.outputs == {"\u00e9": b"x"}


def test_large_files_have_packs_of_their_own_and_small_ones_share(bench: Bench) -> None:
    program = (
        "import os\n"
        "for n in range(3): open('output/small%d' % n, 'w').write(str(n))\n"
        "with open('output/large', 'wb') as file: file.truncate(65 * 1024**2)\n"
    )
    done = bench.run(program)
    assert len(done.record["packs"]) == 2
    assert len(done.outputs["large"]) == 65 * MIB
    assert [done.outputs[f"small{n}"] for n in range(3)] == [b"0", b"1", b"2"]


def test_packs_are_larger_where_slots_are_few(bench: Bench) -> None:
    place = bench.launch(
        [sys.executable, "-c", "for n in 'ab':\n with open('output/' + n, 'wb') as f: f.truncate(65 << 20)"]
    )
    document = json.loads(bench.read("launch"))
    document["slots"]["packs"] = document["slots"]["packs"][:1]
    bench.write("launch", json.dumps(document).encode())
    done = bench.end(bench.start(place))
    assert (len(done.record["packs"]), sorted(done.outputs)) == (1, ["a", "b"])


def test_another_output_folder_is_kept_instead(bench: Bench) -> None:
    done = bench.run("open('results/deep/x', 'w').write('made')", output_folder="results/deep")
    assert done.outputs == {"x": b"made"}


@pytest.mark.parametrize("folder", ["..", "../x", "/tmp", ".", "a/../../b"])
def test_an_output_folder_outside_is_refused(bench: Bench, folder: str) -> None:
    done = bench.run("print('ran')", output_folder=folder)
    assert (done.status != 0, done.log) == (True, b"")


def test_it_says_what_the_program_ran_with(bench: Bench) -> None:
    environment = bench.run("pass").record["environment"]
    assert environment["python"] == ".".join(map(str, sys.version_info[:3]))
    assert environment["platform"].startswith("Linux ")
    assert "pytest" in environment["packages"]


def test_it_says_what_the_program_used_and_which_limits_held(bench: Bench) -> None:
    record = bench.run("x = bytearray(100 * 1024**2); sum(range(5_000_000))").record
    assert record["usage"]["cpu_seconds"] > 0.01
    assert record["usage"]["max_memory_bytes"] > 100 * MIB
    assert any(words.startswith("CPU: 1 of ") for words in record["held"])


def test_it_says_how_busy_the_gpus_were(bench: Bench, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """A program stands in for NVIDIA's, and answers as that does, where it is asked what that understands."""
    asked = "--query-gpu=utilization.gpu --format=csv,noheader,nounits"
    smi = tmp_path / "programs" / "nvidia-smi"
    smi.parent.mkdir()
    smi.write_text(f"#!/bin/sh\n[ \"$*\" = '{asked}' ] || exit 2\nprintf '37\\n80\\n'\ntouch {tmp_path}/asked\n")
    smi.chmod(0o755)
    monkeypatch.setenv("PATH", f"{smi.parent}{os.pathsep}{os.environ['PATH']}")
    program = f"import os, time\nwhile not os.path.exists('{tmp_path}/asked'): time.sleep(0.01)"
    assert [sample[4] for sample in bench.run(program, gpus=1).record["usage"]["samples"]] == [1.17]


def test_its_stand_in_serves_programs_without_the_real_package(bench: Bench) -> None:
    program = (
        "import acai_jupyter as a; a.tag('n', 1); print(a.parameters(), a.input_path('/d/x'));"
        "open(a.output_path('deep/y'), 'w').write('made')"
    )
    place = bench.launch([sys.executable, "-S", "-c", program], environment={"ACAI_PARAM_LR": "3"})
    done = bench.end(bench.start(place))
    assert (done.status, done.outputs) == (0, {"deep/y": b"made"})
    assert b"[ACAI_TAG_NUM] job n:1\n" in done.log
    assert b"{'lr': '3'}" in done.log


def test_what_its_stand_in_tags_within_a_line_counts(bench: Bench) -> None:
    program = "import acai_jupyter as a; print('training', end=' ', flush=True); a.tag('n', 1); print('done')"
    done = bench.end(bench.start(bench.launch([sys.executable, "-S", "-c", program])))
    assert tags(done.log.decode(), "") == {"fileset": {"n": 1.0}, "job": {"n": 1.0}}


def test_its_stand_in_never_shadows_a_real_one(bench: Bench) -> None:
    real = (("acai_jupyter/__init__.py", b"it_is = 'real'", True),)
    assert bench.run("import acai_jupyter; print(acai_jupyter.it_is)", real).log == b"real\n"


def test_packs_grow_to_what_the_store_can_take_and_no_further(bench: Bench) -> None:
    program = "for name in 'abcd': open('output/' + name, 'w').write('123')"
    done = bench.run(program, slots=bench.slots(2), max_object_bytes=6)
    assert [pack["size_bytes"] for pack in done.record["packs"]] == [6, 6]
    (bench.folder / "store" / "result").unlink()
    done = bench.run(program, slots=bench.slots(1), max_object_bytes=6)
    assert "its outputs are more than 1 objects of 6 bytes can hold" in done.record["reason"]
