"""Runs that are made to learn from, on a real server: from a shell, a cell and Python, over a server's death."""

from __future__ import annotations

import json
import shlex
from typing import TYPE_CHECKING, Any

import pytest

import acai_jupyter as acai
from acai_jupyter.contract.errors import BadRequest
from tests.integration.faces import Notebook, ipython
from tests.integration.places import Place, until

if TYPE_CHECKING:
    from collections.abc import Iterator

SLEEPS = """
import pathlib, sys, time
gate = pathlib.Path(sys.argv[2])
if gate.exists():
    gate.with_suffix(".reached").touch()
    time.sleep(600)
time.sleep(0.1 * int(sys.argv[1]))
"""
TRAINS = """
import sys, time
time.sleep(0.4 * int(sys.argv[2]) * (2 if sys.argv[4] == "256" else 1))
"""
SMALL = "--cpus 0.5 --memories 512Mi"
LINE = f"profile {SMALL} --code code"


@pytest.fixture(scope="module")
def place(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Place]:
    """A place with a program that sleeps as long as it is told, or for ever while there is a file."""
    place = Place(tmp_path_factory.mktemp("place"))
    place.write("code/sleeps.py", SLEEPS)
    place.start()
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


def begun(place: Place, line: str) -> str:
    """Begin a profiling, and return its tag."""
    return str(json.loads(said(place, f"{line} --json"))["tag"])


def rows(place: Place, tag: str) -> list[dict[str, Any]]:
    found: list[dict[str, Any]] = json.loads(said(place, f"job --json {tag}"))["rows"]
    return found


def test_a_full_design_makes_all_runs_and_what_it_teaches_chooses_a_machine(place: Place) -> None:
    gate = place.home / "no-gate"
    line = f'{LINE} --name nap --design full "python -S sleeps.py {{n=1,4,8,12}} {gate}"'
    text = said(place, line)
    assert text.splitlines()[0].startswith("profile nap: 4 runs possible, all of them, ")
    tag = text.splitlines()[1].split()[0]
    assert "4 of 4 runs are in" in said(place, f"wait {tag}")
    found = rows(place, tag)
    assert sorted(row["parameters"]["n"] for row in found) == [1, 4, 8, 12]
    jobs = [json.loads(said(place, f"job {row['job']} --json")) for row in found]
    assert {(job["priority"], job["resources"]["vcpu"], tag in job["tags"]) for job in jobs} == {(-100, 0.5, True)}
    text = said(place, "autoprovision nap --values n=6 --max-time 1h")
    job = json.loads(said(place, f"job {text.splitlines()[-1].split()[1]} --json"))
    assert (job["parameters"], job["priority"]) == ({"n": 6}, 0)


def test_the_lines_of_the_first_example_work_one_after_the_other(place: Place) -> None:
    place.write("code/train.py", TRAINS)
    place.write("digits/1.txt", "1")
    said(place, "put digits /mnist --as mnist")
    command = "python -S train.py --epoch {1,2,3} --batch-size {256,1024} --lr 0.001"
    tag = begun(place, f'{LINE} --name mnist --input mnist:1 "{command}"')
    said(place, f"wait {tag}")
    newest = json.loads(said(place, "autoprovision mnist --values epoch=20 --plan --json"))
    batch = json.loads(said(place, f"job {newest['latest']} --json"))["parameters"]["batch_size"]
    assert (newest["as_in_latest"], newest["parameters"]) == (["batch_size"], {"epoch": 20, "batch_size": batch})
    text = said(place, "autoprovision mnist --values epoch=20 --max-cost 0.09")
    assert f"\nas in job {newest['latest']}: batch_size {batch}\n" in text
    job = json.loads(said(place, f"job {text.splitlines()[-1].split()[1]} --json"))
    assert job["parameters"] == newest["parameters"]
    said(place, f"kill {job['number']}")
    bare = json.loads(said(place, "autoprovision mnist --values 5 1024 --plan --json"))
    assert bare["parameters"] == {"epoch": 5, "batch_size": 1024}
    digits = ",".join(map(str, range(1, 21)))
    many = f"train.py --epoch {{{digits}}} --batch-size {{{digits}}}"
    line = f'profile {SMALL} --name mnist --memories 512Mi,1Gi,2Gi "{many}"'
    assert "The profile mnist would be 1,200 runs and cost about $" in said(place, line, 2)
    for line in ("--values 5", "--values 5 256 0.001"):
        assert "--values are 2: epoch, batch_size." in said(place, f"autoprovision mnist {line} --plan", 2)


def test_a_profiling_goes_on_when_its_server_was_killed(place: Place) -> None:
    gate = place.home / "gate"
    gate.touch()
    tag = begun(place, f'{LINE} --name gated "python -S sleeps.py {{n=1,2,3,4}} {gate}"')
    until(gate.with_suffix(".reached").exists, "the first run reaching the gate")
    place.servers[-1].kill()
    gate.unlink()
    place.start()
    assert len(rows(place, tag)) == 1
    said(
        place, f"kill {rows(place, tag)[0]['job']}"
    )  # the one that would sleep for ever: the others are made all the same
    said(place, f"wait {tag}", 1)
    ended = json.loads(said(place, f"wait --json {tag}", 1))
    assert (ended["goes_on"], len(ended["jobs"])) == (False, 4)
    assert ended["sentence"].startswith("4 of 4 possible runs were made; 3 finished, and 4 are the least")


def test_killing_it_ends_its_runs_and_makes_no_more(place: Place) -> None:
    gate = place.home / "kept"
    gate.touch()
    tag = begun(place, f'{LINE} --name killed "python -S sleeps.py {{n=1,2,3,4}} {gate}"')
    refused = said(place, f'{LINE} --name killed "python -S sleeps.py {{n=1,2}} {gate}"', 6)
    assert f"killed is being profiled by {tag}" in refused
    said(place, f"kill {tag}")
    found = json.loads(said(place, f"wait --json {tag}", 1))
    assert (len(found["jobs"]), found["goes_on"], found["sentence"][:10]) == (1, False, "killed by ")


def test_when_all_fail_the_log_is_told(place: Place) -> None:
    tag = begun(place, f'{LINE} --name fails "echo no data in {{n=1,2,3,4,5}}; exit 3"')
    text = said(place, f"attach {tag}", 1)
    assert "the first 3 runs have all failed. Job" in text
    assert "printed: no data in" in text


def test_a_cost_that_is_allowed_holds(place: Place) -> None:
    gate = place.home / "no-gate"
    least = 14 * (0.5 * 0.031611 * 2 / 3 + 0.5 * 0.004237 * 2 / 3) / 3600
    tag = begun(
        place, f'{LINE} --name bound --max-cost {least:.8f} "python -S sleeps.py {{n=1,300,301,302,303,304}} {gate}"'
    )
    found = json.loads(said(place, f"wait --json {tag}", 1))
    assert found["cost_usd"] <= least
    assert "--max-cost" in found["sentence"]


@pytest.mark.parametrize(
    ("line", "told"),
    [
        ('--name x "train --n {1,2"', "The hint '{1,2' is not closed"),
        ('--name x "train --n {}"', "The hint '{}' is empty"),
        ('--name x "train --n {1,1}"', "The profile x has the value 1 of n twice."),
        ('"train --n {1,2}"', "A profile has a name: --name NAME."),
        ("--name x", "Name the command with its hints"),
        ('--name x -p n=3 "train --n {1,2}"', "The profile x varies n, which is a parameter of all jobs too."),
        ('--name x --max-cost -1 "train --n {1,2}"', "is not a number above 0"),
        ('--name x --cpus 64 "train --n {1,2}"', "a job can have 0.5 to 8 vCPU"),
        ('--name x --design full --cpus 0.5,1 "train {a=1,2,3,4} {b=1,2,3,4,5}"', "--yes to all of it."),
        (
            "--name x --yes --memories 512Mi " + '"train ' + " ".join(f"{{{n}=1,2,3,4,5,6,7,8}}" for n in "abc") + '"',
            " if each takes 1 min, which no earlier run tells; 1,000 runs are the most.",
        ),
    ],
)
def test_what_cannot_be_meant_is_one_sentence_and_nothing_is_submitted(place: Place, line: str, told: str) -> None:
    before = said(place, "jobs --json")
    text = said(place, f"profile {line}", 2)
    assert told in text
    assert len(text.splitlines()) == 1
    assert said(place, "jobs --json") == before


def test_a_plan_says_how_many_runs_it_would_be_and_makes_none(place: Place) -> None:
    before = said(place, "jobs --json")
    text = said(place, f'profile {SMALL} --name new --plan "train --n {{1,2,3}}"')
    assert text == (
        "profile new: 3 runs possible, one by one, until the interval is narrow. No earlier run tells what they take\n"
    )
    assert said(place, "jobs --json") == before


def test_a_cell_has_its_hints_as_variables(
    here: Place, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    with ipython(here, monkeypatch) as shell:
        notebook = Notebook(shell, capsys)
        cell = f"%%acai profile --name cell {SMALL} -p n={{1,2,3,4}} -p kind=plain\n"
        outcome, shown = notebook.run(cell + "import time\ntime.sleep(0.05 * n)\nprint(n + 1, kind)")
        assert outcome.success, shown
        assert "profile cell: 4 runs possible, one by one" in shown
        sweep = shell.user_ns["_"].wait(timeout=120)
    printed = {str(job.parameters["n"]): job.logs() for job in sweep.jobs}
    assert printed == {str(n): f"{n + 1} plain\n" for n in (1, 2, 3, 4)}


def test_runs_on_a_sample_teach_and_the_machine_is_chosen_for_all_of_it(place: Place) -> None:
    for number in range(12):
        place.write(f"pictures/{number}.txt", "x" * 1000)
    said(place, "put pictures /pictures --as pictures")
    line = f"profile {SMALL} --name counts --input pictures --sample 0.4"
    command = "sleep 0.$(ls pictures | wc -l); test {n=1,2} -gt 0"
    assert "of 12 files, " in said(place, f"{line} --plan '{command}'")
    assert "There is no file set" in said(place, "fileset show counts-sample", 3)
    tag = begun(place, f"{line} '{command}'")
    said(place, f"wait {tag}")
    jobs = [json.loads(said(place, f"job {row['job']} --json")) for row in rows(place, tag)]
    given = {job["inputs"][0]: job["attributes"].get("profile_sample") for job in jobs}
    assert given.keys() == {"counts-sample:1", "pictures:1"}
    assert given["pictures:1"] is None
    assert 0 < given["counts-sample:1"] < 1
    assert "pictures:1" in said(place, "provenance counts-sample:1 --back")
    found = json.loads(said(place, "autoprovision counts --values n=2 --max-time 1h --plan --json"))
    assert "pictures:1" in json.loads(said(place, f"job {found['latest']} --json"))["inputs"]
    said(place, f"{line} --sample 0.999999 '{command}'", 2)
    assert "--sample is for --design adaptive" in said(place, f"{line} --design full '{command}'", 2)
    assert "name one" in said(place, f"profile {SMALL} --name other --sample 0.5 '{command}'", 2)


@pytest.mark.usefixtures("here")
def test_python_takes_lists_as_hints() -> None:
    sweep = acai.profile(
        "sleep 0.$ACAI_PARAM_N", name="py", parameters={"n": [1, 2, 3, 4]}, cpus=[0.5], memories=["512Mi"]
    )
    assert isinstance(sweep, acai.Sweep)
    assert sweep.wait(timeout=120).has_ended
    assert {one.template for one in acai.profiles().profiles} >= {"py"}
    assert len(acai.profile_of("py").runs) == len(sweep) == 4
    with pytest.raises(BadRequest, match="design is one of adaptive, full"):
        acai.profile("true {n=1,2}", name="py", design="half")  # type: ignore[arg-type]
