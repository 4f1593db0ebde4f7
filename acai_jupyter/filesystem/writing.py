"""Writing: temporary files that become new versions, each alone or many in one upload session."""

from __future__ import annotations

import io
import os
import sys
import tempfile
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING, Any, Protocol

from fsspec.transaction import Transaction

from acai_jupyter.client.sessions import Plan
from acai_jupyter.client.uploads import found_file, put
from acai_jupyter.filesystem import links
from acai_jupyter.filesystem.addresses import address

if TYPE_CHECKING:
    from collections.abc import Iterable

    from fsspec import AbstractFileSystem


class NewVersion(Protocol):
    """What is to become a version of a file: its path, and the file on this disk that has the bytes."""

    path: str
    source: str
    is_wanted: bool

    def discard(self) -> None:
        """Throw away what was written for it. Again: nothing happens."""


class LocalFile:
    """A file of the user's own."""

    is_wanted = True

    def __init__(self, path: str, source: str) -> None:
        self.path = path
        self.source = source

    def discard(self) -> None:
        """It stays where it is."""


class Draft(io.BufferedWriter):
    """A temporary file that is written; when it is closed it becomes a version, or waits for its transaction.

    Closed by an exception that came up while it was open it becomes nothing: libraries close their files on the way
    out whatever happened, and half a file is no version.
    """

    def __init__(self, path: str, *, autocommit: bool) -> None:
        descriptor, self.source = tempfile.mkstemp(prefix="acai-")
        super().__init__(io.FileIO(descriptor, "w"))
        self.path = path
        self.is_wanted = True
        self._autocommit = autocommit
        self._process = os.getpid()
        self._handled = sys.exception()

    def close(self) -> None:
        """Finish it."""
        if self.closed:
            return
        try:
            super().close()
        except BaseException:
            self.discard()
            raise
        error = sys.exception()
        if error is not None and error is not self._handled:
            error.add_note(f"{self.path} was being written and was not committed.")
            self.discard()
        elif self._autocommit and self._process == os.getpid():
            self.commit()

    def __exit__(self, kind: type[BaseException] | None, *rest: object) -> None:
        """Close it, or discard it if something went wrong."""
        del rest
        if kind is not None:
            self.discard()
        self.close()

    def commit(self) -> None:
        """Make it a version now."""
        try:
            if self.is_wanted:
                commit([self])
        finally:
            self.discard()

    def discard(self) -> None:
        """Throw it away."""
        self.is_wanted = self._autocommit = False
        if self._process == os.getpid():  # a forked child has it too, and it is not the child's
            with suppress(OSError):
                Path(self.source).unlink()

    def __del__(self) -> None:
        """Close it, as Python does: compressing writers that fsspec puts around it leave that to this."""
        self.close()


class Batch(Transaction):  # type: ignore[misc]
    """Several new versions in one upload session."""

    def __init__(self, fs: AbstractFileSystem) -> None:
        super().__init__(fs)
        self.fs: Any
        self.reads_at_once = False
        """Whether local files can be read where they are, as the transaction ends with the call."""

    def start(self) -> None:
        """Begin."""
        if self.fs._intrans:  # noqa: SLF001 (so fsspec's transactions tell that they are open)
            raise RuntimeError("this file system has a transaction open already")
        super().start()

    def complete(self, commit: bool = True) -> None:  # noqa: FBT002 (fsspec's)
        """Commit all of them or none."""
        files = list(self.files)
        try:
            if commit:
                _commit_closed(files)
        finally:
            self.files.clear()
            for file in files:
                file.discard()
            self.fs._intrans = False  # noqa: SLF001
            self.fs._transaction = None  # noqa: SLF001
            self.fs = None


def _commit_closed(files: list[NewVersion]) -> None:
    for file in files:
        if isinstance(file, Draft):
            file.close()
    commit(file for file in files if file.is_wanted)


def commit(files: Iterable[NewVersion]) -> None:
    """Make them versions, in one upload session for each project; of a path that is there twice the last one."""
    projects: dict[str | None, dict[str, NewVersion]] = {}
    for file in files:
        _, project, spec = address(file.path)
        projects.setdefault(project, {})[spec.path] = file
    for project, by_path in projects.items():
        found = [found_file(file.source, path) for path, file in sorted(by_path.items())]
        more = f" and {len(found) - 1} more" if len(found) > 1 else ""
        plan = Plan(label=f"acai://{found[0].path}{more}")
        with links.told_to_python():
            put(links.client(project), found, plan)
