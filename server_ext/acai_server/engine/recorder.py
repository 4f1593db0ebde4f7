"""Writes down how an attempt ended: state, outputs, provenance, tags and cost in one transaction."""

from __future__ import annotations

import logging
from contextlib import suppress
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any

from acai_jupyter.contract.errors import AcaiError, BadRequest, Conflict
from acai_jupyter.contract.query.builtin import SubjectKind
from acai_jupyter.contract.states import InputRole, JobState
from acai_jupyter.contract.uploads import NewFile, PackedBlob, SentObject
from acai_server.db.jobs import AttemptEnd
from acai_server.engine import findings, output_paths
from acai_server.engine.attempts import slot_key
from acai_server.engine.ends import End, conclude
from acai_server.engine.kept_logs import KeptLog
from acai_server.engine.tags import JobTags, attach

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from acai_jupyter.contract.filesets import Entry
    from acai_jupyter.contract.launch import OutputFile, ResultRecord
    from acai_server.db.database import Database
    from acai_server.db.filesets import StoredFileSet
    from acai_server.db.jobs import StoredAttempt, StoredJob
    from acai_server.db.work import Work
    from acai_server.engine.kept_logs import Piece
    from acai_server.engine.protocols import FileSetStore, OnUnread, Prices
    from acai_server.objects.protocol import ObjectStore
    from acai_server.runners.protocol import Ended, Runner

_log = logging.getLogger(__name__)


@dataclass(frozen=True)
class Seen:
    """All that was found of an attempt that is over, before anything is written."""

    end: End
    attempt: AttemptEnd
    tags: JobTags
    results: dict[int, ResultRecord] = field(default_factory=dict)
    """By rank."""
    outputs: list[tuple[int, OutputFile]] = field(default_factory=list)
    """With the rank that left each."""


class Recorder:
    """The end of the agent and its result record decide together; a program cannot fake either."""

    def __init__(
        self,
        database: Database,
        objects: ObjectStore,
        file_sets: FileSetStore,
        prices: Prices,
        runner: Runner,
        on_unread: OnUnread | None = None,
    ) -> None:
        self._on_unread = on_unread
        self._database = database
        self._objects = objects
        self._file_sets = file_sets
        self._prices = prices
        self._runner = runner

    def record(
        self, job: StoredJob, attempt: StoredAttempt, ended: Ended, heard: Callable[[Work], None] = lambda _: None
    ) -> None:
        """Bring the attempt to its end, and its job to what follows from it. Doing it again changes nothing.

        `heard` writes down what was heard of it before. What cannot be recorded now raises: it is to be done again.
        """
        seen = self._look(job, attempt, ended)
        try:
            self._write(job, attempt, seen, heard)
        except (BadRequest, Conflict) as error:  # it would be the same the next time
            _log.warning("The outputs of job %d cannot be recorded: %s", job.number, error.message)
            reason = f"its outputs cannot be recorded: {error.message}"
            self._write(job, attempt, Seen(End(JobState.FAILED, reason), seen.attempt, seen.tags), heard)
        unread = {text for result in seen.results.values() for text in result.unread}
        if unread and self._on_unread is not None:
            with suppress(AcaiError):  # only a hint: the attempt's end is recorded in any case
                self._on_unread(job.project_id, self._of_inputs(job, unread))

    def _of_inputs(self, job: StoredJob, unread: set[str]) -> set[bytes]:
        """Return the hashes that are of the job's inputs: a program may name others, each of which costs a read."""
        with self._database.reading() as work:
            sets = work.file_sets.by_id([version for version, _ in job.inputs])
            entries = (entry for one in sets.values() for entry in self._file_sets.read(work, job.project_id, one))
            return {bytes.fromhex(entry.sha256) for entry in entries if entry.sha256 in unread}

    def _look(self, job: StoredJob, attempt: StoredAttempt, ended: Ended) -> Seen:
        found = findings.find(self._objects, self._runner, job, attempt, ended)
        counts = findings.together(found)
        tags = self._tags(job, attempt, found[0].pieces)
        outputs, warnings = findings.outputs(found)
        is_finished = counts.end.state is JobState.FINISHED
        name = output_paths.output_name(job) if is_finished else output_paths.partial_name(job)
        outputs, omissions = output_paths.recordable(outputs, output_paths.folder(job, name))
        warnings = omissions + warnings
        results = {one.rank: one.result for one in found if one.result is not None}
        code = counts.ended.exit_code if counts.result is None else counts.result.exit_code
        times: dict[str, Any] = {}
        if results:
            times["run_seconds"] = max(result.run_seconds for result in results.values())
            times["billed_seconds"] = max(result.billed_seconds for result in results.values())
            times["seen"] = findings.reported(found, warnings)
        damaged = sum(len(result.damaged_inputs) for result in results.values())
        if damaged:
            _log.warning(
                "The cache of inputs on %s had %d changed files, found by job %d. They were dropped and fetched again.",
                attempt.machine or "this machine",
                damaged,
                job.number,
            )
        pieces = [piece for one in found for piece in one.pieces]
        return Seen(counts.end, _attempt_end(pieces, tags, code, **times), tags, results, outputs)

    def _write(self, job: StoredJob, attempt: StoredAttempt, seen: Seen, heard: Callable[[Work], None]) -> None:
        """Write all of it, or nothing when another has."""
        try:
            with self._database.writing() as work:
                heard(work)
                self._write_all(work, job, attempt, seen)
        except _RecordedBefore:
            return

    def _write_all(self, work: Work, job: StoredJob, attempt: StoredAttempt, seen: Seen) -> None:
        end = seen.end
        output = None
        if seen.results and end.state is JobState.FINISHED:
            output = self._outputs(work, job, attempt, seen)
            end = replace(end, output=None if output is None else output.public.ref)
        state = conclude(work, job.id, attempt.id, end)
        if state is None:
            raise _RecordedBefore
        work.jobs.end_attempt(attempt.id, self._as_seen_here(work, job, attempt, seen.attempt))
        if end.ran_out_of_memory:
            work.attempts.add_seen(attempt.id, {"ran_out_of_memory": True})
        attach(work, job, SubjectKind.JOB, job.id, seen.tags.of_job)
        if output is not None:
            attach(work, job, SubjectKind.FILE_SET, output.id, seen.tags.of_output)
        if seen.results and state in (JobState.FAILED, JobState.KILLED) and _keeps_partial(work, job):
            self._partial(work, job, attempt, seen)

    def _as_seen_here(self, work: Work, job: StoredJob, attempt: StoredAttempt, end: AttemptEnd) -> AttemptEnd:
        """Take no longer time than has passed here: a program with its agent's rights can write a record too."""
        if end.billed_seconds is None or end.run_seconds is None:
            return end
        most = (work.clock.now() - work.attempts.began(attempt.id)).total_seconds()
        billed, run = (max(0.0, min(seconds, most)) for seconds in (end.billed_seconds, end.run_seconds))
        share = attempt.vcpu, attempt.memory_bytes
        billed_all = billed * job.request.nodes
        of_gpus, book = job.request.resources.gpu_type, attempt.price_book
        cost = self._prices.cost_usd(*share, billed_all, gpus=job.gpus, gpu_type=of_gpus, version=book)
        return replace(end, billed_seconds=billed, run_seconds=run, cost_usd=cost)

    def _outputs(self, work: Work, job: StoredJob, attempt: StoredAttempt, seen: Seen) -> StoredFileSet | None:
        if not seen.outputs and job.request.output is None:
            return None
        stored = self._file_set(work, job, attempt, seen, output_paths.output_name(job))
        work.jobs.set_output(job.id, stored.id)
        return stored

    def _partial(self, work: Work, job: StoredJob, attempt: StoredAttempt, seen: Seen) -> None:
        if seen.outputs:
            stored = self._file_set(work, job, attempt, seen, output_paths.partial_name(job))
            work.jobs.set_partial(job.id, stored.id)

    def _file_set(self, work: Work, job: StoredJob, attempt: StoredAttempt, seen: Seen, name: str) -> StoredFileSet:
        """Make the outputs the next version of a set, with the edge that leads to it."""
        folder = output_paths.folder(job, name)
        entries: list[Entry] = []
        if seen.outputs:
            files = [NewFile(f"{folder}/{o.path}", o.size_bytes, o.sha256) for _, o in seen.outputs]
            sent = list(_sent(job, attempt, seen))
            entries = self._file_sets.record(work, job.project_id, job.user_id, sent, files, job.id)
        stored = self._file_sets.add_version(work, job.project_id, job.user_id, name, InputRole.DATA, entries)
        work.actions.add_output(job.id, stored.id)
        return stored

    def _tags(self, job: StoredJob, attempt: StoredAttempt, pieces: list[Piece]) -> JobTags:
        """Read the tags in a log, which may have gigabytes, most of them no tags."""
        tags = JobTags(job)
        for piece in KeptLog(self._objects, job, _with_log(attempt, pieces)).stream():
            tags.feed(piece)
        tags.end()
        return tags


class _RecordedBefore(Exception):
    """Somebody recorded the attempt meanwhile: what this transaction has written must not stay."""


def _keeps_partial(work: Work, job: StoredJob) -> bool:
    """Whether what it left is kept: it was asked for, or the job was ended though nobody wanted that."""
    return job.request.keep_partial or work.jobs.why_killed(job.id)[1]


def _attempt_end(pieces: list[Piece], tags: JobTags, exit_code: int | None, **known: Any) -> AttemptEnd:
    timed = {"run_seconds": None, "billed_seconds": None, "cost_usd": None, **known}
    size = sum(piece.size_bytes for piece in pieces if not piece.rank)
    log = [list(piece) for piece in pieces]
    return AttemptEnd(exit_code=exit_code, log_bytes=size, log=log, tag_misses=tags.misses, **timed)


def _sent(job: StoredJob, attempt: StoredAttempt, seen: Seen) -> Iterator[tuple[str, SentObject]]:
    """The packs that hold outputs, with what is in each."""
    blobs: dict[tuple[int, int], list[PackedBlob]] = {}
    for rank, output in seen.outputs:
        inside = blobs.setdefault((rank, output.pack), [])
        inside.append(PackedBlob(output.sha256, output.offset, output.size_bytes))
    for place, ((rank, number), inside) in enumerate(blobs.items(), 1):
        pack = seen.results[rank].packs[number]
        key = slot_key(job, attempt, "pack", number, rank=rank)
        yield key, SentObject(place, pack.size_bytes, pack.sha256, inside)


def _with_log(attempt: StoredAttempt, pieces: list[Piece]) -> StoredAttempt:
    return replace(attempt, log=[list(piece) for piece in pieces])
