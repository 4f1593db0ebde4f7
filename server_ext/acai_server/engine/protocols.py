"""What the engine wants of other services; `app.py` hands it in."""

from __future__ import annotations

from typing import TYPE_CHECKING, Protocol

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

    from acai_jupyter.contract.filesets import Entry
    from acai_jupyter.contract.ids import JobId, ProjectId, UserId
    from acai_jupyter.contract.jobs import CreateJob, Resources
    from acai_jupyter.contract.plans import Expected
    from acai_jupyter.contract.projects import Machine
    from acai_jupyter.contract.states import InputRole
    from acai_jupyter.contract.uploads import NewFile, SentObject
    from acai_server.db.database import Database
    from acai_server.db.filesets import StoredFileSet
    from acai_server.db.work import Work


class OnUnread(Protocol):
    """Hears of contents that a job could not read."""

    def __call__(self, project: ProjectId, hashes: set[bytes]) -> None:
        """Look into them; a hash of nothing in the project is ignored."""
        ...


class Prices(Protocol):
    """Knows what a share of a machine costs."""

    @property
    def version(self) -> int:
        """The price book's version, kept with each attempt."""
        ...

    def cost_usd(
        self,
        vcpu: float,
        memory_bytes: int,
        seconds: float,
        *,
        gpus: int = 0,
        gpu_type: str = "",
        version: int | None = None,
    ) -> float:
        """Return the cost of holding so much for so long, by today's book or by the one with that version."""
        ...

    def gpu_type(self, gpus: int, named: str) -> str:
        """Return of which type the GPUs of a job are; refuses what there is not, and what is not clear."""
        ...


class Forecast(Protocol):
    """Knows how long jobs will take, as far as anybody can."""

    def expect(self, work: Work, project: ProjectId, template: str, request: CreateJob) -> Expected | None:
        """Return what one such job will take and cost; None when nothing is known."""
        ...

    def settle(self) -> None:
        """Write down what was told by what, in a transaction of its own."""
        ...


class MemoryNeeds(Protocol):
    """Knows how much memory jobs need, from earlier ones."""

    def share(
        self, work: Work, project: ProjectId, template: str, wanted: Sequence[CreateJob], machine_bytes: int
    ) -> Resources:
        """Return what jobs get that ask for as much memory as earlier ones used; what they asked for if none tells."""
        ...

    def less_bytes(self, used_bytes: int) -> int:
        """Return how much would have been enough for a run that used so much."""
        ...


class Purse(Protocol):
    """Knows what may still be spent."""

    def check(
        self, work: Work, project: ProjectId, user: UserId, expected: Callable[[], Expected | None], count: int
    ) -> None:
        """Refuse so many jobs, each of which is expected to cost so much, when there is not enough left."""
        ...


class Room(Protocol):
    """Knows what can be held: a runner."""

    def machine(self) -> Machine:
        """Return what can be held at once."""
        ...

    def fits(self, resources: Resources) -> str:
        """Return why one more such job cannot be held now; empty when it can."""
        ...


class Merged(Protocol):
    """What several specs hold together, as they stood in one transaction."""

    @property
    def root(self) -> bytes:
        """The hash of their list."""
        ...

    @property
    def file_count(self) -> int:
        """How many files they are."""
        ...

    def entries(self, after: str = "") -> Iterator[Entry]:
        """Iterate over the files after a path, by path, while that transaction lasts."""
        ...

    def keep_many(self) -> None:
        """Store what takes long before others have to wait for it; not inside a transaction."""
        ...

    def stands(self, work: Work) -> bool:
        """Whether the specs still mean the same, now that the project is locked; a set that is gone raises."""
        ...

    def add(self, work: Work, user: UserId, name: str) -> StoredFileSet:
        """Make a file set of them, and the action that says what it was made from."""
        ...


class FileSetStore(Protocol):
    """Reads and makes files and file sets inside a transaction."""

    def read(self, work: Work, project: ProjectId, stored: StoredFileSet, after: str = "") -> Iterator[Entry]:
        """Iterate over a set's entries after a path, by path."""
        ...

    def merge(
        self,
        database: Database,
        work: Work,
        project: ProjectId,
        specs: list[str],
        differ: Callable[[str, str, str], Exception],
    ) -> Merged:
        """Lay specs over each other; what is not there raises.

        When two have different contents at a path, `differ` makes the error of their names and the path.
        """
        ...

    def record(
        self,
        work: Work,
        project: ProjectId,
        user: UserId,
        sent: list[tuple[str, SentObject]],
        files: list[NewFile],
        job: JobId,
    ) -> list[Entry]:
        """Record objects by key, and new versions of files whose contents are in them, which a job has written."""
        ...

    def add_version(
        self, work: Work, project: ProjectId, user: UserId, name: str, role: InputRole, entries: list[Entry]
    ) -> StoredFileSet:
        """Make the next version of a name."""
        ...
