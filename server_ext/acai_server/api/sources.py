"""File sets made of sources, and what sources are, over HTTP."""

from __future__ import annotations

from typing import TYPE_CHECKING

from acai_jupyter.contract import endpoints
from acai_jupyter.contract.filesets import CompareSources, CreateFileSet, ResolveSources

if TYPE_CHECKING:
    from acai_jupyter.contract.filesets import Comparison, CreatedFileSet, Resolved
    from acai_server.api.call import Call, Operations


def create_file_set(call: Call) -> CreatedFileSet:
    """Make the next version of a file set."""
    return call.services.lake.composing.create(call.project, call.user, call.sent(CreateFileSet))


def resolve_sources(call: Call) -> Resolved:
    """Say which file versions sources are."""
    return call.services.lake.composing.resolve(call.project, call.sent(ResolveSources))


def compare_sources(call: Call) -> Comparison:
    """Say how two contents differ."""
    return call.services.lake.composing.compare(call.project, call.sent(CompareSources))


OPERATIONS: Operations = {
    endpoints.CREATE_FILE_SET: create_file_set,
    endpoints.RESOLVE_SOURCES: resolve_sources,
    endpoints.COMPARE_SOURCES: compare_sources,
}
