"""The audit log over HTTP: what is written into it, and reading it."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import msgspec

from acai_jupyter.contract import account_endpoints as endpoints
from acai_jupyter.contract.audit import AuditQuery
from acai_jupyter.contract.endpoints import Access
from acai_jupyter.contract.filesets import FileSet
from acai_jupyter.contract.foreign import one_line
from acai_jupyter.contract.metadata import ThingChange

if TYPE_CHECKING:
    from collections.abc import Iterator

    from acai_jupyter.contract.audit import AuditPage
    from acai_server.api.base import BaseHandler
    from acai_server.api.call import Call, Operations
    from acai_server.db.audit import NewEntry

MAX_THING = 500
MAX_WORD = 200
MAX_LIST = 400
_WORDS = {"ref": "file set"}
"""How people call what stands in a route; the others are called so."""
OPENING = frozenset(
    (
        "fetch_files",
        "list_folder",
        "list_files",
        "list_versions",
        "list_entries",
        "resolve_sources",
        "compare_sources",
        "create_job",
        "create_sweep",
        "create_profiling",
        "get_log",
        "download_log",
        "list_log_lines",
        "get_displays",
        "get_request",
        "export_lineage",
    )
)
"""What shows contents, or gives them to a program: of what is restricted it is written down."""
OF_BODIES = (
    "name",
    "user",
    "what",
    "readers",
    "writers",
    "users",
    "jobs",
    "changes",
    "file_set",
    "output",
    "reason",
    "admin",
    "role",
    "quota",
    "scope",
    "all_projects",
    "expires_in_days",
    "job_usd",
    "month_usd",
    "total_usd",
    "stops",
    "spec",
    "specs",
    "files",
    "undo",
    "dry_run",
    "unknown",
    "confirmed_count",
    "keep_last",
    "keep_days",
)
"""What of a body says what is to be done. Nothing of these is secret."""


_OF_RESULTS = {
    "commit_upload": ("file_set", "new_files"),
    "create_file_set": ("file_set",),
    "create_job": ("number",),
    "create_sweep": ("tag",),
    "create_profiling": ("tag",),
}
"""What of an answer says what was made; the request could not know it."""


def entry_of(handler: BaseHandler, status: int, body: Any = None, result: Any = None) -> NewEntry:
    """Return what is to be written down of a request."""
    from acai_server.db.audit import NewEntry  # SQLAlchemy loads with the first request, not with JupyterLab

    member, made = handler.member, _OF_RESULTS.get(handler.endpoint.name, ())
    return NewEntry(
        project_id=None if handler.endpoint.access is Access.GLOBAL_ADMIN else member.project_id,
        user_id=member.user_id,
        token_id=member.token,
        action=handler.endpoint.name,
        thing=_thing(
            handler.path_kwargs, body, [(name, value) for name in made if _says(value := getattr(result, name, None))]
        ),
        address=(handler.request.remote_ip or "")[:64],
        request_id=handler.request_id,
        status=status,
    )


def _thing(params: dict[str, str], body: Any, made: list[tuple[str, Any]]) -> str:
    """Say what it is done to: `user ann role viewer`, `file set digits:2`."""
    said = [f"{_WORDS.get(name, name)} {value[:MAX_WORD]}" for name, value in params.items() if name != "project"]
    said += [f"{name} {words}" for name, words in (*_said_in(body), *((name, _words(value)) for name, value in made))]
    return _cut(one_line(" ".join(said)), MAX_THING)


def _said_in(body: Any) -> Iterator[tuple[str, str]]:
    """Give what a body says, by name; what it leaves as it is by itself is not said."""
    fields = {} if body is None else {field.name: field for field in msgspec.structs.fields(body)}
    for name in OF_BODIES:
        if name in fields:
            value, default = getattr(body, name), fields[name].default
            if value is not msgspec.UNSET and (_says(value) or default is msgspec.UNSET):
                yield name, _words(value)


def _says(value: Any) -> bool:
    """Whether there is anything: a quota of 0 is."""
    return value is not None and value is not False and value not in ("", [])


def _words(value: Any) -> str:
    if isinstance(value, FileSet):
        return value.ref
    if isinstance(value, ThingChange):
        return " ".join([value.thing, *value.set, *(f"-{key}" for key in value.delete), *_labels(value)])
    if isinstance(value, list):
        return _cut(_runs(value) if value and isinstance(value[0], int) else ", ".join(map(_words, value)), MAX_LIST)
    if value is None or isinstance(value, bool):
        return "none" if value is None else "yes" if value else "no"
    return str(value).removesuffix(".0") if isinstance(value, float) else _cut(str(value), MAX_WORD)


def _labels(change: ThingChange) -> list[str]:
    return [*(f"+{label}" for label in change.add_labels), *(f"-{label}" for label in change.remove_labels)]


def _runs(numbers: list[int]) -> str:
    """Write 3, 4, 5 and 9 as `3-5, 9`: many jobs are ended at once."""
    found: list[list[int]] = []
    for number in sorted(set(numbers)):
        if found and number == found[-1][1] + 1:
            found[-1][1] = number
        else:
            found.append([number, number])
    return ", ".join(str(first) if first == last else f"{first}-{last}" for first, last in found)


def _cut(text: str, most: int) -> str:
    """Say that something is left out."""
    return text if len(text) <= most else f"{text[: most - 1]}…"


def list_audit(call: Call) -> AuditPage:
    """List what was done in the project."""
    return call.services.credentials.audit.page(call.project, call.queried(AuditQuery))


OPERATIONS: Operations = {endpoints.LIST_AUDIT: list_audit}
