"""Answers that are no JSON document but a stream of bytes, never held as a whole."""

from __future__ import annotations

from contextlib import closing
from typing import TYPE_CHECKING, Any

import msgspec
import urllib3
from jupyter_server.auth.decorator import allow_unauthenticated  # the base handler's `prepare` does the refusing

from acai_jupyter.contract import decoding
from acai_jupyter.contract.errors import AcaiError, ServerUnreachable, SettingsBroken, from_body
from acai_server.api.base import BaseHandler
from acai_server.api.call import Call
from acai_server.api.proxy import FORWARDED, TIMEOUT_SECONDS, authorization

if TYPE_CHECKING:
    from collections.abc import Generator, Iterator

    from acai_server.api.proxy import Upstream

PIECE = 256 * 1024
OK = 200


class StreamHandler(BaseHandler):
    """Sends what an endpoint gives piece by piece; what cannot be given is said before anything is sent."""

    def content_type(self, query: Any) -> str:
        """What it is that is sent."""
        raise NotImplementedError

    def pieces(self, call: Call) -> Iterator[bytes]:
        """Give it."""
        raise NotImplementedError

    @allow_unauthenticated
    async def get(self, **params: str) -> None:
        """Send it."""
        with closing(self._given(params)) as given:
            content_type = (await self.in_thread(next, given)).decode()
            piece = await self.in_thread(next, given, b"")
            await self.write_down_reads()
            self.set_header("Content-Type", content_type)
            self.set_header("Cache-Control", "no-store")
            while piece:
                self.write(piece)
                await self.flush()
                piece = await self.look(next, given, b"")
        self.finish(set_content_type=content_type)

    @allow_unauthenticated
    async def post(self, **params: str) -> None:
        """Refuse: it is only read."""
        del params
        _ = self.endpoint

    put = patch = delete = post

    def _given(self, params: dict[str, str]) -> Generator[bytes]:
        """Give the content type, then what is sent. Who only passes on leaves it to the other to look at the query."""
        if self.upstream is not None:
            yield from self._passed_on(self.upstream)
            return
        query = self.decode_query()
        yield self.content_type(query).encode()
        yield from self.pieces(Call(self.services, self.member, params, query, None))

    def _passed_on(self, upstream: Upstream) -> Generator[bytes]:
        """The same from the server that has the data, as fast as it is taken here."""
        if FORWARDED in self.request.headers:
            raise SettingsBroken(reason=f"the setting url, {upstream.url}, leads to a server that is only attached")
        headers = {"Authorization": authorization(self, upstream), "X-Request-Id": self.request_id, FORWARDED: "1"}
        address = upstream.address(self.request.path, self.request.query)
        try:
            yield from fetched(address, headers)
        except urllib3.exceptions.HTTPError as error:
            raise ServerUnreachable(where=f" at {upstream.url}") from error


def fetched(address: str, headers: dict[str, str], *, timeout_seconds: float = TIMEOUT_SECONDS) -> Generator[bytes]:
    """Give the content type and then the content at an address. The timeout is for connecting and between bytes."""
    with urllib3.PoolManager(retries=False, timeout=timeout_seconds) as http:
        answer = http.request("GET", address, headers=headers, preload_content=False, redirect=False)
        try:
            if answer.status != OK:
                raise _refusal(answer)
            yield answer.headers["Content-Type"].encode()
            yield from answer.stream(PIECE)
        finally:
            answer.close()


def _refusal(answer: urllib3.BaseHTTPResponse) -> AcaiError:
    try:
        body = decoding.plain_json(answer.read(PIECE))
    except msgspec.DecodeError:
        body = None
    return from_body(body, answer.status)
