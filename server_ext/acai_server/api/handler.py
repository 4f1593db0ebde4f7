"""Serves the endpoints of the contract: one handler class per route, a function per verb."""

from __future__ import annotations

import inspect
from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING, Any, ClassVar

from jupyter_server.auth.decorator import allow_unauthenticated  # the base handler's `prepare` does the refusing

from acai_server.api.base import BaseHandler
from acai_server.api.call import Call, Operation
from acai_server.api.feed import Caller
from acai_server.api.pools import Pool, pool_of
from acai_server.api.proxy import forward
from acai_server.api.request_body import announced_bytes

if TYPE_CHECKING:
    from collections.abc import Callable

    from acai_jupyter.contract.endpoints import Endpoint
    from acai_jupyter.contract.events import Event
    from acai_server.api.feed import Follower


class EndpointHandler(BaseHandler):
    """Decodes, calls in a thread (or awaits what waits), encodes."""

    operations: ClassVar[dict[str, Operation]] = {}

    def is_let_in_later(self) -> bool:
        """Whether the verb is done at once in one thread: no body is awaited, and no turn of the caller in a pool."""
        if announced_bytes(self.request) != 0:
            return False
        operation = self.operations.get(self.request.method or "")
        is_plain = operation is not None and not inspect.iscoroutinefunction(operation)
        return is_plain and pool_of(self.endpoint) is Pool.INTERACTIVE

    async def _serve(self, **params: str) -> None:
        endpoint = self.endpoint
        if self.upstream is not None:
            await forward(self, self.upstream)
            return
        operation = self.operations[endpoint.method]
        if inspect.iscoroutinefunction(operation):
            call = replace(self._call(params), follow=self.follow)
            result = await operation(call, self.look)
            await self.write_down_reads()
            await self.write_down(endpoint.status, call.body, result)
        else:
            result = await self.perform(partial(self._call, params), operation)
        self.answer(result, endpoint.status)

    def follow(self, concerns: Callable[[Event], bool] | None = None) -> Follower:
        """Begin to follow the project's events for this caller."""
        caller = Caller(self.bearer(), self.path_kwargs["project"])
        return self.host.feed(self.services).follow(caller, self.member.project_id, concerns)

    def _call(self, params: dict[str, str]) -> Call:
        return Call(self.services, self.member, params, self.decode_query(), self.decode_body(), self.departure)

    get = allow_unauthenticated(_serve)
    post = put = patch = delete = get


def handler_for(path: str, found: dict[Endpoint[Any], Operation]) -> type[EndpointHandler]:
    """Make the handler class of one route."""
    members = {
        "endpoints": {endpoint.method: endpoint for endpoint in found},
        "operations": {endpoint.method: operation for endpoint, operation in found.items()},
    }
    return type(f"Handler[{path}]", (EndpointHandler,), members)
