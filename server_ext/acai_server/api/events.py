"""Events over HTTP and over a WebSocket. The feed tells what is new, the table what was missed."""

from __future__ import annotations

import asyncio
import logging
import time
from typing import TYPE_CHECKING, Any

import msgspec
from jupyter_server.auth.decorator import allow_unauthenticated
from jupyter_server.base.websocket import WebSocketMixin
from tornado.websocket import WebSocketClosedError, WebSocketHandler

from acai_jupyter.contract import endpoints
from acai_jupyter.contract.errors import (
    AcaiError,
    BadRequest,
    NotAllowed,
    NotSignedIn,
    ProjectNotFound,
    TooManyStreams,
)
from acai_jupyter.contract.events import EventPage
from acai_jupyter.contract.queries import EventQuery
from acai_server.api.base import BaseHandler
from acai_server.api.feed import Caller
from acai_server.api.proxy import follow

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable

    from tornado.websocket import WebSocketClientConnection

    from acai_jupyter.contract.ids import UserId
    from acai_server.api.call import Call, Operations
    from acai_server.api.feed import Follower

_log = logging.getLogger("acai_server.api")
TRY_AGAIN_LATER = 1013
POLICY_VIOLATION = 1008


async def list_events(call: Call, in_thread: Callable[..., Awaitable[Any]]) -> EventPage:
    """Return events, waiting for one if asked to."""
    query = call.queried(EventQuery)
    deadline = time.monotonic() + query.wait_seconds
    if not query.wait_seconds:
        page: EventPage = await in_thread(call.services.events.after, call.project, query.since)
        return page
    follower = call.following()
    try:
        while True:
            page = await in_thread(call.services.events.after, call.project, query.since)
            left = deadline - time.monotonic()
            if page.events or page.reload or query.since is None or left <= 0:
                return page
            follower.caught_up(page.last)
            await follower.wait(left)
    finally:
        follower.close()


class EventStreamHandler(WebSocketMixin, WebSocketHandler, BaseHandler):
    """Sends pages of events as they happen, from the number that the reader has seen."""

    endpoints = {"GET": endpoints.STREAM_EVENTS}  # noqa: RUF012 (as in the base class)
    _sender: asyncio.Task[None] | None = None
    _source: WebSocketClientConnection | None = None
    _refusal: TooManyStreams | None = None

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
        else:
            self._refuse_more_than_allowed()
        await WebSocketHandler.get(self)

    def _refuse_more_than_allowed(self) -> None:
        """Refuse a stream beyond the limit: by status, or by close code to a page, which is not told the status."""
        streams: Any = self.host.streams
        limit = self.host.streams_per_user
        own = sum(stream.user == self.user for stream in streams)
        if limit and own >= limit:
            self._refusal = TooManyStreams(user=self.member.name, limit=limit)
            if "Origin" not in self.request.headers:
                raise self._refusal

    @property
    def user(self) -> UserId | None:
        """Whose stream it is; not known where it is passed on."""
        return self.member.user_id if self.upstream is None else None

    def open(self, *args: Any, **kwargs: Any) -> None:
        """Begin to send."""
        super().open(*args, **kwargs)
        if self._refusal is not None:
            self.close(TRY_AGAIN_LATER, self._refusal.code)
            return
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
        feed = self.host.feed(self.services)
        follower = feed.follow(Caller(self.bearer(), self.path_kwargs["project"]), self.member.project_id)
        try:
            await self._send_all(follower, query.since)
        except (TimeoutError, WebSocketClosedError):
            self.close(TRY_AGAIN_LATER, "too slow")
        except (NotSignedIn, NotAllowed, ProjectNotFound) as error:
            self.close(POLICY_VIOLATION, error.code)
        except AcaiError as error:
            _log.warning("request %s: a stream of events ended: %s", self.request_id, error.message)
        finally:
            follower.close()
            self.close(TRY_AGAIN_LATER, "come back for the rest")

    async def _send_all(self, follower: Follower, since: int | None) -> None:
        """Send what is in the table, and then what the feed says; who misses something reads the table again."""
        events = self.services.events
        is_behind, told_at = True, time.monotonic()
        while True:
            if is_behind:
                await self.admit()
                page = await self.in_thread(events.after, self.member.project_id, since)
                is_behind = bool(page.events)
                text = _encoded(page) if page.events or page.reload or since is None else ""
                since = page.last
                follower.caught_up(page.last)
            else:
                update = await follower.wait(self._patience(told_at + events.heartbeat_seconds))
                text = ""
                if update is not None:
                    self.member, self.sight = update.member, update.sight
                    is_behind = since is None or since < update.page.begin
                    if not is_behind and since is not None:
                        text = update.page.text_after(since)
                        since = max(since, update.page.last)
                elif self._has_expired():
                    await self.admit()
            if not text and time.monotonic() - told_at >= events.heartbeat_seconds:
                text = _encoded(EventPage([], since or 0))
            if text:
                told_at = time.monotonic()
                await asyncio.wait_for(self.write_message(text), events.slow_reader_seconds)

    def _patience(self, deadline: float) -> float:
        """How long to wait for news: until something is sent in any case, or the token expires."""
        patience = deadline - time.monotonic()
        expires = self.member.expires_at
        left = patience if expires is None else (expires - self.services.events.now()).total_seconds()
        return max(0.1, min(patience, left))

    def _has_expired(self) -> bool:
        expires = self.member.expires_at
        return expires is not None and expires <= self.services.events.now()

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


def _encoded(page: EventPage) -> str:
    return msgspec.json.encode(page).decode()


OPERATIONS: Operations = {endpoints.LIST_EVENTS: list_events}
