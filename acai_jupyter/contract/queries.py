"""What may stand after the '?' of a request."""

from __future__ import annotations

from typing import Annotated

import msgspec

Limit = Annotated[int, msgspec.Meta(ge=1, le=1000)]
Number = Annotated[int, msgspec.Meta(ge=0)]


class NoQuery(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """Nothing."""


class EventQuery(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """Events after `since`; without it, only where the stream is now. Waits so long when there are none."""

    since: Number | None = None
    wait_seconds: Annotated[float, msgspec.Meta(ge=0, le=30)] = 0


class EntryQuery(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """Entries after a path."""

    after: str = ""
    limit: Limit = 1000


class FileSetQuery(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """File sets after a name."""

    after: str = ""
    limit: Limit = 100


class JobQuery(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """Jobs with a number below `before`."""

    before: Number | None = None
    limit: Limit = 100


class LogQuery(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """The log from a byte on. Waits so long when there is nothing new."""

    offset: Number = 0
    wait_seconds: Annotated[float, msgspec.Meta(ge=0, le=30)] = 0


class ObjectQuery(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """The signature of a signed URL and what it covers."""

    expires: Number
    signature: str
    size: Number | None = None
    sha256: str | None = None
