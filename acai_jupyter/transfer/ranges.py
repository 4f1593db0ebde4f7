"""Reading byte ranges of an object that a URL names: http, https, or a file when the store is on this disk."""

import os
import urllib.parse
from contextlib import contextmanager
from typing import Callable, Iterator, Optional, Tuple

from acai_jupyter.transfer.connections import Answer, Connections
from acai_jupyter.transfer.errors import LostBytes, TransferError, Unreachable, WrongBytes, not_stored
from acai_jupyter.transfer.hashing import BUFFER

ReadInto = Callable[[memoryview], int]
"""Reads some of what comes next into memory and says how much; 0 at the end."""
_PARTIAL = 206


def is_local(url: str) -> bool:
    """Whether a URL names a file on this disk."""
    return urllib.parse.urlsplit(url).scheme == "file"


def local_path(url: str) -> str:
    """Return the path of a file that a URL names."""
    path = urllib.parse.urlsplit(url).path
    if os.name != "nt":
        return urllib.parse.unquote(path)
    from urllib.request import url2pathname  # it loads all of HTTP, which an agent beside its store does not need

    return url2pathname(path)


@contextmanager
def opened_range(url: str, offset: int, size_bytes: int, connections: Connections) -> Iterator[ReadInto]:
    """Open some bytes of an object, at least one. The reader may reach the object's end earlier."""
    if is_local(url):
        with _opened_file(url, offset) as read_into:
            yield read_into
        return
    headers = {"Range": "bytes=%d-%d" % (offset, offset + size_bytes - 1)}
    with connections.request("GET", url, headers) as answer:
        _go_to(offset, answer)
        yield _lost_at_end(answer.readinto) if _is_short(answer, offset + size_bytes) else answer.readinto


def read_whole(url: str, connections: Connections) -> bytes:
    """Read a whole small object."""
    if is_local(url):
        try:
            with open(local_path(url), "rb") as stream:
                return stream.read()
        except OSError as error:
            raise not_stored(error) from error
    with connections.request("GET", url, {}) as answer:
        return answer.read()


def read_range(
    url: str, offset: int, view: memoryview, connections: Connections
) -> Tuple[int, Optional[TransferError]]:
    """Read bytes into memory; return how many arrived, and why it is not all of them."""
    done = 0
    try:
        with opened_range(url, offset, len(view), connections) as read_into:
            while done < len(view):
                count = read_into(view[done : done + BUFFER])  # an error loses a piece at most
                if not count:
                    raise ended_early(url, len(view) - done)
                done += count
    except TransferError as error:
        return done, error
    return done, None


def ended_early(url: str, size_bytes: int) -> TransferError:
    """Return what to say when bytes are missing: a connection can be cut, a file on this disk is as it is."""
    kind = LostBytes if is_local(url) else Unreachable
    return kind("the store sent %d bytes too few" % size_bytes)


def _is_short(answer: Answer, end: int) -> bool:
    """Whether the store says that its whole object is shorter than it should be: asking again would not help."""
    total = answer.headers.get("Content-Range", "").rpartition("/")[2]
    return answer.status == _PARTIAL and total.isdigit() and int(total) < end


def _lost_at_end(read_into: ReadInto) -> ReadInto:
    def read(view: memoryview) -> int:
        count = read_into(view)
        if not count:
            raise LostBytes("the store's object is too short")
        return count

    return read


def _go_to(offset: int, answer: Answer) -> None:
    """See that the answer begins where it was asked to; a store that knows no ranges sends all from the beginning."""
    if answer.status == _PARTIAL:
        place = answer.headers.get("Content-Range", "")
        if place and not place.startswith("bytes %d-" % offset):
            raise WrongBytes("the store sent another range than the one asked for")
        return
    skipped = memoryview(bytearray(min(offset, BUFFER)))
    while offset:
        count = answer.readinto(skipped[:offset])
        if not count:
            raise LostBytes("the store's object ends before the bytes asked for")
        offset -= count


@contextmanager
def _opened_file(url: str, offset: int) -> Iterator[ReadInto]:
    try:
        stream = open(local_path(url), "rb", buffering=0)  # noqa: SIM115 (closed below; errors of the block are not ours)
    except OSError as error:
        raise not_stored(error) from error

    def read_into(view: memoryview) -> int:
        try:
            return stream.readinto(view)
        except OSError as error:
            raise not_stored(error) from error

    with stream:
        stream.seek(offset)
        yield read_into
