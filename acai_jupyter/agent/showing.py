"""What a cell has displayed, sent to its slot while the program runs: all of it anew, whenever there is something new.

The cell rings a bell, a named pipe beside its file of displays. How often that is answered is bounded, so that a plot
that is renewed in a loop, or large pictures, cost little.
"""

import io
import os
import select
import threading
import time
from contextlib import suppress
from typing import Callable, Optional

from acai_jupyter.agent.displays import BELL
from acai_jupyter.agent.launch import Launch
from acai_jupyter.transfer.errors import TransferError

MAX_BYTES = 32 * 1024 * 1024
_FIRST_SECONDS = 0.05
"""What is displayed within this time is sent together."""
_REST_SECONDS = 1.0
_GROWTH = 600
"""The rest is a six hundredth of the time so far: a day takes some 3,600 sendings at most."""
_BYTES_PER_SECOND = 256 * 1024
_RUNG = 4096
_NOTHING = b"[]"


class Showing:
    """The displays of one attempt. `start` and `end` are for one thread; a second one sends what comes meanwhile."""

    def __init__(
        self,
        launch: Launch,
        path: str,
        tell: Callable[[int, int], None],
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self._launch = launch
        self._path = path
        self._tell = tell
        self._clock = clock
        self._sent = b""
        self._times = 0
        self.is_too_large = False
        """Whether there was more than is kept: then what was sent before is."""
        self._bell: Optional[int] = None
        self._ended = threading.Event()
        self._thread = threading.Thread(target=self._watch, name="acai-displays", daemon=True)

    def prepare(self) -> None:
        """Hang up the bell, before there is a program. Where there can be none, all is sent at the end."""
        with suppress(OSError):
            os.mkfifo(self._path + BELL, 0o600)
            self._bell = os.open(self._path + BELL, os.O_RDWR | os.O_NONBLOCK)

    def start(self) -> None:
        """Begin to listen."""
        if self._bell is not None:
            self._thread.start()

    def end(self) -> int:
        """Send what is left; returns how large all of it is, 0 for nothing."""
        self._ended.set()
        if self._bell is not None:
            with suppress(OSError):
                os.write(self._bell, b".")
            if self._thread.ident is not None:
                self._thread.join()
            os.close(self._bell)
            self._bell = None
        self._send()
        return 0 if self._sent == _NOTHING else len(self._sent)

    def _watch(self) -> None:
        assert self._bell is not None
        began = self._clock()
        poll = select.poll()
        poll.register(self._bell, select.POLLIN)
        while True:
            poll.poll()
            if self._ended.wait(_FIRST_SECONDS):
                return
            with suppress(OSError):
                os.read(self._bell, _RUNG)
            before = self._clock()
            with suppress(TransferError, OSError):
                if self._send():
                    self._tell(self._times, len(self._sent))
            now = self._clock()
            rest = max(_REST_SECONDS, (now - began) / _GROWTH, len(self._sent) / _BYTES_PER_SECOND, 10 * (now - before))
            if self._ended.wait(rest):
                return

    def _send(self) -> bool:
        """Send all that is displayed now; says whether it was another than before."""
        body = self._read()
        self.is_too_large = len(body) > MAX_BYTES
        if body == self._sent or self.is_too_large:
            return False
        self._launch.send("displays", io.BytesIO(body), len(body))
        self._sent = body
        self._times += 1
        return True

    def _read(self) -> bytes:
        try:
            with open(self._path, "rb") as lines:
                kept = [line.rstrip(b"\n") for line in lines if line.endswith(b"\n")]
        except FileNotFoundError:
            kept = []
        return b"[%s]" % b",".join(kept) if kept or self._sent else b""
