"""A proxy on loopback, before a real server, that misbehaves when it is told to."""

from __future__ import annotations

import http.client
import threading
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from enum import Enum, auto
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import TYPE_CHECKING, Any
from urllib.parse import urlsplit

if TYPE_CHECKING:
    from collections.abc import Iterator

HOP_BY_HOP = ("connection", "keep-alive", "transfer-encoding", "date", "server")
HELD_SECONDS = 60.0


class Trouble(Enum):
    """What goes wrong with one request."""

    SLOW = auto()
    """The answer comes after a second."""
    HELD = auto()
    """The request goes on only when the test says so."""
    STALLED = auto()
    """The same, and when it goes on the connection ends, and the real server is not asked."""
    BROKEN = auto()
    """500, and the real server is not asked."""
    EXPIRED = auto()
    """403, and the real server is not asked."""
    ANSWER_LOST = auto()
    """It is done, and the connection ends before the answer."""
    CLOSED = auto()
    """The connection ends, and the real server is not asked."""
    TRUNCATED = auto()
    """The connection ends in the middle of the answer's body."""
    WRONG = auto()
    """A byte in the middle of the answer's body is another."""


ENDS = (Trouble.CLOSED, Trouble.STALLED, Trouble.TRUNCATED, Trouble.ANSWER_LOST)


@dataclass
class Order:
    """What is to go wrong with requests of a method whose address has a word in it, and how many times."""

    trouble: Trouble
    method: str
    word: str
    times: float
    spared: int
    met: threading.Event = field(default_factory=threading.Event)
    let_go: threading.Event = field(default_factory=threading.Event)

    def takes(self, method: str, path: str) -> bool:
        """Whether it is about this request; it then counts as one of its times."""
        if self.times <= 0 or method != self.method or self.word not in path:
            return False
        if self.spared:
            self.spared -= 1
            return False
        self.times -= 1
        return True


class Proxy:
    """What comes is in `requests`, as method, address and size of the body; what was answered well in `answered`."""

    def __init__(self, upstream: str) -> None:
        parts = urlsplit(upstream)
        self.upstream = (parts.hostname or "", parts.port or 80)
        self.requests: list[tuple[str, str, int]] = []
        self.answered: list[tuple[str, str]] = []
        self._path = parts.path
        self._orders: list[Order] = []
        self._lock = threading.Lock()
        self._server: _Server | None = None
        self._port = 0

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self._port}{self._path}"

    def misbehave(
        self, trouble: Trouble, method: str, word: str = "", *, times: float = float("inf"), spared: int = 0
    ) -> Order:
        """Let something go wrong from now on, after so many such requests were spared."""
        order = Order(trouble, method, word, times, spared)
        with self._lock:
            self._orders.append(order)
        return order

    def behave(self) -> None:
        """Let nothing go wrong any more."""
        with self._lock:
            orders, self._orders = self._orders, []
        for order in orders:
            order.let_go.set()

    def order(self, method: str, path: str, size_bytes: int) -> Order | None:
        """Return what is to go wrong with a request."""
        with self._lock:
            self.requests.append((method, path, size_bytes))
            return next((order for order in self._orders if order.takes(method, path)), None)

    def sent_bytes(self, word: str = "") -> int:
        """Count the bytes of what was put."""
        return sum(size for method, path, size in self.requests if method == "PUT" and word in path)

    def open(self) -> None:
        """Listen, at the same address as before."""
        self._server = _Server(self, self._port)
        self._port = self._server.server_address[1]
        self._server.start()

    def shut(self) -> None:
        """Refuse connections, and end those that are open."""
        if self._server is not None:
            self._server.end()
            self._server = None


@contextmanager
def proxied(upstream: str) -> Iterator[Proxy]:
    """Run a proxy before a server while the context lasts."""
    proxy = Proxy(upstream)
    proxy.open()
    try:
        yield proxy
    finally:
        proxy.behave()
        proxy.shut()


class _Server(ThreadingHTTPServer):
    daemon_threads = False
    allow_reuse_address = True

    def __init__(self, proxy: Proxy, port: int) -> None:
        class Handler(_Handler):
            pass

        Handler.proxy = proxy
        super().__init__(("127.0.0.1", port), Handler)
        self._thread = threading.Thread(target=self.serve_forever, kwargs={"poll_interval": 0.01})
        self._open: set[Any] = set()

    def start(self) -> None:
        self._thread.start()

    def process_request(self, request: Any, client_address: Any) -> None:
        self._open.add(request)
        super().process_request(request, client_address)

    def shutdown_request(self, request: Any) -> None:
        self._open.discard(request)
        super().shutdown_request(request)

    def end(self) -> None:
        """Stop listening, hang up on everybody, and wait for the threads."""
        self.shutdown()
        self._thread.join()
        for request in list(self._open):
            with suppress(OSError):
                request.shutdown(2)
        self.server_close()

    def handle_error(self, request: Any, client_address: Any) -> None:
        """A client that leaves early is no news."""


class _Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    timeout = 60
    proxy: Proxy

    def _pass_on(self) -> None:
        announced = int(self.headers.get("Content-Length", 0))
        body = self.rfile.read(announced)
        if len(body) < announced:  # who sent it is gone
            self.close_connection = True
            return
        order = self.proxy.order(self.command, self.path, len(body))
        if order is not None and order.trouble in (Trouble.SLOW, Trouble.HELD, Trouble.STALLED):
            order.met.set()
            order.let_go.wait(1 if order.trouble is Trouble.SLOW else HELD_SECONDS)
        trouble = None if order is None else order.trouble
        if trouble is Trouble.BROKEN:
            self._answer(500, {}, b"<Error><Code>InternalError</Code></Error>")
        elif trouble is Trouble.EXPIRED:
            self._answer(403, {}, b"<Error><Code>AccessDenied</Code></Error>")
        elif trouble not in (Trouble.CLOSED, Trouble.STALLED):
            self._ask(body, trouble)
        self.close_connection |= trouble in ENDS
        if order is not None:
            order.met.set()

    do_GET = do_HEAD = do_PUT = do_POST = do_DELETE = _pass_on  # noqa: N815 (as http.server calls them)

    def _ask(self, body: bytes, trouble: Trouble | None) -> None:
        connection = http.client.HTTPConnection(*self.proxy.upstream, timeout=60)
        try:
            connection.putrequest(self.command, self.path, skip_host=True, skip_accept_encoding=True)
            for name, value in self.headers.items():
                if name.lower() not in ("connection", "expect"):
                    connection.putheader(name, value)
            connection.endheaders(body or None)
            answer = connection.getresponse()
            headers = {name: value for name, value in answer.getheaders() if name.lower() not in HOP_BY_HOP}
            found = answer.read()
        finally:
            connection.close()
        if answer.status < 300:
            self.proxy.answered.append((self.command, self.path))
        if trouble is Trouble.WRONG and found:
            found = found[: len(found) // 2] + bytes([found[len(found) // 2] ^ 1]) + found[len(found) // 2 + 1 :]
        if trouble is not Trouble.ANSWER_LOST:
            self._answer(answer.status, headers, found, len(found) // 2 if trouble is Trouble.TRUNCATED else len(found))

    def _answer(self, status: int, headers: dict[str, str], body: bytes, sent: int | None = None) -> None:
        self.send_response_only(status)
        for name, value in {"Content-Length": str(len(body)), **headers}.items():
            self.send_header(name, value)
        self.end_headers()
        if self.command != "HEAD":
            self.wfile.write(body[:sent])

    def log_message(self, *args: object) -> None:
        """Say nothing."""
