"""Archives of environments by their hash, kept from pod to pod in a folder of the node, or of a volume.

Programs of other jobs can write there, so nothing of it is trusted: an archive is copied to where only this attempt
writes, hashed on its way, and that copy is used. What is not as its name says is fetched from the store again, and
replaced. Several pods may bring the same at once: each writes a part of its own, and names it when it is whole.
Nothing here is needed: a folder that cannot be used is no cache.
"""

import hashlib
import os
import stat
from contextlib import suppress
from typing import Iterator, Tuple

from acai_jupyter.agent.launch import InputFile

ARCHIVE = ".environment.tar.gz"
"""Where among the code an archive of an environment is."""
_PIECE_BYTES = 1024 * 1024
_READ = os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK
"""Not a link to elsewhere, and no waiting for whoever may write into a pipe."""
_NEW = os.O_WRONLY | os.O_CREAT | os.O_EXCL


class Archives:
    """A folder of files by hash. For one thread."""

    def __init__(self, folder: str, max_bytes: int) -> None:
        self._folder = folder
        self._max_bytes = max_bytes
        self.trouble = ""
        """Why the last one could not be kept."""

    def take(self, file: InputFile, path: str) -> bool:
        """Put an archive where the attempt wants it; says whether it was here and is the right one."""
        if file.path != ARCHIVE:
            return False
        try:
            if _copied(self._place(file), path, file):
                with suppress(OSError):
                    os.utime(self._place(file), follow_symlinks=False)
                return True
        except OSError:
            pass
        with suppress(OSError):
            os.remove(path)
        return False

    def keep(self, file: InputFile, path: str) -> None:
        """Keep an archive that was fetched, and make room for it."""
        if file.path != ARCHIVE or file.size_bytes > self._max_bytes:
            return
        part = os.path.join(self._folder, ".%s.part" % os.urandom(8).hex())
        try:
            self._make_room(file.size_bytes)
            if _copied(path, part, file):
                os.replace(part, self._place(file))
            else:
                os.remove(part)
        except OSError as error:
            self.trouble = error.strerror or str(error)
            with suppress(OSError):
                os.remove(part)

    def _place(self, file: InputFile) -> str:
        return os.path.join(self._folder, file.sha256)

    def _make_room(self, size_bytes: int) -> None:
        """Remove what was not used for longest, until so much more fits."""
        found = sorted(self._found())
        excess = sum(size for _, size, _ in found) + size_bytes - self._max_bytes
        for _, size, path in found:
            if excess <= 0:
                return
            with suppress(OSError):
                os.remove(path)
                excess -= size

    def _found(self) -> Iterator[Tuple[int, int, str]]:
        for entry in os.scandir(self._folder):  # noqa: TID251 (its folders are not entered)
            with suppress(OSError):
                state = entry.stat(follow_symlinks=False)
                if not stat.S_ISDIR(state.st_mode):
                    yield state.st_mtime_ns, state.st_size, entry.path


def _copied(source: str, target: str, file: InputFile) -> bool:
    """Copy a file; says whether what is in the target now is what it should be."""
    descriptor = os.open(source, _READ)
    try:
        state = os.fstat(descriptor)
        if not stat.S_ISREG(state.st_mode) or state.st_size != file.size_bytes:
            return False
        os.makedirs(os.path.dirname(target), exist_ok=True)
        digest, left = hashlib.sha256(), file.size_bytes
        with open(os.open(target, _NEW, 0o644), "wb") as out:
            while left:
                piece = os.read(descriptor, min(_PIECE_BYTES, left))
                if not piece:
                    return False
                digest.update(piece)
                out.write(piece)
                left -= len(piece)
    finally:
        os.close(descriptor)
    return digest.hexdigest() == file.sha256
