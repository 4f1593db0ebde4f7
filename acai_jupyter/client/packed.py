"""Environments for other machines: the packages of a lock in an archive, made here and kept for the next time.

Nothing of a package is run, so all have to come as wheels.
"""

from __future__ import annotations

import gzip
import os
import subprocess
import tarfile
from contextlib import ExitStack
from pathlib import Path
from typing import TYPE_CHECKING

from acai_jupyter import trees
from acai_jupyter.client.known import cache_folder
from acai_jupyter.client.locks import PLATFORM, said, uv_beside
from acai_jupyter.contract.errors import BadRequest

if TYPE_CHECKING:
    from acai_jupyter.contract.environments import Lock

_LEVEL = 1
"""It is compressed once, but sent and unpacked often; more takes long and gains little."""


def archive(lock: Lock, interpreter: str) -> Path:
    """Return the archive of a lock's packages; what cannot be had is said in uv's words."""
    path = cache_folder() / "environments" / f"{lock.key}.tar.gz"
    if not path.exists():
        path.parent.mkdir(parents=True, exist_ok=True)
        with trees.temporary_folder("acai-environment-", str(path.parent)) as folder:
            _install(lock, interpreter, Path(folder))
            part = Path(folder) / "part"
            _pack(Path(folder) / "packages", part)
            part.replace(path)
    return path


def _install(lock: Lock, interpreter: str, folder: Path) -> None:
    requirements = folder / "requirements.txt"
    requirements.write_text(lock.requirements)
    target = ("--target", str(folder / "packages"), "--python-version", lock.python, "--python-platform", PLATFORM)
    # Links of files are no content for an archive; the user's configuration of uv may ask for them.
    words = ("pip", "install", "--quiet", "--link-mode", "hardlink", "--only-binary", ":all:", "--python", interpreter)
    done = subprocess.run(  # noqa: S603 (uv, with a lock that it made)
        [uv_beside(interpreter), *words, *target, "--requirement", str(requirements)],
        cwd=folder,
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        check=False,
    )
    if done.returncode != 0:
        raise BadRequest(f"The environment cannot be made: {said(done.stderr)}")


def _pack(folder: Path, target: Path) -> None:
    """Write an archive that is the same for the same files, whoever makes it and when."""
    folder.mkdir(exist_ok=True)
    files = [path for name in trees.regular_files(str(folder)) if (path := folder / name).name != ".lock"]
    with ExitStack() as opened:
        raw = opened.enter_context(target.open("wb"))
        packed = opened.enter_context(gzip.GzipFile("", "wb", _LEVEL, raw, 0))
        tar = opened.enter_context(tarfile.open(fileobj=packed, mode="w", format=tarfile.GNU_FORMAT))
        for path in files:
            member = tarfile.TarInfo(path.relative_to(folder).as_posix())
            member.size = path.stat().st_size
            member.mode = 0o755 if os.access(path, os.X_OK) else 0o644  # root may execute nothing that has no such mode
            with path.open("rb") as body:
                tar.addfile(member, body)
