"""What is made in a cluster for an attempt, literally, and the Role that follows from what is asked."""

from __future__ import annotations

import base64
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import pytest

from acai_jupyter.contract.errors import BadSetting
from acai_server.runners.kubernetes import objects, template
from acai_server.runners.kubernetes.calls import role
from acai_server.runners.kubernetes.settings import KubernetesSettings
from acai_server.runners.protocol import Order

if TYPE_CHECKING:
    from pathlib import Path

SETTINGS = KubernetesSettings(instance="1a2b", image="python:3.11")
ORDER = Order("job-1-7-2", "https://store/launch?signed", 0.5, 512 * 1024**2, grace_seconds=10.0)
LABELS = {
    "app.kubernetes.io/managed-by": "acai-jupyter",
    "acai-jupyter/instance": "1a2b",
    "acai-jupyter/attempt": "job-1-7-2",
}
HEAD = {"name": "acai-1a2b-job-1-7-2", "labels": LABELS}
CONTAINER: dict[str, Any] = {
    "name": "agent",
    "image": "python:3.11",
    "imagePullPolicy": "IfNotPresent",
    "command": ["python3", "-I", "-S", "/agent/agent.pyz", "/launch/url", "/attempt", "--container", "/sys/fs/cgroup"],
    "workingDir": "/attempt",
    "env": [{"name": "HOME", "value": "/tmp"}],
    "resources": {"requests": {"cpu": "500m", "memory": "576Mi"}, "limits": {"cpu": "500m", "memory": "576Mi"}},
    "volumeMounts": [
        {"name": "agent", "mountPath": "/agent"},
        {"name": "launch", "mountPath": "/launch"},
        {"name": "attempt", "mountPath": "/attempt"},
        {"name": "temporary", "mountPath": "/tmp"},
    ],
    "securityContext": {
        "allowPrivilegeEscalation": False,
        "readOnlyRootFilesystem": True,
        "capabilities": {"drop": ["ALL"]},
    },
}
TOLERATED = {"operator": "Exists", "effect": "NoExecute", "tolerationSeconds": 60}
POD: dict[str, Any] = {
    "restartPolicy": "Never",
    "automountServiceAccountToken": False,
    "enableServiceLinks": False,
    "terminationGracePeriodSeconds": 70,
    "securityContext": {
        "runAsNonRoot": True,
        "runAsUser": 54321,
        "runAsGroup": 54321,
        "fsGroup": 54321,
        "seccompProfile": {"type": "RuntimeDefault"},
    },
    "tolerations": [
        {"key": "node.kubernetes.io/not-ready", **TOLERATED},
        {"key": "node.kubernetes.io/unreachable", **TOLERATED},
    ],
    "containers": [CONTAINER],
    "volumes": [
        {"name": "agent", "configMap": {"name": "agent-1"}},
        {"name": "launch", "secret": {"secretName": "acai-1a2b-job-1-7-2"}},
        {"name": "attempt", "emptyDir": {}},
        {"name": "temporary", "emptyDir": {}},
    ],
}


def job(order: Order = ORDER, **settings: Any) -> dict[str, Any]:
    return objects.job(
        order, KubernetesSettings(**{"instance": "1a2b", "image": "python:3.11", **settings}), "agent-1", "mark"
    )


def pod(order: Order = ORDER, **settings: Any) -> dict[str, Any]:
    found: dict[str, Any] = job(order, **settings)["spec"]["template"]["spec"]
    return found


def test_the_agent_is_in_a_config_map() -> None:
    labels = {name: value for name, value in LABELS.items() if name != "acai-jupyter/attempt"}
    data = {"agent.pyz": base64.b64encode(b"zip").decode()}
    metadata = {"name": "acai-1a2b-agent-4a70fe9aa643", "labels": labels}
    made = {"apiVersion": "v1", "kind": "ConfigMap", "metadata": metadata, "immutable": True, "binaryData": data}
    assert objects.config_map(b"zip", SETTINGS) == made


def test_the_address_of_the_launch_document_is_in_a_secret() -> None:
    data = {"url": base64.b64encode(b"https://store/launch?signed").decode()}
    owner = {"apiVersion": "batch/v1", "kind": "Job", "name": "acai-1a2b-job-1-7-2", "uid": "u"}
    metadata = {**HEAD, "ownerReferences": [owner]}
    made = {"apiVersion": "v1", "kind": "Secret", "metadata": metadata, "data": data}
    assert objects.secret(ORDER, SETTINGS, "u") == made


def test_a_job_starts_one_pod_once() -> None:
    assert job() == {
        "apiVersion": "batch/v1",
        "kind": "Job",
        "metadata": {**HEAD, "annotations": {"acai-jupyter/start": "mark"}},
        "spec": {
            "backoffLimit": 0,
            "completions": 1,
            "parallelism": 1,
            "ttlSecondsAfterFinished": 604800,
            "template": {"metadata": {"labels": LABELS}, "spec": POD},
        },
    }


def test_the_image_of_a_job_goes_before_that_of_the_settings() -> None:
    order = Order("job-1-7-2", "u", 1, 1, image="science:2")
    assert pod(order)["containers"][0]["image"] == "science:2"


def test_a_gang_is_an_indexed_job_whose_pods_have_names_and_urls_of_their_own() -> None:
    order = replace(ORDER, others=("https://store/second",))
    made = objects.job(order, SETTINGS, "the-agent", "mark")
    alone = objects.job(ORDER, SETTINGS, "the-agent", "mark")
    assert made["spec"].pop("completionMode") == "Indexed"
    assert [made["spec"].pop(name) for name in ("completions", "parallelism")] == [2, 2]
    assert [alone["spec"].pop(name) for name in ("completions", "parallelism")] == [1, 1]
    pod = made["spec"]["template"]["spec"]
    assert pod.pop("subdomain") == HEAD["name"]
    assert pod["containers"][0]["command"][4] == "/launch/$(JOB_COMPLETION_INDEX)"
    pod["containers"][0]["command"] = CONTAINER["command"]
    assert made == alone
    assert objects.secret(order, SETTINGS, "uid")["data"] == {
        "0": base64.b64encode(b"https://store/launch?signed").decode(),
        "1": base64.b64encode(b"https://store/second").decode(),
    }
    found = objects.service(order, SETTINGS, "uid")
    owner = {"apiVersion": "batch/v1", "kind": "Job", "name": HEAD["name"], "uid": "uid"}
    selected = {name: LABELS[name] for name in ("acai-jupyter/instance", "acai-jupyter/attempt")}
    assert found == {
        "apiVersion": "v1",
        "kind": "Service",
        "metadata": {**HEAD, "ownerReferences": [owner]},
        "spec": {"clusterIP": "None", "publishNotReadyAddresses": True, "selector": selected},
    }
    assert objects.meeting("name", 2).programs == ("name-0.name:29500", "name-1.name:29500")


def test_gpus_are_asked_for_as_the_nodes_offer_them() -> None:
    order = Order("job-1-7-2", "u", 2, 1024**3, gpus=3)
    share = {"cpu": "2000m", "memory": "1088Mi", "amd.com/gpu": "3"}
    assert pod(order, gpu_resource="amd.com/gpu")["containers"][0]["resources"] == {"requests": share, "limits": share}


def test_gpus_of_a_type_are_looked_for_on_nodes_that_have_it() -> None:
    order = Order("job-1-7-2", "u", 2, 1024**3, gpus=1, gpu_type="A100-SXM4-80GB")
    label = "nvidia.com/gpu.product"
    assert pod(order, gpu_type_label=label)["nodeSelector"] == {label: "A100-SXM4-80GB"}
    assert "nodeSelector" not in pod(order)
    assert "nodeSelector" not in pod(replace(order, gpus=0), gpu_type_label=label)


def test_secrets_are_keys_of_one_secret() -> None:
    order = Order("job-1-7-2", "u", 1, 1, secrets={"TOKEN": "hub-token"})
    reference = {"name": "TOKEN", "valueFrom": {"secretKeyRef": {"name": "ours", "key": "hub-token"}}}
    assert pod(order, secrets="ours")["containers"][0]["env"] == [{"name": "HOME", "value": "/tmp"}, reference]


def test_as_root_a_pod_does_not_claim_to_be_another() -> None:
    assert pod(run_as_user=0)["securityContext"] == {"seccompProfile": {"type": "RuntimeDefault"}}


def test_a_queue_holds_the_job_until_it_admits_it() -> None:
    made = job(queue="team")
    assert made["metadata"]["labels"] == LABELS | {"kueue.x-k8s.io/queue-name": "team"}
    assert made["spec"]["suspend"] is True


@pytest.mark.parametrize(
    ("place", "volume"),
    [
        ("/var/cache/acai", {"hostPath": {"path": "/var/cache/acai", "type": "DirectoryOrCreate"}}),
        ("environments", {"persistentVolumeClaim": {"claimName": "environments"}}),
    ],
)
def test_archives_of_environments_are_in_a_folder_of_the_node_or_in_a_volume(
    place: str, volume: dict[str, Any]
) -> None:
    found = pod(archives=place, archives_bytes=2**30)
    assert found["volumes"] == [*POD["volumes"], {"name": "archives", **volume}]
    container = found["containers"][0]
    assert container["volumeMounts"] == [*CONTAINER["volumeMounts"], {"name": "archives", "mountPath": "/archives"}]
    assert container["command"] == [*CONTAINER["command"], "--archives", "/archives", "--archives-bytes", "1073741824"]


def test_a_template_is_laid_over_the_pod() -> None:
    toleration = {"key": "gpu", "operator": "Exists"}
    laid = {
        "metadata": {"labels": {"team": "nlp"}, "annotations": {"note": "x"}},
        "spec": {
            "nodeSelector": {"disk": "ssd"},
            "serviceAccountName": "jobs",
            "imagePullSecrets": [{"name": "registry"}],
            "priorityClassName": "low",
            "runtimeClassName": "gvisor",
            "tolerations": [toleration],
            "securityContext": {"fsGroup": 7},
            "containers": [{"name": "agent", "volumeMounts": [{"name": "data", "mountPath": "/data"}]}],
            "volumes": [{"name": "data", "persistentVolumeClaim": {"claimName": "data"}}],
        },
    }
    made = job(template=laid)
    spec = made["spec"]["template"]["spec"]
    assert made["spec"]["template"]["metadata"] == {"labels": {"team": "nlp", **LABELS}, "annotations": {"note": "x"}}
    assert made["metadata"]["labels"] == {"team": "nlp", **LABELS}
    mounts = [*CONTAINER["volumeMounts"], {"name": "data", "mountPath": "/data"}]
    assert spec == POD | {
        "nodeSelector": {"disk": "ssd"},
        "serviceAccountName": "jobs",
        "imagePullSecrets": [{"name": "registry"}],
        "priorityClassName": "low",
        "runtimeClassName": "gvisor",
        "tolerations": [toleration, *POD["tolerations"]],
        "securityContext": {**POD["securityContext"], "fsGroup": 7},
        "containers": [{**CONTAINER, "volumeMounts": mounts}],
        "volumes": [*POD["volumes"], {"name": "data", "persistentVolumeClaim": {"claimName": "data"}}],
    }


def test_a_template_cannot_take_away_by_what_a_pod_is_found() -> None:
    made = job(template={"metadata": {"labels": {"acai-jupyter/instance": "another"}}})
    assert made["spec"]["template"]["metadata"]["labels"] == LABELS


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("a: [", "it is not YAML"),
        ("nodeSelector: {disk: ssd}", "it has other keys than `profiles` and those of a pod template"),
        ("- 1", "it has other keys"),
    ],
)
def test_a_template_that_is_none_is_told(tmp_path: Path, text: str, said: str) -> None:
    (tmp_path / "pod.yaml").write_text(text)
    with pytest.raises(BadSetting, match=said):
        template.read(str(tmp_path / "pod.yaml"))
    with pytest.raises(BadSetting, match="cannot be read"):
        template.read(str(tmp_path / "nowhere.yaml"))


def test_a_template_is_read(tmp_path: Path) -> None:
    (tmp_path / "pod.yaml").write_text("spec: {nodeSelector: {disk: ssd}}")
    assert template.read(str(tmp_path / "pod.yaml")).every == {"spec": {"nodeSelector": {"disk": "ssd"}}}
    assert template.read("") == template.Template()


def test_a_profile_is_laid_over_the_template_for_the_jobs_that_name_it(tmp_path: Path) -> None:
    text = (
        "spec: {nodeSelector: {disk: ssd}}\nprofiles: {gpu: {spec: {nodeSelector: {gpu: a100}, runtimeClassName: n}}}"
    )
    (tmp_path / "pod.yaml").write_text(text)
    read = template.read(str(tmp_path / "pod.yaml"))
    laid = {"template": read.every, "profiles": read.profiles}
    plain, own = (job(replace(ORDER, profile=name), **laid)["spec"]["template"]["spec"] for name in ("train.py", "gpu"))
    assert (plain["nodeSelector"], "runtimeClassName" in plain) == ({"disk": "ssd"}, False)
    assert (own["nodeSelector"], own["runtimeClassName"]) == ({"disk": "ssd", "gpu": "a100"}, "n")
    (tmp_path / "pod.yaml").write_text("profiles: {gpu: {nodeSelector: {gpu: a100}}}")
    with pytest.raises(BadSetting, match="`profiles` has names of profiles, each with `metadata` and `spec`"):
        template.read(str(tmp_path / "pod.yaml"))


def test_the_role_allows_what_is_asked_and_no_more() -> None:
    made = role("lab", "ours")
    assert made["metadata"] == {"name": "acai-runner", "namespace": "lab"}
    assert [(rule["resources"], rule["verbs"], rule.get("resourceNames")) for rule in made["rules"]] == [
        (["configmaps"], ["create", "delete", "list", "patch"], None),
        (["events"], ["list"], None),
        (["pods"], ["delete", "list", "watch"], None),
        (["pods/log"], ["get"], None),
        (["secrets"], ["create", "patch"], None),
        (["secrets"], ["get"], ["ours"]),
        (["services"], ["create"], None),
        (["jobs"], ["create", "delete", "list", "watch"], None),
    ]
