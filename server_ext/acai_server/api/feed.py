"""Delivers new events to the streams and waiting requests of one server: one reader of the event table for all.

A write only sets a flag. The feed then reads once, in one thread, and delivers the result in slices, so that neither
writes nor other requests wait for a thousand readers.
"""

from __future__ import annotations

import asyncio
import logging
import time
from collections import Counter
from contextlib import suppress
from typing import TYPE_CHECKING, NamedTuple

import msgspec

from acai_jupyter.contract.endpoints import Access
from acai_jupyter.contract.errors import AcaiError, Unavailable
from acai_jupyter.contract.events import Event, EventPage
from acai_server.db.sight import seeing
from acai_server.events.service import PAGE, News

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable

    from acai_jupyter.contract.ids import ProjectId, UserId
    from acai_server.credentials.service import Credentials
    from acai_server.db.projects import Member
    from acai_server.db.sight import Sight
    from acai_server.events.service import Events

SLICE = 10
"""How many readers are served before other work gets a turn on the event loop."""
PAUSE = 19.0
"""Pause after a slice, as a multiple of its duration: delivery takes a twentieth of the event loop."""
_LONGEST_PAUSE_SECONDS = 0.25
_log = logging.getLogger("acai_server.api")


class Caller(NamedTuple):
    """A reader's credential (a token, or none for the server's own user) and the project it reads."""

    token: str | None
    project: str


class Page:
    """News as visible to readers with the same restrictions; encoded once for all at the same position."""

    def __init__(self, begin: int, last: int, events: list[Event]) -> None:
        self.begin = begin
        self.last = last
        self._events = events
        self._encoded: dict[int, str] = {}

    def text_after(self, since: int) -> str:
        """Return what came after a number as JSON; nothing where nothing of it may be seen."""
        if since not in self._encoded:
            events = [event for event in self._events if event.number > since]
            text = msgspec.json.encode(EventPage(events, self.last)).decode() if events else ""
            self._encoded[since] = text
        return self._encoded[since]


class Update(NamedTuple):
    """What a reader receives: a page, and its current membership."""

    page: Page
    member: Member
    sight: Sight | None


class Follower:
    """One reader. A newer update replaces one that was not taken; a reader that missed some reads the table."""

    def __init__(
        self, feed: Feed, caller: Caller, project: ProjectId, concerns: Callable[[Event], bool] | None
    ) -> None:
        self.caller = caller
        self.project = project
        self._feed = feed
        self._concerns = concerns
        self._update: Update | AcaiError | None = None
        self._waiter: asyncio.Future[None] | None = None

    def close(self) -> None:
        """End it. Safe to call twice."""
        self._feed.forget(self)

    def caught_up(self, last: int) -> None:
        """Report the number up to which the reader has all events, so that the feed can begin after it."""
        self._feed.begin_at(self.project, last)

    async def wait(self, seconds: float) -> Update | None:
        """Return what is new, or None after this time; raise the reason when the reader is refused."""
        if self._update is None:
            self._waiter = asyncio.get_running_loop().create_future()
            with suppress(asyncio.TimeoutError):
                await asyncio.wait_for(self._waiter, seconds)
        update, self._update = self._update, None
        if isinstance(update, AcaiError):
            raise update
        return update

    def tell(self, update: Update | AcaiError) -> None:
        """Hand over what is new."""
        self._update = update
        if self._waiter is not None and not self._waiter.done():
            self._waiter.set_result(None)

    def is_concerned(self, events: list[Event]) -> bool:
        """Whether these events of its project are delivered to it."""
        return bool(events) if self._concerns is None else any(map(self._concerns, events))

    @property
    def waits_for_anything(self) -> bool:
        """Whether it forwards every event; otherwise it checks a condition when it is woken."""
        return self._concerns is None


class Round(NamedTuple):
    """What one look at the database found."""

    news: dict[ProjectId, News]
    updates: dict[Caller, Update | AcaiError]
    begun: frozenset[ProjectId]
    """Projects of which it was not known before where their streams are."""

    def concerns(self, follower: Follower) -> bool:
        """Whether a reader gets an update. Waiting requests also check again after a wake-up without events."""
        if isinstance(self.updates[follower.caller], AcaiError) or follower.project in self.begun:
            return True
        if any(one.events for one in self.news.values()):
            return follower.is_concerned(self.news[follower.project].events)
        return not follower.waits_for_anything


class Feed:
    """Runs while it has followers. Used from the event loop, except `wake`, which any thread may call."""

    def __init__(self, events: Events, credentials: Credentials, in_thread: Callable[..., Awaitable[Round]]) -> None:
        self._events = events
        self._credentials = credentials
        self._in_thread = in_thread
        self._loop = asyncio.get_running_loop()
        self._woken = asyncio.Event()
        self._is_woken = False
        self._followers: dict[Follower, None] = {}
        self._readers: Counter[ProjectId] = Counter()
        self._positions: dict[ProjectId, int | None] = {}
        self._task: asyncio.Task[None] | None = None
        self._unlisten = events.listen(self.wake)

    def follow(self, caller: Caller, project: ProjectId, concerns: Callable[[Event], bool] | None = None) -> Follower:
        """Add a reader of a project; with `concerns` it is only woken by events for which that is true."""
        follower = Follower(self, caller, project, concerns)
        self._followers[follower] = None
        self._readers[project] += 1
        self._positions.setdefault(project, None)
        if self._task is None or self._task.done():
            self._task = asyncio.ensure_future(self._run())
        return follower

    def forget(self, follower: Follower) -> None:
        """Remove a reader."""
        if follower not in self._followers:
            return
        del self._followers[follower]
        self._readers[follower.project] -= 1
        if not self._readers[follower.project]:
            del self._readers[follower.project], self._positions[follower.project]

    def begin_at(self, project: ProjectId, last: int) -> None:
        """Begin with what comes after a number, unless it is known already where to begin."""
        if self._positions.get(project) is None:
            self._positions[project] = last

    def wake(self) -> None:
        """Request another look at the table. Thread-safe; costs the same for any number of readers."""
        if not self._is_woken:
            self._is_woken = True
            with suppress(RuntimeError):  # the loop has ended
                self._loop.call_soon_threadsafe(self._woken.set)

    def close(self) -> None:
        """End it, and wake all who wait."""
        self._unlisten()
        if self._task is not None:
            self._task.cancel()
        for follower in list(self._followers):
            follower.tell(Unavailable(reason="the server is stopping"))

    async def _run(self) -> None:
        while self._followers:
            # Where a wake-up was lost, what is new is found at the next heartbeat.
            with suppress(asyncio.TimeoutError):
                await asyncio.wait_for(self._woken.wait(), self._events.heartbeat_seconds)
            self._woken.clear()
            self._is_woken = False  # before reading: what is written from now on wakes again
            followers = list(self._followers)
            found = await self._look({follower.caller: follower.project for follower in followers})
            await self._deliver([one for one in followers if found.concerns(one)], found.updates)

    async def _look(self, callers: dict[Caller, ProjectId]) -> Round:
        try:
            found = await self._in_thread(self._read, callers, dict(self._positions))
        except AcaiError as error:
            return Round({}, dict.fromkeys(callers, error), frozenset())
        except Exception:  # noqa: BLE001 (whatever it was, streams end, and can come back)
            _log.exception("The events could not be read.")
            return Round({}, dict.fromkeys(callers, Unavailable(reason="the events cannot be read")), frozenset())
        for project, news in found.news.items():
            if project in self._positions:
                self._positions[project] = news.last
            if len(news.events) == PAGE:
                self.wake()
        return found

    async def _deliver(self, followers: list[Follower], updates: dict[Caller, Update | AcaiError]) -> None:
        """Serve readers in slices, and pause after each."""
        for at in range(0, len(followers), SLICE):
            began = time.thread_time()
            for follower in followers[at : at + SLICE]:
                follower.tell(updates[follower.caller])
            for _ in range(3):  # in which they send it
                await asyncio.sleep(0)
            pause = PAUSE * (time.thread_time() - began)
            await asyncio.sleep(min(pause, _LONGEST_PAUSE_SECONDS))

    def _read(self, callers: dict[Caller, ProjectId], positions: dict[ProjectId, int | None]) -> Round:
        """Read new events and identify the callers; each distinct view of a project is built once. Blocks."""
        events, credentials = self._events, self._credentials
        news = events.news({project: positions.get(project) for project in callers.values()})
        tokens: dict[str, set[str | None]] = {}
        for caller in callers:
            tokens.setdefault(caller.project, set()).add(caller.token)
        members = {project: credentials.identify_all(shown, project) for project, shown in tokens.items()}
        sights: dict[tuple[ProjectId, UserId], Sight | None] = {}
        pages: dict[tuple[ProjectId, tuple[int, ...]], Page] = {}
        updates: dict[Caller, Update | AcaiError] = {}
        for caller, project in callers.items():
            try:
                member = _admitted(members[caller.project][caller.token], credentials)
            except AcaiError as error:
                updates[caller] = error
                continue
            who = project, member.user_id
            if who not in sights:
                sights[who] = credentials.sight_of(member)
            sight = sights[who]
            view = project, () if sight is None else sight.unseen
            if view not in pages:
                found = news[project]
                seen = seeing(sight, events.visible, project, found.events) if found.events else []
                pages[view] = Page(found.begin, found.last, seen)
            updates[caller] = Update(pages[view], member, sight)
        return Round(news, updates, frozenset(project for project in news if positions.get(project) is None))


def _admitted(found: Member | AcaiError, credentials: Credentials) -> Member:
    if isinstance(found, AcaiError):
        raise found
    credentials.authorise(found, Access.READ)
    return found
