"""Burying versions of files that no file set needs, and bringing them back. Those that go with a set: `keeping.py`."""

from __future__ import annotations

from typing import TYPE_CHECKING

from acai_jupyter.contract.errors import AcaiError, BadRequest, Conflict
from acai_jupyter.contract.files import KeptFile, Removed, RemovedFiles
from acai_jupyter.contract.specs import encode_path, parse_spec
from acai_server.db import sight
from acai_server.lake.burying import load_in
from acai_server.lake.files import not_found, version_of
from acai_server.lake.holding import held

if TYPE_CHECKING:
    from acai_jupyter.contract.ids import ProjectId
    from acai_jupyter.contract.specs import Spec
    from acai_server.db.database import Database
    from acai_server.db.work import Work
    from acai_server.lake.holding import FileVersion


class Removals:
    """Versions of files by path."""

    def __init__(self, database: Database) -> None:
        self._database = database

    def remove(self, project: ProjectId, text: str, *, undo: bool) -> Removed:
        """Bury a version, or all versions of a file; or bring back what was buried."""
        [outcome] = self._outcomes(project, [text], undo=undo)
        if isinstance(outcome, AcaiError):
            raise outcome
        return outcome

    def remove_many(self, project: ProjectId, texts: list[str], *, undo: bool) -> RemovedFiles:
        """Do so with each of them, and say of those that are as they were why."""
        outcomes = self._outcomes(project, texts, undo=undo)
        return RemovedFiles(
            [one for one in outcomes if not isinstance(one, AcaiError)],
            [KeptFile(text, str(one)) for text, one in zip(texts, outcomes, strict=True) if isinstance(one, AcaiError)],
        )

    def _outcomes(self, project: ProjectId, texts: list[str], *, undo: bool) -> list[Removed | AcaiError]:
        """Mark all that can be, in one transaction; for each of the texts what became of it."""
        specs = [_spec_of(text) for text in texts]
        sight.refuse_paths([spec.path for spec in specs])
        with self._database.writing() as work:
            work.uploads.lock_project(project)
            outcomes = [_removable(work, project, spec, undo=undo) for spec in specs]
            if not undo:
                outcomes = _without_needed(work, project, outcomes)
            done = [one for one in outcomes if isinstance(one, Removed)]
            changed = _mark(work, project, done, undo=undo)
            if changed:
                kind = "files_restored" if undo else "files_removed"
                numbers = {"versions": changed[0].versions} if len(changed) == 1 else {}
                work.events.record(project, kind, _subject(changed), **numbers)
        return outcomes


def _spec_of(text: str) -> Spec:
    spec = parse_spec(text)
    if spec.file_set is not None or spec.is_folder:
        raise BadRequest(reason=f"'{text[:80]}' is not a file or one of its versions; only those can be deleted")
    return spec


def _removable(work: Work, project: ProjectId, spec: Spec, *, undo: bool) -> Removed | AcaiError:
    """Find which versions are meant, and leave out those whose bytes are gone."""
    try:
        numbers = _numbers(work, project, spec, buried=undo)
        if undo:
            numbers = _not_collected(work, project, spec.path, numbers)
    except AcaiError as error:
        return error
    return Removed(spec.path, numbers)


def _without_needed(work: Work, project: ProjectId, outcomes: list[Removed | AcaiError]) -> list[Removed | AcaiError]:
    """Refuse what a file set holds that is not deleted."""
    wanted = [(one.path, number) for one in outcomes if isinstance(one, Removed) for number in one.versions]
    found = held(set(work.file_sets.living(project).values()), wanted, load_in(work, project))
    return [one if isinstance(one, AcaiError) else _needed(work, project, one, found) or one for one in outcomes]


def _needed(work: Work, project: ProjectId, file: Removed, found: dict[FileVersion, bytes]) -> Conflict | None:
    number = next((number for number in sorted(file.versions) if (file.path, number) in found), None)
    if number is None:
        return None
    ref = work.file_sets.ref_of(project, found[file.path, number])
    where = "a file set that you do not see" if ref is None else f"file set {ref}"
    return Conflict(reason=f"'{file.path}:{number}' is in {where}")


def _mark(work: Work, project: ProjectId, files: list[Removed], *, undo: bool) -> list[Removed]:
    """Mark versions in the order of commits; returns the files of which that changed any."""
    commit = work.uploads.next_number(project) if files else 0
    now = work.clock.now()
    changed = [
        file for file in files if work.files.mark(project, file.path, file.versions, now, commit, deleted=not undo)
    ]
    with sight.everything():  # whoever holds it
        for file in changed:
            _tell_pending(work, project, file.path)
    return changed


def _subject(changed: list[Removed]) -> str:
    """Say which file it was, or how many versions of several."""
    versions = sum(len(file.versions) for file in changed)
    return encode_path(changed[0].path) if len(changed) == 1 else f"{versions} file versions"


def _numbers(work: Work, project: ProjectId, spec: Spec, *, buried: bool) -> list[int]:
    every = work.files.versions(project, spec.path, None, 1_000_000)
    if not every:
        raise not_found(work, project, spec.path, None)
    found = [one.version for one in every if (one.deleted_at is not None) == buried]
    if spec.version is None:
        return found
    if spec.version not in [one.version for one in every]:
        version_of(work, project, spec.path, spec.version)
    return [number for number in found if number == spec.version]


def _not_collected(work: Work, project: ProjectId, path: str, numbers: list[int]) -> list[int]:
    """Return those of the deleted versions whose bytes are still there; refuse when there were some and none is."""
    hashes = {one.version: bytes.fromhex(one.sha256) for one in work.files.versions(project, path, None, 1_000_000)}
    gone = work.blobs.missing(project, {hashes[number] for number in numbers})
    found = [number for number in numbers if hashes[number] not in gone]
    if numbers and not found:
        said = f"'{path}:{numbers[0]}'" if len(numbers) == 1 else f"all versions of '{path}'"
        raise Conflict(reason=f"the bytes of {said} were freed, as the deletion was too long ago; put the file again")
    return found


def _tell_pending(work: Work, project: ProjectId, path: str) -> None:
    """A pending session that counted on a version of this file makes its own if that is not the latest any more."""
    for session, entry in work.files.keepers(project, path):
        work.staging.hold_again(work.uploads.by_id(session), path, entry)
        work.uploads.changed(session)
