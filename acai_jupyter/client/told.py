"""What moving bytes ran into, told as our errors."""

from __future__ import annotations

import errno
from contextlib import contextmanager, suppress
from typing import TYPE_CHECKING

import msgspec

from acai_jupyter.contract import decoding
from acai_jupyter.contract.errors import (
    AcaiError,
    BadRequest,
    Conflict,
    NotWritten,
    StoreFull,
    StoreUnavailable,
    Unavailable,
    from_body,
)
from acai_jupyter.transfer.errors import Changed, DiskFull, LostBytes, TransferError, WrongBytes

if TYPE_CHECKING:
    from collections.abc import Iterator

_NO_ROOM = (errno.ENOSPC, errno.EDQUOT)


@contextmanager
def told_by_store(source: str = "") -> Iterator[None]:
    """Say why bytes could not be moved to or from the store."""
    try:
        yield
    except TransferError as error:
        raise _of_transfer(error, source) from error


@contextmanager
def told_by_disk() -> Iterator[None]:
    """Say why the store's folder could not be written."""
    try:
        yield
    except OSError as error:
        if error.errno in _NO_ROOM:
            raise StoreFull(what="the object store's folder") from error
        raise StoreUnavailable(reason=f"its folder cannot be written ({error.strerror})") from error


def changed(source: str) -> AcaiError:
    """Say that a file is not what it was a moment ago."""
    return BadRequest(f"{source} changed while it was read; run the same line again.")


def _of_transfer(error: TransferError, source: str) -> AcaiError:
    """What a store of our own server refused with, else what happened."""
    if isinstance(error, Changed):
        return changed(source) if source else BadRequest(f"{error}; run the same line again.")
    if isinstance(error, WrongBytes | LostBytes):
        return Conflict(f"{error}. Try again; if the error persists, put a good copy of the file again.")
    if isinstance(error, DiskFull):
        return StoreFull(f"There is no space left: {error}. Free some space and run the same line again.")
    if type(error) is TransferError:  # neither the store's fault nor that of the way there
        return NotWritten(reason=str(error))
    with suppress(msgspec.DecodeError):
        told = from_body(decoding.plain_json(error.answer), error.status)
        if not isinstance(told, Unavailable):
            return told
    return StoreUnavailable(reason=str(error))
