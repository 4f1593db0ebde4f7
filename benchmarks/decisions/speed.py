"""How long deciding takes, warm."""

from __future__ import annotations

import tempfile
import time
from contextlib import closing
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from acai_jupyter.contract.jobs import MIB, ResourceLimits, Resources
from acai_jupyter.contract.prices import MachineType, PriceBook
from acai_jupyter.contract.profiles import ProvisionJob
from acai_jupyter.contract.projects import Machine
from acai_server.db import schema
from acai_server.db.database import Database
from acai_server.provisioner import models, optimiser
from acai_server.provisioner.observations import Observation
from acai_server.provisioner.prices import Prices
from acai_server.provisioner.service import Provisioner
from acai_server.testing.stages import HandClock, JobUser
from benchmarks.report import Row, median
from benchmarks.servers import over_sqlite

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

ROUNDS = 15
RUNS = 60
"""So many the service has when it is asked."""
MACHINE_TYPES = 1000, 8000
"""In a price book; eight times as many take about eight times as long."""
LIMITS = ResourceLimits()
WIDE = ResourceLimits(0.25, 100, 0.25, 1024 * MIB, 2000 * 1024 * MIB, 1024 * MIB)
"""With which no machine type of the book is cut down."""
FINE = {"ACAI_MIN_VCPU": "0.125", "ACAI_MAX_VCPU": "2", "ACAI_VCPU_STEP": "0.125"}
HERE = (Machine(1000, 10_000 * 1024 * MIB),)
"""What can hold all of them, so that all are looked at."""
BASE = "/v1/projects/default"


def rows() -> Iterator[Row]:
    told = _runs(1000)
    yield Row("refit with 1,000 runs", _milliseconds(lambda: models.fit(told)), "ms", 100.0)
    model = models.fit(told)
    assert model is not None
    asked = [run.values for run in told]
    yield Row("1,000 predictions", _milliseconds(lambda: model.predict(asked)), "ms", 50.0)
    machines = len(optimiser.grid(LIMITS))
    yield Row(f"choosing among {machines} machines", _in_the_service(), "ms", 20.0)
    for count in MACHINE_TYPES:
        yield Row(f"choosing among {count:,} machine types", _in_the_service(_book(count), WIDE), "ms", 0.25 * count)
    yield Row(f"choosing among {machines} machines, over HTTP", _over_http(), "ms", 50.0)


def _in_the_service(book: PriceBook | None = None, limits: ResourceLimits = LIMITS) -> float:
    """Ask the service after some runs, over its database."""
    hand = HandClock()
    with tempfile.TemporaryDirectory() as folder, closing(Database(f"sqlite:///{folder}/a.db", hand.clock)) as database:
        schema.migrate(database)
        user = JobUser(database, hand)
        for run in _runs(RUNS):
            epoch, cpu, memory = (float(run.values[name]) for name in ("epoch", "vcpu", "memory_gib"))
            share = Resources(cpu, int(memory * 1024 * MIB))
            number = user.submit(template="net", parameters={"epoch": epoch}, resources=share)
            user.run(number, run_seconds=float(run.seconds), billed_seconds=float(run.seconds))
        service = Provisioner(database, Prices(database, book or PriceBook()), limits, lambda: HERE)
        wanted = ProvisionJob("net", {"epoch": 20}, max_cost_usd=1.0, confidence=0.9)
        shapes = optimiser.grid(limits) if book is None else {(one.vcpu, one.memory_bytes) for one in book.machines}
        assert service.provision(user.project, wanted).machines == len(shapes)
        return _milliseconds(lambda: service.provision(user.project, wanted))


def _over_http() -> float:
    """Ask a server that has run a few jobs, about as many shares as it usually has, all of which fit on two CPUs."""
    jobs = f"{BASE}/jobs"
    with tempfile.TemporaryDirectory() as folder, over_sqlite(Path(folder), **FINE) as (server, _):
        for epoch in (1, 2, 3, 4, 5):
            share = {"vcpu": 0.5 * (1 + epoch % 2), "memory_bytes": 512 * MIB}
            job = {"command": ["sleep", str(epoch / 20)], "template": "nap", "parameters": {"epoch": epoch}}
            assert server.ask("POST", jobs, job | {"resources": share}).status == 201
        for number in (1, 2, 3, 4, 5):
            while server.ask("GET", f"{jobs}/{number}?wait_seconds=20").json["ended_at"] is None:
                pass
        wanted = {"template": "nap", "parameters": {"epoch": 9}, "max_seconds": 3600}

        def ask() -> None:
            assert server.ask("POST", f"{BASE}/provisions", wanted).json["machines"] == len(optimiser.grid(LIMITS))

        return _milliseconds(ask)


def _book(count: int) -> PriceBook:
    """Machines of which none is both larger and cheaper than another."""
    generator = np.random.default_rng(0)
    shapes = zip(generator.integers(1, 400, count) / 4, generator.integers(1, 2000, count), strict=True)
    machines = [
        MachineType(f"m{number}.x", float(vcpu), int(gib) * 1024 * MIB, 0.03 * float(vcpu) + 0.004 * float(gib))
        for number, (vcpu, gib) in enumerate(shapes)
    ]
    return PriceBook(machines=machines)


def _runs(count: int) -> list[Observation]:
    generator = np.random.default_rng(0)
    found = []
    for _ in range(count):
        epoch, cpu, memory = (
            generator.choice([1, 2, 5, 10]),
            generator.choice([0.5, 1, 2, 4]),
            generator.choice([1, 2, 4]),
        )
        seconds = (2 + epoch * (1 + 6 / cpu)) * np.exp(generator.normal(0, 0.05))
        found.append(Observation({"epoch": float(epoch), "vcpu": float(cpu), "memory_gib": float(memory)}, seconds))
    return found


def _milliseconds(act: Callable[[], object]) -> float:
    act()
    times = []
    for _ in range(ROUNDS):
        begin = time.perf_counter()
        act()
        times.append(time.perf_counter() - begin)
    return 1000 * median(times)
