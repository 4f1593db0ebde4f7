"""Calls endpoints of the contract: types in, types out, errors as errors."""

from __future__ import annotations

import weakref
from functools import cached_property
from typing import TYPE_CHECKING, Any, TypeVar
from urllib.parse import quote, urlencode

import msgspec
import urllib3

from acai_jupyter._version import __version__
from acai_jupyter.client.connection import Connection, find_connection
from acai_jupyter.contract import endpoints
from acai_jupyter.contract.endpoints import BASE, Endpoint
from acai_jupyter.contract.errors import ProjectNotFound, ServerUnreachable, Unavailable, VersionMismatch, from_body

if TYPE_CHECKING:
    from acai_jupyter.contract.projects import Status

ResponseT = TypeVar("ResponseT")
CONNECT_SECONDS = 5.0
READ_SECONDS = 60.0


class Client:
    """One connection to one project. Thread-safe."""

    def __init__(self, connection: Connection | None = None, *, project: str | None = None) -> None:
        self.connection = connection or find_connection(project)
        timeout = urllib3.Timeout(connect=CONNECT_SECONDS, read=READ_SECONDS)
        self._pool = urllib3.PoolManager(timeout=timeout, retries=False, maxsize=8)
        weakref.finalize(self, self._pool.clear)  # its connections end with it, not when the collector comes by

    @cached_property
    def status(self) -> Status:
        """What this is connected to; asked once. Another version's server is refused here, before anything else."""
        status = self._send(endpoints.GET_STATUS, {}, None, {})
        if _series(status.version) != _series(__version__):
            older = "the server" if _series(status.version) < _series(__version__) else "this environment"
            raise VersionMismatch(server=status.version, client=__version__, older=older)
        if self.connection.project not in (None, status.project):
            raise ProjectNotFound(project=self.connection.project)
        return status

    def call(
        self, endpoint: Endpoint[ResponseT], body: msgspec.Struct | None = None, /, *, query: Any = None, **params: Any
    ) -> ResponseT:
        """Call one endpoint; the project is filled in. What server this is was asked before the first call."""
        status = self.status
        project = self.connection.project or status.project
        return self._send(endpoint, {"project": project, **params}, body, query or {})

    def _send(
        self, endpoint: Endpoint[ResponseT], params: dict[str, Any], body: msgspec.Struct | None, query: dict[str, Any]
    ) -> ResponseT:
        path = endpoint.path.format(**{name: quote(str(value), safe="") for name, value in params.items()})
        address = f"{self.connection.url.rstrip('/')}{BASE}{path}" + (f"?{urlencode(query)}" if query else "")
        headers = {"Authorization": f"Bearer {self.connection.token}", "Accept": "application/json"}
        data = None if body is None else msgspec.json.encode(body)
        try:
            answer = self._pool.request(endpoint.method, address, body=data, headers=headers, redirect=False)
        except urllib3.exceptions.HTTPError as error:
            raise ServerUnreachable(where=f" at {self.connection.url}") from error
        if answer.status >= 300:  # noqa: PLR2004 (HTTP's own border)
            raise from_body(_json(answer.data), answer.status)
        try:
            return msgspec.json.decode(answer.data, type=endpoint.response)
        except msgspec.MsgspecError as error:
            raise Unavailable(reason=f"its answer is not understood ({error})") from error


def _json(data: bytes) -> Any:
    try:
        return msgspec.json.decode(data)
    except msgspec.MsgspecError:
        return None


def _series(version: str) -> tuple[int, ...]:
    """The part of a version that has to agree: major and minor."""
    return tuple(int(part) for part in version.split(".")[:2] if part.isdigit())
