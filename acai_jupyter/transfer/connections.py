"""HTTP connections that are kept for the next request to the same host; each serves one request at a time.

What speaks HTTP loads at the first request: an agent beside its store needs none of it, and starts sooner.
"""

import base64
import select
import threading
import urllib.parse
from contextlib import contextmanager, nullcontext, suppress
from types import TracebackType
from typing import TYPE_CHECKING, ContextManager, Dict, Iterable, Iterator, List, NamedTuple, Optional, Tuple, Type

from acai_jupyter.transfer.errors import Refused, TransferError, Unreachable
from acai_jupyter.transfer.hashing import BUFFER

if TYPE_CHECKING:
    import http.client
    import ssl

TIMEOUT_SECONDS = 60.0
_SUCCESS = range(200, 300)


class _Host(NamedTuple):
    scheme: str
    name: str
    port: Optional[int]


class Answer:
    """A store's answer whose body is still to be read."""

    def __init__(self, response: "http.client.HTTPResponse") -> None:
        self._response = response
        self.status = response.status
        self.headers = response.headers

    def readinto(self, view: memoryview) -> int:
        """Read some of the body into memory; 0 at its end."""
        with _told_as_unreachable():
            return self._response.readinto(view)

    def read(self, size_bytes: Optional[int] = None) -> bytes:
        """Read the body, or its beginning."""
        with _told_as_unreachable():
            return self._response.read(size_bytes)

    def read_some(self, size_bytes: int) -> bytes:
        """Read what has come of the body, or so much of one whose size is known; nothing at its end."""
        with _told_as_unreachable():
            chunked = self._response.chunked
            piece = self._response.read1(size_bytes) if chunked else self._response.read(size_bytes)
        if not piece and self._response.length:
            raise Unreachable("the store sent %d bytes too few" % self._response.length)
        return piece


class Connections:
    """The connections of one piece of work; close it, or use it as a context, when the work is done.

    `proxies` are those to use, by scheme; without it those that this machine is set to use.
    """

    def __init__(
        self,
        timeout_seconds: float = TIMEOUT_SECONDS,
        connect_seconds: Optional[float] = None,
        proxies: Optional[Dict[str, str]] = None,
    ) -> None:
        self._timeout_seconds = timeout_seconds
        self._connect_seconds = timeout_seconds if connect_seconds is None else connect_seconds
        self._proxies = proxies
        self._lock = threading.Lock()
        self._idle: Dict[_Host, "List[http.client.HTTPConnection]"] = {}
        self._trust: Optional["ssl.SSLContext"] = None

    def __enter__(self) -> "Connections":  # noqa: PYI034 (Python 3.8 has no Self)
        return self

    def __exit__(
        self,
        kind: Optional[Type[BaseException]],
        error: Optional[BaseException],
        traceback: Optional[TracebackType],
    ) -> None:
        self.close()

    def close(self) -> None:
        """Close those that are kept."""
        with self._lock:
            idle, self._idle = self._idle, {}
        for connections in idle.values():
            for connection in connections:
                connection.close()

    @contextmanager
    def request(
        self, method: str, url: str, headers: Dict[str, str], body: Optional[Iterable[memoryview]] = None
    ) -> Iterator[Answer]:
        """Send one request and hand over the answer; one that is no success raises `Refused`.

        What goes wrong while `body` is read is raised as it is: only the network's errors become `Unreachable`.
        """
        parts, host = _parsed(url)
        connection = self._take(host)
        kept = False
        try:
            place = parts._replace(scheme="", netloc="", fragment="", path=parts.path or "/")
            proxy = self._proxy(host)
            if proxy and host.scheme == "http":
                place = place._replace(scheme=parts.scheme, netloc=parts.netloc)
                headers = {**headers, **_proxy_headers(proxy)}
            self._open(connection)
            response = _exchange(connection, method, place.geturl(), headers, body)
            answer = Answer(response)
            if response.status not in _SUCCESS:
                raise _refused(answer)
            yield answer
            kept = response.isclosed() and connection.sock is not None
        finally:
            if kept:
                self._keep(host, connection)
            else:
                connection.close()

    def _take(self, host: _Host) -> "http.client.HTTPConnection":
        """Return a connection that was kept and still stands, else a new one."""
        while True:
            with self._lock:
                kept = self._idle.get(host)
                connection = kept.pop() if kept else None
            if connection is None:
                return self._new(host)
            if not _was_closed(connection):
                return connection
            connection.close()

    def _open(self, connection: "http.client.HTTPConnection") -> None:
        with _told_as_unreachable():
            if connection.sock is None:
                connection.connect()
            connection.sock.settimeout(self._timeout_seconds)

    def _keep(self, host: _Host, connection: "http.client.HTTPConnection") -> None:
        with self._lock:
            self._idle.setdefault(host, []).append(connection)

    def _new(self, host: _Host) -> "http.client.HTTPConnection":
        import http.client

        proxy = urllib.parse.urlsplit(self._proxy(host))
        name, port = (proxy.hostname or host.name, proxy.port) if proxy.hostname else (host.name, host.port)
        if host.scheme != "https":
            return http.client.HTTPConnection(name, port, timeout=self._connect_seconds)
        if self._trust is None:
            import ssl

            self._trust = ssl.create_default_context()
        connection = http.client.HTTPSConnection(name, port, timeout=self._connect_seconds, context=self._trust)
        if proxy.hostname:
            connection.set_tunnel(host.name, host.port, _proxy_headers(proxy.geturl()))
        return connection

    def _proxy(self, host: _Host) -> str:
        """The proxy that this machine is set to use for a host, as `urllib` reads it; else nothing."""
        if self._proxies is None:
            import urllib.request

            self._proxies = urllib.request.getproxies()
        address = self._proxies.get(host.scheme, "")
        if not address:
            return ""
        import urllib.request

        if urllib.request.proxy_bypass(host.name):
            return ""
        return address if "://" in address else "http://" + address


def _parsed(url: str) -> "Tuple[urllib.parse.SplitResult, _Host]":
    try:
        parts = urllib.parse.urlsplit(url)
        host = _Host(parts.scheme, parts.hostname or "", parts.port)
    except ValueError as error:
        raise TransferError("the store's address is not valid") from error
    if host.scheme not in ("http", "https") or not host.name:
        raise TransferError("the store's address is not valid")
    return parts, host


def lent(connections: Optional[Connections]) -> ContextManager[Connections]:
    """Use the caller's connections and leave them open, or have some for a while."""
    return Connections() if connections is None else nullcontext(connections)


def _exchange(
    connection: "http.client.HTTPConnection",
    method: str,
    path: str,
    headers: Dict[str, str],
    body: Optional[Iterable[memoryview]],
) -> "http.client.HTTPResponse":
    with _told_as_unreachable():
        connection.putrequest(method, path)
        for name, value in headers.items():
            connection.putheader(name, value)
        connection.endheaders()
    whole = all(_sent(connection, piece) for piece in body or ())
    with _told_as_unreachable():
        response = connection.getresponse()
    if not whole and response.status in _SUCCESS:
        raise Unreachable("the store stopped listening before the end")
    return response


def _refused(answer: Answer) -> Refused:
    refused = Refused("the store answered %d" % answer.status)
    refused.status, refused.answer = answer.status, answer.read(BUFFER)
    return refused


def _sent(connection: "http.client.HTTPConnection", piece: memoryview) -> bool:
    """Send a piece; when the store no longer listens it has answered already, and that answer says why."""
    with _told_as_unreachable():
        try:
            connection.send(piece)
        except (BrokenPipeError, ConnectionResetError):
            return False
    return True


@contextmanager
def _told_as_unreachable() -> Iterator[None]:
    """Turn what the network's library raises into our words; those never hold the address, it may be signed."""
    import http.client
    import ssl

    try:
        yield
    except http.client.InvalidURL as error:
        raise TransferError("the store's address is not valid") from error
    except ssl.SSLCertVerificationError as error:
        raise TransferError("the store's certificate is not valid: %s" % error.verify_message) from error
    except (OSError, http.client.HTTPException) as error:
        raise Unreachable("the store does not answer: %s" % (error or type(error).__name__)) from error


def _was_closed(connection: "http.client.HTTPConnection") -> bool:
    """Whether the other side closed an idle connection: there is something to read where nothing was asked."""
    if connection.sock is None:
        return True
    with suppress(OSError, ValueError):
        if hasattr(select, "poll"):
            waiting = select.poll()
            waiting.register(connection.sock, select.POLLIN)
            return bool(waiting.poll(0))
        return bool(select.select([connection.sock], [], [], 0)[0])
    return True


def _proxy_headers(address: str) -> Dict[str, str]:
    proxy = urllib.parse.urlsplit(address)
    if not proxy.username:
        return {}
    words = "%s:%s" % (urllib.parse.unquote(proxy.username), urllib.parse.unquote(proxy.password or ""))
    return {"Proxy-Authorization": "Basic " + base64.b64encode(words.encode()).decode()}
