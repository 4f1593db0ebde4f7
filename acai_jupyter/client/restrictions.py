"""Restrictions, lifts, groups and the audit log, as the API has them."""

from __future__ import annotations

from itertools import islice
from typing import TYPE_CHECKING

from acai_jupyter.client import pages
from acai_jupyter.contract import account_endpoints as endpoints
from acai_jupyter.contract.accounts import check_group
from acai_jupyter.contract.errors import BadRequest
from acai_jupyter.contract.restrictions import (
    EndLift,
    EndRestriction,
    Group,
    GroupList,
    Lift,
    LiftList,
    LiftRestrictions,
    Restrict,
    Restriction,
    SetGroup,
    parse_restricted,
)

if TYPE_CHECKING:
    from collections.abc import Iterator
    from datetime import datetime

    from acai_jupyter.client.http import Client
    from acai_jupyter.contract.audit import AuditEntry

_PAGE = 1000


def restrictions(client: Client, file_set: str | None) -> list[Restriction]:
    """Return those that one sees behind, or of them those that a file set is behind."""
    query = {} if file_set is None else {"file_set": file_set.removeprefix("@")}
    return pages.whole(client, endpoints.LIST_RESTRICTIONS, "restrictions", query=query).restrictions


def restrict(client: Client, what: str, readers: list[str], writers: list[str]) -> Restriction:
    """Let only some read and write a name of file sets, or a folder."""
    parse_restricted(what)
    return client.call(endpoints.SET_RESTRICTION, Restrict(what, readers, writers))


def end_restriction(client: Client, what: str) -> Restriction:
    """Let everybody in the project through again."""
    parse_restricted(what)
    return client.call(endpoints.END_RESTRICTION, EndRestriction(what))


def lift(client: Client, file_set: str, reason: str | None, *, undo: bool) -> Lift:
    """Open a file set for a reason, or close it again."""
    name = file_set.removeprefix("@")
    if undo:
        return client.call(endpoints.END_LIFT, EndLift(name))
    if not (reason or "").strip():
        raise BadRequest(f"Say why '{name}' may be open: --reason TEXT. It is kept.")
    return client.call(endpoints.LIFT_RESTRICTIONS, LiftRestrictions(name, (reason or "").strip()))


def lifts(client: Client) -> LiftList:
    """Return what was opened, why, and by whom."""
    return pages.whole(client, endpoints.LIST_LIFTS, "lifts", "before")


def groups(client: Client) -> GroupList:
    """Return the groups."""
    return pages.whole(client, endpoints.LIST_GROUPS, "groups")


def set_group(client: Client, name: str, users: list[str]) -> Group:
    """Say who is in a group."""
    check_group(name)
    return client.call(endpoints.SET_GROUP, SetGroup(users), group=name)


def remove_group(client: Client, name: str) -> Group:
    """Take a group away."""
    check_group(name)
    return client.call(endpoints.REMOVE_GROUP, group=name)


def audit(
    client: Client, user: str | None, action: str | None, since: datetime | None, limit: int | None
) -> Iterator[AuditEntry]:
    """Iterate over entries of the audit log, the newest first; without a limit over all."""
    return islice(_entries(client, user, action, since, _PAGE if limit is None else max(1, min(limit, _PAGE))), limit)


def _entries(
    client: Client, user: str | None, action: str | None, since: datetime | None, size: int
) -> Iterator[AuditEntry]:
    told = {"user": user, "action": action, "since": None if since is None else since.isoformat()}
    query: dict[str, str | int] = {name: value for name, value in told.items() if value is not None}
    following: int | None = None
    while True:
        before = {} if following is None else {"before": following}
        page = client.call(endpoints.LIST_AUDIT, query={**query, **before, "limit": size})
        yield from page.entries
        following = page.next
        if following is None:
            return
