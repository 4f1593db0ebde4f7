"""Which job starts next: fair between users, within their quota, when it fits."""

from __future__ import annotations

from typing import TYPE_CHECKING

from hypothesis import given
from hypothesis import strategies as st

from acai_jupyter.contract.ids import JobId, JobNumber, ProjectId, UserId
from acai_jupyter.contract.jobs import CreateJob, Resources
from acai_jupyter.contract.projects import Machine
from acai_jupyter.contract.states import LIVE_STATES, JobState
from acai_server.db.jobs import StoredJob
from acai_server.engine.scheduler import choose

if TYPE_CHECKING:
    from collections.abc import Iterable

MIB = 1024**2
LARGE = Machine(cpus=64, memory_bytes=64 * 1024 * MIB)


def job(
    number: int,
    user: int = 1,
    state: JobState = JobState.QUEUED,
    *,
    project: int = 1,
    vcpu: float = 1,
    memory_bytes: int = 512 * MIB,
) -> StoredJob:
    request = CreateJob(command=["true"], resources=Resources(vcpu, memory_bytes))
    ids = JobId(number), ProjectId(project), UserId(user), JobNumber(number)
    return StoredJob(*ids, state=state, request=request, inputs=[])


def order(jobs: Iterable[StoredJob], quota: int = 100, machine: Machine = LARGE) -> list[int]:
    """The order in which jobs start when none ends."""
    queue = list(jobs)
    started: list[int] = []
    while (chosen := choose(queue, quota, machine)) is not None:
        started.append(chosen.number)
        live = job(chosen.number, chosen.user_id, JobState.RUNNING, vcpu=chosen.request.resources.vcpu)
        queue[queue.index(chosen)] = live
    return started


def test_nothing_waits_and_nothing_starts() -> None:
    assert choose([], 4, LARGE) is None
    assert choose([job(1, state=JobState.RUNNING)], 4, LARGE) is None


def test_a_users_jobs_start_in_the_order_of_the_queue() -> None:
    assert order([job(3), job(1), job(2)]) == [3, 1, 2]


def test_users_take_turns_however_much_one_submits() -> None:
    assert order([job(1, 1), job(2, 1), job(3, 1), job(4, 2), job(5, 2), job(6, 3)]) == [1, 4, 6, 2, 5, 3]


def test_who_holds_least_comes_first() -> None:
    running = [job(1, 1, JobState.RUNNING), job(2, 1, JobState.UPLOADING), job(3, 2, JobState.LAUNCHING)]
    chosen = choose([*running, job(4, 1), job(5, 2)], 4, LARGE)
    assert chosen is not None
    assert chosen.number == 5


def test_a_user_holds_no_more_than_the_quota_in_each_project() -> None:
    jobs = [job(number) for number in range(1, 6)] + [job(number, project=2) for number in range(6, 9)]
    assert len(order([one for one in jobs if one.project_id == 1], quota=2)) == 2
    live = [job(1, state=JobState.DOWNLOADING), job(2, state=JobState.UPLOADING)]
    chosen = choose([*live, job(3), job(4, project=2)], 2, LARGE)
    assert chosen is not None
    assert chosen.number == 4


def test_what_does_not_fit_waits_and_lets_other_users_pass_but_not_its_own() -> None:
    machine = Machine(cpus=2, memory_bytes=2048 * MIB)
    running = job(1, 9, JobState.RUNNING)
    assert choose([running, job(2, 1, vcpu=2), job(3, 1)], 4, machine) is None
    assert choose([running, job(2, 1, vcpu=2), job(3, 2)], 4, machine) == job(3, 2)
    assert choose([running, job(2, 1, memory_bytes=1792 * MIB)], 4, machine) is None
    assert choose([running, job(2, 1, memory_bytes=1536 * MIB)], 4, machine) is not None


JOBS = st.lists(
    st.builds(
        job,
        st.integers(1, 50),
        st.integers(1, 4),
        st.sampled_from(sorted(LIVE_STATES) + [JobState.QUEUED] * 4),
        vcpu=st.sampled_from([0.5, 1.0, 4.0]),
    ),
    max_size=20,
    unique_by=lambda one: one.number,
)


@given(JOBS, st.integers(1, 4), st.sampled_from([1.0, 4.0, 16.0]))
def test_what_starts_is_first_of_its_queue_within_quota_and_fits(
    jobs: list[StoredJob], quota: int, cpus: float
) -> None:
    chosen = choose(jobs, quota, Machine(cpus, LARGE.memory_bytes))
    if chosen is None:
        return
    live = [one for one in jobs if one.state in LIVE_STATES]
    queue = [one for one in jobs if one.user_id == chosen.user_id and one.state is JobState.QUEUED]
    assert queue[0] == chosen
    assert sum(one.user_id == chosen.user_id for one in live) < quota
    assert sum(one.request.resources.vcpu for one in [*live, chosen]) <= cpus
