"""What Git says of a folder: the commit, the branch, and what was changed since.

The folder may be anybody's, and Git runs programs that a repository's configuration names: hooks, monitors, filters,
external diffs. None of them is run here.
"""

from __future__ import annotations

import os
import re
import select
import signal
import subprocess
import time
from contextlib import suppress
from typing import IO, TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence
    from pathlib import Path

LIMIT_SECONDS = 2.0
"""All of it; a repository that needs longer is not told of."""
MAX_DIFFERENCE_BYTES = 256 * 1024
_TOUCHED = re.compile(rb"^diff --git [^\n]*\n(?=diff --git |\Z)", re.MULTILINE)
"""Files that only have another time: to find that out, Git would write its index."""
_MAX_ANSWER_BYTES = 4 * 1024 * 1024
_BLOCK = 64 * 1024
_OFF = (
    "core.fsmonitor=false",
    "core.hooksPath=/dev/null",
    "core.untrackedCache=false",
    "core.sshCommand=false",
    "core.askPass=false",
    "core.pager=cat",
    "credential.helper=",
    "diff.autoRefreshIndex=false",
    "diff.external=",
    "diff.orderFile=/dev/null",
    "protocol.allow=never",
    "submodule.recurse=false",
)
_OF_DRIVERS = (".clean", ".smudge", ".process")
"""Filters by which Git reads and writes files: each names a program."""
_KEPT = ("GIT_CONFIG", "GIT_EXEC_PATH", "GIT_CEILING_DIRECTORIES")
"""What the user says of Git itself, such as which repositories are safe; everything else could point elsewhere."""
_QUIET = {
    "GIT_ALLOW_PROTOCOL": "",
    "GIT_ASKPASS": "false",
    "GIT_NO_LAZY_FETCH": "1",
    "GIT_OPTIONAL_LOCKS": "0",
    "GIT_TERMINAL_PROMPT": "0",
    "LC_ALL": "C",
}
_DIFF = (
    "diff",
    "--no-ext-diff",
    "--no-textconv",
    "--no-color",
    "--no-renames",
    "--full-index",
    "--ignore-submodules=all",
    "--src-prefix=a/",
    "--dst-prefix=b/",
)


def seen(folder: Path, left_out: Sequence[str] = ()) -> dict[str, Any] | None:
    """Return commit, branch, whether anything below the folder differs from the commit, and how.

    `left_out` are patterns of files whose difference is not told. None when there is no Git, no commit, or no answer.
    """
    git = _Git(folder, time.monotonic() + LIMIT_SECONDS)
    try:
        if not any((place / ".git").exists() for place in (folder, *folder.parents)):
            return None
        git.neutralise()
        commit = git.line("rev-parse", "--verify", "--quiet", "HEAD^{commit}")
        if not commit:
            return None
        branch = git.line("symbolic-ref", "--quiet", "--short", "HEAD", may_fail=True)
        excluded = [f":(exclude,glob)**/{pattern}" for pattern in left_out]
        difference, is_cut = git.answer((*_DIFF, commit, "--", ".", *excluded), MAX_DIFFERENCE_BYTES)
    except (OSError, GitFailed):
        return None
    difference = _TOUCHED.sub(b"", difference)
    found: dict[str, Any] = {"commit": commit, "branch": branch or None, "dirty": bool(difference)}
    if difference:
        found["difference"] = difference.decode("utf-8", "replace").replace("\0", "\ufffd")
    return found | ({"difference_is_cut": True} if is_cut else {})


class GitFailed(Exception):
    """Git gave no answer: it failed, or took too long."""


class _Git:
    """Git in one folder, until a moment."""

    def __init__(self, folder: Path, until: float) -> None:
        self._folder = folder
        self._until = until
        self._settings = list(_OFF)
        kept = {name: value for name, value in os.environ.items() if not name.startswith("GIT_") or _is_kept(name)}
        self._environment = kept | _QUIET

    def neutralise(self) -> None:
        """Give every filter that the configuration knows nothing to run."""
        names, is_cut = self.answer(("config", "--list", "--name-only", "-z"), _MAX_ANSWER_BYTES)
        if is_cut:
            raise GitFailed
        self._settings += sorted(set(_without_programs(names.decode("utf-8", "surrogateescape").split("\0"))))

    def line(self, *words: str, may_fail: bool = False) -> str:
        """Return an answer of one line."""
        try:
            answer, _ = self.answer(words, _BLOCK)
        except GitFailed:
            if may_fail:
                return ""
            raise
        return answer.decode("utf-8", "replace").strip()

    def answer(self, words: Sequence[str], most: int) -> tuple[bytes, bool]:
        """Return what Git prints, up to so many bytes, and whether there was more."""
        settings = [word for setting in self._settings for word in ("-c", setting)]
        process = subprocess.Popen(  # noqa: S603 (words of ours)
            ["git", "--no-pager", *settings, *words],  # noqa: S607 (the user's own)
            cwd=self._folder,
            env=self._environment,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            start_new_session=True,
        )
        with process:
            assert process.stdout is not None
            try:
                found, is_cut = self._read(process.stdout, most)
                if is_cut:
                    return found, True
                status = process.wait(max(self._until - time.monotonic(), 0))
            except subprocess.TimeoutExpired as error:
                raise GitFailed from error
            finally:
                _end(process)
        if status:
            raise GitFailed
        return found, False

    def _read(self, stream: IO[bytes], most: int) -> tuple[bytes, bool]:
        """Read until there is no more, or no time: a pipe is only read when something is in it."""
        found = bytearray()
        while len(found) <= most:
            ready, _, _ = select.select([stream], [], [], max(self._until - time.monotonic(), 0))
            if not ready:
                raise GitFailed
            block = os.read(stream.fileno(), _BLOCK)
            if not block:
                return bytes(found), False
            found += block
        return bytes(found[:most]), True


def _is_kept(name: str) -> bool:
    return name.startswith(_KEPT)


def _end(process: subprocess.Popen[bytes]) -> None:
    """End what has not ended, with all that it started."""
    if process.poll() is None:
        with suppress(ProcessLookupError):
            os.killpg(process.pid, signal.SIGKILL)


def _without_programs(names: Sequence[str]) -> Iterator[str]:
    for name in names:
        if name.startswith("filter.") and name.endswith(_OF_DRIVERS):
            if "=" in name:  # the border between a setting and its value: this one could not be taken away
                raise GitFailed
            yield f"{name}="
            yield f"{name.rpartition('.')[0]}.required=false"
