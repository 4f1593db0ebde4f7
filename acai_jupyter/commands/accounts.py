"""`project …`, `user …`, `token …`: who works where, and with which tokens."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import msgspec

from acai_jupyter.client import accounts
from acai_jupyter.client.logins import write_secret
from acai_jupyter.commands.listings import Listing
from acai_jupyter.commands.results import Result
from acai_jupyter.commands.units import ago
from acai_jupyter.contract import account_endpoints as endpoints
from acai_jupyter.contract.accounts import UpdateUser
from acai_jupyter.contract.errors import BadRequest
from acai_jupyter.contract.states import Role

if TYPE_CHECKING:
    from argparse import Namespace
    from datetime import datetime

    from acai_jupyter.client.http import Client
    from acai_jupyter.contract.accounts import IssuedToken, ProjectUser, Token

_REFUSED = "While there are several users, jobs on this machine are refused: they act with the rights of its own user."


def create_project(client: Client, arguments: Namespace) -> Result:
    """Make a project and its admin."""
    if arguments.admin is not None:
        _keepable(arguments)
    made = accounts.create_project(client, arguments.name, arguments.admin)
    said = f"project {made.name} · admin {made.admin}"
    if made.issued is None:
        return Result(f"{said} · use it: --project {made.name}", made, "created-project")
    told, issued = _handed_over(made.issued, arguments)
    return Result(f"{said}\n{told}", msgspec.structs.replace(made, issued=issued), "created-project")


def list_projects(client: Client, arguments: Namespace) -> Result:
    """List the projects that one is in."""
    del arguments
    found = accounts.projects(client)
    rows = [[one.name, one.role.value if one.role else "not in it", ago(one.created_at)] for one in found.projects]
    listing = Listing(rows, "<<<", ["project", "role", "created"])
    return Result(listing.text, found, "projects", html=listing.html)


def create_user(client: Client, arguments: Namespace) -> Result:
    """Let a user into the project."""
    _keepable(arguments)
    made = accounts.create_user(client, arguments.name, arguments.role, arguments.quota, arguments.days)
    told, issued = _handed_over(made.issued, arguments)
    lines = [f"{_user(made.user)} is in project {issued.token.project} now", told]
    if client.status.backends.runner == "process":
        lines.append(_REFUSED)
    return Result("\n".join(lines), msgspec.structs.replace(made, issued=issued), "created-user")


def list_users(client: Client, arguments: Namespace) -> Result:
    """List the users of the project."""
    del arguments
    found = accounts.users(client)
    rows = [[one.name, one.role.value, f"quota {_quota(one)}", _used(one.last_used_at)] for one in found.users]
    listing = Listing(rows, "<<<<", ["user", "role", "quota", "token used"])
    return Result(listing.text, found, "users", html=listing.html)


def role(client: Client, arguments: Namespace) -> Result:
    """Give a user another role."""
    return _changed(accounts.change_user(client, arguments.name, UpdateUser(role=Role(arguments.role))))


def quota(client: Client, arguments: Namespace) -> Result:
    """Give a user a quota of their own, or the server's."""
    return _changed(accounts.change_user(client, arguments.name, UpdateUser(quota=arguments.quota)))


def remove_user(client: Client, arguments: Namespace) -> Result:
    """Take a user out of the project."""
    gone = client.call(endpoints.REMOVE_USER, user=arguments.name)
    return Result(f"{gone.name} is out · what they made stays, their tokens of this project have ended", gone, "user")


def create_token(client: Client, arguments: Namespace) -> Result:
    """Make a token."""
    _keepable(arguments)
    wanted = accounts.new_token(arguments.name, arguments.scope, arguments.days, all_projects=arguments.all_projects)
    told, issued = _handed_over(accounts.create_token(client, wanted, arguments.user), arguments)
    return Result(told, issued, "issued-token")


def list_tokens(client: Client, arguments: Namespace) -> Result:
    """List tokens, which are never shown again."""
    found = accounts.tokens(client, arguments.user)
    rows = [[one.name, one.scope.value, _where(one), _until(one), _used(one.last_used_at)] for one in found.tokens]
    listing = Listing(rows, "<<<<<", ["token", "scope", "opens", "expires", "used"])
    return Result(listing.text or "no tokens", found, "tokens", html=listing.html)


def rotate(client: Client, arguments: Namespace) -> Result:
    """Put a new secret in the place of a token's."""
    _keepable(arguments)
    told, issued = _handed_over(client.call(endpoints.ROTATE_TOKEN, token=arguments.name), arguments)
    return Result(told, issued, "issued-token")


def revoke(client: Client, arguments: Namespace) -> Result:
    """End a token."""
    gone = accounts.revoke_token(client, arguments.name, arguments.user)
    return Result(f"token {gone.name} of {gone.user} has ended", gone, "token")


def _keepable(arguments: Namespace) -> None:
    """Refuse to show a secret where it would be saved with a notebook."""
    if hasattr(arguments, "view") and arguments.file is None:
        way = "Say --file FILE, and it is in a file that only you can read."
        raise BadRequest(f"A notebook would keep the token with its outputs. {way}")


def _handed_over(issued: IssuedToken, arguments: Namespace) -> tuple[str, IssuedToken]:
    """Show a secret, this once, or write it into a file and take it out of the answer."""
    token = issued.token
    said = f"token {token.name} of {token.user} (scope {token.scope.value}, opens {_where(token)}, {_until(token)})"
    if arguments.file is None:
        return f"{said}, shown this once:\n{issued.secret}", issued
    write_secret(Path(arguments.file), issued.secret)
    return f"{said} is in {arguments.file}", msgspec.structs.replace(issued, secret="")


def _changed(user: ProjectUser) -> Result:
    return Result(f"{_user(user)}, quota {_quota(user)}", user, "user")


def _user(user: ProjectUser) -> str:
    return f"{user.name} ({user.role.value})"


def _quota(user: ProjectUser) -> str:
    return "default" if user.quota is None else str(user.quota)


def _where(token: Token) -> str:
    return "all projects" if token.all_projects else f"project {token.project}"


def _until(token: Token) -> str:
    return "never expires" if token.expires_at is None else f"until {token.expires_at:%Y-%m-%d %H:%M} UTC"


def _used(moment: datetime | None) -> str:
    return "never used" if moment is None else f"used {ago(moment)}"
