"""Following the objects of a cluster: what an API server says when it does not keep the past that is asked for."""

from __future__ import annotations

import asyncio
import json
from concurrent.futures import ThreadPoolExecutor
from contextlib import asynccontextmanager
from typing import TYPE_CHECKING

import pytest
from aiohttp import web

from acai_server.runners.kubernetes import calls
from acai_server.runners.kubernetes.api import Api
from acai_server.runners.kubernetes.credentials import Access
from acai_server.runners.kubernetes.seen import Pod
from acai_server.runners.kubernetes.watching import Watch

if TYPE_CHECKING:
    from collections.abc import AsyncIterator
    from pathlib import Path

STATUS = {"kind": "Status", "apiVersion": "v1", "metadata": {}, "status": "Failure", "code": 410}
EXPIRED = STATUS | {"message": "too old resource version: 1 (342)", "reason": "Expired"}
PODS = {
    "kind": "PodList",
    "apiVersion": "v1",
    "metadata": {"resourceVersion": "342"},
    "items": [{"metadata": {"name": "seen", "resourceVersion": "340"}}],
}


@asynccontextmanager
async def serving(watched: list[str], goes_on: asyncio.Event, *, within_the_stream: bool) -> AsyncIterator[str]:
    """Serve a list of pods, and watches that go on only from the moment of that list."""

    async def answer(request: web.Request) -> web.StreamResponse:
        if "watch" not in request.query:
            return web.json_response(PODS)
        watched.append(request.query["resourceVersion"])
        if request.query["resourceVersion"] == "342":
            stream = web.StreamResponse()
            await stream.prepare(request)
            goes_on.set()
            await asyncio.Event().wait()
        if within_the_stream:
            return web.Response(text=json.dumps({"type": "ERROR", "object": EXPIRED}) + "\n")
        return web.json_response(EXPIRED, status=410)

    app = web.Application()
    app.router.add_get("/api/v1/namespaces/lab/pods", answer)
    runner = web.AppRunner(app, handler_cancellation=True)
    await runner.setup()
    try:
        site = web.TCPSite(runner, "127.0.0.1", 0)
        await site.start()
        yield "http://{}:{}".format(*runner.addresses[0][:2])
    finally:
        await runner.cleanup()


@pytest.mark.parametrize("within_the_stream", [True, False])
def test_a_watch_from_a_moment_that_is_not_kept_any_more_lists_again_and_goes_on(
    tmp_path: Path, *, within_the_stream: bool
) -> None:
    asked: list[str] = []
    found: list[str] = []

    async def followed() -> None:
        goes_on = asyncio.Event()
        async with serving(asked, goes_on, within_the_stream=within_the_stream) as address:
            api = Api(Access({"server": address}, {}, "lab", tmp_path), "lab")
            watch = Watch(
                api,
                (calls.LIST_PODS, calls.WATCH_PODS),
                Pod,
                "",
                take=lambda _: None,
                drop=lambda _: None,
                fill=lambda pods, _: found.extend(pod.metadata.name for pod in pods),
                version="1",
            )
            running = asyncio.create_task(watch.run())
            await goes_on.wait()
            running.cancel()
            await asyncio.gather(running, return_exceptions=True)
            await api.close()

    with ThreadPoolExecutor(1) as thread:  # of its own, as a browser's loop may be running in this one
        thread.submit(lambda: asyncio.run(asyncio.wait_for(followed(), 60))).result()
    assert asked == ["1", "342"]
    assert found == ["seen"]
