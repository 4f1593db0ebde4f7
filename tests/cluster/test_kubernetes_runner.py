"""The runner suite on a real cluster, and what a runner of pods owes besides."""

from __future__ import annotations

import asyncio
import json
import os
import socket
import time
from contextlib import contextmanager, suppress
from typing import TYPE_CHECKING

import pytest

from acai_jupyter.contract import loglines
from acai_jupyter.contract.errors import JobRefused, Unavailable
from acai_jupyter.contract.jobs import Resources
from acai_server.runners.kubernetes import calls
from acai_server.runners.kubernetes.api import Api, Missing, Taken
from acai_server.runners.kubernetes.credentials import Access, find
from acai_server.runners.kubernetes.objects import job, name_of, selector
from acai_server.runners.kubernetes.runner import KubernetesRunner
from acai_server.runners.protocol import Ended
from acai_server.testing.runners import KEY, LONG, DurableRunnerSuite, Stage, end_of, is_unknown, printed
from tests.cluster.stages import PATIENCE_SECONDS, settings_for, stage_for, until
from tests.servers.process import free_ports, running
from tests.servers.proxy import Trouble, proxied

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from pathlib import Path

    from acai_server.runners.kubernetes.settings import KubernetesSettings
    from acai_server.runners.protocol import Runner
    from tests.servers.cluster import Cluster
    from tests.servers.seaweedfs import Seaweedfs

KINDS = "jobs,pods,secrets,configmaps"
ONES = """
import sys
for number in range(20_000):
    print(number)
print("x" * 100_000)
print("no end", end="", flush=True)
"""

COUNTING = """
import time
for number in range(60):
    print("number", number, flush=True)
    time.sleep(0.1)
"""

pytestmark = pytest.mark.timeout(240)


@pytest.fixture(autouse=True)
def credentials(s3_for_pods: Seaweedfs, monkeypatch: pytest.MonkeyPatch) -> None:
    for name, value in s3_for_pods.environment.items():
        monkeypatch.setenv(name, value)


@pytest.fixture
def cluster(shared_namespace: Cluster) -> Cluster:
    return shared_namespace


@pytest.fixture
def settings(cluster: Cluster) -> KubernetesSettings:
    return settings_for(cluster)


@pytest.fixture
def stage(settings: KubernetesSettings, s3_for_pods: Seaweedfs, tmp_path: Path) -> Stage:
    return stage_for(settings, s3_for_pods, tmp_path / "pods")


@pytest.fixture
def runner(stage: Stage) -> Iterator[Runner]:
    with stage.runner() as runner:
        yield runner


class TestKubernetes(DurableRunnerSuite):
    @pytest.fixture
    def stage(self, settings: KubernetesSettings, s3_for_pods: Seaweedfs, tmp_path: Path) -> Stage:
        return stage_for(settings, s3_for_pods, tmp_path / "pods")


def pod_of(cluster: Cluster, settings: KubernetesSettings, attempt: str) -> str:
    (pod,) = cluster.names("pods", f"{selector(settings.instance)},acai-jupyter/attempt={attempt}")
    return pod


def test_nothing_is_left_in_the_namespace(
    cluster: Cluster, settings: KubernetesSettings, stage: Stage, runner: Runner
) -> None:
    attempt = stage.start(runner, "print('said')")
    end_of(runner, attempt)
    assert len(cluster.names(KINDS, selector(settings.instance))) == 4
    runner.clean(attempt)
    until(lambda: not cluster.names(KINDS, selector(settings.instance)), runner)


def test_all_of_an_attempt_goes_with_its_job(
    cluster: Cluster, settings: KubernetesSettings, stage: Stage, runner: Runner
) -> None:
    attempt = stage.start(runner, LONG)
    printed(runner, attempt, b"here")
    cluster.ask("delete", "job", name_of(settings.instance, attempt), "--wait=false")
    ended = end_of(runner, attempt)
    assert (ended.machine_failed, "was deleted by somebody" in ended.reason) == (True, True)
    until(lambda: not cluster.names("jobs,pods,secrets", selector(settings.instance)), runner)
    runner.clean(attempt)
    until(lambda: not cluster.names(KINDS, selector(settings.instance)), runner)


def test_a_pod_that_somebody_deletes_is_the_fault_of_the_machine(
    cluster: Cluster, settings: KubernetesSettings, stage: Stage, runner: Runner
) -> None:
    attempt = stage.start(runner, LONG)
    printed(runner, attempt, b"here")
    cluster.ask("delete", pod_of(cluster, settings, attempt), "--wait=false")
    assert end_of(runner, attempt) == Ended(143, "its pod was deleted by somebody", machine_failed=True)
    assert b"here\n" in runner.printed(attempt, 0)


def test_a_pod_that_is_evicted_is_the_fault_of_the_machine(
    cluster: Cluster, settings: KubernetesSettings, stage: Stage, runner: Runner
) -> None:
    attempt = stage.start(runner, LONG)
    printed(runner, attempt, b"here")
    name = pod_of(cluster, settings, attempt).partition("/")[2]
    metadata = {"name": name, "namespace": cluster.namespace}
    place = f"/api/v1/namespaces/{cluster.namespace}/pods/{name}/eviction"
    eviction = {"apiVersion": "policy/v1", "kind": "Eviction", "metadata": metadata}
    cluster.ask("create", "--raw", place, "--filename=-", body=eviction)
    ended = end_of(runner, attempt)
    assert ended == Ended(143, "its pod was evicted, as when a machine is drained", machine_failed=True)


def test_what_no_machine_takes_waits_and_says_why(cluster: Cluster, s3_for_pods: Seaweedfs, tmp_path: Path) -> None:
    settings = settings_for(cluster, template={"spec": {"nodeSelector": {"disk": "none-has-this"}}})
    stage = stage_for(settings, s3_for_pods, tmp_path)
    with stage.runner() as runner:
        attempt = stage.start(runner, "print('said')")
        chosen = "is not one that it may run on (node selector or affinity)."  # said when no machine is being drained
        why = until(lambda: (said := runner.why_waiting(attempt)).endswith(chosen) and said, runner)
        assert why.startswith("No machine of the cluster has room for it.")
        assert runner.ended(attempt) is None
        runner.stop(attempt)
        assert runner.ended(attempt) == Ended(None, "it was stopped before it began")


def test_an_image_that_cannot_be_had_ends_it(cluster: Cluster, s3_for_pods: Seaweedfs, tmp_path: Path) -> None:
    settings = settings_for(cluster, image_patience_seconds=0.0)
    stage = stage_for(settings, s3_for_pods, tmp_path)
    with stage.runner() as runner:
        attempt = stage.start(runner, "print('said')", image="localhost/nobody-made-this:1")
        ended = end_of(runner, attempt)
        assert (ended.exit_code, ended.machine_failed) == (None, False)
        assert ended.reason.startswith("its image cannot be fetched: ")
        assert "localhost/nobody-made-this:1" in ended.reason


def test_a_pod_that_is_not_admitted_ends_it_with_the_reason(
    cluster: Cluster, s3_for_pods: Seaweedfs, tmp_path: Path
) -> None:
    settings = settings_for(cluster, template={"spec": {"hostNetwork": True}})
    stage = stage_for(settings, s3_for_pods, tmp_path)
    with stage.runner() as runner:
        ended = end_of(runner, stage.start(runner, "print('said')"))
        assert ended.reason.startswith("the cluster does not admit its pod: violates PodSecurity")
        assert (ended.machine_failed, "hostNetwork" in ended.reason) == (False, True)


def test_what_is_over_the_quota_waits_and_says_so(kubernetes: Cluster, s3_for_pods: Seaweedfs, tmp_path: Path) -> None:
    kubernetes.make("ResourceQuota", "few", spec={"hard": {"pods": "0"}})
    kubernetes.ask("wait", "resourcequota/few", "--for=jsonpath={.status.hard.pods}=0")
    stage = stage_for(settings_for(kubernetes), s3_for_pods, tmp_path)
    with stage.runner() as runner:
        attempt = stage.start(runner, "print('said')")
        why = until(lambda: "quota" in (said := runner.why_waiting(attempt)) and said, runner)
        assert why.startswith("It waits for room in the quota of the namespace: exceeded quota: few")
        kubernetes.ask("delete", "resourcequota", "few")
        assert end_of(runner, attempt) == Ended(0)


def test_a_namespace_that_is_not_there_is_named(cluster: Cluster, s3_for_pods: Seaweedfs, tmp_path: Path) -> None:
    stage = stage_for(settings_for(cluster, namespace="nobody-made-this"), s3_for_pods, tmp_path)
    runner = stage.make_runner()
    with pytest.raises(JobRefused, match='namespaces "nobody-made-this" not found in the cluster; make it, or set'):
        stage.start(runner, "print('said')")
    runner.close()


def test_without_an_image_a_job_is_refused(cluster: Cluster, s3_for_pods: Seaweedfs, tmp_path: Path) -> None:
    stage = stage_for(settings_for(cluster, image=""), s3_for_pods, tmp_path)
    with stage.runner() as runner:
        assert (
            runner.refuses(Resources())
            == "it names no image, and there is none for jobs that do not; give it one with --image"
        )
        assert runner.refuses(Resources(), image=cluster.image) == ""


def test_jobs_use_the_secrets_of_their_project(cluster: Cluster, s3_for_pods: Seaweedfs, tmp_path: Path) -> None:
    settings = settings_for(cluster)
    settings = settings_for(cluster, secrets=f"for-{settings.instance}", shared_secrets=frozenset({"mirror"}))
    stage = stage_for(settings, s3_for_pods, tmp_path)
    with stage.runner() as runner:
        secrets = {"TOKEN": "hub-token", "MIRROR": "mirror"}
        assert "project 'clinic' has no secret 'hub-token'" in runner.refuses(
            Resources(), secrets=secrets.values(), project="clinic"
        )
        keys = {"clinic.hub-token": "hidden", "lab.hub-token": "other", "mirror": "shared", "admin": "never"}
        cluster.make("Secret", settings.secrets, stringData=keys)
        assert runner.refuses(Resources(), secrets=secrets.values(), project="clinic") == ""
        program = "import os; print(os.environ['TOKEN'], os.environ['MIRROR'])"
        attempt = stage.start(runner, program, secrets=secrets, project="clinic")
        assert end_of(runner, attempt) == Ended(0)
        assert stage.log(attempt) == b"hidden shared\n"
        for name in ("admin", "lab.hub-token", "clinic.hub-token"):
            assert f"has no secret '{name}'" in runner.refuses(Resources(), secrets=[name], project="clinic")
            with pytest.raises(Unavailable, match=f"project 'clinic' has no secret '{name}'"):
                stage.start(runner, "pass", secrets={"TOKEN": name}, project="clinic")


def test_all_that_is_printed_arrives_once_whoever_listens(stage: Stage, runner: Runner) -> None:
    attempt = stage.start(runner, ONES)
    end_of(runner, attempt)
    said = whole(runner, attempt)
    with stage.runner() as later:
        assert end_of(later, attempt) == Ended(0)
        assert whole(later, attempt) == said
    assert loglines.split(said, KEY)[0] == stage.log(attempt)


def test_what_is_printed_arrives_also_where_there_are_as_many_streams_as_may_be(
    cluster: Cluster, s3_for_pods: Seaweedfs, tmp_path: Path
) -> None:
    stage = stage_for(settings_for(cluster, max_streams=1), s3_for_pods, tmp_path)
    with stage.runner() as runner:
        first = stage.start(runner, LONG)
        printed(runner, first, b"here")
        silent, counting = stage.start(runner, LONG), stage.start(runner, COUNTING)
        printed(runner, silent, b"here")
        assert end_of(runner, counting) == Ended(0)
        assert loglines.split(whole(runner, counting), KEY)[0] == b"".join(b"number %d\n" % n for n in range(60))
        assert runner.ended(first) is None
        runner.stop(first)
        runner.stop(silent)


def whole(runner: Runner, attempt: str) -> bytes:
    said = b""
    while piece := runner.printed(attempt, len(said)):
        said += piece
    return said


def test_what_another_server_made_is_not_touched(
    cluster: Cluster, s3_for_pods: Seaweedfs, stage: Stage, runner: Runner, tmp_path: Path
) -> None:
    attempt = stage.start(runner, LONG)
    printed(runner, attempt, b"here")
    with stage_for(settings_for(cluster), s3_for_pods, tmp_path / "other").runner() as other:
        assert (other.known(), is_unknown(other, attempt)) == ([], True)
        other.stop(attempt)
        other.clean(attempt)
    assert runner.known() == [attempt]
    assert runner.ended(attempt) is None


def test_a_start_that_was_broken_off_is_the_fault_of_the_machine(
    cluster: Cluster, settings: KubernetesSettings, stage: Stage
) -> None:
    with stage.runner() as runner:
        order = stage.order(runner, "job-1-2-3", ["true"])
    cluster.ask("create", "--filename=-", body=job(order, settings, "no-such-agent", "mark"))
    with stage.runner() as runner:
        assert end_of(runner, "job-1-2-3") == Ended(None, "its start was broken off", machine_failed=True)
        assert runner.known() == ["job-1-2-3"]
        runner.clean("job-1-2-3")
        until(lambda: not cluster.names(KINDS, selector(settings.instance)), runner)


@pytest.fixture
def allowed(kubernetes: Cluster, tmp_path: Path) -> Callable[..., str]:
    """A kubeconfig of an account that may do what the Role says, and no more; without some calls when told so."""
    kubernetes.make("ServiceAccount", "server")
    subject = {"kind": "ServiceAccount", "name": "server", "namespace": kubernetes.namespace}
    rbac = "rbac.authorization.k8s.io"
    reference = {"apiGroup": rbac, "kind": "Role", "name": calls.ROLE}
    kubernetes.make("RoleBinding", "server", version=f"{rbac}/v1", roleRef=reference, subjects=[subject])
    token = kubernetes.ask("create", "token", "server").decode().strip()
    config = json.loads(kubernetes.ask("config", "view", "--raw", "--minify", "--output=json"))
    config["users"][0]["user"] = {"token": token}
    path = tmp_path / "kubeconfig"
    path.write_text(json.dumps(config))

    def allow(without: calls.Call | None = None) -> str:
        role = calls.role(kubernetes.namespace, "acai-secrets")
        for rule in role["rules"]:
            found = (rule["resources"], "resourceNames" in rule)
            if without is not None and found == ([without.resource], without.named):
                rule["verbs"] = [verb for verb in rule["verbs"] if verb != without.verb]
        role["rules"] = [rule for rule in role["rules"] if rule["verbs"]]
        kubernetes.ask("apply", "--filename=-", body=role)
        return str(path)

    return allow


def test_with_the_role_all_works(
    kubernetes: Cluster, s3_for_pods: Seaweedfs, tmp_path: Path, allowed: Callable[..., str]
) -> None:
    kubernetes.make("Secret", "acai-secrets", stringData={"clinic.hub-token": "hidden"})
    settings = settings_for(kubernetes, kubeconfig=allowed())
    stage = stage_for(settings, s3_for_pods, tmp_path / "pods")
    with stage.runner() as runner:
        attempt = stage.start(runner, "print('said')", secrets={"TOKEN": "hub-token"}, project="clinic")
        assert end_of(runner, attempt) == Ended(0)
        assert b"said\n" in runner.printed(attempt, 0)
        runner.renew(attempt, "http://127.0.0.1:1/other")
        killed = stage.start(runner, LONG)
        printed(runner, killed, b"here")
        runner.stop(killed)
        assert runner.known() == sorted([attempt, killed])
        gang = stage.start_gang(runner, "print('said')", 2)
        assert end_of(runner, gang).exit_code == 0
        for name in (attempt, killed, gang):
            runner.clean(name)
        until(lambda: not kubernetes.names(KINDS, selector(settings.instance)), runner)


def test_what_the_role_lacks_is_named(kubernetes: Cluster, allowed: Callable[..., str]) -> None:
    for call in calls.NEEDED:
        access = find(allowed(without=call), "")
        said = f"the server's account may not {call.verb} {call.resource} in the cluster"
        deadline = time.monotonic() + PATIENCE_SECONDS
        while said not in asyncio.run(_answer(access, kubernetes.namespace, call)):  # a Role counts a little later
            assert time.monotonic() < deadline, call


async def _answer(access: Access, namespace: str, call: calls.Call) -> str:
    """Ask for one thing that is not there; returns why it is refused."""
    api = Api(access, namespace)
    name = "" if call.verb in ("create", "list", "watch") else "acai-secrets" if call.named else "nothing"
    try:
        if call.verb == "watch":
            async for _ in api.stream(call, "", {"watch": "true", "timeoutSeconds": "1"}):
                break
        else:
            await api.ask(call, name, {} if call.verb in ("create", "patch") else None)
    except JobRefused as refused:
        return refused.message
    except (Missing, Taken):
        return ""
    finally:
        await api.close()
    return ""


@contextmanager
def plain_api(port: int, folder: Path) -> Iterator[str]:
    """The API server behind kubectl's proxy, which can be killed; yields its address."""

    def answers() -> bool:
        with suppress(OSError):
            socket.create_connection(("127.0.0.1", port), timeout=1).close()
            return True
        return False

    command = ["kubectl", "proxy", f"--port={port}"]
    with running(command, answers, log=folder / "proxy.log", environment=os.environ):
        yield f"http://127.0.0.1:{port}"


def config_for(url: str, folder: Path) -> str:
    path = folder / "plain-kubeconfig"
    context = {"name": "c", "context": {"cluster": "c"}}
    config = {"clusters": [{"name": "c", "cluster": {"server": url}}], "contexts": [context], "current-context": "c"}
    path.write_text(json.dumps(config))
    return str(path)


def test_an_api_server_that_is_away_for_a_while_costs_nothing(
    cluster: Cluster, s3_for_pods: Seaweedfs, tmp_path: Path
) -> None:
    (port,) = free_ports(1)
    with plain_api(port, tmp_path) as url:
        settings = settings_for(cluster, kubeconfig=config_for(url, tmp_path))
        stage = stage_for(settings, s3_for_pods, tmp_path / "pods")
        runner = stage.make_runner()
        attempt = stage.start(runner, COUNTING)
        printed(runner, attempt, b"number 5\n")
    assert isinstance(runner, KubernetesRunner)
    until(runner.trouble, runner)
    assert runner.ended(attempt) is None
    with plain_api(port, tmp_path):
        assert end_of(runner, attempt) == Ended(0)
        assert runner.trouble() == ""
        numbers = b"".join(b"number %d\n" % number for number in range(60))
        assert loglines.split(whole(runner, attempt), KEY)[0] == numbers
        runner.clean(attempt)
        runner.close()


def test_what_the_api_server_does_not_do_is_asked_again(cluster: Cluster, tmp_path: Path) -> None:
    async def made(url: str, name: str) -> bytes:
        api = Api(find(config_for(url, tmp_path), ""), cluster.namespace)
        try:
            return await api.ask(calls.CREATE_CONFIG_MAP, body={"metadata": {"name": name}})
        finally:
            await api.close()

    (port,) = free_ports(1)
    with plain_api(port, tmp_path) as url, proxied(url) as proxy:
        proxy.misbehave(Trouble.BROKEN, "POST", times=2)
        assert b"asked-thrice" in asyncio.run(made(proxy.url, "asked-thrice"))
        proxy.misbehave(Trouble.ANSWER_LOST, "POST", times=1)
        with pytest.raises(Taken):
            asyncio.run(made(proxy.url, "made-and-lost"))


def test_a_cluster_that_does_not_answer_lets_a_server_start(
    cluster: Cluster, s3_for_pods: Seaweedfs, tmp_path: Path
) -> None:
    config = json.loads(cluster.ask("config", "view", "--raw", "--minify", "--output=json"))
    config["clusters"][0]["cluster"]["server"] = "https://127.0.0.1:1"
    (tmp_path / "kubeconfig").write_text(json.dumps(config))
    settings = settings_for(cluster, kubeconfig=str(tmp_path / "kubeconfig"))
    runner = stage_for(settings, s3_for_pods, tmp_path / "pods").make_runner()
    assert runner.ended("job-1-1-1") is None
    runner.close()
