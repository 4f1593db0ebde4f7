"""The verbs as Python calls: those of projects, users and tokens."""

from __future__ import annotations

from os import PathLike, fspath
from typing import TYPE_CHECKING

from acai_jupyter.client import accounts, folder_trust
from acai_jupyter.client.http import Client
from acai_jupyter.commands import login as signing_in
from acai_jupyter.commands import python_help
from acai_jupyter.commands import trust as trusting
from acai_jupyter.contract import account_endpoints as endpoints
from acai_jupyter.contract.accounts import UpdateUser
from acai_jupyter.contract.errors import BadRequest
from acai_jupyter.contract.folder_trust import FILE
from acai_jupyter.contract.foreign import one_line
from acai_jupyter.contract.states import Role, Scope

if TYPE_CHECKING:
    from enum import StrEnum

    from acai_jupyter.contract.accounts import (
        CreatedProject,
        CreatedUser,
        IssuedToken,
        Project,
        ProjectUser,
        Token,
    )
    from acai_jupyter.contract.folder_trust import TrustedFile
    from acai_jupyter.contract.projects import Status


def login(
    url: str | None = None,
    *,
    file: str | PathLike[str] | None = None,
    browser: bool = False,
    hub: bool = False,
    project: str | None = None,
) -> Status:
    """Use a token from now on, which is asked for, read from a file or given for a sign-in; returns what it opens."""
    given = None if file is None else fspath(file)
    return signing_in.sign_in(url, given, project, browser=browser, hub=hub)[1]


def trust(file: str | PathLike[str] = FILE, *, yes: bool = False, project: str | None = None) -> TrustedFile | None:
    """Let servers use all settings of a folder, after asking; returns the entry, or None if you did not agree."""
    del project
    found = folder_trust.look_at(fspath(file))
    return found.entry if trusting.confirmed(found, yes=yes) else None


def trusted_files() -> list[TrustedFile]:
    """Return the settings files that are trusted."""
    return folder_trust.trusted()


def revoke_trust(file: str | PathLike[str] = FILE) -> TrustedFile:
    """Trust the settings of a folder no longer."""
    return folder_trust.revoke(fspath(file))


def create_project(name: str, *, admin: str | None = None, project: str | None = None) -> CreatedProject:
    """Make a project; if its admin is to be somebody else, their token is in what is returned."""
    return accounts.create_project(Client(project=project), name, admin)


def projects(*, project: str | None = None) -> list[Project]:
    """Return the projects that one is in."""
    return accounts.projects(Client(project=project)).projects


def create_user(
    name: str,
    *,
    role: str = "member",
    quota: int | None = None,
    days: float | None = None,
    project: str | None = None,
) -> CreatedUser:
    """Let a user into the project; their token is in what is returned, and nowhere else."""
    return accounts.create_user(Client(project=project), name, _one_of(Role, "role", role), quota, days)


def users(*, project: str | None = None) -> list[ProjectUser]:
    """Return the users of the project."""
    return accounts.users(Client(project=project)).users


def set_role(name: str, role: str, *, project: str | None = None) -> ProjectUser:
    """Give a user of the project another role."""
    change = UpdateUser(role=Role(_one_of(Role, "role", role)))
    return accounts.change_user(Client(project=project), name, change)


def set_quota(name: str, quota: int | None, *, project: str | None = None) -> ProjectUser:
    """Give a user of the project a quota; with None the server's own."""
    return accounts.change_user(Client(project=project), name, UpdateUser(quota=quota))


def remove_user(name: str, *, project: str | None = None) -> ProjectUser:
    """Take a user out of the project, with their tokens of it."""
    return Client(project=project).call(endpoints.REMOVE_USER, user=name)


def create_token(
    name: str,
    *,
    scope: str = "write",
    days: float | None = None,
    all_projects: bool = False,
    user: str | None = None,
    project: str | None = None,
) -> IssuedToken:
    """Make a token; it is in what is returned, and nowhere else."""
    wanted = accounts.new_token(name, _one_of(Scope, "scope", scope), days, all_projects=all_projects)
    return accounts.create_token(Client(project=project), wanted, user)


def tokens(*, user: str | None = None, project: str | None = None) -> list[Token]:
    """Return what is known of one's own tokens of the project, or of another's."""
    return accounts.tokens(Client(project=project), user).tokens


def rotate_token(name: str, *, project: str | None = None) -> IssuedToken:
    """Put a new secret in the place of a token's; the old one ends at once."""
    return Client(project=project).call(endpoints.ROTATE_TOKEN, token=name)


def revoke_token(name: str, *, user: str | None = None, project: str | None = None) -> Token:
    """End a token at once."""
    return accounts.revoke_token(Client(project=project), name, user)


def _one_of(kind: type[StrEnum], what: str, value: str) -> str:
    known = [one.value for one in kind]
    if value not in known:
        raise BadRequest(f"{what} is one of {', '.join(known)}, not {one_line(repr(value))}.")
    return value


python_help.documented(globals())
