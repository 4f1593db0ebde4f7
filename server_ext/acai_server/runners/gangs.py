"""Gangs: several agents of one attempt. How they are named, how their ends are one, and how a machine runs them."""

from __future__ import annotations

import socket
import threading
from contextlib import ExitStack, suppress
from dataclasses import replace
from typing import TYPE_CHECKING

import msgspec

from acai_jupyter.contract.errors import AcaiError
from acai_server.runners.protocol import Ended, Meeting

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from acai_jupyter.contract.environments import Lock
    from acai_jupyter.contract.jobs import Resources
    from acai_jupyter.contract.projects import Machine
    from acai_server.runners.process import ProcessRunner
    from acai_server.runners.protocol import Order, Runner


def member(attempt: str, rank: int) -> str:
    """Return the name of one of a gang; attempts have no dot in theirs."""
    return f"{attempt}.{rank}"


def attempt_of(name: str) -> str:
    """Return the attempt of a member, or of an agent that is alone."""
    return name.partition(".")[0]


def rank_of(name: str) -> int:
    """Return the rank of a member."""
    return int(name.partition(".")[2] or 0)


def together(ends: Sequence[Ended | None]) -> Ended | None:
    """Return the end of a gang: that of who failed first by the looks of it; None while one goes on."""
    known = [end for end in ends if end is not None]
    if len(known) < len(ends):
        return None
    if len(known) == 1:
        return known[0]
    worst = min(known, key=_rank_among)
    return replace(worst, members=tuple(known))


def _rank_among(end: Ended) -> int:
    """Order ends by how likely others followed from them."""
    if end.out_of_memory:
        return 0
    if end.followed or end.exit_code == 0:
        return 4 if end.exit_code == 0 else 3
    return 1 if end.machine_failed else 2


class Gangs:
    """A runner of gangs over one of single agents on this machine: each member is an agent of its own there."""

    def __init__(self, alone: ProcessRunner) -> None:
        self._alone = alone
        self.name = alone.name
        self.shares_disk = alone.shares_disk
        self.starts_at_once = alone.starts_at_once
        self._lock = threading.Lock()
        self._members: dict[str, list[str]] = {}
        for name in sorted(alone.known(), key=rank_of):
            if name != attempt_of(name):
                self._members.setdefault(attempt_of(name), []).append(name)

    def machine(self) -> Machine:
        """See the protocol."""
        return self._alone.machine()

    def machines(self) -> tuple[Machine, ...]:
        """See the protocol."""
        return (self._alone.machine(),)

    def refuses(
        self,
        resources: Resources,
        *,
        nodes: int = 1,
        image: str | None = None,
        secrets: Iterable[str] = (),
        project: str = "",
    ) -> str:
        """See the protocol; all have to find room on this machine."""
        return self._alone.refuses(times(resources, nodes), image=image, secrets=secrets, project=project)

    def fits(self, resources: Resources) -> str:
        """See the protocol."""
        return self._alone.fits(resources)

    def is_built(self, lock: Lock) -> bool:
        """See the protocol."""
        return self._alone.is_built(lock)

    def meeting(self, attempt: str, nodes: int) -> Meeting:
        """See the protocol: ports of this machine that are free now."""
        del attempt
        with ExitStack() as held:
            sockets = [held.enter_context(socket.socket()) for _ in range(nodes + 1)]
            for one in sockets:
                one.bind(("127.0.0.1", 0))
            agents, *programs = (f"127.0.0.1:{one.getsockname()[1]}" for one in sockets)
        return Meeting(tuple(programs), agents)

    def start(self, order: Order) -> None:
        """See the protocol."""
        if not order.others:
            self._alone.start(order)
            return
        names = [member(order.attempt, rank) for rank in range(order.nodes)]
        started: list[str] = []
        try:
            for name, url in zip(names, (order.launch_url, *order.others), strict=True):
                self._alone.start(replace(order, attempt=name, launch_url=url, others=()))
                started.append(name)
        except AcaiError:
            for name in started:
                self._alone.clean(name)
            raise
        with self._lock:
            self._members[order.attempt] = names

    def renew(self, attempt: str, launch_url: str, others: tuple[str, ...] = ()) -> None:
        """See the protocol."""
        for name, url in zip(self._names(attempt), (launch_url, *others), strict=False):
            self._alone.renew(name, url)

    def machine_name(self, attempt: str) -> str:
        """See the protocol."""
        return self._alone.machine_name(attempt)

    def why_waiting(self, attempt: str) -> str:
        """See the protocol."""
        return self._alone.why_waiting(attempt)

    def printed(self, attempt: str, offset: int, rank: int = 0) -> bytes:
        """See the protocol."""
        names = self._names(attempt)
        return self._alone.printed(names[rank], offset) if rank < len(names) else b""

    def ended(self, attempt: str) -> Ended | None:
        """See the protocol."""
        return together([self._alone.ended(name) for name in self._names(attempt)])

    def wait(self, attempts: list[str], seconds: float) -> None:
        """See the protocol. Of a gang, those are waited for that have not ended; when all have, there is no wait."""
        names: list[str] = []
        for attempt in attempts:
            members = self._names(attempt)
            left = [name for name in members if len(members) == 1 or self._alone.ended(name) is None]
            names += left or members
        self._alone.wait(names, seconds)

    def wake(self) -> None:
        """See the protocol."""
        self._alone.wake()

    def stop(self, attempt: str) -> None:
        """See the protocol; all have their grace at the same time."""
        first, *rest = self._names(attempt)
        threads = [threading.Thread(target=self._stop_one, args=(name,)) for name in rest]
        for thread in threads:
            thread.start()
        self._alone.stop(first)
        for thread in threads:
            thread.join()

    def clean(self, attempt: str) -> None:
        """See the protocol."""
        for name in self._names(attempt):
            self._alone.clean(name)
        with self._lock:
            self._members.pop(attempt, None)

    def known(self) -> list[str]:
        """See the protocol."""
        return sorted({attempt_of(name) for name in self._alone.known()})

    def close(self) -> None:
        """See the protocol."""
        self._alone.close()

    def _names(self, attempt: str) -> list[str]:
        with self._lock:
            return self._members.get(attempt, [attempt])

    def _stop_one(self, name: str) -> None:
        with suppress(AcaiError):
            self._alone.stop(name)


def times(resources: Resources, nodes: int) -> Resources:
    """Return what so many take together."""
    if nodes == 1:
        return resources
    return msgspec.structs.replace(
        resources,
        vcpu=resources.vcpu * nodes,
        memory_bytes=resources.memory_bytes * nodes,
        gpus=resources.gpus * nodes,
    )


if TYPE_CHECKING:
    _proof: type[Runner] = Gangs
