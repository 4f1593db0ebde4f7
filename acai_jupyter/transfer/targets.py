"""Fetching from and sending to places that a URL names: http, https, or a file when the store is on this disk.

For one thing at a time; `fetching` and `sending` have what many files and large ones need.
"""

from acai_jupyter.transfer.connections import lent
from acai_jupyter.transfer.errors import TransferError
from acai_jupyter.transfer.fetching import UNWATCHED, Wanted, fetch_files
from acai_jupyter.transfer.ranges import read_whole
from acai_jupyter.transfer.retrying import DEFAULT, Retrying
from acai_jupyter.transfer.sending import send

__all__ = ["TransferError", "fetch", "read", "send"]


def fetch(url: str, offset: int, size_bytes: int, sha256: str, path: str, retrying: Retrying = DEFAULT) -> None:
    """Fetch a range of an object into a file: verified, and visible only when whole."""
    fetch_files(url, [Wanted(path, offset, size_bytes, sha256)], UNWATCHED, None, retrying)


def read(url: str, retrying: Retrying = DEFAULT) -> bytes:
    """Fetch a whole small object."""
    with lent(None) as connections:
        return retrying.call(lambda: read_whole(url, connections))
