"""Making file sets of sources, and asking what sources are and how they differ."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import islice
from typing import TYPE_CHECKING, Any

import msgspec

from acai_jupyter.contract import decoding
from acai_jupyter.contract.errors import Conflict
from acai_jupyter.contract.filesets import Comparison, CreatedFileSet, Resolved, check_files, check_note
from acai_jupyter.contract.specs import SetRef, check_name
from acai_jupyter.contract.states import ActionKind, InputRole
from acai_server.db import sight
from acai_server.lake import comparing
from acai_server.lake.counting import Count
from acai_server.lake.filesets import add_root
from acai_server.lake.flows import FIRST
from acai_server.lake.manifests import Builder, entry_of
from acai_server.lake.meanings import Folder, OneFile, PartOfSet, look_up
from acai_server.lake.sources import Sources

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from acai_jupyter.contract.filesets import CompareSources, CreateFileSet, ResolveSources, Source
    from acai_jupyter.contract.ids import ProjectId, UserId
    from acai_server.db.database import Database
    from acai_server.db.filesets import StoredFileSet
    from acai_server.db.work import Work
    from acai_server.lake.comparing import Change
    from acai_server.lake.flows import Flow
    from acai_server.lake.meanings import Meaning, Meanings

TRIES = 3
"""So often what was resolved may have changed before the project is locked while it is resolved."""
MAX_SOURCES_BYTES = 64 * 1024
"""So much of what a set was made of is kept with it, to make it again."""
FEW_CHUNKS = 100
FLUSH_CHUNKS = 4000
FEW = 5000
"""So many versions that others made are looked at to find out whether they are in a folder."""


@dataclass(frozen=True)
class Prepared:
    """A file set as it would be."""

    meanings: Meanings
    root: bytes
    file_count: int
    size_bytes: int
    chunks: dict[bytes, bytes]
    """Those that are still to be stored."""

    def keep_many(self, database: Database) -> None:
        """Store chunks before others have to wait for it, if they are many."""
        if len(self.chunks) > FEW_CHUNKS:
            _keep(database, self.meanings.project, self.chunks)

    def add(
        self, work: Work, project: ProjectId, user: UserId, name: str, sources: list[Source], note: str = ""
    ) -> StoredFileSet:
        """Make the next version of a name of it, and the action that says what it was made from."""
        work.file_sets.add_chunks(project, self.chunks, work.clock.now())
        counted = {"file_count": self.file_count, "size_bytes": self.size_bytes}
        made = add_root(work, project, user, name, InputRole.DATA, root=self.root, note=note, **counted)
        inputs = [(stored.id, InputRole.DATA) for stored in self.meanings.made_from]
        kept = self._told(sources)
        work.actions.add(project, user, ActionKind.CREATION, inputs, made.id, work.clock.now(), kept)
        return made

    def _told(self, sources: list[Source]) -> list[Any] | None:
        """The sources by their versions, so that the same can be made of others later; none when they are too many."""
        pinned = msgspec.json.encode(self.meanings.pinned(sources))
        return decoding.plain_json(pinned) if len(pinned) <= MAX_SOURCES_BYTES else None


class Composing:
    """File sets from sources."""

    def __init__(self, database: Database) -> None:
        self._database = database

    def create(self, project: ProjectId, user: UserId, request: CreateFileSet) -> CreatedFileSet:
        """Make the next version of a name. What takes long is done before others have to wait."""
        check_name(request.name)
        check_note(request.note)
        sources = Sources(request.sources)
        for _ in range(TRIES):
            with self._database.reading() as work:
                _check_role(work, project, request.name)
                meanings = look_up(work, project, sources, must_live=True)
                prepared = prepare(meanings, meanings.flow(sources.lists[0]), self._database)
            prepared.keep_many(self._database)
            with self._database.writing() as work:
                work.uploads.lock_project(project)
                if stands(work, sources, prepared.meanings):
                    return _finish(work, project, user, request, prepared)
        with self._database.writing() as work:
            work.uploads.lock_project(project)
            meanings = look_up(work, project, sources, must_live=True)
            return _finish(work, project, user, request, prepare(meanings, meanings.flow(sources.lists[0])))

    def resolve(self, project: ProjectId, request: ResolveSources) -> Resolved:
        """Return a page of what a file set of sources would hold, and what the sources are."""
        sources = Sources(request.sources)
        with self._database.reading() as work:
            meanings = look_up(work, project, sources, must_live=False)
            files, size = _counted(meanings, request) if request.counted else (None, None)
            after = request.after.partition("\0")[0]  # no path has one, and PostgreSQL takes none
            flow = meanings.flow(request.sources, after + FIRST if after else "")
            page = list(islice(flow.leaves(), request.limit + 1))
        shown = page[: request.limit]
        sight.look_into(leaf[0] for leaf in shown)
        return Resolved(
            entries=[entry_of(leaf) for leaf in shown],
            pinned=meanings.pinned(request.sources),
            made_from=_refs(meanings),
            next=(shown[-1][0] if shown else request.after) if len(page) > len(shown) else None,
            file_count=files,
            size_bytes=size,
        )

    def compare(self, project: ProjectId, request: CompareSources) -> Comparison:
        """Return how the files of some sources differ from those of others."""
        sources = Sources(request.before, request.after)
        with self._database.reading() as work:
            meanings = look_up(work, project, sources, must_live=False)

            def look() -> Iterator[Change]:
                return comparing.changes(meanings.flow(request.before), meanings.flow(request.after))

            summary, page, more = comparing.compare(look, request.start, request.limit)
        sight.look_into(one.path for found in page for one in (found.before, found.after) if one is not None)
        return Comparison(
            added=summary.added,
            removed=summary.removed,
            changed=summary.changed,
            renamed=summary.renamed,
            renumbered=summary.renumbered,
            differences=page,
            pinned_before=meanings.pinned(request.before),
            pinned_after=meanings.pinned(request.after),
            next=request.start + request.limit if more else None,
        )


def prepare(meanings: Meanings, flow: Flow, database: Database | None = None) -> Prepared:
    """Make the manifest of a flow; with a database, what would be too much to hold is stored there on the way."""
    chunks: dict[bytes, bytes] = {}

    def flush() -> None:
        if database is not None and len(chunks) >= FLUSH_CHUNKS and not database.is_in_memory:
            _keep(database, meanings.project, chunks)

    builder, count = Builder(chunks.__setitem__), Count()
    gather(flow, builder, count, flush)
    return Prepared(meanings, builder.root(), *count.amount(meanings.chunks, meanings.amounts), chunks)


def _keep(database: Database, project: ProjectId, chunks: dict[bytes, bytes]) -> None:
    """Store chunks ahead of the set. Those of one that is not made are garbage."""
    with database.writing() as work:
        work.file_sets.add_chunks(project, chunks, work.clock.now())
    chunks.clear()


def gather(flow: Flow, builder: Builder, count: Count, flush: Callable[[], None] = lambda: None) -> None:
    """Build the manifest of a flow, of chunks of the manifests it comes from where they fit."""
    while (piece := flow.piece) is not None:
        if piece.is_run:
            builder.extend(piece.leaves)
        elif builder.fits(piece.height) and not piece.is_tail:
            builder.take(piece.height, (piece.last, piece.chunk))
        else:
            flow.open()
            continue
        count.add(piece)
        flow.next()
        flush()


def _counted(meanings: Meanings, request: ResolveSources) -> tuple[int, int]:
    flow, count = meanings.flow(request.sources), Count()
    while flow.piece is not None:
        count.add(flow.piece)
        flow.next()
    return count.amount(meanings.chunks, meanings.amounts)


def _check_role(work: Work, project: ProjectId, name: str) -> None:
    known = work.file_sets.name(project, name)
    if known is not None and known.role is not InputRole.DATA:
        raise Conflict(reason=f"the name '{name}' is taken by a set of role {known.role.value}")


def stands(work: Work, sources: Sources, was: Meanings) -> bool:
    """Whether sources still mean what they meant, now that the project is locked."""
    project = was.project
    if any(work.file_sets.find(project, ref).id != stored.id for ref, stored in was.sets.items()):
        return False
    if work.files.last_commit(project) == was.commit:
        return True
    now = look_up(work, project, sources, must_live=True)
    if not all(_is_same(meaning, now.of[named]) for named, meaning in was.of.items()):
        return False
    folders = tuple(meaning.path for meaning in was.of.values() if isinstance(meaning, Folder))
    if not folders:
        return True
    if work.uploads.made_since(project, was.commit) > FEW:
        return False
    return not any(path.startswith(folders) for path in work.staging.touched(project, was.commit))


def _is_same(was: Meaning, now: Meaning) -> bool:
    """Whether a source means the same as before, as far as that can be seen without listing it."""
    if isinstance(was, OneFile):
        return was == now
    if isinstance(was, Folder):
        return isinstance(now, Folder) and now.path == was.path
    return isinstance(now, PartOfSet) and now.within == was.within


def _finish(work: Work, project: ProjectId, user: UserId, request: CreateFileSet, prepared: Prepared) -> CreatedFileSet:
    check_files(prepared.file_count)
    _check_role(work, project, request.name)
    made_from = _refs(prepared.meanings)
    latest = _latest(work, project, request.name) if request.if_changed else None
    if latest is not None and latest.root == prepared.root:
        return CreatedFileSet(latest.public, is_new=False, made_from=made_from)
    made = prepared.add(work, project, user, request.name, request.sources, request.note)
    return CreatedFileSet(made.public, is_new=True, made_from=made_from)


def _latest(work: Work, project: ProjectId, name: str) -> StoredFileSet | None:
    known = work.file_sets.name(project, name)
    return work.file_sets.find(project, SetRef(name)) if known is not None and known.latest else None


def _refs(meanings: Meanings) -> list[str]:
    return [stored.public.ref for stored in meanings.made_from]
