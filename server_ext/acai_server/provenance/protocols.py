"""What questions to the graph want of other services; `app.py` hands it in."""

from __future__ import annotations

from typing import TYPE_CHECKING, Protocol

if TYPE_CHECKING:
    from acai_jupyter.contract.filesets import CompareSources, Comparison, EntryPage
    from acai_jupyter.contract.ids import ProjectId


class FileReader(Protocol):
    """Knows which file versions a spec names."""

    def entries(self, project: ProjectId, spec: str, after: str, limit: int) -> EntryPage:
        """Return the file versions that a spec names; raises when what it names is not there."""
        ...


class Comparer(Protocol):
    """Knows how contents differ."""

    def compare(self, project: ProjectId, request: CompareSources) -> Comparison:
        """Return how the files of some sources differ from those of others; raises when a set is not there."""
        ...
