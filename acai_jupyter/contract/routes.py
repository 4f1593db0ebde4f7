"""What a route of the API is, and what it may need of its caller."""

from __future__ import annotations

from enum import StrEnum
from typing import Generic, TypeVar

import msgspec

from acai_jupyter.contract import queries

BASE = "/acai/api"
PROJECT = "/v1/projects/{project}"
PAGE_BYTES = 64 * 1024 * 1024
"""What a request with a page of names or contents may have."""

ResponseT = TypeVar("ResponseT")


class Access(StrEnum):
    """What a caller needs."""

    READ = "read"
    """A role that reads."""
    WRITE = "write"
    """A role that writes and runs."""
    ADMIN = "admin"
    """The role that rules the project."""
    OWN = "own"
    """Any role, for one's own tokens."""
    TOKEN = "token"  # noqa: S105 (the name of a need)
    """Any valid token, whatever its project and role."""
    GLOBAL_ADMIN = "global_admin"
    """A global admin."""
    OBSERVE = "observe"
    """A global admin, with a token of any scope."""
    NOTHING = "nothing"
    """Nothing: anybody may ask."""
    SIGNATURE = "signature"
    """A valid signature in the URL, and nothing else."""


class Endpoint(msgspec.Struct, Generic[ResponseT], frozen=True):
    """One verb on one route."""

    name: str
    method: str
    path: str
    summary: str
    response: type[ResponseT]
    body: type[msgspec.Struct] | None = None
    query: type[msgspec.Struct] = queries.NoQuery
    access: Access = Access.READ
    status: int = 200
    max_bytes: int | None = None
    """The largest body; without a value it is the server's setting `max_body_kib`."""
    media_types: tuple[str, ...] = ("application/json",)
    """What an answer may be; what is not JSON comes as a stream, and has no schema."""
    is_audited: bool = False
    """Who asks for it is written down, and whether they got it."""
    makes_room: bool = False
    """It deletes or ends something, so it has to work on a full disk."""
