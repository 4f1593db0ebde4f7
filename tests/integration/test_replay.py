"""`replay` on a real server: what was recorded is done again, and what came of it is compared."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import pytest

from acai_jupyter.contract import endpoints
from acai_jupyter.contract.filesets import CreateFileSet

if TYPE_CHECKING:
    from tests.integration.places import Place, Server

CLEAN = """
import os, pathlib
numbers = [float(line) for line in open("raw/numbers.txt")]
kept = sorted(numbers)[: int(os.environ["ACAI_PARAM_KEEP"])]
pathlib.Path("output/kept.txt").write_text("\\n".join(map(str, kept)))
"""
FIT = """
import json, os, pathlib, acai_jupyter
(kept,) = pathlib.Path(".").glob("*/kept.txt")
mean = sum(map(float, kept.read_text().split())) / 3
acai_jupyter.tag("mean", mean)
pathlib.Path("output/fit.json").write_text(json.dumps({"mean": mean + MORE, "job": "a job"}))
pathlib.Path("output/noise.bin").write_bytes(NOISE)
"""

FOUND = """
import pathlib
(found,) = [one for one in pathlib.Path("{name}").iterdir() if one.is_file()]
pathlib.Path("output/found.txt").write_text(found.read_text())
"""


def _fit(more: str = "0", noise: str = "b'\\\\xff'") -> str:
    return FIT.replace("MORE", more).replace("NOISE", noise)


class Team:
    """Numbers are cleaned by one job, and what it left, with another file, is fitted by a second."""

    def __init__(self, place: Place, fit: str) -> None:
        self.place = place
        self.server: Server = place.start()
        place.write("numbers.txt", "3\n1\n2\n9\n")
        place.write("clean.py", CLEAN)
        place.write("fit.py", fit)
        self.does("put", "numbers.txt", "/raw/")
        self.does("fileset", "create", "raw", "/raw/")
        self.does("submit", "clean.py", "--input", "raw", "--output", "clean", "-p", "keep=3")
        self.does("wait", "1")
        self.does("fileset", "create", "train", "@clean")
        self.does("submit", "fit.py", "--input", "train", "--output", "fit")
        self.does("wait", "2")

    def does(self, *words: str, status: int = 0) -> str:
        done = self.place.acai(*words)
        assert done.returncode == status, (done.stdout, done.stderr)
        return done.stdout + done.stderr

    def data(self, *words: str, status: int = 0) -> Any:
        done = self.place.acai(*words, "--json")
        assert done.returncode == status, (done.stdout, done.stderr)
        return json.loads(done.stdout)


def _steps(found: Any) -> list[tuple[str, str]]:
    return [(step["what"], step["again"]) for step in found["steps"]]


def test_the_same_comes_again_and_the_newest_result_stays_the_newest(place: Place) -> None:
    team = Team(place, _fit())
    said = team.does("replay", "2")
    assert "job 3 does job 2 again" in said
    assert "job 2 again: job 3 · identical (2 files)" in said
    assert "fit:1" in team.does("fileset", "show", "fit:latest")
    assert team.data("job", "3")["attributes"]["replay_of"] == 2
    assert team.data("job", "3")["output"] == "fit-replay:1"
    assert team.data("job", "3")["inputs"] == team.data("job", "2")["inputs"] == ["train:1"]


def test_a_set_is_replayed_from_its_raw_data_on(place: Place) -> None:
    team = Team(place, _fit())
    found = team.data("replay", "fit:1", "--whole")
    assert [(step["what"], step["again"]) for step in found["steps"]] == [
        ("1", "3"),
        ("train:1", "train-replay:1"),
        ("2", "4"),
    ]
    assert found["verdict"] == "identical"
    assert team.data("job", "4")["inputs"] == ["train-replay:1"]
    assert "train:1" in team.does("fileset", "show", "train:latest")


def test_another_input_and_another_parameter_lead_to_new_results_that_are_compared(place: Place) -> None:
    team = Team(place, _fit())
    place.write("numbers.txt", "3\n1\n2\n0\n")
    team.does("put", "numbers.txt", "/raw/")
    team.does("fileset", "create", "raw", "/raw/")
    planned = team.data("replay", "fit:1", "--with", "raw:2", "--plan")
    assert _steps(planned) == [("1", ""), ("train:1", ""), ("2", "")]
    said = team.does("replay", "fit:1", "--with", "raw:2", status=1)
    assert "job 2 again: job 4 · 1 of 2 files differs" in said
    assert "fit.json: mean: 2.0 → 1.0" in said
    assert "\n  mean 2 → 1\n" in said
    assert "fit:2" in team.does("fileset", "show", "fit:latest")
    changed = team.data("replay", "1", "-p", "keep=2", status=1)
    assert changed["steps"][0]["outputs"]["files"][0]["how"].startswith("line 3: ")
    assert "No job of it has a parameter lr" in team.does("replay", "2", "-p", "lr=1", status=2)
    assert "Nothing of it was made from fit" in team.does("replay", "1", "--with", "fit:1", status=2)


def test_small_differences_of_numbers_count_as_equal_within_the_tolerance(place: Place) -> None:
    team = Team(place, _fit(more="int(os.environ['ACAI_JOB']) * 1e-9"))
    found = team.data("replay", "2")
    assert found["verdict"] == "equal within tolerance"
    assert "equal within tolerance (1 of 2 files not the same bytes)" in team.does("replay", "2")
    assert team.data("replay", "2", "--tolerance", "1e-12", status=1)["verdict"] == "different"


def test_what_cannot_be_compared_by_its_contents_is_by_its_bytes(place: Place) -> None:
    team = Team(place, _fit(noise="os.urandom(64)"))
    said = team.does("replay", "2", status=1)
    assert "noise.bin: other bytes from " in said


def test_a_job_that_fails_this_time_ends_the_replay_and_is_named(place: Place) -> None:
    place.write("once", "")
    flag = place.home / "flag"
    team = Team(place, f"{_fit()}\nimport sys\nsys.exit(pathlib.Path({str(flag)!r}).exists())\n")
    flag.touch()
    said = team.does("replay", "2", status=1)
    assert "The replay ends here. job 3" in said


def test_a_set_that_is_gone_is_made_again_for_the_job_that_needs_it(place: Place) -> None:
    team = Team(place, _fit())
    team.does("fileset", "rm", "train:1")
    found = team.data("replay", "2")
    assert _steps(found) == [("train:1", "train-replay:1"), ("2", "3")]
    assert found["verdict"] == "identical"


def test_a_program_that_is_run_again_finds_its_inputs_where_they_were(place: Place) -> None:
    team = Team(place, _fit())
    place.write("named.py", FOUND.format(name="clean"))
    team.does("submit", "named.py", "--input", "clean", "--output", "named")
    team.does("wait", "3")
    team.does("submit", "named.py", "--input", "/clean/@clean", "--input", "raw")
    team.does("wait", "4")
    place.write("unnamed.py", FOUND.format(name="job-4-output"))
    team.does("submit", "unnamed.py", "--input", "job-4-output", "--output", "far")
    team.does("wait", "5")
    assert _steps(team.data("replay", "named:1", "--whole")) == [("1", "6"), ("3", "7")]
    found = team.data("replay", "far:1", "--whole")
    assert _steps(found) == [("1", "8"), ("job-4-input:1", "replay-job-4-input:1"), ("4", "9"), ("5", "10")]
    assert found["verdict"] == "identical"


def test_a_set_made_of_several_results_is_compared_itself_and_gets_the_name_that_is_given(place: Place) -> None:
    team = Team(place, _fit(noise="os.urandom(64)"))
    team.does("fileset", "create", "best", "/fit/@fit", "@clean")
    found = team.data("replay", "best:1", status=1)
    assert _steps(found) == [("1", "3"), ("train:1", "train-replay:1"), ("2", "4"), ("best:1", "best-replay:1")]
    assert [step["outputs"]["verdict"] for step in found["steps"]] == [
        "identical",
        "identical",
        "different",
        "different",
    ]
    assert found["verdict"] == "different"
    said = team.does("replay", "best:1", "--output", "again", status=1)
    assert "best:1 again: again:1 · 1 of 3 files differs\n  fit/noise.bin: other bytes" in said


def test_what_a_set_was_made_of_may_be_too_much_to_be_kept_and_another_is_given(place: Place) -> None:
    team = Team(place, _fit())
    for number in range(600):
        place.write(f"many/{'long' * 30}{number}", "1")
    team.does("put", "many", "/many/")
    sources = [f"/many/{'long' * 30}{number}" for number in range(600)]
    team.does("fileset", "create", "wide", "@clean", *sources)
    team.does("submit", "fit.py", "--input", "wide", "--output", "other")
    team.does("wait", "3")
    refused = "What wide:1 was made of is not kept, so it is not made anew. Make it, and give it: --with wide:N"
    for options in (["--whole"], ["-p", "keep=2"], ["--whole", "--plan"]):
        assert refused in team.does("replay", "other:1", *options, status=6)
    assert "job 4" not in team.does("jobs")
    team.does("fileset", "create", "wide", "@clean")
    assert _steps(team.data("replay", "other:1", "--with", "wide:2")) == [("3", "4")]
    assert team.data("job", "4")["inputs"] == ["wide:2"]


def test_a_lineage_of_any_length_is_no_hindrance_to_doing_its_last_job_again(place: Place) -> None:
    team = Team(place, _fit())
    client = team.server.client()
    for _ in range(105):
        client.call(endpoints.CREATE_FILE_SET, CreateFileSet("clean", ["@clean", "/raw/"]))
    team.does("submit", "fit.py", "--input", "clean", "--output", "late")
    team.does("wait", "3")
    assert _steps(team.data("replay", "late:1")) == [("3", "4")]
    assert "too far back, for a replay" in team.does("replay", "late:1", "--whole", status=6)
    assert "a part of the lineage of late:1: 1 job" in team.does("export", "@late", "late.zip")


@pytest.mark.parametrize(
    ("words", "status", "said"),
    [
        (("99",), 3, "job"),
        (("nothing:1",), 3, "no file set"),
        (("raw:1",), 2, "No job made raw:1: it was made of what was uploaded"),
        (("2", "--tolerance", "-1"), 2, "The tolerance is a number from 0 on"),
        (("2", "--with", "raw:1", "--with", "nothing"), 3, "nothing"),
    ],
)
def test_what_cannot_be_replayed_is_said_in_a_sentence(
    place: Place, words: tuple[str, ...], status: int, said: str
) -> None:
    team = Team(place, _fit())
    assert said in team.does("replay", *words, status=status)
    assert "job 3" not in team.does("jobs")
