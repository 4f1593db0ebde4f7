"""The agent as it travels to pods: with bytecode, as many start at once, in one ConfigMap that all attempts share."""

from __future__ import annotations

import asyncio
import io
import subprocess
import sys
import time
import zipfile
from contextlib import asynccontextmanager, suppress
from pathlib import Path
from typing import TYPE_CHECKING

from acai_jupyter import trees
from acai_jupyter.contract.errors import AcaiError
from acai_server.runners.kubernetes import calls, objects
from acai_server.runners.kubernetes.api import Api, Missing, Taken, decoded
from acai_server.runners.kubernetes.seen import Listed, Named

if TYPE_CHECKING:
    from collections.abc import AsyncIterator

    from acai_server.runners.kubernetes.attempts import Attempts
    from acai_server.runners.kubernetes.settings import KubernetesSettings

TEND_SECONDS = 5.0
_PATIENCE_SECONDS = 60


class SharedAgent:
    """Is in the cluster while there are attempts. Whoever starts one does so `in_use`, so that it is not taken away."""

    def __init__(self, api: Api, agent: bytes, settings: KubernetesSettings, attempts: Attempts) -> None:
        self._api = api
        self._agent = agent
        self._settings = settings
        self._attempts = attempts
        self.name = objects.agent_name(settings.instance, agent)
        self._door = asyncio.Lock()
        """Held for long only while it is taken away."""
        self._users = 0
        self._bringing = asyncio.Lock()
        self._seen_at = float("-inf")
        self._may_be_there = True
        """An earlier server may have left it."""

    @asynccontextmanager
    async def in_use(self) -> AsyncIterator[None]:
        """Keep it there meanwhile; for as many at once as like."""
        async with self._door:
            self._users += 1
        try:
            yield
        finally:
            self._users -= 1

    async def bring(self) -> None:
        """Make sure that it is there. Of many that start at once, one asks for all."""
        async with self._bringing:
            if time.monotonic() - self._seen_at > TEND_SECONDS:
                await self._make_sure()

    async def tend(self) -> None:
        """Bring it again while pods wait: another server may have taken it away when it saw no attempts."""
        while True:
            await asyncio.sleep(TEND_SECONDS)
            with suppress(AcaiError):
                if not all(one.has_begun for one in self._attempts.all()):
                    await self._make_sure()
                elif self._may_be_there and self._attempts.is_ready:  # what it was brought for was not started
                    await self.take_away()

    async def take_away(self) -> None:
        """Leave nothing in the cluster when there are no attempts, agents of earlier versions included."""
        async with self._door:
            if self._users or self._attempts.names():
                return
            self._seen_at = float("-inf")
            words = {"labelSelector": objects.selector(self._settings.instance)}
            found: list[Named] = decoded(await self._api.ask(calls.LIST_CONFIG_MAPS, words=words), Listed[Named]).found
            for one in found:
                await self._attempts.delete(calls.DELETE_CONFIG_MAP, one.metadata.name)
            self._may_be_there = False

    async def _make_sure(self) -> None:
        """Ask whether it is there, which costs less than to send it."""
        self._may_be_there = True
        try:
            await self._api.ask(calls.PATCH_CONFIG_MAP, self.name, {})
        except Missing:
            with suppress(Taken):
                await self._api.ask(calls.CREATE_CONFIG_MAP, body=objects.config_map(self._agent, self._settings))
        self._seen_at = time.monotonic()


def packed(agent: Path) -> bytes:
    """Return the agent with bytecode for this Python, which others pass over; as it is where that cannot be made."""
    with trees.temporary_folder("acai-agent-") as folder:
        target = Path(folder) / "agent.pyz"
        command = [sys.executable, "-I", "-S", str(agent), "compile", str(target)]
        done = subprocess.run(command, capture_output=True, timeout=_PATIENCE_SECONDS, check=False)  # noqa: S603 (ours)
        return _deflated(target) if done.returncode == 0 else agent.read_bytes()


def _deflated(archive: Path) -> bytes:
    out = io.BytesIO()
    with zipfile.ZipFile(archive) as source, zipfile.ZipFile(out, "w", zipfile.ZIP_DEFLATED) as target:
        for info in source.infolist():
            target.writestr(zipfile.ZipInfo(info.filename, info.date_time), source.read(info), zipfile.ZIP_DEFLATED)
    return out.getvalue()
