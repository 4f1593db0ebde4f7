"""The server's own signed URLs, for stores that have none. The signature is the authentication."""

from __future__ import annotations

import re
import tempfile
from contextlib import closing
from typing import IO, TYPE_CHECKING, BinaryIO, cast

from jupyter_server.auth.decorator import allow_unauthenticated

from acai_jupyter.contract import endpoints
from acai_jupyter.contract.errors import BadRequest, MethodNotAllowed, NotAllowed, ObjectNotFound
from acai_jupyter.contract.queries import ObjectQuery
from acai_server.api.base import BaseHandler
from acai_server.objects.durable import translated
from acai_server.objects.keys import checked, owner_of

if TYPE_CHECKING:
    from collections.abc import Hashable

    from acai_jupyter.contract.ids import ObjectKey

_RANGE = re.compile(r"bytes=(\d{1,18})-(\d{1,18})\Z")
SPOOL_BYTES = 8 * 1024 * 1024
_SPOOLED = "what is being received, in the data folder"
MAX_OBJECT_BYTES = 2**50
DROPPED_BYTES = 64 * 1024 * 1024
"""A part of an upload whose URL has expired is read to its end: its sender then learns why, and goes on."""


class ObjectHandler(BaseHandler):
    """Bytes in by PUT, bytes out by GET; nothing of them is held in memory as a whole."""

    endpoints = {"PUT": endpoints.PUT_OBJECT, "GET": endpoints.GET_OBJECT}  # noqa: RUF012 (as in the base class)
    dropped_bytes = DROPPED_BYTES
    _spool: IO[bytes] | None = None

    async def authenticate(self) -> None:
        """Check the signature before a byte is taken."""
        await super().authenticate()
        if not self.takes_signature():
            raise MethodNotAllowed(method=self.request.method, path=self.shown_path)
        query = self.decode_query()
        assert isinstance(query, ObjectQuery)
        if self.upstream is not None:
            raise NotAllowed("This server has no objects; a signed URL is for the server that signed it.")
        self._query = query
        self._key = checked(self.path_kwargs["key"])
        self.services.signer.check(self.request.method or "", self._key, query)
        if self.request.method == "PUT":
            folder = self.services.data_folder  # the system's own may be small, or memory
            self._spool = tempfile.SpooledTemporaryFile(SPOOL_BYTES, dir=folder)  # noqa: SIM115 (closed by on_finish)

    def share(self) -> Hashable:
        """Return what shares threads: all clients behind a proxy have one address, and a signature names no user."""
        return share_of(self._key)

    def body_limit(self) -> int:
        """Return the size that was signed."""
        return MAX_OBJECT_BYTES if self._query.size is None else self._query.size

    async def store(self, chunk: bytes) -> None:
        """Take a piece of the object."""
        if self._spool is None:
            return
        with translated(self._key, _SPOOLED):
            if self._received > SPOOL_BYTES:
                await self.in_executor(self._spool.write, chunk)
            else:
                self._spool.write(chunk)

    @allow_unauthenticated
    async def put(self, key: str) -> None:
        """Keep the body under the key that was signed."""
        del key
        assert self._spool is not None
        etag = await self.in_thread(self._put, self._spool)
        if etag is not None:
            self.set_header("ETag", f'"{etag}"')
        self.answer({}, 200)

    def _put(self, spool: IO[bytes]) -> str | None:
        """Keep an object, or a part of one, which has an etag."""
        source, query, objects = cast("BinaryIO", spool), self._query, self.services.objects
        size = self._received if query.size is None else query.size
        with translated(self._key, _SPOOLED):
            source.seek(0)
        if query.parts is None or query.part is None:
            objects.put(self._key, source, size_bytes=size, sha256=query.sha256)
            return None
        return objects.put_part(self._key, query.parts, query.part, source, size_bytes=size, sha256=query.sha256)

    @allow_unauthenticated
    async def get(self, key: str) -> None:
        """Send an object, or the part that a Range header asks for."""
        del key
        try:
            size = await self.in_thread(self.services.objects.size, self._key)
        except ObjectNotFound:
            await self.in_thread(self.services.lake.damages.not_found, self._key)
            raise
        start, end = self._range(size)
        self.set_header("Content-Length", str(end - start))
        with closing(self.services.objects.stream(self._key, start, end - start)) as pieces:
            while piece := await self.in_thread(next, pieces, b""):
                self.write(piece)
                await self.flush()
        self.finish(set_content_type="application/octet-stream")

    @allow_unauthenticated
    async def post(self, key: str) -> None:
        """Refuse: objects are put and got."""
        del key

    patch = delete = post

    def _range(self, size: int) -> tuple[int, int]:
        wanted = self.request.headers.get("Range")
        first, last = self._query.first or 0, size - 1 if self._query.last is None else self._query.last
        if wanted is None and self._query.last is None:
            return 0, size
        match = _RANGE.match(wanted or "")
        if match is None or not first <= int(match[1]) <= int(match[2]) <= min(last, size - 1):
            what = "the object" if self._query.last is None else f"bytes {first} to {last}, which this URL is for"
            raise BadRequest(reason=f"the Range header must be bytes=first-last inside {what}")
        self.set_status(206)
        self.set_header("Content-Range", f"bytes {match[1]}-{match[2]}/{size}")
        return int(match[1]), int(match[2]) + 1

    def free(self) -> None:
        """Drop the spool."""
        if self._spool is not None:
            self._spool.close()
        super().free()


def share_of(key: ObjectKey) -> Hashable:
    """Return the upload session or job that owns an object, as its project and folder."""
    owner = owner_of(key)
    return key if owner is None else (key.partition("/")[0], owner.folder)
