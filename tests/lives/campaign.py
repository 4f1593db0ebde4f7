"""A campaign: jobs come, servers and agents are killed, and in the end all is as it must be."""

from __future__ import annotations

import json
import os
import random
import signal
import time
from collections import Counter
from contextlib import closing, suppress
from pathlib import Path
from typing import TYPE_CHECKING, Any

import urllib3

from tests.integration.places import Place, Server, until
from tests.kills.backends import BACKENDS
from tests.lives.programs import Program, program

if TYPE_CHECKING:
    from collections.abc import Callable

JOBS = "/v1/projects/default/jobs"
ENDS = {"finished", "failed", "killed", "crashed"}
LONGEST_SECONDS = 600.0
LEFT_SECONDS = 30.0
AGENT_SECONDS = 3.0
"""So long one that can be killed is waited for."""


class Campaign:
    """One server at a time; what it must not lose is kept here."""

    def __init__(self, place: Place, variables: dict[str, str], seed: str, say: Callable[[str], object]) -> None:
        self._place = place
        self._variables = variables
        self._chance = random.Random(seed)
        self._say = say
        self._server: Server | None = None
        self._programs: dict[int, Program] = {}
        self._killed: Counter[str] = Counter()
        self._wrong: list[str] = []

    def run(self, jobs: int, kills: int) -> list[str]:
        """Do it; returns what is wrong."""
        began = time.monotonic()
        self._start()
        waiting = [program(f"t{number}", self._chance) for number in range(jobs)]
        for _ in range(kills):
            share = max(1, jobs // max(1, kills))
            for one in waiting[:share]:
                self._submit(one)
            del waiting[:share]
            self._kill_jobs()
            self._strike()
        for one in waiting:
            self._submit(one)
        self._kill_jobs()
        self._end_all()
        self._check()
        states = Counter(job["state"] for job in map(self._job, self._programs))
        self._say(
            f"{len(self._programs)} jobs, {self._killed['server']} servers, {self._killed['agent']} agents killed in "
            f"{time.monotonic() - began:.0f} s · {dict(states)} · {len(self._wrong)} violations"
        )
        return self._wrong

    def _start(self) -> None:
        self._server = self._place.start(program="acai", **self._variables)

    def _ask(self, method: str, path: str, body: Any = None) -> Any:
        assert self._server is not None
        return self._server.ask(method, path, body)

    def _submit(self, one: Program) -> None:
        answer = self._ask("POST", JOBS, one.request)
        assert answer.status == 201, answer.body
        self._programs[answer.json["number"]] = one

    def _job(self, number: int) -> dict[str, Any]:
        found: dict[str, Any] = self._ask("GET", f"{JOBS}/{number}").json
        return found

    def _kill_jobs(self) -> None:
        for number, one in self._programs.items():
            if one.to_be_killed and self._chance.random() < 0.5:
                answer = self._ask("POST", f"{JOBS}/{number}/kill")
                assert answer.status in (200, 409), answer.body

    def _strike(self) -> None:
        """Kill a server, an agent or both, some time after something began."""
        self._pause(self._chance.choice((0.0, 0.05, 0.2, 0.7)))
        victim = self._chance.choice(("server", "server", "agent", "both"))
        if victim in ("agent", "both"):
            self._kill_agent()
        if victim in ("server", "both"):
            assert self._server is not None
            self._server.kill()
            self._killed["server"] += 1
            self._start()

    def _pause(self, seconds: float) -> None:
        end = time.monotonic() + seconds
        until(lambda: time.monotonic() >= end, "the moment")

    def _kill_agent(self) -> None:
        found: list[Path] = []
        end = time.monotonic() + AGENT_SECONDS
        while not found and time.monotonic() < end:
            self._pause(0.01)
            found = sorted(self._place.data.glob("attempts/*/process"))
        if not found:
            return
        with suppress(OSError, ValueError, KeyError):
            process = json.loads(self._chance.choice(found).read_text())
            os.kill(process["pid"], signal.SIGKILL)
            self._killed["agent"] += 1

    def _end_all(self) -> None:
        end = time.monotonic() + LONGEST_SECONDS
        for number in self._programs:
            while self._job(number)["state"] not in ENDS:
                if time.monotonic() > end:
                    self._wrong.append(f"job {number} does not come to its end: {self._job(number)}")
                    return
                self._pause(0.1)

    def _check(self) -> None:
        for number, one in self._programs.items():
            self._check_job(number, one, self._job(number))
        end = time.monotonic() + LEFT_SECONDS
        while (left := self._left()) and time.monotonic() < end:
            self._pause(0.1)
        if left:
            self._wrong.append(f"after all jobs have ended, these are left: {left}")
        numbers = [job["number"] for job in self._place_jobs()]
        if sorted(numbers) != sorted(self._programs):
            self._wrong.append(f"there are jobs that nobody submitted: {numbers}")
        with suppress(urllib3.exceptions.HTTPError):
            assert self._server is not None
            if "Traceback" in self._server.log:
                self._wrong.append(self._server.log[self._server.log.index("Traceback") :][:2000])

    def _check_job(self, number: int, one: Program, job: dict[str, Any]) -> None:
        state = job["state"]
        if state not in one.ends():
            self._wrong.append(f"job {number} is {state} ({job['reason']}), not {one.ends()}")
        versions = self._ask("GET", f"/v1/projects/default/filesets/{one.output}")
        made = versions.json["version"] if versions.status == 200 else 0
        if made != (1 if state == "finished" else 0):
            self._wrong.append(f"job {number} is {state} and has made {made} versions of its output")
        log = self._ask("GET", f"{JOBS}/{number}/log.txt").body.decode()
        whole = one.log()
        is_right = log == whole if state in ("finished", "failed") else whole.startswith(log)
        if not is_right:
            self._wrong.append(f"job {number} is {state}, and its log is {log[-300:]!r}")
        ends = [
            step["state"] for attempt in job["attempts"] for step in attempt["transitions"] if step["state"] in ENDS
        ]
        if state != "killed" and (ends[-1:] != [state] or set(ends[:-1]) - {"crashed"}):
            self._wrong.append(f"job {number} is {state}, and its attempts ended {ends}")

    def _place_jobs(self) -> list[dict[str, Any]]:
        found: list[dict[str, Any]] = []
        before = ""
        while True:
            page = self._ask("GET", f"{JOBS}?limit=500{before}").json
            found += page["jobs"]
            if page["next"] is None:
                return found
            before = f"&before={page['next']}"

    def _left(self) -> list[str]:
        """Folders of attempts, and processes that belong to one."""
        folders = [str(path) for path in self._place.data.glob("attempts/*") if path.name.startswith("job-")]
        return folders + [str(pid) for pid in _processes(str(self._place.data / "attempts"))]


def _processes(folder: str) -> list[int]:
    """Processes whose environment or working folder leads to attempts."""
    found = []
    for path in Path("/proc").glob("[0-9]*"):
        with suppress(OSError):
            of_job = f"{folder}/job-".encode()
            if of_job in (path / "environ").read_bytes() or str((path / "cwd").readlink()).startswith(f"{folder}/job-"):
                state = (path / "stat").read_text().rpartition(")")[2].split()[0]
                if state != "Z":
                    found.append(int(path.name))
    return found


def campaign(
    home: Path, *, jobs: int, kills: int, seed: str, say: Callable[[str], object], backend: str = "folder"
) -> list[str]:
    """Run a campaign in a folder of its own; returns what is wrong."""
    say(f"seed {seed}, {jobs} jobs, {kills} kills, backend {backend}, in {home}")
    with closing(Place(home)) as place, BACKENDS[backend](place) as chosen:
        return Campaign(place, chosen.variables, seed, say).run(jobs, kills)
