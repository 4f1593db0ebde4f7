"""File trees of any depth, walked and removed without recursion and without long paths.

A program can nest folders deeper than Python can recurse and than a path can be long. So a tree is entered folder by
folder: names are looked up in the open folder, and the way back up is `..`, checked against the folder it came from.
Symbolic links are never followed. Standard library only, Python 3.8, POSIX: the agent carries this file.
"""

import errno
import os
import stat
from contextlib import contextmanager, suppress
from typing import Iterator, List, NamedTuple, Optional

_FOLDER = os.O_RDONLY | getattr(os, "O_DIRECTORY", 0) | getattr(os, "O_NOFOLLOW", 0) | getattr(os, "O_CLOEXEC", 0)
_PASSES = 3
"""A tree that something else still writes to is removed again; the error of the last pass is returned."""


class Entry:
    """A file in a tree, or a folder that was not entered. Ask for its path before the walk continues."""

    __slots__ = ("_folders", "error", "name", "state")

    def __init__(
        self, folders: List[str], name: str, state: Optional[os.stat_result], error: Optional[OSError] = None
    ) -> None:
        self._folders = folders
        self.name = name
        self.state = state
        """None for a folder that was not entered."""
        self.error = error
        """Why a folder was not entered."""

    @property
    def path(self) -> str:
        """The path below the root of the walk; empty for the root itself."""
        return "/".join([*self._folders, self.name] if self.name else self._folders)


def walk(root: str, *, max_path_bytes: int = 0, unlock: bool = False) -> Iterator[Entry]:
    """Yield everything in a tree except its folders, in no particular order.

    A folder that cannot be read, or whose path is longer than `max_path_bytes` (0 for no limit), is yielded with the
    error. `unlock` gives the owner access to the folders on the way. Raises `OSError` when the root cannot be opened,
    or when a folder is moved out of the tree during the walk.
    """
    folders: List[str] = []
    waiting: List[List[str]] = []
    cursor = Cursor(root, max_path_bytes, unlock=unlock)
    try:
        while True:
            waiting.append([])
            yield from _files(cursor, folders, waiting[-1])
            while True:
                if waiting[-1]:
                    name = waiting[-1].pop()
                    error = cursor.entered(name)
                    if error is None:
                        folders.append(name)
                        break
                    if error.errno != errno.ENOENT:
                        yield Entry(folders, name, None, error)
                    continue
                waiting.pop()
                if not folders:
                    return
                folders.pop()
                cursor.leave()
    finally:
        cursor.close()


def states(root: str) -> Iterator[os.stat_result]:
    """Yield the states of a tree's files, as far as they can be read."""
    with suppress(OSError):
        for entry in walk(root):
            if entry.state is not None:
                yield entry.state


def regular_files(root: str) -> List[str]:
    """Return the paths below a folder of its regular files, sorted name by name. Raises `OSError` like `walk`.

    A folder that cannot be read is an error here: nothing is left out of what is made of the files.
    """
    found = []
    for entry in walk(root):
        if entry.error is not None:
            raise entry.error
        if entry.state is not None and stat.S_ISREG(entry.state.st_mode):
            found.append(entry.path)
    return sorted(found, key=lambda path: path.split("/"))


def remove(path: str) -> Optional[OSError]:
    """Remove a file or a tree, including folders without permissions. Returns None when nothing of it is left.

    Otherwise as much as possible is removed and the first error is returned: nothing is raised.
    """
    failed: Optional[OSError] = None
    for _ in range(_PASSES):
        try:
            failed = _removed(path)
        except OSError as error:
            failed = error
        if failed is None or failed.errno == errno.ENOENT:
            return None
    return failed


@contextmanager
def temporary_folder(prefix: str, above: Optional[str] = None) -> Iterator[str]:
    """Make a folder for as long as the block runs. It is removed however deep it became; that never raises."""
    import tempfile  # slow to load, and the agent carries this module

    folder = tempfile.mkdtemp(prefix=prefix, dir=above)
    try:
        yield folder
    finally:
        remove(folder)


def _removed(path: str) -> Optional[OSError]:
    """Make one pass; return the first error."""
    if not stat.S_ISDIR(os.lstat(path).st_mode):
        os.unlink(path)
        return None
    cursor = Cursor(path, unlock=True)
    errors: List[OSError] = []
    folders: List[str] = []
    waiting = [_emptied(cursor.descriptor, errors)]
    try:
        while folders or waiting[-1]:
            if waiting[-1]:
                name = waiting[-1].pop()
                error = cursor.entered(name)
                if error is None:
                    folders.append(name)
                    waiting.append(_emptied(cursor.descriptor, errors))
                elif error.errno != errno.ENOENT:
                    errors.append(error)
                continue
            waiting.pop()
            cursor.leave()
            _attempt(errors, folders.pop(), cursor.descriptor, is_folder=True)
    finally:
        cursor.close()
    if not errors:
        os.rmdir(path)
    return errors[0] if errors else None


def _files(cursor: "Cursor", folders: List[str], below: List[str]) -> Iterator[Entry]:
    """Yield the files of the current folder; collect the names of its folders."""
    try:
        with os.scandir(cursor.descriptor) as entries:
            for entry in entries:
                if entry.is_dir(follow_symlinks=False):
                    below.append(entry.name)
                else:
                    with suppress(FileNotFoundError):
                        yield Entry(folders, entry.name, entry.stat(follow_symlinks=False))
    except OSError as error:
        yield Entry(folders, "", None, error)


def _emptied(descriptor: int, errors: List[OSError]) -> List[str]:
    """Remove the files of a folder; return the names of its folders."""
    below: List[str] = []
    try:
        with os.scandir(descriptor) as entries:
            found = [(entry.name, entry.is_dir(follow_symlinks=False)) for entry in entries]
    except OSError as error:
        errors.append(error)
        return below
    for name, is_folder in found:
        if is_folder:
            below.append(name)
        else:
            _attempt(errors, name, descriptor, is_folder=False)
    return below


def _attempt(errors: List[OSError], name: str, descriptor: int, *, is_folder: bool) -> None:
    try:
        (os.rmdir if is_folder else os.unlink)(name, dir_fd=descriptor)
    except FileNotFoundError:
        pass
    except OSError as error:
        errors.append(error)


class _Above(NamedTuple):
    """A folder on the way back up."""

    device: int
    inode: int
    path_bytes: int


class Cursor:
    """One open folder of a tree, by `descriptor`. However deep it is, two descriptors are open at most.

    Names are looked up in the open folder and links are not followed. What is read of a folder has to be read before
    the cursor moves on. Close it at the end.
    """

    def __init__(self, root: str, max_path_bytes: int = 0, *, unlock: bool = False) -> None:
        self._max_path_bytes = max_path_bytes
        self._unlock = unlock
        self._above: List[_Above] = []
        self._path_bytes = 0
        self.descriptor = self._opened(root, None)

    def entered(self, name: str) -> Optional[OSError]:
        """Enter a folder of this one, or return why that is not possible."""
        path_bytes = self._path_bytes + len(os.fsencode(name)) + 1
        if self._max_path_bytes and path_bytes > self._max_path_bytes:
            return OSError(errno.ENAMETOOLONG, os.strerror(errno.ENAMETOOLONG))
        try:
            below = self._opened(name, self.descriptor)
        except OSError as error:
            return error
        here = os.fstat(self.descriptor)
        self._above.append(_Above(here.st_dev, here.st_ino, self._path_bytes))
        os.close(self.descriptor)
        self.descriptor, self._path_bytes = below, path_bytes
        return None

    def leave(self) -> None:
        """Go back to the folder above. Raises `OSError` when this folder was moved or removed since it was entered."""
        above = os.open("..", _FOLDER, dir_fd=self.descriptor)
        os.close(self.descriptor)
        self.descriptor = above
        device, inode, self._path_bytes = self._above.pop()
        found = os.fstat(above)
        if (found.st_dev, found.st_ino) != (device, inode):
            raise OSError(errno.ESTALE, "a folder was moved while its tree was walked")

    def close(self) -> None:
        """Close the folder."""
        os.close(self.descriptor)

    def _opened(self, name: str, folder: Optional[int]) -> int:
        try:
            descriptor = os.open(name, _FOLDER, dir_fd=folder)
        except PermissionError:
            if not self._unlock:
                raise
            _unlock(name, folder)
            return os.open(name, _FOLDER, dir_fd=folder)
        if self._unlock and os.fstat(descriptor).st_mode & stat.S_IRWXU != stat.S_IRWXU:
            with suppress(OSError):
                os.fchmod(descriptor, stat.S_IRWXU)
        return descriptor


def _unlock(name: str, folder: Optional[int]) -> None:
    """Give the owner access to a folder that cannot be opened for reading. A link is not followed to its target."""
    if not hasattr(os, "O_PATH"):
        return
    place = os.open(name, os.O_PATH | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC, dir_fd=folder)
    try:
        os.chmod("/proc/self/fd/%d" % place, stat.S_IRWXU)
    finally:
        os.close(place)
