"""Who works where: projects, the users in them, and the tokens that stand for users."""

from __future__ import annotations

import re
from datetime import datetime
from typing import Annotated

import msgspec

from acai_jupyter.contract.errors import BadRequest
from acai_jupyter.contract.foreign import one_line
from acai_jupyter.contract.states import Role, Scope

_NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9._@+-]{0,63}\Z")
_ADDRESSABLE = re.compile(r"[A-Za-z][A-Za-z0-9._-]{0,63}\Z")
_CENTURY = 36_500

Quota = Annotated[int, msgspec.Meta(ge=0, le=10_000)]
Days = Annotated[float, msgspec.Meta(gt=0, le=_CENTURY)]


def check_user(name: str) -> str:
    """Return what can be the name of a user, or say what is wrong with it."""
    return _checked("a user", name, _NAME, "begins with a letter or a digit and goes on with these, '.', '_', '@', '+'")


def check_group(name: str) -> str:
    """Return what can be the name of a group of users, or say what is wrong with it."""
    return _checked("a group", name, _ADDRESSABLE, "begins with a letter and goes on with letters, digits, '.', '_'")


def check_token(name: str) -> str:
    """Return what can be the name of a token, or say what is wrong with it."""
    return _checked(
        "a token", name, _NAME, "begins with a letter or a digit and goes on with these, '.', '_', '@', '+'"
    )


def check_project(name: str) -> str:
    """Return what can be the name of a project, or say what is wrong with it."""
    return _checked("a project", name, _ADDRESSABLE, "begins with a letter and goes on with letters, digits, '.', '_'")


def _checked(what: str, name: str, form: re.Pattern[str], rule: str) -> str:
    if not form.match(name):
        shown = one_line(name[:40])
        raise BadRequest(f"'{shown}' cannot be the name of {what}: it {rule} and '-', 64 characters at most.")
    return name


class Project(msgspec.Struct, frozen=True):
    """A project as somebody sees it; `role` is theirs, or null for a global admin who is not in it."""

    name: str
    role: Role | None
    created_at: datetime


class ProjectList(msgspec.Struct, frozen=True):
    """The projects that one is in, by name; a global admin sees the names of all.

    `next` is the name to go on behind.
    """

    projects: list[Project]
    next: str | None = None


class CreateProject(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """A project to create, and who is to be its admin: whoever asks, unless somebody is named."""

    name: str
    admin: str | None = None


class ProjectUser(msgspec.Struct, frozen=True):
    """A user in a project. Without a quota of their own the server's counts."""

    name: str
    role: Role
    quota: int | None
    last_used_at: datetime | None
    """When one of their tokens of this project was last used."""


class UserList(msgspec.Struct, frozen=True):
    """The users of a project, by name; `next` is the name to go on behind."""

    users: list[ProjectUser]
    next: str | None = None


class CreateUser(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """A user to be in the project. They get a token of it, which is in the answer and nowhere else."""

    name: str
    role: Role = Role.MEMBER
    quota: Quota | None = None
    expires_in_days: Days | None = None
    """After how many days their token expires; never without it."""


class UpdateUser(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """What is to be different of a user. `quota` null is the server's own again."""

    role: Role | msgspec.UnsetType = msgspec.UNSET
    quota: Quota | msgspec.UnsetType | None = msgspec.UNSET


class Token(msgspec.Struct, frozen=True):
    """What is known of a token; of the token itself only a hash is kept."""

    name: str
    user: str
    project: str
    scope: Scope
    all_projects: bool
    """Whether it also opens the other projects that its user is in."""
    created_at: datetime
    expires_at: datetime | None
    last_used_at: datetime | None


class TokenList(msgspec.Struct, frozen=True):
    """Tokens that are valid, and those that have expired, by name; `next` is the name to go on behind."""

    tokens: list[Token]
    next: str | None = None


class CreateToken(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """A token to make."""

    name: str
    scope: Scope = Scope.WRITE
    expires_in_days: Days | None = None
    all_projects: bool = False


class IssuedToken(msgspec.Struct, frozen=True):
    """A token that was just made. `secret` is shown this once."""

    token: Token
    secret: str


class CreatedProject(msgspec.Struct, frozen=True):
    """A new project, its admin, and that admin's token of it if it is somebody else than who asked."""

    name: str
    admin: str
    issued: IssuedToken | None


class CreatedUser(msgspec.Struct, frozen=True):
    """A user who is new in the project, and their first token of it."""

    user: ProjectUser
    issued: IssuedToken
