"""What was spent, on a real server: from a shell, a notebook and Python, as a list and as comma-separated values."""

from __future__ import annotations

import csv
import io
import json
import shlex
from typing import TYPE_CHECKING

import pytest

import acai_jupyter as acai
from acai_jupyter.client import pages
from acai_jupyter.commands import verbs
from acai_jupyter.contract import endpoints
from acai_jupyter.contract.errors import BadRequest
from tests.integration.faces import Notebook, ipython
from tests.integration.places import Place

if TYPE_CHECKING:
    from collections.abc import Iterator

BOOK = {"vcpu": {"usd": 3600, "smallest": 0, "largest": 1}, "memory_gb": {"usd": 0, "smallest": 0, "largest": 1}}


@pytest.fixture(scope="module")
def place(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Place]:
    """A place where a second of a CPU costs a dollar, with two jobs that have run."""
    place = Place(tmp_path_factory.mktemp("place"))
    book = place.write("book.json", json.dumps(BOOK))
    place.write("train.py", "print(1)")
    place.start(ACAI_PRICE_BOOK=str(book))
    said(place, "submit --tag +nightly train.py")
    said(place, "submit --cpu 2 -- true")
    said(place, "wait 1 2")
    yield place
    place.close()


def said(place: Place, line: str, status: int = 0) -> str:
    done = place.acai(*shlex.split(line))
    assert done.returncode == status, (line, done.stdout, done.stderr)
    return done.stdout if status < 2 else done.stderr


def test_costs_are_those_of_the_attempts(place: Place) -> None:
    jobs = [json.loads(said(place, f"job {number} --json"))["attempts"][-1] for number in (1, 2)]
    found = json.loads(said(place, "costs --by job --json"))
    told = {row["key"]: row["cost_usd"] for row in found["rows"]}
    assert told == {"1": jobs[0]["cost_usd"], "2": jobs[1]["cost_usd"]}
    assert jobs[0]["cost_usd"] == pytest.approx(jobs[0]["billed_seconds"])
    assert jobs[1]["cost_usd"] == pytest.approx(2 * jobs[1]["billed_seconds"])
    assert found["total"]["cost_usd"] == pytest.approx(sum(told.values()))


def test_rows_come_in_pages(place: Place) -> None:
    client, query = place.servers[0].client(), {"by": "job", "limit": 1}
    first = client.call(endpoints.GET_COSTS, query=query)
    assert (len(first.rows), first.next, first.total.jobs) == (1, 1, 2)
    whole = pages.whole(client, endpoints.GET_COSTS, "rows", "skip", query=query)
    assert (sorted(row.key for row in whole.rows), whole.next) == (["1", "2"], None)


def test_a_list_has_a_line_for_each_and_a_sum(place: Place) -> None:
    lines = said(place, "costs --by notebook").splitlines()
    assert lines[0].split() == ["notebook", "jobs", "billed", "cost"]
    assert {line.split()[0] for line in lines[1:-1]} == {"without", "train"}
    assert lines[-1].endswith(" in all, 2 jobs")
    labels = [line.split()[0] for line in said(place, "costs --by tag").splitlines()[1:-1]]
    assert sorted(labels) == ["nightly", "without"]


def test_values_have_all_digits(place: Place) -> None:
    rows = list(csv.DictReader(io.StringIO(said(place, "costs --by user --csv"))))
    total = json.loads(said(place, "costs --json"))["total"]["cost_usd"]
    assert (len(rows), rows[0]["jobs"]) == (1, "2")
    assert float(rows[0]["cost_usd"]) == pytest.approx(total, abs=1e-7)


def test_a_time_without_jobs_is_told(place: Place) -> None:
    assert said(place, "costs --since 2999-01-01") == "Nothing was run in that time.\n"
    assert "in all, 2 jobs" in said(place, "costs --since 2020-01-01 --until 2999-01-01")


def test_what_is_no_time_is_refused(place: Place) -> None:
    assert "--since is a date or a time like 2026-11-01" in said(place, "costs --since soon", 2)


def test_python_gives_values(place: Place, monkeypatch: pytest.MonkeyPatch) -> None:
    for name, value in place.environment.items():
        monkeypatch.setenv(name, value)
    assert acai.costs(by="user").total.jobs == 2
    with pytest.raises(BadRequest):
        acai.costs(by="colour")  # type: ignore[arg-type]


def test_a_notebook_shows_a_table(
    place: Place, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    with ipython(place, monkeypatch) as shell:
        _, shown = Notebook(shell, capsys).run("%acai costs --by job")
        forms = verbs.run(verbs.parse("acai", ["costs", "--by", "job"]))._repr_mimebundle_()
    assert "in all, 2 jobs" in shown
    assert "<table" in forms["text/html"]
    assert forms["application/vnd.acai.costs+json"]["total"]["jobs"] == 2


def test_the_books_are_told(place: Place) -> None:
    found = place.servers[0].ask("GET", "/v1/projects/default/prices").json
    assert [one["version"] for one in found["books"]] == [found["version"]]
    assert found["books"][0]["book"]["vcpu"]["usd"] == 3600
