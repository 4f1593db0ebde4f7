"""An HTTP service that says what it is told to say, whatever it is asked."""

from __future__ import annotations

import threading
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterator


@dataclass
class Answer:
    """A status, and a body of which some may be missing."""

    status: int
    body: bytes = b""
    headers: dict[str, str] = field(default_factory=dict)
    missing: int = 0


@dataclass(frozen=True)
class Heard:
    """One request, whole."""

    method: str
    path: str
    headers: dict[str, str]
    body: bytes


@dataclass
class Service:
    """Gives its answers one after the other, the last one for ever."""

    answers: list[Answer]
    asked: list[str] = field(default_factory=list)
    heard: list[Heard] = field(default_factory=list)
    url: str = ""

    def next(self, asked: str) -> Answer:
        self.asked.append(asked)
        return self.answers.pop(0) if len(self.answers) > 1 else self.answers[0]


@contextmanager
def service(*answers: Answer) -> Iterator[Service]:
    made = Service(list(answers))

    class Handler(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"

        def do_GET(self) -> None:
            body = self.rfile.read(int(self.headers.get("Content-Length", 0)))
            made.heard.append(Heard(self.command, self.path, dict(self.headers), body))
            answer = made.next(f"{self.command} {self.headers.get('Range', '')}".strip())
            self.send_response(answer.status)
            for name, value in answer.headers.items():
                self.send_header(name, value)
            self.send_header("Content-Length", str(len(answer.body) + answer.missing))
            self.end_headers()
            if self.command != "HEAD":
                self.wfile.write(answer.body)
            self.close_connection = bool(answer.missing)

        do_DELETE = do_HEAD = do_PUT = do_POST = do_GET  # noqa: N815 (http.server's names)

        def log_message(self, *_: object) -> None:
            """Say nothing."""

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    made.url = f"http://127.0.0.1:{server.server_address[1]}"
    thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.01})
    thread.start()
    try:
        yield made
    finally:
        server.shutdown()
        thread.join()
        server.server_close()
