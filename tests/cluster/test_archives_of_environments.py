"""Environments that pods keep for each other, on a node or in a volume, where other jobs can write as well."""

from __future__ import annotations

import os
import sys
from contextlib import closing
from typing import TYPE_CHECKING, Any

import pytest

from acai_server.testing.runners import end_of
from tests.cluster.journeys import said, submitted
from tests.cluster.stages import settings_for, stage_for
from tests.integration.places import Place
from tests.wheels import requirements, wheel

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from tests.servers.cluster import Cluster
    from tests.servers.seaweedfs import Seaweedfs

pytestmark = pytest.mark.timeout(240)
HERE = "{}.{}".format(*sys.version_info[:2])
ENFORCE = "pod-security.kubernetes.io/enforce"
TELLS = """
import greeter, hashlib, pathlib
(path,) = pathlib.Path("/archives").iterdir()
print(greeter.NAME, path.stat().st_ino, hashlib.sha256(path.read_bytes()).hexdigest() == path.name)
"""
SPOILS = f"{TELLS}\npath.write_bytes(b'x' * path.stat().st_size)\n"


@pytest.fixture
def node_folder(kubernetes: Cluster) -> Iterator[str]:
    """A folder of the node that belongs to the user of pods."""
    path = f"/var/tmp/{kubernetes.namespace}"
    kubernetes.ask("label", "namespace", kubernetes.namespace, f"{ENFORCE}=privileged", "--overwrite")
    as_root(kubernetes, "prepare", path, "chown 54321:54321 /folder")
    yield path
    kubernetes.ask("label", "namespace", kubernetes.namespace, f"{ENFORCE}=privileged", "--overwrite")
    as_root(kubernetes, "tidy", "/var/tmp", f"rm -r /folder/{kubernetes.namespace}")


def as_root(cluster: Cluster, name: str, path: str, command: str) -> None:
    """Run a line in a pod that has a folder of the node."""
    container = {
        "name": "c",
        "image": cluster.image,
        "imagePullPolicy": "IfNotPresent",
        "command": ["sh", "-c", command],
        "volumeMounts": [{"name": "folder", "mountPath": "/folder"}],
    }
    volume = {"name": "folder", "hostPath": {"path": path, "type": "DirectoryOrCreate"}}
    cluster.make("Pod", name, spec={"restartPolicy": "Never", "containers": [container], "volumes": [volume]})
    cluster.wait(name, "jsonpath={.status.phase}=Succeeded")


@pytest.fixture
def claim(kubernetes: Cluster, node_folder: str) -> Iterator[str]:
    """A claim to a volume in that folder, in a namespace with the pod security `restricted`."""
    size: dict[str, Any] = {"accessModes": ["ReadWriteMany"], "storageClassName": ""}
    source = {"capacity": {"storage": "1Gi"}, "hostPath": {"path": node_folder}, "claimRef": None}
    source["claimRef"] = {"namespace": kubernetes.namespace, "name": "environments"}
    kubernetes.make("PersistentVolume", kubernetes.namespace, spec=size | source)
    try:
        wanted = {"resources": {"requests": {"storage": "1Gi"}}, "volumeName": kubernetes.namespace}
        kubernetes.make("PersistentVolumeClaim", "environments", spec=size | wanted)
        kubernetes.ask("label", "namespace", kubernetes.namespace, f"{ENFORCE}=restricted", "--overwrite")
        yield "environments"
    finally:
        kubernetes.ask("delete", "persistentvolume", kubernetes.namespace, "--wait=false")


@pytest.mark.parametrize("kind", ["node_folder", "claim"])
def test_an_environment_is_kept_for_other_pods_and_one_that_was_changed_is_not_used(
    kubernetes: Cluster, s3_for_pods: Seaweedfs, tmp_path: Path, request: pytest.FixtureRequest, kind: str
) -> None:
    if not os.environ["KUBE_IMAGE"].rpartition(":")[2].startswith(HERE):
        pytest.skip(f"the image of the cluster has no Python {HERE}")
    kept_in = request.getfixturevalue(kind)
    with closing(Place(tmp_path)) as place:
        place.start(
            program="acai",
            ACAI_RUNNER="kubernetes",
            ACAI_KUBERNETES_NAMESPACE=kubernetes.namespace,
            ACAI_KUBERNETES_IMAGE=kubernetes.image,
            ACAI_KUBERNETES_ARCHIVES=kept_in,
            ACAI_OBJECT_STORE="s3",
            ACAI_S3_BUCKET=s3_for_pods.make_bucket(),
            ACAI_S3_ENDPOINT_URL=s3_for_pods.url,
            **s3_for_pods.environment,
        )
        folder = place.write("wheels/none", "").parent
        wheel(folder, "greeter", "1.2", "NAME = 'greeter 1.2'")
        place.write("requirements.txt", requirements(folder, "greeter"))
        first, second, spoilt, last = (ran(place, program) for program in (TELLS, TELLS, SPOILS, TELLS))
    assert first.startswith("greeter 1.2 ")
    assert first.endswith(" True\n")
    assert (second, spoilt) == (first, first)
    assert last != first  # it is another file
    assert last.endswith(" True\n")


def ran(place: Place, program: str) -> str:
    number = submitted(place, program, "--env", "requirements.txt")
    said(place, "wait", str(number))
    return said(place, "logs", str(number))


def test_a_folder_of_the_node_is_not_admitted_where_pods_are_restricted(
    shared_namespace: Cluster, s3_for_pods: Seaweedfs, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name, value in s3_for_pods.environment.items():
        monkeypatch.setenv(name, value)
    settings = settings_for(shared_namespace, archives="/var/tmp/environments")
    stage = stage_for(settings, s3_for_pods, tmp_path)
    with stage.runner() as runner:
        ended = end_of(runner, stage.start(runner, "print('said')"))
    assert ended.reason.startswith("the cluster does not admit its pod: violates PodSecurity")
    assert "hostPath" in ended.reason
