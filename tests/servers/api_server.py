"""The API server of a cluster behind a proxy on loopback that passes streams on, and makes trouble when told to."""

from __future__ import annotations

import asyncio
import threading
from contextlib import contextmanager, suppress
from typing import TYPE_CHECKING

import aiohttp
from aiohttp import web
from yarl import URL

if TYPE_CHECKING:
    from collections.abc import Iterator

    from acai_server.runners.kubernetes.credentials import Access

PASSED = ("Authorization", "Content-Type", "Accept")
WORDS = {429: "too many requests, please try again later", 500: "etcdserver: request timed out"}


class TroubledApi:
    """What it answers itself instead of the API server is told by status: each request takes the next of a round.

    Who asks is shown by what is passed on; the access it has is to be nobody's.
    """

    def __init__(self, access: Access) -> None:
        self._access = access
        self._round: list[int] = []
        self._asked = 0
        self._links: set[asyncio.Task[object]] = set()
        self._loop = asyncio.new_event_loop()
        self._thread = threading.Thread(target=self._loop.run_forever, name="troubled-api")
        self.refused: list[int] = []
        self.url = ""

    def misbehave(self, *statuses: int) -> None:
        """Answer so from now on, in turn; with 0 the API server is asked."""
        self._round = list(statuses)

    def behave(self) -> None:
        """Ask the API server for all from now on."""
        self._round = []

    def hang_up(self) -> None:
        """Break off whatever is open."""
        self._do(self._break_off())

    def start(self) -> None:
        self._thread.start()
        self._do(self._open())

    def stop(self) -> None:
        self._do(self._close())
        self._loop.call_soon_threadsafe(self._loop.stop)
        self._thread.join()
        self._loop.close()

    def _do(self, work: object) -> None:
        asyncio.run_coroutine_threadsafe(work, self._loop).result()  # type: ignore[arg-type]

    async def _open(self) -> None:
        self._session = aiohttp.ClientSession(connector=aiohttp.TCPConnector(limit=0, ssl=self._access.ssl))
        app = web.Application(client_max_size=16 * 1024**2)
        app.router.add_route("*", "/{path:.*}", self._answer)
        self._runner = web.AppRunner(app, handler_cancellation=True, shutdown_timeout=0.1)
        await self._runner.setup()
        await web.TCPSite(self._runner, "127.0.0.1", 0).start()
        self.url = "http://{}:{}".format(*self._runner.addresses[0][:2])

    async def _break_off(self) -> None:
        for link in list(self._links):
            link.cancel()

    async def _close(self) -> None:
        await self._break_off()
        await self._runner.cleanup()
        await self._session.close()
        await asyncio.sleep(0.05)  # sockets are closed in the next turns of the loop

    async def _answer(self, request: web.Request) -> web.StreamResponse:
        self._asked += 1
        status = self._round[self._asked % len(self._round)] if self._round else 0
        if status:
            self.refused.append(status)
            said = {"kind": "Status", "status": "Failure", "message": WORDS[status], "code": status}
            return web.json_response(said, status=status, headers={"Retry-After": "1"} if status == 429 else None)
        link = asyncio.current_task()
        assert link is not None
        self._links.add(link)
        try:
            return await self._pass_on(request)
        finally:
            self._links.discard(link)

    async def _pass_on(self, request: web.Request) -> web.StreamResponse:
        url = URL(self._access.server + request.raw_path, encoded=True)
        headers = {name: request.headers[name] for name in PASSED if name in request.headers}
        forever = aiohttp.ClientTimeout(total=None)
        async with self._session.request(
            request.method, url, headers=headers, data=await request.read(), timeout=forever
        ) as found:
            answer = web.StreamResponse(status=found.status, headers={"Content-Type": found.headers["Content-Type"]})
            await answer.prepare(request)
            with suppress(ConnectionError):
                async for piece in found.content.iter_any():
                    await answer.write(piece)
            return answer


@contextmanager
def troubled(access: Access) -> Iterator[TroubledApi]:
    """Have such a proxy while the context lasts."""
    api = TroubledApi(access)
    api.start()
    try:
        yield api
    finally:
        api.stop()
