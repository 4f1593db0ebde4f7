"""Requests to the API server, on one event loop: asked again while it is in trouble, refused in words for people."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING, Any, TypeVar
from urllib.parse import urlsplit
from urllib.request import getproxies_environment, proxy_bypass

import aiohttp
import msgspec

from acai_jupyter.contract import decoding
from acai_jupyter.contract.errors import AcaiError, JobRefused, Unavailable
from acai_server.runners.kubernetes.seen import Status

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Callable, Mapping

    from acai_server.runners.kubernetes.calls import Call
    from acai_server.runners.kubernetes.credentials import Access

T = TypeVar("T")
PAUSES = (0.2, 0.5, 1.0, 2.0, 4.0)
"""Between tries; what is asked stays asked through a restart of the API server that takes seconds."""
LONGEST_PAUSE_SECONDS = 10.0
SILENT_SECONDS = 120.0
"""A watch that says nothing for so long, not even a bookmark, is given up and asked for again."""
_PIECE = 256 * 1024
_JSON = "application/json"
_METADATA = "application/json;as=PartialObjectMetadata{};g=meta.k8s.io;v=v1"
"""What is asked of ConfigMaps is whether they are there; the agent in them is large."""
_AT_ONCE = 32
"""Short requests: each that waits for another has no connection of its own meanwhile."""
_CLOSING_SECONDS = 0.05
_HELD_BYTES = 32 * 1024
_WITHIN = aiohttp.ClientTimeout(total=30.0, sock_connect=10.0)
_FORBIDDEN, _MISSING, _TAKEN, _GONE, _UNAUTHORIZED = 403, 404, 409, 410, 401
_IN_TROUBLE = frozenset({429, 500, 502, 503, 504})


class Missing(Exception):
    """There is no such object in the cluster."""


class Taken(Exception):
    """There is such an object in the cluster already."""


class Gone(Exception):
    """What a watch would go on from is not kept any more."""


Answer = Missing | Taken | Gone | AcaiError


class Api:
    """All that is asked of a cluster. Made and used on one event loop."""

    def __init__(self, access: Access, namespace: str) -> None:
        self.namespace = namespace
        self._access = access
        connector = aiohttp.TCPConnector(limit=0, ssl=access.ssl)
        self._proxy = _proxy_of(access)
        self._room = asyncio.Semaphore(_AT_ONCE)
        self._session = aiohttp.ClientSession(connector=connector)

    async def close(self) -> None:
        """Let go of all connections; sockets are closed in the next turns of the loop, also of those half made."""
        await self._session.close()
        await asyncio.sleep(_CLOSING_SECONDS)

    async def ask(
        self,
        call: Call,
        name: str = "",
        body: Any = None,
        words: Mapping[str, str] | None = None,
    ) -> bytes:
        """Ask until there is an answer. Raises `Missing`, `Taken`, `JobRefused` or `Unavailable`."""
        left = list(PAUSES)
        while True:
            try:
                async with self._room, self._request(call, name, body, words or {}, _WITHIN) as answer:
                    text = await answer.read()
                    if answer.status < 300:  # noqa: PLR2004 (it was done)
                        return text
                    fault, after = _fault(answer.status, text, call), _retry_after(answer)
                    if answer.status == _UNAUTHORIZED:
                        self._access.renew()
            except (aiohttp.ClientError, TimeoutError, OSError) as error:
                fault, after = _unreachable(self._access.server, error), 0.0
            if not isinstance(fault, Unavailable) or not left:
                raise fault
            await asyncio.sleep(max(after, left.pop(0)))

    async def stream(
        self, call: Call, name: str, words: Mapping[str, str], *, opened: Callable[[], None] | None = None
    ) -> AsyncIterator[bytes]:
        """Give what comes, as it comes, until the API server ends it; no second try. `opened` hears of its start."""
        try:
            silent = None if words.get("follow") else SILENT_SECONDS  # a program may print nothing for days
            timeout = aiohttp.ClientTimeout(total=None, sock_connect=10.0, sock_read=silent)
            async with self._request(call, name, None, words, timeout) as answer:
                if answer.status >= 300:  # noqa: PLR2004 (it was not done)
                    if answer.status == _UNAUTHORIZED:
                        self._access.renew()
                    raise _fault(answer.status, await answer.read(), call)
                _lighten(answer)
                if opened is not None:
                    opened()
                while piece := await answer.content.read(_PIECE):
                    yield piece
        except (aiohttp.ClientError, TimeoutError, OSError) as error:
            raise _unreachable(self._access.server, error) from error

    def _request(
        self, call: Call, name: str, body: Any, words: Mapping[str, str], timeout: aiohttp.ClientTimeout
    ) -> _Request:
        names = _METADATA.format("List" if call.verb == "list" else "")
        accepted = names if call.resource == "configmaps" else _JSON
        kind = "application/merge-patch+json" if call.verb == "patch" else _JSON
        return _Request(
            self._session,
            self._access,
            method=_METHODS[call.verb],
            url=self._access.server + call.path(self.namespace, name),
            params=words,
            data=None if body is None else msgspec.json.encode(body),
            headers={"Content-Type": kind, "Accept": accepted},
            timeout=timeout,
            proxy=self._proxy,
        )


class _Request:
    """A request with the credentials of the moment it is made at, which may take a program to find."""

    def __init__(self, session: aiohttp.ClientSession, access: Access, **words: Any) -> None:
        self._session = session
        self._access = access
        self._words = words
        self._answer: aiohttp.ClientResponse | None = None

    async def __aenter__(self) -> aiohttp.ClientResponse:
        if self._access.is_slow():
            await asyncio.to_thread(self._access.authorization)
        shown = self._access.authorization()
        headers = self._words.pop("headers") | ({"Authorization": shown} if shown else {})
        self._answer = await self._session.request(headers=headers, **self._words)
        return self._answer

    async def __aexit__(self, *_: object) -> None:
        if self._answer is None or self._answer.connection is None:  # read to its end: the connection was given back
            return
        if self._answer.connection.transport is not None:
            self._answer.connection.transport.abort()
        self._answer.close()


_METHODS = {"create": "POST", "delete": "DELETE", "patch": "PATCH", "get": "GET", "list": "GET", "watch": "GET"}


def _proxy_of(access: Access) -> str | None:
    """Return the proxy that leads to an API server; looked for once, as aiohttp would read files at each request."""
    parts = urlsplit(access.server)
    if access.proxy or proxy_bypass(parts.hostname or ""):
        return access.proxy
    return getproxies_environment().get(parts.scheme)


def _lighten(answer: aiohttp.ClientResponse) -> None:
    """Give up most of the buffer of an encrypted connection: asyncio holds 256 KB for each, and each log is one."""
    transport = None if answer.connection is None else answer.connection.transport
    protocol: Any = getattr(transport, "_ssl_protocol", None)
    if isinstance(getattr(protocol, "_ssl_buffer", None), bytearray):
        protocol.max_size = _HELD_BYTES
        protocol._ssl_buffer = bytearray(_HELD_BYTES)  # noqa: SLF001 (there is no other way to it)
        protocol._ssl_buffer_view = memoryview(protocol._ssl_buffer)  # noqa: SLF001


def decoded(text: bytes, kind: type[T]) -> T:
    """Read what the API server sent."""
    try:
        return decoding.from_json(text, kind)
    except msgspec.MsgspecError as error:
        raise Unavailable(reason="the cluster answers in a form that is not understood") from error


def _fault(status: int, text: bytes, call: Call) -> Answer:
    """Say what an answer means that is not yes."""
    try:
        said = decoding.from_json(text, Status).message
    except msgspec.MsgspecError:
        said = text[:300].decode(errors="replace")
    if status in (_MISSING, _TAKEN, _GONE):
        return {_MISSING: _missing(said), _TAKEN: Taken(said), _GONE: Gone(said)}[status]
    if status == _UNAUTHORIZED:
        return Unavailable(reason="the cluster does not accept this server's credentials; sign in again, or renew them")
    if status == _FORBIDDEN and " cannot " in said:
        what = f"{call.verb} {call.resource}"
        return JobRefused(reason=f"the server's account may not {what} in the cluster; give it the Role for that")
    if status in _IN_TROUBLE:
        return Unavailable(reason=f"the cluster is in trouble: {said or status}")
    return JobRefused(reason=f"the cluster does not take it: {said}")


def _missing(said: str) -> Answer:
    if said.startswith("namespaces "):
        return JobRefused(reason=f"{said} in the cluster; make it, or set `kubernetes_namespace`")
    return Missing(said)


def _unreachable(server: str, error: Exception) -> Unavailable:
    return Unavailable(reason=f"the cluster at {server} does not answer ({type(error).__name__})")


def _retry_after(answer: aiohttp.ClientResponse) -> float:
    try:
        return min(LONGEST_PAUSE_SECONDS, float(answer.headers.get("Retry-After", 0)))
    except ValueError:
        return 0.0
