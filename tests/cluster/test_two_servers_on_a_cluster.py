"""Two servers of one PostgreSQL whose jobs run on one cluster: each sees all of them, and one can be lost."""

from __future__ import annotations

from contextlib import closing
from typing import TYPE_CHECKING

import pytest

from tests.cluster.journeys import KINDS, MAKES, OURS, began, ended, job, said, submitted, versions
from tests.integration.places import Place, Server, until

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from tests.servers.cluster import Cluster
    from tests.servers.postgres import Postgres
    from tests.servers.seaweedfs import Seaweedfs

pytestmark = [pytest.mark.postgres, pytest.mark.timeout(240)]
COUNTS = f"""
import time
for number in range(50):
    print("began", number, flush=True)
    time.sleep(0.1)
{MAKES}
"""
COUNTED = "".join(f"began {number}\n" for number in range(50)) + "made\n"


@pytest.fixture
def variables(
    kubernetes: Cluster, s3_for_pods: Seaweedfs, postgres_server: Postgres, postgres_template: str
) -> dict[str, str]:
    return {
        "ACAI_RUNNER": "kubernetes",
        "ACAI_KUBERNETES_NAMESPACE": kubernetes.namespace,
        "ACAI_KUBERNETES_IMAGE": kubernetes.image,
        "ACAI_KUBERNETES_INSTANCE": "both",
        "ACAI_DATABASE": postgres_server.create_database(postgres_template),
        "ACAI_OBJECT_STORE": "s3",
        "ACAI_S3_BUCKET": s3_for_pods.make_bucket(),
        "ACAI_S3_ENDPOINT_URL": s3_for_pods.url,
        **s3_for_pods.environment,
    }


@pytest.fixture
def servers(variables: dict[str, str], tmp_path: Path) -> Iterator[tuple[Server, Server]]:
    one, two = (Place(tmp_path / name) for name in ("one", "two"))
    with closing(one), closing(two):
        first, second = (place.spawn(program="acai", **variables) for place in (one, two))
        for server in (first, second):
            server.wait_until_it_answers()
        one.write("given/number", "7")
        said(one, "put", "given", "/given", "--as", "given")
        yield first, second


def test_each_ends_what_the_other_began_and_nothing_is_done_twice(
    servers: tuple[Server, Server], variables: dict[str, str], kubernetes: Cluster
) -> None:
    first, second = servers
    outputs = {
        submitted(server.place, COUNTS, "--input", "given", "--output", name): (server, name)
        for server, name in ((first, "of-first"), (second, "of-second"))
    }
    for number in outputs:
        began(first, number)
        began(second, number)
    first.kill()
    for number, (_, name) in outputs.items():
        found = ended(second, number, "finished")
        assert (found["output"], versions(second.place, f"/{name}/made")) == (f"{name}:1", 1)
        assert said(second.place, "logs", str(number)) == COUNTED
    until(lambda: not kubernetes.names(KINDS, OURS), "an empty namespace")
    again = first.place.start(program="acai", **variables)
    for number in outputs:
        assert job(again, number) == job(second, number)
        assert said(again.place, "logs", str(number)) == COUNTED
