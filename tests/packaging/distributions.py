"""Builds what `make build` builds, from a copy of the files that a clone would have, and installs the wheel.

`.venv` and the bundle that is in use stay as they are. Used by the tests of the wheel and by the browser tests.
"""

from __future__ import annotations

import fcntl
import os
import shutil
import subprocess
import sys
from contextlib import contextmanager
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterator

ROOT = Path(__file__).parents[2]
TOOLS = Path(sys.executable).parent
UV = str(TOOLS / "uv")


@dataclass(frozen=True)
class Distributions:
    """The sdist, the wheel made from it, and the sources they come from."""

    sources: Path
    sdist: Path
    wheel: Path


@dataclass(frozen=True)
class Installation:
    """An environment with the wheel in it, its extras `all` and `lab`, and nothing of the repository."""

    folder: Path

    @property
    def programs(self) -> Path:
        return self.folder / "bin"

    def environment(self, home: Path) -> dict[str, str]:
        """Return the variables of a person whose home is `home`: no Node on the PATH, no settings."""
        return {"HOME": str(home), "PATH": str(self.programs), "LANG": "C.UTF-8", "NO_COLOR": "1"}

    def run(self, *command: str, home: Path) -> str:
        """Run one of its programs in `home` and return what it says."""
        return run(str(self.programs / command[0]), *command[1:], cwd=home, env=self.environment(home))


def run(*command: str, cwd: Path, env: dict[str, str]) -> str:
    """Run a program; when it fails, fail with all it said."""
    done = subprocess.run(
        command, check=False, cwd=cwd, env=env, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True
    )
    assert done.returncode == 0, f"{' '.join(command)}\n{done.stdout}"
    return done.stdout


def environment_for_builds() -> dict[str, str]:
    """Return this process's variables, with our tools first and without the switch that leaves out the bundle."""
    kept = {name: value for name, value in os.environ.items() if name != "HATCH_JUPYTER_BUILDER_SKIP_BUILD"}
    return kept | {"PATH": f"{TOOLS}:{os.environ['PATH']}"}


def build_package(sources: Path, out: Path, *options: str, env: dict[str, str]) -> Path:
    """Build a package with uv, and return the file made last."""
    command = [UV, "build", "--no-build-isolation", "--python", sys.executable, "--out-dir", str(out), *options]
    run(*command, str(sources), cwd=out.parent, env=env)
    return max(out.glob("acai_jupyter-*"), key=lambda path: path.stat().st_mtime_ns)


def shared(base: Path) -> Path:
    """Return where the workers of one test run build together, from the folder that each has for itself."""
    return (base.parent if "PYTEST_XDIST_WORKER" in os.environ else base) / "packages"


@cache
def build(folder: Path) -> Distributions:
    """Copy, bundle, pack."""
    sources, out = folder / "sources", folder / "dist"
    with _once(sources) as is_mine:
        if is_mine:
            _copy_clone(sources)
            env = environment_for_builds()
            run("npm", "run", "--silent", "build:prod", cwd=sources, env=env)
            build_package(sources, out, env=env)
    return Distributions(sources, next(out.glob("*.tar.gz")), next(out.glob("*.whl")))


@cache
def install(folder: Path, *beside: str) -> Installation:
    """Build, and install the wheel into a fresh environment, with the front ends of these extras beside JupyterLab."""
    made = Installation(folder / "-".join(["environment", *beside]))
    wheel = build(folder).wheel
    with _once(made.folder) as is_mine:
        if is_mine:
            env = environment_for_builds()
            run(UV, "venv", "--quiet", "--python", sys.executable, str(made.folder), cwd=folder, env=env)
            pinned = ["--constraint", str(ROOT / "constraints.txt"), f"{wheel}[{','.join(['all', 'lab', *beside])}]"]
            run(UV, "pip", "install", "--python", str(made.programs / "python"), *pinned, cwd=folder, env=env)
    return made


@contextmanager
def _once(made: Path) -> Iterator[bool]:
    """Say whether a folder is still to be made; whoever else wants it waits until it is there."""
    made.parent.mkdir(parents=True, exist_ok=True)
    done = made.with_name(f"{made.name}.done")
    with made.with_name(f"{made.name}.lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        is_mine = not done.exists()
        if is_mine:
            shutil.rmtree(made, ignore_errors=True)  # of somebody who failed
        yield is_mine
        done.touch()


def _copy_clone(to: Path) -> None:
    """Copy what git has or would add; the installed npm packages are lent, as a clean clone installs the same ones."""
    listing = ["git", "-c", "safe.directory=*", "ls-files", "-z", "--cached", "--others", "--exclude-standard"]
    names = subprocess.run(listing, cwd=ROOT, check=True, capture_output=True, text=True).stdout.split("\0")
    for name in filter(None, names):
        if (ROOT / name).is_file():
            (to / name).parent.mkdir(parents=True, exist_ok=True)
            shutil.copy2(ROOT / name, to / name)
    (to / "node_modules").symlink_to(ROOT / "node_modules")
