"""The audit log over HTTP: what is written into it, and reading it."""

from __future__ import annotations

from enum import StrEnum
from typing import TYPE_CHECKING, Any

from acai_jupyter.contract import account_endpoints as endpoints
from acai_jupyter.contract.audit import AuditQuery
from acai_jupyter.contract.endpoints import Access
from acai_jupyter.contract.foreign import one_line
from acai_server.db.audit import NewEntry

if TYPE_CHECKING:
    from acai_jupyter.contract.audit import AuditPage
    from acai_server.api.base import BaseHandler
    from acai_server.api.call import Call, Operations

MAX_THING = 500
MAX_WORD = 200
_WORDS = {"ref": "file set"}
"""How people call what stands in a route; the others are called so."""
OPENING = frozenset(
    (
        "fetch_files",
        "list_files",
        "list_entries",
        "resolve_sources",
        "compare_sources",
        "create_job",
        "create_sweep",
        "get_log",
        "download_log",
        "get_displays",
        "get_request",
        "export_lineage",
    )
)
"""What shows contents, or gives them to a program: of what is restricted it is written down."""
_OF_BODIES = (
    "name",
    "what",
    "file_set",
    "output",
    "reason",
    "admin",
    "role",
    "quota",
    "scope",
    "all_projects",
    "spec",
    "undo",
    "dry_run",
    "keep_last",
    "keep_days",
)
"""What of a body says what is to be done. Nothing of these is secret."""


_OF_RESULTS = {"commit_upload": ("file_set", "new_files"), "create_job": ("number",), "create_sweep": ("tag",)}
"""What of an answer says what was made; the request could not know it."""


def entry_of(handler: BaseHandler, status: int, body: Any = None, result: Any = None) -> NewEntry:
    """Return what is to be written down of a request."""
    member, made = handler.member, _OF_RESULTS.get(handler.endpoint.name, ())
    return NewEntry(
        project_id=None if handler.endpoint.access is Access.GLOBAL_ADMIN else member.project_id,
        user_id=member.user_id,
        token_id=member.token,
        action=handler.endpoint.name,
        thing=_thing(handler.path_kwargs, body, [(name, getattr(result, name, None)) for name in made]),
        address=(handler.request.remote_ip or "")[:64],
        request_id=handler.request_id,
        status=status,
    )


def _thing(params: dict[str, str], body: Any, made: list[tuple[str, Any]]) -> str:
    """Say what it is done to: `user ann role viewer`, `file set digits:2`."""
    said = [f"{_WORDS.get(name, name)} {value[:MAX_WORD]}" for name, value in params.items() if name != "project"]
    known = [*((name, getattr(body, name, None)) for name in _OF_BODIES), *made]
    said += [f"{name} {str(value)[:MAX_WORD]}" for name, value in known if _says(value)]
    return one_line(" ".join(said))[:MAX_THING]


def _says(value: Any) -> bool:
    """Whether it is plain, and there: a quota of 0 is."""
    return isinstance(value, str | int | float | StrEnum) and value is not False and value != ""


def list_audit(call: Call) -> AuditPage:
    """List what was done in the project."""
    return call.services.credentials.audit.page(call.project, call.queried(AuditQuery))


OPERATIONS: Operations = {endpoints.LIST_AUDIT: list_audit}
