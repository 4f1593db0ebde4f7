"""The seam between the engine and whatever runs an attempt."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Protocol

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from acai_jupyter.contract.environments import Lock
    from acai_jupyter.contract.jobs import Resources
    from acai_jupyter.contract.projects import Machine


@dataclass(frozen=True)
class Order:
    """What to start: an agent with the URL of its launch document, and the share of a machine it gets."""

    attempt: str
    """Names the attempt for the runner; unique in the database, and safe as a file name and as a label."""
    launch_url: str
    vcpu: float
    memory_bytes: int
    gpus: int = 0
    image: str | None = None
    secrets: Mapping[str, str] = field(default_factory=dict)
    """Environment variables, and under which names the runner knows their values."""
    grace_seconds: float = 10.0
    """How long the program may go on when it is asked to end, as its launch document says too."""
    profile: str = ""
    """What whoever submitted it named as the kind of job it is; a runner may have settings for it."""
    others: tuple[str, ...] = ()
    """The URLs of the further agents of a gang, by rank from 1 on; each gets such a share of a machine."""
    gpu_type: str = ""
    """Of which type the GPUs are, where the price book has several; a runner may know where those are."""
    project: str = ""
    """The name of the job's project, for the secrets that belong to it."""

    @property
    def nodes(self) -> int:
        """How many agents it takes."""
        return 1 + len(self.others)


@dataclass(frozen=True)
class Meeting:
    """Where those of a gang find each other: a place, as host:port, for the program of each, and one for the agents."""

    programs: tuple[str, ...]
    agents: str


@dataclass(frozen=True)
class Ended:
    """How an agent ended, as the runner saw it. What its result record says goes before, where it left one."""

    exit_code: int | None
    """The agent's, which is the program's when it left a result record; None when nobody saw it end."""
    reason: str = ""
    """What the runner did to it, or saw befall it, in words for people; empty for an end of its own accord."""
    out_of_memory: bool = False
    """It ended because its share of memory was too small."""
    machine_failed: bool = False
    """The machine's fault (lost, evicted, restarted): trying again may help. A start that failed for a reason that
    will stay, such as an image that does not exist, is no such fault."""
    followed: bool = False
    """It was ended because another of its gang had ended."""
    members: tuple[Ended, ...] = ()
    """How each of a gang ended, by rank."""


class Runner(Protocol):
    """Starts agents and watches over them. Thread-safe.

    An agent is found by its attempt's name, also after the server was restarted, if the runner outlives it. A name that
    the runner does not know is an agent that has ended unseen, by the machine's fault.

    An attempt may have several agents, a gang. It has ended when all of them have; each has what it printed. That all
    end when one fails, and that none begins without the others, is the agents' own concern.
    """

    name: str
    shares_disk: bool
    """Whether its agents can use the object store's own files."""
    starts_at_once: int
    """How many starts may be under way at a time: one where only what was started counts for `fits`."""

    def machine(self) -> Machine:
        """Return what it can hold at once."""
        ...

    def machines(self) -> tuple[Machine, ...]:
        """Return what jobs can have of each machine; nothing where that is not known, or where larger ones may come."""
        ...

    def refuses(
        self,
        resources: Resources,
        *,
        nodes: int = 1,
        image: str | None = None,
        secrets: Iterable[str] = (),
        project: str = "",
    ) -> str:
        """Return why it can never run such a job, naming the limit; empty when it can. Quick: asked at each submit.

        The resources are those of each node. Secrets may belong to projects, so `project` is the name of the job's.
        """
        ...

    def fits(self, resources: Resources) -> str:
        """Return why it cannot hold one more such job now, besides those it has; empty when it can.

        A cluster that queues by itself says that all fits, and why what was started waits. Quick, and asked often.
        """
        ...

    def is_built(self, lock: Lock) -> bool:
        """Whether the environment of a lock is there, so that a job would not have to wait for it. Quick."""
        ...

    def meeting(self, attempt: str, nodes: int) -> Meeting:
        """Return where a gang of so many that is to be started will find each other."""
        ...

    def start(self, order: Order) -> None:
        """Start an agent, or all of a gang; it may come to life later.

        What cannot be started raises `Unavailable`, and what never can, whoever tries it, `JobRefused`.
        When it raised, nothing runs. A name is started once: again, it raises `Unavailable` and the first runs on.
        """
        ...

    def renew(self, attempt: str, launch_url: str, others: tuple[str, ...] = ()) -> None:
        """Give an agent another URL of its launch document, and others to its gang.

        Nothing happens to one that is not known.
        """
        ...

    def machine_name(self, attempt: str) -> str:
        """Return the name of the machine that an attempt runs on; empty while it has none."""
        ...

    def why_waiting(self, attempt: str) -> str:
        """Return why an agent that was started does not run yet, in words for people; empty when it does."""
        ...

    def printed(self, attempt: str, offset: int, rank: int = 0) -> bytes:
        """Return what the agent has printed, from a byte on; at most a piece of it. The same until `clean`."""
        ...

    def ended(self, attempt: str) -> Ended | None:
        """Return how the agent ended, or None while it runs. Nothing that it started runs when it has ended."""
        ...

    def wait(self, attempts: list[str], seconds: float) -> None:
        """Return when one of these agents has ended, when `wake` is called or was since, or when the time is over."""
        ...

    def wake(self) -> None:
        """Let `wait` return now."""
        ...

    def stop(self, attempt: str) -> None:
        """Ask the agent to end, and end it by force when it does not. Returns when it has ended.

        It can take the order's grace, and the time to keep log and outputs. Safe to call twice, and at the same time.
        """
        ...

    def clean(self, attempt: str) -> None:
        """Remove what the agent left. Only after it ended; safe to call twice."""
        ...

    def known(self) -> list[str]:
        """Return the names of the attempts of which something is left: all that were started and not cleaned up."""
        ...

    def close(self) -> None:
        """Let go of what the runner itself holds in this process; agents that outlive the server go on.

        Nothing else may be called afterwards, but `close` again.
        """
        ...
