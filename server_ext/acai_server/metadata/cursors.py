"""Where a page of a search ended, as a word that only this server has to understand."""

from __future__ import annotations

import binascii
import hashlib
from base64 import urlsafe_b64decode, urlsafe_b64encode
from datetime import datetime
from typing import TYPE_CHECKING, Any

import msgspec

from acai_jupyter.contract import decoding
from acai_jupyter.contract.errors import BadRequest
from acai_jupyter.contract.query.lexer import is_text
from acai_server.db.search import Cursor

if TYPE_CHECKING:
    from acai_jupyter.contract.metadata import FindThings


_LARGEST = 2**62


class Mark(msgspec.Struct, frozen=True):
    """When the first page was asked for (`now()` stays the same on all pages), how much was told, and the place."""

    now: datetime
    given: int
    cursor: Cursor


class _Kept(msgspec.Struct, frozen=True, array_like=True):
    of: bytes
    now: datetime
    given: int
    known: int
    way: int
    segment: int
    values: list[Any]


def encode(mark: Mark, request: FindThings) -> str:
    """Write a mark down."""
    place = mark.cursor
    kept = _Kept(_fingerprint(request), mark.now, mark.given, place.known, place.way, place.segment, place.values)
    return urlsafe_b64encode(msgspec.msgpack.encode(kept)).decode()


def decode(text: str, request: FindThings) -> Mark | None:
    """Read a mark, or refuse what is none of this search; None for the first page."""
    if not text:
        return None
    try:
        kept = decoding.from_msgpack(urlsafe_b64decode(text), _Kept)
    except (binascii.Error, ValueError, msgspec.MsgspecError) as error:
        raise BadRequest(reason="'after' is not the 'next' of a page") from error
    if kept.of != _fingerprint(request) or kept.given < 0 or not _is_plain(kept):
        raise BadRequest(reason="'after' is the 'next' of another search")
    return Mark(kept.now, kept.given, Cursor(kept.known, kept.way, kept.segment, kept.values))


def _is_plain(kept: _Kept) -> bool:
    return all(_is_stored(value) for value in kept.values) and abs(kept.way) < _LARGEST > abs(kept.segment)


def _is_stored(value: Any) -> bool:
    if isinstance(value, int):
        return abs(value) < _LARGEST
    return isinstance(value, float | datetime) or (isinstance(value, str) and is_text(value))


def _fingerprint(request: FindThings) -> bytes:
    asked = msgspec.to_builtins([request.conditions, request.order])
    said = [request.kind.value, request.query, asked, request.utc_offset_seconds]
    return hashlib.sha256(msgspec.msgpack.encode(said)).digest()[:8]
