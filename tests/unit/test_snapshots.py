"""What a notebook keeps of things: small, script-free, in the order in which it was found."""

from __future__ import annotations

import json
import re
from datetime import UTC, datetime
from typing import Any

import msgspec

from acai_jupyter.commands import job_cards, markup
from acai_jupyter.commands.listings import Listing
from acai_jupyter.commands.results import MOST_CHARACTERS, Result
from acai_jupyter.commands.snapshots import of_job, of_jobs
from acai_jupyter.contract.ids import JobNumber
from acai_jupyter.contract.jobs import Attempt, Job, Resources, Usage
from acai_jupyter.contract.metadata import FindThings, Found, FoundPage
from acai_jupyter.contract.query.builtin import SubjectKind
from acai_jupyter.contract.states import JobState

EVIL = "<img src=x onerror=alert(1)>\x1b"
SMALL = 32 * 1024


def job(**changes: Any) -> Job:
    stood: dict[str, Any] = {"inputs": ["d:1"], "code": None, "output": "m:1", "parameters": {}, "attempts": []}
    asked: dict[str, Any] = {"command": ["x"], "resources": Resources(), "created_at": datetime(2026, 1, 1, tzinfo=UTC)}
    found = Job(JobNumber(7), "", "ana", JobState.FINISHED, "", **asked, **stood)
    return msgspec.structs.replace(found, **changes)


def test_a_job_takes_little_of_a_notebook_however_much_there_is_of_it() -> None:
    usage = Usage(1.0, 2, 3, [(float(second), 0.5, 10**9, 10**9, 0.0) for second in range(500)])
    attempt = Attempt(1, "process", 1, 1024, [], usage=usage, environment={f"p{n}": "1.0" for n in range(1000)})
    attempt = msgspec.structs.replace(attempt, warnings=["w" * 10_000] * 100)
    huge = job(attempts=[attempt] * 20, attributes={f"k{n}": "v" * 1000 for n in range(20_000)}, command="x" * 100_000)
    kept = of_job(huge, "p")
    assert len(json.dumps(kept)) < SMALL
    assert (kept["project"], kept["number"], kept["log_is_below"]) == ("p", 7, False)
    assert kept["job"]["state"] == "finished"
    assert 30 <= len(kept["job"]["attempts"][-1]["usage"]["samples"]) <= 60


def test_a_list_keeps_what_was_asked_and_its_order() -> None:
    page = FoundPage(SubjectKind.JOB, ["accuracy"], [Found(str(n), [n / 10]) for n in (3, 1, 2)])
    kept = of_jobs(FindThings(SubjectKind.JOB, "order by accuracy"), page, "p")
    assert kept["request"]["query"] == "order by accuracy"
    assert [row["thing"] for row in kept["page"]["rows"]] == ["3", "1", "2"]


def test_a_table_keeps_the_order_aligns_numbers_and_says_what_it_leaves_out() -> None:
    rows = [[str(number), f"name {number}"] for number in range(300)]
    html = Listing(rows, "><", ["n", "name"]).html()
    assert re.findall(r"<td[^>]*>(\d+)</td>", html) == [str(number) for number in range(100)]
    assert '<td style="text-align: right">0</td><td style="text-align: left">name 0</td>' in html
    assert "… 200 more" in html


def test_nothing_that_others_wrote_becomes_markup_or_a_further_line() -> None:
    html = markup.table(EVIL, [EVIL], [[EVIL]], EVIL) + markup.facts([(EVIL, EVIL)]) + markup.printed("<b>")
    html += job_cards.html(job(name=EVIL, tags=[EVIL], reason=EVIL, attributes={"a": EVIL}))
    assert "<img" not in html
    assert "<b>" not in html
    assert "\x1b" not in html
    assert "<script" not in html


def test_colours_are_those_of_the_front_end() -> None:
    html = job_cards.html(job()) + markup.table("c", ["a"], [["b"]])
    assert set(re.findall(r"color: (\w+)", html)) == {"var"}


def test_a_long_answer_does_not_fill_the_notebook() -> None:
    bundle = Result("x" * 10**6, ["y" * 10**6], "folder")._repr_mimebundle_()
    assert len(bundle["text/plain"]) < MOST_CHARACTERS + 100
    assert "application/vnd.acai.folder+json" not in bundle
    assert "longer than what a notebook should keep" in bundle["text/html"]
