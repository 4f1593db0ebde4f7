"""What sources mean at one moment.

Nothing is listed here: what sources mean is a flow of leaves, which costs what is taken from it.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

import msgspec

from acai_jupyter.contract.errors import BadRequest, FileNotFound
from acai_jupyter.contract.filesets import AsOf, Matching, Source, Without
from acai_jupyter.contract.specs import SetRef, Spec, encode_path, parse_spec
from acai_server.lake import patterns
from acai_server.lake.files import resolve
from acai_server.lake.flows import FIRST, LAST, Chunks, Flow, Paged, Range, Tree, among, listed
from acai_server.lake.joining import Difference, Filtered, Union, united

if TYPE_CHECKING:
    from collections.abc import Iterator

    from acai_jupyter.contract.ids import ProjectId
    from acai_server.db.filesets import StoredFileSet
    from acai_server.db.work import Work
    from acai_server.lake.counting import Amount
    from acai_server.lake.joining import Join
    from acai_server.lake.manifests import Leaf
    from acai_server.lake.sources import Sources

MAX_PARTS = 1000
"""So many sets, folders, patterns and differences may be in a request: each is open while the result flows by."""
_PAGES = (30, 1000)
"""So many files of a folder are read first, as many folders may wait for their turn, and then at a time."""


@dataclass(frozen=True)
class OneFile:
    """A file version."""

    leaf: Leaf
    pinned: str


@dataclass(frozen=True)
class PartOfSet:
    """A set, or what of it is below a folder."""

    stored: StoredFileSet
    within: Range
    pinned: str


@dataclass(frozen=True)
class Folder:
    """A folder of the project, or all of it, as it was after a commit."""

    path: str
    pinned: AsOf


Meaning = OneFile | PartOfSet | Folder


@dataclass
class Meanings:
    """What sources mean at one moment: while `work` lasts they flow."""

    work: Work
    project: ProjectId
    commit: int
    """The last commit of the project then."""
    must_live: bool
    """Whether a file that was deleted since cannot be meant."""
    sets: dict[SetRef, StoredFileSet] = field(default_factory=dict)
    """What the references stand for, in the order in which they are mentioned."""
    of: dict[str | AsOf, Meaning] = field(default_factory=dict)

    def __post_init__(self) -> None:
        records = self.work.file_sets
        self.chunks = Chunks(
            lambda chunk: records.chunk(self.project, chunk), lambda chunks: records.chunks(self.project, chunks)
        )

    @property
    def made_from(self) -> list[StoredFileSet]:
        """The set versions, each once."""
        return list({stored.id: stored for stored in self.sets.values()}.values())

    @property
    def amounts(self) -> dict[bytes, Amount]:
        """How much is in each manifest."""
        return {one.root: (one.public.file_count, one.public.size_bytes) for one in self.sets.values()}

    def flow(self, sources: list[Source], start: str = "", join: Join = Union) -> Flow:
        """Let the files of sources flow, from a path on; joined, where they are several."""
        return _Plan(self, join).flow(sources, Range(start))

    def pinned(self, sources: list[Source]) -> list[Source]:
        """Return sources with everything named by its version."""
        return [self._pinned(source) for source in sources]

    def _pinned(self, source: Source) -> Source:
        if isinstance(source, str | AsOf):
            return self.of[source].pinned
        if isinstance(source, Matching):
            return msgspec.structs.replace(source, of=self.pinned(source.of))
        return Without(self.pinned(source.of), self.pinned(source.without))


class _Plan:
    """Makes one flow of sources."""

    def __init__(self, meanings: Meanings, join: Join) -> None:
        self._meanings = meanings
        self._join = join
        self._parts = 0

    def flow(self, sources: list[Source], within: Range) -> Flow:
        flows: list[Flow] = []
        files: dict[str, Leaf] = {}
        for source in _once(sources):
            meaning = self._meanings.of[source] if isinstance(source, str | AsOf) else source
            if isinstance(meaning, OneFile):
                files[meaning.leaf[0]] = meaning.leaf
                continue
            if files:
                flows.append(listed(sorted(files.values()), within))
                files = {}
            self._parts += 1
            _limit(self._parts)
            flows.append(self._flow(meaning, within))
        if files:
            flows.append(listed(sorted(files.values()), within))
        return united(flows, self._join)

    def _flow(self, meaning: PartOfSet | Folder | Matching | Without, within: Range) -> Flow:
        if isinstance(meaning, PartOfSet):
            return Tree(self._meanings.chunks, meaning.stored.root, meaning.within.within(within))
        if isinstance(meaning, Folder):
            return Paged(self._listed(meaning, Range(meaning.path, meaning.path + LAST).within(within)))
        if isinstance(meaning, Matching):
            narrow, passes = patterns.choose(patterns.check(meaning.pattern))
            flow = self.flow(meaning.of, narrow.within(within))
            return flow if passes is None else Filtered(flow, passes)
        flow = self.flow(meaning.of, within)
        return Difference(flow, self.flow(meaning.without, within)) if meaning.without else flow

    def _listed(self, folder: Folder, within: Range) -> Iterator[list[Leaf]]:
        start, end = within
        limit, most = _PAGES
        files = self._meanings.work.files
        while start < end:
            rows = files.as_of(self._meanings.project, folder.pinned.commit, start, end, limit)
            if self._meanings.must_live:
                _refuse_deleted(rows)
            if rows:
                yield [leaf for leaf, _ in rows]
            if len(rows) < limit:
                return
            limit = most
            start = rows[-1][0][0] + FIRST


def look_up(work: Work, project: ProjectId, sources: Sources, *, must_live: bool) -> Meanings:
    """Find what sources mean, or say which of them means nothing."""
    found = Meanings(work, project, work.files.last_commit(project), must_live)
    by_set: dict[SetRef, list[tuple[str, Spec]]] = {}
    files: list[tuple[str, Spec]] = []
    for text, spec in sources.specs.items():
        if spec.file_set is None:
            files.append((text, spec))
        else:
            by_set.setdefault(spec.file_set, []).append((text, spec))
    _limit(len(by_set))
    for ref, named in by_set.items():
        found.sets[ref] = work.file_sets.find(project, ref)
        _look_into_set(found, found.sets[ref], named)
    _look_up_files(found, files)
    for folder in sources.folders:
        commit = min(folder.commit, found.commit)
        found.of[folder] = Folder(parse_spec(folder.spec).path, AsOf(folder.spec, commit))
    for given in sources.lists:
        _refuse_two_versions(found, given)
    return found


def _look_into_set(found: Meanings, stored: StoredFileSet, named: list[tuple[str, Spec]]) -> None:
    ref = SetRef(stored.public.name, stored.public.version)
    paths = sorted({spec.path for _, spec in named if not spec.is_folder})
    leaves = among(Tree(found.chunks, stored.root), paths)
    for text, spec in named:
        if spec.path in leaves:
            found.of[text] = OneFile(leaves[spec.path], str(Spec(spec.path, file_set=ref)))
            continue
        folder = spec.path.rstrip("/") + "/"
        within = Range() if folder == "/" else Range(folder, folder + LAST)
        if folder != "/" and Tree(found.chunks, stored.root, within).piece is None:
            resolve(found.work, found.project, text)  # says what is missing
        found.of[text] = PartOfSet(stored, within, str(Spec(folder, file_set=ref)))


def _look_up_files(found: Meanings, named: list[tuple[str, Spec]]) -> None:
    work, project = found.work, found.project
    single = [spec for _, spec in named if not spec.is_folder]
    latest = work.files.latest_of(project, [spec.path for spec in single if spec.version is None])
    numbered = work.files.numbered(project, {(spec.path, spec.version) for spec in single if spec.version is not None})
    folders = 0
    for text, spec in named:
        if spec.is_folder:
            leaf = None
        else:
            leaf = latest.get(spec.path) if spec.version is None else numbered.get((spec.path, spec.version))
        if leaf is not None:
            found.of[text] = OneFile(leaf, f"{encode_path(leaf[0])}:{leaf[1]}")
            continue
        folders += 1
        _limit(folders)
        root = resolve(work, project, text).root  # says what is missing
        found.of[text] = Folder(root, AsOf(encode_path(root), found.commit))


def _refuse_two_versions(found: Meanings, sources: list[Source]) -> None:
    """Of several versions of a file that one list names one by one, none is meant more than the others."""
    named: dict[str, tuple[int, str]] = {}
    for source in sources:
        if isinstance(source, Matching | Without):
            _refuse_two_versions(found, source.of)
        elif isinstance(meaning := found.of[source], OneFile):
            path, version, _, _ = meaning.leaf
            other, text = named.setdefault(path, (version, str(source)))
            if other != version:
                reason = f"two versions of one file are asked for, by '{text}' and by '{source}'; leave one out"
                raise BadRequest(reason=reason)


def _limit(count: int) -> None:
    if count > MAX_PARTS:
        raise BadRequest(
            reason=f"at most {MAX_PARTS:,} sets, folders, patterns and differences can be among the sources; "
            "make sets of some of them first"
        )


def _once(sources: list[Source]) -> list[Source]:
    """Leave out specs that come again later, where they win."""
    seen: set[str] = set()
    kept: list[Source] = []
    for source in reversed(sources):
        if isinstance(source, str):
            if source in seen:
                continue
            seen.add(source)
        kept.append(source)
    return kept[::-1]


def _refuse_deleted(rows: list[tuple[Leaf, bool]]) -> None:
    for (path, version, _, _), is_deleted in rows:
        if is_deleted:
            named = f"{encode_path(path)}:{version}"
            raise FileNotFound(path=named, hint=f" It was deleted; bring it back with acai rm --undo {named}.")
