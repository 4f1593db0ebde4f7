"""Events: what changed in a project, numbered in the order in which the changes became visible."""

from __future__ import annotations

from datetime import datetime
from typing import Any

import msgspec


class Event(msgspec.Struct, frozen=True):
    """One change. `subject` is the thing as people write it: `job 3`, `model:1`."""

    number: int
    kind: str
    subject: str
    created_at: datetime
    details: dict[str, Any] = {}


class EventPage(msgspec.Struct, frozen=True):
    """Events after a number. `reload` says that older ones are gone: read the state anew and go on from `last`."""

    events: list[Event]
    last: int
    reload: bool = False


class ErrorDetail(msgspec.Struct, frozen=True):
    """What went wrong, in a stable code and a sentence."""

    code: str
    message: str
    details: dict[str, Any]


class ErrorBody(msgspec.Struct, frozen=True):
    """The one shape of every error."""

    error: ErrorDetail
