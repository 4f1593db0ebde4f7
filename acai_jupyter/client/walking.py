"""The files that `put` takes from the disk, in the order of their paths in the project, and what it leaves out."""

from __future__ import annotations

import os
import stat
import unicodedata
from contextlib import closing
from itertools import accumulate
from pathlib import Path
from typing import TYPE_CHECKING, TypeAlias

import msgspec

from acai_jupyter.client.ignoring import IGNORE_FILE, SECRET, Rules
from acai_jupyter.contract.errors import BadPath, BadRequest, NotFound
from acai_jupyter.contract.foreign import one_line
from acai_jupyter.contract.specs import MAX_PATH_BYTES, normal_path
from acai_jupyter.trees import Cursor

if TYPE_CHECKING:
    from collections.abc import Iterator

LINK = "a symbolic link"
MOST_MISSED = 100
"""At most this many names are kept of what is left out."""
MOST_COMPARED = 10_000
"""At most this many paths of possible secrets are compared with the last upload."""
VANISHED = "it vanished while the folder was read"
_ENVIRONMENT_MARKS = ("pyvenv.cfg", "conda-meta/")


class Found(msgspec.Struct, frozen=True, gc=False):
    """A regular file and the path it is to have in the project."""

    source: str
    path: str
    size_bytes: int
    mtime_ns: int
    inode: int
    ctime_ns: int = 0


class Excluded(msgspec.Struct, frozen=True, gc=False):
    """What is left out and why. `source` is for showing: signs that a terminal cannot show are escaped in it."""

    source: str
    reason: str
    is_folder: bool = False
    path: str = ""
    """The path that it would have in the project; empty where that is not known."""

    @property
    def is_missed(self) -> bool:
        """Whether people may miss it, as no rule of theirs speaks of it and it is no part of their tools."""
        return self.reason == SECRET or self.reason.startswith(LINK)


class LeftOut:
    """Counts what is left out of an upload, and keeps the first of what people may miss: possible secrets and links."""

    def __init__(self) -> None:
        self.missed: list[Excluded] = []
        self.missed_count = 0
        self.count = 0
        self.dropped: list[str] = []
        """Paths of the last upload that are left out of this one."""
        self._secrets: set[str] = set()

    def take(self, one: Excluded) -> None:
        """Take note of something that is left out."""
        self.count += 1
        if not one.is_missed:
            return
        self.missed_count += 1
        if len(self.missed) < MOST_MISSED:
            self.missed.append(one)
        if one.reason == SECRET and len(self._secrets) < MOST_COMPARED:
            self._secrets.add(one.path)

    def gone(self, path: str) -> None:
        """Take note of a path that was uploaded before, if it is still there but counts as a secret now."""
        folders = accumulate(path.split("/"), lambda above, name: f"{above}/{name}")
        if len(self.dropped) < MOST_MISSED and not self._secrets.isdisjoint(folders):
            self.dropped.append(path)


class _Folder(msgspec.Struct, frozen=True):
    """A folder to walk; its places end in a slash. What was asked for by name may be an environment."""

    source: str
    path: str
    shown: str
    rules: Rules
    asked_for: bool


_Entry: TypeAlias = Found | Excluded | _Folder


def walk(source: str, dest: str, rules: Rules) -> Iterator[Found | Excluded]:
    """Find the files of SRC, ascending by path in code points; a folder's contents go under DEST.

    Names that cannot be paths come as `Excluded` too, and are raised as one BadPath at the end of the walk: go to its
    end before anything is recorded. At any time a folder is held in memory with those above it, never the tree.
    Only SRC itself may be a link to a folder. A folder that is moved or removed during its walk is a BadRequest.
    """
    base = _destination(dest)
    if not source:
        raise BadRequest("SRC is empty; the folder one stands in is written '.'.")
    named = Path(source)
    try:
        found = named.stat()
    except (FileNotFoundError, NotADirectoryError, ValueError) as error:
        raise NotFound(f"There is no file or folder {one_line(source)}.") from error
    except OSError as error:
        raise _unreadable(source, error) from error
    if stat.S_ISDIR(found.st_mode):
        return _tree(_Folder(f"{source.rstrip('/')}/", f"{base}/", "", rules, asked_for=True))
    if not stat.S_ISREG(found.st_mode):
        raise BadRequest(f"{one_line(source)} is neither a file nor a folder.")
    path = f"{base}/{_nfc(named.name)}" if dest.endswith("/") else base
    return iter([Found(source, normal_path(path), found.st_size, found.st_mtime_ns, found.st_ino, found.st_ctime_ns)])


def _destination(dest: str) -> str:
    if not dest.startswith("/"):
        raise BadRequest(f"DEST is a path in the project and starts with '/': /{dest}")
    folder = _nfc(dest).strip("/")
    return normal_path(f"/{folder}") if folder else ""


def _tree(top: _Folder) -> Iterator[Found | Excluded]:
    faults: list[BadPath] = []
    try:
        cursor = Cursor(os.path.realpath(top.source))
    except (FileNotFoundError, NotADirectoryError):
        yield _vanished(top)
        return
    except OSError as error:
        raise _unreadable(top.source[:-1], error) from error
    with closing(cursor):
        waiting = [(top, _contents(top, cursor, faults))]
        while waiting:
            folder, entries = waiting[-1]
            for entry in entries:
                if isinstance(entry, _Folder):
                    if (fault := cursor.entered(Path(entry.source).name)) is None:
                        waiting.append((entry, _contents(entry, cursor, faults)))
                        break
                    if not isinstance(fault, FileNotFoundError | NotADirectoryError):
                        raise _unreadable(entry.source[:-1], fault) from fault
                    yield _vanished(entry)
                else:
                    yield entry
            else:
                waiting.pop()
                if waiting:
                    _leave(cursor, folder)
    if faults:
        others = f" {len(faults) - 1:,} more cannot either." if len(faults) > 1 else ""
        advice = "Rename it, or leave it out with --exclude or in .acaiignore."
        raise BadPath(f"{faults[0].message}{others} {advice}", **faults[0].details)


def _contents(folder: _Folder, cursor: Cursor, faults: list[BadPath]) -> Iterator[_Entry]:
    """What is in the open folder, with its folders in their places; all is read at once."""
    try:
        entries = _by_key(folder, cursor.descriptor)
        mark = next((mark for mark in _ENVIRONMENT_MARKS if mark in entries), None)
        if mark is None or folder.asked_for:
            return iter(list(_sorted(folder, entries, faults)))
    except (FileNotFoundError, NotADirectoryError):
        return iter([_vanished(folder)])
    except OSError as error:
        raise _unreadable(folder.source[:-1], error) from error
    reason = f"default: an environment (it holds {mark})"
    return iter([Excluded(one_line(folder.source[:-1]), reason, is_folder=True)])


def _leave(cursor: Cursor, folder: _Folder) -> None:
    """Go back up; without that, what is next to the folder would be taken from wherever the folder is now."""
    try:
        cursor.leave()
    except OSError as error:
        name = one_line(folder.source[:-1])
        raise BadRequest(
            f"{name} was moved or removed while it was read. Try again when it no longer changes."
        ) from error


def _vanished(folder: _Folder) -> Excluded:
    return Excluded(one_line(folder.source[:-1]), VANISHED, is_folder=True)


def _sorted(folder: _Folder, entries: dict[str, os.DirEntry[str]], faults: list[BadPath]) -> Iterator[_Entry]:
    rules = _with_ignore_file(folder, entries)
    verdicts = _verdicts(rules, entries)
    is_plain = _is_plain(folder.path, entries)
    for key in sorted(entries):
        entry = entries.pop(key)  # it keeps what stat said
        source, path = f"{folder.source}{entry.name}", f"{folder.path}{key}"
        reason = verdicts.get(key) or (None if is_plain else _path_fault(path, faults))
        if reason is not None:
            yield Excluded(one_line(source), reason, is_folder=key[-1] == "/", path=path.removesuffix("/"))
        elif key[-1] == "/":
            shown = f"{folder.shown}{key}"
            yield _Folder(f"{source}/", path, shown, rules.below(key[:-1]), asked_for=key in verdicts)
        else:
            yield _file(entry, source, path)


def _by_key(folder: _Folder, place: int) -> dict[str, os.DirEntry[str]]:
    """Entries by what they sort by: the name in its normal form, with a slash after it when it is a folder."""
    with os.scandir(place) as listing:  # noqa: TID251 (the open folder of a cursor)
        entries = {entry.name + "/" if entry.is_dir(follow_symlinks=False) else entry.name: entry for entry in listing}
    if "".join(entries).isascii():
        return entries
    normal: dict[str, os.DirEntry[str]] = {}
    names: dict[str, str] = {}
    for key, entry in entries.items():
        other = names.setdefault(_nfc(entry.name), entry.name)
        if other != entry.name:
            raise _collision(folder.source, other, entry.name)
        normal[_nfc(key)] = entry
    return normal


def _collision(folder: str, *names: str) -> BadPath:
    first, second = (ascii(folder + name) for name in sorted(names))
    reason = "names are kept in Unicode's composed form (NFC), and there they are the same"
    message = f"{first} and {second} would have one path in a project: {reason}. Rename one of them."
    return BadPath(message, path=second[1:-1], reason=reason)


def _with_ignore_file(folder: _Folder, entries: dict[str, os.DirEntry[str]]) -> Rules:
    entry = entries.get(IGNORE_FILE) or entries.get(f"{IGNORE_FILE}/")
    if entry is None:
        return folder.rules
    source = f"{folder.source}{entry.name}"
    try:
        if not entry.is_file():
            raise BadRequest(f"{one_line(source)} cannot be read: it is not a file, nor a link to one.")
        content = Path(source).read_bytes()
    except OSError as error:
        raise BadRequest(f"{one_line(source)} cannot be read: {error.strerror}.") from error
    return folder.rules.with_file(content, f"{folder.shown}{IGNORE_FILE}")


def _verdicts(rules: Rules, entries: dict[str, os.DirEntry[str]]) -> dict[str, str | None]:
    folders = [key[:-1] for key in entries if key[-1] == "/"]
    if not folders:
        return rules.verdicts(entries, folders=False)
    verdicts = rules.verdicts([key for key in entries if key[-1] != "/"], folders=False)
    return verdicts | {f"{name}/": reason for name, reason in rules.verdicts(folders, folders=True).items()}


def _is_plain(base: str, entries: dict[str, os.DirEntry[str]]) -> bool:
    """Whether no name in a folder needs a closer look; looking at all of them at once costs next to nothing."""
    names = "".join(entries)
    longest = len(base.encode()) + max(map(len, entries), default=0)
    return names.isascii() and names.isprintable() and longest <= MAX_PATH_BYTES


def _path_fault(path: str, faults: list[BadPath]) -> str | None:
    try:
        normal_path(path.removesuffix("/"))
    except BadPath as fault:
        faults.append(fault)
        return f"its name cannot be a path in a project: {fault.details['reason']}"
    return None


def _file(entry: os.DirEntry[str], source: str, path: str) -> Found | Excluded:
    try:
        if entry.is_file(follow_symlinks=False):
            found = entry.stat(follow_symlinks=False)
            return Found(source, path, found.st_size, found.st_mtime_ns, found.st_ino, found.st_ctime_ns)
        return Excluded(one_line(source), _kind(entry))
    except FileNotFoundError:
        return Excluded(one_line(source), VANISHED)
    except OSError as error:
        raise _unreadable(source, error) from error


def _kind(entry: os.DirEntry[str]) -> str:
    if not entry.is_symlink():
        return "not a regular file"
    try:
        target = "a folder" if entry.is_dir() else "a file" if entry.is_file() else "no file"
    except OSError:  # to itself, or through a folder that is closed to us
        target = "no file"
    return f"{LINK} that leads to {target}"


def _unreadable(source: str, error: OSError) -> BadRequest:
    return BadRequest(
        f"{one_line(source)} cannot be read: {error.strerror}. Mend that, or leave it out with --exclude or in "
        ".acaiignore."
    )


def _nfc(name: str) -> str:
    """The one normal form of a name; some file systems hand out another."""
    return unicodedata.normalize("NFC", name)
