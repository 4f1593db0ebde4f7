"""The composition root: settings, the choice of backends, starting and stopping. Everything else is handed its parts.

A job becomes a process in `engine/launcher.py`, which hands an order to the `Runner` chosen in `_runner` below; a third
kind of runner implements `runners/protocol.py` and gets a line there.
"""

from __future__ import annotations

import getpass
import sys
from contextlib import ExitStack
from copy import deepcopy
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar

from jupyter_server.extension.application import ExtensionApp
from traitlets import Float, Int, TraitError, Unicode
from traitlets.config import Config

from acai_jupyter.contract.errors import AcaiError, BadSetting, SettingsBroken
from acai_server.host import Host
from acai_server.records import home
from acai_server.settings import (
    Settings,
    Source,
    checked,
    from_environment,
    from_file,
    from_mapping,
    site_config,
    user_config,
)

if TYPE_CHECKING:
    from collections.abc import Callable

    from acai_server.clock import Clock
    from acai_server.events.protocol import EventBus
    from acai_server.objects.protocol import ObjectStore
    from acai_server.objects.signing import UrlSigner
    from acai_server.runners.protocol import Runner
    from acai_server.services import Services

PACKAGE = Path(__file__).parent


class AcaiApp(ExtensionApp):
    """ACAI: versioned data, jobs and provenance, inside a Jupyter server or alone (`jupyter acai`)."""

    name = "acai"
    extension_url = "/acai/api/v1/status"
    load_other_extensions = True
    alone: ClassVar[bool] = False
    """Whether this is `jupyter acai`, which exits on errors, or an extension, which never does."""
    failure: ClassVar[str] = ""
    """Why `jupyter acai` could not begin to serve."""
    description = "ACAI: versioned data, jobs and provenance, served without JupyterLab."

    data_folder = Unicode(
        "",
        help="Folder of the database, the objects, the local jobs and the token, an absolute path or one from '~'. "
        "Empty: acai in XDG_DATA_HOME, which is ~/.local/share where it is not set.",
    ).tag(config=True)
    url = Unicode(
        "",
        help="Address of another ACAI server to attach to, like http://host:8888, base URL included. "
        "Empty: serve the data folder, or attach to the server that does.",
    ).tag(config=True)
    token = Unicode(
        "",
        help="Token for the server at 'url', unused without one. Better in the environment or a file than on a command "
        "line, which other users of the machine can read. Empty: none is shown.",
    ).tag(config=True)
    project = Unicode("default", help="Name of the project that is made in a new database.").tag(config=True)
    user = Unicode(
        "", help="Name of the user that is made in a new database. Empty: the name of this account on the machine."
    ).tag(config=True)
    database = Unicode(
        "",
        help="URL of a PostgreSQL database, like postgresql://user@host/acai; its tables are made by "
        "'acai-server migrate'. Empty: SQLite in the data folder, whose tables are made by themselves.",
    ).tag(config=True)
    object_store = Unicode(
        "filesystem",
        help="Where bytes rest: 'filesystem' (the data folder), 's3' (a bucket), or 'memory' (gone with the server).",
    ).tag(config=True)
    s3_bucket = Unicode("", help="Name of the bucket, which an 's3' object store needs. Empty: there is none.").tag(
        config=True
    )
    s3_prefix = Unicode(
        "", help="What every key in the bucket begins with, like acai/. Empty: keys begin at the bucket's root."
    ).tag(config=True)
    s3_endpoint_url = Unicode(
        "", help="Address of an S3 service, like http://host:8333. Empty: Amazon's, as boto3 is configured."
    ).tag(config=True)
    runner = Unicode("process", help="What runs jobs: 'process' (this machine).").tag(config=True)
    event_bus = Unicode(
        "",
        help="What wakes who waits for events: 'memory' (this server) or 'postgres' (every server of the database). "
        "Empty: 'postgres' with a PostgreSQL database, else 'memory'.",
    ).tag(config=True)
    slow_reader_seconds = Float(
        15.0,
        min=0.1,
        help="Seconds after which a reader of events by WebSocket that does not take what was sent is disconnected; it "
        "can come back and resume. At least 0.1.",
    ).tag(config=True)
    quota = Int(4, min=1, help="How many jobs of one user in one project may hold a machine at once; at least 1.").tag(
        config=True
    )

    def initialize_settings(self) -> None:
        """Make the host; nothing is opened yet."""
        if self.alone:
            try:
                self.read_settings()
            except AcaiError as error:  # before an address is announced that would not answer
                sys.exit(error.message)
        self.host = Host(self.read_settings, compose)
        self.settings["acai_host"] = self.host
        # Jupyter logs the address of a failed request; it hides what its own list names.
        self.settings["extra_log_scrub_param_keys"] = [*self.settings["extra_log_scrub_param_keys"], "signature"]

    def initialize_handlers(self) -> None:
        """Add our routes to the Jupyter server's."""
        from acai_server.api.routes import routes

        self.handlers.extend(routes())

    async def _start_jupyter_server_extension(self, serverapp: Any) -> None:
        await self.host.start(_address(serverapp))
        if self.alone and self.host.upstream is None:
            try:
                await self.host.connect()
            except AcaiError as error:
                AcaiApp.failure = error.message
                serverapp.stop()

    async def stop_extension(self) -> None:
        """End the loops, close the database, let go of the data folder."""
        await self.host.stop()

    def _load_config(self, cfg: Config, *args: Any, **kwargs: Any) -> None:
        """Leave our settings to `read_settings`: a wrong one is to be said, not to keep the extension from loading."""
        others = Config(deepcopy(cfg))
        for name in Settings.__dataclass_fields__:
            others.get("AcaiApp", {}).pop(name, None)
        super()._load_config(others, *args, **kwargs)

    def read_settings(self) -> Settings:
        """Merge all sources; what is not understood is named with its place."""
        names = frozenset(Settings.__dataclass_fields__)
        jupyters = frozenset(self.trait_names(config=True))
        root = getattr(self.serverapp, "root_dir", ".")
        sources = [
            from_mapping("the command line", getattr(self.serverapp, "cli_config", {}).get("AcaiApp", {}), jupyters),
            from_environment(names),
            from_file(Path(root) / "acai.toml", names),
            from_mapping("Jupyter's configuration", self.config.get("AcaiApp", {}), jupyters),
            from_file(user_config(), names),
            from_file(site_config(), names),
        ]
        values = {name: self._value(name, sources) for name in sorted(names)}
        values["data_folder"] = Path(values["data_folder"] or home()).expanduser().absolute()
        values["user"] = values["user"] or getpass.getuser()
        return checked(Settings(**values))

    def _value(self, name: str, sources: list[Source]) -> Any:
        for source in sources:
            if name in source.values:
                value = source.values[name]
                try:
                    trait = self.traits()[name]
                    read = trait.from_string(str(value)) if isinstance(value, str) else value
                    return trait._validate(self, read)  # noqa: SLF001 (traitlets has no other way to check without setting)
                except (TraitError, ValueError) as error:
                    raise BadSetting(name=name, source=source.name, reason=str(error)) from error
        return getattr(self, name)


def compose(settings: Settings, token: str, address: Callable[[], str]) -> Services:
    """Choose the backends and put the services together. Slow: called in a thread, at the first need."""
    from acai_jupyter.contract.projects import Backends
    from acai_server.clock import Clock
    from acai_server.credentials.service import Credentials
    from acai_server.db import schema
    from acai_server.db.database import Database
    from acai_server.engine.service import Engine
    from acai_server.events.pruner import EventPruner
    from acai_server.events.service import Events
    from acai_server.lake import filesets
    from acai_server.lake.service import Lake
    from acai_server.objects.signing import UrlSigner
    from acai_server.provenance.service import Provenance
    from acai_server.provisioner.prices import PriceBook
    from acai_server.services import Services

    clock = Clock()
    bus = _event_bus(settings)
    signer = UrlSigner(token.encode(), address, lambda: clock.now().timestamp())
    objects = _object_store(settings, signer)
    runner = _runner(settings)
    url = settings.database or f"sqlite:///{settings.data_folder / 'acai.db'}"
    if not settings.database:
        (settings.data_folder / "acai.db").touch(mode=0o600)  # what SQLite puts beside it gets the same mode
    with ExitStack() as opened:  # what fails on the way leaves nothing open: it will be tried again
        database = Database(url, clock, bus.wake)
        opened.callback(database.close)
        if database.name == "sqlite":
            schema.migrate(database)
        else:
            schema.check(database)
        notices = _clock_notice(database, clock)
        engine = Engine(database, objects, filesets, PriceBook(), runner, quota=settings.quota)
        credentials = Credentials(database, token, project=settings.project, user=settings.user)
        for loop in (bus, engine, EventPruner(database)):
            opened.callback(loop.stop)
            loop.start()
        close = opened.pop_all().close

    return Services(
        credentials=credentials,
        lake=Lake(database, objects),
        provenance=Provenance(database),
        engine=engine,
        events=Events(database, bus, slow_reader_seconds=settings.slow_reader_seconds),
        objects=objects,
        signer=signer,
        backends=Backends(database.name, objects.name, runner.name, bus.name),
        data_folder=str(settings.data_folder),
        started_at=clock.now(),
        notices=notices,
        close=close,
    )


def _object_store(settings: Settings, signer: UrlSigner) -> ObjectStore:
    if settings.object_store == "filesystem":
        from acai_server.objects.filesystem import FilesystemObjectStore

        return FilesystemObjectStore(settings.data_folder / "objects", signer)
    if settings.object_store == "memory":
        from acai_server.objects.memory import MemoryObjectStore

        return MemoryObjectStore(signer)
    if settings.object_store == "s3":
        if not settings.s3_bucket:
            raise BadSetting(name="s3_bucket", source="the settings", reason="an S3 store needs the name of a bucket")
        try:
            from acai_server.objects.s3 import S3ObjectStore
        except ImportError as error:
            raise SettingsBroken(reason="S3 needs boto3; pip install 'acai-jupyter[s3]'") from error
        try:
            return S3ObjectStore(
                settings.s3_bucket, endpoint_url=settings.s3_endpoint_url or None, prefix=settings.s3_prefix
            )
        except ValueError as error:
            raise BadSetting(name="s3_endpoint_url", source="the settings", reason=str(error)) from error
    raise _unknown("object_store", settings.object_store, "filesystem, s3 or memory")


def _runner(settings: Settings) -> Runner:
    if settings.runner == "process":
        from acai_server.runners.process import ProcessRunner

        return ProcessRunner(settings.data_folder / "attempts", PACKAGE / "agent.pyz")
    raise _unknown("runner", settings.runner, "process")


def _event_bus(settings: Settings) -> EventBus:
    name = settings.event_bus or ("postgres" if settings.database.startswith("postgres") else "memory")
    if name == "memory":
        from acai_server.events.memory import MemoryEventBus

        return MemoryEventBus()
    if name == "postgres":
        try:
            from acai_server.events.postgres import PostgresEventBus
        except ImportError as error:
            raise SettingsBroken(reason="PostgreSQL needs psycopg; pip install 'acai-jupyter[postgres]'") from error
        return PostgresEventBus(settings.database)
    raise _unknown("event_bus", name, "memory or postgres")


def _unknown(name: str, value: str, known: str) -> BadSetting:
    return BadSetting(name=name, source="the settings", reason=f"'{value[:80]}' is none of {known}")


def _clock_notice(database: Any, clock: Clock) -> list[str]:
    """Say it when the machine's clock is behind what is written down; times go on from there, and nothing is lost."""
    with database.reading() as work:
        newest = work.events.newest_time()
    behind = 0.0 if newest is None else clock.not_before(newest)
    if behind < 60:  # noqa: PLR2004 (a minute is nothing to bother a person with)
        return []
    late = f"This machine's clock is {behind / 60:.0f} min behind the newest record; set it right."
    return [f"{late} Times go on from that record."]


def _address(serverapp: Any) -> str:
    """Return where this machine's programs reach the server: a number, as a name may lead to another protocol first."""
    everywhere = serverapp.ip in ("", "*", "localhost", "0.0.0.0", "::")  # noqa: S104 (compared, not bound)
    ip = "127.0.0.1" if everywhere else serverapp.ip
    scheme = "https" if serverapp.certfile else "http"
    return f"{scheme}://{f'[{ip}]' if ':' in ip else ip}:{serverapp.port}{serverapp.base_url.rstrip('/')}"


def main() -> None:
    """Run `jupyter acai`."""
    AcaiApp.alone = True
    AcaiApp.load_other_extensions = False
    AcaiApp.serverapp_config = {"open_browser": False, "port_retries": 0}
    AcaiApp.launch_instance(sys.argv[1:])  # type: ignore[no-untyped-call]
    if AcaiApp.failure:
        sys.exit(AcaiApp.failure)
