"""Runners of their own instances in one namespace."""

from __future__ import annotations

import os
import time
from pathlib import Path
from typing import TYPE_CHECKING, Any
from uuid import uuid4

import acai_server
from acai_server.objects.s3 import S3ObjectStore
from acai_server.runners.kubernetes.runner import KubernetesRunner
from acai_server.runners.kubernetes.settings import KubernetesSettings
from acai_server.testing.runners import Stage

if TYPE_CHECKING:
    from collections.abc import Callable

    from acai_server.runners.protocol import Runner
    from tests.servers.cluster import Cluster
    from tests.servers.seaweedfs import Seaweedfs

PATIENCE_SECONDS = 60.0
AGENT = Path(acai_server.__file__).with_name("agent.pyz")


def settings_for(cluster: Cluster, **changed: Any) -> KubernetesSettings:
    """Return the settings of a new instance."""
    known = {"kubeconfig": os.environ["KUBECONFIG"], "namespace": cluster.namespace, "image": cluster.image}
    return KubernetesSettings(**{"instance": uuid4().hex[:8], **known, **changed})


def stage_for(settings: KubernetesSettings, s3: Seaweedfs, folder: Path) -> Stage:
    """Return a stage over a bucket of its own, to whose server the environment has the credentials."""
    objects = S3ObjectStore(s3.make_bucket(), endpoint_url=s3.url)
    return Stage(objects, lambda: KubernetesRunner(folder, AGENT, settings))


def until(is_so: Callable[[], Any], runner: Runner) -> Any:
    """Return what is found as soon as something is; the runner is what tells that something happened."""
    deadline = time.monotonic() + PATIENCE_SECONDS
    while not (found := is_so()):
        assert time.monotonic() < deadline
        runner.wait([], 0.1)
    return found
