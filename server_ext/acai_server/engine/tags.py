"""What programs say of themselves in their logs, kept as attributes of the job and of its output."""

from __future__ import annotations

from codecs import getincrementaldecoder
from typing import TYPE_CHECKING, Any

from acai_jupyter.contract.loglines import TagReader
from acai_jupyter.contract.query.builtin import is_reserved

if TYPE_CHECKING:
    from acai_jupyter.contract.query.builtin import SubjectKind
    from acai_server.db.jobs import StoredJob
    from acai_server.db.work import Work


class JobTags:
    """Reads the bytes of a job's log as they come."""

    def __init__(self, job: StoredJob) -> None:
        self._decoder = getincrementaldecoder("utf-8")("replace")
        self._reader = TagReader(job.request.output or "", _is_taken)
        self._told_misses = 0
        self.read_bytes = 0

    def feed(self, printed: bytes) -> None:
        """Take the next piece; a line counts when it has ended."""
        self.read_bytes += len(printed)
        self._reader.feed(self._decoder.decode(printed))

    def end(self) -> None:
        """Count the last line too."""
        self._reader.feed(self._decoder.decode(b"", final=True) + "\n")

    @property
    def of_job(self) -> dict[str, Any]:
        """What was said of the job."""
        return self._reader.found["job"]

    @property
    def of_output(self) -> dict[str, Any]:
        """What was said of the output file set."""
        return self._reader.found["fileset"]

    @property
    def misses(self) -> list[str]:
        """The lines that look like tags and are none, each with the reason."""
        return self._reader.misses

    def fresh(self) -> dict[str, Any]:
        """Return what was said of the job since the last time."""
        said, self._reader.found["job"] = self._reader.found["job"], {}
        return said

    def fresh_misses(self) -> bool:
        """Whether there are more misses than the last time."""
        told, self._told_misses = self._told_misses, len(self.misses)
        return told < self._told_misses


def _is_taken(place: str, key: str) -> bool:
    del place
    return is_reserved(key)


def attach(work: Work, job: StoredJob, kind: SubjectKind, subject: int, said: dict[str, Any]) -> bool:
    """Keep what was said; says whether anything is different now. It counts as done by who submitted the job."""
    fresh = work.attributes.set_said(job.project_id, kind, subject, said)
    if fresh:
        changed = {"set": fresh, "deleted": [], "added_labels": [], "removed_labels": []}
        work.changes.add(job.project_id, kind, job.user_id, work.clock.now(), [(subject, changed)])
    return bool(fresh)
