"""Bad days of a cluster, as a person sees them: a right state, a sentence, outputs once or not at all, nothing left.

A server speaks to the real API server through a proxy that makes trouble when told to, by an account with the Role.
"""

from __future__ import annotations

import json
import os
import random
from contextlib import ExitStack, closing
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from acai_server.runners.kubernetes import calls
from acai_server.runners.kubernetes.credentials import Access
from tests.cluster.journeys import KINDS, LONG, MAKES, OURS, began, ended, job, reason, said, submitted, versions
from tests.integration.places import Place, Server, until
from tests.servers.api_server import TroubledApi, troubled
from tests.servers.cluster import Cluster, namespace
from tests.servers.process import ServerMissing

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from tests.servers.seaweedfs import Seaweedfs

pytestmark = pytest.mark.timeout(240)
LOST_NODE = "lost-to-all"
RBAC = "rbac.authorization.k8s.io"
PROFILES = {
    "little-disk": {"spec": {"containers": [{"name": "agent", "resources": {"limits": {"ephemeral-storage": "8Mi"}}}]}},
    "lost-node": {
        "spec": {"nodeName": LOST_NODE, "terminationGracePeriodSeconds": 1, "tolerations": [{"key": "test.acai/alone"}]}
    },
}
BEFORE = ("queued", "launching", "downloading")
"""The states before its program runs."""
FILLS = "open('big', 'wb').write(b'x' * (64 << 20)); print('filled', flush=True); import time; time.sleep(600)"
SOON = f"import time; print('began', flush=True); time.sleep(4); {MAKES}"


@pytest.fixture(scope="module")
def cluster() -> Iterator[Cluster]:
    with ExitStack() as stack:
        try:
            found = stack.enter_context(namespace())
        except ServerMissing as missing:
            pytest.skip(str(missing))
        _let_in(found)
        role = calls.role(found.namespace, "acai-secrets")
        found.ask("create", "--filename=-", body=role)
        yield found


def _let_in(cluster: Cluster) -> None:
    """Make an account that may do what the Role says; its tokens count for as long as it is there."""
    cluster.make("ServiceAccount", "server")
    subject = {"kind": "ServiceAccount", "name": "server", "namespace": cluster.namespace}
    reference = {"apiGroup": RBAC, "kind": "Role", "name": calls.ROLE}
    name = f"server-{random.randrange(10**9)}"
    cluster.make("RoleBinding", name, version=f"{RBAC}/v1", roleRef=reference, subjects=[subject])


def token(cluster: Cluster) -> str:
    return cluster.ask("create", "token", "server").decode().strip()


@pytest.fixture(scope="module")
def api(cluster: Cluster) -> Iterator[TroubledApi]:
    config = json.loads(cluster.ask("config", "view", "--raw", "--minify", "--output=json"))
    nobody = Access(config["clusters"][0]["cluster"], {}, "default", Path(os.environ["KUBECONFIG"]).parent)
    with troubled(nobody) as api:
        yield api


@pytest.fixture(scope="module")
def place(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Place]:
    with closing(Place(tmp_path_factory.mktemp("home"))) as place:
        yield place


@pytest.fixture(scope="module")
def variables(cluster: Cluster, api: TroubledApi, place: Place, s3_for_pods: Seaweedfs) -> dict[str, str]:
    place.write("token", token(cluster))
    config = {
        "clusters": [{"name": "c", "cluster": {"server": api.url}}],
        "users": [{"name": "u", "user": {"tokenFile": "token"}}],
        "contexts": [{"name": "x", "context": {"cluster": "c", "user": "u"}}],
        "current-context": "x",
    }
    return {
        "ACAI_RUNNER": "kubernetes",
        "ACAI_KUBECONFIG": str(place.write("kubeconfig", json.dumps(config))),
        "ACAI_KUBERNETES_NAMESPACE": cluster.namespace,
        "ACAI_KUBERNETES_IMAGE": cluster.image,
        "ACAI_KUBERNETES_TEMPLATE": str(place.write("template.yaml", json.dumps({"profiles": PROFILES}))),
        "ACAI_OBJECT_STORE": "s3",
        "ACAI_S3_BUCKET": s3_for_pods.make_bucket(),
        "ACAI_S3_ENDPOINT_URL": s3_for_pods.url,
        "ACAI_QUOTA": "8",
        **s3_for_pods.environment,
    }


@pytest.fixture(scope="module")
def first(place: Place, variables: dict[str, str]) -> Server:
    server = place.start(program="acai", **variables)
    place.write("given/number", "7")
    said(place, "put", "given", "/given", "--as", "given")
    return server


@pytest.fixture
def server(first: Server, api: TroubledApi, cluster: Cluster) -> Iterator[Server]:
    """The server; after a test nothing of its jobs is left in the cluster."""
    yield first.place.servers[-1]
    api.behave()
    until(lambda: not cluster.names(KINDS, OURS), "an empty namespace")


def test_a_kubernetes_job_that_somebody_deletes_is_made_again(server: Server, cluster: Cluster) -> None:
    number = submitted(server.place, LONG, "--retries", "1")
    began(server, number)
    (name,) = cluster.names("jobs", OURS)
    cluster.ask("delete", name, "--wait=false")
    until(lambda: len(job(server, number)["attempts"]) == 2, "a second attempt")
    said(server.place, "kill", str(number))
    found = ended(server, number, "crashed", "killed")
    assert reason(found) in ("its Kubernetes Job was deleted by somebody", "its pod was deleted by somebody")


def test_a_program_that_fills_its_disk_has_failed_and_says_so(server: Server) -> None:
    number = submitted(server.place, FILLS, "--profile", "little-disk", "--retries", "1")
    assert reason(ended(server, number, "failed")).startswith("it filled the disk of its pod and was evicted: ")
    assert "filled" in said(server.place, "logs", str(number))


@pytest.fixture
def lost_node(cluster: Cluster) -> Iterator[str]:
    """A node without a kubelet, that takes no pods by itself."""
    taint = {"key": "test.acai/alone", "effect": "NoSchedule"}
    body = {"apiVersion": "v1", "kind": "Node", "metadata": {"name": LOST_NODE}, "spec": {"taints": [taint]}}
    cluster.ask("create", "--filename=-", body=body)
    try:
        yield LOST_NODE
    finally:
        cluster.ask("delete", "pods", f"--selector={OURS}", f"--field-selector=spec.nodeName={LOST_NODE}", "--force")
        cluster.ask("delete", "node", LOST_NODE)


def test_a_job_whose_machine_is_lost_has_crashed_and_says_which(
    server: Server, cluster: Cluster, lost_node: str
) -> None:
    number = submitted(server.place, LONG, "--profile", "lost-node", "--retries", "0")
    until(lambda: cluster.names("pods", OURS), "its pod")
    cluster.ask("taint", "node", lost_node, "node.kubernetes.io/out-of-service=nodeshutdown:NoExecute")
    assert reason(ended(server, number, "crashed")) in (
        f"its machine {lost_node} does not answer any more",
        "its machine was lost, or does not take it any more",
    )


def test_credentials_that_expired_are_named_and_jobs_go_on_with_new_ones(
    server: Server, cluster: Cluster, api: TroubledApi
) -> None:
    place = server.place
    number = submitted(place, SOON, "--input", "given", "--output", "late")
    began(server, number)
    cluster.ask("delete", "serviceaccount", "server")
    until(lambda: _hung_up(api) and "does not accept this server's credentials" in _doctor(place), "the sentence")
    _let_in(cluster)
    place.write("token", token(cluster))
    ended(server, number, "finished")
    assert (said(place, "cat", "/late/made"), versions(place, "/late/made")) == ("7", 1)
    assert said(place, "logs", str(number)) == "began\nmade\n"
    until(lambda: "its jobs and pods are watched" in _doctor(place), "a cluster that is seen")


def _hung_up(api: TroubledApi) -> bool:
    """Break off the watches: they last longer than the token that opened them."""
    api.hang_up()
    return True


def _doctor(place: Place) -> str:
    return place.acai("doctor").stdout


@pytest.mark.parametrize("statuses", [(0, 429), (0, 429, 500)])
def test_an_api_server_that_throttles_and_fails_only_costs_time(
    server: Server, api: TroubledApi, statuses: tuple[int, ...]
) -> None:
    place, output = server.place, "out-" + "-".join(map(str, statuses))
    api.misbehave(*statuses)
    number = submitted(place, MAKES, "--input", "given", "--output", output, "--retries", "5")
    said(place, "wait", str(number))
    found = job(server, number)
    assert (found["state"], found["output"]) == ("finished", f"{output}:1")
    for attempt in range(len(found["attempts"]) - 1):  # of six tries in a row, all may have met the trouble
        assert "the cluster is in trouble" in reason(found, attempt)
    assert said(place, "logs", str(number)) == "made\n"
    assert versions(place, f"/{output}/made") == 1
    assert set(api.refused) >= set(statuses) - {0}


def test_an_api_server_that_takes_nothing_at_all_is_named(server: Server, api: TroubledApi) -> None:
    api.misbehave(500)
    number = submitted(server.place, MAKES, "--retries", "3", "--input", "given", "--output", "after-all")
    until(lambda: _first_reason(server, number), "an attempt that could not be started")
    assert "the cluster is in trouble: etcdserver: request timed out" in _first_reason(server, number)
    api.behave()
    said(server.place, "wait", str(number))
    assert versions(server.place, "/after-all/made") == 1


def _first_reason(server: Server, number: int) -> str:
    attempts = job(server, number)["attempts"]
    return reason({"attempts": attempts}) if attempts else ""


def test_a_server_that_is_killed_at_random_moments_loses_nothing(
    server: Server, variables: dict[str, str], cluster: Cluster
) -> None:
    chance, place = random.Random(7), server.place

    def is_past(number: int, *states: str) -> bool:
        return job(place.servers[-1], number)["state"] not in states

    def has_pod(number: int) -> bool:
        ours = f"{OURS},acai-jupyter/attempt=job-1-{number}-1"
        return bool(cluster.names("pods", ours)) or is_past(number, *BEFORE)

    moments: list[Callable[[int], Any]] = [  # a look may come late: what is over by then counts as seen
        lambda number: number,
        lambda number: is_past(number, "queued"),
        has_pod,
        lambda number: is_past(number, *BEFORE),
        lambda number: "made" in said(place, "logs", str(number)),
    ]
    chance.shuffle(moments)
    numbers = [_killed_while(server, variables, moment, number) for number, moment in enumerate(moments)]
    for number, output in numbers:
        said(place, "wait", str(number))
        found = job(place.servers[-1], number)
        assert (found["state"], found["output"]) == ("finished", f"{output}:1")
        assert versions(place, f"/{output}/made") == 1


def _killed_while(
    server: Server, variables: dict[str, str], moment: Callable[[int], Any], turn: int
) -> tuple[int, str]:
    """Submit a job, kill the server at a moment of it, and start another."""
    place, output = server.place, f"killed-{turn}"
    number = submitted(place, MAKES, "--input", "given", "--output", output, "--retries", "3")
    until(lambda: moment(number), f"the moment of job {number}")
    place.servers[-1].kill()
    place.start(program="acai", **variables)
    return number, output
