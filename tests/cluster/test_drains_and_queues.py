"""Machines that are drained, and a queue that gives and takes them; what Kueue does to a Job is done by hand."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

import pytest

from acai_server.runners.kubernetes.objects import name_of, selector
from acai_server.runners.protocol import Ended
from acai_server.testing.runners import LONG, end_of, printed
from tests.cluster.stages import settings_for, stage_for, until

if TYPE_CHECKING:
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
