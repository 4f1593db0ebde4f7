"""The built agent in a pod, as any runner of pods has to start it: itself in a ConfigMap, its URL in a Secret."""

from __future__ import annotations

import base64
from pathlib import Path
from typing import TYPE_CHECKING, Any

import acai_server

if TYPE_CHECKING:
    from acai_server.runners.protocol import Order
    from tests.servers.cluster import Cluster

AGENT = Path(acai_server.__file__).parent / "agent.pyz"
COMMAND = ["python3", "-I", "-S", "/agent/agent.pyz", "/launch/url", "/attempt", "--container", "/sys/fs/cgroup"]
KEEPING_SECONDS = 60
"""What the agent gets beyond the program's grace, to keep log and outputs."""
ROOM_MIB = 64
"""What the agent needs beside its program, in the same container."""


def start(cluster: Cluster, order: Order) -> str:
    """Start an attempt's pod; returns its name."""
    name = order.attempt
    cluster.make("ConfigMap", name, binaryData={"agent.pyz": base64.b64encode(AGENT.read_bytes()).decode()})
    cluster.make("Secret", name, stringData={"url": order.launch_url})
    cluster.make("Pod", name, spec=_spec(cluster, order))
    return name


def end_of(cluster: Cluster, name: str) -> dict[str, Any]:
    """Wait for the end of a pod's container; returns how it ended."""
    cluster.wait(name, "jsonpath={.status.containerStatuses[0].state.terminated}")
    return dict(cluster.container(name)["state"]["terminated"])


def until_it_printed(cluster: Cluster, name: str, text: bytes) -> None:
    """Wait for a line in a pod's log."""
    cluster.wait(name, "condition=Ready")
    with cluster.following(name) as lines:
        assert any(text in line for line in lines), f"{name} did not print it"


def _spec(cluster: Cluster, order: Order) -> dict[str, Any]:
    mounts = {"agent": "/agent", "launch": "/launch", "attempt": "/attempt"}
    share = {"cpu": f"{order.vcpu:g}", "memory": f"{order.memory_bytes // 1024**2 + ROOM_MIB}Mi"}
    container = {
        "name": "agent",
        "image": cluster.image,
        "imagePullPolicy": "IfNotPresent",
        "command": COMMAND,
        "workingDir": "/attempt",
        "resources": {"limits": share},
        "volumeMounts": [{"name": kind, "mountPath": path} for kind, path in mounts.items()],
        "securityContext": {
            "allowPrivilegeEscalation": False,
            "readOnlyRootFilesystem": True,
            "capabilities": {"drop": ["ALL"]},
        },
    }
    return {
        "restartPolicy": "Never",
        "automountServiceAccountToken": False,
        "enableServiceLinks": False,
        "terminationGracePeriodSeconds": int(order.grace_seconds) + KEEPING_SECONDS,
        "securityContext": {
            "runAsNonRoot": True,
            "runAsUser": 54321,
            "fsGroup": 54321,
            "seccompProfile": {"type": "RuntimeDefault"},
        },
        "containers": [container],
        "volumes": [
            {"name": "agent", "configMap": {"name": order.attempt}},
            {"name": "launch", "secret": {"secretName": order.attempt}},
            {"name": "attempt", "emptyDir": {}},
        ],
    }
