"""Thousands of pods in a real API server that no scheduler sees to, and whose states are changed from here.

Run as a program it is a runner that watches them, and nothing else.
"""

from __future__ import annotations

import asyncio
import os
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import TYPE_CHECKING
from uuid import uuid4

import acai_server
from acai_server.runners.kubernetes import calls, objects
from acai_server.runners.kubernetes.api import Api
from acai_server.runners.kubernetes.calls import Call
from acai_server.runners.kubernetes.credentials import find
from acai_server.runners.kubernetes.runner import KubernetesRunner
from acai_server.runners.kubernetes.settings import KubernetesSettings

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable

    from tests.servers.cluster import Cluster

PODS = 5000
CHANGES_A_SECOND = 40.0
"""As when each of them lasts ten minutes and is seen in five states."""
SECONDS = 30.0
SETTLE_SECONDS = 15.0
AT_ONCE = 32
CREATE_POD = Call("", "pods", "create")
PATCH_STATUS = Call("", "pods/status", "patch")
WAITING = {"name": objects.CONTAINER, "image": "none", "imageID": "", "ready": False, "restartCount": 0}


async def measure(cluster: Cluster) -> float:
    """Return the share of a core that watching costs."""
    instance = uuid4().hex[:8]
    access = find(os.environ["KUBECONFIG"], "")
    api = Api(access, cluster.namespace)
    try:
        names = [f"job-1-{number}-1" for number in range(PODS)]
        await _all(lambda name: _make(api, instance, name), names)
        return await _watched(api, cluster, instance, names)
    finally:
        await asyncio.to_thread(cluster.ask, "delete", "pods", "--all", "--grace-period=0", "--force", "--wait=false")
        await asyncio.to_thread(cluster.ask, "delete", "jobs", "--all", "--wait=false", "--cascade=background")
        await api.close()


async def _watched(api: Api, cluster: Cluster, instance: str, names: list[str]) -> float:
    command = [sys.executable, "-m", "benchmarks.watched_pods", cluster.namespace, instance]
    with subprocess.Popen(command, stdout=subprocess.PIPE) as process:  # noqa: ASYNC220 (nothing else is to go on)
        try:
            assert process.stdout is not None
            known = await asyncio.to_thread(process.stdout.readline)
            assert int(known) == len(names), known
            changing = asyncio.create_task(_change(api, instance, names))
            await asyncio.sleep(SETTLE_SECONDS)
            before, begun = _cpu_seconds(process.pid), time.perf_counter()
            await asyncio.sleep(SECONDS)
            share = (_cpu_seconds(process.pid) - before) / (time.perf_counter() - begun)
            changing.cancel()
            await asyncio.gather(changing, return_exceptions=True)
            return share
        finally:
            process.terminate()


async def _change(api: Api, instance: str, names: list[str]) -> None:
    """Change the states of pods one after the other, so many a second."""
    number = 0
    begun = time.monotonic()
    while True:
        await asyncio.sleep(max(0.0, begun + number / CHANGES_A_SECOND - time.monotonic()))
        name = objects.name_of(instance, names[number % len(names)])
        await api.ask(PATCH_STATUS, name, {"status": {"message": f"change {number}"}})
        number += 1


async def _make(api: Api, instance: str, name: str) -> None:
    """Make a Kubernetes Job that nobody sees to, its Secret, and its pod, whose container is being made."""
    settings = KubernetesSettings(instance=instance, image="none")
    labels = {objects.INSTANCE: instance, objects.ATTEMPT: name}
    metadata = {"name": objects.name_of(settings.instance, name), "labels": labels}
    security = {"allowPrivilegeEscalation": False, "capabilities": {"drop": ["ALL"]}}
    container = {"name": objects.CONTAINER, "image": "none", "command": ["none"], "securityContext": security}
    pod_security = {"runAsNonRoot": True, "seccompProfile": {"type": "RuntimeDefault"}}
    spec = {"restartPolicy": "Never", "containers": [container], "securityContext": pod_security}
    template = {"metadata": {"labels": labels}, "spec": spec}
    job = {"managedBy": "acai-bench/nobody", "template": template}
    await api.ask(calls.CREATE_JOB, body={"apiVersion": "batch/v1", "kind": "Job", "metadata": metadata, "spec": job})
    await api.ask(calls.CREATE_SECRET, body={"apiVersion": "v1", "kind": "Secret", "metadata": metadata})
    alone = {"schedulerName": "nobody", "automountServiceAccountToken": False}
    await api.ask(CREATE_POD, body={"apiVersion": "v1", "kind": "Pod", "metadata": metadata, "spec": spec | alone})
    waiting = WAITING | {"state": {"waiting": {"reason": "ContainerCreating"}}}
    await api.ask(PATCH_STATUS, str(metadata["name"]), {"status": {"containerStatuses": [waiting]}})


async def _all(act: Callable[[str], Awaitable[None]], names: list[str]) -> None:
    room = asyncio.Semaphore(AT_ONCE)

    async def one(name: str) -> None:
        async with room:
            await act(name)

    await asyncio.gather(*map(one, names))


def _cpu_seconds(pid: int) -> float:
    fields = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


def main() -> None:
    """Watch until somebody ends it."""
    settings = KubernetesSettings(instance=sys.argv[2], namespace=sys.argv[1], kubeconfig=os.environ["KUBECONFIG"])
    agent = Path(acai_server.__file__).with_name("agent.pyz")
    with tempfile.TemporaryDirectory() as folder:
        runner = KubernetesRunner(Path(folder), agent, settings)
        print(len(runner.known()), flush=True)
        while True:
            runner.wait([], 2.0)


if __name__ == "__main__":
    main()
