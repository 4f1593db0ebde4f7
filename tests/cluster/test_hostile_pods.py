"""A program in a pod that wants more than it was given: the cluster, the node, and what others have."""

from __future__ import annotations

import json
from contextlib import closing
from typing import TYPE_CHECKING, Any

import pytest

from tests.cluster.journeys import OURS, job, said
from tests.integration.places import Place, Server, until

if TYPE_CHECKING:
    from collections.abc import Iterator

    from tests.servers.cluster import Cluster
    from tests.servers.seaweedfs import Seaweedfs

pytestmark = pytest.mark.timeout(240)
LOOKS = """
import ctypes, json, os, pathlib, socket, ssl, urllib.error, urllib.request

def does(what, *arguments):
    try:
        what(*arguments)
    except OSError as error:
        return type(error).__name__
    return "done"

def answered(url):
    anyone = ssl._create_unverified_context()
    try:
        return urllib.request.urlopen(url, timeout=20, context=anyone).status
    except urllib.error.HTTPError as error:
        return error.code
    except OSError as error:
        return type(error).__name__

status = dict(line.split(":\\t", 1) for line in open("/proc/self/status").read().splitlines() if ":\\t" in line)
libc = ctypes.CDLL(None, use_errno=True)
api = "https://%s:%s" % (os.environ["KUBERNETES_SERVICE_HOST"], os.environ["KUBERNETES_SERVICE_PORT"])
namespaces = f"{api}/api/v1/namespaces"
print(json.dumps({
    "token": any(pathlib.Path("/var/run/secrets").rglob("*")),
    "user": os.getuid(),
    "capabilities": int(status["CapEff"], 16) | int(status["CapPrm"], 16) | int(status["CapBnd"], 16),
    "no new privileges": status["NoNewPrivs"].strip(),
    "seccomp": status["Seccomp"].strip(),
    "becomes root": does(os.setuid, 0),
    "mounts": libc.mount(b"none", b"/tmp", b"tmpfs", 0, b""),
    "writes": [does(pathlib.Path(path).write_text, "x") for path in ("/etc/passwd", "/usr/x", "/launch/x")],
    "sockets of the node": [path for path in ("/run/containerd", "/var/run/docker.sock", "/var/lib/kubelet") if
                            os.path.exists(path)],
    "devices": sorted(set(os.listdir("/dev")) & {"sda", "vda", "kmsg", "mem", "kvm", "fuse"}),
    "processes": sum(name.isdecimal() for name in os.listdir("/proc")),
    "secrets": answered(f"{namespaces}/%(namespace)s/secrets"),
    "secrets of others": answered(f"{namespaces}/kube-system/secrets"),
    "pods": answered(f"{namespaces}/%(namespace)s/pods"),
    "kubelet": answered("https://%(node)s:10250/pods"),
    "kubelet without a sign-in": answered("http://%(node)s:10255/pods"),
    "variables": sorted(name for name in os.environ if "SECRET" in name or "AWS" in name or "TOKEN" in name),
}))
"""


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
def server(variables: dict[str, str], tmp_path_factory: pytest.TempPathFactory) -> Iterator[Server]:
    with closing(Place(tmp_path_factory.mktemp("home"))) as place:
        yield place.start(program="acai", **variables)


def ran(server: Server, program: str, *words: str) -> Any:
    server.place.write("program.py", program)
    options = ("--cpu", "0.5", "--memory", "512Mi", "--detach", *words)
    number = int(said(server.place, "submit", *options, "program.py").split()[1])
    server.place.acai("wait", str(number))
    return job(server, number)


def test_a_program_has_nothing_of_the_cluster_and_of_its_node(server: Server, shared_namespace: Cluster) -> None:
    nodes = json.loads(shared_namespace.ask("get", "nodes", "--output=json"))["items"]
    node = next(one["address"] for one in nodes[0]["status"]["addresses"] if one["type"] == "InternalIP")
    program = LOOKS.replace("%(namespace)s", shared_namespace.namespace).replace("%(node)s", node)
    found = ran(server, program)
    assert found["state"] == "finished", said(server.place, "logs", str(found["number"]))
    seen = json.loads(said(server.place, "logs", str(found["number"])))
    refused = (401, 403)
    assert seen.pop("secrets") in refused
    assert seen.pop("secrets of others") in refused
    assert seen.pop("pods") in refused
    assert seen.pop("kubelet") in (*refused, "URLError")
    assert seen.pop("kubelet without a sign-in") == "URLError"
    assert seen.pop("user") > 0
    assert 0 < seen.pop("processes") < 20
    assert seen == {
        "token": False,
        "capabilities": 0,
        "no new privileges": "1",
        "seccomp": "2",
        "becomes root": "PermissionError",
        "mounts": -1,
        "writes": ["OSError", "OSError", "OSError"],
        "sockets of the node": [],
        "devices": [],
        "variables": [],
    }


def test_no_secret_is_reached_but_those_that_the_operator_named(server: Server, shared_namespace: Cluster) -> None:
    """A job names keys, never the object that holds them: the launch of another attempt cannot be asked for."""
    shared_namespace.make("Secret", "of-another-team", stringData={"key": "value of another team"})
    for name in ("of-another-team", "of-another-team/key", "../of-another-team", "key"):
        answer = server.ask(
            "POST", "/v1/projects/default/jobs", {"command": ["env"], "secrets": {"STOLEN": name}, "retries": 0}
        )
        if answer.status == 201:
            number = answer.json["number"]
            server.place.acai("kill", str(number))
            server.place.acai("wait", str(number))
            log = server.ask("GET", f"/v1/projects/default/jobs/{number}/log.txt").body
            assert b"value of another team" not in log
        else:
            assert answer.code in ("job_refused", "bad_request"), answer.body


def test_a_path_of_the_node_is_refused_where_pods_are_restricted(
    variables: dict[str, str],
    s3_for_pods: Seaweedfs,
    tmp_path_factory: pytest.TempPathFactory,
    shared_namespace: Cluster,
) -> None:
    with closing(Place(tmp_path_factory.mktemp("home"))) as place:
        volumes = "{name: host, hostPath: {path: /}}"
        mounts = "{name: agent, volumeMounts: [{name: host, mountPath: /host}]}"
        template = place.write("template.yaml", f"spec: {{volumes: [{volumes}], containers: [{mounts}]}}\n")
        server = place.start(
            program="acai",
            **variables
            | {
                "ACAI_S3_BUCKET": s3_for_pods.make_bucket(),
                "ACAI_KUBERNETES_TEMPLATE": str(template),
                "ACAI_KUBERNETES_INSTANCE": "hostile",
            },
        )
        found = ran(server, "print(open('/host/etc/shadow').read())")
        assert found["state"] in ("failed", "crashed")
        assert "hostPath" in found["reason"] or "restricted" in found["reason"], found["reason"]
        assert "root:" not in server.ask("GET", f"/v1/projects/default/jobs/{found['number']}/log.txt").body.decode()
        until(lambda: not shared_namespace.names("pods", f"{OURS},acai-jupyter/instance=hostile"), "no pod")
