"""Where a file version is from: back through the sets that it was taken over by, to the job or upload that wrote it."""

from __future__ import annotations

from typing import TYPE_CHECKING

from acai_jupyter.contract.errors import BadRequest, FileNotFound, FileSetNotFound
from acai_jupyter.contract.ids import Sha256
from acai_jupyter.contract.lineage import FileOrigin
from acai_jupyter.contract.specs import encode_path, parse_spec
from acai_jupyter.contract.states import ActionKind, InputRole
from acai_server.provenance.parts import public

if TYPE_CHECKING:
    from acai_jupyter.contract.filesets import Entry
    from acai_jupyter.contract.ids import ProjectId
    from acai_jupyter.contract.provenance import Action
    from acai_server.db.actions import StoredAction
    from acai_server.db.database import Database
    from acai_server.db.filesets import StoredFileSet
    from acai_server.db.graph import Written
    from acai_server.db.work import Work
    from acai_server.provenance.protocols import FileReader

MOST_SETS = 1000
"""Through so many sets a file is followed."""


class Origins:
    """Of the files of one database. `files` resolves specs."""

    def __init__(self, database: Database, files: FileReader) -> None:
        self._database = database
        self._files = files

    def find(self, project: ProjectId, text: str) -> FileOrigin:
        """Return the origin of the one file version that a spec names."""
        spec = parse_spec(text)
        if spec.is_folder:
            raise BadRequest(reason=f"'{text[:80]}' names no single file; write one like /model.bin@best:4")
        page = self._files.entries(project, text, "", 1)
        if not page.entries:
            raise FileNotFound(path=spec.path, hint="")
        entry = page.entries[0]
        with self._database.reading() as work:
            written = work.graph.written(project, entry.path, entry.version)
            stored = None if spec.file_set is None else work.file_sets.find(project, spec.file_set)
            action = _action(work, project, written)
        through = [] if stored is None else self._through(project, stored, entry)
        return FileOrigin(
            path=entry.path,
            version=entry.version,
            size_bytes=entry.size_bytes,
            sha256=Sha256(entry.sha256),
            creator=written.creator,
            created_at=written.created_at,
            through=through,
            action=action,
        )

    def _through(self, project: ProjectId, stored: StoredFileSet, entry: Entry) -> list[str]:
        """The sets that a file came through by creations, from the one asked for to the one it first was in."""
        through = [stored.public.ref]
        while len(through) < MOST_SETS:
            with self._database.reading() as work:
                earlier = _made_from(work, project, stored)
            found = next((one for one in earlier if self._holds(project, one, entry)), None)
            if found is None:
                break
            stored = found
            through.append(stored.public.ref)
        return through

    def _holds(self, project: ProjectId, stored: StoredFileSet, entry: Entry) -> bool:
        """Whether a set has just this version of the file. Of one that is deleted it cannot be said."""
        try:
            page = self._files.entries(project, f"{encode_path(entry.path)}@{stored.public.ref}", "", 1)
        except (FileNotFound, FileSetNotFound):
            return False
        return bool(page.entries) and page.entries[0].version == entry.version


def _made_from(work: Work, project: ProjectId, stored: StoredFileSet) -> list[StoredFileSet]:
    """The sets that a set was made from by a creation; the later ones count first."""
    made_by = work.graph.made_by([stored.id])
    for action in work.graph.actions(project, made_by.values()).values():
        if action.kind is ActionKind.CREATION:
            versions = [version for version, role in action.inputs if role is InputRole.DATA]
            sets = work.file_sets.by_id(versions)
            return [sets[version] for version in reversed(versions)]
    return []


def _action(work: Work, project: ProjectId, written: Written) -> Action | None:
    """The job that wrote a file, or the upload that made a set of it."""
    if written.job is not None:
        found = work.graph.of_job(project, written.job)
    else:
        stored = None if written.file_set is None else work.file_sets.find(project, written.file_set, or_deleted=True)
        found = None if stored is None else work.graph.made_by([stored.id]).get(stored.id)
    if found is None:
        return None
    actions = work.graph.actions(project, [found])
    return _shown(work, project, actions[found])


def _shown(work: Work, project: ProjectId, action: StoredAction) -> Action:
    named = [*(version for version, _ in action.inputs), *action.outputs]
    refs = {version: stored.public.ref for version, stored in work.file_sets.by_id(named).items()}
    return public(action, refs, work.graph.jobs(project, [action]).get(action.id))
