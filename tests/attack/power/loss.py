"""A server and its clients lose their power: what they had acknowledged is there when it comes back."""

from __future__ import annotations

import hashlib
import json
import re
import shutil
from contextlib import closing
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from tests.attack.power.disk import Cut, Disk
from tests.attack.power.recording import ACKNOWLEDGED, Recorder
from tests.integration.places import Place, Server, until

if TYPE_CHECKING:
    from pathlib import Path

    from tests.attack.campaign import Run

PROJECT = "/v1/projects/default"
SIZES = (0, 1, 5000, 300_000, 3_000_000)
LARGE = 70_000_000
STEPS = 6
CUTS = 4
SHORT_CUTS = 2
ENDS = ("finished", "failed", "killed", "crashed")
_COMMITTED = re.compile(r"\b(set\d+):(\d+)\b")


@dataclass
class Promise:
    """An acknowledgement: a version of a set with the hashes of its files, or a job."""

    ref: str = ""
    files: dict[str, str] = field(default_factory=dict)
    job: int = 0
    token: str = ""
    """A secret that the user's programs have kept."""


def power_loss(run: Run) -> None:
    """Record a server at work, cut the power at random moments, and look at what is left."""
    for number in run.rounds():
        home = run.home / f"{number}"
        recorded = _Recorded(run, home / "recorded")
        recorded.work()
        recorded.cut(home)
        shutil.rmtree(home)


class _Recorded:
    """A server at work, the acknowledgements that its users received, and every recorded change."""

    def __init__(self, run: Run, home: Path) -> None:
        self._run = run
        self._chance = run.chance
        self._promises: list[Promise] = []
        self._contents: dict[str, dict[str, bytes]] = {}
        self._place = Place(home)
        disk = home / "share"
        disk.mkdir()
        self._before = Disk(disk)
        self._recorder = Recorder(home, disk)
        self._place.environment |= self._recorder.variables

    def work(self) -> None:
        """Let users work, and note what is acknowledged."""
        with closing(self._place) as place:
            server = place.start(program="acai")
            server.status()
            self._promise(Promise(token=server.token))
            if self._chance.random() < 0.5:
                self._submit(server)
            for _ in range(STEPS // 2 if self._run.is_short else STEPS):
                self._chance.choice((self._put, self._put, self._put, self._submit))(server)
                if self._chance.random() < 0.2:
                    server.kill()
                    server = place.start(program="acai")
            server.kill()

    def _put(self, server: Server) -> None:
        name = f"set{self._chance.randrange(3)}"
        contents = self._contents.setdefault(name, {})
        for _ in range(self._chance.randint(1, 6)):
            size = LARGE if self._chance.random() < 0.03 else self._chance.choice(SIZES)
            contents[f"{self._chance.randrange(4)}/{self._chance.randrange(9)}.bin"] = self._chance.randbytes(size)
        for path, content in contents.items():
            server.place.write(f"{name}/{path}", content)
        done = server.place.acai("put", name, f"/{name}", "--as", name)
        if done.returncode:
            self._run.violation(f"a put failed although nothing was wrong: {done.stderr}")
            return
        found = _COMMITTED.search(done.stdout)
        if found is not None:
            hashes = {f"/{name}/{path}": hashlib.sha256(content).hexdigest() for path, content in contents.items()}
            self._promise(Promise(found[0], hashes))

    def _submit(self, server: Server) -> None:
        body = {"command": ["sh", "-c", "seq 2000; cp /bin/sh output/sh"], "output": "made", "retries": 5}
        answer = server.ask("POST", f"{PROJECT}/jobs", body)
        assert answer.status == 201, answer.body
        number = answer.json["number"]
        self._promise(Promise(job=number))
        if self._chance.random() < 0.7:
            job = _ended(server, number)
            if job["state"] == "finished":
                entries = server.get(f"{PROJECT}/filesets/{job['output']}/entries")["entries"]
                self._promise(Promise(job["output"], {one["path"]: one["sha256"] for one in entries}, number))

    def _promise(self, promise: Promise) -> None:
        self._recorder.acknowledge(f"{len(self._promises)}")
        self._promises.append(promise)

    def cut(self, home: Path) -> None:
        """Rebuild the disk as it is after power cuts at random moments, and check each."""
        events = list(self._recorder.events())
        promised = [at for at, event in enumerate(events) if event.kind == ACKNOWLEDGED]
        count = SHORT_CUTS if self._run.is_short else CUTS
        chosen = [self._chance.choice(promised) + 1 for _ in range(count // 2)]
        chosen += [self._chance.randrange(len(events)) for _ in range(count - len(chosen))]
        at = told = 0
        for number, stop in enumerate(sorted(chosen)):
            for event in events[at:stop]:
                if event.kind == ACKNOWLEDGED:
                    told += 1
                else:
                    self._before.apply(event)
            at = stop
            for cut in Cut:
                folder = home / f"{number}-{cut.name.lower()}"
                folder.mkdir()
                self._before.write(folder / "share", cut, self._chance)
                self._run.figures["kills"] += 1
                what = f"power cut after {stop} of {len(events)} changes ({cut.value})"
                _Restarted(self._run, folder, what).check(self._promises[:told])
                shutil.rmtree(folder)


class _Restarted:
    """A server on what is left of a disk."""

    def __init__(self, run: Run, home: Path, what: str) -> None:
        self._run = run
        self._what = what
        self._place = Place(home)

    def check(self, promises: list[Promise]) -> None:
        """Compare what is there with what was acknowledged."""
        with closing(self._place) as place:
            try:
                server = place.start(program="acai")
            except AssertionError:
                self._wrong("the server does not start", place.servers[-1].log[-2000:])
                return
            if faults := [row for row in place.sql("PRAGMA integrity_check") if row != ("ok",)]:
                self._wrong(f"the database is damaged: {faults[:3]}")
            for promise in promises:
                self._run.figures["requests"] += 1
                if promise.ref:
                    self._check_set(server, promise)
                elif promise.job:
                    self._check_job(server, promise)
                elif server.status().status == 200 and server.token != promise.token:
                    self._lost("the server has another token")
            self._check_all(server)
            place.write("after/file", "after")
            done = place.acai("put", "after", "/after", "--as", "after")
            if done.returncode:
                self._wrong(f"nothing can be put afterwards: {done.stderr}")
            if "Traceback" in server.log:
                self._wrong("the server logged a traceback", server.log[server.log.index("Traceback") :][:2000])

    def _check_set(self, server: Server, promise: Promise) -> None:
        answer = server.ask("GET", f"{PROJECT}/filesets/{promise.ref}/entries?limit=1000")
        if answer.status != 200:
            self._lost(f"{promise.ref} is not there", answer.body.decode())
            return
        found = {one["path"]: one["sha256"] for one in answer.json["entries"]}
        if found != promise.files:
            self._lost(f"{promise.ref} holds other files than were acknowledged")

    def _check_job(self, server: Server, promise: Promise) -> None:
        answer = server.ask("GET", f"{PROJECT}/jobs/{promise.job}")
        self._run.figures["jobs"] += 1
        if answer.status != 200:
            self._lost(f"job {promise.job} is not there", answer.body.decode())
        elif (job := _ended(server, promise.job))["state"] != "finished":
            self._lost(f"job {promise.job} was lost", json.dumps(job)[:1500])

    def _check_all(self, server: Server) -> None:
        """Read everything that can be seen: no version is half there."""
        for one in server.get(f"{PROJECT}/filesets")["file_sets"]:
            for version in range(1, one["version"] + 1):
                ref = f"{one['name']}:{version}"
                target = self._place.home / "got" / ref.replace(":", "-")
                done = self._place.acai("get", f"@{ref}", str(target))
                if done.returncode:
                    self._wrong(f"{ref} cannot be read: {done.stderr}")

    def _lost(self, what: str, *steps: str) -> None:
        self._run.figures["lost"] += 1
        self._wrong(what, *steps)

    def _wrong(self, what: str, *steps: str) -> None:
        self._run.violation(f"{self._what}: {what}", *steps)


def _ended(server: Server, number: int) -> dict[str, Any]:
    def look() -> dict[str, Any] | None:
        job: dict[str, Any] = server.get(f"{PROJECT}/jobs/{number}")
        return job if job["state"] in ENDS else None

    return until(look, f"job {number} to end")
