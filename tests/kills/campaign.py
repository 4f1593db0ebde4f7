"""A campaign: clients at work, a killer among them, and a check now and then."""

from __future__ import annotations

import random
import threading
import time
from collections import Counter
from contextlib import closing
from typing import TYPE_CHECKING

from acai_jupyter.contract import endpoints
from acai_jupyter.contract.errors import AcaiError
from acai_jupyter.contract.garbage import CollectGarbage, CollectionState
from tests.integration.places import Place
from tests.kills import records
from tests.kills.backends import BACKENDS
from tests.kills.checks import RecordChecks
from tests.kills.gate import Gate
from tests.kills.moments import ANY_TIME, Moments
from tests.kills.oracle import Oracle
from tests.kills.reading import Reading
from tests.kills.running import Serving
from tests.kills.writers import Collector, LineWriter, RawWriter, Reader, Writer

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from tests.kills.backends import Backend

LONGEST_SECONDS = 240.0
"""What the lines under way may take to come to their ends, once nobody is killed any more."""
AGES = {
    "file_version": "deleted_at",
    "file_set_version": "deleted_at",
    "object": "emptied_at",
    "chunk": "used_at",
    "upload_session": "ended_at",
}
"""Since when something is as it is."""
MOST = 1500
"""Versions that are read one by one at the end."""
VICTIMS = {"the server": 30, "a client": 50, "several clients": 10, "everything": 10}
AIMED = {"the server": 40, "its client": 40, "several clients": 10, "everything": 10}
"""Right after something: who did it is mostly told by the session that was touched last."""


class Campaign:
    """So many kills with one seed. What is drawn follows from the seed; how it falls out is up to the machine."""

    def __init__(self, place: Place, backend: Backend, seed: str, say: Callable[[str], object]) -> None:
        self._say = say
        self._chance = random.Random(f"{seed}-killer")
        self._pause = threading.Event()
        self._oracle = Oracle(say)
        self._serving = Serving(place, backend, random.Random(f"{seed}-server"))
        self._backend = backend
        self._checks = RecordChecks(backend, self._oracle)
        self._reading = Reading(self._oracle, random.Random(f"{seed}-reading"))
        journals = place.home / "journals"
        journals.mkdir()
        self._moments = Moments(backend.database, backend.watched, journals)
        self._gate = Gate()
        known = (seed, place, self._oracle, self._serving)
        self._raw = [RawWriter(f"raw{n}", *known) for n in range(2)]
        self._writers: list[Writer] = [*(LineWriter(f"line{n}", *known) for n in range(2)), *self._raw]
        self._writers += [Reader("reader", *known), Collector("collector", *known)]
        self._killed: Counter[str] = Counter()
        self._when: Counter[str] = Counter()
        self._began = time.monotonic()

    def run(self, kills: int, check_every: int) -> list[str]:
        """Do it; returns what is wrong."""
        self._serving.start()
        threads = [
            threading.Thread(target=writer.live, args=(self._gate,), name=writer.name) for writer in self._writers
        ]
        for thread in threads:
            thread.start()
        try:
            for number in range(1, kills + 1):
                self._strike()
                if number % check_every == 0 and number < kills:
                    self._check()
                    self._tell(number)
        finally:
            self._gate.end()
            for thread in threads:
                thread.join(LONGEST_SECONDS)
        if any(thread.is_alive() for thread in threads):
            self._oracle.wrong("clients do not come to their end")
        self._end_pending()
        self._check(most=min(MOST, 10 * kills))
        self._collect_all()
        self._check(most=min(MOST, 10 * kills))
        self._tell(kills)
        return self._oracle.violations

    def _strike(self) -> None:
        moment = self._moments.wait(self._chance, self._pause)
        victims = VICTIMS if moment == ANY_TIME else AIMED
        victim = self._chance.choices(list(victims), list(victims.values()))[0]
        if victim in ("the server", "everything"):
            self._serving.kill()
            self._killed["server"] += 1
        if victim != "the server":
            self._kill_clients(victim)
        self._when[moment] += 1
        if victim in ("the server", "everything"):
            if self._chance.random() < 0.1:
                self._serving.start_and_kill()
                self._when["while the server starts"] += 1
                self._killed["server"] += 1
            self._serving.start()

    def _kill_clients(self, victim: str) -> None:
        running = [writer for writer in self._writers if writer.process.is_running]
        self._chance.shuffle(running)
        if victim == "its client":
            label = self._serving.last_label()
            running.sort(key=lambda writer: writer.name not in label)
        chosen = running if victim == "everything" else running[: 4 if victim == "several clients" else 1]
        for writer in chosen:
            self._killed["client"] += writer.process.kill()

    def _check(self, *, most: int | None = None) -> None:
        """Check everything, reading some over the API; at the end all records are looked at, and most are read."""
        if not self._gate.close(LONGEST_SECONDS):
            self._oracle.wrong("lines do not come to their end although nobody is killed any more")
            return
        records = self._checks.run(final=most is not None)
        self._reading.run(self._serving.server.client(), records, most=most)
        for log in self._serving.logs():
            if "Traceback" in log:
                self._oracle.wrong(f"a server logged {log[log.index('Traceback') :][:1500]}")
        self._gate.open()

    def _end_pending(self) -> None:
        """Continue half of what was left, and abort all else."""
        for writer in self._raw:
            for line, attempt in writer.left[::2]:
                line.task.end = "commit"
                line.save()
                writer.finish(line, attempt)
        client = self._serving.server.client()
        try:
            while found := client.call(endpoints.LIST_UPLOADS).uploads:
                for one in found:
                    client.call(endpoints.ABORT_UPLOAD, upload=one.id)
        except AcaiError as error:
            self._oracle.wrong(f"a pending session cannot be aborted: {error.message}")

    def _collect_all(self) -> None:
        """When all that is deleted has been so for long, collecting leaves nothing that is not needed."""
        client = self._serving.server.client()
        for _ in range(2):  # what was moved goes the second time
            for table, column in AGES.items():
                change = f"UPDATE {table} SET {column} = '2020-01-01 00:00:00.000000'"
                self._backend.database.change(f"{change} WHERE {column} IS NOT NULL")
            found = client.call(endpoints.COLLECT_GARBAGE, CollectGarbage())
            while found.state is CollectionState.RUNNING:
                found = client.call(endpoints.GET_COLLECTION, query={"wait_seconds": 20}, collection=found.id)
            if found.state is CollectionState.FAILED:
                self._oracle.wrong(f"a collection failed: {found.reason}")
            self._say(f"collected: {', '.join(f'{one.count} {one.kind.value}' for one in found.garbage) or 'nothing'}")
        for wrong in self._checks.collected(records.read(self._backend.database)):
            self._oracle.wrong(wrong)

    def _tell(self, kills: int) -> None:
        checks, reading = self._checks, self._reading
        self._say(
            f"{kills} kills in {time.monotonic() - self._began:.0f} s: {self._killed['server']} of the server, "
            f"{self._killed['client']} of clients · {self._oracle.finished} lines done, {checks.commits} commits "
            f"answered · {checks.versions} versions checked, {reading.read_versions} of them read · "
            f"{checks.checked_bytes / 1e6:,.0f} MB hashed in the store, {reading.read_bytes / 1e6:,.0f} MB got · "
            f"{checks.garbage_bytes / 1e6:,.0f} MB not needed · {len(self._oracle.violations)} violations"
        )
        self._say(" · ".join(f"{count} {moment}" for moment, count in self._when.most_common()))


def campaign(
    home: Path, *, kills: int, seed: str, backend: str, check_every: int, say: Callable[[str], object]
) -> list[str]:
    """Run a campaign in a folder of its own; returns what is wrong."""
    say(f"seed {seed}, {kills} kills, {backend}, in {home}")
    with closing(Place(home)) as place, BACKENDS[backend](place) as kept:
        return Campaign(place, kept, seed, say).run(kills, check_every)
