"""What runs teach, on a real server with real jobs: plans, machines that are chosen, and jobs on them."""

from __future__ import annotations

import json
import shlex
from typing import TYPE_CHECKING

import pytest

import acai_jupyter as acai
from acai_jupyter.commands import verbs
from acai_jupyter.contract.errors import Conflict
from acai_jupyter.contract.states import JobState
from tests.integration.faces import Notebook, ipython
from tests.integration.places import Place

if TYPE_CHECKING:
    from collections.abc import Iterator

SLEEPS = "import os, time\ntime.sleep(0.1 * int(os.environ['ACAI_PARAM_N']))\n"
NUMBERS = (1, 3, 6, 10)


@pytest.fixture(scope="module")
def place(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Place]:
    """A place where a program that sleeps as long as it is told was run on one CPU and on half of one."""
    place = Place(tmp_path_factory.mktemp("place"))
    place.write("sleeps.py", SLEEPS)
    place.write("naps.py", SLEEPS)
    place.start(ACAI_MACHINE_VCPU="2")
    for cpu in (0.5, 1):
        for number in NUMBERS:
            said(place, f"submit --profile nap -p n={number} --cpu {cpu} --memory 512Mi sleeps.py")
    said(place, f"wait {' '.join(str(number + 1) for number in range(2 * len(NUMBERS)))}")
    yield place
    place.close()


@pytest.fixture
def here(place: Place, monkeypatch: pytest.MonkeyPatch) -> Place:
    """Let Python calls of this process find the server."""
    for name, value in place.environment.items():
        monkeypatch.setenv(name, value)
    monkeypatch.chdir(place.work)
    return place


def said(place: Place, line: str, status: int = 0) -> str:
    done = place.acai(*shlex.split(line))
    assert done.returncode == status, (line, done.stdout, done.stderr)
    return done.stdout if status < 2 else done.stderr


def test_a_plan_says_how_long_what_nobody_ran_takes(place: Place) -> None:
    found = json.loads(said(place, "submit --plan --json --profile nap -p n=30 sleeps.py"))["expected"]
    assert found["runs"] >= 8
    assert found["min_seconds"] <= found["seconds"] <= found["max_seconds"]
    assert 1.5 < found["seconds"] < 60
    assert found["outside"][0] == "n 30 is more than was run, 10"
    text = said(place, "submit --plan --profile nap -p n=30 sleeps.py")
    assert "further than any of them: n 30 is more than was run, 10" in text
    large = said(place, "submit --plan --profile nap -p n=5 --cpu 2 --memory 4Gi sleeps.py")
    assert "cheaper" in [line.split()[0] for line in large.splitlines()], large


def test_the_machine_is_chosen_and_a_job_runs_on_it(place: Place) -> None:
    plan = json.loads(said(place, "autoprovision nap --values n=2 --max-time 1h --plan --json"))
    assert plan["chosen"]["resources"] == {
        "vcpu": 0.5, "memory_bytes": 512 * 1024**2, "gpus": 0, "max_memory_bytes": None, "gpu_type": "",
    }  # fmt: skip
    text = said(place, "autoprovision nap --values 2 --max-time 1h")
    number = int(text.splitlines()[-1].split()[1])
    said(place, f"wait {number}")
    job = json.loads(said(place, f"job {number} --json"))
    assert (job["parameters"], job["state"], job["resources"]["vcpu"]) == ({"n": 2}, "finished", 0.5)
    assert job["attributes"]["predicted_seconds"] == pytest.approx(plan["chosen"]["seconds"], rel=0.5)
    version = job["attributes"]["predicted_by"]
    assert f"by model {version}; it took" in said(place, f"job {number}")
    today, then = (json.loads(said(place, f"profile show nap {of} --json")) for of in ("", f"--version {version}"))
    assert then["version"] == version != today["version"]
    assert number in {one["job"] for one in today["runs"]} - {one["job"] for one in then["runs"]}
    assert f"model {version}, of " in said(place, f"profile show nap --version {version}")
    assert "nap' has no model 'no'" in said(place, "profile show nap --version no", 3)


def test_no_larger_machine_is_chosen_than_this_one_so_what_is_chosen_is_taken(place: Place) -> None:
    plan = json.loads(said(place, "autoprovision nap --values n=5 --max-cost 0.5 --plan --json"))
    assert plan["bound"].startswith("jobs here can have at most 2 vCPU")
    assert plan["machines"] <= 4 * 31
    assert plan["chosen"]["resources"]["vcpu"] <= 2
    text = said(place, "autoprovision nap --values n=5 --plan")
    assert f"among {plan['machines']} machines: jobs here can have at most 2 vCPU" in text
    for line in (
        "autoprovision nap --values n=5 --max-cost 0.5",
        "submit -p n=5 --max-cost 0.5 --profile nap sleeps.py",
    ):
        number = json.loads(said(place, f"{line} --json"))["number"]
        said(place, f"wait {number}")
        assert json.loads(said(place, f"job {number} --json"))["resources"]["vcpu"] <= 2


def test_without_a_profile_the_machine_is_chosen_by_runs_of_the_same_script(place: Place) -> None:
    assert "No finished job has the profile 'naps.py (n)'" in said(place, "submit --max-time 1h -p n=2 naps.py", 3)
    numbers = [
        json.loads(said(place, f"submit -p n={n} --cpu 0.5 --memory 512Mi naps.py --json"))["number"]
        for n in (2, 4, 6, 9)
    ]
    said(place, f"wait {' '.join(map(str, numbers))}")
    assert "from 4 earlier runs" in said(place, "submit --plan --max-time 1h -p n=5 naps.py")
    job = json.loads(said(place, "submit --max-time 1h -p n=5 naps.py --json"))
    assert (job["resources"]["vcpu"], "predicted_by" in job["attributes"]) == (0.5, True)


@pytest.mark.parametrize("value", ["0", "-2", "1e300"])
def test_of_values_that_lie_too_far_away_it_is_said_which_run_would_help(place: Place, value: str) -> None:
    text = said(place, f"autoprovision nap --values n={value} --max-time 1h", 1)
    assert text.startswith("It is too uncertain to decide by; a run at n ")
    assert len(text.splitlines()) == 3, text
    plan = said(place, f"submit --plan --profile nap -p n={value} sleeps.py")
    assert "  expected     not known: it is too uncertain to decide by; a run at n " in plan
    refused = said(place, f"submit --profile nap --max-cost 1 -p n={value} sleeps.py", 6)
    assert refused.endswith("would help most. Nothing was submitted.\n")
    assert "not known: n was run at 1, " in said(place, "submit --plan --profile nap -p n=foo sleeps.py")


def test_what_cannot_be_had_is_said_and_nothing_is_submitted(place: Place) -> None:
    before = len(json.loads(said(place, "jobs --json"))["rows"])
    text = said(place, "autoprovision nap --values n=5 --max-cost 0.00000000001", 1)
    assert text.startswith("No machine is within that; the nearest, 0.5 vCPU with 512 MB, needs $")
    refused = said(place, "submit --profile nap -p n=5 --max-cost 0.00000000001 sleeps.py", 6)
    assert refused.strip().endswith("Nothing was submitted.")
    assert len(json.loads(said(place, "jobs --json"))["rows"]) == before


@pytest.mark.parametrize(
    ("line", "told"),
    [
        ("autoprovision nap --values n=foo --max-time 1h", "; you gave 'foo'."),
        ("autoprovision nap --values m=1 --max-time 1h", "nap has n; there is no m"),
        ("autoprovision nap --values 1 2 --max-time 1h", "--values are 1: n"),
        ("autoprovision nap --values n=1 --max-cost -1", "is not a number above 0"),
        ("submit --confidence 0.9 sleeps.py", "name one"),
        ("submit --max-time 1h --profile nap --sweep n=1,2 sleeps.py", "a sweep has many"),
    ],
)
def test_what_cannot_be_meant_is_said(place: Place, line: str, told: str) -> None:
    assert told in said(place, line, 2)


def test_an_unknown_profile_is_said(place: Place) -> None:
    assert "No finished job has the profile 'napp'" in said(place, "autoprovision napp --max-time 1h", 3)


def test_a_cell_gets_the_machine_that_is_chosen(
    here: Place, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    with ipython(here, monkeypatch) as shell:
        notebook = Notebook(shell, capsys)
        outcome, shown = notebook.run("%%acai run --profile nap -p n=1 --max-time 1h --detach\nprint(1)")
        assert outcome.success, shown
        job = shell.user_ns["_"]
        forms = verbs.run(verbs.parse("acai", ["profile", "show", "nap"]))._repr_mimebundle_()
        front = verbs.run(verbs.parse("acai", ["autoprovision", "nap", "--values", "n=5"]))._repr_mimebundle_()
    assert job.wait().resources.vcpu == 0.5
    assert "<svg" in forms["text/html"]
    assert "log-linear" in forms["text/plain"]
    assert front["text/plain"].startswith("Say --max-time or --max-cost to have one chosen.")


@pytest.mark.usefixtures("here")
def test_python_gives_choices_and_jobs() -> None:
    found = {one.template for one in acai.profiles().profiles}
    assert {"nap"} <= found <= {"nap", "naps.py (n)"}  # the other is of the runs without a profile
    assert acai.profile_of("nap").form
    plan = acai.autoprovision("nap", values=[1], max_time="1h", confidence=0.9, plan=True)
    assert plan.chosen is not None
    job = acai.autoprovision("nap", values={"n": 1}, max_time=3600)
    assert job.wait().state is JobState.FINISHED
    with pytest.raises(Conflict, match=r"you allowed .*Nothing was submitted"):
        acai.autoprovision("nap", values={"n": 1}, max_cost=1e-11)
