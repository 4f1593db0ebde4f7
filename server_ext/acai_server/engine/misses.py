"""Why no earlier result answered a job: in what it differs from the one that is most like it."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import msgspec

from acai_jupyter.contract.jobs import Miss, MissReport
from acai_jupyter.contract.states import InputRole
from acai_server.engine import memo

if TYPE_CHECKING:
    from acai_jupyter.contract.ids import FileSetVersionId
    from acai_server.db.filesets import StoredFileSet
    from acai_server.db.jobs import StoredJob
    from acai_server.db.work import Work
    from acai_server.engine.inputs import InputReader
    from acai_server.engine.protocols import FileSetStore

LOOKED_AT = 100
"""So many jobs that finished before are compared, the newest ones."""
SHOWN = 200
NAMED = 5
_PARTS = {InputRole.DATA: "input", InputRole.CODE: "code", InputRole.VARIABLES: "variables"}
_ARGUMENTS = {"input": "data"}
_NOTHING_LIKE_IT = (
    "There is nothing to compare it with: no job with the same program and the same names of parameters had finished "
    "before it."
)


@dataclass(frozen=True)
class Parts:
    """What a job's result depends on, and how sets among it are named to people."""

    values: dict[str, Any]
    names: dict[str, str]

    def shown(self, what: str) -> str:
        """Return a part for people."""
        value = self.names.get(what, self.values.get(what))
        text = value if isinstance(value, str) else msgspec.json.encode(value).decode()
        return text[:SHOWN] if value else "none"

    def differing(self, other: Parts) -> list[str]:
        """Return in what two jobs differ."""
        names = sorted(self.values.keys() | other.values.keys())
        return [name for name in names if self.values.get(name) != other.values.get(name)]


@dataclass
class _Reader:
    """Reads the parts of jobs; the content of a set that several have is read once."""

    inputs: InputReader
    contents: dict[bytes, str] = field(default_factory=dict)

    def parts(self, job: StoredJob) -> Parts:
        sets = self._sets(job)
        contents = {what: self._content(stored) for what, stored in sets.items()}
        values = memo.parts(job.request, **{_ARGUMENTS.get(what, what): content for what, content in contents.items()})
        return Parts(values, {what: stored.public.ref for what, stored in sets.items()})

    def _sets(self, job: StoredJob) -> dict[str, StoredFileSet]:
        known: dict[FileSetVersionId, StoredFileSet]
        known = self.inputs.work.file_sets.by_id([version for version, _ in job.inputs])
        return {_PARTS[role]: known[version] for version, role in job.inputs if role in _PARTS}

    def _content(self, stored: StoredFileSet) -> str:
        """What stands for a set; of one that was taken for good only its root is left."""
        if stored.root not in self.contents:
            is_gone = stored.collected_at is not None
            self.contents[stored.root] = stored.root.hex() if is_gone else self.inputs.content(stored)
        return self.contents[stored.root]


def explain(work: Work, inputs: InputReader, job: StoredJob) -> MissReport:
    """Say why no earlier result answered a job, or which one did."""
    answering = work.jobs.answering(job.id)
    if answering is not None:
        sentence = f"It was answered: job {answering.number} is the same, and its result was taken."
        return MissReport(answering.number, [], sentence)
    same = None if job.memo is None else work.jobs.newest_with(job.project_id, job.memo, before=job)
    if same is not None:
        return MissReport(same.number, [], _of_the_same(inputs, job, same))
    return _of_the_nearest(_Reader(inputs), job, work.jobs.finished_like(job, LOOKED_AT))


def unusable_output(work: Work, file_sets: FileSetStore, job: StoredJob) -> str:
    """Return why a job's output cannot be the output of another job too; empty when it can, or when it has none."""
    if job.output_version_id is None:
        return ""
    stored = work.file_sets.by_id([job.output_version_id])[job.output_version_id]
    if stored.public.deleted_at is not None:
        return "deleted"
    damaged = {sha256.hex() for sha256 in work.damage.hashes(job.project_id)}
    if damaged and any(entry.sha256 in damaged for entry in file_sets.read(work, job.project_id, stored)):
        return "damaged"
    return ""


def _of_the_same(inputs: InputReader, job: StoredJob, same: StoredJob) -> str:
    if reason := unusable_output(inputs.work, inputs.store, same):
        return f"Job {same.number} is the same, but its output is {reason}."
    if job.request.cached:
        return f"Job {same.number} is the same, but its result was not there when this one was submitted."
    return f"Nothing: job {same.number} is the same, and --cached would have given its result."


def _of_the_nearest(reader: _Reader, job: StoredJob, earlier: list[StoredJob]) -> MissReport:
    """Compare with each, the newest first; of those that differ in as much, the newest is the nearest."""
    now = reader.parts(job)
    compared = [(one, then, now.differing(then)) for one in earlier for then in [reader.parts(one)]]
    if not compared:
        return MissReport(None, [], _NOTHING_LIKE_IT)
    nearest, then, names = min(compared, key=lambda found: len(found[2]))
    misses = [Miss(name, then.shown(name), now.shown(name)) for name in names]
    among = f" of the last {LOOKED_AT}" if len(compared) == LOOKED_AT else ""
    named = ", ".join(names[:NAMED]) + (f" and {len(names) - NAMED} more" if len(names) > NAMED else "")
    sentence = f"It differs from job {nearest.number}, the nearest{among}, in {named or 'nothing that is known'}."
    return MissReport(nearest.number, misses, sentence)
