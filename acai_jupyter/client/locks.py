"""Locks: a file of requirements becomes packages in exact versions, which uv chooses for one Python.

Nothing is installed.
"""

from __future__ import annotations

import re
import shutil
import subprocess
import sys
from pathlib import Path

from acai_jupyter.contract.environments import Lock
from acai_jupyter.contract.errors import BadRequest
from acai_jupyter.contract.foreign import one_line

MAX_CHARACTERS = 1_000_000
PLATFORM = "x86_64-manylinux_2_28"
"""What containers are, as far as it matters for wheels."""
_MOST_SAID = 600
_OPTIONS = ("--quiet", "--no-header", "--no-annotate", "--generate-hashes", "--emit-find-links", "--emit-index-url")
_FIND_LINKS = re.compile(r"^--find-links (?!\w+://)(?P<place>.+)$", re.MULTILINE)
_NO_INDEX = re.compile(r"^\s*--no-index\s*(?:#.*)?$", re.MULTILINE)
_LOCAL = re.compile(r"^(?P<what>-e .+|(?:file:|\.{0,2}/)\S+|[\w.-]+ @ file:\S+)", re.MULTILINE)
_PASSWORD = re.compile(r"\w+://[^/\s@]+@(?P<host>[^/\s]+)")


def lock(file: Path, interpreter: str = sys.executable, python: str = "", platform: str = "") -> Lock:
    """Return what a file of requirements means now, for an interpreter of this machine or for a version of Python.

    For another platform, where packages are not built: then all of them have to come as wheels.

    Whatever uv has to say against it is said; so is what could not be had where a job runs, or must not be kept.
    """
    wishes = file.read_text(encoding="utf-8-sig")
    _check_secrets(file, wishes)
    chosen = ["--python", interpreter, *(["--python-version", python] if python else [])]
    chosen += ["--python-platform", platform, "--only-binary", ":all:"] if platform else []
    done = subprocess.run(  # noqa: S603 (uv, with a file that the user names)
        [uv_beside(interpreter), "pip", "compile", *_OPTIONS, *chosen, f"./{file.name}"],
        cwd=file.parent,
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        check=False,
    )
    if done.returncode != 0:
        raise BadRequest(f"{one_line(file.name)} cannot be locked: {said(done.stderr)}")
    text = _FIND_LINKS.sub(lambda found: f"--find-links {(file.parent / found['place']).resolve()}", done.stdout)
    if _NO_INDEX.search(wishes):  # uv does not repeat it
        text = f"--no-index\n{text}"
    _check(file, text)
    version = python or "{}.{}.{}".format(*sys.version_info[:3])
    return Lock(text, version, "" if python else interpreter)


def uv_beside(interpreter: str) -> str:
    """Return the uv that belongs to a Python, else any."""
    beside = Path(interpreter).with_name("uv")
    found = str(beside) if beside.is_file() else shutil.which("uv")
    if found is None:
        raise BadRequest(f"--env needs uv, and there is none beside {interpreter}; install it there: pip install uv")
    return found


def _check(file: Path, text: str) -> None:
    name = one_line(file.name)
    if local := _LOCAL.search(text):
        what = one_line(local["what"])
        raise BadRequest(
            f"{name} names {what}, which is not the same tomorrow: send it with --code, or build a wheel of it and "
            "name its folder with --find-links."
        )
    _check_secrets(file, text)
    if len(text) > MAX_CHARACTERS:
        raise BadRequest(f"{name} means {len(text):,} characters of lock; {MAX_CHARACTERS:,} is the most.")


def _check_secrets(file: Path, text: str) -> None:
    if secret := _PASSWORD.search(text):
        raise BadRequest(
            f"{one_line(file.name)} has a password for {one_line(secret['host'])} in it, which would be kept with the "
            "job; put it into ~/.netrc or uv.toml."
        )


def said(errors: str) -> str:
    """What uv says, in one line."""
    words = " ".join(errors.split()).removeprefix("error: ").strip()
    return f"{one_line(words[:_MOST_SAID]).rstrip('.')}." if words else "uv says nothing about it."
