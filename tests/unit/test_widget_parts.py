"""The parts of a job's view: plain values in, HTML out."""

from __future__ import annotations

import re
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest

from acai_jupyter.contract.ids import JobNumber
from acai_jupyter.contract.jobs import Attempt, Job, Resources, Transfer, Transition, Usage
from acai_jupyter.contract.query.parser import parse
from acai_jupyter.contract.states import JobState
from acai_jupyter.widgets import coloured, job_parts
from acai_jupyter.widgets.list_models import names_its_jobs

START = datetime(2026, 11, 1, 12, tzinfo=UTC)
MIB = 1024**2


def at(seconds: float) -> datetime:
    return START + timedelta(seconds=seconds)


def job(*steps: tuple[JobState, float], **known: Any) -> Job:
    """A job whose last attempt went through these states at these seconds."""
    of_attempt = {name: known.pop(name) for name in ("usage", "transfer", "usd_per_hour") if name in known}
    transitions = [Transition(state, at(seconds)) for state, seconds in steps]
    attempts = [Attempt(1, "process", 2, 512 * MIB, transitions, **of_attempt)] if steps else []
    state = steps[-1][0] if steps else JobState.QUEUED
    return Job(
        number=JobNumber(7),
        name="",
        user="ann",
        state=state,
        reason="",
        command="x",
        inputs=[],
        code=None,
        output=None,
        parameters={},
        resources=Resources(),
        created_at=START,
        attempts=attempts,
        **known,
    )


def words(html: str) -> list[str]:
    return re.findall(r"<li[^>]*>(?:<span[^>]*>[^<]*</span>)?([^<]*)</li>", html)


def test_the_way_of_a_job_is_told_with_times_and_what_is_ahead() -> None:
    running = job((JobState.LAUNCHING, 2), (JobState.DOWNLOADING, 2.5), (JobState.RUNNING, 4))
    html = job_parts.stepper(running, at(10))
    assert words(html) == ["queued 2 s", "launching 0.5 s", "downloading 1.5 s", "running 6 s", "uploading"]
    assert re.search(r'aria-current="step"[^>]*>(?:<span[^>]*>[^<]*</span>)?running 6 s', html)
    ended = job((JobState.LAUNCHING, 2), (JobState.RUNNING, 4), (JobState.FAILED, 9))
    assert words(job_parts.stepper(ended, at(99))) == ["queued 2 s", "launching 2 s", "running 5 s", "failed"]
    assert words(job_parts.stepper(job(), at(3)))[:2] == ["queued 3 s", "launching"]


def test_a_job_that_is_tried_again_is_told_from_its_last_end_on() -> None:
    again = job((JobState.RUNNING, 4), (JobState.CRASHED, 9), (JobState.QUEUED, 9))
    assert words(job_parts.stepper(again, at(12)))[0] == "queued 3 s"


def test_a_transfer_is_told_while_it_goes_on() -> None:
    transfer = Transfer(JobState.DOWNLOADING, 5 * MIB, 20 * MIB)
    html = job_parts.transfer(job((JobState.DOWNLOADING, 1), transfer=transfer))
    assert "downloading 5 MB of 20 MB" in html
    assert f'max="{20 * MIB}" value="{5 * MIB}"' in html
    assert job_parts.transfer(job((JobState.RUNNING, 1), transfer=transfer)) == ""


def test_what_is_used_is_drawn_against_what_was_asked_for() -> None:
    samples = [(0.0, 0.0, 64 * MIB, 0, 0.0), (1.0, 4.0, 128 * MIB, 0, 0.0)]
    html = job_parts.usage(job((JobState.RUNNING, 1), usage=Usage(samples=samples)))
    assert "CPU 4.0 of 2" in html
    assert "memory 128 MB of 512 MB" in html
    cpu, memory = re.findall(r'y1="([\d.]+)".*?points="([^"]*)"', html)
    assert cpu == ("16.0", "0.0,31.0 160.0,1.0")  # twice what was asked for: the line for that is in the middle
    assert memory == ("1.0", "0.0,27.2 160.0,23.5")
    assert job_parts.usage(job((JobState.RUNNING, 1), usage=Usage(samples=samples[:1]))) == ""


def test_time_and_cost_until_now_are_told_of_what_is_expected() -> None:
    steps = (JobState.LAUNCHING, 0), (JobState.DOWNLOADING, 10), (JobState.RUNNING, 20)
    html = job_parts.spent(job(*steps, usd_per_hour=3.6, expected_seconds=60.0), at(40))
    assert "30 s of about 1 min · $0.03 so far" in html  # launching is free
    assert job_parts.spent(job(*steps, (JobState.FINISHED, 50)), at(60)) == ""


def test_a_log_keeps_its_colours_and_is_searched() -> None:
    lines = ["\x1b[1;31mred\x1b[0m <b>", "\x1b[38;2;1;2;3mLoss\x1b[0m 3", "\x1b[38;5;196mx\x1b[0m", "plain"]
    html = job_parts.log(lines, 2048, "")
    assert '<span style="font-weight: 600; color: #d04545">red</span> &lt;b&gt;' in html
    assert '<span style="color: rgb(1, 2, 3)">Loss</span> 3' in html
    assert '<span style="color: rgb(255, 0, 0)">x</span>' in html
    assert "2 KB before this are left out" in html
    found = job_parts.log(lines, 2048, "loss")
    assert "1 of the last 4 lines" in found
    assert "plain" not in found
    assert ">Loss</mark> 3" in found


def test_what_is_searched_for_is_no_expression_and_no_markup() -> None:
    assert coloured.marked("a <i>.* b", "<i>.*").count("<mark") == 1
    assert "<i>" not in coloured.marked("a <i>.* b", "<i>.*")
    assert coloured.marked("abc", "a.c") == "abc"


@pytest.mark.parametrize(
    ("query", "is_closed"),
    [
        ("number = 3", True),
        ("number in (3, 4) order by accuracy desc", True),
        ("'sweep-7' in tags and accuracy > 0.5", True),
        ("number = 3 or number = 4", True),
        ("", False),
        ("state = 'running'", False),
        ("number > 3", False),
        ("number = 3 or state = 'running'", False),
        ("'mine' in tags", False),
        ("not number = 3", False),
    ],
)
def test_a_query_that_names_its_jobs_waits_for_no_others(query: str, is_closed: bool) -> None:
    assert names_its_jobs(parse(query, START).where) is is_closed
