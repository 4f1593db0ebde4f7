"""Tries all that the server stands on, at once and within a time, and says of each how it is."""

from __future__ import annotations

import logging
import shutil
import time
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING

from acai_jupyter.contract.checkups import Check, Checkup, Finding
from acai_jupyter.contract.errors import AcaiError
from acai_jupyter.contract.jobs import Resources
from acai_server.checkup import database, store

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence
    from concurrent.futures import Future
    from pathlib import Path

    from acai_server.db.database import Database
    from acai_server.db.metrics import Sample
    from acai_server.objects.protocol import ObjectStore
    from acai_server.runners.protocol import Runner

_log = logging.getLogger(__name__)
PATIENCE_SECONDS = 20.0
LITTLE_BYTES = 2 * 1024**3
"""So little room on a disk is worth a word."""
Look = tuple[str, "Callable[[], Check]"]


@dataclass(frozen=True)
class Ground:
    """What a server stands on. `others` are looked at too: what only the composition root knows of."""

    database: Database
    objects: ObjectStore
    runner: Runner
    folder: Path | None
    reserved_disk_bytes: int = 0
    notices: Callable[[], Sequence[str]] = tuple
    others: tuple[Look, ...] = ()


class Checkups:
    """A doctor for one server."""

    def __init__(self, ground: Ground, *, patience_seconds: float = PATIENCE_SECONDS) -> None:
        self._ground = ground
        self._patience = patience_seconds

    def look(self) -> Checkup:
        """Look at everything. What does not answer in time is said to have failed; nothing raises."""
        looks: list[Look] = [
            ("database", partial(database.look, self._ground.database)),
            ("object store", partial(store.look, self._ground.objects)),
            *([] if self._ground.folder is None else [("disk", partial(self._disk, self._ground.folder))]),
            ("runner", self._runner),
            *self._ground.others,
        ]
        pool = ThreadPoolExecutor(len(looks), thread_name_prefix="acai-checkup")
        until = time.monotonic() + self._patience
        begun = [(name, pool.submit(look)) for name, look in looks]
        checks = [self._awaited(name, future, until) for name, future in begun]
        pool.shutdown(wait=False, cancel_futures=True)
        checks += [Check("notice", Finding.WARNING, notice) for notice in self._ground.notices()]
        return Checkup(checks, self._probe_url(checks))

    def is_ready(self) -> bool:
        """Whether the database answers; if not, that is raised."""
        with self._ground.database.asking() as work:
            return work.projects.users() > 0

    def samples(self) -> list[Sample]:
        """Return sums over jobs and bytes, by project and user."""
        with self._ground.database.reading() as work:
            return list(work.metrics.samples())

    def _awaited(self, name: str, future: Future[Check], until: float) -> Check:
        try:
            return future.result(max(0.0, until - time.monotonic()))
        except AcaiError as error:
            return Check(name, Finding.FAILED, error.message)
        except TimeoutError:
            said = f"It does not answer within {self._patience:g} s; see the server's log, and try again."
            return Check(name, Finding.FAILED, said)
        except Exception:  # noqa: BLE001 (whatever it was, the rest is to be told)
            _log.exception("The %s could not be looked at.", name)
            return Check(name, Finding.FAILED, "It could not be looked at; the server's log says why.")

    def _disk(self, folder: Path) -> Check:
        free = shutil.disk_usage(folder).free
        said, reserved = f"{free / 1024**3:.1f} GB free at {folder}", self._ground.reserved_disk_bytes
        if free < reserved:
            said += f", less than the {reserved / 1024**2:.0f} MB that jobs must leave; make room (acai gc)."
            return Check("disk", Finding.FAILED, said)
        if free < LITTLE_BYTES + reserved:
            return Check("disk", Finding.WARNING, f"{said}; make room (acai gc).")
        return Check("disk", Finding.OK, said)

    def _runner(self) -> Check:
        runner = self._ground.runner
        refused = runner.refuses(Resources())
        if refused:
            said = f"{runner.name} takes no job of the usual size: {refused}; see the settings of the machine."
            return Check("runner", Finding.FAILED, said)
        machine = runner.machine()
        gpus = f", {machine.gpus} GPU" if machine.gpus else ""
        memory = machine.memory_bytes / 1024**3
        return Check("runner", Finding.OK, f"{runner.name}: {machine.cpus:g} CPU, {memory:.1f} GB{gpus} for jobs")

    def _probe_url(self, checks: list[Check]) -> str:
        is_well = any(check.name == "object store" and check.finding is Finding.OK for check in checks)
        return self._ground.objects.sign_get(store.PROBE) if is_well else ""


def in_short(found: Checkup) -> Checkup:
    """Leave out what is for whoever operates the server: where it is, what it is made of, what it says of itself."""
    checks = [
        Check(check.name, check.finding, _IN_SHORT[check.finding])
        for check in found.checks
        if check.name not in _OPERATORS_OWN
    ]
    return Checkup(checks, found.probe_url)


_OPERATORS_OWN = frozenset(("notice", "disk"))
_IN_SHORT = {
    Finding.OK: "works",
    Finding.WARNING: "works, with something that whoever operates the server should look at (acai doctor).",
    Finding.FAILED: "does not work; tell whoever operates the server, who sees why (acai doctor).",
}
