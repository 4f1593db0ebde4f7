"""Programs that are measured: commands that are started, and workers that are warm already."""

from __future__ import annotations

import json
import os
import subprocess
import time
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

WARM = Path(__file__).with_name("warm.py")
HIDDEN = ("PYTHON", "ACAI_", "JUPYTER_", "JPY_", "XDG_", "GIT_", "DVC_", "MLFLOW_", "AWS_", "VIRTUAL_ENV")


class WorkFailed(Exception):
    """A contender could not do its work; says in one line why."""


def one_line(text: str) -> str:
    """Return what fits into a cell of a table."""
    return " ".join(text.replace("|", "/").split())[:200]


def environment(home: Path) -> dict[str, str]:
    """Return variables under which programs see nothing of the machine's user and tell nobody that they were used."""
    kept = {name: value for name, value in os.environ.items() if not name.startswith(HIDDEN)}
    person = {"NAME": "bench", "EMAIL": "bench@example.org"}
    git = {f"GIT_{role}_{key}": value for role in ("AUTHOR", "COMMITTER") for key, value in person.items()}
    quiet = {"DVC_NO_ANALYTICS": "1", "MLFLOW_DISABLE_TELEMETRY": "true", "DO_NOT_TRACK": "1"}
    return kept | git | quiet | {"HOME": str(home), "GIT_CONFIG_NOSYSTEM": "1", "MLFLOW_ALLOW_FILE_STORE": "true"}


def timed(*commands: Sequence[str | Path], env: Mapping[str, str], cwd: Path) -> float:
    """Run commands one after the other; return the seconds from the first one's start to the last one's end."""
    before = time.perf_counter()
    for command in commands:
        done = subprocess.run(command, env=env, cwd=cwd, stdin=subprocess.DEVNULL, capture_output=True, check=False)
        if done.returncode:
            raise WorkFailed(one_line(f"status {done.returncode}: {(done.stderr or done.stdout).decode()}"))
    return time.perf_counter() - before


class Worker:
    """A Python process that stays: it is told what to do and answers how long that took."""

    def __init__(self, python: Path, env: Mapping[str, str], cwd: Path) -> None:
        self.python = python
        with (cwd / "worker.log").open("ab") as log:
            self._process = subprocess.Popen(
                [python, "-P", WARM],
                env=env,
                cwd=cwd,
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=log,
                text=True,
            )

    def call(self, do: str, **arguments: str | Path) -> float:
        """Do one thing of `warm.py`; return the seconds."""
        assert self._process.stdin is not None
        assert self._process.stdout is not None
        order = {"do": do} | {name: str(value) for name, value in arguments.items()}
        try:
            self._process.stdin.write(json.dumps(order) + "\n")
            self._process.stdin.flush()
        except BrokenPipeError as error:
            raise WorkFailed(f"its process ended with status {self._process.wait()}") from error
        line = self._process.stdout.readline()
        if not line:
            raise WorkFailed(f"its process ended with status {self._process.wait()}")
        answer = json.loads(line)
        if "error" in answer:
            raise WorkFailed(one_line(answer["error"]))
        return float(answer["seconds"])

    def close(self) -> None:
        """End it."""
        self._process.communicate()
