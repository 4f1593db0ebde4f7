"""The card of a job says what was expected beside what it took, and what less memory would have saved."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import Any

import pytest

from acai_jupyter.commands import job_cards, job_sentences
from acai_jupyter.contract.ids import JobNumber
from acai_jupyter.contract.jobs import MIB, Attempt, Job, LessMemory, Resources
from acai_jupyter.contract.states import JobState

EXPECTED = {"predicted_seconds": 200.0, "predicted_cost_usd": 0.03, "predicted_by": "5af1"}


def job(state: JobState = JobState.FINISHED, **known: Any) -> Job:
    attempt = Attempt(1, "process", 1, 1024 * MIB, [], run_seconds=180.0, billed_seconds=185.0, cost_usd=0.02)
    asked: dict[str, Any] = {"command": "x", "inputs": [], "code": None, "output": None, "parameters": {}}
    began = datetime(2026, 1, 1, tzinfo=UTC)
    stood: dict[str, Any] = {"resources": Resources(), "created_at": began, "attempts": [attempt]}
    return Job(JobNumber(7), "", "ann", state, "", **asked, **stood, **known)


@pytest.mark.parametrize(
    ("state", "said"),
    [
        (JobState.FINISHED, "3 min 20 s, $0.03 by model 5af1; it took 3 min 5 s (7 % less) and cost $0.02"),
        (JobState.FAILED, "3 min 20 s, $0.03 by model 5af1"),
    ],
)
def test_what_was_expected_stands_beside_what_it_took(state: JobState, said: str) -> None:
    lines = job_cards.text(job(state, attributes=EXPECTED)).splitlines()
    assert [line.split(maxsplit=1)[1] for line in lines if line.startswith("  expected ")] == [said]
    assert "  expected " not in job_cards.text(job(state))


def test_what_less_memory_saves_is_on_the_card_and_from_a_cent_on_told_unasked() -> None:
    said = "512 MB of memory would have been enough, and $0.00200 less: --memory 512Mi"
    small = job(less_memory=LessMemory(512 * MIB, 0.002))
    assert said in job_cards.text(small)
    assert said not in job_sentences.lines(small)
    assert "and $0.02 less" in job_sentences.lines(job(less_memory=LessMemory(512 * MIB, 0.02)))
    assert "less" not in job_cards.text(job())
