"""What the verbs about projects, users and tokens take."""

from __future__ import annotations

import argparse
from math import inf

from acai_jupyter.contract.states import Role, Scope

OFF = "off"
DEFAULT = "default"
"""In the place of a quota: the server's own."""


def add_login(parser: argparse.ArgumentParser) -> None:
    """Add what `login` takes."""
    parser.add_argument("url", metavar="URL", nargs="?", help="the server (default: the one that is used now)")
    how = parser.add_mutually_exclusive_group()
    how.add_argument("--file", metavar="FILE", help="where the token is; - is standard input (default: it is asked)")
    how.add_argument("--browser", action="store_true", help="sign in at the issuer that the server trusts, by a code")
    how.add_argument("--hub", action="store_true", help="sign in as the user of this server of JupyterHub")


def add_create_project(parser: argparse.ArgumentParser) -> None:
    """Add what `project create` takes."""
    parser.add_argument("name", metavar="PROJECT", help="its name, which begins with a letter")
    parser.add_argument("--admin", metavar="USER", help="who rules it (default: you)")
    _secret(parser)


def add_create_user(parser: argparse.ArgumentParser) -> None:
    """Add what `user create` takes."""
    _user(parser)
    roles = [role.value for role in Role]
    parser.add_argument("--role", choices=roles, default="member", help="viewer, member or admin (default member)")
    parser.add_argument("--quota", type=quota, metavar="K", help="how many of their jobs may be at work at once")
    _days(parser)
    _secret(parser)


def add_role(parser: argparse.ArgumentParser) -> None:
    """Add what `user role` takes."""
    _user(parser)
    parser.add_argument("role", metavar="ROLE", choices=[role.value for role in Role], help="viewer, member or admin")


def add_quota(parser: argparse.ArgumentParser) -> None:
    """Add what `user quota` takes."""
    _user(parser)
    parser.add_argument("quota", type=quota, metavar="K", help="how many jobs at once, or default for the server's own")


def add_project_budget(parser: argparse.ArgumentParser) -> None:
    """Add what `project budget` takes."""
    parser.add_argument("--job", type=cap, metavar="USD", help="by each job; off for any")
    parser.add_argument("--month", type=cap, metavar="USD", help="in each calendar month; off for any")
    parser.add_argument("--total", type=cap, metavar="USD", help="in all; off for any")
    parser.add_argument("--stop", action="store_true", help="refuse and stop jobs at the bound, as from the start")
    parser.add_argument("--report", action="store_true", help="only tell of it")


def add_user_budget(parser: argparse.ArgumentParser) -> None:
    """Add what `user budget` takes."""
    _user(parser)
    add_project_budget(parser)


def cap(text: str) -> float:
    """Read a sum above 0, or the word for none."""
    try:
        usd = 0.0 if text == OFF else float(text)
    except ValueError:
        usd = -1.0
    if not (0 < usd < inf or text == OFF):
        raise argparse.ArgumentTypeError(f"'{text}' is neither a number of dollars above 0 nor '{OFF}'")
    return usd


def add_remove_user(parser: argparse.ArgumentParser) -> None:
    """Add what `user rm` takes."""
    _user(parser)


def add_create_token(parser: argparse.ArgumentParser) -> None:
    """Add what `token create` takes."""
    _token(parser)
    scopes = [scope.value for scope in Scope]
    parser.add_argument("--scope", choices=scopes, default="write", help="read, write or admin (default write)")
    _days(parser)
    parser.add_argument("--all-projects", action="store_true", help="it opens all projects that you are in")
    _of_user(parser)
    _secret(parser)


def add_tokens(parser: argparse.ArgumentParser) -> None:
    """Add what `token list` takes."""
    _of_user(parser)


def add_rotate(parser: argparse.ArgumentParser) -> None:
    """Add what `token rotate` takes."""
    _token(parser)
    _secret(parser)


def add_revoke(parser: argparse.ArgumentParser) -> None:
    """Add what `token revoke` takes."""
    _token(parser)
    _of_user(parser)


def quota(text: str) -> int | None:
    """Read a number of jobs, or the word for the server's own."""
    if text == DEFAULT:
        return None
    if not text.isdecimal():
        raise argparse.ArgumentTypeError(f"'{text}' is neither a number of jobs nor '{DEFAULT}'")
    return int(text)


def _lifetime(text: str) -> float:
    try:
        number = float(text)
    except ValueError:
        number = 0
    if not 0 < number < inf:
        raise argparse.ArgumentTypeError(f"'{text}' is not a number of days")
    return number


def _user(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("name", metavar="USER", help="the user's name")


def _token(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("name", metavar="TOKEN", help="the token's name")


def _of_user(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--user", metavar="USER", help="whose, for the project's admin (default: yours)")


def _days(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--days", type=_lifetime, metavar="D", help="the token expires after so many days (never)")


def _secret(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--file", metavar="FILE", help="write the token into a file of yours, and do not show it")
