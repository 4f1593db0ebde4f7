"""Files and file sets as Python objects: `train | extra`, `train["/img/*.png"]`, `train.diff("train:3")`.

Operators only write down what is wanted. The server is asked when something is needed, and the versions that it finds
then for sets named without one hold from then on.
"""

from __future__ import annotations

from itertools import islice
from os import PathLike, fspath
from typing import TYPE_CHECKING, Any, NamedTuple

from acai_jupyter.client import downloads, filesets
from acai_jupyter.commands.differences import Diff
from acai_jupyter.commands.filesets import SHOWN, cells, counted
from acai_jupyter.commands.markup import bundle, table
from acai_jupyter.commands.units import ago
from acai_jupyter.contract import endpoints
from acai_jupyter.contract.errors import AcaiError, BadPath, BadRequest, FileNotFound
from acai_jupyter.contract.filesets import (
    MAX_SOURCES,
    AsOf,
    CreateFileSet,
    Entry,
    Matching,
    Resolved,
    ResolveSources,
    Without,
    check_extent,
)
from acai_jupyter.contract.specs import encode_path, normal_path

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence
    from datetime import datetime

    from acai_jupyter.client.downloads import Fetched
    from acai_jupyter.client.http import Client
    from acai_jupyter.contract.filesets import FileSet as Version
    from acai_jupyter.contract.filesets import Source

_WRITTEN = 10
"""So many sources of a long list are written out."""
_SURROGATES = range(0xD800, 0xE000)
"""No text that can be sent has one of these."""


class _Chosen(NamedTuple):
    """Sources, and how deep lists of them stand in each other."""

    sources: list[Source]
    depth: int = 1


class Files:
    """Files chosen from sets and specs. Iterating over it streams entries: path, version, size_bytes, sha256."""

    def __init__(self, client: Client, sources: Sequence[Source], depth: int = 1) -> None:
        check_extent(len(sources), depth)
        self._client = client
        self._sources = list(sources)
        self._depth = depth
        self._found: Resolved | None = None

    @property
    def sources(self) -> list[Source]:
        """What this was made of, as the API takes it; once the server was asked, with every set by its version."""
        return list(self._sources)

    @property
    def made_from(self) -> list[str]:
        """The file sets that the files are of."""
        return list(self._counted.made_from)

    @property
    def size_bytes(self) -> int:
        """The size of all files together."""
        return self._counted.size_bytes or 0

    @property
    def _counted(self) -> Resolved:
        if self._found is None or self._found.file_count is None:
            self._keep(self._page(limit=0, counted=True))
        assert self._found is not None
        return self._found

    def _page(self, *, limit: int, after: str = "", counted: bool = False) -> Resolved:
        asked = ResolveSources(self._sources, after, limit, counted)
        return self._client.call(endpoints.RESOLVE_SOURCES, asked)

    def _keep(self, page: Resolved) -> None:
        self._found, self._sources = page, list(page.pinned)

    def __len__(self) -> int:
        return self._counted.file_count or 0

    def __iter__(self) -> Iterator[Entry]:
        for page in filesets.resolve(self._client, self._sources):
            if self._found is None:
                self._keep(page)
            yield from page.entries

    def __contains__(self, item: object) -> bool:
        """Whether a path is there, or an entry with its version."""
        path = item.path if isinstance(item, Entry) else item
        if not isinstance(path, str) or not _is_path(path):
            return False
        found = self._at(path)
        return found is not None and (not isinstance(item, Entry) or found == item)

    def _at(self, path: str) -> Entry | None:
        page = self._page(limit=1, after=_just_before(path))
        return next((one for one in page.entries if one.path == path), None)

    def __or__(self, other: Files | str) -> Files:
        """Return both; for the same path, what `other` has."""
        added = self._chosen_by(other)
        return NotImplemented if added is None else Files(self._client, *_together(self._chosen, added))

    def __ror__(self, other: Files | str) -> Files:
        before = self._chosen_by(other)
        return NotImplemented if before is None else Files(self._client, *_together(before, self._chosen))

    def __sub__(self, other: Files | str) -> Files:
        """Return what is here and has a path that is not in `other`."""
        removed = self._chosen_by(other)
        return NotImplemented if removed is None else Files(self._client, *_less(self._chosen, removed))

    def __rsub__(self, other: Files | str) -> Files:
        before = self._chosen_by(other)
        return NotImplemented if before is None else Files(self._client, *_less(before, self._chosen))

    def __getitem__(self, pattern: str) -> Files:
        """Return the files whose paths fit: `/img/*.png`, `/img/**/*.png`, `/img/` for all below a folder."""
        if not isinstance(pattern, str):
            raise TypeError(f"files are chosen by a pattern like '/img/*.png', not by {type(pattern).__name__}")
        return Files(self._client, [Matching(self._sources, pattern)], self._depth + 1)

    @property
    def _chosen(self) -> _Chosen:
        return _Chosen(self.sources, self._depth)

    def _chosen_by(self, other: object) -> _Chosen | None:
        if isinstance(other, str):
            return _Chosen([filesets.spec_of(other)])
        if not isinstance(other, Files):
            return None
        if _place(other._client) != _place(self._client):  # noqa: SLF001 (its own class)
            raise BadRequest("These are of different projects. Get the files of one, and put them into the other.")
        return other._chosen  # noqa: SLF001 (its own class)

    def diff(self, other: Files | str) -> Diff:
        """Return how `other` differs from this: what was added to this, removed, changed and renamed."""
        after = self._chosen_by(other)
        if after is None:
            raise TypeError(f"files are compared with files or a spec, not with {type(other).__name__}")
        return Diff(self._client, (self._name, _name_of(other)), self._sources, after.sources)

    def create(self, name: str, *, note: str = "", if_changed: bool = False) -> FileSet:
        """Make the next version of a set of these files; with `if_changed` only if the newest holds something else."""
        request = CreateFileSet(name, self._sources, note, if_changed)
        return FileSet(self._client, self._client.call(endpoints.CREATE_FILE_SET, request).file_set)

    @property
    def _name(self) -> str:
        return written(self._sources)

    def __repr__(self) -> str:
        found = self._found
        known = found is not None and found.file_count is not None
        return f"Files({self._name})" + (f" · {counted(len(self), self.size_bytes)}" if known else "")

    def _repr_html_(self) -> str | None:
        try:
            return self._table(f"{self._name} · {counted(len(self), self.size_bytes)}")
        except AcaiError:  # the text says what it is; whoever uses it is told why that cannot be had
            return None

    def _table(self, caption: str) -> str:
        entries = self._page(limit=SHOWN).entries
        rows = [cells(one) for one in entries]
        rest = f"… {len(self) - len(entries):,} more" if len(self) > len(entries) else ""
        return table(caption, ["file", "version", "size"], rows, rest, "<>>")


class FileSet(Files):
    """One version of a file set. What it holds never changes."""

    def __init__(self, client: Client, version: Version) -> None:
        super().__init__(client, [f"@{version.ref}"])
        self._version = version

    @property
    def name(self) -> str:
        """The name that all versions have."""
        return self._version.name

    @property
    def version(self) -> int:
        """The number of this version."""
        return self._version.version

    @property
    def ref(self) -> str:
        """How people write it: `mnist:3`."""
        return self._version.ref

    @property
    def file_count(self) -> int:
        """How many files it has."""
        return self._version.file_count

    @property
    def size_bytes(self) -> int:
        """The size of all files together."""
        return self._version.size_bytes

    @property
    def made_from(self) -> list[str]:
        """This set itself: it is what its files are of. `acai.provenance` tells what it was made from."""
        return [self.ref]

    @property
    def note(self) -> str:
        """What people should know of it, in Markdown."""
        return self._version.note

    @property
    def aliases(self) -> list[str]:
        """The names that stood for it when it was asked for, beside 'latest'."""
        return list(self._version.aliases)

    @property
    def creator(self) -> str:
        """Who made it."""
        return self._version.creator

    @property
    def created_at(self) -> datetime:
        """When it was made."""
        return self._version.created_at

    @property
    def deleted_at(self) -> datetime | None:
        """When it was deleted, if it was."""
        return self._version.deleted_at

    def get(self, dest: str | PathLike[str], *, force: bool = False) -> Fetched:
        """Fetch its files below a folder; what is there and the same is not fetched again."""
        return downloads.get(self._client, f"@{self.ref}", fspath(dest), force=force)

    def __len__(self) -> int:
        return self.file_count

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, FileSet):
            return NotImplemented
        return (self.ref, _place(self._client)) == (other.ref, _place(other._client))

    def __hash__(self) -> int:
        return hash((self.ref, _place(self._client)))

    def _at(self, path: str) -> Entry | None:
        spec = f"{encode_path(path)}@{self.ref}"
        try:
            return self._client.call(endpoints.LIST_FILES, query={"spec": spec}).entries[0]
        except FileNotFound:
            return None

    @property
    def _name(self) -> str:
        return self.ref

    def __repr__(self) -> str:
        parts = [self.ref, counted(self.file_count, self.size_bytes), f"made {ago(self.created_at)} by {self.creator}"]
        parts += [f"aliases {', '.join(self.aliases)}"] if self.aliases else []
        return " · ".join([*parts, *(["deleted"] if self.deleted_at else [])])

    def _repr_html_(self) -> str | None:
        try:
            return self._table(repr(self))
        except AcaiError:
            return None

    def _repr_mimebundle_(self, **kwargs: Any) -> dict[str, Any]:
        del kwargs
        return bundle(self, "file-set", self._version)


def files_of(client: Client, chosen: str | Files | Iterable[str | Files]) -> Files:
    """Read what a set is to be made of."""
    several = [chosen] if isinstance(chosen, str | Files) else list(islice(chosen, MAX_SOURCES + 1))
    check_extent(len(several), 1)
    nothing, (sources, depth) = Files(client, []), _Chosen([])
    for one in several:
        added = nothing._chosen_by(one)  # noqa: SLF001 (its own module)
        if added is None:
            raise TypeError(f"a file set is made of specs, sets and files, not of {type(one).__name__}")
        sources += added.sources
        depth = max(depth, added.depth)
        check_extent(len(sources), depth)
    return Files(client, sources, depth)


def written(sources: Sequence[Source]) -> str:
    """Write sources as they are written in Python."""
    parts = [_written(one) for one in sources[:_WRITTEN]]
    return " | ".join([*parts, *(["…"] if len(sources) > _WRITTEN else [])])


def _written(source: Source) -> str:
    if isinstance(source, Without):
        return f"({_grouped(source.of)} - {_grouped(source.without)})"
    if isinstance(source, Matching):
        return f"{_grouped(source.of)}[{source.pattern!r}]"
    return source.spec if isinstance(source, AsOf) else source


def _grouped(sources: Sequence[Source]) -> str:
    return f"({written(sources)})" if len(sources) > 1 else written(sources)


def _name_of(other: Files | str) -> str:
    return other._name if isinstance(other, Files) else other.removeprefix("@")  # noqa: SLF001 (its own module)


def _together(first: _Chosen, then: _Chosen) -> _Chosen:
    return _Chosen([*first.sources, *then.sources], max(first.depth, then.depth))


def _less(chosen: _Chosen, removed: _Chosen) -> _Chosen:
    """`a - b - c` is `a - (b | c)`: however many follow, they do not stand inside each other."""
    inside = removed.depth + 1
    if len(chosen.sources) == 1 and isinstance(first := chosen.sources[0], Without):
        return _Chosen([Without(first.of, [*first.without, *removed.sources])], max(chosen.depth, inside))
    return _Chosen([Without(chosen.sources, removed.sources)], max(chosen.depth + 1, inside))


def _just_before(path: str) -> str:
    """Return a text behind which `path` is the first that can stand: U+10FFFF is in no path."""
    before = ord(path[-1]) - 1
    return f"{path[:-1]}{chr(before if before not in _SURROGATES else _SURROGATES[0] - 1)}\U0010ffff"


def _is_path(path: str) -> bool:
    try:
        normal_path(path)
    except BadPath:
        return False
    return True


def _place(client: Client) -> tuple[str, str]:
    return client.connection.url, client.connection.project or client.status.project
