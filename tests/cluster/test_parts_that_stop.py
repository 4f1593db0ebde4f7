"""Parts of a real cluster that stop: its kubelet, the room on its disk, its API server.

Only on a cluster whose processes are those of this machine, else they are skipped by name.
Each has the cluster for itself (`alone`), and leaves it as it was.
"""

from __future__ import annotations

import json
import subprocess
import threading
from contextlib import closing
from datetime import UTC, datetime
from typing import TYPE_CHECKING

import pytest

from tests.cluster.journeys import KINDS, MAKES, OURS, began, ended, job, reason, said, submitted, versions
from tests.integration.places import Place, Server, until
from tests.servers.cluster_parts import part
from tests.servers.process import ServerMissing

if TYPE_CHECKING:
    from collections.abc import Iterator

    from tests.servers.cluster import Cluster
    from tests.servers.cluster_parts import Part
    from tests.servers.seaweedfs import Seaweedfs

pytestmark = [pytest.mark.alone, pytest.mark.timeout(240)]
LOST = ("node.kubernetes.io/not-ready", "node.kubernetes.io/unreachable")
IMPATIENT = [{"key": key, "operator": "Exists", "effect": "NoExecute", "tolerationSeconds": 1} for key in LOST]
PROFILES = {"impatient": {"spec": {"terminationGracePeriodSeconds": 1, "tolerations": IMPATIENT}}}
SECOND = "says-it-is-well"
LEASES = "--namespace=kube-node-lease"
FIRST_STAYS = f"""
import socket, time
print("began", flush=True)
if socket.gethostname().split("-")[-2] == "1":  # which attempt it is
    time.sleep(600)
{MAKES}
"""
COUNTS = f"""
import time
for number in range(100):
    print("began", number, flush=True)
    time.sleep(0.1)
{MAKES}
"""


def stoppable(name: str, *asked: str) -> Part:
    def answers() -> bool:
        command = ["kubectl", "--request-timeout=5s", *asked]
        return subprocess.run(command, capture_output=True, check=False, timeout=60).returncode == 0

    try:
        return part(name, answers)
    except ServerMissing as missing:
        pytest.skip(str(missing))


@pytest.fixture
def kubelet() -> Part:
    return stoppable("kubelet", "wait", "node", "--all", "--for=condition=Ready", "--timeout=1s")


@pytest.fixture
def api_server() -> Part:
    return stoppable("kube-apiserver", "get", "--raw", "/readyz")


@pytest.fixture(scope="module")
def variables(shared_namespace: Cluster, s3_for_pods: Seaweedfs) -> dict[str, str]:
    return {
        "ACAI_RUNNER": "kubernetes",
        "ACAI_KUBERNETES_NAMESPACE": shared_namespace.namespace,
        "ACAI_KUBERNETES_IMAGE": shared_namespace.image,
        "ACAI_OBJECT_STORE": "s3",
        "ACAI_S3_BUCKET": s3_for_pods.make_bucket(),
        "ACAI_S3_ENDPOINT_URL": s3_for_pods.url,
        **s3_for_pods.environment,
    }


@pytest.fixture(scope="module")
def place(variables: dict[str, str], tmp_path_factory: pytest.TempPathFactory) -> Iterator[Place]:
    with closing(Place(tmp_path_factory.mktemp("home"))) as place:
        variables["ACAI_KUBERNETES_TEMPLATE"] = str(place.write("template.yaml", json.dumps({"profiles": PROFILES})))
        place.start(program="acai", **variables)
        place.write("given/number", "7")
        said(place, "put", "given", "/given", "--as", "given")
        yield place


@pytest.fixture
def server(place: Place, shared_namespace: Cluster) -> Iterator[Server]:
    """The server; after a test nothing of its jobs is left in the cluster."""
    yield place.servers[-1]
    until(lambda: not shared_namespace.names(KINDS, OURS), "an empty namespace")


@pytest.fixture
def second_node(shared_namespace: Cluster) -> Iterator[str]:
    """A machine that says it is well and takes no pods: from one that is alone no pods are taken away."""
    taint = {"key": "test.acai/alone", "effect": "NoSchedule"}
    body = {"apiVersion": "v1", "kind": "Node", "metadata": {"name": SECOND}, "spec": {"taints": [taint]}}
    ready = [{"type": "Ready", "status": "True", "reason": "Test", "message": "", "lastTransitionTime": _now()}]
    lease = {"apiVersion": "coordination.k8s.io/v1", "kind": "Lease", "metadata": {"name": SECOND}}
    over = threading.Event()

    def lives() -> None:
        while not over.wait(3.0):
            renewed = json.dumps({"spec": {"renewTime": _now()}})
            shared_namespace.ask(LEASES, "patch", "lease", SECOND, "--type=merge", "--patch", renewed)

    beats = threading.Thread(target=lives)
    shared_namespace.ask("delete", "node", SECOND, "--ignore-not-found")  # of a run that was ended from outside
    shared_namespace.ask("create", "--filename=-", body=body)
    try:
        status = json.dumps({"status": {"conditions": ready}})
        shared_namespace.ask("patch", "node", SECOND, "--subresource=status", "--patch", status)
        spec = {"holderIdentity": SECOND, "leaseDurationSeconds": 40, "renewTime": _now()}
        shared_namespace.ask(LEASES, "apply", "--filename=-", body={**lease, "spec": spec})
        beats.start()
        yield SECOND
    finally:
        over.set()
        if beats.ident is not None:
            beats.join()
        shared_namespace.ask("delete", "node", SECOND)


def _now() -> str:
    return datetime.now(UTC).strftime("%Y-%m-%dT%H:%M:%S.%fZ")


@pytest.mark.usefixtures("second_node")
def test_a_machine_whose_kubelet_hangs_is_lost_and_its_job_is_run_once_more_when_there_is_one(
    kubelet: Part, server: Server
) -> None:
    place = server.place
    options = ("--input", "given", "--output", "once", "--retries", "1", "--profile", "impatient")
    number = submitted(place, FIRST_STAYS, *options)
    began(server, number)
    (machine,) = (attempt["machine"] for attempt in job(server, number)["attempts"])
    with kubelet.held():
        until(lambda: len(job(server, number)["attempts"]) == 2, "a second attempt")
        until(lambda: "does not take it (a taint" in said(place, "why", str(number)), "the reason")
    found = ended(server, number, "crashed", "finished")
    assert reason(found) in (
        f"its machine {machine} does not answer any more",
        "its machine was lost, or does not take it any more",
    )
    assert (found["output"], said(place, "cat", "/once/made"), versions(place, "/once/made")) == ("once:1", "7", 1)
    assert said(place, "logs", str(number), "--attempt", "1") == "began\n"
    assert said(place, "logs", str(number)) == "began\nmade\n"


def test_a_machine_whose_disk_is_full_gives_its_pods_up_and_takes_none_until_there_is_room(
    kubelet: Part, server: Server
) -> None:
    place = server.place
    number = submitted(place, FIRST_STAYS, "--input", "given", "--output", "roomy", "--retries", "1")
    began(server, number)
    with kubelet.changed("--eviction-hard=nodefs.available<99%"):  # as full as it is, that is too full
        until(lambda: len(job(server, number)["attempts"]) == 2, "a second attempt")
        until(lambda: "does not take it (a taint" in said(place, "why", str(number)), "the reason")
    found = ended(server, number, "crashed", "finished")
    assert reason(found).startswith("its machine was short of something and evicted it: ")
    assert (found["output"], versions(place, "/roomy/made")) == ("roomy:1", 1)
    assert said(place, "logs", str(number), "--attempt", "1") == "began\n"


def test_an_api_server_that_is_killed_costs_time_and_nothing_else(
    api_server: Part, server: Server, variables: dict[str, str]
) -> None:
    place = server.place
    running = submitted(place, COUNTS, "--input", "given", "--output", "through")
    began(server, running)
    with api_server.killed():
        until(lambda: "does not answer" in place.acai("doctor").stdout, "the sentence")
        server.kill()
        again = place.start(program="acai", **variables)
        waiting = submitted(place, MAKES, "--input", "given", "--output", "later", "--retries", "9")
    ended(again, running, "finished")
    numbers = "".join(f"began {number}\n" for number in range(100))
    assert said(place, "logs", str(running)) == f"{numbers}made\n"
    said(place, "wait", str(waiting))
    for attempt in job(again, waiting)["attempts"][:-1]:
        assert "does not answer" in attempt["transitions"][-1]["reason"]
    assert (versions(place, "/through/made"), versions(place, "/later/made")) == (1, 1)
