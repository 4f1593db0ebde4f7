"""Whether objects may be deleted now: the lake asks, and the composition root says by what that is decided."""

from __future__ import annotations

from typing import Protocol


class DeletionGuard(Protocol):
    """What every deletion of objects asks first. Thread-safe."""

    def look(self) -> None:
        """Check again whether objects may be deleted."""
        ...

    def check(self) -> None:
        """Raise `DeletionPaused` unless objects may be deleted. Cheap enough to be asked for each page."""
        ...


class AlwaysAllowed:
    """For a store that no other database can reach."""

    def look(self) -> None:
        """See the protocol."""

    def check(self) -> None:
        """See the protocol."""
