"""File sets: reading them, and making the next version of one inside somebody's transaction."""

from __future__ import annotations

from functools import partial
from itertools import islice
from typing import TYPE_CHECKING

from acai_jupyter.contract.filesets import Entry, EntryPage, FileSet, FileSetPage
from acai_jupyter.contract.specs import parse_set
from acai_server.lake import manifests

if TYPE_CHECKING:
    from collections.abc import Iterator

    from acai_jupyter.contract.ids import ProjectId, UserId
    from acai_jupyter.contract.states import InputRole
    from acai_server.db.database import Database
    from acai_server.db.filesets import StoredFileSet
    from acai_server.db.work import Work


class FileSets:
    """Named, versioned, flat, immutable lists of file versions."""

    def __init__(self, database: Database) -> None:
        self._database = database

    def get(self, project: ProjectId, ref: str) -> FileSet:
        """Return one version of a set."""
        with self._database.reading() as work:
            return work.file_sets.find(project, parse_set(ref)).public

    def page(self, project: ProjectId, after: str, limit: int) -> FileSetPage:
        """Return the newest version of each set, by name."""
        with self._database.reading() as work:
            found = work.file_sets.newest(project, after, limit + 1)
        return FileSetPage(found[:limit], found[limit - 1].name if len(found) > limit else None)

    def entries(self, project: ProjectId, ref: str, after: str, limit: int) -> EntryPage:
        """Return a page of the file versions in a set."""
        with self._database.reading() as work:
            stored = work.file_sets.find(project, parse_set(ref))
            found = list(islice(read(work, project, stored, after), limit + 1))
        return EntryPage(found[:limit], found[limit - 1].path if len(found) > limit else None)


def read(work: Work, project: ProjectId, stored: StoredFileSet, after: str = "") -> Iterator[Entry]:
    """Iterate over the entries of a stored file set."""
    return manifests.entries(stored.root, partial(work.file_sets.chunk, project), after)


def add_version(
    work: Work, project: ProjectId, user: UserId, name: str, role: InputRole, entries: list[Entry]
) -> StoredFileSet:
    """Make the next version of a name, with these entries."""
    ordered = sorted(entries, key=lambda entry: entry.path)
    manifest = manifests.build(ordered)
    work.file_sets.add_chunks(project, manifest.chunks)
    stored = work.file_sets.add(
        project,
        user,
        name,
        role,
        root=manifest.root,
        file_count=len(ordered),
        size_bytes=sum(entry.size_bytes for entry in ordered),
        now=work.clock.now(),
    )
    work.events.record(project, "file_set_created", stored.public.ref, files=stored.public.file_count)
    return stored


def root_of(entries: list[Entry]) -> bytes:
    """Return the root that a set of these entries has."""
    return manifests.build(sorted(entries, key=lambda entry: entry.path)).root
