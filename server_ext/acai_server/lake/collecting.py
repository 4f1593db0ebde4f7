"""One collection: what it is to find, what it found, and its steps one after the other."""

from __future__ import annotations

import threading
from dataclasses import dataclass, field
from datetime import timedelta
from typing import TYPE_CHECKING

from acai_jupyter.contract.errors import DatabaseBroken
from acai_jupyter.contract.garbage import Garbage, GarbageKind

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable
    from datetime import datetime

    from acai_jupyter.contract.garbage import UnknownObject
    from acai_jupyter.contract.ids import ProjectId
    from acai_server.db.database import Database
    from acai_server.db.work import Work
    from acai_server.lake.deletion_guard import DeletionGuard
    from acai_server.objects.protocol import ObjectStore

EXAMPLES = 5


@dataclass(frozen=True)
class Terms:
    """How long what stays, and what is worth the work."""

    grace: timedelta = timedelta(days=7)
    """So long what was deleted can be brought back."""
    urls: timedelta = timedelta(hours=25)
    """After so long no URL that was given leads anywhere any more."""
    chunks: timedelta = timedelta(days=1)
    """So long a piece of a manifest stays that nothing refers to: a file set in the making may lean on it."""
    bases: timedelta = timedelta(days=30)
    """So long a later upload may be based on an earlier one …"""
    superseded: timedelta = timedelta(days=1)
    """… and so long still when there is one over it."""
    dead_bytes: int = 64 * 1024
    """A pack with fewer dead bytes is not moved."""
    pack_bytes: int = 32 * 1024 * 1024
    """Where contents are moved to a new pack, it gets about so large."""
    at_once: int = 500_000
    """So many contents are looked at together: each that is dead takes some hundred bytes of memory."""


class Stopped(Exception):
    """The server is about to end."""


class Report:
    """What was found so far, by kind. Thread-safe."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._found: dict[GarbageKind, Garbage] = {}
        self._unknown: list[UnknownObject] = []
        self.step = "waiting for another collection to end"

    def add(self, kind: GarbageKind, count: int, size_bytes: int, examples: Iterable[str] = ()) -> None:
        """Add things of a kind."""
        if not count and not size_bytes:
            return
        with self._lock:
            before = self._found.get(kind, Garbage(kind, 0, 0))
            named = [*before.examples, *examples][:EXAMPLES]
            self._found[kind] = Garbage(kind, before.count + count, before.size_bytes + size_bytes, named)

    def show_unknown(self, objects: list[UnknownObject], most: int) -> None:
        """Add unknown objects, up to a number of them."""
        with self._lock:
            self._unknown += objects[: most - len(self._unknown)]

    def unknown(self) -> list[UnknownObject]:
        """Return the first of the unknown objects."""
        with self._lock:
            return list(self._unknown)

    def lacks_examples(self, kind: GarbageKind) -> bool:
        """Whether a kind could do with more examples."""
        with self._lock:
            return kind not in self._found or len(self._found[kind].examples) < EXAMPLES

    def garbage(self) -> list[Garbage]:
        """Return what was found, in the order of the kinds."""
        with self._lock:
            return [self._found[kind] for kind in GarbageKind if kind in self._found]


@dataclass(frozen=True)
class Run:
    """What the steps of one collection know."""

    database: Database
    objects: ObjectStore
    project: ProjectId
    terms: Terms
    is_dry: bool
    started_at: datetime
    report: Report
    guard: DeletionGuard
    stopped: threading.Event = field(default_factory=threading.Event)

    @property
    def cutoff(self) -> datetime:
        """What was deleted by then cannot be brought back."""
        return self.started_at - self.terms.grace

    def begin(self, step: str) -> None:
        """Say what is done next, for people."""
        self.go_on()
        self.report.step = step

    def go_on(self) -> None:
        """Raise when the server is about to end, or may not delete any more: between two pages is a good moment."""
        if self.stopped.is_set():
            raise Stopped
        if not self.is_dry:
            self.guard.check()

    def loader(self, work: Work, *, all_there: bool = True) -> Callable[[list[bytes]], dict[bytes, bytes]]:
        """Return what loads chunks of the project. Where one is missing that lives, nothing is known for sure."""

        def load(hashes: list[bytes]) -> dict[bytes, bytes]:
            self.go_on()
            found = work.sweeping.chunks(self.project, hashes)
            if all_there and len(found) < len(set(hashes)):
                raise DatabaseBroken(reason="a piece of the list of a file set is missing; nothing more was freed")
            return found

        return load
