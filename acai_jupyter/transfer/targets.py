"""Fetching from and sending to places that a URL names: http, https, or a file when the store is on this disk."""

import hashlib
import http.client
import os
import ssl
import urllib.error
import urllib.parse
import urllib.request
import uuid
from contextlib import contextmanager
from typing import BinaryIO, Dict, Iterator, Optional

from acai_jupyter.transfer.hashing import BUFFER

TIMEOUT_SECONDS = 60


class TransferError(Exception):
    """Bytes could not be moved, or were not those that were asked for. A store that refused has said so in `answer`."""

    status = 0
    answer = b""


def fetch(url: str, offset: int, size_bytes: int, sha256: str, path: str) -> None:
    """Fetch a range of an object into a file: verified, and visible only when whole."""
    os.makedirs(os.path.dirname(path), exist_ok=True)
    partial = "%s.%s.part" % (path, uuid.uuid4().hex[:8])
    try:
        with open(partial, "wb") as out:
            found = _copy(url, offset, size_bytes, out)
        if found != sha256:
            raise TransferError("the bytes for %s are not those that were recorded" % os.path.basename(path))
        os.replace(partial, path)
    finally:
        if os.path.exists(partial):
            os.remove(partial)


def read(url: str) -> bytes:
    """Fetch a whole small object."""
    with _opened(url, {}) as stream:
        return stream.read()


def send(url: str, source: BinaryIO, size_bytes: int, headers: Optional[Dict[str, str]] = None) -> None:
    """Send bytes as one object. When this returns, they are kept."""
    parts = urllib.parse.urlsplit(url)
    if parts.scheme == "file":
        _write_file(urllib.request.url2pathname(parts.path), source, size_bytes)
        return
    request = urllib.request.Request(url, data=source, method="PUT")
    request.add_header("Content-Length", str(size_bytes))
    request.add_header("Content-Type", "application/octet-stream")
    for name, value in (headers or {}).items():
        request.add_header(name, value)
    with _answer(request):
        pass


def _copy(url: str, offset: int, size_bytes: int, out: BinaryIO) -> str:
    digest = hashlib.sha256()
    if not size_bytes:
        return digest.hexdigest()
    left = size_bytes
    with _opened(url, {"Range": "bytes=%d-%d" % (offset, offset + size_bytes - 1)}) as stream:
        if isinstance(stream, _LocalFile):
            stream.seek(offset)
        while left:
            piece = stream.read(min(BUFFER, left))
            if not piece:
                raise TransferError("the store sent %d bytes too few" % left)
            digest.update(piece)
            out.write(piece)
            left -= len(piece)
    return digest.hexdigest()


class _LocalFile:
    """A file of the store on this disk."""

    def __init__(self, path: str) -> None:
        self._file = open(path, "rb")  # noqa: SIM115 (closed by the context manager below)
        self.read = self._file.read
        self.seek = self._file.seek
        self.close = self._file.close


@contextmanager
def _opened(url: str, headers: Dict[str, str]) -> Iterator["_LocalFile"]:
    parts = urllib.parse.urlsplit(url)
    if parts.scheme == "file":
        try:
            local = _LocalFile(urllib.request.url2pathname(parts.path))
        except OSError as error:
            raise TransferError("the store's file cannot be read: %s" % error.strerror) from error
        try:
            yield local
        finally:
            local.close()
        return
    with _answer(urllib.request.Request(url, headers=headers)) as answer:
        yield answer


@contextmanager
def _answer(request: urllib.request.Request) -> Iterator["_LocalFile"]:
    try:
        with urllib.request.urlopen(request, timeout=TIMEOUT_SECONDS) as answer:
            yield answer
    except urllib.error.HTTPError as error:
        refused = TransferError("the store answered %d" % error.code)
        refused.status, refused.answer = error.code, error.read(BUFFER)
        raise refused from error
    except (OSError, http.client.HTTPException, ssl.SSLError) as error:
        raise TransferError("the store does not answer: %s" % error) from error


def _write_file(path: str, source: BinaryIO, size_bytes: int) -> None:
    """Write, flush to the disk, then rename: a crash leaves at most an invisible part."""
    partial = "%s.%s.part" % (path, uuid.uuid4().hex[:8])
    try:
        os.makedirs(os.path.dirname(path), exist_ok=True)
        with open(partial, "wb") as out:
            left = size_bytes
            while left:
                piece = source.read(min(BUFFER, left))
                if not piece:
                    raise TransferError("%d bytes of those announced are missing" % left)
                out.write(piece)
                left -= len(piece)
            out.flush()
            os.fsync(out.fileno())
        os.replace(partial, path)
    except OSError as error:
        raise TransferError("the store's folder cannot be written: %s" % error.strerror) from error
    finally:
        if os.path.exists(partial):
            os.remove(partial)
