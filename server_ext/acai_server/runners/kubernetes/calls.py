"""Every kind of request that is made to the API server. Nothing else can be asked, so the Role follows from it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

ROLE = "acai-runner"


@dataclass(frozen=True, order=True)
class Call:
    """A verb on a resource, as RBAC names them."""

    group: str
    resource: str
    verb: str
    named: bool = False
    """Whether only one object, whose name is a setting, is asked for."""

    def path(self, namespace: str, name: str = "") -> str:
        """Return where to ask."""
        root = f"/apis/{self.group}/v1" if self.group else "/api/v1"
        resource, _, part = self.resource.partition("/")
        within = f"/namespaces/{namespace}" if resource != "nodes" else ""
        return f"{root}{within}/{resource}" + (f"/{name}" if name else "") + (f"/{part}" if part else "")


CREATE_JOB = Call("batch", "jobs", "create")
DELETE_JOB = Call("batch", "jobs", "delete")
LIST_JOBS = Call("batch", "jobs", "list")
WATCH_JOBS = Call("batch", "jobs", "watch")
DELETE_POD = Call("", "pods", "delete")
LIST_PODS = Call("", "pods", "list")
WATCH_PODS = Call("", "pods", "watch")
READ_LOG = Call("", "pods/log", "get")
CREATE_CONFIG_MAP = Call("", "configmaps", "create")
DELETE_CONFIG_MAP = Call("", "configmaps", "delete")
LIST_CONFIG_MAPS = Call("", "configmaps", "list")
PATCH_CONFIG_MAP = Call("", "configmaps", "patch")
CREATE_SECRET = Call("", "secrets", "create")
CREATE_SERVICE = Call("", "services", "create")
PATCH_SECRET = Call("", "secrets", "patch")
GET_JOB_SECRETS = Call("", "secrets", "get", named=True)
LIST_EVENTS = Call("", "events", "list")
LIST_NODES = Call("", "nodes", "list")

NEEDED = tuple(call for call in dict(vars()).values() if isinstance(call, Call) and call.resource != "nodes")
"""All within a namespace. How much the nodes hold is told where it may be asked, and not missed elsewhere."""


def role(namespace: str, secrets: str) -> dict[str, Any]:
    """Return the Role that allows just this; `secrets` is the Secret whose keys are the secrets of jobs."""
    verbs: dict[tuple[str, str, bool], list[str]] = {}
    for call in sorted(NEEDED):
        verbs.setdefault((call.group, call.resource, call.named), []).append(call.verb)
    rules = [
        {"apiGroups": [group], "resources": [resource], "verbs": found}
        | ({"resourceNames": [secrets]} if named else {})
        for (group, resource, named), found in verbs.items()
    ]
    metadata = {"name": ROLE, "namespace": namespace}
    return {"apiVersion": "rbac.authorization.k8s.io/v1", "kind": "Role", "metadata": metadata, "rules": rules}
