"""Burying versions of files that no file set needs, and bringing them back. Those that go with a set: `keeping.py`."""

from __future__ import annotations

from typing import TYPE_CHECKING

from acai_jupyter.contract.errors import AcaiError, BadRequest, Conflict, FileNotFound
from acai_jupyter.contract.files import KeptFile, Removed, RemovedFiles
from acai_jupyter.contract.specs import encode_path, parse_spec
from acai_server.db import sight
from acai_server.lake.burying import load_in
from acai_server.lake.files import not_found
from acai_server.lake.holding import held

if TYPE_CHECKING:
    from acai_jupyter.contract.ids import ProjectId
    from acai_jupyter.contract.specs import Spec
    from acai_server.db.burials import KnownVersion
    from acai_server.db.database import Database
    from acai_server.db.work import Work
    from acai_server.lake.holding import FileVersion

    Known = dict[str, list[KnownVersion]]


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
            known = work.burials.versions(project, {spec.path for spec in specs})
            outcomes = [_meant(work, project, spec, known, undo=undo, is_alone=len(specs) == 1) for spec in specs]
            check = _without_collected if undo else _without_needed
            outcomes = check(work, project, outcomes, known)
            done = [one for one in outcomes if isinstance(one, Removed) and one.versions]
            if done:
                _mark(work, project, done, known, undo=undo)
                kind = "files_restored" if undo else "files_removed"
                numbers = {"versions": done[0].versions} if len(done) == 1 else {}
                work.events.record(project, kind, _subject(done), **numbers)
        return outcomes


def _spec_of(text: str) -> Spec:
    spec = parse_spec(text)
    if spec.file_set is not None or spec.is_folder:
        raise BadRequest(reason=f"'{text[:80]}' is not a file or one of its versions; only those can be deleted")
    return spec


def _meant(
    work: Work, project: ProjectId, spec: Spec, known: Known, *, undo: bool, is_alone: bool
) -> Removed | AcaiError:
    """Find which versions are meant. What a path may have been meant to be is looked for where it is the only one."""
    every = known.get(spec.path, [])
    numbers = [one.version.number for one in reversed(every) if one.is_deleted == undo]
    if not every:
        return not_found(work, project, spec.path, None) if is_alone else FileNotFound(path=spec.path, hint="")
    if spec.version is None:
        return Removed(spec.path, numbers)
    if spec.version not in [one.version.number for one in every]:
        alive = [one.version.number for one in every if not one.is_deleted]
        hint = f" The latest is '{spec.path}:{alive[-1]}'." if alive else ""
        return FileNotFound(path=f"{spec.path}:{spec.version}", hint=hint)
    return Removed(spec.path, [number for number in numbers if number == spec.version])


def _without_collected(
    work: Work, project: ProjectId, outcomes: list[Removed | AcaiError], known: Known
) -> list[Removed | AcaiError]:
    """Leave out those whose bytes are gone; refuse a file of which there were some and none is."""
    hashes = {(path, one.version.number): one.sha256 for path, every in known.items() for one in every}
    wanted = {hashes[one.path, number] for one in outcomes if isinstance(one, Removed) for number in one.versions}
    gone = work.blobs.missing(project, wanted)

    def left(file: Removed) -> Removed | AcaiError:
        found = [number for number in file.versions if hashes[file.path, number] not in gone]
        if found or not file.versions:
            return Removed(file.path, found)
        alone = len(file.versions) == 1
        said = f"'{file.path}:{file.versions[0]}'" if alone else f"all versions of '{file.path}'"
        return Conflict(reason=f"the bytes of {said} were freed, as the deletion was too long ago; put the file again")

    return [one if isinstance(one, AcaiError) else left(one) for one in outcomes]


def _without_needed(
    work: Work, project: ProjectId, outcomes: list[Removed | AcaiError], _: Known
) -> list[Removed | AcaiError]:
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


def _mark(work: Work, project: ProjectId, files: list[Removed], known: Known, *, undo: bool) -> None:
    """Mark versions in the order of commits; pending sessions that counted on one make their own."""
    wanted = {(file.path, number) for file in files for number in file.versions}
    every = (one.version for versions in known.values() for one in versions)
    versions = [one for one in every if (one.path, one.number) in wanted]
    work.burials.mark(versions, None if undo else work.clock.now(), work.uploads.next_number(project))
    with sight.everything():  # whoever holds it
        for session, entry in work.files.keepers(project, {path for path, _ in wanted}):
            work.staging.hold_again(work.uploads.by_id(session), entry.path, entry)
            work.uploads.changed(session)


def _subject(changed: list[Removed]) -> str:
    """Say which file it was, or how many versions of several."""
    versions = sum(len(file.versions) for file in changed)
    return encode_path(changed[0].path) if len(changed) == 1 else f"{versions} file versions"
