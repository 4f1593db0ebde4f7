"""Users share a pool of threads in turns, and abandoned tasks are not started."""

from __future__ import annotations

import asyncio
import threading
from collections import Counter
from concurrent.futures import ThreadPoolExecutor
from typing import TYPE_CHECKING

import pytest

from acai_jupyter.contract.endpoints import ALL, PAGE_BYTES
from acai_jupyter.contract.errors import TooManyWaiting, Unavailable
from acai_jupyter.contract.ids import ObjectKey, ProjectId
from acai_server.api.objects import share_of
from acai_server.api.pools import SIZES, Departure, FairPool, Pool, Size, Turns, pool_of
from acai_server.engine.read_limit import ClientLeft
from acai_server.objects.keys import folder_prefix, job_folder, upload_folder

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable


class Work:
    """Tasks that run until they are released; counts how many run at once."""

    def __init__(self) -> None:
        self.may_end = threading.Event()
        self.order: list[str] = []
        self.running: Counter[str] = Counter()
        self.most: Counter[str] = Counter()
        self._lock = threading.Lock()

    def of(self, user: str) -> Callable[[], str]:
        def work() -> str:
            with self._lock:
                self.order.append(user)
                self.running[user] += 1
                self.most[user] = max(self.most[user], self.running[user])
                self.most["all"] = max(self.most["all"], self.running.total())
            assert self.may_end.wait(30)
            with self._lock:
                self.running[user] -= 1
            return user

        return work


async def settled(pool: Turns, running: int, waiting: int) -> None:
    while (pool.running, pool.waiting) != (running, waiting):  # noqa: ASYNC110 (the pool has no event for it)
        await asyncio.sleep(0)


def run(test: Callable[[], Awaitable[None]]) -> None:
    async def bounded() -> None:
        await asyncio.wait_for(test(), 60)

    with ThreadPoolExecutor(1) as thread:  # other tests of this process may leave an event loop running
        thread.submit(asyncio.run, bounded()).result()


def test_one_user_holds_a_share_of_the_threads_and_others_come_before_their_queue() -> None:
    async def test() -> None:
        pool, work = FairPool("test", Size(3, 2)), Work()
        tasks = [asyncio.ensure_future(pool.run("ann", work.of("ann"), Departure())) for _ in range(20)]
        await settled(pool, 2, 18)
        tasks += [asyncio.ensure_future(pool.run(user, work.of(user), Departure())) for user in ("bob", "cid")]
        await settled(pool, 3, 19)
        work.may_end.set()
        assert Counter(await asyncio.gather(*tasks)) == {"ann": 20, "bob": 1, "cid": 1}
        assert set(work.order[:5]) == {"ann", "bob", "cid"}, work.order
        assert (work.most["ann"], work.most["all"] <= 3) == (2, True)
        assert (pool.running, pool.waiting) == (0, 0)
        pool.shutdown()

    run(test)


def test_queued_work_of_a_client_that_leaves_is_never_started() -> None:
    async def test() -> None:
        pool, work, departures = FairPool("test", Size(1, 1)), Work(), [Departure() for _ in range(60)]
        first = asyncio.ensure_future(pool.run("ann", work.of("ann"), Departure()))
        await settled(pool, 1, 0)
        waiting = [asyncio.ensure_future(pool.run(f"u{n}", work.of(f"u{n}"), one)) for n, one in enumerate(departures)]
        await settled(pool, 1, 60)
        for departure in departures:
            departure.leave()
        assert all(isinstance(one, ClientLeft) for one in await asyncio.gather(*waiting, return_exceptions=True))
        assert pool.waiting == 0
        work.may_end.set()
        assert await first == "ann"
        assert await pool.run("bob", work.of("bob"), Departure()) == "bob"
        assert work.order == ["ann", "bob"]
        gone = Departure()
        gone.leave()
        with pytest.raises(ClientLeft):
            await pool.run("bob", work.of("bob"), gone)
        pool.shutdown()

    run(test)


def test_a_queue_is_bounded_for_each_user_and_for_all() -> None:
    async def test() -> None:
        pool, work = FairPool("logs", Size(1, 1), per_user=2, in_all=3), Work()
        tasks = [asyncio.ensure_future(pool.run("ann", work.of("ann"), Departure())) for _ in range(3)]
        await settled(pool, 1, 2)
        with pytest.raises(TooManyWaiting, match="2 of your requests to the pool 'logs' are waiting already"):
            await pool.run("ann", work.of("ann"), Departure())
        tasks.append(asyncio.ensure_future(pool.run("bob", work.of("bob"), Departure())))
        await settled(pool, 1, 3)
        with pytest.raises(Unavailable):
            await pool.run("cid", work.of("cid"), Departure())
        work.may_end.set()
        assert await asyncio.gather(*tasks) == ["ann", "ann", "ann", "bob"]
        pool.shutdown()

    run(test)


def test_a_task_that_fails_or_is_cancelled_gives_its_thread_back() -> None:
    async def test() -> None:
        pool, work = FairPool("test", Size(1, 1)), Work()
        with pytest.raises(ZeroDivisionError):
            await pool.run("ann", lambda: 1 / 0, Departure())
        running = asyncio.ensure_future(pool.run("ann", work.of("ann"), Departure()))
        waiting = asyncio.ensure_future(pool.run("ann", work.of("ann"), Departure()))
        await settled(pool, 1, 1)
        waiting.cancel()
        running.cancel()
        await asyncio.gather(running, waiting, return_exceptions=True)
        assert pool.running == 1, "the thread is busy until its work ends, even when the waiting task was cancelled"
        work.may_end.set()
        assert await pool.run("ann", work.of("ann"), Departure()) == "ann"
        pool.shutdown()

    run(test)


def test_bulk_endpoints_do_not_share_threads_with_interactive_ones() -> None:
    pools = {endpoint.name: pool_of(endpoint) for endpoint in ALL}
    assert set(pools.values()) == {Pool.INTERACTIVE, *SIZES}
    assert SIZES[Pool.LOGS].per_user == 1, "one search in a log at a time for each user"
    assert pools["list_log_lines"] is Pool.LOGS
    for name in ("get_status", "get_project_status", "list_jobs", "get_job", "create_job", "get_overview", "get_log"):
        assert pools[name] is Pool.INTERACTIVE
    for name in ("download_log", "get_closure", "export_lineage", "compare_sources", "find_things", "get_object"):
        assert pools[name] is not Pool.INTERACTIVE


def test_work_takes_a_turn_of_its_pool_before_one_among_large_bodies() -> None:
    async def test() -> None:
        pool, large, work = FairPool("writes", Size(4, 2), per_user=2), Turns("large", Size(2, 1)), Work()
        first = [asyncio.ensure_future(pool.run("ann", work.of("ann"), Departure(), also=large)) for _ in range(2)]
        await settled(pool, 2, 0)
        await settled(large, 1, 1)
        leaving = Departure()
        queued = [
            asyncio.ensure_future(pool.run("ann", work.of("ann"), one, also=large)) for one in (leaving, Departure())
        ]
        await settled(pool, 2, 2)
        with pytest.raises(TooManyWaiting):
            await pool.run("ann", work.of("ann"), Departure(), also=large)
        leaving.leave()
        with pytest.raises(ClientLeft):
            await queued[0]
        others = [
            asyncio.ensure_future(pool.run("bob", work.of("bob"), Departure(), also=large)),
            asyncio.ensure_future(pool.run("cid", work.of("cid"), Departure())),
        ]
        await settled(pool, 4, 1)
        await settled(large, 2, 1)
        work.may_end.set()
        assert await asyncio.gather(*first, queued[1], *others) == ["ann", "ann", "ann", "bob", "cid"]
        assert work.most["ann"] == 1, "one large body of a user at a time"
        assert (pool.running, pool.waiting, large.running, large.waiting) == (0, 0, 0, 0)
        pool.shutdown()

    run(test)


def test_a_client_that_leaves_while_it_waits_among_large_bodies_frees_its_thread() -> None:
    async def test() -> None:
        pool, large, work, departure = FairPool("writes", Size(2, 2)), Turns("large", Size(1, 1)), Work(), Departure()
        first = asyncio.ensure_future(pool.run("ann", work.of("ann"), Departure(), also=large))
        leaving = asyncio.ensure_future(pool.run("bob", work.of("bob"), departure, also=large))
        await settled(pool, 2, 0)
        await settled(large, 1, 1)
        departure.leave()
        with pytest.raises(ClientLeft):
            await leaving
        assert (pool.running, large.waiting) == (1, 0)
        work.may_end.set()
        assert await first == "ann"
        assert work.order == ["ann"]
        pool.shutdown()

    run(test)


def test_no_endpoint_that_takes_pages_of_files_is_interactive() -> None:
    found = {endpoint.name: pool_of(endpoint) for endpoint in ALL if endpoint.max_bytes == PAGE_BYTES}
    assert len(found) > 5
    assert Pool.INTERACTIVE not in found.values(), found
    by_name = {endpoint.name: pool_of(endpoint) for endpoint in ALL}
    assert {by_name[name] for name in ("report_damage", "resolve_sources")} == {Pool.READS}
    assert {by_name[name] for name in ("create_upload", "change_metadata")} == {Pool.WRITES}


def test_signed_urls_share_threads_by_the_upload_or_job_that_owns_the_object() -> None:
    project, other = ProjectId(1), ProjectId(2)
    uploads = [folder_prefix(project, upload_folder(upload, "i1")) for upload in ("aa1", "aa2")]
    jobs = [folder_prefix(one, job_folder(7, "i1")) for one in (project, other)]
    shares = [{share_of(ObjectKey(f"{folder}{name}")) for name in ("a/0/x", "b/0/y")} for folder in jobs]
    shares += [{share_of(ObjectKey(f"{folder}{name}")) for name in ("x", "y")} for folder in uploads]
    assert [len(one) for one in shares] == [1, 1, 1, 1]
    assert len(set.union(*shares)) == 4
    assert share_of(ObjectKey("mark")) == "mark"
