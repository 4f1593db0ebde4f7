"""Bare Kubernetes Jobs with a person who follows them: the least that a program in a cluster takes."""

from __future__ import annotations

import asyncio
import os
import time
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any
from uuid import uuid4

from acai_server.runners.kubernetes import calls
from acai_server.runners.kubernetes.api import Api, Missing, Taken, decoded
from acai_server.runners.kubernetes.credentials import find
from acai_server.runners.kubernetes.reasons import container
from acai_server.runners.kubernetes.seen import Job, Listed, Pod
from acai_server.runners.kubernetes.watching import Watch

if TYPE_CHECKING:
    from collections.abc import AsyncIterator

    from tests.servers.cluster import Cluster

LABEL = "acai-bench/bare"
PATIENCE_SECONDS = 300.0
REQUESTS = {"cpu": "10m", "memory": "32Mi"}
"""So little that a hundred find room at once; ours ask for the same."""
LIMITS = {"cpu": "1", "memory": "1088Mi"}
"""Those of a job that asks for nothing."""


@dataclass
class Followed:
    """Jobs that were made at once, and when what was seen of them. Times are of the clock of performance."""

    api: Api
    group: str
    count: int
    made_at: float = 0.0
    line_at: float = 0.0
    complete: set[str] = field(default_factory=set)
    over: asyncio.Event = field(default_factory=asyncio.Event)
    said: asyncio.Event = field(default_factory=asyncio.Event)
    reader: asyncio.Task[None] | None = None

    def see_job(self, job: Job) -> None:
        """Count a Job that is complete."""
        if any((one.type, one.status) == ("Complete", "True") for one in job.status.conditions):
            self.complete.add(job.metadata.name)
        if len(self.complete) == self.count:
            self.over.set()

    def see_pod(self, pod: Pod) -> None:
        """Follow the log of the first pod, as soon as there is one."""
        state = container(pod)
        if self.reader is None and (state.running is not None or state.terminated is not None):
            self.reader = asyncio.create_task(self._read(pod.metadata.name))

    async def _read(self, pod: str) -> None:
        async for _ in self.api.stream(calls.READ_LOG, pod, {"follow": "true"}):
            self.line_at = self.line_at or time.perf_counter()
            self.said.set()


async def run(cluster: Cluster, count: int) -> tuple[float, float]:
    """Make Jobs at once; return the seconds to the first line in a person's hands, and until all are complete."""
    access = find(os.environ["KUBECONFIG"], "")
    api = Api(access, cluster.namespace)
    try:
        async with _watching(api, count) as found:
            found.made_at = time.perf_counter()
            await asyncio.gather(*(api.ask(calls.CREATE_JOB, body=_job(cluster, found, n)) for n in range(count)))
            await asyncio.wait_for(found.over.wait(), PATIENCE_SECONDS)
            seconds = time.perf_counter() - found.made_at
            await asyncio.wait_for(found.said.wait(), PATIENCE_SECONDS)
            return found.line_at - found.made_at, seconds
    finally:
        await _remove(api)
        await api.close()


@asynccontextmanager
async def _watching(api: Api, count: int) -> AsyncIterator[Followed]:
    found = Followed(api, uuid4().hex[:8], count)
    selector, listed = f"{LABEL}={found.group}", asyncio.Semaphore(0)

    def fill(_: Any, __: float) -> None:
        listed.release()

    def ignore(_: Any) -> None:
        pass

    jobs = Watch(api, (calls.LIST_JOBS, calls.WATCH_JOBS), Job, selector, take=found.see_job, drop=ignore, fill=fill)
    pods = Watch(api, (calls.LIST_PODS, calls.WATCH_PODS), Pod, selector, take=found.see_pod, drop=ignore, fill=fill)
    tasks = [asyncio.create_task(watch.run()) for watch in (jobs, pods)]
    try:
        await listed.acquire()
        await listed.acquire()
        yield found
    finally:
        tasks += [] if found.reader is None else [found.reader]
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)


async def _remove(api: Api) -> None:
    found = decoded(await api.ask(calls.LIST_JOBS, words={"labelSelector": LABEL}), Listed[Job]).found
    for job in found:
        try:
            await api.ask(calls.DELETE_JOB, job.metadata.name, words={"propagationPolicy": "Background"})
        except (Missing, Taken):
            continue


def _job(cluster: Cluster, followed: Followed, number: int) -> dict[str, Any]:
    labels = {LABEL: followed.group}
    container = {
        "name": "agent",
        "image": cluster.image,
        "imagePullPolicy": "IfNotPresent",
        "command": ["python3", "-c", "print('said')"],
        "resources": {"requests": REQUESTS, "limits": LIMITS},
        "securityContext": {"allowPrivilegeEscalation": False, "capabilities": {"drop": ["ALL"]}},
    }
    security = {"runAsNonRoot": True, "runAsUser": 54321, "seccompProfile": {"type": "RuntimeDefault"}}
    spec = {"restartPolicy": "Never", "containers": [container], "securityContext": security}
    return {
        "apiVersion": "batch/v1",
        "kind": "Job",
        "metadata": {"name": f"bare-{followed.group}-{number}", "labels": labels},
        "spec": {"backoffLimit": 0, "template": {"metadata": {"labels": labels}, "spec": spec}},
    }
