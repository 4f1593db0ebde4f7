"""The composition root: settings, the choice of backends, starting and stopping. Everything else is handed its parts.

A job becomes a process in `engine/launcher.py`, which hands an order to the `Runner` chosen in `_runner` below; a third
kind of runner implements `runners/protocol.py` and gets a line there.
"""

from __future__ import annotations

import getpass
import hashlib
import logging
import platform
import sys
from contextlib import ExitStack
from copy import deepcopy
from datetime import timedelta
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar

from jupyter_server.extension.application import ExtensionApp
from traitlets import Bool, Float, Int, TraitError, Unicode
from traitlets.config import Application, Config

from acai_jupyter.contract.endpoints import BASE
from acai_jupyter.contract.errors import AcaiError, BadSetting, SettingsBroken, StoreUnavailable
from acai_server.clock_mark import watch_of
from acai_server.cluster import ClusterSettings, instance, runner_of_cluster
from acai_server.host import Host
from acai_server.logs import without_secrets, write_json, write_text
from acai_server.looks import checkups_of
from acai_server.records import home
from acai_server.settings import (
    NAMES,
    Settings,
    Source,
    checked,
    from_environment,
    from_file,
    from_mapping,
    site_config,
    token_for,
    user_config,
)
from acai_server.team import TeamSettings, identities_of, ways_of
from acai_server.working_folder import FolderReader

if TYPE_CHECKING:
    from collections.abc import Callable

    from acai_server.clock import Clock
    from acai_server.credentials.service import Credentials
    from acai_server.db.database import Database
    from acai_server.events.protocol import EventBus
    from acai_server.lake.direct import DirectPath
    from acai_server.lake.integrity.scrubber import Scrubber
    from acai_server.loops import BackgroundLoop
    from acai_server.objects.protocol import ObjectStore
    from acai_server.objects.signing import UrlSigner
    from acai_server.provisioner.prices import Prices
    from acai_server.runners.protocol import Runner
    from acai_server.services import Services
    from acai_server.store_owner.lease import Lease

_log = logging.getLogger("acai_server")
JUPYTERS = ("jupyter_config", "jupyter_server_config", "jupyter_acai_config")
URL_SECONDS = 86_400
AWAY_SECONDS = 7 * 86_400
"""So long a server may be away from jobs on a cluster; S3 signs for no longer."""
PACKAGE = Path(__file__).parent
OTHERS_PATIENCE_SECONDS = 30.0
"""So long another server may take from writing an attempt down to starting it."""


class AcaiApp(ClusterSettings, TeamSettings, ExtensionApp):
    """ACAI: versioned data, jobs and provenance, inside a Jupyter server or alone (`jupyter acai`)."""

    name = "acai"
    extension_url = "/acai/api/v1/status"
    load_other_extensions = True
    alone: ClassVar[bool] = False
    """Whether this is `jupyter acai`, which exits on errors, or an extension, which never does."""
    failure: ClassVar[str] = ""
    """Why `jupyter acai` could not begin to serve."""
    _notices: tuple[str, ...] = ()
    """The notices about the working folder's file that the log already has."""
    description = "ACAI: versioned data, jobs and provenance, served without JupyterLab."

    data_folder = Unicode(
        "",
        help="Folder of the database, the objects, the local jobs and the token, an absolute path or one from '~'. "
        "Empty: acai in XDG_DATA_HOME, which is ~/.local/share where it is not set.",
    ).tag(config=True, is_path=True)
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
    project = Unicode("default", help="Name of the project that is made in a new database.").tag(
        config=True, in_working_folder=True
    )
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
    runner = Unicode(
        "process",
        help="What runs jobs: 'process' (this machine; they go on when the server is restarted), 'memory' (this "
        "machine; they end with the server), or 'kubernetes' (a cluster, which needs an 's3' object store).",
    ).tag(config=True)
    event_bus = Unicode(
        "",
        help="What wakes who waits for events: 'memory' (this server) or 'postgres' (every server of the database). "
        "Empty: 'postgres' with a PostgreSQL database, else 'memory'.",
    ).tag(config=True)
    quota = Int(4, min=1, help="How many jobs of one user in one project may hold a machine at once; at least 1.").tag(
        config=True
    )

    price_book = Unicode(
        "",
        help="File with what machines cost: a price book as JSON, or machine types as CSV; each content is kept as a "
        "version of its own. Empty: $0.031611 per vCPU-hour and $0.004237 per GB-hour, less for small machines and "
        "more for large ones.",
    ).tag(config=True, is_path=True)
    region = Unicode(
        "", help="Name of the region that the price book is of; kept with it. Empty: there is only one."
    ).tag(config=True)
    min_vcpu = Float(0.5, min=0.01, help="The smallest number of CPUs that a job can ask for.").tag(config=True)
    max_vcpu = Float(8.0, min=0.01, help="The largest number of CPUs that a job can ask for.").tag(config=True)
    vcpu_step = Float(0.5, min=0.01, help="A job asks for a multiple of this number of CPUs.").tag(config=True)
    min_memory_mib = Int(512, min=1, help="The smallest memory that a job can ask for, in MiB.").tag(config=True)
    max_memory_mib = Int(8192, min=1, help="The largest memory that a job can ask for, in MiB.").tag(config=True)
    memory_step_mib = Int(256, min=1, help="A job asks for a multiple of this memory, in MiB.").tag(config=True)
    max_gpus = Int(8, min=0, help="The largest number of GPUs that a job can ask for.").tag(config=True)
    machine_vcpu = Float(
        0.0, min=0.0, help="How many CPUs of this machine its jobs may have, all of them together. 0: all there are."
    ).tag(config=True)
    reserved_memory_mib = Int(
        512, min=0, help="Memory of this machine, in MiB, that is never given to its jobs: for the server and all else."
    ).tag(config=True)
    control_groups = Bool(
        default_value=True,
        help="Whether jobs of this machine are limited by control groups, where the server may make some.",
    ).tag(config=True)
    max_processes = Int(4096, min=1, help="How many processes and threads a job of this machine may have at once.").tag(
        config=True
    )
    reserved_disk_mib = Int(
        512,
        min=0,
        help="Room on the disk of the data folder, in MiB, that jobs of this machine must leave: when there is less, "
        "the one that holds most is ended, if it holds as much. 0: none is.",
    ).tag(config=True)
    spare_disk_mib = Int(
        64,
        min=0,
        help="Room on the disk of the data folder, in MiB, that the server holds in its file spare. When less than "
        "that is free, it is given back to what makes room and to a server that starts. 0: none is held.",
    ).tag(config=True)
    failed_folder_hours = Float(
        0.0,
        min=0.0,
        help="Hours for which the folder of a job of this machine that did not succeed is kept, in failed in the data "
        "folder. 0: it is removed at once.",
    ).tag(config=True)
    cache_folder = Unicode(
        "",
        help="Folder in which jobs of this machine keep inputs by their hash for the next job, an absolute path or one "
        "from '~'; best on the disk of the data folder. Empty: cache in the data folder.",
    ).tag(config=True)
    cache_gib = Float(
        10.0,
        min=0.0,
        help="How large that folder may get, in GiB; what was not used for longest goes first. 0: nothing is kept.",
    ).tag(config=True)

    environments_gib = Float(
        10.0,
        min=0.0,
        help="How much room environments made for jobs of this machine may take in environments of the data folder, in "
        "GiB; what was not used for longest goes first, never one in use. 0: each job builds its own.",
    ).tag(config=True)

    upload_days = Float(
        7.0,
        min=0.0001,
        help="Days after which an upload that was begun, and that nobody went on with, is given up and what it sent is "
        "deleted. Until then the same line continues it.",
    ).tag(config=True)
    check_delay_seconds = Float(
        60.0,
        min=0.0,
        help="Seconds after an upload before its contents are hashed again in the background. A wrong one is not "
        "handed out, and another user's upload leans only on what was checked.",
    ).tag(config=True)

    scrub_days = Float(
        30.0,
        min=0.0,
        help="Days within which the server looks once at every stored content: on a disk it hashes them, in a bucket "
        "it compares existence and size. 0: never; then only what readers had trouble with is looked at.",
    ).tag(config=True)
    scrub_reads_s3 = Bool(
        default_value=False,
        help="Whether that also reads and hashes the contents in a bucket, which costs one download of everything.",
    ).tag(config=True)

    grace_days = Float(
        7.0,
        min=0.0001,
        help="Days for which deleted files and file sets can be brought back. Only then may their bytes be freed. At "
        "least 0.0001.",
    ).tag(config=True)
    collect_days = Float(
        1.0,
        min=0.0,
        help="Days between two times that the server frees by itself what nothing refers to, as 'acai gc' does; the "
        "first is some minutes after its start. 0: never.",
    ).tag(config=True)

    def initialize_settings(self) -> None:
        """Make the host; nothing is opened yet."""
        form = "text"
        try:
            form = self.read_settings().log_format
        except AcaiError as error:
            if self.alone:  # before an address is announced that would not answer
                sys.exit(without_secrets(error.message))
        self._log_as(form)
        self.host = Host(self.read_settings, compose)
        self.settings["acai_host"] = self.host
        # Jupyter logs the address of other extensions' failed requests; it hides the parameters of its own list.
        self.settings["extra_log_scrub_param_keys"] = [*self.settings["extra_log_scrub_param_keys"], "signature"]

    def _log_as(self, form: str) -> None:
        """Keep secrets out of the log, and log requests to ACAI without the query of their address."""
        if self.serverapp is None:
            return
        from acai_server.api.request_log import logged

        loggers = [self.serverapp.log, self.log]
        if form == "json":
            write_json(loggers)
        else:
            write_text(loggers, with_jupyter=self.alone)
        counts = self.serverapp.record_http_request_metrics
        self.settings["log_function"] = logged(self.settings["log_function"], counts=counts, as_json=form == "json")

    def initialize_handlers(self) -> None:
        """Add our routes to the Jupyter server's."""
        from acai_server.api.routes import routes

        self.handlers.extend(routes())

    async def _start_jupyter_server_extension(self, serverapp: Any) -> None:
        await self.host.start(_address(serverapp))
        if self.alone and self.host.upstream is None:
            try:
                await self.host.connect()
            except StoreUnavailable as error:  # the next request, or the next look at its readiness, tries again
                self.log.warning(error.message)
            except AcaiError as error:
                AcaiApp.failure = error.message
                serverapp.stop()

    async def stop_extension(self) -> None:
        """End the loops, close the database, let go of the data folder."""
        await self.host.stop()

    def _load_config(self, cfg: Config, *args: Any, **kwargs: Any) -> None:
        """Leave our settings to `read_settings`: a wrong one is to be said, not to keep the extension from loading."""
        others = Config(deepcopy(cfg))
        for name in NAMES:
            others.get("AcaiApp", {}).pop(name, None)
        super()._load_config(others, *args, **kwargs)

    def read_jupyters(self, file: Path | None) -> None:
        """Read Jupyter's configuration as a Jupyter server does: what has no server to do that needs it too."""
        if file is not None and not (file.is_file() and file.suffix in (".py", ".json")):
            raise BadSetting(name="--config", source="the command line", reason=f"there is no {file}, of .py or .json")
        self.raise_config_file_errors = True
        try:
            for name in JUPYTERS:
                Application.load_config_file(self, name, path=self.config_file_paths)
            if file is not None:
                Application.load_config_file(self, file.name, path=str(file.absolute().parent))
        except Exception as error:  # each is a program, which may fail in any way
            reason = f"one of its files cannot be read ({error})"
            raise BadSetting(name="file", source="Jupyter's configuration", reason=reason) from error

    def read_settings(self) -> Settings:
        """Merge all sources; what is not understood is named with its place."""
        jupyters = frozenset(self.trait_names(config=True))
        root = getattr(self.serverapp, "root_dir", ".")
        file = self._folder_reader().read(Path(root))
        line = from_mapping("the command line", getattr(self.serverapp, "cli_config", {}).get("AcaiApp", {}), jupyters)
        levels = [
            [line, from_environment(NAMES)],
            [file.source],
            [from_mapping("Jupyter's configuration", self.config.get("AcaiApp", {}), jupyters)],
            [from_file(user_config(), NAMES)],
            [from_file(site_config(), NAMES)],
        ]
        sources = [source for level in levels for source in level]
        values = {name: self._value(name, sources) for name in sorted(NAMES)}
        values["data_folder"] = Path(values["data_folder"] or home()).expanduser().absolute()
        values["user"] = values["user"] or getpass.getuser()
        values["token"] = token_for(values["url"], levels, file.source)
        first = next((source for source in sources if "url" in source.values), None)
        values["url_is_from_folder"] = first is file.source
        for notice in file.notices:
            if notice not in self._notices:
                _log.warning("%s", notice)
        self._notices = file.notices
        return checked(Settings(**values, notices=file.notices))

    def _folder_reader(self) -> FolderReader:
        traits = self.traits(config=True)
        return FolderReader(
            NAMES,
            preferences=frozenset(name for name, trait in traits.items() if trait.metadata.get("in_working_folder")),
            paths=frozenset(name for name, trait in traits.items() if trait.metadata.get("is_path")),
            check=lambda name, source: self._value(name, [source]),
        )

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
    from acai_server.credentials.sign_ins import SignIns
    from acai_server.engine.service import Engine
    from acai_server.events.pruner import EventPruner
    from acai_server.events.service import Events
    from acai_server.lake import inside
    from acai_server.lake.checker import BlobChecker
    from acai_server.lake.collector import UploadCollector
    from acai_server.lake.garbage import GarbageCollector
    from acai_server.lake.integrity.damage import Damages
    from acai_server.lake.service import Lake
    from acai_server.metadata.service import Attributes
    from acai_server.objects.signing import UrlSigner
    from acai_server.provenance import exploring, service
    from acai_server.provisioner.budgets import BudgetKeeper, Budgets
    from acai_server.provisioner.costs import Accounts
    from acai_server.provisioner.memory import MeasuredMemory
    from acai_server.provisioner.profiler import Profiler
    from acai_server.provisioner.service import Provisioner
    from acai_server.services import Services

    clock = Clock()
    bus = _event_bus(settings)
    signer = UrlSigner(
        token.encode(), lambda: settings.public_url.rstrip("/") or address(), lambda: clock.now().timestamp()
    )
    objects, at_jobs = object_store_of(settings, signer), settings.endpoint_url_for_jobs
    with ExitStack() as opened:  # what fails on the way leaves nothing open: it will be tried again
        database = _database(settings, clock, bus, opened)
        watch = watch_of(clock, database, settings.data_folder / "clock.json")
        lease = _lease(settings, database, objects)
        credentials = Credentials(database, token, project=settings.project, user=settings.user)
        runner = _runner(settings, credentials, clock)
        opened.callback(runner.close)
        prices = _prices(settings, database, runner)
        provisioner = Provisioner(database, prices, settings.limits(), runner.machines)
        accounts = Accounts(database, prices)
        budgets = Budgets(database, accounts)
        alone = database.name == "sqlite"  # else an attempt that the runner does not know may be just being started
        damages = Damages(database, objects)
        engine = Engine(
            database,
            objects,
            inside,
            prices,
            runner,
            quota=settings.quota,
            limits=settings.limits(),
            forecast=provisioner,
            memory=MeasuredMemory(settings.limits()),
            purse=budgets,
            place="" if alone else _place(settings, runner),
            patience_seconds=0.0 if alone else OTHERS_PATIENCE_SECONDS,
            signing=object_store_of(settings, signer, at_jobs) if at_jobs else None,
            on_unread=damages.look_into,
        )
        profiler = Profiler(database, engine, prices, settings.limits(), provisioner, credentials.sight_later)
        keeper = BudgetKeeper(database, budgets, accounts, engine)
        for heard in (credentials.look_again, profiler.wake, *(() if alone else (engine.wake,))):
            opened.callback(bus.listen(heard))
        spare = settings.spare_room()
        lake = Lake(
            database,
            objects,
            _direct_path(settings, credentials),
            making_room=spare.lent,
            grace=timedelta(days=settings.grace_days),
            uploads_per_user=settings.uploads_per_user,
            damages=damages,
            guard=lease,
        )
        _start_loops(opened, lease)  # stopped after what may delete
        opened.callback(lake.collections.stop)
        _start_loops(
            opened,
            bus,
            engine,
            profiler,
            keeper,
            EventPruner(database),
            UploadCollector(database, objects, lake.tidying, kept=timedelta(days=settings.upload_days), guard=lease),
            BlobChecker(database, objects, delay=timedelta(seconds=settings.check_delay_seconds)),
            _scrubber(settings, database, objects),
            GarbageCollector(database, lake.collections, interval_seconds=settings.collect_days * 86_400),
            credentials.uses,
            watch,
        )
        close = opened.pop_all().close
    return Services(
        credentials=credentials,
        sign_ins=SignIns(database, identities_of(settings), settings.sign_in_days),
        ways=ways_of(settings),
        lake=lake,
        metadata=Attributes(database, lake.files),
        provenance=service.Provenance(database, lake.files, lake.composing),
        drawings=exploring.Drawings(database),
        engine=engine,
        prices=prices,
        accounts=accounts,
        budgets=budgets,
        provisioner=provisioner,
        profiler=profiler,
        events=Events(
            database,
            bus,
            slow_reader_seconds=settings.slow_reader_seconds,
            heartbeat_seconds=settings.heartbeat_seconds,
        ),
        checkups=checkups_of(
            settings,
            database,
            objects,
            runner,
            lambda: [*settings.notices, *watch.notices(), *lease.notices],
            address,
            alone=AcaiApp.alone,
        ),
        objects=objects,
        signer=signer,
        backends=Backends(database.name, objects.name, runner.name, bus.name),
        limits=settings.limits(),
        data_folder=str(settings.data_folder),
        started_at=clock.now(),
        notices=lambda: [*watch.notices(), *lease.notices],
        operator_notices=list(settings.notices),
        spare=spare,
        close=close,
    )


def _database(settings: Settings, clock: Clock, bus: EventBus, opened: ExitStack) -> Database:
    from acai_server.db import schema
    from acai_server.db.database import Database
    from acai_server.in_step import InStep

    url = settings.database or f"sqlite:///{settings.data_folder / 'acai.db'}"
    if not settings.database:
        (settings.data_folder / "acai.db").touch(mode=0o600)  # what SQLite puts beside it gets the same mode
    database = Database(url, clock, bus.wake)
    opened.callback(database.close)
    if database.name == "sqlite":
        schema.migrate(database)
    else:
        schema.check(database)
        in_step = InStep(database, clock)
        opened.callback(in_step.stop)
        in_step.step()
        in_step.start()
    return database


def _scrubber(settings: Settings, database: Database, objects: ObjectStore) -> Scrubber:
    from acai_server.lake.integrity.scrubber import Scrubber

    period = timedelta(days=settings.scrub_days) if settings.scrub_days else None
    reads_content = objects.name != "s3" or settings.scrub_reads_s3
    return Scrubber(database, objects, period=period, reads_content=reads_content)


def _prices(settings: Settings, database: Database, runner: Runner) -> Prices:
    from acai_server.provisioner.prices import Prices, check_holes, read_book

    book = read_book(settings.price_book)
    check_holes(settings.price_book, book, settings.limits())
    return Prices(database, book, runner.name, settings.region)


def object_store_of(settings: Settings, signer: UrlSigner, endpoint: str = "") -> ObjectStore:
    """Choose where bytes rest; jobs may reach it at another address."""
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
                settings.s3_bucket,
                endpoint_url=endpoint or settings.s3_endpoint_url or None,
                prefix=settings.s3_prefix,
                url_seconds=AWAY_SECONDS if settings.runner == "kubernetes" else URL_SECONDS,
            )
        except ValueError as error:
            name = "endpoint_url_for_jobs" if endpoint else "s3_endpoint_url"
            raise BadSetting(name=name, source="the settings", reason=str(error)) from error
    raise _unknown("object_store", settings.object_store, "filesystem, s3 or memory")


def _direct_path(settings: Settings, credentials: Credentials) -> DirectPath | None:
    """Let clients on this disk move bytes by themselves; they have the rights of the server's one user."""
    if settings.object_store != "filesystem":
        return None
    from acai_server.lake.direct import DirectPath
    from acai_server.records import write_private

    folder = settings.data_folder
    return DirectPath(folder / "objects", folder / "proof", write_private, allowed=credentials.has_one_user)


def _runner(settings: Settings, credentials: Credentials, clock: Clock) -> Runner:
    if settings.runner == "process":
        from acai_server.runners.gangs import Gangs
        from acai_server.runners.process import ProcessRunner

        folder, agent = settings.data_folder / "attempts", PACKAGE / "agent.pyz"
        this_machine = settings.of_this_machine()
        may_run = credentials.has_one_user
        return Gangs(ProcessRunner(folder, agent, this_machine, may_run=may_run, clock=lambda: clock.now().timestamp()))
    if settings.runner == "memory":
        from acai_server.runners.gangs import Gangs
        from acai_server.runners.memory import MemoryRunner

        return Gangs(MemoryRunner(PACKAGE / "agent.pyz", settings.of_this_machine(), may_run=credentials.has_one_user))
    if settings.runner == "kubernetes":
        return runner_of_cluster(settings, PACKAGE / "agent.pyz")
    raise _unknown("runner", settings.runner, "process, memory or kubernetes")


def _place(settings: Settings, runner: Runner) -> str:
    """Name what servers of one database must share to see the same attempts: a data folder, for processes."""
    if runner.name == "kubernetes":
        return f"{runner.name}@{instance(settings)}"
    folder = hashlib.sha256(f"{platform.node()}:{settings.data_folder}".encode()).hexdigest()[:12]
    return f"{runner.name}@{folder}"


def _start_loops(opened: ExitStack, *loops: BackgroundLoop) -> None:
    for loop in loops:
        opened.callback(loop.stop)
        loop.start()


def _lease(settings: Settings, database: Database, objects: ObjectStore) -> Lease:
    """Refuse a store that belongs to another database; return what says whether its objects may be deleted.

    The holder of the lease is named by its data folder; a copy of the folder has another inode, and another name.
    """
    from acai_server.store_owner.lease import Lease
    from acai_server.store_owner.mark import claim

    claim(database, objects)
    folder = settings.data_folder
    holder = hashlib.sha256(f"{platform.node()}:{folder}:{folder.stat().st_ino}".encode()).hexdigest()[:16]
    lease = Lease(database, objects, holder)
    lease.step()  # before any loop asks whether it may delete
    return lease


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


def _address(serverapp: Any) -> str:
    """Return where this machine's programs reach the server: a number, as a name may lead to another protocol first."""
    everywhere = serverapp.ip in ("", "*", "localhost", "0.0.0.0", "::")  # noqa: S104 (compared, not bound)
    ip = "127.0.0.1" if everywhere else serverapp.ip
    scheme = "https" if serverapp.certfile else "http"
    return f"{scheme}://{f'[{ip}]' if ':' in ip else ip}:{serverapp.port}{serverapp.base_url.rstrip('/')}"


def become_standalone() -> None:
    """Make this process one that serves ACAI alone: Jupyter finds the application by its class, so it is set there."""
    from acai_server.standalone import StandaloneServer

    AcaiApp.alone = True
    AcaiApp.load_other_extensions = False
    AcaiApp.serverapp_class = StandaloneServer
    AcaiApp.extension_url = f"{BASE}/v1/health"
    AcaiApp.serverapp_config = {"open_browser": False, "port_retries": 0}


def main() -> None:
    """Run `jupyter acai`."""
    become_standalone()
    AcaiApp.launch_instance(sys.argv[1:])  # type: ignore[no-untyped-call]
    if AcaiApp.failure:
        sys.exit(without_secrets(AcaiApp.failure))
