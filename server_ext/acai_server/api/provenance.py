"""The provenance graph over HTTP."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, ClassVar

from acai_jupyter.contract import endpoints
from acai_jupyter.contract.queries import (
    AffectedQuery,
    ClosureQuery,
    DifferenceQuery,
    ExportQuery,
    NeighbourhoodQuery,
    OriginQuery,
    PathQuery,
    ProjectGraphQuery,
    UsesQuery,
)
from acai_server.api.streams import StreamHandler
from acai_server.provenance.exports import CONTENT_TYPES

if TYPE_CHECKING:
    from collections.abc import Iterator

    from acai_jupyter.contract.lineage import Affected, FileOrigin, Paths, ProjectGraph, WhyDifferent
    from acai_jupyter.contract.provenance import Graph, MadeOf
    from acai_server.api.call import Call, Operations


def get_project_graph(call: Call) -> ProjectGraph:
    """Return a page of the whole."""
    return call.services.provenance.project(call.project, call.queried(ProjectGraphQuery))


def get_neighbourhood(call: Call) -> Graph:
    """Return what is around a set or a job."""
    query = call.queried(NeighbourhoodQuery)
    return call.services.provenance.neighbourhood(call.project, call.params["ref"], query)


def get_origin(call: Call) -> Graph:
    """Go one step back."""
    return call.services.provenance.neighbourhood(call.project, call.params["ref"], NeighbourhoodQuery(forward=0))


def get_sources(call: Call) -> MadeOf:
    """Return what a set was made of."""
    return call.services.provenance.sources(call.project, call.params["ref"])


def list_uses(call: Call) -> Graph:
    """Go one step forward."""
    query = call.queried(UsesQuery)
    return call.services.provenance.uses(call.project, call.params["ref"], query.before, query.limit)


def get_paths(call: Call) -> Paths:
    """Find the ways between two sets."""
    query = call.queried(PathQuery)
    return call.services.provenance.paths(call.project, call.params["ref"], query.to, query.limit)


def get_affected(call: Call) -> Affected:
    """Find what was made of a set."""
    return call.services.provenance.affected(call.project, call.params["ref"], call.queried(AffectedQuery))


def get_file_origin(call: Call) -> FileOrigin:
    """Find where a file version is from."""
    return call.services.provenance.file_origin(call.project, call.queried(OriginQuery).spec)


def explain_difference(call: Call) -> WhyDifferent:
    """Compare two lineages."""
    query = call.queried(DifferenceQuery)
    return call.services.provenance.why_different(call.project, query.before, query.after, query.depth)


class ClosureHandler(StreamHandler):
    """Sends the lines of a closure."""

    endpoints: ClassVar[dict[str, Any]] = {"GET": endpoints.GET_CLOSURE}

    def content_type(self, query: Any) -> str:
        """JSON in lines."""
        del query
        return "application/x-ndjson"

    def pieces(self, call: Call) -> Iterator[bytes]:
        """Give them."""
        return call.services.provenance.closure(call.project, call.params["ref"], call.queried(ClosureQuery))


class ExportHandler(StreamHandler):
    """Sends a lineage in the format of other programs."""

    endpoints: ClassVar[dict[str, Any]] = {"GET": endpoints.EXPORT_LINEAGE}

    def content_type(self, query: Any) -> str:
        """Return the format's own."""
        assert isinstance(query, ExportQuery)
        return CONTENT_TYPES[query.format]

    def pieces(self, call: Call) -> Iterator[bytes]:
        """Give it."""
        query = call.queried(ExportQuery)
        return call.services.provenance.export(call.project, call.params["ref"], query, call.params["project"])


OPERATIONS: Operations = {
    endpoints.GET_PROJECT_GRAPH: get_project_graph,
    endpoints.GET_NEIGHBOURHOOD: get_neighbourhood,
    endpoints.GET_ORIGIN: get_origin,
    endpoints.GET_SOURCES: get_sources,
    endpoints.LIST_USES: list_uses,
    endpoints.GET_PATHS: get_paths,
    endpoints.GET_AFFECTED: get_affected,
    endpoints.GET_FILE_ORIGIN: get_file_origin,
    endpoints.EXPLAIN_DIFFERENCE: explain_difference,
}
