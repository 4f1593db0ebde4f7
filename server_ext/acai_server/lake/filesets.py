"""File sets: reading them, and making the next version of one inside somebody's transaction."""

from __future__ import annotations

from itertools import islice
from typing import TYPE_CHECKING, Any

from acai_jupyter.contract.errors import BadRequest, Outdated
from acai_jupyter.contract.filesets import Entry, EntryPage, FileSet, FileSetPage, VersionsPage, check_note
from acai_jupyter.contract.specs import parse_set
from acai_server.db import sight
from acai_server.lake import manifests

if TYPE_CHECKING:
    from collections.abc import Iterator

    from acai_jupyter.contract.ids import ProjectId, UserId
    from acai_jupyter.contract.states import InputRole
    from acai_server.db.database import Database
    from acai_server.db.filesets import NamedFileSet, StoredFileSet
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

    def versions(self, project: ProjectId, text: str, before: int | None, limit: int) -> VersionsPage:
        """Return the versions of a name, the deleted ones too, the newest first."""
        with self._database.reading() as work:
            name = named(work, project, text, "versions belong to a name")
            found = [stored.public for stored in work.file_sets.versions(name.id, before, limit + 1)]
        return VersionsPage(found[:limit], found[limit - 1].version if len(found) > limit else None)

    def set_note(self, project: ProjectId, ref: str, note: str, expect: str | None = None) -> FileSet:
        """Change the note of a version; only from another, if one is given."""
        check_note(note)
        check_note(expect or "")
        with self._database.writing() as work:
            stored = work.file_sets.find(project, parse_set(ref))
            sight.refuse_set(stored.public.name)
            if expect is not None or stored.public.note != note:
                if not work.file_sets.set_note(stored.id, note, expect):
                    found = work.file_sets.by_id([stored.id])[stored.id].public
                    raise Outdated.of("note", found.ref, "somebody", found.note or None)
                work.events.record(project, "file_set_changed", stored.public.ref)
            return work.file_sets.by_id([stored.id])[stored.id].public


def named(work: Work, project: ProjectId, text: str, reason: str) -> NamedFileSet:
    """Return a name that was given without a version, or say that there is none."""
    ref = parse_set(text)
    if ":" in text:
        raise BadRequest(reason=f"{reason}: write '{ref.name}' without ':{text.partition(':')[2]}'")
    name = work.file_sets.name(project, ref.name)
    if name is None:
        work.file_sets.find(project, ref)
    assert name is not None
    return name


def read(work: Work, project: ProjectId, stored: StoredFileSet, after: str = "") -> Iterator[Entry]:
    """Iterate over the entries of a stored file set."""
    chunks = Chunks(work, project)
    return manifests.entries(stored.root, chunks, after, ahead=chunks.ahead)


class Chunks:
    """Loads chunks of manifests, those that come next many at a time."""

    def __init__(self, work: Work, project: ProjectId) -> None:
        self._work = work
        self._project = project
        self._next: dict[bytes, bytes] = {}

    def __call__(self, sha256: bytes) -> bytes:
        """Return one chunk."""
        return self._next.pop(sha256, None) or self._work.file_sets.chunk(self._project, sha256)

    def ahead(self, hashes: list[bytes]) -> None:
        """Load what comes next."""
        self._next |= self._work.file_sets.chunks(self._project, hashes)


def add_version(
    work: Work, project: ProjectId, user: UserId, name: str, role: InputRole, entries: list[Entry]
) -> StoredFileSet:
    """Make the next version of a name, with these entries."""
    ordered = sorted(entries, key=lambda entry: entry.path)
    chunks: dict[bytes, bytes] = {}
    root = manifests.build(ordered, chunks.__setitem__)
    work.file_sets.add_chunks(project, chunks, work.clock.now())
    size = sum(entry.size_bytes for entry in ordered)
    return add_root(work, project, user, name, role, root=root, file_count=len(ordered), size_bytes=size)


def add_root(
    work: Work,
    project: ProjectId,
    user: UserId,
    name: str,
    role: InputRole,
    **counted: Any,
) -> StoredFileSet:
    """Make the next version of a name, of a manifest that is stored: its root, count of files, size, and a note."""
    check_note(counted.get("note", ""))
    stored = work.file_sets.add(project, user, name, role, now=work.clock.now(), **counted)
    borders = work.restricted.borders(project)
    if borders is not None:
        inside = [row for row, folder in borders.folders.items() if _holds(work, project, stored, folder)]
        work.restricted.made(stored.id, inside)
    work.events.record(project, "file_set_created", stored.public.ref, files=stored.public.file_count)
    return stored


def _holds(work: Work, project: ProjectId, stored: StoredFileSet, folder: str) -> bool:
    """Whether a file set has files below a folder, which ends in '/'."""
    first = next(read(work, project, stored, folder), None)
    return first is not None and first.path.startswith(folder)
