"""Jobs on a cluster beside bare Kubernetes Jobs of one `print`, in turn; ours fetch an input and record an output."""

from __future__ import annotations

import asyncio
import json
import tempfile
import threading
import time
from contextlib import closing, contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from acai_jupyter.client.connection import Connection
from acai_jupyter.client.follow import follow_log, wait
from acai_jupyter.client.http import Client
from acai_jupyter.contract import endpoints
from acai_jupyter.contract.jobs import CreateJob
from benchmarks import bare_jobs, watched_pods
from benchmarks.bare_jobs import REQUESTS
from benchmarks.report import Row, median
from tests.integration.places import Place
from tests.servers.cluster import Cluster, address_for_pods, namespace
from tests.servers.process import ServerMissing
from tests.servers.seaweedfs import seaweedfs

if TYPE_CHECKING:
    from collections.abc import Iterator

    from acai_jupyter.contract.ids import JobNumber
    from acai_jupyter.contract.jobs import Job
    from tests.integration.places import Server
    from tests.servers.seaweedfs import Seaweedfs

ROUNDS = 5
MANY = 100
ROUNDS_OF_MANY = 2
FEW, MORE = 5, 35
"""How many run before and while it is looked at what a job costs the server."""
PROGRAM = "print('said', flush=True); open('output/made', 'w').write(open('given/number').read())"
SILENT = "import time; print('here', flush=True); time.sleep(3600)"


def run() -> list[Row]:
    """Measure all of it, where there is a cluster."""
    try:
        address = address_for_pods()
        with namespace() as cluster, seaweedfs(address) as s3, _server(cluster, s3) as ours:
            ours.once()
            rows = [*_one(cluster, ours), *_many(cluster, ours), *_cost(ours)]
        with namespace() as cluster:
            return [*rows, _watched(cluster)]
    except ServerMissing as missing:
        return [Row("jobs on a cluster", float("nan"), "s", beside=str(missing))]


@dataclass
class Ours:
    """A server whose jobs run on the cluster, and a person who submits and follows."""

    server: Server
    client: Client
    cluster: Cluster

    def submit(self, program: str, *, whole: bool) -> Job:
        """Submit a job; a whole one has an input and an output."""
        sets = {"inputs": ["given"], "output": "made"} if whole else {}
        return self.client.call(
            endpoints.CREATE_JOB,
            CreateJob(["python3", "-c", program], **sets),  # type: ignore[arg-type]
        )

    def once(self) -> tuple[float, float]:
        """Return the seconds to the first line in a person's hands, and until it has finished."""
        line_at: list[float] = []
        begun = time.perf_counter()
        job = self.submit(PROGRAM, whole=True)
        follower = threading.Thread(target=self._follow, args=(job.number, line_at))
        follower.start()
        done = wait(self.client, job.number)
        seconds = time.perf_counter() - begun
        follower.join()
        assert (done.state, done.output is not None) == ("finished", True), done.reason
        until_gone(self.cluster)
        return line_at[0] - begun, seconds

    def many(self, count: int) -> float:
        """Return the seconds until all of so many have finished that were submitted at once."""
        begun = time.perf_counter()
        jobs = [self.submit(PROGRAM, whole=True) for _ in range(count)]
        ended = [wait(self.client, job.number) for job in jobs]
        seconds = time.perf_counter() - begun
        assert {job.state for job in ended} == {"finished"}, [job.reason for job in ended if job.reason]
        until_gone(self.cluster)
        return seconds

    def running(self, count: int) -> list[JobNumber]:
        """Let so many run that print nothing more."""
        jobs = [self.submit(SILENT, whole=False).number for _ in range(count)]
        for number in jobs:
            next(follow_log(self.client, number))
        return jobs

    def _follow(self, number: int, line_at: list[float]) -> None:
        next(follow_log(Client(self.client.connection), number))
        line_at.append(time.perf_counter())


def until_gone(cluster: Cluster) -> None:
    """Wait until no pods are left: what comes next is not to pay for them."""
    while cluster.names("pods", ""):
        time.sleep(0.2)


@contextmanager
def _server(cluster: Cluster, s3: Seaweedfs) -> Iterator[Ours]:
    requests = {"name": "agent", "resources": {"requests": REQUESTS}}
    with tempfile.TemporaryDirectory() as folder, closing(Place(Path(folder))) as place:
        template = place.write("template.yaml", json.dumps({"spec": {"containers": [requests]}}))
        for name in ("PYTHONWARNINGS", "PYTHONDONTWRITEBYTECODE"):  # what tests want and a user does not have
            place.environment.pop(name, None)
        server = place.start(
            program="acai",
            ACAI_RUNNER="kubernetes",
            ACAI_KUBERNETES_NAMESPACE=cluster.namespace,
            ACAI_KUBERNETES_IMAGE=cluster.image,
            ACAI_KUBERNETES_TEMPLATE=str(template),
            ACAI_QUOTA=str(2 * MANY),
            ACAI_OBJECT_STORE="s3",
            ACAI_S3_BUCKET=s3.make_bucket(),
            ACAI_S3_ENDPOINT_URL=s3.url,
            **s3.environment,
        )
        place.write("given/number", "7")
        done = place.acai("put", "given", "/given", "--as", "given")
        assert done.returncode == 0, done.stderr
        yield Ours(server, Client(Connection(server.root, server.token)), cluster)


def _one(cluster: Cluster, ours: Ours) -> list[Row]:
    bare, here = [], []
    for _ in range(ROUNDS):
        bare.append(asyncio.run(bare_jobs.run(cluster, 1)))
        until_gone(cluster)
        here.append(ours.once())
    lines, complete = (median([one[part] for one in bare]) for part in (0, 1))
    told = f"median of {ROUNDS}"
    return [
        Row("first line in a person's hands: bare Job", lines, "s", beside=told),
        Row("first line in a person's hands: ACAI", median([one[0] for one in here]), "s", beside=told).promising(
            1.3 * lines + 0.3, "1.3 times that and 0.3 s"
        ),
        Row("complete: bare Job", complete, "s", beside=told),
        Row("finished, outputs recorded: ACAI", median([one[1] for one in here]), "s", beside=told).promising(
            complete, "the bare Job's"
        ),
    ]


def _many(cluster: Cluster, ours: Ours) -> list[Row]:
    bare, here = [], []
    for _ in range(ROUNDS_OF_MANY):
        bare.append(asyncio.run(bare_jobs.run(cluster, MANY))[1])
        until_gone(cluster)
        here.append(ours.many(MANY))
    told = f"median of {ROUNDS_OF_MANY}"
    return [
        Row(f"{MANY} at once, complete: bare Jobs", median(bare), "s", beside=told),
        Row(f"{MANY} at once, finished: ACAI", median(here), "s", beside=told).promising(
            1.2 * median(bare), "1.2 times that"
        ),
    ]


def _cost(ours: Ours) -> list[Row]:
    """What running jobs cost the server, beyond a few."""
    started = ours.running(FEW)
    before = _holds(ours.server.process.pid)
    started += ours.running(MORE)
    time.sleep(5)
    after = _holds(ours.server.process.pid)
    for number in started:
        ours.client.call(endpoints.KILL_JOB, job=number)
    for number in started:
        wait(ours.client, number)
    threads, streams, kilobytes = ((now - then) / MORE for then, now in zip(before, after, strict=True))
    told = f"{MORE} more that print nothing"
    return [
        Row("the server's threads for a running job", threads, "", 0, beside=told),
        Row("the server's open streams for a running job", streams, "", 1, beside=told),
        Row("the server's memory for a running job", kilobytes, "KB", 100, beside=told),
    ]


def _watched(cluster: Cluster) -> Row:
    share = asyncio.run(watched_pods.measure(cluster))
    told = f"{watched_pods.CHANGES_A_SECOND:g} changes a second; none of them runs"
    return Row(f"watching {watched_pods.PODS:,} pods", share * 100, "% of a core", 10, beside=told)


def _holds(pid: int) -> tuple[int, int, int]:
    """Return a process's threads, sockets, and memory of its own in KB."""
    process = Path(f"/proc/{pid}")
    status = dict(line.split(":", 1) for line in (process / "status").read_text().splitlines())
    sockets = [link for link in (process / "fd").iterdir() if _leads_to_socket(link)]
    return int(status["Threads"]), len(sockets), int(status["RssAnon"].split()[0])


def _leads_to_socket(link: Path) -> bool:
    try:
        return str(link.readlink()).startswith("socket:")
    except FileNotFoundError:
        return False
