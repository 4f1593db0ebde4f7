"""An object store on loopback that misbehaves when it is told to. Runs on Python 3.8: so does what it tests."""

from __future__ import annotations

import hashlib
import threading
from collections import deque
from contextlib import contextmanager
from enum import Enum, auto
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Iterator


class Fault(Enum):
    """What goes wrong with one request."""

    NONE = auto()
    """Nothing."""
    UNAVAILABLE = auto()
    """503, and the connection stays."""
    TOO_MANY = auto()
    """429."""
    FORBIDDEN = auto()
    """403, with a body that says why."""
    FULL = auto()
    """507 before the body was read, then the connection is closed."""
    CLOSED = auto()
    """The connection ends without an answer."""
    TRUNCATED = auto()
    """The connection ends in the middle of the body."""
    WRONG = auto()
    """The last byte of the body is another."""
    STALLED = auto()
    """No answer before the test ends."""
    NO_RANGES = auto()
    """The whole object, whatever range was asked for."""
    LEAVES = auto()
    """The right answer, after which the connection is closed without a word."""


STATUS = {Fault.UNAVAILABLE: 503, Fault.TOO_MANY: 429, Fault.FORBIDDEN: 403, Fault.FULL: 507}


class Store:
    """Objects by path; `faults` are used up one for each request, `requests` are (method, path, range)."""

    def __init__(self) -> None:
        self.objects: dict[str, bytes] = {}
        self.faults: deque[Fault] = deque()
        self.faults_at: dict[str, Fault] = {}
        self.requests: list[tuple[str, str, str]] = []
        self.headers: list[dict[str, str]] = []
        self.connections = 0
        self.left = threading.Event()
        self.over = threading.Event()
        self.url = ""

    def fault(self, path: str) -> Fault:
        """What is to go wrong with this request."""
        if path in self.faults_at:
            return self.faults_at[path]
        return self.faults.popleft() if self.faults else Fault.NONE


@contextmanager
def running_store() -> Iterator[Store]:
    """Run a store while the context lasts. It ends when all its connections have."""
    store = Store()
    server = _Server(store)
    store.url = f"http://127.0.0.1:{server.server_address[1]}/"
    thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.01})
    thread.start()
    try:
        yield store
    finally:
        store.over.set()
        server.shutdown()
        thread.join()
        server.server_close()


class _Server(ThreadingHTTPServer):
    daemon_threads = False

    def __init__(self, store: Store) -> None:
        class Handler(_Handler):
            pass

        Handler.store = self._store = store
        super().__init__(("127.0.0.1", 0), Handler)

    def shutdown_request(self, request: Any) -> None:
        """End a connection, and say so."""
        super().shutdown_request(request)
        self._store.left.set()

    def handle_error(self, request: Any, client_address: Any) -> None:
        """A client that leaves early is no news."""


class _Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    timeout = 20
    store: Store

    def setup(self) -> None:
        super().setup()
        self.store.connections += 1

    def do_GET(self) -> None:
        fault = self._begin()
        body = self.store.objects.get(self.path)
        if fault in STATUS:
            self._answer(STATUS[fault], b'{"reason": "as the test wants"}')
        elif body is None:
            self._answer(404, b"")
        elif fault is Fault.STALLED:
            self.store.over.wait()
            self.close_connection = True
        elif fault is not Fault.CLOSED:
            self._send_range(body, fault)
        self.close_connection = self.close_connection or fault in (Fault.CLOSED, Fault.LEAVES, Fault.TRUNCATED)

    def do_PUT(self) -> None:
        fault = self._begin()
        if fault is Fault.FULL:
            self._answer(507, b'{"reason": "as the test wants"}')
            self.close_connection = True
            return
        body = self.rfile.read(int(self.headers["Content-Length"]))
        if fault in STATUS:
            self._answer(STATUS[fault], b'{"reason": "as the test wants"}')
        elif fault is Fault.CLOSED or len(body) < int(self.headers["Content-Length"]):
            self.close_connection = True
        else:
            self.store.objects[self.path] = body
            self._answer(200, b"", {"ETag": f'"{hashlib.md5(body).hexdigest()}"'})
            self.close_connection = fault is Fault.LEAVES

    def _begin(self) -> Fault:
        self.store.requests.append((self.command, self.path, self.headers.get("Range", "")))
        self.store.headers.append(dict(self.headers))
        return self.store.fault(self.path)

    def _send_range(self, body: bytes, fault: Fault) -> None:
        asked = self.headers.get("Range", "")
        if not asked or fault is Fault.NO_RANGES:
            self._answer(200, body)
            return
        first, _, last = asked[len("bytes=") :].partition("-")
        piece = body[int(first) : int(last) + 1]
        if fault is Fault.WRONG:
            piece = piece[:-1] + bytes([piece[-1] ^ 1])
        place = {"Content-Range": f"bytes {first}-{int(first) + len(piece) - 1}/{len(body)}"}
        self._answer(206, piece, place, len(piece) // 2 if fault is Fault.TRUNCATED else len(piece))

    def _answer(self, status: int, body: bytes, headers: dict[str, str] | None = None, sent: int | None = None) -> None:
        self.send_response(status)
        self.send_header("Content-Length", str(len(body)))
        for name, value in (headers or {}).items():
            self.send_header(name, value)
        self.end_headers()
        self.wfile.write(body[:sent])

    def log_message(self, *args: object) -> None:
        """Say nothing."""
