"""Collections of garbage over HTTP."""

from __future__ import annotations

import asyncio
import time
from typing import TYPE_CHECKING, Any

from acai_jupyter.contract import endpoints
from acai_jupyter.contract.errors import BadRequest, NotAllowed
from acai_jupyter.contract.garbage import CollectGarbage, Collection, CollectionState
from acai_jupyter.contract.queries import CollectionQuery

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable

    from acai_server.api.call import Call, Operations

LOOK_SECONDS = 0.1
"""How often a collection is looked at while somebody waits for it to go on."""


def collect_garbage(call: Call) -> Collection:
    """Begin a collection, or join one. Unknown objects are of the whole server, so only its admins may ask for them."""
    request = call.sent(CollectGarbage)
    if request.unknown and not call.member.is_global_admin:
        raise NotAllowed(user=call.member.user, action="list or delete objects that no project owns")
    if request.confirmed_count is not None and not request.unknown:
        raise BadRequest(reason="confirmed_count is for unknown objects; send unknown: true with it")
    return call.services.lake.collections.begin(call.project, call.user, request)


async def get_collection(call: Call, in_thread: Callable[..., Awaitable[Any]]) -> Collection:
    """Say how far one is, waiting for it to go on if asked to."""
    query = call.queried(CollectionQuery)
    deadline = time.monotonic() + query.wait_seconds
    before: Collection | None = None
    while True:
        found: Collection = await in_thread(call.services.lake.collections.get, call.project, call.params["collection"])
        before = before or found
        if found.state is not CollectionState.RUNNING or found != before or time.monotonic() >= deadline:
            return found
        await asyncio.sleep(LOOK_SECONDS)


OPERATIONS: Operations = {
    endpoints.COLLECT_GARBAGE: collect_garbage,
    endpoints.GET_COLLECTION: get_collection,
}
