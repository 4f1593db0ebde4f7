"""Several agents that run one attempt together: their programs begin at once, and when one fails, all end.

The first agent listens, the others connect to it and stay connected, so that each hears at once of one that is gone.
"""

import hashlib
import hmac
import json
import os
import select
import socket
import threading
import time
from contextlib import suppress
from functools import partial
from typing import Any, Callable, Dict, List, Optional, Set, Tuple

from acai_jupyter.agent.stopping import Stop

GONE = -1
"""The status of a program that nobody can tell of any more."""
_RETRY_SECONDS = 0.2
_CONNECT_SECONDS = 5.0
_PIECE = 4096
_MOST = 64 * 1024
_ALIVE = (("TCP_KEEPIDLE", 15), ("TCP_KEEPINTVL", 5), ("TCP_KEEPCNT", 3))
"""A machine that is gone without a word is noticed after half a minute."""


class Gang:
    """An agent's place among others. What it hears comes in a thread of its own; `stop` is asked when another fails."""

    def __init__(self, told: Dict[str, Any], key: str, stop: Stop) -> None:
        self.rank = int(told["rank"])
        self._programs: List[str] = told["programs"]
        self._place = _place(told["agents"])
        self._patience = float(told["patience_seconds"])
        self._secret = hashlib.sha256(b"gang " + key.encode()).hexdigest()
        self._stop = stop
        self._lock = threading.Lock()
        self._heard, self._tells = os.pipe()
        self._ready: Set[int] = set()
        self._ended: Dict[int, int] = {}
        self._links: Dict[int, socket.socket] = {}
        """Of the first agent to all others, of the others to the first."""
        self._held: List[Dict[str, Any]] = []
        """What is to be said when there is a link."""
        self.has_begun = False
        self.is_over = False
        """All programs ended well."""
        self.failure = ""
        """Which other has failed, in words."""
        self._fault = ""
        self._join()

    def variables(self) -> Dict[str, str]:
        """Return what tells a program its place, as the usual libraries read it."""
        host, port = _place(self._programs[0])
        task = {"cluster": {"worker": self._programs}, "task": {"type": "worker", "index": self.rank}}
        return {
            "RANK": str(self.rank),
            "NODE_RANK": str(self.rank),
            "WORLD_SIZE": str(len(self._programs)),
            "MASTER_ADDR": host,
            "MASTER_PORT": str(port),
            "TF_CONFIG": json.dumps(task),
        }

    def gather(self) -> str:
        """Wait until all are ready to begin, or somebody wants an end; returns why that cannot be, if it cannot."""
        self._say(self.rank, {"ready": True})
        until = time.monotonic() + self._patience
        while not (self.has_begun or self._stop.is_set or self._fault):
            if not self._wait(until):
                count = "%d of %d" % (len(self._ready), len(self._programs)) if self.rank == 0 else "not all"
                self._fault = "%s were ready within %g s" % (count, self._patience)
        return self._fault

    def end(self, exit_code: int) -> bool:
        """Say how the program ended, and wait for the others; says whether all ended well."""
        self._say(self.rank, {"ended": exit_code})
        while not (self.is_over or self.failure or self._stop.is_set or exit_code):
            self._wait(None)
        return self.is_over

    def _join(self) -> None:
        """Begin to look for the others."""
        work: Callable[[], None] = self._connect
        if self.rank == 0:
            try:
                listener = _listening(self._place)
            except OSError as error:
                self._fault = "port %d: %s" % (self._place[1], error.strerror)
                return
            work = partial(self._listen, listener)
        threading.Thread(target=work, name="acai-gang", daemon=True).start()

    def _wait(self, until: Optional[float]) -> bool:
        """Wait for news; says whether there is time left."""
        left = None if until is None else max(0.0, until - time.monotonic())
        ready = select.select([self._heard, self._stop.descriptor], [], [], left)[0]
        if self._heard in ready:
            os.read(self._heard, _PIECE)
        return bool(ready)

    def _say(self, rank: int, words: Dict[str, Any]) -> None:
        """Tell the first agent, which may be this one."""
        if self.rank == 0:
            self._hear(rank, words)
            return
        with self._lock:
            self._held.append(words)
            link = self._links.get(0)
            if link is not None:
                self._send_held(link)

    def _send_held(self, link: socket.socket) -> None:
        for words in self._held:
            _send(link, words)
        self._held = []

    # -- the first agent

    def _listen(self, listener: socket.socket) -> None:
        poll = {listener.fileno(): (listener, -1)}
        texts: Dict[int, bytes] = {}
        while True:
            for number in select.select(list(poll), [], [])[0]:
                link, rank = poll[number]
                if link is listener:
                    with suppress(OSError):
                        link = listener.accept()[0]
                        _keep_alive(link)
                        poll[link.fileno()], texts[link.fileno()] = (link, -1), b""
                    continue
                lines, texts[number] = _lines(link, texts[number])
                for words in lines or ():
                    rank = self._greeted(link, words) if rank < 0 else rank
                    poll[number] = (link, rank)
                    if rank > 0:
                        self._hear(rank, words)
                if lines is None or (lines and rank < 0):
                    del poll[number], texts[number]
                    link.close()
                    if rank > 0:
                        self._hear(rank, {"ended": GONE})

    def _greeted(self, link: socket.socket, words: Dict[str, Any]) -> int:
        """Return who it is, or -1 when it is none of us."""
        rank = int(words.get("rank", -1))
        if not hmac.compare_digest(str(words.get("secret")), self._secret) or not 0 < rank < len(self._programs):
            return -1
        with self._lock:
            self._links[rank] = link
        return rank

    def _hear(self, rank: int, words: Dict[str, Any]) -> None:
        """Take what one of them says; the first agent tells all what follows from it."""
        with self._lock:
            if "ready" in words:
                self._ready.add(rank)
                if len(self._ready) == len(self._programs):
                    self._tell({"begin": True})
            if "ended" in words:
                self._ended.setdefault(rank, int(words["ended"]))
                if self._ended[rank] != 0:
                    self._tell({"failed": [rank, self._ended[rank]]})
                elif len(self._ended) == len(self._programs) and not any(self._ended.values()):
                    self._tell({"over": True})

    def _tell(self, words: Dict[str, Any]) -> None:
        for link in self._links.values():
            _send(link, words)
        self._take(words)

    # -- the others

    def _connect(self) -> None:
        link = None
        while link is None and not self._stop.is_set:
            with suppress(OSError):
                link = socket.create_connection(self._place, timeout=_CONNECT_SECONDS)
            if link is None:
                time.sleep(_RETRY_SECONDS)
        if link is None:
            return
        link.settimeout(None)
        _keep_alive(link)
        with self._lock:
            _send(link, {"rank": self.rank, "secret": self._secret})
            self._links[0] = link
            self._send_held(link)
        text = b""
        while True:
            lines, text = _lines(link, text)
            for words in lines or ():
                self._take(words)
            if lines is None:
                if not self.is_over:
                    self._take({"failed": [0, GONE]})
                return

    def _take(self, words: Dict[str, Any]) -> None:
        """Know what the first agent tells all."""
        self.has_begun = self.has_begun or "begin" in words
        self.is_over = self.is_over or "over" in words
        if "failed" in words and not self.failure:
            rank, code = words["failed"]
            if rank != self.rank:
                how = "is gone" if code == GONE else "ended with status %d" % code
                self.failure = "node %d %s" % (rank, how)
                self._stop.ask()
        os.write(self._tells, b"x")


def _place(text: str) -> Tuple[str, int]:
    host, _, port = text.rpartition(":")
    return host, int(port)


def _listening(place: Tuple[str, int]) -> socket.socket:
    """Listen at a port of this machine: here alone where all are here, else to whoever knows the secret."""
    host = place[0] if place[0].startswith("127.") else ""
    listener = socket.socket()
    listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    listener.bind((host, place[1]))
    listener.listen(128)
    return listener


def _keep_alive(link: socket.socket) -> None:
    link.setsockopt(socket.SOL_SOCKET, socket.SO_KEEPALIVE, 1)
    for name, value in _ALIVE:
        if hasattr(socket, name):
            link.setsockopt(socket.IPPROTO_TCP, getattr(socket, name), value)


def _send(link: socket.socket, words: Dict[str, Any]) -> None:
    with suppress(OSError):  # who is gone is noticed where it is listened to
        link.sendall(json.dumps(words).encode() + b"\n")


def _lines(link: socket.socket, held: bytes) -> Tuple[Optional[List[Dict[str, Any]]], bytes]:
    """Return what was said, and the beginning of what is being said; None at the end, also for what is none of ours."""
    try:
        piece = link.recv(_PIECE)
        *lines, rest = (held + piece).split(b"\n")
        found = [dict(json.loads(line)) for line in lines]
    except (OSError, ValueError, TypeError):
        return None, b""
    return (found, rest) if piece and len(rest) < _MOST else (None, b"")
