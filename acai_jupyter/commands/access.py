"""`access …`, `group …`, `audit`: who may read and write what, and what they did."""

from __future__ import annotations

import csv
from pathlib import Path
from typing import TYPE_CHECKING

import msgspec

from acai_jupyter.client import restrictions
from acai_jupyter.commands.listings import Listing
from acai_jupyter.commands.results import Result
from acai_jupyter.commands.units import ago
from acai_jupyter.contract.audit import AuditEntry, AuditPage
from acai_jupyter.contract.errors import BadRequest
from acai_jupyter.contract.restrictions import RestrictionList

if TYPE_CHECKING:
    from argparse import Namespace
    from collections.abc import Iterator

    from acai_jupyter.client.http import Client
    from acai_jupyter.contract.restrictions import Group, Lift, Restriction

_REFUSED = 400
"""From this status on."""


def list_restrictions(client: Client, arguments: Namespace) -> Result:
    """List what is restricted."""
    found = restrictions.restrictions(client, arguments.file_set)
    rows = [[one.what, f"read {_all(one.readers)}", f"write {_all(one.writers)}", ago(one.created_at)] for one in found]
    listing = Listing(rows, "<<<<", ["what", "read", "write", "since"])
    return Result(listing.text or _nothing(arguments.file_set), RestrictionList(found), "access", html=listing.html)


def limit(client: Client, arguments: Namespace) -> Result:
    """Let only some read and write something."""
    return _told(restrictions.restrict(client, arguments.what, arguments.read, arguments.write))


def open_again(client: Client, arguments: Namespace) -> Result:
    """Let everybody in the project through."""
    was = restrictions.end_restriction(client, arguments.what)
    return Result(f"{was.what} is open to all of the project, as their roles allow", was, "restriction")


def lift(client: Client, arguments: Namespace) -> Result:
    """Open what was made of restricted sets, or close it again."""
    made = restrictions.lift(client, arguments.file_set, arguments.reason, undo=arguments.undo)
    state = "is behind what it was made of again" if arguments.undo else f"is open: {made.reason}"
    return Result(f"{made.file_set} {state}", made, "lift")


def lifts(client: Client, arguments: Namespace) -> Result:
    """List what was opened, why, and by whom."""
    del arguments
    found = restrictions.lifts(client)
    rows = [[one.file_set, one.reason, one.creator, _since(one)] for one in found.lifts]
    listing = Listing(rows, "<<<<", ["file set", "reason", "by", "when"])
    return Result(listing.text or "nothing is lifted", found, "lifts", html=listing.html)


def list_groups(client: Client, arguments: Namespace) -> Result:
    """List the groups."""
    del arguments
    found = restrictions.groups(client)
    listing = Listing([[one.name, _all(one.users)] for one in found.groups], "<<", ["group", "users"])
    return Result(listing.text or "no groups", found, "groups", html=listing.html)


def set_group(client: Client, arguments: Namespace) -> Result:
    """Say who is in a group."""
    made = restrictions.set_group(client, arguments.name, arguments.users)
    return Result(_group(made), made, "group")


def remove_group(client: Client, arguments: Namespace) -> Result:
    """Take a group away."""
    gone = restrictions.remove_group(client, arguments.name)
    return Result(f"group {gone.name} is gone, with what it was let through", gone, "group")


def audit(client: Client, arguments: Namespace) -> Result:
    """List what was done in the project, or write it into a file."""
    wanted = arguments.user, arguments.action, arguments.since
    if arguments.file is not None:
        count = _write(Path(arguments.file), restrictions.audit(client, *wanted, None))
        return Result(f"{count:,} entries are in {arguments.file}", {"entries": count, "file": arguments.file}, "audit")
    found = list(restrictions.audit(client, *wanted, arguments.limit))
    rows = [[f"{one.at:%Y-%m-%d %H:%M:%S}", one.user, one.action, one.thing, _status(one)] for one in found]
    listing = Listing(rows, "<<<<<", ["when (UTC)", "user", "action", "thing", ""])
    return Result(listing.text or "no entries", AuditPage(found), "audit", html=listing.html)


def _write(file: Path, entries: Iterator[AuditEntry]) -> int:
    """Write entries, the newest first, in the form that the file's name says."""
    if file.suffix not in (".csv", ".jsonl"):
        raise BadRequest(f"'{file}' says no form: call it .csv for a table, or .jsonl for lines of JSON.")
    count = 0
    with file.open("w", encoding="utf-8", newline="") as out:
        table = csv.writer(out)
        if file.suffix == ".csv":
            table.writerow(AuditEntry.__struct_fields__)
        for entry in entries:
            count += 1
            if file.suffix == ".csv":
                table.writerow(msgspec.to_builtins(entry).values())
            else:
                out.write(msgspec.json.encode(entry).decode() + "\n")
    return count


def _told(one: Restriction) -> Result:
    return Result(f"{one.what} · read {_all(one.readers)} · write {_all(one.writers)} · and admins", one, "restriction")


def _nothing(file_set: str | None) -> str:
    return "nothing that you see is restricted" if file_set is None else f"{file_set} is not restricted"


def _all(names: list[str]) -> str:
    return ", ".join(names) if names else "nobody"


def _group(group: Group) -> str:
    return f"group {group.name}: {_all(group.users)}"


def _since(one: Lift) -> str:
    return ago(one.at) if one.ended_at is None else f"{ago(one.at)}, ended {ago(one.ended_at)}"


def _status(entry: AuditEntry) -> str:
    return f"refused ({entry.status})" if entry.status >= _REFUSED else ""
