"""A real Kubernetes cluster, found by KUBECONFIG, and a restricted namespace in it for each test."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
from contextlib import contextmanager
from dataclasses import dataclass
from typing import IO, TYPE_CHECKING, Any
from uuid import uuid4

from tests.servers.process import ServerMissing

if TYPE_CHECKING:
    from collections.abc import Iterator

PATIENCE_SECONDS = 100
RESTRICTED = ("pod-security.kubernetes.io/enforce=restricted",)


@dataclass(frozen=True)
class Cluster:
    """A namespace, and an image with `python3` in it."""

    namespace: str
    image: str

    def ask(self, *words: str, body: dict[str, Any] | None = None) -> bytes:
        """Run kubectl in the namespace to its end."""
        text = json.dumps(body).encode() if body is not None else None
        command = ["kubectl", f"--namespace={self.namespace}", f"--request-timeout={PATIENCE_SECONDS}s", *words]
        done = subprocess.run(command, input=text, capture_output=True, timeout=PATIENCE_SECONDS + 20, check=False)
        assert done.returncode == 0, done.stderr.decode()
        return done.stdout

    def names(self, kind: str, selector: str) -> list[str]:
        """Return the names of the objects with a label."""
        return self.ask("get", kind, f"--selector={selector}", "--output=name").decode().split()

    def make(self, kind: str, name: str, *, version: str = "v1", **rest: Any) -> None:
        """Make an object."""
        body = {"apiVersion": version, "kind": kind, "metadata": {"name": name}, **rest}
        self.ask("create", "--filename=-", body=body)

    def wait(self, name: str, what: str) -> None:
        """Wait for a pod: `jsonpath={.status.phase}=Running`, `delete`."""
        self.ask("wait", f"pod/{name}", f"--for={what}", f"--timeout={PATIENCE_SECONDS}s")

    @contextmanager
    def following(self, name: str) -> Iterator[IO[bytes]]:
        """Open a pod's log as it comes."""
        command = ["kubectl", f"--namespace={self.namespace}", "logs", "--follow", name]
        with subprocess.Popen(command, stdout=subprocess.PIPE) as process:
            try:
                assert process.stdout is not None
                yield process.stdout
            finally:
                process.kill()

    def container(self, name: str) -> dict[str, Any]:
        """Return the status of a pod's only container."""
        found: dict[str, Any] = json.loads(self.ask("get", "pod", name, "--output=json"))
        return dict(found["status"]["containerStatuses"][0])


def address_for_pods() -> str:
    """Return the address at which pods reach this machine, when there is a cluster."""
    missing = [name for name in ("KUBECONFIG", "KUBE_IMAGE", "KUBE_HOST_ADDRESS") if not os.environ.get(name)]
    if missing:
        raise ServerMissing(f"{', '.join(missing)} must say where one is")
    if shutil.which("kubectl") is None:
        raise ServerMissing("there is no program `kubectl`")
    return os.environ["KUBE_HOST_ADDRESS"]


@contextmanager
def namespace() -> Iterator[Cluster]:
    """Use the cluster of KUBECONFIG in a new namespace, which is removed afterwards."""
    address_for_pods()
    found = Cluster(f"test-{uuid4().hex[:8]}", os.environ["KUBE_IMAGE"])
    found.make("Namespace", found.namespace)
    try:
        found.ask("label", "namespace", found.namespace, *RESTRICTED)
        found.ask("wait", "--for=create", "serviceaccount/default", f"--timeout={PATIENCE_SECONDS}s")
        yield found
    finally:
        found.ask("delete", "namespace", found.namespace, "--wait=false")
