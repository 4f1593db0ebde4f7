"""Attributes over HTTP."""

from __future__ import annotations

from typing import TYPE_CHECKING

from acai_jupyter.contract import endpoints
from acai_jupyter.contract.metadata import (
    Changed,
    ChangeMetadata,
    ChangePage,
    Counted,
    CountThings,
    FindThings,
    FoundPage,
    KeyList,
    Metadata,
)
from acai_jupyter.contract.queries import ChangeQuery, KeyQuery, ThingQuery

if TYPE_CHECKING:
    from acai_server.api.call import Call, Operations


def get_metadata(call: Call) -> Metadata:
    """Return all of one thing."""
    return call.services.metadata.get(call.project, call.queried(ThingQuery).thing)


def change_metadata(call: Call) -> Changed:
    """Change many things."""
    return call.services.metadata.change(call.project, call.user, call.sent(ChangeMetadata))


def list_changes(call: Call) -> ChangePage:
    """Return who changed what."""
    query = call.queried(ChangeQuery)
    return call.services.metadata.changes(call.project, query.thing, query.before, query.limit)


def list_keys(call: Call) -> KeyList:
    """Return what completion offers."""
    query = call.queried(KeyQuery)
    return call.services.metadata.keys(call.project, query.kind, query.prefix, query.limit)


def find_things(call: Call) -> FoundPage:
    """Return what a query is true of."""
    return call.services.metadata.find(call.project, call.sent(FindThings))


def count_things(call: Call) -> Counted:
    """Return how many things a query is true of, and their values."""
    return call.services.metadata.count(call.project, call.sent(CountThings))


OPERATIONS: Operations = {
    endpoints.GET_METADATA: get_metadata,
    endpoints.CHANGE_METADATA: change_metadata,
    endpoints.LIST_CHANGES: list_changes,
    endpoints.LIST_KEYS: list_keys,
    endpoints.FIND_THINGS: find_things,
    endpoints.COUNT_THINGS: count_things,
}
