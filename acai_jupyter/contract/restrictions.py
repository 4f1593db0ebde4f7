"""Restrictions: which file sets and folders of a project not all of its users may read or write; groups of users."""

from __future__ import annotations

from datetime import datetime
from typing import Annotated

import msgspec

from acai_jupyter.contract.accounts import check_group
from acai_jupyter.contract.errors import AcaiError, BadRequest
from acai_jupyter.contract.foreign import one_line
from acai_jupyter.contract.queries import Limit
from acai_jupyter.contract.specs import check_name, normal_path

GROUP = "group:"
"""What stands before the name of a group among users."""
_SHOWN = 80

Reason = Annotated[str, msgspec.Meta(min_length=1, max_length=1000)]
Names = Annotated[list[str], msgspec.Meta(max_length=1000)]


class Restriction(msgspec.Struct, frozen=True):
    """A name of file sets, `@patients`, or a folder, `/clinical/`, that only some may read or write.

    Users stand by name, groups as `group:name`. Who writes reads; an admin does both.
    """

    what: str
    readers: list[str]
    writers: list[str]
    creator: str
    created_at: datetime


class RestrictionList(msgspec.Struct, frozen=True):
    """Restrictions that one may see behind, by what they restrict; `next` is what to go on behind."""

    restrictions: list[Restriction]
    next: str | None = None


class Restrict(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """A restriction as it is to be: it takes the place of one of the same name or folder."""

    what: str
    readers: Names = []
    writers: Names = []


class EndRestriction(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """A restriction that is to end."""

    what: str


class Lift(msgspec.Struct, frozen=True):
    """Why a file set is open though it was made of what is restricted: `model` in all versions, or `model:3`."""

    file_set: str
    reason: str
    creator: str
    at: datetime
    ended_at: datetime | None
    """Since when it is not open any more; what was said stays."""


class LiftList(msgspec.Struct, frozen=True):
    """Lifts, the newest first, those that were ended too; `next` is the number to go on below."""

    lifts: list[Lift]
    next: int | None = None


class LiftRestrictions(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """A file set, `model`, or one version of it, that is to be open whatever it was made of."""

    file_set: str
    reason: Reason


class EndLift(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """A lift that is to end."""

    file_set: str


class Group(msgspec.Struct, frozen=True):
    """Users of a project who are named together."""

    name: str
    users: list[str]


class GroupList(msgspec.Struct, frozen=True):
    """The groups of a project, by name; `next` is the name to go on behind."""

    groups: list[Group]
    next: str | None = None


class SetGroup(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """Who is to be in a group."""

    users: Names


class RestrictionQuery(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """All restrictions, or those that a file set version is behind, of what stands behind `after`."""

    file_set: Annotated[str, msgspec.Meta(max_length=300)] | None = None
    after: str = ""
    limit: Limit = 1000


def parse_restricted(what: str) -> tuple[str, str]:
    """Return whether `file_set` or `folder` is meant, and its name: a folder ends in '/'."""
    try:
        if what.startswith("@"):
            return "file_set", check_name(what[1:])
        if what.startswith("/") and what.strip("/"):
            return "folder", normal_path(what.rstrip("/")) + "/"
    except AcaiError as error:
        raise BadRequest(reason=f"'{one_line(what[:_SHOWN])}' cannot be restricted: {error.message}") from error
    reason = f"'{one_line(what[:_SHOWN])}' is neither a name of file sets, as @patients, nor a folder, as /clinical/"
    raise BadRequest(reason=reason)


def written(kind: str, name: str) -> str:
    """Return how people write what is restricted."""
    return f"@{name}" if kind == "file_set" else name


def parse_who(name: str) -> tuple[bool, str]:
    """Return whether a group is meant, and its name."""
    return (True, check_group(name[len(GROUP) :])) if name.startswith(GROUP) else (False, name)
