"""What a server is told about its cluster."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Mapping


@dataclass(frozen=True)
class KubernetesSettings:
    """Where jobs run in a cluster, and how their pods are made."""

    instance: str
    """Names this server's objects: nothing without it is touched. The same for all servers of one database."""
    namespace: str = ""
    """Empty: that of the kubeconfig, else `default`."""
    image: str = ""
    """For jobs that name none."""
    kubeconfig: str = ""
    """Empty: KUBECONFIG, else `~/.kube/config`, else what a pod is given."""
    context: str = ""
    """A context of the kubeconfig. Empty: its current one."""
    secrets: str = "acai-secrets"
    """The Secret whose keys are the secrets of jobs."""
    shared_secrets: frozenset[str] = frozenset()
    """Its keys that jobs of every project can use; `*` for all that belong to no project."""
    run_as_user: int = 54321
    queue: str = ""
    """A queue of Kueue."""
    gpu_resource: str = "nvidia.com/gpu"
    gpu_type_label: str = ""
    """The label of nodes that names the type of their GPUs. Empty: it is not looked at."""
    template: Mapping[str, Any] = field(default_factory=dict)
    """Laid over each pod template."""
    profiles: Mapping[str, Mapping[str, Any]] = field(default_factory=dict)
    """Laid over that, for the jobs of a profile."""
    archives: str = ""
    """Where archives of environments are kept for other pods: a folder of each node, or a PersistentVolumeClaim."""
    archives_bytes: int = 0
    grows: bool = False
    """Whether the cluster adds nodes by itself: then no job is refused for want of one that is large enough."""
    max_streams: int = 500
    """So many logs are followed at once; the others are read every few seconds until one of these has ended."""
    image_patience_seconds: float = 120.0
    """So long an image that cannot be fetched is tried again, unless it is clear that it does not exist."""
    node_patience_seconds: int = 60
    """So long a node may be out of touch before its pods are given up."""
