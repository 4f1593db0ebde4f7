"""What clients meant to do and what they were told: what has to be there, and what may be."""

from __future__ import annotations

import threading
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

    from tests.kills.contents import Origin

Version = tuple[str, int]
"""Path and number."""


@dataclass
class Attempt:
    """Files that one client wants to commit together, all or none."""

    writer: str
    label: str
    """What the label of its session contains."""
    files: dict[str, Origin]
    removed: list[str] = field(default_factory=list)
    base: str | None = None
    only_changed: bool = True
    answers: list[dict[str, Any]] = field(default_factory=list)
    """What a commit answered."""
    aborted: list[str] = field(default_factory=list)
    """Sessions whose abort was answered."""

    @property
    def hashes(self) -> dict[str, str]:
        """What its sessions are to hold, base aside."""
        return {path: origin.sha256 for path, origin in self.files.items()}


class Oracle:
    """Thread-safe."""

    def __init__(self, say: Callable[[str], object]) -> None:
        self._say = say
        self._lock = threading.RLock()
        self.attempts: list[Attempt] = []
        self.origins: dict[str, Origin] = {}
        self.told: dict[Version, str] = {}
        self.buried: dict[Version, bool] = {}
        self.buried_sets: dict[str, bool] = {}
        """By ref."""
        self.files_go = False
        """Whether somebody deleted sets with their files, and so nobody knows which versions are still there."""
        self.brought_back: set[str] = set()
        """Sets that somebody wanted back, with those of their files that were deleted since."""
        self.violations: list[str] = []
        self.finished = 0
        """Lines that came to their end, after however many kills."""

    def wrong(self, what: str) -> None:
        """Note that something is as it must not be; once."""
        with self._lock:
            if what not in self.violations:
                self.violations.append(what)
                self._say(f"VIOLATION: {what}")

    def means(self, attempt: Attempt) -> None:
        """Take note of what a client is about to send."""
        with self._lock:
            self.attempts.append(attempt)
            self.origins |= {origin.sha256: origin for origin in attempt.files.values()}

    def tell(self, versions: Iterable[tuple[str, int, str]], who: str) -> None:
        """Take note of versions that somebody was told of: they never become others."""
        with self._lock:
            for path, number, sha256 in versions:
                known = self.told.setdefault((path, number), sha256)
                if known != sha256:
                    self.wrong(f"{path}:{number} was {known[:12]} and is {sha256[:12]} to {who}")

    def versions(self) -> list[Version]:
        """Return the versions that are known to be there."""
        with self._lock:
            return sorted(self.told)

    def bury(self, path: str, numbers: list[int], *, undo: bool) -> None:
        """Take note of what was deleted, or is back."""
        with self._lock:
            self.buried |= {(path, number): not undo for number in numbers}

    def bury_sets(self, refs: list[str], *, undo: bool) -> None:
        """Take note of sets that were deleted, or are back."""
        with self._lock:
            self.buried_sets |= dict.fromkeys(refs, not undo)
