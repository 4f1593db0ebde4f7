"""Files over HTTP."""

from __future__ import annotations

from typing import TYPE_CHECKING

from acai_jupyter.contract import endpoints
from acai_jupyter.contract.files import (
    DamageReport,
    DamageVerdict,
    FetchFiles,
    FetchPage,
    FolderPage,
    Removed,
    RemovedFiles,
    RemoveFiles,
    RemoveManyFiles,
    VersionPage,
)
from acai_jupyter.contract.queries import FolderQuery, SpecQuery, VersionQuery

if TYPE_CHECKING:
    from acai_jupyter.contract.filesets import EntryPage
    from acai_server.api.call import Call, Operations


def list_folder(call: Call) -> FolderPage:
    """List a folder's children."""
    query = call.queried(FolderQuery)
    return call.services.lake.files.folder(call.project, query.path, query.file_set, query.after, query.limit)


def list_files(call: Call) -> EntryPage:
    """List what a spec names."""
    query = call.queried(SpecQuery)
    return call.services.lake.files.entries(call.project, query.spec, query.after, query.limit)


def list_versions(call: Call) -> VersionPage:
    """List a file's versions."""
    query = call.queried(VersionQuery)
    return call.services.lake.files.versions(call.project, query.path, query.before, query.limit)


def fetch_files(call: Call) -> FetchPage:
    """Say where bytes can be fetched."""
    return call.services.lake.files.fetch(call.project, call.sent(FetchFiles))


def report_damage(call: Call) -> DamageVerdict:
    """Look into files that a reader could not read."""
    return call.services.lake.damages.report(call.project, call.sent(DamageReport))


def remove_files(call: Call) -> Removed:
    """Bury versions, or bring them back."""
    wanted = call.sent(RemoveFiles)
    return call.services.lake.removals.remove(call.project, wanted.spec, undo=wanted.undo)


def remove_many_files(call: Call) -> RemovedFiles:
    """Bury versions of many files, or bring them back."""
    wanted = call.sent(RemoveManyFiles)
    return call.services.lake.removals.remove_many(call.project, wanted.specs, undo=wanted.undo)


OPERATIONS: Operations = {
    endpoints.LIST_FOLDER: list_folder,
    endpoints.LIST_FILES: list_files,
    endpoints.LIST_VERSIONS: list_versions,
    endpoints.FETCH_FILES: fetch_files,
    endpoints.REPORT_DAMAGE: report_damage,
    endpoints.REMOVE_FILES: remove_files,
    endpoints.REMOVE_MANY_FILES: remove_many_files,
}
