"""Passing requests on to the server that has the data, with its token, when this one is only attached to it.

Neither a large body nor an answer is held as a whole. The other server sees the headers of a large request first, and
decides by them whether it wants the body.
"""

from __future__ import annotations

import asyncio
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import msgspec
from tornado.httpclient import AsyncHTTPClient, HTTPClientError, HTTPRequest
from tornado.httputil import HTTPHeaders, parse_response_start_line
from tornado.iostream import StreamClosedError
from tornado.simple_httpclient import SimpleAsyncHTTPClient
from tornado.tcpclient import TCPClient
from tornado.websocket import WebSocketClientConnection, WebSocketError, websocket_connect

from acai_jupyter.contract import account_endpoints, decoding, endpoints
from acai_jupyter.contract.accounts import Project, ProjectList
from acai_jupyter.contract.endpoints import BASE
from acai_jupyter.contract.errors import NotSignedIn, ServerUnreachable, SettingsBroken, from_body
from acai_server import logins
from acai_server.engine.read_limit import ClientLeft

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable, Sequence

    from tornado.httpclient import HTTPResponse
    from tornado.iostream import IOStream
    from tornado.netutil import Resolver

    from acai_server.api.base import BaseHandler

WITH_BODY = ("POST", "PUT", "PATCH")
_PASSED = ("Content-Type", "Accept", "Range", "X-Request-Id")
_RETURNED = ("Content-Type", "Retry-After")
FORWARDED = "X-Acai-Forwarded"
"""Marks what was passed on, so that a server whose `url` leads to itself says so instead of asking itself."""
TIMEOUT_SECONDS = 60.0
AHEAD_BYTES = 16 * 1024 * 1024
"""What an answer may hold for a caller who reads slowly, so that the other server has sent a usual one in time."""
_NOT_SIGNED_IN, _NO_ANSWER = 401, 599
"""Of which the second is tornado's word for no answer."""
_OF_STATUS = (endpoints.GET_STATUS, endpoints.GET_PROJECT_STATUS)


@dataclass(frozen=True)
class Upstream:
    """Where the data is served, and the token that is shown there."""

    url: str
    token: str

    def address(self, path: str, query: str) -> str:
        """Return the same route on the other server."""
        route = path[path.index(BASE) :]
        return f"{self.url.rstrip('/')}{route}" + (f"?{query}" if query else "")


async def forward(handler: BaseHandler, upstream: Upstream) -> None:
    """Ask the other server and answer what it answers; if our token has expired, ask again with another."""
    if handler.relay is not None:
        await handler.relay.finish()
        return
    method = handler.request.method or "GET"
    body = bytes(handler.sent_body()) if method in WITH_BODY else None
    request = _request(handler, upstream, body=body, request_timeout=TIMEOUT_SECONDS)
    reply = await _fetched(AsyncHTTPClient(), request, Reply(handler, upstream))
    if reply.status == _NOT_SIGNED_IN and handler.bearer() is None:
        renewed = await handler.host.renew(upstream)
        if renewed is not None:
            request = _request(handler, renewed, body=body, request_timeout=TIMEOUT_SECONDS)
            reply = await _fetched(AsyncHTTPClient(), request, Reply(handler, renewed))
    await reply.finish()


def _request(handler: BaseHandler, upstream: Upstream, **options: Any) -> HTTPRequest:
    if FORWARDED in handler.request.headers:
        raise SettingsBroken(reason=f"the setting url, {upstream.url}, leads to a server that is only attached itself")
    headers = {name: handler.request.headers[name] for name in _PASSED if name in handler.request.headers}
    headers |= {"Authorization": authorization(handler, upstream), "X-Request-Id": handler.request_id, FORWARDED: "1"}
    return HTTPRequest(
        upstream.address(handler.request.path, handler.request.query),
        method=handler.request.method or "GET",
        headers=headers,
        follow_redirects=False,
        **options,
    )


async def _fetched(client: AsyncHTTPClient, request: HTTPRequest, reply: Reply) -> Reply:
    """Send a request; what is a success is sent on while it comes, anything else is kept in the reply."""
    request.header_callback = reply.take_header
    request.streaming_callback = reply.take_piece
    try:
        answer: HTTPResponse = await client.fetch(request, raise_error=False)
    except (TimeoutError, OSError, HTTPClientError) as error:
        raise ServerUnreachable(where=f" at {reply.upstream.url}") from error
    reply.status = answer.code
    return reply


@dataclass
class Reply:
    """What the other server answers."""

    handler: BaseHandler
    upstream: Upstream
    status: int = 0
    headers: HTTPHeaders = field(default_factory=HTTPHeaders)
    kept: bytearray = field(default_factory=bytearray)
    _is_passed_on: bool = False
    _passed_bytes: int = 0

    def take_header(self, line: str) -> None:
        """Take a line of what comes before the body; an answer may be preceded by one that only says to continue."""
        if line.startswith("HTTP/"):
            self.status = parse_response_start_line(line.strip()).code
            self.headers = HTTPHeaders()
        elif line.strip():
            self.headers.parse_line(line)

    async def take_piece(self, piece: bytes) -> None:
        """Take a piece of the body; after `AHEAD_BYTES`, as fast as our own caller takes it."""
        if not self._is_ours():
            self.kept += piece
            return
        if not self._is_passed_on:
            self._is_passed_on = True
            self._set_head()
        self.handler.write(piece)
        self._passed_bytes += len(piece)
        flushed = self.handler.flush()
        if self._passed_bytes > AHEAD_BYTES:
            await flushed

    def _is_ours(self) -> bool:
        """Whether it is a success that is sent on as it is."""
        endpoint, is_json = self.handler.endpoint, self.headers.get("Content-Type", "").startswith("application/json")
        is_changed = endpoint in _OF_STATUS or endpoint is account_endpoints.LIST_PROJECTS
        return is_json and not is_changed and self.status == endpoint.status

    def _set_head(self) -> None:
        self.handler.set_status(self.status)
        for name in _RETURNED:
            if name in self.headers:
                self.handler.set_header(name, self.headers[name])

    async def finish(self) -> None:
        """Answer it, or end the answer that has begun."""
        body = bytes(self.kept)
        if self._is_passed_on:
            if self.status == _NO_ANSWER:
                self.handler.abort(ServerUnreachable.status)
                return
            self.handler.finish()
            return
        if self.status == _NO_ANSWER:
            raise ServerUnreachable(where=f" at {self.upstream.url}")
        if _json(body) is None:
            raise ServerUnreachable(where=f" at {self.upstream.url}: what answers there is something else")
        self._set_head()
        is_granted = self.status == endpoints.GET_STATUS.status
        self.handler.finish(await _seen_from_here(body, self.handler, self.upstream) if is_granted else body)


class _TrackedConnections(TCPClient):
    """Closes the connections that it opened when it is closed."""

    def __init__(self, resolver: Resolver) -> None:
        super().__init__(resolver=resolver)
        self._streams: list[IOStream] = []

    async def connect(self, *arguments: Any, **options: Any) -> IOStream:
        """Open a connection."""
        stream = await super().connect(*arguments, **options)
        self._streams.append(stream)
        return stream

    def close(self) -> None:
        """Close them all."""
        super().close()
        for stream in self._streams:
            stream.close()


class _RelayClient(SimpleAsyncHTTPClient):
    """An HTTP client whose `close` also ends the requests in progress; tornado's leaves them waiting."""

    def initialize(self, **options: Any) -> None:  # type: ignore[override]  # as its base classes have it
        super().initialize(**options)
        self.tcp_client = _TrackedConnections(self.resolver)


class Relay:
    """Passes a large body on to the other server while it arrives, once that server wants it."""

    def __init__(
        self,
        handler: BaseHandler,
        upstream: Upstream,
        announced: int | None,
        *,
        timeout_seconds: float = TIMEOUT_SECONDS,
    ) -> None:
        self._handler = handler
        self._announced = announced
        self._timeout_seconds = timeout_seconds
        self._client = _RelayClient(force_instance=True)  # of its own: a slow body keeps no other request waiting
        self._pieces: asyncio.Queue[bytes | None] = asyncio.Queue(maxsize=1)
        self._wanted = asyncio.Event()
        self._cancelled = asyncio.Event()
        self._reply = Reply(handler, upstream)
        self._exchange: asyncio.Task[Reply] | None = None

    async def start(self) -> None:
        """Show the other server the headers; returns when it wants the body, and raises what it refuses with."""
        await self._show_headers()
        if self._wanted.is_set():
            return
        refusal = await self._refusal()
        renewed = None
        if isinstance(refusal, NotSignedIn) and self._handler.bearer() is None:
            renewed = await self._handler.host.renew(self._reply.upstream)
        if renewed is None:
            raise refusal
        self._reply = Reply(self._handler, renewed)
        await self._show_headers()
        if not self._wanted.is_set():
            raise await self._refusal()

    async def _show_headers(self) -> None:
        request = _request(
            self._handler,
            self._reply.upstream,
            body_producer=self._produce,
            expect_100_continue=True,
            request_timeout=0,
        )
        if self._announced is not None:
            request.headers["Content-Length"] = str(self._announced)
        self._exchange = asyncio.ensure_future(_fetched(self._client, request, self._reply))
        wanted = asyncio.ensure_future(self._wanted.wait())
        done, _ = await asyncio.wait(
            {self._exchange, wanted}, timeout=self._timeout_seconds, return_when=asyncio.FIRST_COMPLETED
        )
        wanted.cancel()
        if not done:
            raise ServerUnreachable(where=f" at {self._reply.upstream.url}")

    async def write(self, piece: bytes | None) -> None:
        """Pass a piece on; waits until the one before it was taken. None is the end."""
        assert self._exchange is not None
        put = asyncio.ensure_future(self._pieces.put(piece))
        await asyncio.wait({put, self._exchange}, timeout=self._timeout_seconds, return_when=asyncio.FIRST_COMPLETED)
        if put.done():
            return
        put.cancel()
        if self._exchange.done():
            raise await self._refusal()
        raise ServerUnreachable(where=f" at {self._reply.upstream.url}")

    async def finish(self) -> None:
        """Pass the end on, and answer what the other server answers."""
        assert self._exchange is not None
        await self.write(None)
        try:
            reply = await asyncio.wait_for(self._exchange, self._timeout_seconds)
        except (TimeoutError, ServerUnreachable) as error:
            if self._cancelled.is_set():
                raise ClientLeft from error
            raise ServerUnreachable(where=f" at {self._reply.upstream.url}") from error
        await reply.finish()

    def cancel(self) -> None:
        """Break off what is under way."""
        if self._cancelled.is_set():
            return
        self._cancelled.set()
        if self._exchange is not None:
            self._exchange.add_done_callback(lambda done: done.cancelled() or done.exception())
        self._client.close()

    async def _refusal(self) -> Exception:
        """Return what the other server answered instead of taking the body."""
        assert self._exchange is not None
        reply = await self._exchange
        body = _json(bytes(reply.kept))
        if reply.status == _NO_ANSWER or body is None:
            return ServerUnreachable(where=f" at {reply.upstream.url}")
        return from_body(body, reply.status)

    async def _produce(self, write: Callable[[bytes], Awaitable[None]]) -> None:
        self._wanted.set()
        cancelled = asyncio.ensure_future(self._cancelled.wait())
        try:
            while True:
                piece = asyncio.ensure_future(self._pieces.get())
                await asyncio.wait({piece, cancelled}, return_when=asyncio.FIRST_COMPLETED)
                if not piece.done():
                    piece.cancel()
                    raise StreamClosedError
                if (sent := piece.result()) is None:
                    return
                await write(sent)
        finally:
            cancelled.cancel()


async def _seen_from_here(body: bytes, handler: BaseHandler, upstream: Upstream) -> bytes:
    if handler.endpoint in _OF_STATUS:
        return _attached(body, handler.host.notices)
    if handler.endpoint is account_endpoints.LIST_PROJECTS and handler.bearer() is None:
        return await _with_kept(body, handler, upstream)
    return body


async def follow(handler: BaseHandler, upstream: Upstream) -> WebSocketClientConnection:
    """Open the same WebSocket at the other server, or refuse as it refused."""
    address = upstream.address(handler.request.path, handler.request.query).replace("http", "ws", 1)
    headers = {"Authorization": authorization(handler, upstream), "X-Request-Id": handler.request_id}
    try:
        request = HTTPRequest(address, headers=headers, request_timeout=TIMEOUT_SECONDS, follow_redirects=False)
        return await websocket_connect(request)
    except HTTPClientError as error:
        if error.response is None or error.code == 599:  # noqa: PLR2004 (as above)
            raise ServerUnreachable(where=f" at {upstream.url}") from error
        raise from_body(_json(error.response.body), error.code) from error
    except (OSError, TimeoutError, WebSocketError) as error:
        raise ServerUnreachable(where=f" at {upstream.url}") from error


def _json(body: bytes) -> Any:
    try:
        return decoding.plain_json(body)
    except msgspec.DecodeError:
        return None


def authorization(handler: BaseHandler, upstream: Upstream) -> str:
    """Return what to show upstream: the token that the caller brought, as nobody has checked it here, else ours.

    Ours is the one that was kept for the project, as for kernels, if one was.
    """
    project = handler.path_kwargs.get("project")
    own = logins.kept(upstream.url).get(project) if project else None
    return f"Bearer {handler.bearer() or own or upstream.token}"


async def _with_kept(body: bytes, handler: BaseHandler, upstream: Upstream) -> bytes:
    """Add the projects that other tokens open which this user has kept for the same server."""
    page = decoding.from_json(body, ProjectList)
    listed = {one.name for one in page.projects if one.role is not None}
    tokens = {name: token for name, token in logins.kept(upstream.url).items() if name not in listed}
    after, last = handler.get_query_argument("after", ""), page.next
    within = [name for name in tokens if name > after and (last is None or name <= last)]
    answers = await asyncio.gather(*(_listed(upstream, tokens[name]) for name in within))
    found = {one.name: one for one in page.projects}
    found |= {one.name: one for answer in answers for one in answer if one.name in within}
    return msgspec.json.encode(ProjectList([found[name] for name in sorted(found)], page.next))


async def _listed(upstream: Upstream, token: str) -> list[Project]:
    """Return what a token opens; one that opens nothing any more is left out."""
    address = f"{upstream.url.rstrip('/')}{BASE}{account_endpoints.LIST_PROJECTS.path}"
    headers = {"Authorization": f"Bearer {token}", FORWARDED: "1"}
    try:
        answer = await AsyncHTTPClient().fetch(HTTPRequest(address, headers=headers, follow_redirects=False))
        return decoding.from_json(answer.body, ProjectList).projects
    except (OSError, TimeoutError, HTTPClientError, msgspec.MsgspecError):
        return []


def _attached(body: bytes, notices: Sequence[str]) -> bytes:
    """Add how this server relates to the data. As plain JSON: the other server may be of another version."""
    status = decoding.plain_json(body)
    return msgspec.json.encode(status | {"mode": "attached", "notices": [*notices, *status.get("notices", [])]})
