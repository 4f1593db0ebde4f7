"""What the verbs about access, groups and the audit log take."""

from __future__ import annotations

import argparse
from datetime import UTC, datetime


def add_list(parser: argparse.ArgumentParser) -> None:
    """Add what `access list` takes."""
    parser.add_argument("file_set", metavar="SET", nargs="?", help="only those that this file set is behind")


def add_limit(parser: argparse.ArgumentParser) -> None:
    """Add what `access limit` takes."""
    _what(parser)
    who = "users, and groups as group:NAME"
    parser.add_argument("--read", nargs="+", default=[], metavar="WHO", help=f"who may read it: {who}")
    parser.add_argument("--write", nargs="+", default=[], metavar="WHO", help="who may read and write it")


def add_open(parser: argparse.ArgumentParser) -> None:
    """Add what `access open` takes."""
    _what(parser)


def add_lift(parser: argparse.ArgumentParser) -> None:
    """Add what `access lift` takes."""
    parser.add_argument("file_set", metavar="SET", help="a file set, or one version of it like model:2")
    parser.add_argument("--reason", metavar="TEXT", help="why it may be open; it is kept")
    parser.add_argument("--undo", action="store_true", help="put it back behind what it was made of")


def add_set_group(parser: argparse.ArgumentParser) -> None:
    """Add what `group set` takes."""
    _group(parser)
    parser.add_argument("users", metavar="USER", nargs="*", help="who is in it, in the place of who was")


def add_remove_group(parser: argparse.ArgumentParser) -> None:
    """Add what `group rm` takes."""
    _group(parser)


def add_audit(parser: argparse.ArgumentParser) -> None:
    """Add what `audit` takes."""
    parser.add_argument("--user", metavar="USER", help="only what this user did")
    parser.add_argument("--action", metavar="ACTION", help="only this, named as in the API, like create_job")
    parser.add_argument("--since", type=moment, metavar="TIME", help="only since then, like 2026-11-01")
    parser.add_argument("--limit", type=int, default=50, metavar="N", help="at most so many, the newest (default 50)")
    parser.add_argument("--file", metavar="FILE", help="write all of them into FILE: .csv, or .jsonl for lines of JSON")


def moment(text: str) -> datetime:
    """Read a day or a time, in UTC unless it says otherwise."""
    try:
        found = datetime.fromisoformat(text)
    except ValueError:
        raise argparse.ArgumentTypeError(f"'{text}' is not a time like 2026-11-01 or 2026-11-01T12:00") from None
    return found if found.tzinfo is not None else found.replace(tzinfo=UTC)


def _what(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("what", metavar="WHAT", help="a file set like @patients, or a folder like /clinical/")


def _group(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("name", metavar="GROUP", help="the group's name")
