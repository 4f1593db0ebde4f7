"""Turns a queued job into an attempt that a runner has started. This is where a job becomes a process or a pod."""

from __future__ import annotations

import io
import secrets
from dataclasses import dataclass
from functools import partial
from itertools import chain, islice
from typing import TYPE_CHECKING

import msgspec

from acai_jupyter.contract.errors import AcaiError, FileNotFound, JobRefused
from acai_jupyter.contract.jobs import VARIABLES_FOLDER
from acai_jupyter.contract.launch import LAUNCH_VERSION, Gang, InputFile, LaunchDocument, Slots, write_launch
from acai_jupyter.contract.states import LIVE_STATES, InputRole, JobState
from acai_server.engine import output_paths
from acai_server.engine.attempts import Slot, runner_name, slot_key
from acai_server.engine.checkpoints import Checkpoints
from acai_server.engine.claims import Nesting
from acai_server.engine.ends import End, conclude
from acai_server.engine.starts import Starts
from acai_server.runners.protocol import Order

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator

    from acai_jupyter.contract.filesets import Entry
    from acai_jupyter.contract.ids import JobId, ProjectId
    from acai_server.db.database import Database
    from acai_server.db.filesets import StoredFileSet
    from acai_server.db.jobs import StoredAttempt, StoredJob
    from acai_server.db.work import Work
    from acai_server.engine.protocols import FileSetStore, Prices
    from acai_server.objects.protocol import ObjectStore, Within
    from acai_server.runners.protocol import Runner

LOG_SLOTS = 32
"""The agent sends larger pieces as they are used up: these take 4 GiB, or a day of a program that prints little."""
PACK_SLOTS = 32
GRACE_SECONDS = 10.0
GATHER_SECONDS = 600.0
"""So long the nodes of a job may take to come; then those that came give their machines back."""
_PAGE = 5000


class Launcher:
    """Writes the launch document, then starts the agent with its URL; renews both while the attempt lives.

    URLs are signed by `signing`, the same store under the address at which agents reach it, where that is another.
    """

    def __init__(
        self,
        database: Database,
        objects: ObjectStore,
        file_sets: FileSetStore,
        prices: Prices,
        runner: Runner,
        place: str = "",
        signing: ObjectStore | None = None,
    ) -> None:
        self._database = database
        self._objects = objects
        self._signing = signing or objects
        self._file_sets = file_sets
        self._prices = prices
        self._runner = runner
        self._place = place or runner.name
        self._checkpoints = Checkpoints(objects, self._signing, direct=runner.shares_disk)
        self._starting: set[JobId] = set()
        self._starts = Starts(runner.starts_at_once)

    def is_starting(self, job: JobId) -> bool:
        """Whether the runner has yet to hear of a job that is launching: it is not to be taken for one that ended."""
        return job in self._starting

    def launch(self, job: StoredJob, quota: int | None = None, then: Callable[[], None] = lambda: None) -> bool:
        """Begin an attempt, unless another server already did or the quota is used up; says whether it was begun.

        It is started now, or soon by a thread of its own; `then` is called when it was, or could not be.
        """
        self._starting.add(job.id)  # before the database says that it launches
        attempt = None
        try:
            attempt = self._begin(job, quota)
        finally:
            if attempt is None:
                self._starting.discard(job.id)
        if attempt is not None:
            self._starts.do(partial(self._bring_to_life, job, attempt, then))
        return attempt is not None

    def stop(self) -> None:
        """Wait for starts that are under way, a while."""
        self._starts.stop()

    def renew(self, job: StoredJob, attempt: StoredAttempt) -> None:
        """Write the document anew before its URLs expire, with more slots for a log that is long already."""
        self._runner.renew(runner_name(job, attempt), *self._urls(job, attempt, self._log_slots(job, attempt)))

    def _begin(self, job: StoredJob, quota: int | None) -> StoredAttempt | None:
        with self._database.writing() as work:
            key = secrets.token_hex(16)
            attempt = work.jobs.begin_attempt(
                job, self._place, key, work.clock.now(), quota=quota, price_book=self._prices.version
            )
            if attempt is not None:
                told = {"state": JobState.LAUNCHING.value}
                work.events.record(job.project_id, "job_launching", f"job {job.number}", **told)
        return attempt

    def _bring_to_life(self, job: StoredJob, attempt: StoredAttempt, then: Callable[[], None]) -> None:
        try:
            self._start(job, attempt)
        except JobRefused as error:
            self._conclude(job, attempt, End(JobState.FAILED, str(error.details["reason"])))
        except AcaiError as error:
            self._conclude(job, attempt, End(JobState.CRASHED, error.message))
        else:
            self._end_if_late(job, attempt)
        finally:
            self._starting.discard(job.id)
            then()

    def _end_if_late(self, job: StoredJob, attempt: StoredAttempt) -> None:
        """End what was started after others had given it up: this server may have slept between two of its lines.

        Looked at when it has been started, so that there is no moment left to sleep in.
        """
        with self._database.reading() as work:
            last, state = work.attempts.last(job.id), work.jobs.by_id(job.id).state
        if last is None or last.id != attempt.id or state not in LIVE_STATES:
            self._runner.stop(runner_name(job, attempt))
            self._runner.clean(runner_name(job, attempt))

    def _conclude(self, job: StoredJob, attempt: StoredAttempt, end: End) -> None:
        with self._database.writing() as work:
            conclude(work, job.id, attempt.id, end)

    def _start(self, job: StoredJob, attempt: StoredAttempt) -> None:
        url, others = self._urls(job, attempt, LOG_SLOTS)
        request = job.request
        self._runner.start(
            Order(
                attempt=runner_name(job, attempt),
                launch_url=url,
                vcpu=attempt.vcpu,
                memory_bytes=attempt.memory_bytes,
                gpus=job.gpus,
                image=request.image,
                secrets=request.secrets,
                grace_seconds=GRACE_SECONDS,
                profile=request.template,
                others=others,
                gpu_type=request.resources.gpu_type,
                project=self._name_of(job.project_id) if request.secrets else "",
            )
        )

    def _name_of(self, project: ProjectId) -> str:
        with self._database.reading() as work:
            return work.projects.name_of(project)

    def _urls(self, job: StoredJob, attempt: StoredAttempt, log_slots: int) -> tuple[str, tuple[str, ...]]:
        """Write what each agent is to do; returns where the first finds it, and where its gang does."""
        nodes = job.request.nodes
        if nodes == 1:
            return self._write(job, attempt, log_slots), ()
        met = self._runner.meeting(runner_name(job, attempt), nodes)
        gangs = (Gang(rank, list(met.programs), met.agents, GATHER_SECONDS) for rank in range(nodes))
        first, *others = (self._write(job, attempt, log_slots, gang) for gang in gangs)
        return first, tuple(others)

    def _write(self, job: StoredJob, attempt: StoredAttempt, log_slots: int, gang: Gang | None = None) -> str:
        with self._database.reading() as work:
            body = self._launch_text(work, job, attempt, log_slots, gang)
        key = slot_key(job, attempt, "launch", rank=0 if gang is None else gang.rank)
        # When the power is cut, the attempt is over, and nobody reads this any more.
        self._objects.put(key, io.BytesIO(body), size_bytes=len(body), durable=False)
        return self._signing.sign_get(key, direct=self._runner.shares_disk)

    def _launch_text(
        self, work: Work, job: StoredJob, attempt: StoredAttempt, log_slots: int, gang: Gang | None
    ) -> bytes:
        sets = work.file_sets.by_id([version for version, _ in job.inputs])
        objects = _Numbers()
        files = (
            file
            for version, role in job.inputs
            for file in self._files(work, job, sets[version], objects, _Place.of(job, role))
        )
        inputs = [sets[version].public.ref for version, role in job.inputs if role is InputRole.DATA]
        document = self._document(job, attempt, inputs, objects.urls, log_slots, gang)
        if work.budgets.are_there(job.project_id):  # it may be ended for one, and then keeps what it has
            document = msgspec.structs.replace(document, keep_partial=True)
        return write_launch(document, chain(files, self._checkpoints.files(job, attempt, objects.of)))

    def _document(
        self,
        job: StoredJob,
        attempt: StoredAttempt,
        inputs: list[str],
        objects: list[str],
        log_slots: int,
        gang: Gang | None,
    ) -> LaunchDocument:
        return LaunchDocument(
            version=LAUNCH_VERSION,
            key=attempt.key,
            job=job.number,
            attempt=attempt.number,
            command=_words(job.request.command),
            as_cell=job.request.as_cell,
            parameters=job.request.parameters,
            environment=_environment(job, inputs),
            objects=objects,
            output_folder=job.request.output_folder,
            slots=self._slots(job, attempt, log_slots, 0 if gang is None else gang.rank),
            vcpu=attempt.vcpu,
            memory_bytes=attempt.memory_bytes,
            gpus=job.gpus,
            time_limit_seconds=job.request.time_limit_seconds,
            grace_seconds=GRACE_SECONDS,
            keep_partial=job.request.keep_partial,
            variables=VARIABLES_FOLDER if job.request.variables is not None else "",
            receive=job.request.receive,
            lock=job.request.lock,
            lock_key="" if job.request.lock is None else job.request.lock.key,
            gang=gang,
            keep_checkpoint=attempt.number <= job.request.retries,
            max_object_bytes=self._objects.max_put_bytes,
            max_output_path_bytes=output_paths.max_bytes(job),
        )

    def _files(
        self, work: Work, job: StoredJob, stored: StoredFileSet, objects: _Numbers, at: _Place
    ) -> Iterator[InputFile]:
        """A page of entries at a time: a set may have a million. `objects` numbers the URLs of what they are in."""
        numbers: dict[tuple[str, Within | None], int] = {}
        sees_all = work.restrictions.sees_all(job.project_id, job.user_id)
        nesting = Nesting(stored.public.ref)
        for page in _pages(self._file_sets.read(work, job.project_id, stored)):
            inside = [entry for entry in page if entry.path.startswith(at.root)]
            places = work.blobs.places(job.project_id, {bytes.fromhex(entry.sha256) for entry in inside})
            for entry in inside:
                place = places.get(bytes.fromhex(entry.sha256))
                if place is None:
                    raise FileNotFound(path=entry.path, hint="")
                if place.is_wrong:
                    damaged = f"the stored bytes of its input '{entry.path}:{entry.version}' are damaged"
                    raise JobRefused(reason=f"{damaged}; put a good copy of the file to heal it, and run the job again")
                part = place.key, None if sees_all else place.within
                if part not in numbers:
                    url = self._signing.sign_get(place.key, direct=self._runner.shares_disk, within=part[1])
                    numbers[part] = objects.of(url)
                path = at.prefix + nesting.take(entry.path)[len(at.root) :]
                number, is_code = numbers[part], at.is_code
                yield InputFile(path, number, place.offset, place.size_bytes, entry.sha256, is_code=is_code)

    def _slots(self, job: StoredJob, attempt: StoredAttempt, log_slots: int, rank: int) -> Slots:
        def slot(kind: Slot, number: int | None = None) -> str:
            key = slot_key(job, attempt, kind, number, rank=rank)
            return self._signing.sign_put(key, direct=self._runner.shares_disk)[0]

        return Slots(
            log=[slot("log", number) for number in range(log_slots)],
            packs=[slot("pack", number) for number in range(PACK_SLOTS)],
            result=slot("result"),
            displays=slot("displays"),
        )

    def _log_slots(self, job: StoredJob, attempt: StoredAttempt) -> int:
        ranks = (slot_key(job, attempt, "log", rank=rank) for rank in range(job.request.nodes))
        used = max(sum(1 for _ in self._objects.keys(f"{key}/")) for key in ranks)
        return max(LOG_SLOTS, 2 * used)


@dataclass(frozen=True)
class _Place:
    """Where a set's files stand in the working folder: those below `root`, behind `prefix` in its place."""

    root: str = "/"
    prefix: str = ""
    is_code: bool = False

    @classmethod
    def of(cls, job: StoredJob, role: InputRole) -> _Place:
        if role is InputRole.CODE:
            return cls(job.request.code_root.rstrip("/") + "/", is_code=True)
        if role is InputRole.VARIABLES:
            return cls(job.request.variables_root.rstrip("/") + "/", f"{VARIABLES_FOLDER}/")
        return cls()


class _Numbers:
    """URLs, each once, and their places among them."""

    def __init__(self) -> None:
        self.urls: list[str] = []
        self._places: dict[str, int] = {}

    def of(self, url: str) -> int:
        place = self._places.setdefault(url, len(self.urls))
        if place == len(self.urls):
            self.urls.append(url)
        return place


def _pages(entries: Iterable[Entry]) -> Iterator[list[Entry]]:
    left = iter(entries)
    while page := list(islice(left, _PAGE)):
        yield page


def _words(command: str | list[str]) -> list[str]:
    return ["sh", "-c", command] if isinstance(command, str) else command


def _environment(job: StoredJob, inputs: list[str]) -> dict[str, str]:
    request = job.request
    known = {"ACAI_JOB": str(job.number), "ACAI_INPUT": " ".join(inputs), "ACAI_OUTPUT": request.output or ""}
    parameters = {f"ACAI_PARAM_{name.upper()}": str(value) for name, value in request.parameters.items()}
    return {**request.environment, **known, **parameters}
