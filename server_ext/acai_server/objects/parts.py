"""Objects that are sent in parts: their words, and the rules that hold in every store because they hold in S3."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, NamedTuple

from acai_jupyter.contract.errors import BadRequest, Conflict, ObjectNotFound

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from acai_jupyter.contract.ids import ObjectKey

MIN_PART_BYTES = 5 * 1024**2
"""Of every part but the last."""
MAX_PART_BYTES = 5 * 1024**3
MAX_PARTS = 10_000
_ID = re.compile(r"[A-Za-z0-9][A-Za-z0-9._~=+-]*\Z")
_MAX_ID = 1024


class ArrivedPart(NamedTuple):
    """A part that the store has. The etag is what its answer to the part's bytes said, without quotes."""

    number: int
    size_bytes: int
    etag: str


def checked_id(key: ObjectKey, parts_id: str) -> str:
    """Return an id that is safe as a file's name and in a URL, or say that there is nothing."""
    if len(parts_id) > _MAX_ID or not _ID.match(parts_id) or ".." in parts_id:
        raise ObjectNotFound(key=key)
    return parts_id


def check_part(number: int, size_bytes: int) -> None:
    """Refuse a part that no store takes."""
    if not 1 <= number <= MAX_PARTS:
        raise BadRequest(reason=f"parts have numbers from 1 to {MAX_PARTS}, not {number}")
    if not 1 <= size_bytes <= MAX_PART_BYTES:
        raise BadRequest(reason=f"part {number} has {size_bytes} bytes; it must have 1 to {MAX_PART_BYTES}")


def check_sent(key: ObjectKey, parts: Sequence[tuple[int, str]]) -> list[tuple[int, str]]:
    """Return the parts with bare etags; refuse a list that is not 1, 2, 3 … without gaps."""
    if not parts or [number for number, _ in parts] != list(range(1, len(parts) + 1)):
        raise BadRequest(reason=f"the parts of '{key}' must be 1, 2, 3 and so on, in their order and without gaps")
    return [(number, etag.strip('"')) for number, etag in parts]


def check_arrived(key: ObjectKey, parts: Sequence[tuple[int, str]], sizes: Mapping[tuple[int, str], int]) -> None:
    """Refuse parts that did not arrive, or are too small to be followed by another."""
    if not sizes.keys() >= set(parts):
        raise not_arrived(key)
    if any(sizes[part] < MIN_PART_BYTES for part in parts[:-1]):
        raise too_small(key)


def not_arrived(key: str) -> Conflict:
    """Make the error of a part that the store does not have."""
    return Conflict(reason=f"a part of '{key}' has not arrived; ask which have, and send the others")


def too_small(key: str) -> BadRequest:
    """Make the error of a part that is too small to be followed by another."""
    return BadRequest(reason=f"a part of '{key}' has less than {MIN_PART_BYTES} bytes and is not the last")
