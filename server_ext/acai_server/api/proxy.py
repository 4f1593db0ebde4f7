"""Passing requests on to the server that has the data, with its token, when this one is only attached to it."""

from __future__ import annotations

import asyncio
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import msgspec
from tornado.httpclient import AsyncHTTPClient, HTTPClientError, HTTPRequest
from tornado.websocket import WebSocketClientConnection, WebSocketError, websocket_connect

from acai_jupyter.contract import account_endpoints, endpoints
from acai_jupyter.contract.accounts import Project, ProjectList
from acai_jupyter.contract.endpoints import BASE
from acai_jupyter.contract.errors import ServerUnreachable, SettingsBroken, from_body
from acai_server import logins

if TYPE_CHECKING:
    from collections.abc import Sequence

    from acai_server.api.base import BaseHandler

_PASSED = ("Content-Type", "Accept", "Range", "X-Request-Id")
_RETURNED = ("Content-Type", "Retry-After")
FORWARDED = "X-Acai-Forwarded"
"""Marks what was passed on, so that a server whose `url` leads to itself says so instead of asking itself."""
TIMEOUT_SECONDS = 60.0
_NOT_SIGNED_IN = 401
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


async def forward(handler: BaseHandler, upstream: Upstream, *, again: bool = False) -> None:
    """Ask the other server and answer what it answers; where our token has expired, once more with another."""
    if FORWARDED in handler.request.headers:
        raise SettingsBroken(reason=f"the setting url, {upstream.url}, leads to a server that is only attached itself")
    headers = {name: handler.request.headers[name] for name in _PASSED if name in handler.request.headers}
    headers |= {"Authorization": authorization(handler, upstream), "X-Request-Id": handler.request_id, FORWARDED: "1"}
    method = handler.request.method or "GET"
    request = HTTPRequest(
        upstream.address(handler.request.path, handler.request.query),
        method=method,
        headers=headers,
        body=handler.request.body if method in ("POST", "PUT", "PATCH") else None,
        request_timeout=TIMEOUT_SECONDS,
        follow_redirects=False,
    )
    try:
        answer: Any = await AsyncHTTPClient().fetch(request, raise_error=False)
    except (TimeoutError, OSError, HTTPClientError) as error:
        raise ServerUnreachable(where=f" at {upstream.url}") from error
    if answer.code == _NOT_SIGNED_IN and not again and handler.bearer() is None:
        renewed = await handler.host.renew(upstream)
        if renewed is not None:
            await forward(handler, renewed, again=True)
            return
    if answer.code == 599:  # noqa: PLR2004 (tornado's own word for no answer)
        raise ServerUnreachable(where=f" at {upstream.url}")
    if _json(answer.body) is None:
        raise ServerUnreachable(where=f" at {upstream.url}: what answers there is something else")
    handler.set_status(answer.code)
    for name in _RETURNED:
        if name in answer.headers:
            handler.set_header(name, answer.headers[name])
    is_granted = answer.code == endpoints.GET_STATUS.status
    handler.finish(await _seen_from_here(answer.body, handler, upstream) if is_granted else answer.body)


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
        return msgspec.json.decode(body)
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
    page = msgspec.json.decode(body, type=ProjectList)
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
        return msgspec.json.decode(answer.body, type=ProjectList).projects
    except (OSError, TimeoutError, HTTPClientError, msgspec.MsgspecError):
        return []


def _attached(body: bytes, notices: Sequence[str]) -> bytes:
    """Add how this server relates to the data. As plain JSON: the other server may be of another version."""
    status = msgspec.json.decode(body)
    return msgspec.json.encode(status | {"mode": "attached", "notices": [*notices, *status.get("notices", [])]})
