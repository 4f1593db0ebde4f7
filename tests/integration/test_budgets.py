"""A budget on a real server: a job that passes it is stopped, keeps what it has left, and everybody is told."""

from __future__ import annotations

import json
import math
import shlex
from typing import TYPE_CHECKING, Any

import pytest

import acai_jupyter as acai
from acai_jupyter.contract.errors import BadRequest, Conflict
from tests.integration.places import Place, until

if TYPE_CHECKING:
    from collections.abc import Iterator

BOOK = {"vcpu": {"usd": 3600, "smallest": 0, "largest": 1}, "memory_gb": {"usd": 0, "smallest": 0, "largest": 1}}
WAITS = """
import pathlib, time
pathlib.Path('output').mkdir(exist_ok=True)
pathlib.Path('output/half').write_text('h')
print('ready', flush=True)
time.sleep(600)
"""


@pytest.fixture(scope="module")
def place(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Place]:
    """A place where a second of a CPU costs a dollar."""
    place = Place(tmp_path_factory.mktemp("place"))
    book = place.write("book.json", json.dumps(BOOK))
    place.write("waits.py", WAITS)
    place.start(ACAI_PRICE_BOOK=str(book))
    yield place
    place.close()


def said(place: Place, line: str, status: int = 0) -> str:
    done = place.acai(*shlex.split(line))
    assert done.returncode == status, (line, done.stdout, done.stderr)
    return done.stdout if status < 2 else done.stderr


def test_a_job_is_stopped_at_the_bound_and_whoever_may_spend_is_told(
    place: Place, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert said(place, "project budget").startswith("There is no budget")
    text = said(place, "project budget --total 9000 --job 2000")
    assert ["the", "project", "$2,000.00", "any", "$9,000.00", "stopped"] in [
        line.split() for line in text.splitlines()
    ]
    number = json.loads(said(place, "submit --json waits.py"))["number"]
    assert "budget of the project: $" in said(place, "submit --plan waits.py")
    until(lambda: "ready" in said(place, f"logs {number}"), "the job has left something")
    said(place, "project budget --total 0.01")
    assert "the $0.01 of the project are spent" in said(place, f"wait {number}", 1)
    job = json.loads(said(place, f"job {number} --json"))
    assert (job["state"], job["partial"]) == ("killed", f"job-{number}-partial:1")
    assert said(place, f"ls @{job['partial']}").split() == [f"job-{number}-partial/"]
    for line in ("status", "costs"):
        assert "budget of the project: nothing of $0.01 left" in said(place, line)
    refused = said(place, "submit waits.py", 6)
    assert "of the $0.01 of the project are spent. An admin of the project can raise it" in refused
    for name, value in place.environment.items():
        monkeypatch.setenv(name, value)
    with pytest.raises(Conflict, match="are spent"):
        acai.submit(command="true")
    amount: Any
    for amount in (math.nan, math.inf, -math.inf, -1, "much", True):
        for cap in ("job", "month", "total"):
            with pytest.raises(
                BadRequest, match=f"{cap} cannot be so: .* is neither a number of dollars above 0, nor 0"
            ):
                acai.budget(**{cap: amount})
    with pytest.raises(BadRequest, match="total cannot be so"):
        acai.set_budget(acai.status().user.name, total=math.nan)
    for ask, named in (
        (lambda: acai.create_token("endless", days=math.nan), "days is nan"),
        (lambda: acai.retention(keep_days=math.inf), "keep_days is inf"),
        (lambda: acai.set_quota(acai.status().user.name, math.nan), "quota is nan"),  # type: ignore[arg-type]
    ):
        with pytest.raises(BadRequest, match=f"{named}, which is no number that can be asked for"):
            ask()
    for odd in (math.nan, math.inf, -1, 0, "1", True):
        asked = place.servers[0].ask("PATCH", "/v1/projects/default/budget", {"total_usd": odd})
        assert (asked.status, asked.code) == (400, "bad_request")
    assert acai.budget().budgets[0].total_usd == 0.01
    assert acai.budget(total=0, job=0).budgets == []
    assert acai.set_budget(acai.status().user.name, month=1e6, report=True).budgets[0].stops is False
    assert acai.submit(command="true").wait().state == "finished"


@pytest.mark.parametrize(
    ("line", "told"),
    [
        ("project budget --month -1", "'-1' is neither a number of dollars above 0 nor 'off'"),
        ("project budget --total nan", "is neither a number of dollars above 0"),
        ("project budget --stop --report", "one of them"),
    ],
)
def test_what_is_no_budget_is_refused(place: Place, line: str, told: str) -> None:
    assert told in said(place, line, 2)


def test_a_user_who_is_not_there_has_no_budget(place: Place) -> None:
    said(place, "user budget nobody --month 1", 3)
