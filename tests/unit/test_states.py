"""The transitions of a job make sense as a whole."""

from __future__ import annotations

import pytest

from acai_jupyter.contract.states import END_STATES, JOB_TRANSITIONS, LIVE_STATES, JobState


def reachable(start: JobState) -> set[JobState]:
    found: set[JobState] = set()
    ends = [start]
    while ends:
        here = ends.pop()
        for target in JOB_TRANSITIONS[here] - found:
            found.add(target)
            ends.append(target)
    return found


def test_every_state_has_its_line_and_is_queued_live_or_an_end() -> None:
    assert set(JOB_TRANSITIONS) == set(JobState)
    assert {JobState.QUEUED} | LIVE_STATES | END_STATES == set(JobState)
    assert not LIVE_STATES & END_STATES


def test_every_state_can_be_reached_and_every_job_can_end() -> None:
    assert reachable(JobState.QUEUED) == set(JobState)
    assert all(reachable(state) >= END_STATES for state in LIVE_STATES)


def test_only_what_crashed_or_failed_is_tried_again() -> None:
    assert {state for state in END_STATES if JOB_TRANSITIONS[state]} == {JobState.CRASHED, JobState.FAILED}
    assert JOB_TRANSITIONS[JobState.CRASHED] == JOB_TRANSITIONS[JobState.FAILED] == {JobState.QUEUED}


@pytest.mark.parametrize("state", [JobState.QUEUED, *sorted(LIVE_STATES)])
def test_whatever_has_not_ended_can_be_killed(state: JobState) -> None:
    assert JobState.KILLED in JOB_TRANSITIONS[state]


def test_a_job_finishes_only_after_its_outputs_were_kept() -> None:
    assert [state for state in JobState if JobState.FINISHED in JOB_TRANSITIONS[state]] == [JobState.UPLOADING]


def test_no_state_leads_to_itself_or_back_from_a_live_one() -> None:
    order = [JobState.LAUNCHING, JobState.DOWNLOADING, JobState.RUNNING, JobState.UPLOADING]
    assert all(state not in JOB_TRANSITIONS[state] for state in JobState)
    assert all(earlier not in JOB_TRANSITIONS[state] for n, state in enumerate(order) for earlier in order[:n])
    assert all(JobState.QUEUED not in JOB_TRANSITIONS[state] for state in order)
