"""Projects, users and tokens, as the API has them."""

from __future__ import annotations

from typing import TYPE_CHECKING

from acai_jupyter.client import pages
from acai_jupyter.contract import account_endpoints as endpoints
from acai_jupyter.contract.accounts import (
    CreatedProject,
    CreatedUser,
    CreateProject,
    CreateToken,
    CreateUser,
    IssuedToken,
    ProjectList,
    ProjectUser,
    Token,
    TokenList,
    UpdateUser,
    UserList,
    check_project,
    check_token,
    check_user,
)
from acai_jupyter.contract.states import Role, Scope

if TYPE_CHECKING:
    from acai_jupyter.client.http import Client


def projects(client: Client) -> ProjectList:
    """Return the projects that one is in."""
    return pages.whole(client, endpoints.LIST_PROJECTS, "projects")


def users(client: Client) -> UserList:
    """Return the users of the project."""
    return pages.whole(client, endpoints.LIST_USERS, "users")


def create_project(client: Client, name: str, admin: str | None) -> CreatedProject:
    """Make a project."""
    check_project(name)
    return client.call(endpoints.CREATE_PROJECT, CreateProject(name, admin))


def create_user(client: Client, name: str, role: str, quota: int | None, days: float | None) -> CreatedUser:
    """Let a user into the project."""
    check_user(name)
    return client.call(endpoints.CREATE_USER, CreateUser(name, Role(role), quota, days))


def change_user(client: Client, name: str, change: UpdateUser) -> ProjectUser:
    """Give a user another role or quota."""
    return client.call(endpoints.UPDATE_USER, change, user=name)


def tokens(client: Client, user: str | None) -> TokenList:
    """Return what is known of one's own tokens, or of another's."""
    if user is None:
        return pages.whole(client, endpoints.LIST_TOKENS, "tokens")
    return pages.whole(client, endpoints.LIST_USER_TOKENS, "tokens", user=user)


def create_token(client: Client, wanted: CreateToken, user: str | None) -> IssuedToken:
    """Make a token for oneself or another."""
    check_token(wanted.name)
    if user is None:
        return client.call(endpoints.CREATE_TOKEN, wanted)
    return client.call(endpoints.CREATE_USER_TOKEN, wanted, user=user)


def new_token(name: str, scope: str, days: float | None, *, all_projects: bool) -> CreateToken:
    """Return what is to be asked for."""
    return CreateToken(name, Scope(scope), days, all_projects)


def revoke_token(client: Client, name: str, user: str | None) -> Token:
    """End one's own token, or another's."""
    if user is None:
        return client.call(endpoints.REVOKE_TOKEN, token=name)
    return client.call(endpoints.REVOKE_USER_TOKEN, user=user, token=name)
