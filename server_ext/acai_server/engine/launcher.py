"""Turns a queued job into an attempt that a runner has started. This is where a job becomes a process or a pod."""

from __future__ import annotations

import io
import secrets
from typing import TYPE_CHECKING

import msgspec

from acai_jupyter.contract.errors import AcaiError
from acai_jupyter.contract.launch import LAUNCH_VERSION, LaunchDocument, Piece, Slots
from acai_jupyter.contract.states import InputRole, JobState
from acai_server.engine.attempts import Slot, runner_name, slot_key
from acai_server.engine.registry import working_path
from acai_server.runners.protocol import Order

if TYPE_CHECKING:
    from collections.abc import Iterator

    from acai_jupyter.contract.filesets import Entry
    from acai_jupyter.contract.ids import JobId
    from acai_server.db.database import Database
    from acai_server.db.jobs import StoredAttempt, StoredJob
    from acai_server.db.work import Work
    from acai_server.engine.protocols import FileSetStore
    from acai_server.objects.protocol import ObjectStore
    from acai_server.runners.protocol import Runner


class Launcher:
    """Writes the launch document, then starts the agent with its URL."""

    def __init__(self, database: Database, objects: ObjectStore, file_sets: FileSetStore, runner: Runner) -> None:
        self._database = database
        self._objects = objects
        self._file_sets = file_sets
        self._runner = runner
        self._starting: set[JobId] = set()

    def is_starting(self, job: JobId) -> bool:
        """Whether the runner has yet to hear of a job that is launching: it is not to be taken for one that ended."""
        return job in self._starting

    def launch(self, job: StoredJob) -> None:
        """Start an attempt, unless another server already did."""
        self._starting.add(job.id)  # before the database says that it launches
        try:
            self._launch(job)
        finally:
            self._starting.discard(job.id)

    def _launch(self, job: StoredJob) -> None:
        with self._database.writing() as work:
            attempt = work.jobs.begin_attempt(job, self._runner.name, secrets.token_hex(16), work.clock.now())
            if attempt is None:
                return
            work.events.record(job.project_id, "job_launching", f"job {job.number}", state=JobState.LAUNCHING.value)
        try:
            self._start(job, attempt)
        except AcaiError as error:
            self._fail(job, attempt, error)

    def _start(self, job: StoredJob, attempt: StoredAttempt) -> None:
        with self._database.reading() as work:
            body = msgspec.json.encode(self._document(work, job, attempt))
        key = slot_key(job, attempt, "launch")
        self._objects.put(key, io.BytesIO(body), size_bytes=len(body))
        url = self._objects.sign_get(key, direct=self._runner.shares_disk)
        self._runner.start(Order(runner_name(job, attempt), url, attempt.vcpu, attempt.memory_bytes))

    def _document(self, work: Work, job: StoredJob, attempt: StoredAttempt) -> LaunchDocument:
        sets = work.file_sets.by_id([version for version, _ in job.inputs])

        def pieces(role: InputRole, root: str) -> list[Piece]:
            versions = [version for version, of in job.inputs if of is role]
            entries = [
                entry for version in versions for entry in self._file_sets.read(work, job.project_id, sets[version])
            ]
            return list(self._pieces(work, job, entries, root))

        return LaunchDocument(
            version=LAUNCH_VERSION,
            key=attempt.key,
            job=job.number,
            command=job.request.command,
            environment=_environment(job, [sets[v].public.ref for v, of in job.inputs if of is InputRole.DATA]),
            inputs=pieces(InputRole.DATA, "/"),
            code=pieces(InputRole.CODE, job.request.code_root),
            slots=Slots(
                log=self._slot(job, attempt, "log"),
                pack=self._slot(job, attempt, "pack"),
                result=self._slot(job, attempt, "result"),
            ),
        )

    def _pieces(self, work: Work, job: StoredJob, entries: list[Entry], root: str) -> Iterator[Piece]:
        places = work.files.places(job.project_id, (entry.sha256 for entry in entries))
        urls: dict[str, str] = {}
        for entry in entries:
            place = places[entry.sha256]
            url = urls.get(place.key) or self._objects.sign_get(place.key, direct=self._runner.shares_disk)
            urls[place.key] = url
            yield Piece(working_path(entry.path, root), url, place.offset, place.size_bytes, entry.sha256)

    def _slot(self, job: StoredJob, attempt: StoredAttempt, slot: Slot) -> str:
        return self._objects.sign_put(slot_key(job, attempt, slot), direct=self._runner.shares_disk)[0]

    def _fail(self, job: StoredJob, attempt: StoredAttempt, error: AcaiError) -> None:
        with self._database.writing() as work:
            work.jobs.advance(job.id, JobState.CRASHED, error.message, work.clock.now(), attempt.id)
            work.events.record(job.project_id, "job_crashed", f"job {job.number}", state=JobState.CRASHED.value)


def _environment(job: StoredJob, inputs: list[str]) -> dict[str, str]:
    request = job.request
    known = {"ACAI_JOB": str(job.number), "ACAI_INPUT": " ".join(inputs), "ACAI_OUTPUT": request.output or ""}
    parameters = {f"ACAI_PARAM_{name.upper()}": str(value) for name, value in request.parameters.items()}
    return {**request.environment, **known, **parameters}
