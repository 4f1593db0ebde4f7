"""What the program prints: at once to the live channel, and in compressed pieces to the log's slots.

Both get the same bytes. Neither holds up the program, unless the store is away for long and it prints a lot.
"""

import io
import os
import threading
import time
import zlib
from contextlib import suppress
from queue import Queue
from typing import Any, BinaryIO, Callable, Dict, List, NamedTuple, Optional, Tuple

from acai_jupyter.agent.launch import Launch
from acai_jupyter.contract.loglines import marked
from acai_jupyter.transfer.errors import TransferError

MEMBER_BYTES = 4 * 1024 * 1024
"""What is compressed together: a reader needs no more than this to see any byte."""
PIECE_SECONDS = 60.0
_STEPS = 8
"""How often pieces double while the slots are used up: 32 slots take 4 GiB, or a day of a slow program."""
_QUEUED = 4
_MEMORY = 8 * 1024 * 1024
_GZIP = 16 + zlib.MAX_WBITS
_TOLD_BYTES = 1024 * 1024


class Log:
    """One log. `write` and `end` are for one thread; a second one compresses and sends.

    A channel that goes `by_lines`, as that of a container, shows a line when it has ended, forgets what is old, and may
    end the last line by itself. There a marked line stands after what ends within a line, and after each MiB; it tells
    how many bytes of the log came before it.
    """

    def __init__(
        self,
        launch: Launch,
        live: int,
        folder: str,
        clock: Callable[[], float] = time.monotonic,
        *,
        by_lines: bool = False,
    ) -> None:
        self._live: Optional[int] = live
        self._key = str(launch.document["key"]) if by_lines else ""
        self._shown = 0
        self._told = 0
        self._left = int(launch.document["max_log_bytes"])
        self._clock = clock
        self._member = bytearray()
        self._since: Optional[float] = None
        self._queue: "Queue[Optional[_Work]]" = Queue(_QUEUED)
        self._pieces = _Pieces(launch, folder)
        self._thread: Optional[threading.Thread] = None
        self.tail = b""

    def write(self, data: bytes) -> None:
        """Take what was printed."""
        if self._left <= 0:
            return
        if len(data) > self._left:
            data = data[: self._left] + b"\n[the log ends here: the program printed more than is kept of it]\n"
            self._left = 0
        else:
            self._left -= len(data)
        self._show(data)
        self.tail = (self.tail + data)[-4096:]
        if self._since is None:
            self._since = self._clock()
        self._member += data
        while len(self._member) >= MEMBER_BYTES:
            self._put(_Work(bytes(self._member[:MEMBER_BYTES])))
            del self._member[:MEMBER_BYTES]

    def wait_seconds(self) -> Optional[float]:
        """Return when `flush` is due; None while nothing is new."""
        if self._since is None:
            return None
        return max(0.0, self._since + PIECE_SECONDS * self._pieces.factor() - self._clock())

    def flush(self) -> None:
        """Send what is new."""
        self._put(_Work(bytes(self._member), ends_piece=True))
        self._member.clear()
        self._since = None

    def end(self) -> Dict[str, Any]:
        """Send what is left; returns what the result record says of the log."""
        if self._thread is None:
            self._pieces.take(_Work(bytes(self._member), ends_piece=True, is_last=True))  # a short log needs no thread
        else:
            self._put(_Work(bytes(self._member), ends_piece=True, is_last=True))
            self._queue.put(None)
            self._thread.join()
        return {"log": self._pieces.sent, "log_is_whole": self._pieces.is_whole}

    def _show(self, data: bytes) -> None:
        self._shown += len(data)
        if self._key and (not data.endswith(b"\n") or self._shown - self._told >= _TOLD_BYTES):
            data += marked(self._key, {"log": self._shown})
            self._told = self._shown
        view = memoryview(data)
        try:
            while view and self._live is not None:
                view = view[os.write(self._live, view) :]
        except OSError:  # a full disk ends the live channel, not the program
            self._live = None

    def _put(self, work: "_Work") -> None:
        if self._thread is None:
            self._thread = threading.Thread(target=self._send_all, name="acai-log", daemon=True)
            self._thread.start()
        self._queue.put(work)

    def _send_all(self) -> None:
        while True:
            work = self._queue.get()
            if work is None:
                return
            self._pieces.take(work)


class _Work(NamedTuple):
    """Bytes that become a member; whether their piece is to be sent then, and whether they are the last."""

    data: bytes
    ends_piece: bool = False
    is_last: bool = False


class _Pieces:
    """Members become pieces, pieces go to their slots."""

    def __init__(self, launch: Launch, folder: str) -> None:
        self._launch = launch
        self._path = os.path.join(folder, "log.part")
        self._spool: Optional[BinaryIO] = None
        self._members: List[Tuple[int, int]] = []
        self.sent: List[Dict[str, Any]] = []
        self.is_whole = True

    def factor(self) -> int:
        """How much larger than the first the next piece is to be, by the slots that are used up."""
        slots = self._launch.slots("log")
        return 1 << (_STEPS * len(self.sent) // slots if slots else 0)

    def take(self, work: _Work) -> None:
        """Add a member; send the piece when it is to end or is large enough. Never raises: a log is not the job."""
        try:
            if self.is_whole:
                self._take(work)
        except (TransferError, OSError):
            self.is_whole = False
        if not self.is_whole or work.is_last:
            self._drop()

    def _take(self, work: _Work) -> None:
        if work.data:
            self._add(work.data)
        size = sum(size for size, _ in self._members)
        if not size or not (work.ends_piece or size >= MEMBER_BYTES * self.factor()):
            return
        free = self._launch.slots("log") - len(self.sent)
        if free <= 1 and self._launch.renewed():
            free = self._launch.slots("log") - len(self.sent)
        if free > 1 or (free and work.is_last):  # the last slot is for the end
            self._send(size)
        elif work.is_last:
            raise TransferError("the slots for the log are used up")

    def _add(self, data: bytes) -> None:
        packer = zlib.compressobj(1, zlib.DEFLATED, _GZIP)
        member = packer.compress(data) + packer.flush()
        if self._spool is None:
            self._spool = io.BytesIO()
        if self._spool.tell() > _MEMORY and isinstance(self._spool, io.BytesIO):
            small, self._spool = self._spool, open(self._path, "w+b")  # noqa: SIM115 (closed when it was sent)
            self._spool.write(small.getbuffer())
        self._spool.write(member)
        self._members.append((len(data), len(member)))

    def _send(self, size_bytes: int) -> None:
        assert self._spool is not None
        stored = self._spool.tell()
        self._spool.seek(0)
        self._launch.send("log", self._spool, stored, len(self.sent))
        self.sent.append({"size_bytes": size_bytes, "stored_bytes": stored, "members": self._members})
        self._drop()
        if 2 * len(self.sent) >= self._launch.slots("log"):
            self._launch.renewed()

    def _drop(self) -> None:
        if self._spool is not None:
            self._spool.close()
        self._spool, self._members = None, []
        with suppress(OSError):
            os.remove(self._path)
