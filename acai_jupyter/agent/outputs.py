"""The output folder on its way into packs: small files together, a large one alone, none copied on this disk first."""

import errno
import hashlib
import os
import stat
import sys
import unicodedata
from typing import Any, BinaryIO, Callable, Dict, Iterator, List, NamedTuple, Optional, cast

from acai_jupyter.agent.launch import Launch
from acai_jupyter.agent.omissions import Omissions, name_fault, shortened, too_long
from acai_jupyter.agent.telling import Transfer
from acai_jupyter.transfer.errors import DiskFull, TransferError
from acai_jupyter.transfer.hashing import BUFFER
from acai_jupyter.transfer.ranges import is_local, local_path
from acai_jupyter.trees import walk

PACK_BYTES = 64 * 1024 * 1024
SHOWN = 3
MAX_PATH_BYTES = 1000
"""Without a limit in the launch document: what a path in a project can have, and some for the name of the set."""
MAX_OUTPUTS = 1_000_000
MAX_RECORD_BYTES = 384 * 1024 * 1024
"""What the rows of all outputs may take in the result record, of which the server reads 512 MiB."""
_ROW_BYTES = 128
_ROOM_FOR_RECORDS = 64 * 1024 * 1024
"""With less, log and result record may not fit either: then the work folder has to make room for them."""
_READ = os.O_RDONLY | getattr(os, "O_NOFOLLOW", 0) | getattr(os, "O_NONBLOCK", 0)
"""Neither a link to elsewhere, nor waiting for a pipe that has taken the place of the file."""


class Output(NamedTuple):
    """A file to be kept: its name in the project below the output set, and where it is."""

    name: str
    path: str
    size_bytes: int


class Unreadable(TransferError):
    """An output cannot be read to its end."""

    def __init__(self, output: Output, reason: str) -> None:
        super().__init__("its output %a was not kept: %s" % (output.name, reason))
        self.output = output
        self.reason = reason


class Found(NamedTuple):
    """What is in an output folder."""

    outputs: List[Output]
    """Those that can be recorded, by name."""
    omissions: Omissions
    warnings: List[str]
    """What to say of links and special files."""


def find(root: str, launch: Launch) -> Found:
    """Find the regular files below a folder. Links are not followed, so nothing outside is taken."""
    max_bytes = launch.document.get("max_output_path_bytes") or MAX_PATH_BYTES
    search = _Search(root, max_bytes, launch.document.get("max_object_bytes") or sys.maxsize)
    if os.path.islink(root):
        search.special.append("")
    elif os.path.lexists(root):
        search.run()
    return Found(search.recordable(), search.omissions, search.warnings())


class _Search:
    """One look through an output folder."""

    def __init__(self, root: str, max_path_bytes: int, max_file_bytes: int) -> None:
        self._root = root
        self._max_path_bytes = max_path_bytes
        self._max_file_bytes = max_file_bytes
        self._found: List[Output] = []
        self.special: List[str] = []
        self.omissions = Omissions()

    def run(self) -> None:
        """Look at everything that can have a path in a project."""
        # A name may become shorter in Unicode's composed form: at most to a third.
        deepest = 3 * self._max_path_bytes
        try:
            for entry in walk(self._root, max_path_bytes=deepest, unlock=True):
                if entry.state is None:
                    error = entry.error
                    long = error is not None and error.errno == errno.ENAMETOOLONG
                    reason = too_long(self._max_path_bytes) if long else "the folder cannot be read: %s" % _cause(error)
                    self.omissions.add(entry.path + "/", reason)
                elif stat.S_ISREG(entry.state.st_mode):
                    self._take(entry.path, entry.state.st_size)
                else:
                    self.special.append(entry.path)
        except NotADirectoryError:
            self.omissions.add(os.path.basename(self._root), "it is a file in the place of the output folder")

    def recordable(self) -> List[Output]:
        """Return what can be recorded: of files that would have the same name, the first."""
        outputs: List[Output] = []
        record_bytes = 0
        names = {output.name for output in self._found}
        # Only names that were composed can collide; a file system has no two of the same.
        composed = {output.name for output in self._found if not output.path.endswith("/" + output.name)}
        for output in sorted(self._found):
            record_bytes += 2 * len(output.name.encode()) + _ROW_BYTES
            if outputs and outputs[-1].name == output.name:
                reason = "another output has the same name once both are in Unicode's composed form (NFC)"
            elif composed and any(parent in names for parent in _parents(output.name)):
                reason = "another output has the name of its folder once both are in Unicode's composed form (NFC)"
            elif len(outputs) >= MAX_OUTPUTS or record_bytes > MAX_RECORD_BYTES:
                reason = "a job records at most %s files; write fewer, or put them into an archive" % format(
                    len(outputs), ","
                )
            else:
                outputs.append(output)
                continue
            self.omissions.add(os.path.relpath(output.path, self._root), reason)
        return outputs

    def warnings(self) -> List[str]:
        """Say which links and special files are not kept."""
        if not self.special:
            return []
        top = os.path.basename(self._root)
        paths = sorted(os.path.join(top, path) if path else top for path in self.special)
        shown = ", ".join(shortened(path) for path in paths[:SHOWN])
        more = " and %d more" % (len(paths) - SHOWN) if len(paths) > SHOWN else ""
        return ["links and what is no regular file are not kept: %s%s" % (shown, more)]

    def _take(self, path: str, size_bytes: int) -> None:
        name = unicodedata.normalize("NFC", path)
        fault = name_fault(name, self._max_path_bytes)
        if fault is None and size_bytes > self._max_file_bytes:
            fault = "it has %s, and the object store takes at most %s of one file; write it as several files" % (
                _size(size_bytes),
                _size(self._max_file_bytes),
            )
        if fault is None:
            self._found.append(Output(name, os.path.join(self._root, path), size_bytes))
        else:
            self.omissions.add(path, fault)


def send(found: Found, launch: Launch, transfer: Optional[Transfer] = None, first: int = 0) -> Dict[str, Any]:
    """Send all of them, to slots from the first free one on; returns what the result record says of them."""
    rows: List[List[Any]] = []
    packs: List[Dict[str, Any]] = []
    counted = transfer or Transfer()
    size_bytes = sum(output.size_bytes for output in found.outputs)
    _check_room(launch, size_bytes)
    counted.expect(size_bytes)
    for number, files in enumerate(_packs(found.outputs, launch, first), first):
        stream = _sent(files, number, launch, found.omissions, counted)
        packs.append({"size_bytes": stream.size_bytes, "sha256": stream.sha256})
        rows.extend(stream.rows(number))
    return {"outputs": rows, "packs": packs}


def _check_room(launch: Launch, size_bytes: int) -> None:
    """Refuse what the disk of a store cannot hold before it is full: a sparse file may have any size."""
    slots = launch.document["slots"]["packs"]
    if not size_bytes or not slots or not is_local(slots[0]):
        return
    folder = os.path.dirname(local_path(slots[0]))
    while not os.path.isdir(folder) and folder != os.path.dirname(folder):
        folder = os.path.dirname(folder)
    found = os.statvfs(folder)
    free_bytes = found.f_bavail * found.f_frsize
    if size_bytes > free_bytes:
        kind = DiskFull if free_bytes < _ROOM_FOR_RECORDS else TransferError
        raise kind(
            "they have %s, and the disk of the object store has %s free" % (_size(size_bytes), _size(free_bytes))
        )


def _sent(files: List[Output], number: int, launch: Launch, omissions: Omissions, counted: Transfer) -> "PackStream":
    """Send a pack. A file that cannot be read is left out, and the pack is sent again without it."""
    while True:
        stream = PackStream(files, counted.advance)
        try:
            launch.send("packs", stream.opened, stream.size_bytes, number)
            stream.finish()
        except Unreadable as error:
            stream.rewind()
            counted.expect(-error.output.size_bytes)
            omissions.add(error.output.name, error.reason)
            files = [file for file in files if file is not error.output]
        else:
            return stream


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
        self.rewind()
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

    def rewind(self) -> None:
        """Take back what was counted: it has to be read again."""
        self._on_bytes(-self._read_bytes)
        self._read_bytes = 0

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
    try:
        descriptor = _opened(file.path)
    except OSError as error:
        raise Unreadable(file, "it cannot be read: %s" % _cause(error)) from error
    try:
        if not stat.S_ISREG(os.fstat(descriptor).st_mode):
            raise Unreadable(file, "it is not a regular file any more")
        while left:
            piece = os.read(descriptor, min(BUFFER, left))
            if not piece:
                raise Unreadable(file, "it became shorter while it was read")
            left -= len(piece)
            yield piece
    except OSError as error:
        raise Unreadable(file, "it cannot be read: %s" % _cause(error)) from error
    finally:
        os.close(descriptor)


def _opened(path: str) -> int:
    """Open a file to be read; one that its program has locked for its owner is unlocked."""
    try:
        return os.open(path, _READ)
    except PermissionError:
        os.chmod(path, 0o600)
        return os.open(path, _READ)


def _parents(name: str) -> Iterator[str]:
    end = name.find("/")
    while end >= 0:
        yield name[:end]
        end = name.find("/", end + 1)


def _cause(error: Optional[OSError]) -> str:
    return "" if error is None else error.strerror or str(error)
