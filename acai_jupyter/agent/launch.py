"""The launch document and the slots it names: read again when the server may have renewed it."""

import json
from typing import Any, Dict, List, NamedTuple, Optional, Tuple

from acai_jupyter.agent.stopping import Stop
from acai_jupyter.transfer.connections import Connections
from acai_jupyter.transfer.errors import Refused, TransferError, Unreachable
from acai_jupyter.transfer.ranges import read_whole
from acai_jupyter.transfer.retrying import ONCE, Retrying
from acai_jupyter.transfer.sending import Source, send

VERSION = 3
_EXPIRED = (401, 403)


class InputFile(NamedTuple):
    """One file of the launch document."""

    path: str
    object: int
    offset: int
    size_bytes: int
    sha256: str
    is_code: bool


def patient(stop: Stop) -> Retrying:
    """Go on for about ten minutes, as a store may be away; not when somebody wants an end."""
    return Retrying(tries=30, first_seconds=0.25, longest_seconds=30.0, sleep=stop.wait)


class Launch:
    """What is to be done, and where its results go.

    `place` is a file that holds the document's URL, so that a runner can renew it, or the URL itself.
    """

    def __init__(self, place: str, stop: Stop) -> None:
        self._place = place
        self._retrying = patient(stop)
        self.connections = Connections()
        self._text = b""
        self._has_files = True
        self.document: Dict[str, Any] = self._retrying.call(self._read)

    def renewed(self) -> bool:
        """Read the document again; says whether it is another now."""
        before = self.document
        try:
            self.document = self._read()
        except TransferError:
            return False
        return self.document != before

    def files(self, position: int, count: int) -> Tuple[List[InputFile], int]:
        """Return the files after a position, at most so many, and the position after them.

        A million of them are held as their text. A renewed document has the same ones in the same order.
        """
        found: List[InputFile] = []
        while len(found) < count and position < len(self._text):
            end = self._text.find(b"\n", position)
            end = len(self._text) if end < 0 else end
            found.append(InputFile(*json.loads(self._text[position:end].decode())))
            position = end + 1
        return found, position

    def forget_files(self) -> None:
        """Give back the memory that the files take, when all of them are here."""
        self._text, self._has_files = b"", False

    def slots(self, kind: str) -> int:
        """Return how many objects of a kind can be sent: 'log' or 'packs'."""
        return len(self.document["slots"][kind])

    def send(self, kind: str, source: Source, size_bytes: int, number: Optional[int] = None) -> None:
        """Send an object to its slot, with patience; one that expired meanwhile is asked for again."""
        attempts = self._retrying.attempts()
        start = None if callable(source) else source.tell()
        while True:
            if not callable(source) and start is not None:
                source.seek(start)
            slot = self.document["slots"][kind]
            try:
                send(slot if number is None else slot[number], source, size_bytes, None, None, self.connections, ONCE)
            except TransferError as error:
                attempts.failed(tried_anew(error))
                if has_expired(error):
                    self.renewed()
            else:
                return

    def _read(self) -> Dict[str, Any]:
        try:
            url = self._place if "://" in self._place else _text(self._place)
            first, _, files = read_whole(url, self.connections).partition(b"\n")
            document = json.loads(first.decode())
        except ValueError as error:
            raise TransferError("the launch document cannot be read: %s" % error) from error
        if document["version"] != VERSION:
            raise TransferError(
                "the launch document has version %s, this agent reads %d" % (document["version"], VERSION)
            )
        self._text = files if self._has_files else b""
        return dict(document)


def has_expired(error: TransferError) -> bool:
    """Whether a URL is not good any more; a renewed document may have one that is."""
    return isinstance(error, Refused) and error.status in _EXPIRED


def tried_anew(error: TransferError) -> TransferError:
    """Return an error that is tried again, where the server can still mend the cause."""
    return Unreachable(str(error)) if has_expired(error) else error


def _text(path: str) -> str:
    try:
        with open(path, encoding="utf-8") as stream:
            return stream.read().strip()
    except OSError as error:
        raise TransferError("the launch file cannot be read: %s" % error.strerror) from error
