"""Calls endpoints of the contract: types in, types out, errors as errors."""

from __future__ import annotations

import random
import time
import weakref
from contextlib import ExitStack, contextmanager
from functools import cached_property
from typing import TYPE_CHECKING, Any, TypeVar
from urllib.parse import quote, urlencode

import msgspec

from acai_jupyter._version import __version__
from acai_jupyter.client import finite
from acai_jupyter.client.connection import Connection, find_connection
from acai_jupyter.contract import decoding, endpoints
from acai_jupyter.contract.endpoints import BASE, Endpoint
from acai_jupyter.contract.errors import (
    ServerSilent,
    ServerUnreachable,
    ServerUntrusted,
    TooManyRequests,
    Unavailable,
    VersionMismatch,
    from_body,
)
from acai_jupyter.transfer.connections import Connections
from acai_jupyter.transfer.errors import Refused, TransferError

if TYPE_CHECKING:
    from collections.abc import Callable, Generator, Iterator

    from acai_jupyter.contract.projects import Status
    from acai_jupyter.contract.uploads import Store
    from acai_jupyter.transfer.connections import Answer

ResponseT = TypeVar("ResponseT")
ResultT = TypeVar("ResultT")
CONNECT_SECONDS = 5.0
READ_SECONDS = 60.0
PIECE_BYTES = 256 * 1024
HELD_BACK_SECONDS = 30.0
"""For this long a request that is refused with 429 is repeated."""
MIN_PAUSE_SECONDS = 0.25


class Client:
    """One connection to one project. Thread-safe."""

    def __init__(
        self,
        connection: Connection | None = None,
        *,
        project: str | None = None,
        read_seconds: float = READ_SECONDS,
    ) -> None:
        self._is_given = connection is not None
        self._wanted = project
        self.connection = connection or find_connection(project)
        self._connections = Connections(read_seconds, CONNECT_SECONDS, proxies={})
        weakref.finalize(self, self._connections.close)  # its connections end with it, not when the collector comes by

    @cached_property
    def status(self) -> Status:
        """What this is connected to; asked once. Another version's server is refused here, before anything else."""
        project = self.connection.project
        endpoint = endpoints.GET_STATUS if project is None else endpoints.GET_PROJECT_STATUS
        status = self._send(endpoint, {"project": project}, None, {})
        if _series(status.version) != _series(__version__):
            older = "the server" if _series(status.version) < _series(__version__) else "this environment"
            raise VersionMismatch(server=status.version, client=__version__, older=older)
        return status

    @property
    def store(self) -> Store:
        """Where bytes rest."""
        return self.status.store

    def call(
        self, endpoint: Endpoint[ResponseT], body: msgspec.Struct | None = None, /, *, query: Any = None, **params: Any
    ) -> ResponseT:
        """Call one endpoint; the project is filled in. What server this is was asked before the first call."""
        status = self.status
        project = self.connection.project or status.project
        return self._send(endpoint, {"project": project, **params}, body, query or {})

    def ask(self, endpoint: Endpoint[ResponseT], body: msgspec.Struct | None = None) -> ResponseT:
        """Call an endpoint that needs no token and is of no project; nothing else is asked before."""
        return self._send(endpoint, {}, body, {})

    def stream(self, endpoint: Endpoint[Any], *, query: Any = None, **params: Any) -> Generator[bytes]:
        """Call an endpoint that answers with bytes, and give them as they come."""
        project = self.connection.project or self.status.project
        with ExitStack() as opened:
            answer = _patiently(
                lambda: opened.enter_context(self._request(endpoint, {"project": project, **params}, None, query or {}))
            )
            while piece := answer.read_some(PIECE_BYTES):
                yield piece

    def reconnect(self) -> None:
        """Look again where the server is and what it is: one that was started again may be elsewhere, and another."""
        self.__dict__.pop("status", None)
        if not self._is_given:
            self.connection = find_connection(self._wanted)

    def rest(self) -> None:
        """Close the connections that are kept; whoever asks again opens another."""
        self._connections.close()

    def _address(self, endpoint: Endpoint[Any], params: dict[str, Any], query: dict[str, Any]) -> str:
        path = endpoint.path.format(**{name: quote(str(value), safe="") for name, value in params.items()})
        return f"{self.connection.url.rstrip('/')}{BASE}{path}" + (f"?{urlencode(query)}" if query else "")

    def _send(
        self, endpoint: Endpoint[ResponseT], params: dict[str, Any], body: msgspec.Struct | None, query: dict[str, Any]
    ) -> ResponseT:
        def asked() -> bytes:
            with self._request(endpoint, params, body, query) as answer:
                return answer.read()

        data = _patiently(asked)
        try:
            return decoding.from_json(data, endpoint.response)
        except msgspec.MsgspecError as error:
            raise Unavailable(reason=f"its answer is not understood ({error})") from error

    @contextmanager
    def _request(
        self, endpoint: Endpoint[Any], params: dict[str, Any], body: msgspec.Struct | None, query: dict[str, Any]
    ) -> Iterator[Answer]:
        """Ask; what is refused, and what goes wrong until the answer was read, is raised as our errors."""
        data = b"" if body is None else finite.encoded(body)
        headers = {"Authorization": f"Bearer {self.connection.token}", "Accept": "application/json"}
        if endpoint.method != "GET":
            headers["Content-Length"] = str(len(data))
        address = self._address(endpoint, params, query)
        try:
            with self._connections.request(endpoint.method, address, headers, [memoryview(data)]) as answer:
                yield answer
        except Refused as error:
            raise from_body(_json(error.answer), error.status) from error
        except TransferError as error:
            raise _away(self.connection.url, error) from error


def _patiently(ask: Callable[[], ResultT]) -> ResultT:
    """Return an answer; after a refusal for too many requests, wait as long as the server says or longer, and retry."""
    until = time.monotonic() + HELD_BACK_SECONDS
    while True:
        try:
            return ask()
        except TooManyRequests as error:
            seconds, left = float(error.details.get("seconds", 1.0)), until - time.monotonic()
            if seconds > left:
                raise
            time.sleep(min(pause(seconds), left))


def pause(seconds: float) -> float:
    """Return a random time to wait, so that threads that were refused together do not ask again together."""
    return max(seconds, MIN_PAUSE_SECONDS) * random.uniform(1, 2)  # noqa: S311 (not a secret)


def _away(url: str, error: TransferError) -> Unavailable:
    import ssl

    cause = error.__cause__
    if isinstance(cause, ssl.SSLCertVerificationError):
        return ServerUntrusted(url=url, reason=cause.verify_message)
    return (ServerSilent if isinstance(cause, TimeoutError) else ServerUnreachable)(where=f" at {url}")


def _json(data: bytes) -> Any:
    try:
        return decoding.plain_json(data)
    except msgspec.MsgspecError:
        return None


def _series(version: str) -> tuple[int, ...]:
    """The part of a version that has to agree: major and minor."""
    return tuple(int(part) for part in version.split(".")[:2] if part.isdigit())
