"""JupyterLab, or Notebook 7, as a person starts it: from the installed wheel, in a home of their own."""

from __future__ import annotations

import os
import shutil
import signal
import socket
import subprocess
import threading
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from tests.packaging.distributions import Installation

TOKEN = "of-the-browser-tests"
START_SECONDS = 120
END_SECONDS = 20.0
_QUIET = [
    "--no-browser",
    "--ServerApp.ip=127.0.0.1",
    "--ServerApp.port_retries=0",
    # A test asks nobody outside.
    "--LabApp.news_url=None",
    "--LabApp.check_for_updates_class=jupyterlab.NeverCheckForUpdate",
]


def free_port() -> int:
    """Return a port of the loopback that nobody listens on."""
    with socket.socket() as found:
        found.bind(("127.0.0.1", 0))
        port: int = found.getsockname()[1]
        return port


@dataclass
class JupyterLab:
    """A server that can be stopped and started again at the same address."""

    installation: Installation
    home: Path
    notebooks: Path
    program: str = "jupyter-lab"
    options: tuple[str, ...] = ()
    port: int = field(default_factory=free_port)
    token: str = TOKEN
    log: list[str] = field(default_factory=list)
    _process: subprocess.Popen[str] | None = None
    _reader: threading.Thread | None = None

    @property
    def url(self) -> str:
        return self.url_of("lab")

    def url_of(self, page: str) -> str:
        """Return the address of a page, as `notebooks/x.ipynb` of Notebook 7."""
        return f"http://127.0.0.1:{self.port}/{page}?token={self.token}"

    def start(self) -> JupyterLab:
        """Return when the page is served."""
        command = [str(self.installation.programs / self.program), *_QUIET]
        command += [f"--IdentityProvider.token={self.token}"]
        command += [f"--ServerApp.port={self.port}", f"--ServerApp.root_dir={self.notebooks}"]
        command += self.options
        command += ["--allow-root"] if os.geteuid() == 0 else []
        self._process = subprocess.Popen(
            command,
            cwd=self.notebooks,
            env=self.installation.environment(self.home),
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
        )
        said = threading.Event()
        self._reader = threading.Thread(target=self._read, args=(self._process, said))
        self._reader.start()
        assert said.wait(START_SECONDS), self.text
        assert self._process.poll() is None, self.text
        return self

    @contextmanager
    def hanging(self) -> Iterator[None]:
        """Let it answer nothing and close nothing for a while, as one on a machine that swaps."""
        assert self._process is not None
        self._process.send_signal(signal.SIGSTOP)
        try:
            yield
        finally:
            self._process.send_signal(signal.SIGCONT)

    def forget_sessions(self) -> None:
        """Let nobody be signed in any more who was, when it starts again."""
        (self.home / ".local" / "share" / "jupyter" / "runtime" / "jupyter_cookie_secret").unlink()
        self.token = f"{self.token}-renewed"

    def stop(self) -> None:
        """End it, as when its terminal is closed. Safe to call twice."""
        if self._process is None or self._reader is None:
            return
        self._process.terminate()
        try:
            self._process.wait(END_SECONDS)
        except subprocess.TimeoutExpired:  # a request that was cut off leaves a thread of anyio, which Python waits for
            self._process.kill()
            self._process.wait()
        self._reader.join()
        self._process = None

    @property
    def text(self) -> str:
        """All it said."""
        return "".join(self.log)

    def _read(self, process: subprocess.Popen[str], said: threading.Event) -> None:
        assert process.stdout is not None
        with process.stdout as lines:
            for line in lines:
                self.log.append(line)
                if "is running at" in line:
                    said.set()
        said.set()  # it ended, which also is an answer


def quiet_home(home: Path) -> Path:
    """Make a home where JupyterLab has already been told that its news are not wanted, nor new names for notebooks."""
    settings = home / ".jupyter" / "lab" / "user-settings" / "@jupyterlab"
    for extension, name, said in (
        ("apputils", "notification", '{"fetchNews": "false"}'),
        ("docmanager", "plugin", '{"renameUntitledFileOnSave": false}'),
    ):
        folder = settings / f"{extension}-extension"
        folder.mkdir(parents=True)
        (folder / f"{name}.jupyterlab-settings").write_text(said)
    return home


def copy_notebooks(source: Path, to: Path, digits: Path) -> Path:
    """Copy the notebooks that a person starts with, and their data."""
    shutil.copytree(source, to, ignore=shutil.ignore_patterns("digits", ".*"))
    shutil.copytree(digits, to / "digits")
    return to
