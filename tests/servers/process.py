"""One server process: started with free ports, waited for until it answers, ended by its own id."""

from __future__ import annotations

import socket
import subprocess
import time
from contextlib import ExitStack, contextmanager
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping
    from pathlib import Path

START_SECONDS = 60.0
PAUSE_SECONDS = 0.05


class ServerMissing(Exception):
    """A server cannot be had here; says in one line why."""


def free_ports(count: int, address: str = "127.0.0.1") -> list[int]:
    """Return different ports that nobody uses now."""
    with ExitStack() as stack:
        sockets = [stack.enter_context(socket.socket()) for _ in range(count)]
        for taken in sockets:
            taken.bind((address, 0))
        return [taken.getsockname()[1] for taken in sockets]


@contextmanager
def running(
    command: list[str],
    answers: Callable[[], bool],
    *,
    log: Path,
    user: str | None = None,
    environment: Mapping[str, str] | None = None,
) -> Iterator[subprocess.Popen[bytes]]:
    """Run a server while the context lasts; it is handed over when it answers."""
    with log.open("wb") as out:
        process = subprocess.Popen(
            command, stdin=subprocess.DEVNULL, stdout=out, stderr=out, user=user, env=environment, cwd=log.parent
        )
    try:
        _wait(process, answers, log)
        yield process
    finally:
        _end(process)


def _wait(process: subprocess.Popen[bytes], answers: Callable[[], bool], log: Path) -> None:
    deadline = time.monotonic() + START_SECONDS
    while not answers():
        if process.poll() is not None:
            raise ServerMissing(f"it ended with status {process.returncode}: {_last_line(log)}")
        if time.monotonic() > deadline:
            raise ServerMissing(f"it did not answer within {START_SECONDS:.0f} s: {_last_line(log)}")
        time.sleep(PAUSE_SECONDS)


def _end(process: subprocess.Popen[bytes]) -> None:
    """At once: what it holds is thrown away."""
    process.kill()
    process.wait()


def _last_line(log: Path) -> str:
    lines = log.read_text(errors="replace").split("\n")
    return next((line.strip() for line in reversed(lines) if line.strip()), "it said nothing")
