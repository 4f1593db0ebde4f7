"""Which job starts next: fair between users, within their quota, when it fits, and nobody is passed for ever."""

from __future__ import annotations

from collections import Counter
from datetime import UTC, datetime, timedelta
from typing import TYPE_CHECKING

from hypothesis import given
from hypothesis import strategies as st

from acai_jupyter.contract.ids import JobId, JobNumber, ProjectId, UserId
from acai_jupyter.contract.projects import Machine
from acai_server.clock import Clock
from acai_server.db.database import Database
from acai_server.db.queue import Head, Holder, Queue, Share, Standing
from acai_server.engine.scheduler import RESERVE_SECONDS, Scheduler, in_turn

if TYPE_CHECKING:
    from acai_jupyter.contract.jobs import Resources

BEGAN = datetime(2026, 1, 1, tzinfo=UTC)
SMALL = Share(1, 1)


class Shop:
    """Users with jobs, a machine, a fake clock, and the scheduler that serves them. A job's number says whose it is."""

    def __init__(self, cpus: float, quota: int = 100) -> None:
        self.cpus = cpus
        self.quota = quota
        self.now = BEGAN
        self.waiting: dict[int, list[tuple[int, Share]]] = {}
        self.live: dict[int, tuple[int, Share, datetime]] = {}
        self.served: dict[int, datetime] = {}
        self.started: list[int] = []
        self._last = 0
        self.scheduler = Scheduler(Database("sqlite://", Clock()), self, lambda _: None, quota=quota)

    def machine(self) -> Machine:
        return Machine(self.cpus, 2**40)

    def fits(self, resources: Resources) -> str:
        free = self.cpus - sum(share.vcpu for _, share, _ in self.live.values())
        return "" if resources.vcpu <= free else "full"

    def submit(self, user: int, vcpu: float = 1) -> int:
        self._last += 1
        self.waiting.setdefault(user, []).append((self._last, Share(vcpu, 1)))
        return self._last

    def standing(self) -> Standing:
        held = Counter(user for user, _, _ in self.live.values())
        queues = [
            Queue(key(user), Head(JobId(jobs[0][0]), JobNumber(jobs[0][0]), jobs[0][1]), held[user], None, served)
            for user, jobs in sorted(self.waiting.items())
            if jobs
            for served in [self.served.get(user)]
        ]
        holders = [Holder(key(user), JobId(job), JobNumber(job), share) for job, (user, share, _) in self.live.items()]
        return Standing(queues, holders)

    def serve(self) -> list[int]:
        """Start all that may start now."""
        begun = []
        while (head := self.scheduler.choose(self.standing(), self.now)) is not None:
            user = next(user for user, jobs in self.waiting.items() if jobs and jobs[0][0] == head.job)
            number, share = self.waiting[user].pop(0)
            self.live[number] = (user, share, self.now)
            self.now += timedelta(microseconds=1)
            self.served[user] = self.now
            begun.append(number)
        self.started += begun
        return begun

    def end(self, number: int) -> None:
        del self.live[number]

    def pass_by(self, seconds: float) -> None:
        self.now += timedelta(seconds=seconds)


def key(user: int) -> tuple[ProjectId, UserId]:
    return ProjectId(1), UserId(user)


def test_nothing_waits_and_nothing_starts() -> None:
    assert Shop(4).serve() == []


def test_a_users_jobs_start_as_they_came_and_users_take_turns() -> None:
    shop = Shop(64)
    mine = [shop.submit(1) for _ in range(3)]
    hers, theirs = [shop.submit(2) for _ in range(2)], [shop.submit(3)]
    assert shop.serve() == [mine[0], hers[0], theirs[0], mine[1], hers[1], mine[2]]


def test_who_holds_least_comes_first_and_among_equals_who_was_served_longest_ago() -> None:
    moments = [BEGAN + timedelta(seconds=seconds) for seconds in range(3)]
    head = Head(JobId(1), JobNumber(1), SMALL)
    queues = [
        Queue(key(1), head, 1, None, moments[0]),
        Queue(key(2), head, 0, None, moments[2]),
        Queue(key(3), head, 0, None, moments[1]),
        Queue(key(4), head, 0, None, None),
        Queue(key(5), head, 4, None, None),
        Queue(key(6), head, 1, 1, None),
    ]
    assert [queue.key[1] for queue in in_turn(queues, 4)] == [4, 3, 2, 1]


def test_what_does_not_fit_lets_other_users_pass_but_not_its_own() -> None:
    shop = Shop(2)
    running = shop.submit(9)
    shop.serve()
    large, own, other = shop.submit(1, 2), shop.submit(1), shop.submit(2)
    assert shop.serve() == [other]
    shop.end(running)
    shop.end(other)
    assert shop.serve() == [large]
    shop.end(large)
    assert shop.serve() == [own]


def test_a_large_job_is_not_passed_for_ever() -> None:
    shop = Shop(2)
    first = shop.submit(2)
    shop.serve()
    large = shop.submit(1, 2)
    shop.serve()
    for _ in range(3):  # before it has waited long, small ones pass
        shop.submit(2)
        (passing,) = shop.serve()
        shop.end(passing)
    shop.pass_by(RESERVE_SECONDS)
    shop.submit(2)
    assert shop.serve() == []
    shop.end(first)
    assert shop.serve()[0] == large


def test_while_room_is_kept_for_one_what_fits_beside_it_goes_on() -> None:
    shop = Shop(8)
    old = shop.submit(9, 6)
    shop.serve()
    large = shop.submit(1, 6)
    shop.serve()
    shop.pass_by(RESERVE_SECONDS)
    beside = [shop.submit(2), shop.submit(2), shop.submit(2)]
    assert shop.serve() == beside[:2]  # with the third the large one would not fit when the old one ends
    shop.end(old)
    assert shop.serve() == [large]
    shop.end(beside[0])
    assert shop.serve() == [beside[2]]


RUNS = st.lists(
    st.tuples(st.integers(1, 4), st.sampled_from([1.0, 2.0, 4.0]), st.integers(1, 50)), min_size=1, max_size=40
)


@given(RUNS, st.integers(1, 4), st.sampled_from([4.0, 6.0]))
def test_any_jobs_all_start_each_users_in_order_within_quota_and_machine(
    runs: list[tuple[int, float, int]], quota: int, cpus: float
) -> None:
    shop = Shop(cpus, quota)
    takes = {shop.submit(user, vcpu): seconds for user, vcpu, seconds in runs}
    owner = dict(zip(takes, [user for user, _, _ in runs], strict=True))
    while len(shop.started) < len(runs):
        shop.serve()
        assert shop.live, "nothing runs, and jobs wait"
        assert sum(share.vcpu for _, share, _ in shop.live.values()) <= cpus
        assert max(Counter(user for user, _, _ in shop.live.values()).values()) <= quota
        ending = min(shop.live, key=lambda job: shop.live[job][2] + timedelta(seconds=takes[job]))
        shop.now = max(shop.now, shop.live[ending][2] + timedelta(seconds=takes[ending]))
        shop.end(ending)
    for user in set(owner.values()):
        own = [job for job in shop.started if owner[job] == user]
        assert own == sorted(own)


@given(st.lists(st.integers(1, 30), min_size=2, max_size=5))
def test_users_who_always_want_more_are_served_strictly_in_turn_however_long_their_jobs_are(lengths: list[int]) -> None:
    shop = Shop(1.0, quota=3)
    counts = Counter(dict.fromkeys(range(len(lengths)), 0))
    owner = {shop.submit(user): user for _ in range(20) for user in counts}
    for _ in range(60):
        (job,) = shop.serve()
        counts[owner[job]] += 1
        assert max(counts.values()) - min(counts.values()) <= 1
        shop.pass_by(lengths[owner[job]])
        shop.end(job)
        if not any(shop.waiting.values()):
            return
