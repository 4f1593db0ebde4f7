"""People who make file sets of sources, for the suites of that."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from acai_jupyter.contract.filesets import CompareSources, CreateFileSet, Entry, ResolveSources, Source
from acai_jupyter.contract.specs import SetRef
from acai_jupyter.contract.states import ActionKind, InputRole
from acai_server.testing.lakes import rows

if TYPE_CHECKING:
    from acai_jupyter.contract.filesets import Comparison, CreatedFileSet, Resolved
    from acai_server.testing.lakes import LakeUser

Content = dict[str, int]
"""Versions by path."""


def create(user: LakeUser, name: str, *sources: Source, **how: Any) -> CreatedFileSet:
    """Make a set."""
    member = user.member
    return user.lake.composing.create(member.project_id, member.user_id, CreateFileSet(name, list(sources), **how))


def resolve(user: LakeUser, *sources: Source, **how: Any) -> Resolved:
    """Return a page of what sources are."""
    return user.lake.composing.resolve(user.member.project_id, ResolveSources(list(sources), **how))


def resolved(user: LakeUser, *sources: Source, limit: int = 1000) -> list[Entry]:
    """Return all that sources are, in pages, each after the first by what the first one pinned."""
    page = resolve(user, *sources, limit=limit)
    found = page.entries
    while page.next is not None:
        page = resolve(user, *page.pinned, limit=limit, after=page.next)
        found += page.entries
    return found


def content(user: LakeUser, *sources: Source) -> Content:
    """Return all that sources are."""
    return {entry.path: entry.version for entry in resolved(user, *sources)}


def compare(user: LakeUser, before: list[Source], after: list[Source], **how: Any) -> Comparison:
    """Return how sources differ."""
    return user.lake.composing.compare(user.member.project_id, CompareSources(before, after, **how))


def inputs(user: LakeUser, ref: str) -> tuple[ActionKind, list[str]]:
    """Return the kind of the action that made a set, and the sets that went into it."""
    name, _, number = ref.partition(":")
    with user.database.reading() as work:
        action = work.actions.of_output(work.file_sets.find(user.member.project_id, SetRef(name, int(number))).id)
        assert action is not None
        assert {role for _, role in action.inputs} <= {InputRole.DATA}
        known = work.file_sets.by_id([version for version, _ in action.inputs])
        return action.kind, [known[version].public.ref for version, _ in action.inputs]


def recorded(user: LakeUser) -> tuple[int, ...]:
    """Count all that a new version would add to."""
    return tuple(rows(user.database, table) for table in ("file_set", "file_set_version", "action", "event"))
