"""`gc`: what nothing refers to any more, and freeing it."""

from __future__ import annotations

from typing import TYPE_CHECKING

from acai_jupyter.client.collections import collect
from acai_jupyter.commands import markup
from acai_jupyter.commands.progress import is_seen
from acai_jupyter.commands.results import Result
from acai_jupyter.commands.units import ago, columns, size
from acai_jupyter.commands.views import view_of
from acai_jupyter.contract.errors import BadRequest
from acai_jupyter.contract.garbage import CollectionState, GarbageKind

if TYPE_CHECKING:
    from argparse import Namespace
    from collections.abc import Iterator

    from acai_jupyter.client.http import Client
    from acai_jupyter.contract.garbage import Collection

_SHOWN = 50
KINDS = {
    GarbageKind.OUTDATED_SETS: ("outdated sets", "the project's rules do not keep them; they can be brought back"),
    GarbageKind.OUTDATED_FILES: ("outdated files", "the project's rules do not keep them; they can be brought back"),
    GarbageKind.DELETED_FILES: ("deleted files", "deleted so long ago that they cannot be brought back"),
    GarbageKind.DELETED_SETS: ("deleted sets", "deleted so long ago that they cannot be brought back"),
    GarbageKind.DELETED_JOBS: ("deleted jobs", "logs and displays of what was deleted so long ago"),
    GarbageKind.COPIES: ("copies", "contents that are kept more than once"),
    GarbageKind.PACKS: ("packs", "most of them is dead; what lives is moved"),
    GarbageKind.MOVED: ("moved packs", "what lived was moved, and nobody reads them any more"),
    GarbageKind.LEFTOVERS: ("leftovers", "left by uploads and jobs that were interrupted"),
    GarbageKind.UNKNOWN: ("unknown", "no record of this database owns them; kept. List them: acai gc --unknown"),
}
"""What people call it, and why it can go."""


def gc(client: Client, arguments: Namespace) -> Result:
    """Find what nothing refers to and, unless it is a dry run, free it."""
    shows, view = is_seen() and not arguments.json, view_of(arguments)
    step = ""
    for found in collections_of(client, arguments):
        if shows and found.state is CollectionState.RUNNING and found.step != step:
            step = found.step
            view.say(step)
    failed = found.state is CollectionState.FAILED
    return Result(text_of(found), found, "collection", failed=failed, html=lambda: html_of(found))


def collections_of(client: Client, arguments: Namespace) -> Iterator[Collection]:
    """Begin the collection that is asked for, and yield how far it is."""
    if arguments.yes is not None and not arguments.unknown:
        raise BadRequest("--yes is for objects that no record owns: acai gc --unknown --yes N")
    return collect(client, dry_run=arguments.dry_run, unknown=arguments.unknown, confirmed_count=arguments.yes)


def text_of(found: Collection) -> str:
    """Write what was found as a table with its total."""
    rows = _rows(found)
    if found.unknown and found.is_dry_run:
        return f"{columns([[*row] for row in unknown_rows(found)], '<><')}\n{_unknown_end(found)}"
    if found.state is CollectionState.FAILED:
        told = f"The collection failed. {found.reason.rstrip('.') or 'The log of the server says why'}."
        rest = " What was freed stays free; the same line goes on." if not found.is_dry_run else ""
        return "\n".join([*([columns(rows, "<>><")] if rows else []), told + rest])
    return f"{columns(rows, '<>><')}\n{_end(found)}" if rows else "nothing to free"


def html_of(found: Collection) -> str:
    """Write the same for a notebook."""
    rows = _rows(found)
    if found.unknown and found.is_dry_run:
        return markup.table("", ("object", "size", "age"), unknown_rows(found), _unknown_end(found), "<><")
    if found.state is CollectionState.FAILED or not rows:
        return markup.printed(text_of(found))
    return markup.table("", ("what", "count", "size", "why"), rows, _end(found), "<>><")


def _rows(found: Collection) -> list[list[str]]:
    return [
        [what, f"{one.count:,}", size(one.size_bytes), why]
        for one in found.garbage
        for what, why in [KINDS[one.kind]]
        if one.count
    ]


def unknown_rows(found: Collection) -> list[list[str]]:
    """Return the objects that no record owns, the first of them if there are many."""
    return [[one.key, size(one.size_bytes), ago(one.modified_at)] for one in found.unknown[:_SHOWN]]


def _unknown_end(found: Collection) -> str:
    count = sum(one.count for one in found.garbage)
    total = size(sum(one.size_bytes for one in found.garbage))
    more = f"the first {_SHOWN} of " if count > _SHOWN else ""
    return (
        f"{more}{count:,} objects of {total} that no record of this database owns; they may belong to another "
        f"database. Delete them permanently: acai gc --unknown --yes {count}"
    )


def _end(found: Collection) -> str:
    if found.unknown:  # which were deleted
        return f"{size(sum(one.size_bytes for one in found.garbage))} freed"
    total = size(sum(one.size_bytes for one in found.garbage if one.kind is not GarbageKind.UNKNOWN))
    return f"{total} would be freed · free it: acai gc" if found.is_dry_run else f"{total} freed"
