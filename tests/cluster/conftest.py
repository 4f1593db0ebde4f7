"""A cluster, an S3 server that its pods can reach, and the engine over both."""

from __future__ import annotations

from contextlib import ExitStack, closing
from typing import TYPE_CHECKING, TypeVar

import pytest

from acai_server.clock import Clock
from acai_server.db import schema
from acai_server.db.database import Database
from acai_server.objects.s3 import S3ObjectStore
from acai_server.testing.stages import HandClock, JobUser
from tests.cluster.turns import turn
from tests.servers.cluster import Cluster, address_for_pods, namespace
from tests.servers.process import ServerMissing
from tests.servers.seaweedfs import Seaweedfs, seaweedfs

if TYPE_CHECKING:
    from collections.abc import Callable, Generator, Iterator
    from contextlib import AbstractContextManager

T = TypeVar("T")


@pytest.hookimpl(wrapper=True, tryfirst=True)
def pytest_runtest_protocol(item: pytest.Item) -> Generator[None, object, object]:
    """Have the cluster for a test and all its fixtures: beside others, or alone."""
    with turn(alone=item.get_closest_marker("alone") is not None):
        return (yield)


@pytest.fixture(autouse=True)
def on_a_cluster() -> None:
    """Mark all tests here as such that need one."""


def _had(server: Callable[[], AbstractContextManager[T]]) -> Iterator[T]:
    with ExitStack() as stack:
        try:
            running = stack.enter_context(server())
        except ServerMissing as missing:
            pytest.skip(str(missing))
        yield running


@pytest.fixture
def kubernetes() -> Iterator[Cluster]:
    yield from _had(namespace)


@pytest.fixture(scope="session")
def shared_namespace() -> Iterator[Cluster]:
    """A namespace for tests whose runners have instances of their own."""
    yield from _had(namespace)


@pytest.fixture(scope="session")
def s3_for_pods() -> Iterator[Seaweedfs]:
    yield from _had(lambda: seaweedfs(address_for_pods()))


@pytest.fixture
def user(kubernetes: Cluster, s3_for_pods: Seaweedfs, monkeypatch: pytest.MonkeyPatch) -> Iterator[JobUser]:
    del kubernetes  # without a cluster, nothing here can be had
    for name, value in s3_for_pods.environment.items():
        monkeypatch.setenv(name, value)
    objects = S3ObjectStore(s3_for_pods.make_bucket(), endpoint_url=s3_for_pods.url)
    with closing(Database("sqlite://", Clock())) as database:
        schema.migrate(database)
        yield JobUser(database, HandClock(), objects=objects)
