"""File sets over HTTP: reading, notes, aliases, deleting, and what a project keeps. Making them: `sources.py`."""

from __future__ import annotations

from typing import TYPE_CHECKING

from acai_jupyter.contract import endpoints
from acai_jupyter.contract.filesets import RemoveFileSets, Retention, UpdateFileSet
from acai_jupyter.contract.queries import EntryQuery, FileSetQuery, NumberedQuery

if TYPE_CHECKING:
    from acai_jupyter.contract.filesets import (
        AliasPage,
        EntryPage,
        FileSet,
        FileSetPage,
        RemovedFileSets,
        VersionsPage,
    )
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


def list_file_set_versions(call: Call) -> VersionsPage:
    """List the versions of a name."""
    query = call.queried(NumberedQuery)
    return call.services.lake.file_sets.versions(call.project, call.params["ref"], query.before, query.limit)


def update_file_set(call: Call) -> FileSet:
    """Change a note."""
    wanted = call.sent(UpdateFileSet)
    return call.services.lake.file_sets.set_note(call.project, call.params["ref"], wanted.note, wanted.expect)


def remove_file_sets(call: Call) -> RemovedFileSets:
    """Delete versions, or bring them back."""
    wanted = call.sent(RemoveFileSets)
    return call.services.lake.keeping.change(call.project, call.user, call.params["ref"], wanted)


def list_aliases(call: Call) -> AliasPage:
    """List a name's aliases and their history."""
    query = call.queried(NumberedQuery)
    return call.services.lake.aliases.page(call.project, call.params["ref"], query.before, query.limit)


def set_alias(call: Call) -> FileSet:
    """Let an alias stand for a version."""
    return call.services.lake.aliases.set(call.project, call.user, call.params["ref"], call.params["alias"])


def remove_alias(call: Call) -> AliasPage:
    """Take an alias away."""
    return call.services.lake.aliases.remove(call.project, call.user, call.params["ref"], call.params["alias"])


def get_retention(call: Call) -> Retention:
    """Return the project's rules."""
    return call.services.lake.retention.get(call.project)


def set_retention(call: Call) -> Retention:
    """Change the project's rules."""
    return call.services.lake.retention.set(call.project, call.user, call.sent(Retention))


OPERATIONS: Operations = {
    endpoints.LIST_FILE_SETS: list_file_sets,
    endpoints.GET_FILE_SET: get_file_set,
    endpoints.LIST_ENTRIES: list_entries,
    endpoints.LIST_FILE_SET_VERSIONS: list_file_set_versions,
    endpoints.UPDATE_FILE_SET: update_file_set,
    endpoints.REMOVE_FILE_SETS: remove_file_sets,
    endpoints.LIST_ALIASES: list_aliases,
    endpoints.SET_ALIAS: set_alias,
    endpoints.REMOVE_ALIAS: remove_alias,
    endpoints.GET_RETENTION: get_retention,
    endpoints.SET_RETENTION: set_retention,
}
