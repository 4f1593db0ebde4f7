"""File sets over HTTP."""

from __future__ import annotations

from typing import TYPE_CHECKING

from acai_jupyter.contract import endpoints
from acai_jupyter.contract.queries import EntryQuery, FileSetQuery

if TYPE_CHECKING:
    from acai_jupyter.contract.filesets import EntryPage, FileSet, FileSetPage
    from acai_server.api.call import Call, Operations


def list_file_sets(call: Call) -> FileSetPage:
    """List the newest version of each."""
    query = call.queried(FileSetQuery)
    return call.services.lake.file_sets.page(call.project, query.after, query.limit)


def get_file_set(call: Call) -> FileSet:
    """Return one version."""
    return call.services.lake.file_sets.get(call.project, call.params["ref"])


def list_entries(call: Call) -> EntryPage:
    """List what is in one version."""
    query = call.queried(EntryQuery)
    return call.services.lake.file_sets.entries(call.project, call.params["ref"], query.after, query.limit)


OPERATIONS: Operations = {
    endpoints.LIST_FILE_SETS: list_file_sets,
    endpoints.GET_FILE_SET: get_file_set,
    endpoints.LIST_ENTRIES: list_entries,
}
