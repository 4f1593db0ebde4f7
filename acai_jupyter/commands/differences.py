"""How two contents differ, as a Python object."""

from __future__ import annotations

from functools import cached_property
from itertools import chain
from typing import TYPE_CHECKING, Any

from acai_jupyter.client import filesets
from acai_jupyter.commands.diff import HTML_ROWS, by_kind, count, counts, summary, table_of
from acai_jupyter.commands.markup import block, bundle, title
from acai_jupyter.contract.filesets import Difference, DifferenceKind, Entry

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from acai_jupyter.client.http import Client
    from acai_jupyter.contract.filesets import Source


class Diff:
    """What became of some files: true when anything differs, and iterating over it streams the differences by path."""

    def __init__(
        self, client: Client, names: tuple[str, str], before: Sequence[Source], after: Sequence[Source]
    ) -> None:
        self._client = client
        self._names = names
        self._first = next(filesets.compare(client, before, after))

    @property
    def counts(self) -> dict[str, int]:
        """How many files were added, removed, changed and renamed."""
        return {kind.value: number for kind, number in counts(self._first).items()}

    @property
    def renumbered(self) -> int:
        """How many have the same bytes under another version number, which is no difference."""
        return self._first.renumbered

    @property
    def added(self) -> list[Entry]:
        """What is there now, and was not."""
        return [one.after for one in self._listed if one.kind is DifferenceKind.ADDED and one.after]

    @property
    def removed(self) -> list[Entry]:
        """What was there, and is not."""
        return [one.before for one in self._listed if one.kind is DifferenceKind.REMOVED and one.before]

    @property
    def changed(self) -> list[tuple[Entry, Entry]]:
        """What has other bytes: what it was, and what it is."""
        return self._pairs(DifferenceKind.CHANGED)

    @property
    def renamed(self) -> list[tuple[Entry, Entry]]:
        """What has another path: what it was, and what it is."""
        return self._pairs(DifferenceKind.RENAMED)

    def _pairs(self, kind: DifferenceKind) -> list[tuple[Entry, Entry]]:
        return [(one.before, one.after) for one in self._listed if one.kind is kind and one.before and one.after]

    @cached_property
    def _listed(self) -> list[Difference]:
        return list(self)

    def __iter__(self) -> Iterator[Difference]:
        first = self._first
        if first.next is None:
            return iter(first.differences)
        rest = filesets.compare(self._client, first.pinned_before, first.pinned_after, start=first.next)
        return chain(first.differences, (one for page in rest for one in page.differences))

    def __len__(self) -> int:
        return count(self._first)

    def __repr__(self) -> str:
        if not self:
            return f"{self._title}: no difference"
        return "\n".join([self._title, *by_kind(self._first, "iterate over it")])

    def _repr_html_(self) -> str:
        heading = title(f"{self._title}: {summary(self._first)}")
        return block("diff", heading, table_of(self._first, HTML_ROWS) if self else "")

    def _repr_mimebundle_(self, **kwargs: Any) -> dict[str, Any]:
        del kwargs
        return bundle(self, "comparison", self._first)

    @property
    def _title(self) -> str:
        return " → ".join(self._names)
