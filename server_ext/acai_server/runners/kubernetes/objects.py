"""What is made in the cluster for an attempt. Pure functions: an order and settings go in, objects come out."""

from __future__ import annotations

import base64
import hashlib
from typing import TYPE_CHECKING, Any

from acai_server.runners.gangs import member
from acai_server.runners.protocol import Meeting

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from acai_server.runners.kubernetes.seen import Job, Pod
    from acai_server.runners.kubernetes.settings import KubernetesSettings
    from acai_server.runners.protocol import Order

INSTANCE = "acai-jupyter/instance"
ATTEMPT = "acai-jupyter/attempt"
CONTAINER = "agent"
COMMAND = ["python3", "-I", "-S", "/agent/agent.pyz", "/launch/url", "/attempt", "--container", "/sys/fs/cgroup"]
KEEPING_SECONDS = 60
"""What the agent gets beyond the program's grace, to keep log and outputs."""
ROOM_BYTES = 64 * 1024**2
"""What the agent needs beside its program, in the same container."""
KEPT_SECONDS = 7 * 86_400
"""So long after its end a Kubernetes Job that no server cleans up stays; a signed URL lasts no longer."""
_MOUNTS = {"agent": "/agent", "launch": "/launch", "attempt": "/attempt", "temporary": "/tmp"}  # noqa: S108 (in the pod)
_ARCHIVES = "/archives"
_LOST = ("node.kubernetes.io/not-ready", "node.kubernetes.io/unreachable")
_MARK = "acai-jupyter/start"
_INDEX = "batch.kubernetes.io/job-completion-index"
_RANK = "JOB_COMPLETION_INDEX"
"""What Kubernetes calls the rank of a pod, and in which variable its container has it."""
_AGENTS_PORT = 29499
_PROGRAMS_PORT = 29500
_QUEUE = "kueue.x-k8s.io/queue-name"


def name_of(instance: str, attempt: str) -> str:
    """Return the name of all objects of an attempt."""
    return f"acai-{instance}-{attempt}"


def selector(instance: str) -> str:
    """Return what selects all objects of a server, and nothing else."""
    return f"{INSTANCE}={instance}"


def agent_name(instance: str, agent: bytes) -> str:
    """Return the name of the ConfigMap with the agent, which all attempts share."""
    return f"acai-{instance}-agent-{hashlib.sha256(agent).hexdigest()[:12]}"


def config_map(agent: bytes, settings: KubernetesSettings) -> dict[str, Any]:
    """Return the ConfigMap with the agent. It never changes, so no node has to watch it."""
    return {
        "apiVersion": "v1",
        "kind": "ConfigMap",
        "metadata": {"name": agent_name(settings.instance, agent), "labels": _labels(settings)},
        "immutable": True,
        "binaryData": {"agent.pyz": base64.b64encode(agent).decode()},
    }


def secret(order: Order, settings: KubernetesSettings, job_uid: str) -> dict[str, Any]:
    """Return the Secret with the URL of the launch document. It belongs to the Kubernetes Job, and goes with it."""
    return {**_owned("Secret", order, settings, job_uid), **launch_urls(order.launch_url, order.others)}


def launch_urls(url: str, others: Sequence[str] = ()) -> dict[str, Any]:
    """Return what a Secret has of the URLs of all agents; also what changes them to others."""
    named = {str(rank): one for rank, one in enumerate((url, *others))} if others else {"url": url}
    return {"data": {key: base64.b64encode(one.encode()).decode() for key, one in named.items()}}


def service(order: Order, settings: KubernetesSettings, job_uid: str) -> dict[str, Any]:
    """Return the Service by which the pods of a gang have names, from before they are ready."""
    selected = {INSTANCE: settings.instance, ATTEMPT: order.attempt}
    spec = {"clusterIP": "None", "publishNotReadyAddresses": True, "selector": selected}
    return {**_owned("Service", order, settings, job_uid), "spec": spec}


def meeting(name: str, nodes: int) -> Meeting:
    """Return where the pods of a gang find each other, by the name of its objects."""
    hosts = [f"{name}-{rank}.{name}" for rank in range(nodes)]
    return Meeting(tuple(f"{host}:{_PROGRAMS_PORT}" for host in hosts), f"{hosts[0]}:{_AGENTS_PORT}")


def members_of(seen: Job) -> list[str]:
    """Return the names of the agents of a Kubernetes Job, by rank."""
    attempt = seen.metadata.labels.get(ATTEMPT, "")
    if seen.spec.completion_mode != "Indexed":
        return [attempt]
    return [member(attempt, rank) for rank in range(seen.spec.completions)]


def member_of(pod: Pod) -> str:
    """Return the name of the agent in a pod."""
    attempt, rank = pod.metadata.labels.get(ATTEMPT, ""), pod.metadata.annotations.get(_INDEX)
    return attempt if rank is None or not attempt else member(attempt, int(rank))


def job(order: Order, settings: KubernetesSettings, agent: str, mark: str) -> dict[str, Any]:
    """Return the Kubernetes Job. Its pod is started once: whether there is another attempt is decided elsewhere.

    `agent` is the name of the agent's ConfigMap; `mark` tells a Job of this call from one that was there before.
    """
    found = _head("batch/v1", "Job", order, settings)
    found["metadata"]["annotations"] = {_MARK: mark}
    template = merged(pod_template(order, settings, agent), settings.template)
    template = merged(template, settings.profiles.get(order.profile, {}))
    labels = template["metadata"]["labels"] | found["metadata"]["labels"]
    found["metadata"]["labels"] = labels
    template["metadata"]["labels"] = dict(labels)
    found["spec"] = {
        "backoffLimit": 0,
        "completions": order.nodes,
        "parallelism": order.nodes,
        "ttlSecondsAfterFinished": KEPT_SECONDS,
        "template": template,
    }
    if order.others:
        found["spec"]["completionMode"] = "Indexed"
    if settings.queue:
        found["metadata"]["labels"][_QUEUE] = settings.queue
        found["spec"]["suspend"] = True
    return found


def mark_of(seen: Job) -> str:
    """Return the mark with which a Kubernetes Job was made."""
    return seen.metadata.annotations.get(_MARK, "")


def pod_template(order: Order, settings: KubernetesSettings, agent: str) -> dict[str, Any]:
    """Return the template of the pod, before anything of the settings is laid over it."""
    name = name_of(settings.instance, order.attempt)
    named: dict[str, Any] = {"subdomain": name} if order.others else {}
    if order.gpus and order.gpu_type and settings.gpu_type_label:
        named["nodeSelector"] = {settings.gpu_type_label: order.gpu_type}
    return {
        "metadata": {"labels": _labels(settings, order)},
        "spec": {
            "restartPolicy": "Never",
            "automountServiceAccountToken": False,
            "enableServiceLinks": False,
            "terminationGracePeriodSeconds": int(order.grace_seconds) + KEEPING_SECONDS,
            "securityContext": _pod_security(settings.run_as_user),
            "tolerations": [_tolerated(key, settings.node_patience_seconds) for key in _LOST],
            "containers": [_container(order, settings)],
            "volumes": [
                {"name": "agent", "configMap": {"name": agent}},
                {"name": "launch", "secret": {"secretName": name}},
                {"name": "attempt", "emptyDir": {}},
                {"name": "temporary", "emptyDir": {}},
                *_archives(settings),
            ],
            **named,
        },
    }


def merged(ours: Any, theirs: Any) -> Any:
    """Lay a template over ours: mappings key by key, named things of lists by their name.

    Others of lists go before ours: of tolerations, the first that fits is the one that counts.
    """
    if isinstance(ours, dict) and isinstance(theirs, dict):
        both = {key: merged(ours[key], value) if key in ours else value for key, value in theirs.items()}
        return ours | both
    if isinstance(ours, list) and isinstance(theirs, list) and all(isinstance(item, dict) for item in ours + theirs):
        named = {item["name"]: item for item in theirs if "name" in item}
        laid = [merged(item, named.pop(item.get("name"), {})) for item in ours]
        return [item for item in theirs if "name" not in item] + laid + list(named.values())
    return theirs


def _head(version: str, kind: str, order: Order, settings: KubernetesSettings) -> dict[str, Any]:
    metadata = {"name": name_of(settings.instance, order.attempt), "labels": _labels(settings, order)}
    return {"apiVersion": version, "kind": kind, "metadata": metadata}


def _owned(kind: str, order: Order, settings: KubernetesSettings, job_uid: str) -> dict[str, Any]:
    """Begin an object that belongs to the Kubernetes Job of an attempt."""
    found = _head("v1", kind, order, settings)
    owner = {"apiVersion": "batch/v1", "kind": "Job", "name": found["metadata"]["name"], "uid": job_uid}
    found["metadata"]["ownerReferences"] = [owner]
    return found


def _command(order: Order, settings: KubernetesSettings) -> list[str]:
    """Return how the agent is started; one of a gang finds its own URL by its rank."""
    url = f"/launch/$({_RANK})" if order.others else "/launch/url"
    words = [word.replace("/launch/url", url) for word in COMMAND]
    if settings.archives:
        words += ["--archives", _ARCHIVES, "--archives-bytes", str(settings.archives_bytes)]
    return words


def _archives(settings: KubernetesSettings) -> list[dict[str, Any]]:
    """Return the volume in which archives of environments are kept, where there is one."""
    if not settings.archives:
        return []
    if settings.archives.startswith("/"):
        return [{"name": "archives", "hostPath": {"path": settings.archives, "type": "DirectoryOrCreate"}}]
    return [{"name": "archives", "persistentVolumeClaim": {"claimName": settings.archives}}]


def _labels(settings: KubernetesSettings, order: Order | None = None) -> dict[str, str]:
    found = {"app.kubernetes.io/managed-by": "acai-jupyter", INSTANCE: settings.instance}
    return found if order is None else {**found, ATTEMPT: order.attempt}


def _container(order: Order, settings: KubernetesSettings) -> dict[str, Any]:
    return {
        "name": CONTAINER,
        "image": order.image or settings.image,
        "imagePullPolicy": "IfNotPresent",
        "command": _command(order, settings),
        "workingDir": "/attempt",
        "env": [{"name": "HOME", "value": "/tmp"}, *_secrets(order.secrets, settings.secrets)],  # noqa: S108 (in the pod)
        "resources": _share(order, settings.gpu_resource),
        "volumeMounts": [{"name": kind, "mountPath": path} for kind, path in _mounts(settings).items()],
        "securityContext": {
            "allowPrivilegeEscalation": False,
            "readOnlyRootFilesystem": True,
            "capabilities": {"drop": ["ALL"]},
        },
    }


def _mounts(settings: KubernetesSettings) -> dict[str, str]:
    return _MOUNTS | ({"archives": _ARCHIVES} if settings.archives else {})


def _secrets(wanted: Mapping[str, str], secret_name: str) -> list[dict[str, Any]]:
    return [
        {"name": variable, "valueFrom": {"secretKeyRef": {"name": secret_name, "key": key}}}
        for variable, key in wanted.items()
    ]


def _share(order: Order, gpu_resource: str) -> dict[str, Any]:
    """Asked for is what it is limited to: what a job gets does not depend on its neighbours."""
    memory = (order.memory_bytes + ROOM_BYTES + 1024**2 - 1) // 1024**2
    share = {"cpu": f"{round(order.vcpu * 1000)}m", "memory": f"{memory}Mi"}
    if order.gpus:
        share[gpu_resource] = str(order.gpus)
    return {"requests": dict(share), "limits": share}


def _pod_security(user: int) -> dict[str, Any]:
    profile = {"seccompProfile": {"type": "RuntimeDefault"}}
    if user == 0:
        return profile
    return {"runAsNonRoot": True, "runAsUser": user, "runAsGroup": user, "fsGroup": user, **profile}


def _tolerated(key: str, seconds: int) -> dict[str, Any]:
    return {"key": key, "operator": "Exists", "effect": "NoExecute", "tolerationSeconds": seconds}
