"""Machines that are drained or wanted by others, and a queue; what Kueue does to a Job is done by hand."""

from __future__ import annotations

import json
from contextlib import contextmanager
from typing import TYPE_CHECKING
from uuid import uuid4

import pytest

from acai_server.runners.kubernetes.objects import name_of, selector
from acai_server.runners.protocol import Ended
from acai_server.testing.runners import LONG, end_of, printed
from tests.cluster.stages import settings_for, stage_for, until

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from tests.servers.cluster import Cluster
    from tests.servers.seaweedfs import Seaweedfs

pytestmark = pytest.mark.timeout(240)


@pytest.fixture(autouse=True)
def credentials(s3_for_pods: Seaweedfs, monkeypatch: pytest.MonkeyPatch) -> None:
    for name, value in s3_for_pods.environment.items():
        monkeypatch.setenv(name, value)


def test_a_machine_that_is_drained_gives_its_pod_up_and_takes_none_until_it_is_back(
    shared_namespace: Cluster, s3_for_pods: Seaweedfs, tmp_path: Path
) -> None:
    settings = settings_for(shared_namespace)
    stage = stage_for(settings, s3_for_pods, tmp_path)
    with stage.runner() as runner:
        attempt = stage.start(runner, LONG)
        printed(runner, attempt, b"here")
        node, ours = runner.machine_name(attempt), f"--pod-selector={selector(settings.instance)}"
        try:
            shared_namespace.ask("drain", node, ours, "--delete-emptydir-data", "--ignore-daemonsets")
            evicted = "its pod was evicted, as when a machine is drained"
            assert end_of(runner, attempt) == Ended(143, evicted, machine_failed=True)
            later = stage.start(runner, "print('said')")
            until(lambda: "takes no more pods (cordoned)" in runner.why_waiting(later), runner)
        finally:
            shared_namespace.ask("uncordon", node)
        assert end_of(runner, later) == Ended(0)


@contextmanager
def single_slot(cluster: Cluster) -> Iterator[str]:
    """Give a machine something of which it has one."""
    resource = f"test.acai/slot-{uuid4().hex[:8]}"
    node = cluster.ask("get", "nodes", "--output=jsonpath={.items[0].metadata.name}").decode()

    def patch(kind: str, body: object) -> None:
        words = ("--subresource=status", f"--type={kind}", "--patch", json.dumps(body))
        cluster.ask("patch", "node", node, *words)

    patch("merge", {"status": {"capacity": {resource: "1"}, "allocatable": {resource: "1"}}})
    try:
        yield resource
    finally:
        patch("merge", {"status": {"capacity": {resource: None}, "allocatable": {resource: None}}})


@contextmanager
def more_important(cluster: Cluster) -> Iterator[str]:
    """Have a class of pods for which others make room."""
    name = f"test-{uuid4().hex[:8]}"
    cluster.make("PriorityClass", name, version="scheduling.k8s.io/v1", value=1000)
    try:
        yield name
    finally:
        cluster.ask("delete", "priorityclass", name)


def test_a_pod_that_makes_room_for_a_more_important_one_is_the_fault_of_the_machine(
    shared_namespace: Cluster, s3_for_pods: Seaweedfs, tmp_path: Path
) -> None:
    with single_slot(shared_namespace) as slot, more_important(shared_namespace) as important:
        wants = {"name": "agent", "resources": {"requests": {slot: "1"}, "limits": {slot: "1"}}}
        profiles = {"important": {"spec": {"priorityClassName": important}}}
        settings = settings_for(shared_namespace, template={"spec": {"containers": [wants]}}, profiles=profiles)
        stage = stage_for(settings, s3_for_pods, tmp_path)
        with stage.runner() as runner:
            attempt = stage.start(runner, LONG)
            printed(runner, attempt, b"here")
            other = stage.start(runner, "print('said')", profile="important")
            made_room = "its pod had to make room for one of a higher priority"
            assert end_of(runner, attempt) == Ended(143, made_room, machine_failed=True)
            assert end_of(runner, other) == Ended(0)


def test_a_queue_lets_a_job_in_and_takes_its_machine_back(
    shared_namespace: Cluster, s3_for_pods: Seaweedfs, tmp_path: Path
) -> None:
    settings = settings_for(shared_namespace, queue="lab")
    stage = stage_for(settings, s3_for_pods, tmp_path)

    def suspend(attempt: str, *, suspended: bool) -> None:
        patch = json.dumps({"spec": {"suspend": suspended}})
        shared_namespace.ask("patch", "job", name_of(settings.instance, attempt), "--patch", patch)

    with stage.runner() as runner:
        attempt = stage.start(runner, LONG)
        assert shared_namespace.names("jobs", f"{selector(settings.instance)},kueue.x-k8s.io/queue-name=lab")
        until(lambda: runner.why_waiting(attempt) == "It waits in the cluster's queue lab.", runner)
        suspend(attempt, suspended=False)
        printed(runner, attempt, b"here")
        suspend(attempt, suspended=True)
        taken = "the cluster's queue took its machine back"
        assert end_of(runner, attempt) == Ended(143, taken, machine_failed=True)
