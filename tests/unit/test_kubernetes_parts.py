"""Parts of the runner of a cluster that need none: logs as they are kept, credentials, nodes."""

from __future__ import annotations

import json
import os
import ssl
import sys
from itertools import pairwise
from typing import TYPE_CHECKING

import pytest
from hypothesis import given
from hypothesis import strategies as st

from acai_jupyter.contract.errors import SettingsBroken
from acai_jupyter.contract.jobs import Resources
from acai_server.runners.kubernetes import credentials
from acai_server.runners.kubernetes.nodes import Nodes, quantity
from acai_server.runners.kubernetes.pod_logs import PodLog
from acai_server.runners.kubernetes.secret_keys import ALL, key_of
from acai_server.runners.kubernetes.seen import Metadata, Node, NodeStatus

if TYPE_CHECKING:
    from pathlib import Path

FIRST = b"2026-11-19T05:40:48.100000001Z one\n"
SECOND = b"2026-11-19T05:40:48.100000002Z two \n"
SAME = b"2026-11-19T05:40:48.100000002Z again\n"
LAST = b"2026-11-19T05:40:49.000000000Z\x20\n"
WHOLE = FIRST + SECOND + SAME + LAST
TEXT = b"one\ntwo \nagain\n\n"


def text(path: Path) -> bytes:
    return PodLog.read_at(path, 0)


@given(cuts=st.lists(st.integers(0, len(WHOLE)), max_size=6))
def test_a_log_has_no_times_however_it_arrives(tmp_path_factory: pytest.TempPathFactory, cuts: list[int]) -> None:
    path = tmp_path_factory.mktemp("logs") / "job-1"
    log = PodLog(path)
    edges = [0, *sorted(cuts), len(WHOLE)]
    for start, end in pairwise(edges):
        log.take(WHOLE[start:end])
    assert text(path) == TEXT


@given(breaks=st.lists(st.integers(0, len(WHOLE)), max_size=5), restarts=st.booleans())
def test_a_log_that_broke_off_goes_on_without_gap_or_repetition(
    tmp_path_factory: pytest.TempPathFactory, breaks: list[int], *, restarts: bool
) -> None:
    path = tmp_path_factory.mktemp("logs") / "job-1"
    log = PodLog(path)
    for end in [*breaks, len(WHOLE)]:
        log = PodLog(path) if restarts else log
        log.resume()
        since = log.since
        lines = [line for line in (FIRST, SECOND, SAME, LAST) if line[:19].decode() + "Z" >= since]
        sent = b"".join(lines)
        log.take(sent[: max(0, end - (len(WHOLE) - len(sent)))])
        assert TEXT.startswith(text(path))
    assert text(path) == TEXT


def test_a_log_is_read_on_from_any_byte_until_it_is_removed(tmp_path: Path) -> None:
    log = PodLog(tmp_path / "job-1")
    assert (text(tmp_path / "job-1"), log.since) == (b"", "")
    assert log.take(WHOLE)
    assert PodLog.read_at(tmp_path / "job-1", 4) == TEXT[4:]
    assert PodLog.read_at(tmp_path / "job-1", 99) == b""
    log.resume()
    assert not log.take(SECOND)
    log.remove()
    assert list(tmp_path.iterdir()) == []


def test_what_was_kept_without_its_position_is_taken_anew(tmp_path: Path) -> None:
    PodLog(tmp_path / "job-1").take(WHOLE)
    (tmp_path / "job-1.position").unlink()
    log = PodLog(tmp_path / "job-1")
    assert text(tmp_path / "job-1") == b""
    log.take(WHOLE)
    assert text(tmp_path / "job-1") == TEXT


def config(path: Path, user: str, *, namespace: str = "lab") -> Path:
    path.write_text(
        "apiVersion: v1\nkind: Config\ncurrent-context: here\n"
        f"contexts: [{{name: here, context: {{cluster: c, user: u, namespace: {namespace}}}}}]\n"
        "clusters: [{name: c, cluster: {server: 'https://10.0.0.1:6443/'}}]\n"
        f"users: [{{name: u, user: {user}}}]\n"
    )
    return path


def test_a_kubeconfig_is_read(tmp_path: Path) -> None:
    access = credentials.find(str(config(tmp_path / "config", "{token: secret}")), "")
    assert (access.server, access.namespace) == ("https://10.0.0.1:6443", "lab")
    assert access.authorization() == "Bearer secret"


def test_a_token_in_a_file_is_read_again_when_it_is_not_accepted(tmp_path: Path) -> None:
    (tmp_path / "token").write_text("first\n")
    access = credentials.find(str(config(tmp_path / "config", "{tokenFile: token}")), "here")
    assert access.authorization() == "Bearer first"
    (tmp_path / "token").write_text("second\n")
    assert access.authorization() == "Bearer first"
    access.renew()
    assert access.authorization() == "Bearer second"


def test_a_program_is_asked_for_a_token(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    secrets = ("ACAI_TOKEN", "ACAI_DATABASE", "JUPYTERHUB_API_TOKEN", "CONFIGPROXY_AUTH_TOKEN")
    for name in secrets:
        monkeypatch.setenv(name, "not for a plugin")
    answer = json.dumps({"status": {"token": "made", "expirationTimestamp": "2099-01-01T00:00:00Z"}})
    program = tmp_path / "plugin.py"
    kept = f"assert not set({secrets!r}) & set(os.environ)"
    program.write_text(f"import os; assert os.environ['A'] == 'b'; {kept}; print({answer!r})")
    user = f"{{exec: {{command: {sys.executable}, args: [{program}], env: [{{name: A, value: b}}]}}}}"
    access = credentials.find(str(config(tmp_path / "config", user)), "")
    assert access.is_slow()
    assert access.authorization() == "Bearer made"
    assert not access.is_slow()
    program.write_text("raise SystemExit(1)")
    access.renew()
    with pytest.raises(SettingsBroken, match="gives no token; run it by hand"):
        access.authorization()


def test_a_pod_uses_its_own_account(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    authority = ssl.DER_cert_to_PEM_cert(ssl.create_default_context().get_ca_certs(binary_form=True)[0])
    for name, said in (("token", "own"), ("namespace", "team"), ("ca.crt", authority)):
        (tmp_path / name).write_text(said)
    monkeypatch.setenv("KUBERNETES_SERVICE_HOST", "fd00::1")
    monkeypatch.setenv("KUBERNETES_SERVICE_PORT", "443")
    access = credentials.in_pod(tmp_path)
    assert (access.server, access.namespace, access.authorization()) == ("https://[fd00::1]:443", "team", "Bearer own")


def test_a_cluster_that_is_not_named_is_told(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("KUBECONFIG", raising=False)
    with pytest.raises(SettingsBroken, match="no cluster is named"):
        credentials.find("", "")
    with pytest.raises(SettingsBroken, match="cannot be read"):
        credentials.find(str(tmp_path / "nowhere"), "")
    with pytest.raises(SettingsBroken, match="lacks \"context 'there'\""):
        credentials.find(str(config(tmp_path / "config", "{}")), "there")
    monkeypatch.setenv("KUBECONFIG", os.pathsep.join([str(tmp_path / "config"), "other"]))
    assert credentials.find("", "").namespace == "lab"


@pytest.mark.parametrize(
    ("text", "amount"),
    [
        ("2", 2),
        ("1930m", 1.93),
        ("16Gi", 16 * 1024**3),
        ("16384Ki", 16 * 1024**2),
        ("1k", 1000),
        ("1e3", 1000),
        ("x", 0),
    ],
)
def test_quantities(text: str, amount: float) -> None:
    assert quantity(text) == pytest.approx(amount)


def node(cpu: str, memory: str, gpus: str = "0") -> Node:
    return Node(Metadata(), status=NodeStatus({"cpu": cpu, "memory": memory, "nvidia.com/gpu": gpus}))


def test_what_no_machine_can_hold_is_refused() -> None:
    nodes = Nodes.of([node("4", "8Gi"), node("2", "16Gi", "1")], "nvidia.com/gpu", grows=False)
    assert (nodes.machine().cpus, nodes.machine().memory_bytes, nodes.machine().gpus) == (6, 24 * 1024**3, 1)
    assert nodes.refuses(Resources(vcpu=4, memory_bytes=15 * 1024**3, gpus=1)) == ""
    assert nodes.refuses(Resources(vcpu=5)) == "it asks for 5 vCPU and no machine of the cluster has more than 4"
    said = nodes.refuses(Resources(memory_bytes=16 * 1024**3))
    assert said == "it asks for 16 GB and no machine of the cluster has more than 15.9 GB"
    assert nodes.refuses(Resources(gpus=2)) == "it asks for 2 GPU and no machine of the cluster has more than 1"


def test_what_jobs_can_have_of_each_machine_is_known_where_no_larger_ones_come() -> None:
    listed = [node("4", "8Gi"), node("2", "16Gi", "1")]
    room = Nodes.of(listed, "nvidia.com/gpu", grows=False).room()
    assert [(one.cpus, one.gpus) for one in room] == [(4, 0), (2, 1)]
    nodes = Nodes.of(listed, "nvidia.com/gpu", grows=False)
    assert [nodes.refuses(Resources(one.cpus, one.memory_bytes, one.gpus)) for one in room] == ["", ""]
    assert nodes.refuses(Resources(1, max(one.memory_bytes for one in room) + 1024**2)) != ""
    assert Nodes.of(listed, "nvidia.com/gpu", grows=True).room() == Nodes().room() == ()


def test_what_a_cluster_may_get_is_not_refused() -> None:
    assert Nodes.of([node("4", "8Gi")], "nvidia.com/gpu", grows=True).refuses(Resources(vcpu=64)) == ""
    assert Nodes().refuses(Resources(vcpu=64)) == ""


KEYS = ("clinic.token", "a.b.c", "lab.token", "token", "mirror", "old.key")


@pytest.mark.parametrize(
    ("project", "name", "shared", "key"),
    [
        ("clinic", "token", (), "clinic.token"),
        ("lab", "token", (), "lab.token"),
        ("other", "token", (), None),
        ("other", "token", ("token",), "token"),
        ("clinic", "token", (ALL,), "clinic.token"),
        ("other", "mirror", (ALL,), "mirror"),
        ("other", "nothing", (ALL, "nothing"), None),
        ("other", "clinic.token", (ALL,), None),
        ("other", "old.key", ("old.key",), "old.key"),
        ("", "token", (), None),
        ("a", "b.c", (), None),
        ("a.b", "c", (), "a.b.c"),
    ],
)
def test_a_job_uses_the_secrets_of_its_project_and_shared_ones(
    project: str, name: str, shared: tuple[str, ...], key: str | None
) -> None:
    assert key_of(project, name, KEYS, shared) == key
