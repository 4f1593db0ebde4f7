"""What a job is given: its specs resolved to versions of file sets, and checked against each other."""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING

from acai_jupyter.contract.jobs import VARIABLES_FOLDER
from acai_jupyter.contract.specs import parse_input, parse_set
from acai_jupyter.contract.states import InputRole
from acai_server.db.filesets import StoredFileSet
from acai_server.engine import claims, memo
from acai_server.engine.claims import Source

if TYPE_CHECKING:
    from collections.abc import Iterator

    from acai_jupyter.contract.filesets import Entry
    from acai_jupyter.contract.ids import JobNumber, ProjectId, UserId
    from acai_jupyter.contract.jobs import CreateJob
    from acai_server.db.database import Database
    from acai_server.db.work import Work
    from acai_server.engine.protocols import FileSetStore, Merged


@dataclass(frozen=True)
class Given:
    """What was found: one whole set as it is, or what several specs hold together; the code; the variables."""

    data: StoredFileSet | Merged | None
    code: StoredFileSet | None
    variables: StoredFileSet | None = None

    def each(self) -> tuple[StoredFileSet | Merged | None, ...]:
        """Return all three, in the order of the parts of `memo`."""
        return self.data, self.code, self.variables


@dataclass(frozen=True)
class Beside:
    """What is still with who submits, of a job that is only planned."""

    code: Source | None = None
    variables: Source | None = None


@dataclass
class InputReader:
    """Reads inputs in somebody's transaction."""

    database: Database
    store: FileSetStore
    work: Work
    project: ProjectId

    def look_up(self, request: CreateJob, beside: Beside) -> Given:
        """Resolve the inputs and the code of a request; refuse what differs about a path, also beside them."""
        found = Given(self._data(request.inputs), self._set(request.code), self._set(request.variables))
        kept_free = {request.output_folder: "the outputs"}
        if found.variables is not None or beside.variables is not None:
            kept_free[VARIABLES_FOLDER] = "variables"
        of_code = [] if beside.code is None else [beside.code]
        claims.check([*self._sources(found, request), *of_code], kept_free)
        return found

    def entries(self, given: StoredFileSet | Merged, after: str = "") -> Iterator[Entry]:
        """Iterate over files that a job is given."""
        if isinstance(given, StoredFileSet):
            return self.store.read(self.work, self.project, given, after)
        return given.entries(after)

    def content(self, given: StoredFileSet | Merged) -> str:
        """Return what stands for files in the hash of a job."""
        count = given.public.file_count if isinstance(given, StoredFileSet) else given.file_count
        return memo.content_of_many(count, given.root, self.entries(given))

    def _set(self, ref: str | None) -> StoredFileSet | None:
        return None if ref is None else self.work.file_sets.find(self.project, parse_set(ref))

    def _data(self, specs: list[str]) -> StoredFileSet | Merged | None:
        if not specs:
            return None
        parsed = [parse_input(text) for text in specs]
        only = parsed[0]
        if len(parsed) == 1 and only.file_set is not None and only.path == "/":
            return self.work.file_sets.find(self.project, only.file_set)
        return self.store.merge(self.database, self.work, self.project, list(map(str, parsed)), claims.differs)

    def _sources(self, given: Given, request: CreateJob) -> Iterator[Source]:
        if given.data is not None:
            yield self._source(given.data, "/")
        if given.code is not None:
            yield self._source(given.code, request.code_root.rstrip("/") + "/")

    def _source(self, given: StoredFileSet | Merged, folder: str) -> Source:
        if isinstance(given, StoredFileSet):
            return Source(given.public.ref, given.public.file_count, partial(self.entries, given), folder)
        return Source("the inputs", given.file_count, given.entries, folder)


def keep(work: Work, user: UserId, number: JobNumber, given: Given) -> list[tuple[StoredFileSet, InputRole]]:
    """Return the sets of a job, the implicit one made now, in the transaction that makes the job."""
    sets: list[tuple[StoredFileSet, InputRole]] = []
    if given.data is not None:
        data = given.data
        if not isinstance(data, StoredFileSet):
            data = data.add(work, user, f"job-{number}-input")
        sets.append((data, InputRole.DATA))
    if given.code is not None:
        sets.append((given.code, InputRole.CODE))
    if given.variables is not None:
        sets.append((given.variables, InputRole.VARIABLES))
    return sets
