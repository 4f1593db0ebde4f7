"""A project in two states: before and after restricted files, sets and jobs are added to it.

The same server answers in both states, so everything open has the same ids, times and costs in each. The restrictions
themselves exist in both. Jobs never run: the server's cluster does not answer, and their ends are written to the
database.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from acai_jupyter.contract.states import InputRole, JobState
from acai_jupyter.contract.uploads import NewFile, PackedBlob, SentObject
from acai_server.db.attempts import AttemptEnd
from acai_server.lake import inside
from acai_server.testing.lakes import hash_of

if TYPE_CHECKING:
    from acai_server.db.database import Database
    from tests.integration.places import Answer, Server

PROJECT = "/v1/projects/default"
GIB = 1024**3
MACHINE = {"vcpu": 1, "memory_bytes": GIB}


@dataclass(frozen=True)
class RestrictedProject:
    """A server with an admin, Ann who may read what is restricted, and Bob who may not."""

    server: Server
    database: Database
    ann: str
    bob: str

    # -- requests

    def ask(self, user: str, method: str, path: str, body: Any = None) -> Answer:
        """Send a request as 'admin', 'ann' or 'bob'."""
        headers = {"Authorization": f"Bearer {self.token_of(user)}"}
        return self.server.ask(method, path, body, token=None, headers=headers)

    def token_of(self, user: str) -> str:
        return {"admin": self.server.token, "ann": self.ann, "bob": self.bob}[user]

    def do(self, user: str, method: str, path: str, body: Any = None) -> Any:
        """Send a request below the project that has to succeed."""
        answer = self.ask(user, method, f"{PROJECT}/{path}", body)
        assert answer.status < 300, (method, path, answer.body)
        return answer.json

    def put(self, user: str, source: str, target: str, *options: str, **files: str) -> None:
        """Upload files, named with '__' for '/' and '_txt' for the ending."""
        place = self.server.place
        for name, content in files.items():
            place.write(f"{source}/{name.replace('__', '/')}.txt", content)
        signed_in = {"ACAI_TOKEN": self.token_of(user), "ACAI_URL": self.server.root}
        done = place.acai("put", source, target, *options, **signed_in)
        assert done.returncode == 0, done.stderr

    def create(self, user: str, name: str, *sources: str) -> None:
        self.do(user, "POST", "filesets", {"name": name, "sources": sources})

    def describe(self, thing: str, *labels: str, **attributes: Any) -> None:
        change = {"thing": thing, "set": attributes, "add_labels": labels}
        self.do("admin", "POST", "metadata", {"changes": [change]})

    # -- jobs

    def submit(self, user: str, seconds: float | None, *inputs: str, **how: Any) -> int:
        """Submit a job and, given its duration, finish it."""
        job = {"command": ["train"], "inputs": inputs, "template": "net", "resources": MACHINE, **how}
        number = int(self.do(user, "POST", "jobs", job)["number"])
        if seconds is not None:
            self.finish(number, seconds)
        return number

    def sweep(self, user: str, epochs: list[int], *inputs: str, **how: Any) -> str:
        """Submit a sweep and finish its jobs; more epochs take longer."""
        job = {"command": ["train"], "inputs": inputs, "template": "net", "resources": MACHINE, **how}
        sweep = self.do(user, "POST", "sweeps", {"job": job, "values": {"epoch": epochs}})
        for number, epoch in zip(sweep["jobs"], epochs, strict=True):
            self.finish(number, 10.0 * epoch)
        return str(sweep["tag"])

    def begin(self, number: int) -> Any:
        """Start a job on a machine that no runner of this server looks at."""
        with self.database.writing() as work:
            job = work.jobs.find(self._project(work), number)
            attempt = work.jobs.begin_attempt(job, "process@elsewhere", f"key-{number}", work.clock.now())
            assert attempt is not None
            for state in (JobState.DOWNLOADING, JobState.RUNNING):
                work.jobs.advance(job.id, state, "", work.clock.now(), attempt.id)
        return job, attempt

    def finish(self, number: int, seconds: float) -> None:
        """End a job as the recorder does, with a cost, an output and measurements."""
        job, attempt = self.begin(number)
        body = f"made by {number}".encode()
        output = job.request.output or f"job-{number}-output"
        with self.database.writing() as work:
            sha = hash_of(body)
            sent = SentObject(1, len(body), sha, [PackedBlob(sha, 0, len(body))])
            files = [NewFile(f"/{output}/out.txt", len(body), sha)]
            key = f"p{job.project_id}/jobs/{number}"
            entries = inside.record(work, job.project_id, job.user_id, [(key, sent)], files, job.id)
            made = inside.add_version(work, job.project_id, job.user_id, output, InputRole.DATA, entries)
            work.actions.add_output(job.id, made.id)
            work.jobs.set_output(job.id, made.id)
            usage = {"usage": {"max_memory_bytes": GIB // 4, "cpu_seconds": seconds, "samples": []}}
            end = AttemptEnd(0, seconds, seconds + 1, seconds * 0.01, 0, seen=usage)
            work.jobs.end_attempt(attempt.id, end)
            for state in (JobState.UPLOADING, JobState.FINISHED):
                work.jobs.advance(job.id, state, "", work.clock.now(), attempt.id)
            work.events.record(job.project_id, "job_finished", f"job {number}", state="finished")

    def _project(self, work: Any) -> Any:
        return work.projects.find("default")

    # -- the two states

    def add_open(self) -> None:
        """Add what everyone in the project sees, and restrictions that nothing is behind yet."""
        self.put("bob", "open", "/open", "--as", "open", a="a", b="b", sub__c="c")
        self.put("bob", "open", "/open", "--as", "open", a="a, corrected")
        self.create("bob", "mixed", "/open/a.txt")
        self.create("bob", "report", "@open")
        self.do("bob", "PUT", "filesets/open:1/aliases/paper")
        self.sweep("bob", [1, 2, 3, 4], "open", output="model")  # jobs 1 to 4
        self.submit("bob", 5.0, "model", template="score", output="scores")  # job 5
        for thing in ("/open/a.txt:1", "open:1", "1"):
            self.describe(thing, "gold", grade="A", score=1)
        self.do("admin", "PATCH", "budget", {"total_usd": 1000, "month_usd": 500})
        self.do("admin", "PATCH", "budget", {"user": "bob", "total_usd": 100})
        for what in ("@patients", "/patients/", "/open/inner/", "@late"):
            self.do("admin", "PUT", "restrictions", {"what": what, "readers": ["ann"], "writers": ["ann"]})

    def add_restricted(self) -> None:
        """Add what only Ann and admins see, next to, inside of and made from what is open."""
        self.put("ann", "patients", "/patients", "--as", "patients", one="1", ward__two="2")
        self.put("admin", "inner", "/open/inner", x="x")
        self.put("ann", "loose", "/loose", "--as", "patients", new="new")
        self.put("ann", "open", "/open", "--as", "patients", a="a, as only the clinic knows it")
        self.create("ann", "late", "/open/a.txt:2")
        self.create("ann", "joined", "@patients", "@open")
        self.create("ann", "report", "@patients:1")
        self.do("ann", "PUT", "filesets/patients:1/aliases/golden")
        self.do("ann", "PUT", "filesets/report:2/aliases/paper")
        self.sweep("ann", [5, 6, 7, 8], "patients:1", "open", output="raw")  # jobs 6 to 9
        self.sweep("ann", [1, 2, 3, 4], "patients", template="northern", output="raw")  # jobs 10 to 13
        self.submit("ann", 60.0, "late", command=["memo"], output="answer")  # job 14
        extra = {"tags": ["sweep-1"], "parameters": {"epoch": 9, "dose": 2}, "attributes": {"ward_beds": 4}}
        self.submit("ann", 70.0, "patients", **extra)  # job 15
        self.begin(self.submit("ann", None, "patients", template="live"))  # job 16
        self.submit("ann", None, "patients", template="waits")  # job 17
        self.submit("bob", 80.0, "open", command=["early"], output="early")  # job 18: restricted afterwards
        self.do("admin", "PUT", "restrictions", {"what": "@early", "readers": ["ann"]})
        profiling = {"job": {"command": ["p"], "inputs": ["patients"], "template": "probed", "resources": MACHINE}}
        self.do("ann", "POST", "profilings", {**profiling, "values": {"epoch": [1, 2]}, "vcpus": [1]})  # job 19
        for thing in ("/patients/one.txt:1", "/open/a.txt:3", "patients:1", "6"):
            self.describe(thing, "gold", "hush", grade=1, score=9, ward="north")
        self.do("ann", "POST", "predictions", {"template": "northern", "runs": [{"parameters": {"epoch": 2}}]})
