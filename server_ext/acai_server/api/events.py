"""Events over HTTP and over a WebSocket. The bus wakes, the table tells: a dropped connection loses nothing."""

from __future__ import annotations

import asyncio
import logging
import time
from contextlib import suppress
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any

import msgspec
from jupyter_server.auth.decorator import allow_unauthenticated
from jupyter_server.base.websocket import WebSocketMixin
from tornado.websocket import WebSocketClosedError, WebSocketHandler

from acai_jupyter.contract import endpoints
from acai_jupyter.contract.errors import AcaiError, BadRequest, NotAllowed, NotSignedIn, ProjectNotFound
from acai_jupyter.contract.queries import EventQuery
from acai_server.api.base import BaseHandler
from acai_server.api.proxy import follow

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable

    from tornado.websocket import WebSocketClientConnection

    from acai_jupyter.contract.events import EventPage
    from acai_server.api.call import Call, Operations
    from acai_server.events.service import Events

_log = logging.getLogger("acai_server.api")
TRY_AGAIN_LATER = 1013
POLICY_VIOLATION = 1008


class Waker:
    """Turns wake-ups from any thread into an asyncio event. Ends with `close`."""

    def __init__(self, events: Events) -> None:
        self._loop = asyncio.get_running_loop()
        self._event = asyncio.Event()
        self.close = events.listen(self._wake)

    def _wake(self) -> None:
        with suppress(RuntimeError):  # the loop has ended, and with it whoever waited
            self._loop.call_soon_threadsafe(self._event.set)

    def reset(self) -> None:
        """Call before reading the table, so that no wake-up falls between the reading and the waiting."""
        self._event.clear()

    async def wait(self, seconds: float) -> None:
        """Wait for the next wake-up."""
        with suppress(asyncio.TimeoutError):
            await asyncio.wait_for(self._event.wait(), seconds)


async def list_events(call: Call, in_thread: Callable[..., Awaitable[Any]]) -> EventPage:
    """Return events, waiting for one if asked to."""
    query = call.queried(EventQuery)
    deadline = time.monotonic() + query.wait_seconds
    waker = Waker(call.services.events)
    try:
        while True:
            waker.reset()
            page: EventPage = await in_thread(call.services.events.after, call.project, query.since)
            left = deadline - time.monotonic()
            if page.events or page.reload or query.since is None or left <= 0:
                return page
            await waker.wait(left)
    finally:
        waker.close()


class EventStreamHandler(WebSocketMixin, WebSocketHandler, BaseHandler):
    """Sends pages of events as they happen, from the number that the reader has seen."""

    endpoints = {"GET": endpoints.STREAM_EVENTS}  # noqa: RUF012 (as in the base class)
    _sender: asyncio.Task[None] | None = None
    _source: WebSocketClientConnection | None = None

    async def prepare(self) -> None:  # type: ignore[override]  # as Jupyter's own APIHandler does
        """Refuse before the upgrade, in the same shape as everywhere."""
        await BaseHandler.prepare(self)

    @allow_unauthenticated
    async def get(self, project: str) -> None:
        """Upgrade to a WebSocket."""
        del project
        self._query = self.decode_query()
        if self.request.headers.get("Upgrade", "").lower() != "websocket":
            raise BadRequest(reason="this route speaks WebSocket only; without one, ask for pages of events")
        if not self.check_origin():
            raise NotAllowed("The Jupyter server refused this: it comes from a page of another origin.")
        if self.upstream is not None:
            self._source = await follow(self, self.upstream)
        await WebSocketHandler.get(self)

    def open(self, *args: Any, **kwargs: Any) -> None:
        """Begin to send."""
        super().open(*args, **kwargs)
        work = self._send() if self._source is None else self._relay(self._source)
        self._sender = asyncio.ensure_future(work)
        self.host.streams.add(self)

    def on_message(self, message: str | bytes) -> None:
        """A reader has nothing to say."""
        del message

    def on_close(self) -> None:
        """End the sending."""
        self.host.streams.discard(self)
        if self._sender is not None:
            self._sender.cancel()
        if self._source is not None:
            self._source.close()

    async def _send(self) -> None:
        query = self._query
        assert isinstance(query, EventQuery)
        events = self.services.events
        since = query.since
        waker = Waker(events)
        told_at = time.monotonic()
        try:
            while True:
                waker.reset()
                await self.admit()
                page: EventPage = await self.in_thread(events.after, self.member.project_id, since)
                quiet_seconds = time.monotonic() - told_at
                if page.events or page.reload or since is None or quiet_seconds >= events.heartbeat_seconds:
                    text = msgspec.json.encode(page).decode()
                    told_at = time.monotonic()
                    await asyncio.wait_for(self.write_message(text), events.slow_reader_seconds)
                since = page.last
                if not page.events:
                    await waker.wait(self._patience(told_at + events.heartbeat_seconds))
        except (TimeoutError, WebSocketClosedError):
            self.close(TRY_AGAIN_LATER, "too slow")
        except (NotSignedIn, NotAllowed, ProjectNotFound) as error:
            self.close(POLICY_VIOLATION, error.code)
        except AcaiError as error:
            _log.warning("request %s: a stream of events ended: %s", self.request_id, error.message)
        finally:
            waker.close()
            self.close(TRY_AGAIN_LATER, "come back for the rest")

    def _patience(self, deadline: float) -> float:
        """How long to wait for news: until something is to be said in any case, or the token expires."""
        patience = deadline - time.monotonic()
        expires = self.member.expires_at
        left = patience if expires is None else (expires - datetime.now(UTC)).total_seconds()
        return max(0.1, min(patience, left))

    async def _relay(self, source: WebSocketClientConnection) -> None:
        """Pass on what the server that has the data sends; when it goes, so does this connection."""
        try:
            while (message := await source.read_message()) is not None:
                await asyncio.wait_for(self.write_message(message), self.host.slow_reader_seconds)
        except (TimeoutError, WebSocketClosedError):
            self.close(TRY_AGAIN_LATER, "too slow")
        finally:
            source.close()
            self.close(TRY_AGAIN_LATER, "the server with the data has gone")


OPERATIONS: Operations = {endpoints.LIST_EVENTS: list_events}
