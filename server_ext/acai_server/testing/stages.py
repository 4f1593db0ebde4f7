"""A stage for the life of jobs: a runner whose attempts do what a test says, and an engine whose loops are stepped."""

from __future__ import annotations

import io
import threading
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from typing import TYPE_CHECKING, Any

import msgspec

from acai_jupyter.contract import loglines
from acai_jupyter.contract.errors import Unavailable
from acai_jupyter.contract.ids import ObjectKey
from acai_jupyter.contract.jobs import CreateJob, Resources
from acai_jupyter.contract.launch import (
    LAUNCH_VERSION,
    InputFile,
    LaunchDocument,
    OutputFile,
    ResultRecord,
    SentPack,
    read_launch,
)
from acai_jupyter.contract.prices import PriceBook
from acai_jupyter.contract.projects import Machine
from acai_server.clock import Clock
from acai_server.engine.service import Engine
from acai_server.lake import inside
from acai_server.objects.keys import folder_prefix
from acai_server.objects.memory import MemoryObjectStore
from acai_server.provisioner.prices import Prices
from acai_server.runners.gangs import member
from acai_server.runners.protocol import Ended, Meeting, Order
from acai_server.testing.lakes import SIGNER, LakeUser, hash_of, key_of

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping

    from acai_jupyter.contract.environments import Lock
    from acai_jupyter.contract.events import Event
    from acai_jupyter.contract.ids import ProjectId, UserId
    from acai_jupyter.contract.jobs import Job
    from acai_server.db.database import Database
    from acai_server.objects.protocol import ObjectStore
    from acai_server.runners.protocol import Runner

MIB = 1024**2
GIB = 1024**3
LARGE = Machine(cpus=64, memory_bytes=64 * GIB)
BEGAN = datetime(2026, 1, 1, tzinfo=UTC)


class HandClock:
    """A clock that goes on when it is told to, and a microsecond at each look, so that moments are told apart."""

    def __init__(self, began: datetime = BEGAN) -> None:
        self.moment = began
        self.ticks = 0.0
        self.clock = Clock(self._tick, lambda: self.ticks)

    def _tick(self) -> datetime:
        self.moment += timedelta(microseconds=1)
        return self.moment

    def pass_by(self, seconds: float) -> None:
        """Let time go by."""
        self.ticks += seconds
        self.moment += timedelta(seconds=seconds)

    def set_by(self, seconds: float) -> None:
        """Set the machine's clock forward or back, which is no time that goes by."""
        self.moment += timedelta(seconds=seconds)


class StagedRunner:
    """A runner of attempts that only a test brings to their end."""

    name = "staged"
    shares_disk = False
    starts_at_once = 1

    def __init__(self, machine: Machine = LARGE) -> None:
        self.size = machine
        self.built: set[str] = set()
        self.orders: dict[str, Order] = {}
        """What was started and not cleaned up."""
        self.started: list[str] = []
        self.stopped: list[str] = []
        self.renewed: list[str] = []
        self.ends: dict[str, Ended] = {}
        self.words: dict[str, bytes] = {}
        self.fault: Exception | None = None
        """What `start` raises, if anything."""
        self.asleep: Callable[[], object] | None = None
        """What happens while the next `start` sleeps, if it does."""
        self.listened = 0
        self._wakes = threading.Semaphore(0)
        self._lock = threading.Lock()

    def machine(self) -> Machine:
        """See the protocol."""
        return self.size

    def machines(self) -> tuple[Machine, ...]:
        """See the protocol."""
        return (self.size,)

    def refuses(
        self,
        resources: Resources,
        *,
        nodes: int = 1,
        image: str | None = None,
        secrets: Iterable[str] = (),
        project: str = "",
    ) -> str:
        """See the protocol."""
        if nodes * resources.vcpu > self.size.cpus or resources.memory_bytes > self.size.memory_bytes:
            return "it asks for more than a machine has"
        if image is not None:
            return "it names an image"
        known = ("known", f"of-{project}")
        return "".join(f"there is no secret '{name}'" for name in secrets if name not in known)

    def fits(self, resources: Resources) -> str:
        """See the protocol."""
        with self._lock:
            given = [order for name, order in self.orders.items() if name not in self.ends]
        free = self.size.cpus - sum(order.vcpu * order.nodes for order in given)
        if resources.vcpu > free:
            return f"it asks for {resources.vcpu:g} vCPU and {free:g} of {self.size.cpus:g} are free"
        memory = self.size.memory_bytes - sum(order.memory_bytes * order.nodes for order in given)
        return "" if resources.memory_bytes <= memory else "it asks for more memory than is free"

    def is_built(self, lock: Lock) -> bool:
        """See the protocol."""
        return lock.key in self.built

    def meeting(self, attempt: str, nodes: int) -> Meeting:
        """See the protocol."""
        return Meeting(tuple(f"{attempt}-{rank}:29500" for rank in range(nodes)), f"{attempt}-0:29499")

    def start(self, order: Order) -> None:
        """See the protocol."""
        if self.fault is not None:
            raise self.fault
        asleep, self.asleep = self.asleep, None
        if asleep is not None:
            asleep()
        with self._lock:
            if order.attempt in self.started:
                raise Unavailable(reason=f"{order.attempt} was started before")
            self.started.append(order.attempt)
            self.orders[order.attempt] = order

    def renew(self, attempt: str, launch_url: str, others: tuple[str, ...] = ()) -> None:
        """See the protocol."""
        del launch_url, others
        self.renewed.append(attempt)

    def machine_name(self, attempt: str) -> str:
        """See the protocol."""
        return "stage" if attempt in self.orders else ""

    def why_waiting(self, attempt: str) -> str:
        """See the protocol."""
        del attempt
        return ""

    def printed(self, attempt: str, offset: int, rank: int = 0) -> bytes:
        """See the protocol."""
        self.listened += 1
        return self.words.get(member(attempt, rank) if rank else attempt, b"")[offset:]

    def ended(self, attempt: str) -> Ended | None:
        """See the protocol."""
        return self.ends.get(attempt) if attempt in self.orders else Ended(None)

    def wait(self, attempts: list[str], seconds: float) -> None:
        """See the protocol."""
        if not any(self.ended(attempt) is not None for attempt in attempts):
            self._wakes.acquire(timeout=seconds)

    def wake(self) -> None:
        """See the protocol."""
        self._wakes.release()

    def stop(self, attempt: str) -> None:
        """See the protocol."""
        self.stopped.append(attempt)
        if attempt in self.orders:
            self.ends.setdefault(attempt, Ended(143))
        self.wake()

    def clean(self, attempt: str) -> None:
        """See the protocol."""
        with self._lock:
            self.orders.pop(attempt, None)
        self.ends.pop(attempt, None)
        self.words.pop(attempt, None)

    def known(self) -> list[str]:
        """See the protocol."""
        return list(self.orders)

    def forget(self) -> None:
        """Lose everything, as a machine does that is started anew."""
        self.orders.clear()
        self.ends.clear()

    def close(self) -> None:
        """See the protocol."""


@dataclass
class JobUser:
    """A user of a project with an engine whose loops are stepped by hand."""

    database: Database
    time: HandClock
    runner: StagedRunner = field(default_factory=StagedRunner)
    objects: ObjectStore = field(default_factory=lambda: MemoryObjectStore(SIGNER))
    name: str = "you"
    project_name: str = "default"
    quota: int = 4
    book: PriceBook = field(default_factory=PriceBook)

    def __post_init__(self) -> None:
        self.lake = LakeUser(self.database, self.objects, self.name, self.project_name)
        self.engine = self.another_engine()

    @property
    def project(self) -> ProjectId:
        """The project."""
        return self.lake.member.project_id

    @property
    def user(self) -> UserId:
        """The user."""
        return self.lake.member.user_id

    def another_engine(self, **settings: Any) -> Engine:
        """Return an engine over the same, as a second server or one that was restarted has."""
        prices = settings.pop("prices", None) or Prices(self.database, self.book)
        return Engine(self.database, self.objects, inside, prices, self.runner, quota=self.quota, **settings)

    def beside(self, name: str) -> JobUser:
        """Return another user of the same project, served by the same engine."""
        other = JobUser(self.database, self.time, self.runner, self.objects, name, self.project_name, self.quota)
        other.engine = self.engine
        return other

    def submit(self, command: list[str] | str = "true", **asked: Any) -> int:
        """Submit a job; returns its number."""
        return self.engine.submit(self.project, self.user, CreateJob(command, **asked)).number

    def job(self, number: int) -> Job:
        """Return a job."""
        return self.engine.job(self.project, number)

    def states(self, *numbers: int) -> list[str]:
        """Return the states of jobs."""
        return [self.job(number).state.value for number in numbers]

    def kill(self, number: int) -> Job:
        """Ask for a job's end."""
        return self.engine.kill(self.project, self.user, number)

    def remove(self, number: int, *, undo: bool = False) -> Job:
        """Delete a job, or take that back."""
        return self.engine.remove(self.project, number, undo=undo)

    def schedule(self) -> list[str]:
        """Start all that may start now; returns the attempts in the order in which they started."""
        before = len(self.runner.started)
        while self.engine.scheduler.step():
            pass
        return self.runner.started[before:]

    def look(self) -> None:
        """Let the monitor look at everything again."""
        self.engine.monitor.wake()
        self.engine.monitor.step()

    def settle(self) -> None:
        """Let everything happen that can happen now."""
        self.schedule()
        self.look()
        self.schedule()

    def attempt(self, number: int) -> str:
        """Return the name of a job's last attempt."""
        return f"job-{self.project}-{number}-{len(self.job(number).attempts)}"

    def document(self, number: int) -> LaunchDocument:
        """Return what a job's last attempt was given."""
        return self._launched(number)[0]

    def files(self, number: int) -> list[InputFile]:
        """Return the files that a job's last attempt was given."""
        return self._launched(number)[1]

    def _launched(self, number: int) -> tuple[LaunchDocument, list[InputFile]]:
        return read_launch(self.objects.get(key_of(self.runner.orders[self.attempt(number)].launch_url)))

    def say(self, number: int, text: bytes = b"", **words: Any) -> None:
        """Let an attempt print something, or its agent say something."""
        name = self.attempt(number)
        if words:
            text += loglines.marked(self.document(number).key, words)
        self.runner.words[name] = self.runner.words.get(name, b"") + text

    def finish(self, number: int, exit_code: int = 0, outputs: Mapping[str, bytes] | None = None, **told: Any) -> None:
        """Bring a job's last attempt to its end, with its result record."""
        self.time.pass_by(told.get("billed_seconds", 0.0))
        self.leave(number, exit_code, outputs, **told)
        self.end(number, exit_code)

    def leave(
        self,
        number: int,
        exit_code: int = 0,
        outputs: Mapping[str, bytes] | None = None,
        checkpoint: Mapping[str, bytes] | None = None,
        rank: int = 0,
        **told: Any,
    ) -> None:
        """Let an agent of a job's last attempt leave its result record."""
        attempt = len(self.job(number).attempts)
        behind = f"_{rank}" if rank else ""
        files: list[OutputFile] = []
        kept: list[OutputFile] = []
        pack = b""
        for into, bodies in ((files, outputs), (kept, checkpoint)):
            for path, body in (bodies or {}).items():
                into.append(OutputFile(path, 0, len(pack), len(body), hash_of(body)))
                pack += body
        packs = [SentPack(len(pack), hash_of(pack))] if files or kept else []
        if packs:
            self._put(number, attempt, f"pack{behind}/0", pack)
        record = ResultRecord(
            version=LAUNCH_VERSION,
            exit_code=exit_code,
            reason=told.pop("reason", ""),
            started_at=0.0,
            ended_at=1.0,
            run_seconds=told.pop("run_seconds", 1.0),
            billed_seconds=told.pop("billed_seconds", 0.0),
            outputs=files,
            packs=packs,
            checkpoint=kept,
            log=told.pop("log", []),
            **told,
        )
        self._put(number, attempt, f"result{behind}", msgspec.json.encode(record))

    def end(self, number: int, exit_code: int | None = -9, **seen: Any) -> None:
        """Bring a job's last attempt to its end, as the runner sees it."""
        self.runner.ends[self.attempt(number)] = Ended(exit_code, **seen)

    def run(self, number: int, **end: Any) -> Job:
        """Start what may start, and bring a job to its end."""
        self.schedule()
        self.finish(number, **end)
        self.look()
        return self.job(number)

    def events(self, number: int) -> list[str]:
        """Return the kinds of all events about a job."""
        with self.database.reading() as work:
            found: list[Event] = work.events.after(self.project, 0, 10_000).events
        return [event.kind.removeprefix("job_") for event in found if event.subject == f"job {number}"]

    def key(self, number: int, attempt: int, slot: str) -> ObjectKey:
        """Return the key of an object of an attempt."""
        return ObjectKey(f"{self.prefix(number)}{attempt}/{slot}")

    def prefix(self, number: int) -> str:
        """Return what the keys of all objects of a job begin with."""
        with self.database.reading() as work:
            return folder_prefix(self.project, work.sweeping.jobs(self.project, [number])[number].folder)

    def _put(self, number: int, attempt: int, what: str, body: bytes) -> None:
        key = self.key(number, attempt, what)
        self.objects.put(key, io.BytesIO(body), size_bytes=len(body))


def staged(make: Callable[[Clock], Database]) -> JobUser:
    """Return a user of a database that tells time by hand."""
    time = HandClock()
    return JobUser(make(time.clock), time)


if TYPE_CHECKING:
    _proof: type[Runner] = StagedRunner
