"""The server's side of the nursery: starts it at the first need, again when it is gone, and hands it orders."""

from __future__ import annotations

import contextlib
import json
import os
import select
import socket
import subprocess
import sys
import threading
from pathlib import Path
from typing import TYPE_CHECKING, Any

from acai_server.runners.nursery import LENGTH, STARTED

if TYPE_CHECKING:
    from collections.abc import Mapping

PROGRAM = Path(__file__).with_name("nursery.py")
PATIENCE_SECONDS = 30.0


class NotStarted(Exception):
    """An agent was not started; the message says why."""


class Nursery:
    """Thread-safe. `environment` is what the nursery itself runs with, which no agent sees."""

    def __init__(self, agent: Path, environment: Mapping[str, str], *, python: str = sys.executable) -> None:
        self._agent = agent
        self._environment = dict(environment)
        self._python = python
        self._lock = threading.Lock()
        self._process: subprocess.Popen[bytes] | None = None
        self._orders: socket.socket | None = None

    def warm(self) -> None:
        """Begin to start it, if it does not run: an agent will be wanted soon. Returns at once."""
        with self._lock, contextlib.suppress(OSError):
            self._open()

    def start(self, order: dict[str, Any], process: Path) -> None:
        """Start an agent. `process` is the record that its keeper writes before the agent runs."""
        for last in (False, True):
            said = self._ask(json.dumps(order).encode())
            if said == STARTED:
                return
            # A nursery that was killed said nothing. Without a record it has not begun: another may.
            if said or last or process.exists():
                raise NotStarted(
                    said.decode(errors="replace") or "the program that starts it ended; the server's log says why"
                )

    def close(self) -> None:
        """End the nursery; what it started goes on."""
        with self._lock:
            self._close()

    def _ask(self, body: bytes) -> bytes:
        reading, writing = os.pipe()
        try:
            try:
                with self._lock:
                    orders = self._open()
                    socket.send_fds(orders, [LENGTH.pack(len(body))], [writing])
                    orders.sendall(body)
            except OSError as error:
                with self._lock:
                    self._close()
                if isinstance(error, BrokenPipeError | ConnectionResetError):
                    return b""
                raise
            finally:
                os.close(writing)
            return self._reply(reading)
        finally:
            os.close(reading)

    def _reply(self, reading: int) -> bytes:
        poll = select.poll()
        poll.register(reading, select.POLLIN)
        if not poll.poll(PATIENCE_SECONDS * 1000):
            with self._lock:
                if self._process is not None:
                    self._process.kill()  # else it might begin later what is taken for not begun
                self._close()
            return b"the program that starts it does not answer"
        said = os.read(reading, 4096)
        if not said:
            with self._lock:
                self._close()
        return said

    def _open(self) -> socket.socket:
        if self._orders is not None and self._process is not None and self._process.poll() is None:
            return self._orders
        self._close()
        ours, theirs = socket.socketpair()
        with theirs:
            try:
                self._process = subprocess.Popen(  # noqa: S603 (our own program, by a list)
                    [self._python, "-I", "-S", str(PROGRAM), str(self._agent), str(theirs.fileno())],
                    cwd="/",
                    env=self._environment,
                    stdin=subprocess.DEVNULL,
                    stdout=subprocess.DEVNULL,
                    pass_fds=[theirs.fileno()],
                    start_new_session=True,
                )
            except OSError:
                ours.close()
                raise
        self._orders = ours
        return ours

    def _close(self) -> None:
        if self._orders is not None:
            self._orders.close()
            self._orders = None
        if self._process is not None:
            self._process.wait()  # it ends when nobody holds the other end
            self._process = None
