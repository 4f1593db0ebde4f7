"""The composition root: settings, the choice of backends, starting and stopping. Everything else is handed its parts.

A job becomes a process in `engine/launcher.py`, which hands an order to the `Runner` chosen in `_runner` below; a third
kind of runner implements `runners/protocol.py` and gets a line there.
"""

from __future__ import annotations

import getpass
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar

from jupyter_server.extension.application import ExtensionApp
from traitlets import Int, TraitError, Unicode, default

from acai_jupyter.contract.errors import AcaiError, BadSetting, SettingsBroken
from acai_server.host import Host
from acai_server.records import home
from acai_server.settings import Settings, Source, from_environment, from_file, site_config, user_config

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

    data_folder = Unicode(
        help="Folder of the database, the objects and the local jobs. Default: ~/.local/share/acai."
    ).tag(config=True)
    url = Unicode("", help="Address of another ACAI server to attach to. Empty: serve the data folder.").tag(
        config=True
    )
    token = Unicode("", help="Token for the server at `url`. Better set as ACAI_TOKEN or in a file.").tag(config=True)
    project = Unicode("default", help="The project of the embedded default.").tag(config=True)
    user = Unicode(help="The name of the local user. Default: the name of the account.").tag(config=True)
    database = Unicode("", help="URL of a PostgreSQL database. Empty: SQLite in the data folder.").tag(config=True)
    object_store = Unicode(
        "filesystem", help="Where bytes rest: 'filesystem' (the data folder), 's3', or 'memory'."
    ).tag(config=True)
    s3_bucket = Unicode("", help="The bucket, when `object_store` is 's3'.").tag(config=True)
    s3_prefix = Unicode("", help="What every key in the bucket begins with.").tag(config=True)
    s3_endpoint_url = Unicode("", help="Address of an S3 service other than Amazon's.").tag(config=True)
    runner = Unicode("process", help="What runs jobs: 'process' (this machine).").tag(config=True)
    event_bus = Unicode(
        "", help="What wakes readers of events: 'memory' or 'postgres'. Empty: what fits the database."
    ).tag(config=True)
    quota = Int(4, help="How many jobs of one user may hold a machine at once.").tag(config=True)

    @default("data_folder")
    def _default_data_folder(self) -> str:
        return str(home())

    @default("user")
    def _default_user(self) -> str:
        return getpass.getuser()

    def initialize_settings(self) -> None:
        """Make the host; nothing is opened yet."""
        self.host = Host(self.read_settings, compose)
        self.settings["acai_host"] = self.host

    def initialize_handlers(self) -> None:
        """Add our routes to the Jupyter server's."""
        from acai_server.api.routes import routes

        self.handlers.extend(routes())

    async def _start_jupyter_server_extension(self, serverapp: Any) -> None:
        await self.host.start(_address(serverapp))
        if self.alone:
            try:
                await self.host.services()
            except AcaiError as error:
                serverapp.exit_message = error.message
                serverapp.stop()

    async def stop_extension(self) -> None:
        """End the loops, close the database, let go of the data folder."""
        await self.host.stop()

    def read_settings(self) -> Settings:
        """Merge all sources; what is not understood is named with its place."""
        names = frozenset(Settings.__dataclass_fields__)
        root = getattr(self.serverapp, "root_dir", ".")
        sources = [
            Source("the command line", dict(self.cli_config.get("AcaiApp", {}))),
            from_environment(names),
            from_file(Path(root) / "acai.toml", names),
            Source("Jupyter's configuration", dict(self.config.get("AcaiApp", {}))),
            from_file(user_config(), names),
            from_file(site_config(), names),
        ]
        values = {name: self._value(name, sources) for name in sorted(names)}
        values["data_folder"] = Path(values["data_folder"]).expanduser().absolute()
        return Settings(**values)

    def _value(self, name: str, sources: list[Source]) -> Any:
        for source in sources:
            if name in source.values:
                value = source.values[name]
                try:
                    trait = self.traits()[name]
                    return trait.from_string(value) if isinstance(value, str) else trait._validate(self, value)  # noqa: SLF001 (traitlets has no other way to check without setting)
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
    url = settings.database or f"sqlite:///{settings.data_folder / 'acai.db'}"
    database = Database(url, clock, bus.wake)
    if database.name == "sqlite":
        schema.migrate(database)
    else:
        schema.check(database)
    notices = _clock_notice(database, clock)
    signer = UrlSigner(token.encode(), address, lambda: clock.now().timestamp())
    objects = _object_store(settings, signer)
    runner = _runner(settings)
    engine = Engine(database, objects, filesets, PriceBook(), runner, quota=settings.quota)
    credentials = Credentials(database, token, project=settings.project, user=settings.user)
    pruner = EventPruner(database)
    bus.start()
    engine.start()
    pruner.start()

    def close() -> None:
        pruner.stop()
        engine.stop()
        bus.stop()
        database.close()

    return Services(
        credentials=credentials,
        lake=Lake(database, objects),
        provenance=Provenance(database),
        engine=engine,
        events=Events(database, bus),
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
        return S3ObjectStore(
            settings.s3_bucket, endpoint_url=settings.s3_endpoint_url or None, prefix=settings.s3_prefix
        )
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
