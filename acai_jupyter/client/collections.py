"""Following a collection of garbage until it has ended."""

from __future__ import annotations

from typing import TYPE_CHECKING

from acai_jupyter.contract import endpoints
from acai_jupyter.contract.garbage import CollectGarbage, CollectionState

if TYPE_CHECKING:
    from collections.abc import Iterator

    from acai_jupyter.client.http import Client
    from acai_jupyter.contract.garbage import Collection

WAIT_SECONDS = 20


def collect(
    client: Client, *, dry_run: bool = False, unknown: bool = False, confirmed_count: int | None = None
) -> Iterator[Collection]:
    """Begin a collection, or join the one that runs, and yield how far it is until it has ended."""
    request = CollectGarbage(dry_run, unknown, confirmed_count)
    found = client.call(endpoints.COLLECT_GARBAGE, request)
    yield found
    while found.state is CollectionState.RUNNING:
        found = client.call(endpoints.GET_COLLECTION, query={"wait_seconds": WAIT_SECONDS}, collection=found.id)
        yield found
