"""Threads for requests whose work grows with the users' data, apart from those that answer interactive requests.

Each pool runs at most a few tasks of one user at a time, and users take turns: a user who sends a hundred requests
delays only their own. What waits in a queue holds no thread.
"""

from __future__ import annotations

import asyncio
from collections import Counter, OrderedDict, deque
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from enum import StrEnum
from functools import partial
from typing import TYPE_CHECKING, Any

from acai_jupyter.contract import endpoints
from acai_jupyter.contract.errors import TooManyWaiting, Unavailable
from acai_server.engine.read_limit import ClientLeft

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable, Hashable

    from acai_jupyter.contract.endpoints import Endpoint

WAITING_PER_USER = 50
WAITING_IN_ALL = 1000
_RETRY_SECONDS = 1.0


class Pool(StrEnum):
    """What kind of work a request is."""

    INTERACTIVE = "interactive"
    """Bounded and quick."""
    LOGS = "logs"
    """Reads through a log."""
    SEARCHES = "searches"
    """Evaluates a query over the things of a project."""
    READS = "reads"
    """Walks the graph, compares, sums up, fits models, or streams an answer."""
    WRITES = "writes"
    """Writes as many rows as it is sent."""
    TRANSFERS = "transfers"
    """Moves the bytes of objects."""


@dataclass(frozen=True)
class Size:
    """How many threads a pool has, or places, and how many of them one user can hold."""

    threads: int
    per_user: int


SIZES = {
    Pool.LOGS: Size(2, 1),
    Pool.SEARCHES: Size(4, 2),
    Pool.READS: Size(4, 2),
    Pool.WRITES: Size(4, 2),
    Pool.TRANSFERS: Size(8, 6),
}
LARGE_BODIES = Size(2, 1)
"""How many requests with a body that waits on disk are decoded and served at once: the memory they take adds up."""
LARGE_BODIES_PER_USER = 10
"""How many of them may wait for one user. Those in pools have a thread already, so most are interactive ones."""
_OF = {
    Pool.LOGS: (endpoints.LIST_LOG_LINES,),
    Pool.SEARCHES: (endpoints.FIND_THINGS, endpoints.COUNT_THINGS, endpoints.LIST_KEYS, endpoints.GET_SWEEP_TABLE),
    Pool.READS: (
        endpoints.GET_METRICS,
        endpoints.GET_CHECKUP,
        endpoints.DOWNLOAD_LOG,
        endpoints.RESOLVE_SOURCES,
        endpoints.COMPARE_SOURCES,
        endpoints.REPORT_DAMAGE,
        endpoints.PLAN_JOB,
        endpoints.LIST_PROFILES,
        endpoints.GET_PROFILE,
        endpoints.PREDICT_RUNS,
        endpoints.PROVISION_JOB,
        endpoints.PLAN_PROFILING,
        endpoints.GET_COSTS,
        endpoints.GET_PROJECT_GRAPH,
        endpoints.DRAW_GRAPH,
        endpoints.GET_CLOSURE,
        endpoints.GET_PATHS,
        endpoints.GET_AFFECTED,
        endpoints.EXPORT_LINEAGE,
        endpoints.EXPLAIN_DIFFERENCE,
    ),
    Pool.WRITES: (
        endpoints.CREATE_UPLOAD,
        endpoints.STAGE_FILES,
        endpoints.ADD_OBJECTS,
        endpoints.COMMIT_UPLOAD,
        endpoints.REMOVE_FILES,
        endpoints.REMOVE_MANY_FILES,
        endpoints.CREATE_FILE_SET,
        endpoints.REMOVE_FILE_SETS,
        endpoints.CREATE_SWEEP,
        endpoints.CREATE_PROFILING,
        endpoints.CHANGE_METADATA,
    ),
    Pool.TRANSFERS: (endpoints.PUT_OBJECT, endpoints.GET_OBJECT),
}
_POOLS = {endpoint.name: pool for pool, found in _OF.items() for endpoint in found}


def pool_of(endpoint: Endpoint[Any]) -> Pool:
    """Return where the work of an endpoint is done."""
    return _POOLS.get(endpoint.name, Pool.INTERACTIVE)


class Turns:
    """A number of places that users share in turns. Used from the event loop only."""

    def __init__(
        self, name: str, size: Size, *, per_user: int = WAITING_PER_USER, in_all: int = WAITING_IN_ALL
    ) -> None:
        self._name = name
        self._size = size
        self._most_waiting = per_user, in_all
        self._running: Counter[Hashable] = Counter()
        self._queues: OrderedDict[Hashable, deque[asyncio.Future[None]]] = OrderedDict()

    @property
    def running(self) -> int:
        """How many places are taken."""
        return self._running.total()

    @property
    def waiting(self) -> int:
        """How many tasks wait for a place."""
        return sum(map(len, self._queues.values()))

    async def hold(self, user: Hashable, start: Callable[[], Awaitable[Any]], departure: Departure) -> Any:
        """Start some work when it is the user's turn; raise `ClientLeft` if they leave before.

        The place is freed when the work ends, even if the caller no longer waits for it.
        """
        await self._turn(user, departure)
        running = asyncio.ensure_future(start())
        running.add_done_callback(lambda _: self._end(user))
        return await asyncio.shield(running)

    async def _turn(self, user: Hashable, departure: Departure) -> None:
        if departure.has_left:
            raise ClientLeft
        if self.running < self._size.threads and self._running[user] < self._size.per_user:
            self._running[user] += 1
            return
        queue = self._queues.setdefault(user, deque())
        per_user, in_all = self._most_waiting
        if len(queue) >= per_user:
            raise TooManyWaiting(limit=per_user, what=self._name, seconds=_RETRY_SECONDS)
        if self.waiting >= in_all:
            raise Unavailable(reason=f"{in_all} requests of all users already wait for the pool '{self._name}'")
        turn = asyncio.get_running_loop().create_future()
        queue.append(turn)
        departure.then(partial(_give_up, turn))
        try:
            await turn
        except BaseException:
            if turn in queue:
                queue.remove(turn)
            if turn.done() and not turn.cancelled() and turn.exception() is None:
                self._end(user)  # the turn came at the moment at which it was given up
            raise
        finally:
            departure.then(None)

    def _end(self, user: Hashable) -> None:
        """Free a place, and give it to the next user who may have one."""
        self._running[user] -= 1
        if not self._running[user]:
            del self._running[user]
        for other in list(self._queues):
            if self._running[other] >= self._size.per_user:
                continue
            queue = self._queues[other]
            turn = _first_pending(queue)
            self._queues.move_to_end(other)
            if not queue:
                del self._queues[other]
            if turn is not None:
                self._running[other] += 1
                turn.set_result(None)
                return


class FairPool(Turns):
    """A thread pool that users share in turns."""

    def __init__(
        self, name: str, size: Size, *, per_user: int = WAITING_PER_USER, in_all: int = WAITING_IN_ALL
    ) -> None:
        super().__init__(name, size, per_user=per_user, in_all=in_all)
        self._executor = ThreadPoolExecutor(size.threads, thread_name_prefix=f"acai-{name}")

    async def run(
        self, user: Hashable, work: Callable[[], Any], departure: Departure, *, also: Turns | None = None
    ) -> Any:
        """Do some work in a thread when it is the user's turn, here and then among `also`."""
        in_thread = partial(asyncio.get_running_loop().run_in_executor, self._executor, work)
        start = in_thread if also is None else partial(also.hold, user, in_thread, departure)
        return await self.hold(user, start, departure)

    def shutdown(self) -> None:
        """Take no more work."""
        self._executor.shutdown(wait=False)


def _give_up(turn: asyncio.Future[None]) -> None:
    if not turn.done():
        turn.set_exception(ClientLeft())


def _first_pending(queue: deque[asyncio.Future[None]]) -> asyncio.Future[None] | None:
    while queue:
        turn = queue.popleft()
        if not turn.done():
            return turn
    return None


class Departure:
    """Whether a client has closed its connection. Set on the event loop, read from any thread."""

    def __init__(self) -> None:
        self.has_left = False
        self._then: Callable[[], Any] | None = None

    def then(self, callback: Callable[[], Any] | None) -> None:
        """Call this when the client leaves, in place of what was to be called before."""
        self._then = callback

    def leave(self) -> None:
        """Note that the client has left."""
        self.has_left = True
        if self._then is not None:
            self._then()
