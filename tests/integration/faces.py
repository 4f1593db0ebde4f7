"""The two places where verbs are typed, so that one test can hold both to the same."""

from __future__ import annotations

import atexit
import json
import shlex
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any, Protocol

from IPython.core.interactiveshell import InteractiveShell

if TYPE_CHECKING:
    from collections.abc import Iterator

    import pytest

    from tests.integration.places import Place

FAILED = 2
"""From this exit status on nothing was shown but an error."""


class Face(Protocol):
    """Somewhere to type."""

    def said(self, line: str, status: int = 0) -> str:
        """Return what a line showed, or in one line the error that its exit status tells of."""

    def data(self, line: str, status: int = 0) -> Any:
        """Return what a line answers with `--json`."""


def _as_data(line: str) -> str:
    """The option stands before what is not ours."""
    ours, dashes, rest = line.partition(" -- ")
    return f"{ours} --json{dashes}{rest}"


class Shell:
    """A shell."""

    def __init__(self, place: Place) -> None:
        self._place = place

    def said(self, line: str, status: int = 0) -> str:
        done = self._place.acai(*shlex.split(line))
        assert done.returncode == status, (line, done.stdout, done.stderr)
        if status < FAILED:
            assert done.stderr == ""
            return done.stdout
        assert done.stdout == ""
        assert len(done.stderr.strip().splitlines()) == 1, done.stderr
        return done.stderr

    def data(self, line: str, status: int = 0) -> Any:
        return json.loads(self.said(_as_data(line), status))


class Notebook:
    """An IPython with the extension loaded."""

    def __init__(self, shell: InteractiveShell, capsys: pytest.CaptureFixture[str]) -> None:
        self.shell = shell
        self._capsys = capsys

    def run(self, text: str) -> tuple[Any, str]:
        """Run a cell, and return its outcome and what it showed."""
        self._capsys.readouterr()
        outcome = self.shell.run_cell(text)
        captured = self._capsys.readouterr()
        return outcome, captured.out + captured.err

    def said(self, line: str, status: int = 0) -> str:
        outcome, shown = self.run(f"%acai {line}")
        assert outcome.success == (status < FAILED), (line, shown)
        if not outcome.success:
            assert shown.startswith("UsageError: ")
            assert len(shown.strip().splitlines()) == 1, shown
        return shown

    def data(self, line: str, status: int = 0) -> Any:
        del status
        outcome, shown = self.run(f"%acai {_as_data(line)}")
        assert outcome.success, shown
        return outcome.result


@contextmanager
def ipython(place: Place, monkeypatch: pytest.MonkeyPatch) -> Iterator[InteractiveShell]:
    """Start an IPython of a place's user, in the user's working folder."""
    for name, value in place.environment.items():
        monkeypatch.setenv(name, value)
    monkeypatch.chdir(place.work)
    shell = InteractiveShell(colors="nocolor")
    assert shell.history_manager is not None
    shell.history_manager.enabled = False
    shell.run_cell("%load_ext acai_jupyter").raise_error()
    yield shell
    atexit.unregister(shell.atexit_operations)
    shell.history_manager.end_session()
    shell.history_manager.db.close()
