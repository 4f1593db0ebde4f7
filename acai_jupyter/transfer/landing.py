"""Files that appear only when they are whole: a crash leaves at most an invisible part."""

import os
from contextlib import contextmanager, suppress
from typing import Iterator

_NEW = os.O_RDWR | os.O_CREAT | os.O_TRUNC | getattr(os, "O_CLOEXEC", 0) | getattr(os, "O_BINARY", 0)


def partial_path(folder: str) -> str:
    """Return a name for what is not whole yet. It is short: a file's own name may be as long as names can be."""
    return os.path.join(folder, ".acai-%s.part" % os.urandom(6).hex())


def open_new(path: str) -> int:
    """Open an empty file for writing and reading back."""
    return os.open(path, _NEW, 0o666)


@contextmanager
def landing(path: str, *, durable: bool) -> Iterator[int]:
    """Hand over an open file that gets its name when the block ends well; durable: and is then on the disk."""
    folder = os.path.dirname(path) or "."
    make_folder(folder, durable=durable)
    partial = partial_path(folder)
    descriptor = open_new(partial)
    try:
        try:
            yield descriptor
            if durable:
                os.fsync(descriptor)
        finally:
            os.close(descriptor)
        os.replace(partial, path)
    except BaseException:
        with suppress(OSError):
            os.remove(partial)
        raise
    if durable:
        _sync_folder(folder)


def make_folder(folder: str, *, durable: bool) -> None:
    """Make a folder and those above it; durable: their names are on the disk too."""
    if not durable:
        os.makedirs(folder, exist_ok=True)
        return
    missing = []
    above = folder
    while not os.path.isdir(above):
        missing.append(above)
        above = os.path.dirname(above) or "."
    for new in reversed(missing):
        with suppress(FileExistsError):
            os.mkdir(new)
        _sync_folder(os.path.dirname(new) or ".")


def write_all(descriptor: int, piece: memoryview) -> None:
    """Write all of it: one call may write less."""
    while piece:
        piece = piece[os.write(descriptor, piece) :]


def _sync_folder(folder: str) -> None:
    try:
        descriptor = os.open(folder, os.O_RDONLY)
    except PermissionError:  # where folders cannot be opened, they need no sync
        return
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)
