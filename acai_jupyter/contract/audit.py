"""The audit log: who did what to which thing, from where."""

from __future__ import annotations

from datetime import datetime
from typing import Annotated

import msgspec

from acai_jupyter.contract.queries import Limit, Number, check_moments


class AuditEntry(msgspec.Struct, frozen=True):
    """One thing that somebody did, or was refused. Entries are added, and never changed or removed."""

    number: int
    """It counts within the project, from its first entry on."""
    at: datetime
    user: str
    action: str
    """The name of the route's verb, as in the API."""
    thing: str
    """What it was done to, as people write it; empty for the project as a whole."""
    project: str
    """Empty for the creation of a project, which no project sees."""
    token: str
    """By which token; empty for who came by Jupyter's own identity."""
    address: str
    """From which network address."""
    request_id: str
    status: int
    """What was answered: from 400 on it was refused."""


class AuditPage(msgspec.Struct, frozen=True):
    """Entries, the newest first; `next` is the number to continue below."""

    entries: list[AuditEntry]
    next: int | None = None


class AuditQuery(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """Entries with a number below `before`, of one user or action if they are named, not older than `since`."""

    user: Annotated[str, msgspec.Meta(max_length=128)] | None = None
    action: Annotated[str, msgspec.Meta(max_length=64)] | None = None
    since: Annotated[datetime, msgspec.Meta(tz=True)] | None = None
    before: Number | None = None
    limit: Limit = 100

    def __post_init__(self) -> None:
        check_moments(since=self.since)
