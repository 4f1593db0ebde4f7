"""One server's hold on a data folder: either it serves the data, or it is attached to the server that does.

Opening is put off until the first request, unless jobs are pending: JupyterLab must start as fast as without us.
Whatever goes wrong is kept as an error that every request answers; the next request tries again.
"""

from __future__ import annotations

import asyncio
import fcntl
import json
import logging
import os
import secrets
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from typing import TYPE_CHECKING, Protocol

from acai_jupyter.contract.errors import AcaiError, NotReady, SettingsBroken, Unavailable
from acai_server import __version__, hub
from acai_server.api.counting import Requests
from acai_server.api.feed import Feed
from acai_server.api.limits import RequestLimits
from acai_server.api.pools import LARGE_BODIES, LARGE_BODIES_PER_USER, SIZES, FairPool, Turns
from acai_server.api.proxy import Upstream
from acai_server.db.schema import has_pending_jobs
from acai_server.objects.durable import make_folder
from acai_server.records import ServerRecord, write_private

if TYPE_CHECKING:
    from pathlib import Path

    from acai_server.services import Services
    from acai_server.settings import Settings

_log = logging.getLogger("acai_server")
TAKEOVER_SECONDS = 1.0
THREADS = 16
KIB = 1024
Compose = Callable[["Settings", str, Callable[[], str]], "Services"]


class Closable(Protocol):
    """A connection that ends with the server."""

    def close(self) -> None:
        """End it."""
        ...


class Host:
    """Between `start` and `stop` it serves the data, or is attached to who does, or says what is wrong."""

    def __init__(self, read_settings: Callable[[], Settings], compose: Compose) -> None:
        self._read_settings = read_settings
        self._compose = compose
        self._settings: Settings | None = None
        self._services: Services | None = None
        self._opening = asyncio.Lock()
        self._lock_file: int | None = None
        self._address = ""
        self._watch: asyncio.Task[None] | None = None
        self._opener: asyncio.Task[None] | None = None
        self._stopped = False
        self._feed: Feed | None = None
        self.record = ServerRecord()
        self.upstream: Upstream | None = None
        self.streams: set[Closable] = set()
        self.requests = Requests()
        self.limits = RequestLimits()
        self.streams_per_user = 0
        self.large_bodies = Turns("large bodies", LARGE_BODIES, per_user=LARGE_BODIES_PER_USER)
        self.executor = ThreadPoolExecutor(THREADS, thread_name_prefix="acai-api")
        self.pools = {pool: FairPool(pool, size) for pool, size in SIZES.items()}

    async def start(self, address: str) -> None:
        """Take hold of the data, or attach to who has it. Never raises: the trouble is told to whoever asks."""
        self._address = address
        try:
            self._take_hold()
        except AcaiError as error:
            _log.error("%s", error.message)
            return
        must_run = self._settings is not None and self.upstream is None and self._must_run(self._settings)
        if must_run or (self.upstream is not None and self._signs_in_at(self.upstream)):
            self._opener = asyncio.ensure_future(self._open_quietly())

    @property
    def slow_reader_seconds(self) -> float:
        """After how long a reader that does not read is disconnected."""
        return self._settings.slow_reader_seconds if self._settings is not None else 15.0

    def feed(self, services: Services) -> Feed:
        """Return what reads the events of these services for everybody who follows them."""
        if self._feed is None:
            self._feed = Feed(
                services.events,
                services.credentials,
                partial(asyncio.get_running_loop().run_in_executor, self.executor),
            )
        return self._feed

    @property
    def body_timeout_seconds(self) -> float:
        """After how long without a byte of its body a request is refused."""
        return self._settings.body_timeout_seconds if self._settings is not None else 60.0

    @property
    def max_body_bytes(self) -> int:
        """How large a body may be on a route that does not say otherwise."""
        return KIB * (self._settings.max_body_kib if self._settings is not None else 1024)

    async def connect(self) -> Services | Upstream:
        """Return the services, opened at the first call, or the server that has the data.

        What failed before is tried again from the settings on, so that mending the cause is enough.
        """
        async with self._opening:
            if self._services is not None:
                return self._services
            if self._stopped:
                raise Unavailable(reason="the server is stopping")
            if not self._address:
                raise NotReady
            if self.upstream is None:
                self._take_hold()
            if self.upstream is not None:
                if self._signs_in_at(self.upstream):
                    await self._sign_in(self.upstream)
                return self.upstream
            loop = asyncio.get_running_loop()
            self._services = await loop.run_in_executor(self.executor, self._open)
            return self._services

    async def renew(self, refused: Upstream) -> Upstream | None:
        """Sign in once more where a token that was given for a sign-in is not valid any more; else there is none."""
        async with self._opening:
            if self._settings is None or self._settings.token or not self._may_use_hub_token():
                return None
            if self.upstream == refused:
                await self._sign_in(refused)
            return self.upstream

    @property
    def notices(self) -> tuple[str, ...]:
        """What the operator should know about how the settings were read."""
        return self._settings.notices if self._settings is not None else ()

    def _signs_in_at(self, upstream: Upstream) -> bool:
        """Whether there is no token for a server yet, and JupyterHub's may be exchanged for one there."""
        return not upstream.token and self._may_use_hub_token()

    def _may_use_hub_token(self) -> bool:
        """JupyterHub's token goes only to the server that the user's own configuration names, not to a folder's."""
        settings = self._settings
        return settings is not None and bool(settings.url) and not settings.url_is_from_folder and hub.is_there()

    async def _sign_in(self, upstream: Upstream) -> None:
        loop = asyncio.get_running_loop()
        token = await loop.run_in_executor(self.executor, hub.sign_in, upstream.url)
        self._attach(Upstream(upstream.url, token))

    async def stop(self) -> None:
        """Let go. What runs goes on; a server that waits takes over."""
        self._stopped = True
        for stream in list(self.streams):
            stream.close()
        if self._feed is not None:
            self._feed.close()
        async with self._opening:  # nobody is half-way through opening now
            for task in (self._watch, self._opener):
                if task is not None:
                    task.cancel()
            self.record.remove()
            if self._services is not None:
                loop = asyncio.get_running_loop()
                await loop.run_in_executor(self.executor, self._services.close)
                self._services = None
        self.executor.shutdown(wait=False)
        for pool in self.pools.values():
            pool.shutdown()
        self._let_go()

    def _take_hold(self) -> None:
        """Read the settings, then lock the data folder or attach to the server that has.

        A lock that is held is kept: a program that is just being started may still have a copy of it, so that who let
        it go could not take it again, and would take itself for another.
        """
        before = self._settings
        try:
            settings = self._settings = self._read_settings()
        except AcaiError:
            self._let_go()
            raise
        self.limits.per_second = settings.requests_per_second
        self.streams_per_user = settings.streams_per_user
        if self._lock_file is not None:
            if not settings.url and before is not None and before.data_folder == settings.data_folder:
                self._hold(settings, self._lock_file)
                return
            self._let_go()
        if settings.url:
            self._attach(Upstream(settings.url, settings.token))
            return
        descriptor = lock(settings.data_folder)
        if descriptor is not None:
            self._hold(settings, descriptor)
            return
        if self._watch is None or self._watch.done():
            self._watch = asyncio.ensure_future(self._wait_for_hold(settings))
        self._attach(_holder(settings.data_folder))

    def _hold(self, settings: Settings, descriptor: int) -> None:
        self._lock_file = descriptor
        self.upstream = None
        with settings.spare_room().lent():
            token = _secret(settings.data_folder / "token", "acai_")
            said = json.dumps({"url": self._address, "token": token})
            _write(settings.data_folder / "server.json", said)
            self._tell(self._address, token, str(settings.data_folder))

    def _let_go(self) -> None:
        """Unlock the data folder, if this process has it; who waits for it takes over."""
        if self._lock_file is not None:
            os.close(self._lock_file)
            self._lock_file = None

    def _attach(self, upstream: Upstream) -> None:
        self.upstream = upstream
        self._tell(upstream.url, upstream.token, "")

    def _tell(self, url: str, token: str, data_folder: str) -> None:
        try:
            self.record.write(url=url, token=token, data_folder=data_folder, version=__version__)
        except OSError as error:
            raise SettingsBroken(reason=f"{error.filename} cannot be written ({error.strerror})") from error

    async def _wait_for_hold(self, settings: Settings) -> None:
        """Take over when the server that has the data is gone, and follow it when it comes back elsewhere."""
        while True:
            await asyncio.sleep(TAKEOVER_SECONDS)
            if self._lock_file is not None:  # a request was quicker
                return
            try:
                descriptor = lock(settings.data_folder)
                if descriptor is None:
                    self._follow(_holder(settings.data_folder))
                    continue
                self._hold(settings, descriptor)
                _log.info("The server that had the data is gone; this one serves it now.")
                await self.connect()
            except AcaiError as error:
                _log.warning("%s", error.message)
            if self._lock_file is not None:
                for stream in list(self.streams):
                    stream.close()
                return

    def _follow(self, upstream: Upstream) -> None:
        if upstream != self.upstream:
            self._attach(upstream)

    async def _open_quietly(self) -> None:
        try:
            await self.connect()
        except AcaiError as error:
            _log.error("%s", error.message)

    def _open(self) -> Services:
        assert self._settings is not None
        token = _secret(self._settings.data_folder / "token", "acai_")
        spare = self._settings.spare_room()
        with spare.lent():  # opening a database writes too
            services = self._compose(self._settings, token, lambda: self._address)
        spare.hold()
        return services

    def _must_run(self, settings: Settings) -> bool:
        """Whether loops must run before anybody asks: jobs of an embedded database, or any other database."""
        return bool(settings.database) or has_pending_jobs(settings.data_folder / "acai.db")


def lock(folder: Path) -> int | None:
    """Lock the data folder for this process, or return None when another has it."""
    try:
        make_folder(folder, mode=0o700)
        descriptor = os.open(folder / "lock", os.O_RDWR | os.O_CREAT, 0o600)
    except OSError as error:
        raise SettingsBroken(
            reason=f"the data folder {folder} cannot be used ({error.strerror}); set ACAI_DATA_FOLDER to another"
        ) from error
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except OSError:
        os.close(descriptor)
        return None
    return descriptor


def _holder(folder: Path) -> Upstream:
    """Return the server that has the data."""
    try:
        said = json.loads((folder / "server.json").read_text())
        return Upstream(said["url"], said["token"])
    except (OSError, ValueError, KeyError) as error:
        raise SettingsBroken(reason=f"another server has {folder} and is just starting; try again") from error


def _secret(path: Path, prefix: str) -> str:
    """Return a secret that is kept in a file, made at the first call."""
    try:
        known = path.read_text().strip()
    except FileNotFoundError:
        known = ""
    except OSError as error:
        raise SettingsBroken(reason=f"{path} cannot be read ({error.strerror})") from error
    if known:
        return known
    made = prefix + secrets.token_urlsafe(32)
    _write(path, made, durable=True)
    return made


def _write(path: Path, text: str, *, durable: bool = False) -> None:
    try:
        write_private(path, text, durable=durable)
    except OSError as error:
        raise SettingsBroken(reason=f"{path} cannot be written ({error.strerror})") from error
