"""What the engine wants of other services; `app.py` hands it in."""

from __future__ import annotations

from typing import TYPE_CHECKING, Protocol

if TYPE_CHECKING:
    from collections.abc import Iterator

    from acai_jupyter.contract.filesets import Entry
    from acai_jupyter.contract.ids import ProjectId, UserId
    from acai_jupyter.contract.states import InputRole
    from acai_server.db.filesets import StoredFileSet
    from acai_server.db.work import Work


class Prices(Protocol):
    """Knows what a share of a machine costs."""

    @property
    def version(self) -> int:
        """The price book's version, kept with each attempt."""
        ...

    def cost_usd(self, vcpu: float, memory_bytes: int, seconds: float) -> float:
        """Return the cost of holding so much for so long."""
        ...


class FileSetStore(Protocol):
    """Reads and makes file sets inside a transaction."""

    def read(self, work: Work, project: ProjectId, stored: StoredFileSet) -> Iterator[Entry]:
        """Iterate over a set's entries."""
        ...

    def add_version(
        self, work: Work, project: ProjectId, user: UserId, name: str, role: InputRole, entries: list[Entry]
    ) -> StoredFileSet:
        """Make the next version of a name."""
        ...
