"""The output folder on its way into packs: small files together, a large one alone, none copied on this disk first."""

import hashlib
import os
import stat
import sys
import unicodedata
from contextlib import suppress
from typing import Any, BinaryIO, Callable, Dict, Iterator, List, NamedTuple, Optional, cast

from acai_jupyter.agent.launch import Launch
from acai_jupyter.agent.telling import Transfer
from acai_jupyter.transfer.errors import Changed, TransferError
from acai_jupyter.transfer.hashing import BUFFER

PACK_BYTES = 64 * 1024 * 1024
SHOWN = 3


class Output(NamedTuple):
    """A file to be kept: its name in the project below the output set, and where it is."""

    name: str
    path: str
    size_bytes: int


def find(root: str, warnings: List[str]) -> List[Output]:
    """Return the regular files below a folder, by name. Links are not followed, so nothing outside is taken."""
    found = []
    names = set()
    odd = [root] if os.path.islink(root) else []
    for path in () if odd else _walk(root):
        state = os.lstat(path)
        if not stat.S_ISREG(state.st_mode):
            odd.append(path)
            continue
        name = _kept_name(os.path.relpath(path, root))
        if name in names:
            raise TransferError("two files have the name %a once it is written the normal way" % name)
        names.add(name)
        found.append(Output(name, path, state.st_size))
    if odd:
        shown = ", ".join("%a" % os.path.relpath(path, os.path.dirname(root)) for path in sorted(odd)[:SHOWN])
        more = " and %d more" % (len(odd) - SHOWN) if len(odd) > SHOWN else ""
        warnings.append("links and what is no regular file are not kept: %s%s" % (shown, more))
    return sorted(found)


def send(outputs: List[Output], launch: Launch, transfer: Optional[Transfer] = None, first: int = 0) -> Dict[str, Any]:
    """Send all of them, to slots from the first free one on; returns what the result record says of them."""
    rows: List[List[Any]] = []
    packs: List[Dict[str, Any]] = []
    counted = transfer or Transfer()
    counted.expect(sum(output.size_bytes for output in outputs))
    for number, files in enumerate(_packs(outputs, launch, first), first):
        stream = PackStream(files, counted.advance)
        launch.send("packs", stream.opened, stream.size_bytes, number)
        stream.finish()
        packs.append({"size_bytes": stream.size_bytes, "sha256": stream.sha256})
        rows.extend(stream.rows(number))
    return {"outputs": rows, "packs": packs}


class PackStream:
    """The bytes of files after each other, hashed as they are read. It can be read again, from the start."""

    def __init__(self, files: List[Output], on_bytes: Callable[[int], None] = lambda _: None) -> None:
        self._on_bytes = on_bytes
        self._read_bytes = 0
        self._files = files
        self.size_bytes = sum(file.size_bytes for file in files)
        self.sha256 = ""
        self._hashes: List[str] = []

    def opened(self) -> BinaryIO:
        """Begin to read."""
        return cast("BinaryIO", _Reading(self))

    def pieces(self) -> Iterator[bytes]:
        """Give the bytes, and know the hashes when all were taken."""
        whole = hashlib.sha256()
        self._hashes, self.sha256 = [], ""
        self._on_bytes(-self._read_bytes)
        self._read_bytes = 0
        for file in self._files:
            digest = whole if len(self._files) == 1 else hashlib.sha256()
            for piece in _pieces(file):
                digest.update(piece)
                self._read_bytes += len(piece)
                self._on_bytes(len(piece))
                if digest is not whole:
                    whole.update(piece)
                yield piece
            self._hashes.append(digest.hexdigest())
        self.sha256 = whole.hexdigest()

    def finish(self) -> None:
        """Know the hashes also where there was nothing to read."""
        if not self.sha256:
            for _ in self.pieces():
                pass

    def rows(self, number: int) -> Iterator[List[Any]]:
        """Say where each file is in the pack of this number."""
        offset = 0
        for file, sha256 in zip(self._files, self._hashes):  # noqa: B905 (Python 3.8 has no strict)
            yield [file.name, number, offset, file.size_bytes, sha256]
            offset += file.size_bytes


class _Reading:
    """What `send` wants of a stream."""

    def __init__(self, pack: PackStream) -> None:
        self._pieces = pack.pieces()
        self._held = b""
        self._left = pack.size_bytes

    def read(self, size_bytes: int) -> bytes:
        """Return some of what comes next; nothing at the end."""
        if not self._held:
            self._held = next(self._pieces, b"")
        piece, self._held = self._held[:size_bytes], self._held[size_bytes:]
        self._left -= len(piece)
        if not self._left and not self._held:
            next(self._pieces, None)  # so that the hashes are known
        return piece

    def __enter__(self) -> "_Reading":  # noqa: PYI034 (Python 3.8 has no Self)
        return self

    def __exit__(self, *error: object) -> None:
        self._pieces.close()  # type: ignore[attr-defined]


def _packs(outputs: List[Output], launch: Launch, taken: int) -> List[List[Output]]:
    """Part the files so that there is a slot for each pack; where slots are few, packs are larger."""
    slots = launch.slots("packs") - taken
    most = launch.document.get("max_object_bytes") or sys.maxsize
    large = next((file for file in outputs if file.size_bytes > most), None)
    if large is not None:
        raise TransferError(
            "its output %a has %s, and the object store takes at most %s of one file: write it as several files"
            % (large.name, _size(large.size_bytes), _size(most))
        )
    limit = min(PACK_BYTES, most)
    packs = _parted(outputs, limit)
    if len(packs) > slots and launch.renewed():
        slots = launch.slots("packs") - taken
    while len(packs) > max(1, slots):
        if limit >= most:
            raise TransferError("its outputs are more than %d objects of %s can hold" % (slots, _size(most)))
        limit = min(2 * limit, most)
        packs = _parted(outputs, limit)
    return packs


def _size(size_bytes: int) -> str:
    return "%.4g GB" % (size_bytes / 1024**3) if size_bytes >= 1024**3 else "%d bytes" % size_bytes


def _parted(outputs: List[Output], limit: int) -> List[List[Output]]:
    large = [[file] for file in outputs if file.size_bytes > limit]
    packs: List[List[Output]] = []
    size = 0
    for file in outputs:
        if file.size_bytes > limit:
            continue
        if not packs or size + file.size_bytes > limit:
            packs.append([])
            size = 0
        packs[-1].append(file)
        size += file.size_bytes
    return packs + large


def _pieces(file: Output) -> Iterator[bytes]:
    left = file.size_bytes
    flags = os.O_RDONLY | getattr(os, "O_NOFOLLOW", 0)
    try:
        descriptor = os.open(file.path, flags)
    except OSError as error:
        raise TransferError("its output %a cannot be read: %s" % (file.name, error.strerror)) from error
    try:
        while left:
            piece = os.read(descriptor, min(BUFFER, left))
            if not piece:
                raise Changed("its output %a became shorter while it was kept" % file.name)
            left -= len(piece)
            yield piece
    finally:
        os.close(descriptor)


def _walk(root: str) -> Iterator[str]:
    for folder, folders, names in os.walk(root, onerror=_refuse):
        for name in folders:
            path = os.path.join(folder, name)
            if os.path.islink(path):
                yield path
            else:
                with suppress(OSError):
                    os.chmod(path, 0o700)  # a program may have locked it
        for name in names:
            yield os.path.join(folder, name)


def _refuse(error: OSError) -> None:
    if not isinstance(error, FileNotFoundError):
        raise error


def _kept_name(name: str) -> str:
    """The one normal form of a name; what no path in a project can be is refused by name."""
    normal = unicodedata.normalize("NFC", name)
    if any(unicodedata.category(character) in ("Cc", "Cs") for character in normal):
        raise TransferError("its output %a cannot be the name of a file in a project" % name)
    return normal
