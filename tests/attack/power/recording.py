"""Recording what programs do to a folder, by a library that is preloaded into them."""

from __future__ import annotations

import os
import shutil
import subprocess
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from tests.servers.process import ServerMissing

if TYPE_CHECKING:
    from collections.abc import Iterator

SOURCE = Path(__file__).with_name("recorder.c")
ACKNOWLEDGED = "a"


@dataclass(frozen=True)
class Event:
    """One change to the disk, one sync, or an acknowledgement whose label is the path."""

    kind: str
    inode: int
    offset: int
    path: str
    other: str
    content: bytes = b""


class Recorder:
    """The preloaded library and its journal."""

    def __init__(self, home: Path, disk: Path) -> None:
        compiler = shutil.which("cc")
        if compiler is None:
            raise ServerMissing("there is no C compiler")
        library = home / "recorder.so"
        subprocess.run([compiler, "-shared", "-fPIC", "-O1", "-o", str(library), str(SOURCE), "-ldl"], check=True)
        self.journal = home / "journal"
        self.fault = home / "fault"
        self.variables = {"LD_PRELOAD": str(library), "ATTACK_DISK": str(disk), "ATTACK_JOURNAL": str(self.journal)}

    def acknowledge(self, label: str) -> None:
        """Note that a success was reported to a user: it must survive from now on."""
        journal = os.open(self.journal, os.O_WRONLY | os.O_APPEND)
        try:
            os.write(journal, f"{ACKNOWLEDGED}\t0\t0\t0\t{label}\t\n".encode())
        finally:
            os.close(journal)

    def events(self) -> Iterator[Event]:
        """Read the journal."""
        with self.journal.open("rb") as journal:
            while head := journal.readline():
                kind, inode, offset, length, path, other = head.decode().rstrip("\n").split("\t")
                content = journal.read(int(length)) if kind == "w" else b""
                yield Event(kind, int(inode), int(offset), path, other, content)
