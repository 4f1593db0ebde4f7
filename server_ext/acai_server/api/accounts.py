"""Projects, users and tokens over HTTP."""

from __future__ import annotations

from typing import TYPE_CHECKING

from acai_jupyter.contract import account_endpoints as endpoints
from acai_jupyter.contract.accounts import CreateProject, CreateToken, CreateUser, UpdateUser
from acai_jupyter.contract.queries import NamedQuery

if TYPE_CHECKING:
    from acai_jupyter.contract.accounts import (
        CreatedProject,
        CreatedUser,
        IssuedToken,
        ProjectList,
        ProjectUser,
        Token,
        TokenList,
        UserList,
    )
    from acai_server.api.call import Call, Operations


def list_projects(call: Call) -> ProjectList:
    """List the caller's projects."""
    return call.services.credentials.projects.listed(call.member, call.queried(NamedQuery))


def create_project(call: Call) -> CreatedProject:
    """Make one."""
    return call.services.credentials.projects.create(call.member, call.sent(CreateProject))


def list_users(call: Call) -> UserList:
    """List the users of the project."""
    return call.services.credentials.users.listed(call.project, call.queried(NamedQuery))


def create_user(call: Call) -> CreatedUser:
    """Let somebody in."""
    return call.services.credentials.users.create(call.member, call.sent(CreateUser))


def update_user(call: Call) -> ProjectUser:
    """Change a role or a quota."""
    return call.services.credentials.users.change(call.project, call.params["user"], call.sent(UpdateUser))


def remove_user(call: Call) -> ProjectUser:
    """Take somebody out."""
    return call.services.credentials.users.remove(call.project, call.params["user"])


def list_user_tokens(call: Call) -> TokenList:
    """List another's tokens of the project."""
    return call.services.credentials.users.tokens(call.project, call.params["user"], call.queried(NamedQuery))


def create_user_token(call: Call) -> IssuedToken:
    """Make a token for another."""
    return call.services.credentials.users.create_token(call.member, call.params["user"], call.sent(CreateToken))


def revoke_user_token(call: Call) -> Token:
    """End another's token."""
    return call.services.credentials.users.revoke_token(call.project, call.params["user"], call.params["token"])


def list_tokens(call: Call) -> TokenList:
    """List the caller's tokens of the project."""
    return call.services.credentials.tokens.listed(call.project, call.user, call.queried(NamedQuery))


def create_token(call: Call) -> IssuedToken:
    """Make a further one."""
    return call.services.credentials.tokens.create(call.member, call.sent(CreateToken))


def rotate_token(call: Call) -> IssuedToken:
    """Put another secret in the place of one."""
    return call.services.credentials.tokens.rotate(call.project, call.user, call.params["token"])


def revoke_token(call: Call) -> Token:
    """End one."""
    return call.services.credentials.tokens.revoke(call.project, call.user, call.params["token"])


OPERATIONS: Operations = {
    endpoints.LIST_PROJECTS: list_projects,
    endpoints.CREATE_PROJECT: create_project,
    endpoints.LIST_USERS: list_users,
    endpoints.CREATE_USER: create_user,
    endpoints.UPDATE_USER: update_user,
    endpoints.REMOVE_USER: remove_user,
    endpoints.LIST_USER_TOKENS: list_user_tokens,
    endpoints.CREATE_USER_TOKEN: create_user_token,
    endpoints.REVOKE_USER_TOKEN: revoke_user_token,
    endpoints.LIST_TOKENS: list_tokens,
    endpoints.CREATE_TOKEN: create_token,
    endpoints.ROTATE_TOKEN: rotate_token,
    endpoints.REVOKE_TOKEN: revoke_token,
}
