"""The table of routes, made of the contract's endpoints and the functions bound to them."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any

from jupyter_server.auth.decorator import allow_unauthenticated

from acai_jupyter.contract.endpoints import ALL, BASE, Endpoint
from acai_jupyter.contract.errors import NotFound
from acai_server.api import (
    accounts,
    audit,
    budgets,
    drawings,
    events,
    files,
    filesets,
    garbage,
    jobs,
    metadata,
    prices,
    profiles,
    profilings,
    provenance,
    restrictions,
    sources,
    status,
    sweeps,
    uploads,
)
from acai_server.api.base import BaseHandler
from acai_server.api.handler import handler_for
from acai_server.api.job_logs import JobLogHandler
from acai_server.api.objects import ObjectHandler
from acai_server.api.sign_in import SignInHandler
from acai_server.api.watching import HealthHandler, MetricsHandler, ReadinessHandler

if TYPE_CHECKING:
    from acai_server.api.call import Operations

OPERATIONS: Operations = {
    endpoint: operation
    for module in (
        status,
        accounts,
        restrictions,
        audit,
        events,
        uploads,
        files,
        filesets,
        sources,
        garbage,
        metadata,
        jobs,
        sweeps,
        prices,
        budgets,
        profiles,
        profilings,
        provenance,
        drawings,
    )
    for endpoint, operation in module.OPERATIONS.items()
}
STREAMS: dict[str, type[BaseHandler]] = {
    "/v1/health": HealthHandler,
    "/v1/ready": ReadinessHandler,
    "/v1/metrics": MetricsHandler,
    "/v1/sign-in": SignInHandler,
    "/v1/objects/{key}": ObjectHandler,
    "/v1/projects/{project}/jobs/{job}/log.txt": JobLogHandler,
    "/v1/projects/{project}/provenance/{ref}/closure": provenance.ClosureHandler,
    "/v1/projects/{project}/provenance/{ref}/export": provenance.ExportHandler,
    "/v1/projects/{project}/events/stream": events.EventStreamHandler,
}


class UnknownRouteHandler(BaseHandler):
    """Everything else below our base: refused to strangers like the rest, then not found."""

    @allow_unauthenticated
    async def get(self) -> None:
        """Say that there is nothing."""
        raise NotFound(path=self.shown_path)

    post = put = patch = delete = head = get


class NothingHandler(BaseHandler):
    """What `jupyter acai` serves outside the API: nothing, for anyone."""

    async def authenticate(self) -> None:
        """Refuse before anyone is identified and before a body is read."""
        raise NotFound(path=self.shown_path)

    @allow_unauthenticated
    async def get(self) -> None:
        """Unreachable: `prepare` refuses every request."""

    post = put = patch = delete = head = get


def routes() -> list[tuple[str, type[BaseHandler]]]:
    """Return patterns below the server's base URL and their handlers."""
    paths: dict[str, list[Endpoint[Any]]] = {}
    for endpoint in ALL:
        paths.setdefault(endpoint.path, []).append(endpoint)
    table: list[tuple[str, type[BaseHandler]]] = []
    for path, found in paths.items():
        handler = STREAMS.get(path) or handler_for(path, {endpoint: OPERATIONS[endpoint] for endpoint in found})
        table.append((pattern(path), handler))
    return [*table, (f"{BASE}(?:/.*)?", UnknownRouteHandler)]


def pattern(path: str) -> str:
    """Return the regular expression of a path; only an object's key may hold slashes."""
    names = re.sub(r"\{(\w+)\}", lambda m: f"(?P<{m[1]}>{'.+' if m[1] == 'key' else '[^/]+'})", path)
    return BASE + names
