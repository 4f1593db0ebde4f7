"""Writes down how an attempt ended: state, outputs, provenance, tags and cost in one transaction."""

from __future__ import annotations

from typing import TYPE_CHECKING

import msgspec

from acai_jupyter.contract.errors import AcaiError, BadPath, ObjectNotFound
from acai_jupyter.contract.launch import ResultRecord
from acai_jupyter.contract.loglines import tags
from acai_jupyter.contract.specs import normal_path
from acai_jupyter.contract.states import ActionKind, InputRole, JobState
from acai_jupyter.contract.uploads import NewFile, PackedBlob, SentObject
from acai_server.db.jobs import AttemptEnd
from acai_server.engine.attempts import slot_key

if TYPE_CHECKING:
    from acai_server.db.database import Database
    from acai_server.db.filesets import StoredFileSet
    from acai_server.db.jobs import StoredAttempt, StoredJob
    from acai_server.db.work import Work
    from acai_server.engine.protocols import FileSetStore, Prices
    from acai_server.objects.protocol import ObjectStore
    from acai_server.runners.protocol import Ended

MAX_RESULT_BYTES = 64 * 1024 * 1024
MAX_TAG_LOG_BYTES = 16 * 1024 * 1024


class Recorder:
    """The end of the agent and its result record decide together; a program cannot fake either."""

    def __init__(self, database: Database, objects: ObjectStore, file_sets: FileSetStore, prices: Prices) -> None:
        self._database = database
        self._objects = objects
        self._file_sets = file_sets
        self._prices = prices

    def record(self, job: StoredJob, attempt: StoredAttempt, ended: Ended) -> None:
        """Bring the job to its end state. Doing it again changes nothing."""
        try:
            result = self._result(job, attempt)
        except (AcaiError, msgspec.MsgspecError) as error:
            status = "was not seen to end" if ended.exit_code is None else f"ended with status {ended.exit_code}"
            told = "left no result" if isinstance(error, ObjectNotFound) else "left a result that cannot be used"
            self._crash(job, attempt, f"its agent {status} and {told}")
            return
        log = self._log(job, attempt)
        end = AttemptEnd(
            exit_code=result.exit_code,
            run_seconds=result.run_seconds,
            billed_seconds=result.billed_seconds,
            cost_usd=self._prices.cost_usd(attempt.vcpu, attempt.memory_bytes, result.billed_seconds),
            log_bytes=len(log),
        )
        with self._database.writing() as work:
            self._write(work, job, attempt, result, end, log)

    def _write(
        self,
        work: Work,
        job: StoredJob,
        attempt: StoredAttempt,
        result: ResultRecord,
        end: AttemptEnd,
        log: bytes,
    ) -> None:
        now = work.clock.now()
        # An agent's last words may not have been read; the record says that it got so far.
        work.jobs.advance(job.id, JobState.UPLOADING, "", now, attempt.id)
        succeeded = result.exit_code == 0
        state = JobState.FINISHED if succeeded else JobState.FAILED
        reason = "" if succeeded else result.reason or f"exit {result.exit_code}"
        if not work.jobs.advance(job.id, state, reason, now, attempt.id):
            return
        work.jobs.end_attempt(attempt.id, end)
        spoken = tags(log.decode(errors="replace"), job.request.output or "")
        work.attributes.set(job.project_id, "job", job.id, spoken["job"])
        output = self._outputs(work, job, attempt, result) if succeeded else None
        if output is not None:
            work.attributes.set(job.project_id, "file_set", output.id, spoken["fileset"])
        told = {"state": state.value, "output": output.public.ref if output else None}
        work.events.record(job.project_id, f"job_{state.value}", f"job {job.number}", **told)

    def _outputs(
        self, work: Work, job: StoredJob, attempt: StoredAttempt, result: ResultRecord
    ) -> StoredFileSet | None:
        if not result.outputs and job.request.output is None:
            return None
        name = job.request.output or f"job-{job.number}-output"
        now = work.clock.now()
        if result.outputs:
            blobs = [PackedBlob(o.sha256, o.offset, o.size_bytes) for o in result.outputs]
            sent = SentObject(slot_key(job, attempt, "pack"), result.pack_size_bytes, result.pack_sha256, blobs)
            work.files.add_object(job.project_id, sent, now)
        files = [NewFile(f"/{name}/{o.path}", o.size_bytes, o.sha256) for o in result.outputs]
        added = work.files.add_versions(job.project_id, job.user_id, files, now, only_changed=False)
        stored = self._file_sets.add_version(work, job.project_id, job.user_id, name, InputRole.DATA, added.entries)
        work.jobs.set_output(job.id, stored.id)
        work.actions.add(job.project_id, job.user_id, ActionKind.JOB, job.inputs, stored.id, now, job.id)
        return stored

    def _result(self, job: StoredJob, attempt: StoredAttempt) -> ResultRecord:
        """Read the result record and believe nothing in it that can be checked."""
        body = self._objects.get(slot_key(job, attempt, "result"), 0, MAX_RESULT_BYTES)
        result = msgspec.json.decode(body, type=ResultRecord)
        for output in result.outputs:
            normal_path(f"/{output.path}")
            if output.offset + output.size_bytes > result.pack_size_bytes:
                raise BadPath(path=output.path, reason="it lies outside its pack")
        if result.outputs and self._objects.size(slot_key(job, attempt, "pack")) != result.pack_size_bytes:
            raise BadPath(path="output", reason="its pack has another size")
        return result

    def _log(self, job: StoredJob, attempt: StoredAttempt) -> bytes:
        try:
            return self._objects.get(slot_key(job, attempt, "log"), 0, MAX_TAG_LOG_BYTES)
        except ObjectNotFound:
            return b""

    def _crash(self, job: StoredJob, attempt: StoredAttempt, reason: str) -> None:
        with self._database.writing() as work:
            if work.jobs.advance(job.id, JobState.CRASHED, reason, work.clock.now(), attempt.id):
                work.events.record(job.project_id, "job_crashed", f"job {job.number}", state=JobState.CRASHED.value)
