"""Passing requests on to the server that has the data, with its token, when this one is only attached to it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from tornado.httpclient import AsyncHTTPClient, HTTPClientError, HTTPRequest

from acai_jupyter.contract.endpoints import BASE
from acai_jupyter.contract.errors import ServerUnreachable

if TYPE_CHECKING:
    from acai_server.api.base import BaseHandler

_PASSED = ("Content-Type", "Accept", "Range", "X-Request-Id")
_RETURNED = ("Content-Type", "Content-Range", "Location", "Retry-After")
TIMEOUT_SECONDS = 60.0


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
    """Ask the other server and answer what it answers."""
    headers = {name: handler.request.headers[name] for name in _PASSED if name in handler.request.headers}
    headers |= {"Authorization": f"Bearer {upstream.token}", "X-Request-Id": handler.request_id}
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
    if answer.code == 599:  # noqa: PLR2004 (tornado's own word for no answer)
        raise ServerUnreachable(where=f" at {upstream.url}")
    handler.set_status(answer.code)
    for name in _RETURNED:
        if name in answer.headers:
            handler.set_header(name, answer.headers[name])
    handler.finish(answer.body)
