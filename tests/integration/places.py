"""A user's home with real Jupyter servers in it: where the integration tests happen."""

from __future__ import annotations

import json
import os
import shutil
import signal
import sqlite3
import subprocess
import sys
import threading
import time
from contextlib import closing, contextmanager, suppress
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar
from urllib.parse import urlsplit

import urllib3
import websocket

from acai_jupyter.client.connection import Connection
from acai_jupyter.client.http import Client
from acai_jupyter.contract.endpoints import BASE
from tests.servers import forking

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from tests.servers.forking import Started

T = TypeVar("T")
BIN = Path(sys.executable).parent
TOKEN = "the-token-of-jupyter"
PATIENCE_SECONDS = 90.0
WITH_US = ("setpriv", "--pdeathsig", "TERM") if shutil.which("setpriv") else ()
"""Where Linux can do that, a server ends when the tests are ended from outside; its process id stays the same."""
QUIET = ("jupyterlab", "jupyter_lsp", "jupyter_server_terminals", "notebook_shim", "nbclassic")
"""Extensions that a server without JupyterLab starts faster without."""


def until(look: Callable[[], T | None], what: str) -> T:
    """Return what `look` finds as soon as it finds something: for what tells nobody that it happened."""
    deadline = time.monotonic() + PATIENCE_SECONDS
    pause = threading.Event()
    while not (found := look()):
        assert time.monotonic() < deadline, f"{what}: not within {PATIENCE_SECONDS:g} s"
        pause.wait(0.02)
    return found


@dataclass(frozen=True)
class Answer:
    """What came back over HTTP."""

    status: int
    headers: dict[str, str]
    body: bytes

    @property
    def json(self) -> Any:
        assert self.headers["content-type"].startswith("application/json"), self
        return json.loads(self.body)

    @property
    def error(self) -> dict[str, Any]:
        """The error, if it has the one shape and nothing else."""
        body = self.json
        assert list(body) == ["error"]
        assert set(body["error"]) == {"code", "message", "details"}
        assert self.headers["content-type"].startswith("application/json")
        assert body["error"]["details"]["request_id"] == self.headers["x-request-id"]
        found: dict[str, Any] = body["error"]
        return found

    @property
    def code(self) -> str:
        return str(self.error["code"])


def fetch(method: str, url: str, body: bytes | None = None, headers: dict[str, str] | None = None) -> Answer:
    """Send one request on a connection of its own."""
    with urllib3.PoolManager(timeout=120, retries=False) as http:
        answer = http.request(method, url, body=body, headers=headers or {}, redirect=False)
        found: dict[str, str] = {}
        for name, value in answer.headers.items():
            found[name.lower()] = f"{found[name.lower()]}, {value}" if name.lower() in found else value
        return Answer(answer.status, found, answer.data)


class Place:
    """One user's home. Whatever runs in it sees nothing of the machine's real user."""

    def __init__(self, home: Path) -> None:
        self.home = home
        self.data = home / "share" / "acai"
        self.servers: list[Server] = []
        kept = {k: v for k, v in os.environ.items() if not k.startswith(("ACAI_", "JUPYTER_", "JPY_", "XDG_"))}
        folders = {
            "HOME": "",
            "XDG_DATA_HOME": "share",
            "XDG_CONFIG_HOME": "config",
            "XDG_CACHE_HOME": "cache",
            "JUPYTER_CONFIG_DIR": "jupyter",
            "JUPYTER_DATA_DIR": "jupyter-data",
            "JUPYTER_RUNTIME_DIR": "runtime",
            "IPYTHONDIR": "ipython",
        }
        self.environment = kept | {name: str(home / folder) for name, folder in folders.items()}
        self.environment |= {"PATH": f"{BIN}{os.pathsep}{os.environ['PATH']}", "PYTHONWARNINGS": "default"}
        self.work = home / "work"
        self.work.mkdir(parents=True)

    def start(self, *options: str, program: str = "server", base_url: str = "/", **variables: str) -> Server:
        """Start `jupyter server`, `jupyter lab` or `jupyter acai`, and wait until it answers."""
        server = self.spawn(*options, program=program, base_url=base_url, **variables)
        server.wait_until_it_answers()
        return server

    def spawn(self, *options: str, program: str = "server", base_url: str = "/", **variables: str) -> Server:
        if program == "server":
            options = (*options, f"--ServerApp.jpserver_extensions={dict.fromkeys(QUIET, False)!r}")
        command = [
            str(BIN / f"jupyter-{program}"),
            "--ServerApp.ip=127.0.0.1",
            "--ServerApp.allow_root=True",
            "--ServerApp.open_browser=False",
            f"--ServerApp.base_url={base_url}",
            f"--ServerApp.root_dir={self.work}",
            f"--IdentityProvider.token={TOKEN}",
            *(options if any(".port=" in option for option in options) else (*options, "--ServerApp.port=0")),
        ]
        log = self.home / f"server-{len(self.servers)}.log"
        log.touch()
        process = forking.start(command, environment=self.environment | variables, folder=self.work, log=log)
        server = Server(self, process, log, is_alone=program == "acai")
        self.servers.append(server)
        return server

    def acai(self, *words: str, **variables: str) -> subprocess.CompletedProcess[str]:
        """Run the command line to its end."""
        with self.shell(*words, **variables) as process:
            out, err = process.communicate(timeout=200)
        return subprocess.CompletedProcess(words, process.returncode, out, err)

    @contextmanager
    def shell(self, *words: str, **variables: str) -> Iterator[subprocess.Popen[str]]:
        """Start the command line."""
        with subprocess.Popen(
            [str(BIN / "acai"), *words],
            env=self.environment | variables,
            cwd=self.work,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
        ) as process:
            try:
                yield process
            finally:
                if process.poll() is None:
                    process.kill()

    def write(self, name: str, content: str | bytes) -> Path:
        """Write a file into the working folder."""
        path = self.work / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(content.encode() if isinstance(content, str) else content)
        return path

    def sql(self, statement: str, *rows: tuple[Any, ...]) -> list[tuple[Any, ...]]:
        """Speak to the SQLite database beside the server, once, or once for each row."""
        with closing(sqlite3.connect(self.data / "acai.db", timeout=120)) as connection, connection:
            if rows:
                connection.executemany(statement, rows)
                return []
            return connection.execute(statement).fetchall()

    def close(self) -> None:
        """End what still runs here, agents included."""
        for server in self.servers:
            server.end()
        for file in self.data.glob("attempts/*/process"):
            with suppress(OSError, ValueError):
                os.kill(json.loads(file.read_text())["pid"], signal.SIGQUIT)  # the keeper ends all that it has


class Server:
    """One running server process."""

    def __init__(self, place: Place, process: Started, log: Path, *, is_alone: bool = False) -> None:
        self.place = place
        self.is_alone = is_alone
        """Whether it is `jupyter acai`, which knows no token of Jupyter's."""
        self.process = process
        self._log = log

    @property
    def log(self) -> str:
        return self._log.read_text(errors="replace")

    @cached_property
    def root(self) -> str:
        """Jupyter's own address, with the base URL and without a slash at its end."""
        file = self.place.home / "runtime" / f"jpserver-{self.process.pid}.json"
        found = until(lambda: self._said(file), f"the server saying where it is ({self._log})")
        parts = urlsplit(str(found["url"]))
        return f"http://127.0.0.1:{found['port']}{parts.path.rstrip('/')}"

    def _said(self, file: Path) -> dict[str, Any] | None:
        assert self.process.poll() is None, self.log
        with suppress(OSError, ValueError):
            found: dict[str, Any] = json.loads(file.read_text())
            return found
        return None

    def wait_until_it_answers(self) -> None:
        def answers() -> bool:
            assert self.process.poll() is None, self.log
            with suppress(urllib3.exceptions.HTTPError):
                if self.is_alone:
                    answer = self.ask("GET", "/v1/ready", token=None)
                    return answer.status == 200 or answer.code != "not_ready"
                return self.ask("GET", "/v1/nothing").code != "not_ready"
            return False

        until(answers, f"the server answering ({self._log})")

    def ask(
        self,
        method: str,
        path: str,
        body: Any = None,
        *,
        token: str | None = TOKEN,
        headers: dict[str, str] | None = None,
        base: str = BASE,
    ) -> Answer:
        """Send one request, by default with Jupyter's token, or ACAI's where the server knows no other."""
        sent = dict(headers or {})
        token = self._known(token)
        if token is not None:
            sent.setdefault("Authorization", f"token {token}")
        data = body if body is None or isinstance(body, bytes) else json.dumps(body).encode()
        return fetch(method, f"{self.root}{base}{path}", data, sent)

    def get(self, path: str) -> Any:
        """Return what a route answers when all is well."""
        answer = self.ask("GET", path)
        assert answer.status == 200, answer.body
        return answer.json

    def status(self) -> Answer:
        return self.ask("GET", "/v1/status")

    @property
    def token(self) -> str:
        """ACAI's own token."""
        return (self.place.data / "token").read_text()

    def _known(self, token: str | None) -> str | None:
        return self.token if self.is_alone and token == TOKEN else token

    def client(self) -> Client:
        return Client(Connection(self.root, self.token))

    @contextmanager
    def stream(
        self, query: str = "", *, token: str | None = TOKEN, project: str = "default", **options: Any
    ) -> Iterator[websocket.WebSocket]:
        """Open the WebSocket of events."""
        address = f"{self.root.replace('http', 'ws', 1)}{BASE}/v1/projects/{project}/events/stream{query}"
        header = [] if token is None else [f"Authorization: token {self._known(token)}"]
        stream = websocket.create_connection(address, header=header, timeout=120, **options)
        try:
            yield stream
        finally:
            stream.close()
            stream.shutdown()  # `close` leaves the socket open when the other end hung up first

    def end(self) -> None:
        """End it as a user does; an ended one stays ended."""
        self._signal(signal.SIGTERM)

    def kill(self) -> None:
        """End it as a power cut does."""
        self._signal(signal.SIGKILL)

    def _signal(self, number: int) -> None:
        if self.process.poll() is None:
            self.process.send_signal(number)
            try:
                self.process.wait(15)
            except subprocess.TimeoutExpired:
                self.process.kill()
                self.process.wait()
                raise
