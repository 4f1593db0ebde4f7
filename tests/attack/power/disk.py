"""A disk with a cache: what was written, what was synced, and what is left of both when the power fails.

The strictest reading of POSIX: the bytes of a file are safe after a sync of the file, its name after a sync of the
folder. Real file systems mostly keep more.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from enum import Enum
from pathlib import Path
from typing import TYPE_CHECKING, TypeAlias

if TYPE_CHECKING:
    import random

    from tests.attack.power.recording import Event

SECTOR = 512


class Cut(Enum):
    """What is left of changes that were not synced."""

    STRICT = "nothing that was not synced is left"
    NAMES = "all names are left, and of files what was synced"
    MIXED = "of what was not synced, some is left"


@dataclass
class File:
    """A file's bytes now, those of its last sync, and the changes since: an offset and bytes, or a size and None."""

    content: bytearray = field(default_factory=bytearray)
    synced: bytes = b""
    pending: list[tuple[int, bytes | None]] = field(default_factory=list)

    def change(self, offset: int, content: bytes | None) -> None:
        """Write, or change the size."""
        _apply(self.content, offset, content)
        self.pending.append((offset, content))

    def sync(self) -> None:
        """Let the disk have it."""
        self.synced = bytes(self.content)
        self.pending.clear()

    def left(self, cut: Cut, chance: random.Random) -> bytes:
        """Return what is there after a cut."""
        found = bytearray(self.synced)
        if cut is Cut.MIXED:
            for offset, content in self.pending:
                if chance.random() < 0.5:
                    torn = (
                        content
                        if content is None or chance.random() < 0.7
                        else content[: SECTOR * chance.randint(0, 8)]
                    )
                    _apply(found, offset, torn)
        return bytes(found)


@dataclass
class Link:
    """A symbolic link."""

    target: str


@dataclass
class Folder:
    """A folder's names now, and those of its last sync."""

    names: dict[str, Node] = field(default_factory=dict)
    synced: dict[str, Node] = field(default_factory=dict)

    def sync(self) -> None:
        """Let the disk have the names."""
        self.synced = dict(self.names)


Node: TypeAlias = "File | Folder | Link"


class Disk:
    """A folder and all below it; what is there at the beginning is safe."""

    def __init__(self, root: Path) -> None:
        self._root = root.resolve()
        self._inodes: dict[int, File] = {}
        self._top = self._loaded(self._root)

    def apply(self, event: Event) -> None:
        """Do what a program did."""
        match event.kind:
            case "c":
                folder, name = self._place(event.path)
                self._inodes[event.inode] = folder.names[name] = File()
            case "w":
                self._file(event).change(event.offset, event.content)
            case "t":
                self._file(event).change(event.offset, None)
            case "s":
                self._file(event).sync()
            case "d":
                self._folder(Path(event.path)).sync()
            case "m":
                folder, name = self._place(event.path)
                folder.names[name] = Folder()
            case "y":
                folder, name = self._place(event.path)
                folder.names[name] = Link(event.other)
            case "u":
                folder, name = self._place(event.path)
                folder.names.pop(name, None)
            case "r" | "l":
                self._move(event)

    def write(self, target: Path, cut: Cut, chance: random.Random) -> None:
        """Make the folder as it is after a power cut."""
        self._write(self._top, target, cut, chance)

    def _move(self, event: Event) -> None:
        node: Node = File()  # what comes from another disk is not known here, and not synced
        if event.path:
            folder, name = self._place(event.path)
            node = folder.names[name]
            if event.kind == "r":
                del folder.names[name]
        if event.other:
            folder, name = self._place(event.other)
            folder.names[name] = node

    def _file(self, event: Event) -> File:
        """Return a file by its number; one that had been removed before is of no interest."""
        return self._inodes.setdefault(event.inode, File())

    def _place(self, path: str) -> tuple[Folder, str]:
        return self._folder(Path(path).parent), Path(path).name

    def _folder(self, path: Path) -> Folder:
        found: Node = self._top
        for part in path.relative_to(self._root).parts:
            found = found.names[part] if isinstance(found, Folder) else Folder()
        return found if isinstance(found, Folder) else Folder()

    def _loaded(self, path: Path) -> Folder:
        found = Folder()
        for entry in path.iterdir():
            if entry.is_symlink():
                found.names[entry.name] = Link(str(entry.readlink()))
            elif entry.is_dir():
                found.names[entry.name] = self._loaded(entry)
            else:
                file = File(bytearray(entry.read_bytes()))
                file.sync()
                self._inodes[entry.stat().st_ino] = found.names[entry.name] = file
        found.sync()
        return found

    def _write(self, folder: Folder, target: Path, cut: Cut, chance: random.Random) -> None:
        target.mkdir(exist_ok=True, mode=0o700)
        with_names = cut is Cut.NAMES or (cut is Cut.MIXED and chance.random() < 0.5)
        for name, node in (folder.names if with_names else folder.synced).items():
            if isinstance(node, Folder):
                self._write(node, target / name, cut, chance)
            elif isinstance(node, Link):
                (target / name).symlink_to(node.target)
            else:
                (target / name).touch(mode=0o600)
                (target / name).write_bytes(node.left(cut, chance))


def _apply(content: bytearray, offset: int, piece: bytes | None) -> None:
    if piece is None:
        if offset > len(content):
            content.extend(bytes(offset - len(content)))
        del content[offset:]
        return
    if offset > len(content):
        content.extend(bytes(offset - len(content)))
    content[offset : offset + len(piece)] = piece
