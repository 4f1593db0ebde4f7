"""The verbs as Python calls: those about access, groups and the audit log."""

from __future__ import annotations

from typing import TYPE_CHECKING

from acai_jupyter.client import restrictions as access
from acai_jupyter.client.http import Client
from acai_jupyter.commands import python_help

if TYPE_CHECKING:
    from collections.abc import Sequence
    from datetime import datetime

    from acai_jupyter.contract.audit import AuditEntry
    from acai_jupyter.contract.restrictions import Group, Lift, Restriction


def restrictions(file_set: str | None = None, *, project: str | None = None) -> list[Restriction]:
    """Return the restrictions that one sees behind, or of these those that a file set is behind."""
    return access.restrictions(Client(project=project), file_set)


def restrict(
    what: str, *, read: Sequence[str] = (), write: Sequence[str] = (), project: str | None = None
) -> Restriction:
    """Let only some users and groups, and admins, read and write a file set or a folder, and what is made of it."""
    return access.restrict(Client(project=project), what, list(read), list(write))


def end_restriction(what: str, *, project: str | None = None) -> Restriction:
    """Let everybody in the project through again; returns the restriction as it was."""
    return access.end_restriction(Client(project=project), what)


def lift(file_set: str, *, reason: str | None = None, undo: bool = False, project: str | None = None) -> Lift:
    """Open a file set that was made of restricted ones, for a reason that is kept."""
    return access.lift(Client(project=project), file_set, reason, undo=undo)


def lifts(*, project: str | None = None) -> list[Lift]:
    """Return what was opened, why, and by whom, the newest first."""
    return access.lifts(Client(project=project)).lifts


def groups(*, project: str | None = None) -> list[Group]:
    """Return the groups of users in the project."""
    return access.groups(Client(project=project)).groups


def set_group(name: str, users: Sequence[str], *, project: str | None = None) -> Group:
    """Say who is in a group, in the place of who was."""
    return access.set_group(Client(project=project), name, list(users))


def remove_group(name: str, *, project: str | None = None) -> Group:
    """Take a group away; nobody is let through as one of it any more."""
    return access.remove_group(Client(project=project), name)


def audit(
    *,
    user: str | None = None,
    action: str | None = None,
    since: datetime | None = None,
    limit: int | None = 50,
    project: str | None = None,
) -> list[AuditEntry]:
    """Return what was done in the project, the newest first; with `limit=None` all of it."""
    return list(access.audit(Client(project=project), user, action, since, limit))


python_help.documented(globals())
