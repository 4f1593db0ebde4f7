"""The ways to do the same work: the peers as people use them, and the least that has to be done."""

from __future__ import annotations

import shutil
import sys
from pathlib import Path
from typing import ClassVar

from benchmarks import peers
from benchmarks.lake.data import CHANGED
from benchmarks.lake.programs import Worker, environment, timed

GIT = ("git", "-c", "gc.auto=0", "-c", "maintenance.auto=false")
"""Without collecting in the background, which would cost whoever is measured next."""


class Contender:
    """One way, in a folder of its own that is fresh each round. A step returns its seconds; `prepare` is not timed."""

    name: ClassVar[str]
    steps: ClassVar[tuple[str, ...]] = ("put", "again")
    python: ClassVar[str] = ""
    """Whose Python it is warm in, `ours` or `peers`; empty for commands."""
    deletes: ClassVar[bool] = False
    """Whether it deletes as many files as it makes, which makes the next one's disk slow."""

    def __init__(self, home: Path, source: Path) -> None:
        self.home = home
        self.source = source
        self.out = home / "out"
        self.new_bytes: int | None = None
        home.mkdir(parents=True)
        self.env = environment(home)
        self._worker: Worker | None = None

    @property
    def returned(self) -> Path:
        """Where `back` puts what was kept."""
        return self.out

    @property
    def worker(self) -> Worker:
        """The warm process."""
        if self._worker is None:
            python = peers.python() if self.python == "peers" else Path(sys.executable)
            self._worker = Worker(python, self.env, self.home)
        return self._worker

    def small(self) -> Path:
        """Return a folder with one file, to warm up with."""
        folder = self.home / "small"
        folder.mkdir(exist_ok=True)
        (folder / "file").write_bytes(b"warm")
        return folder

    def prepare(self) -> None:
        """Make everything ready that a user has ready."""

    def put(self) -> float:
        """Version the folder."""
        raise NotImplementedError

    def change(self, content: bytes) -> None:
        """Learn that one file has another content now; who reads the source itself has nothing to do."""

    def again(self) -> float:
        """Version it again."""
        return self.put()

    def back(self) -> float:
        """Fetch what was versioned."""
        raise NotImplementedError

    def close(self) -> None:
        """End what was started."""
        if self._worker is not None:
            self._worker.close()


class Copy(Contender):
    """`cp -r`, there and back."""

    name = "cp -r"
    steps = ("put", "back")

    def put(self) -> float:
        return timed(["cp", "-r", self.source, self.home / "copy"], env=self.env, cwd=self.home)

    def back(self) -> float:
        return timed(["cp", "-r", self.home / "copy", self.out], env=self.env, cwd=self.home)


class Repository(Contender):
    """A peer that versions a folder inside its own working folder."""

    def __init__(self, home: Path, source: Path) -> None:
        super().__init__(home, source)
        self.work = home / "work"

    def prepare(self) -> None:
        self.work.mkdir()
        shutil.copytree(self.source, self.work / "data")

    def change(self, content: bytes) -> None:
        (self.work / "data" / CHANGED).write_bytes(content)


class Git(Repository):
    """Git with its defaults: init, add, commit."""

    name = "git (command)"

    def put(self) -> float:
        init, *rest = self._commands()
        return timed(init, *rest, env=self.env, cwd=self.work)

    def again(self) -> float:
        return timed(*self._commands()[1:], env=self.env, cwd=self.work)

    def _commands(self) -> list[list[str]]:
        return [[*GIT, "init", "-q"], [*GIT, "add", "."], [*GIT, "commit", "-q", "-m", "bench"]]


class Dvc(Repository):
    """DVC by its command: add."""

    name = "DVC (command)"
    deletes = True

    def prepare(self) -> None:
        super().prepare()
        self._init(self.work)

    def put(self) -> float:
        return timed([self._dvc, "add", "-q", "data"], env=self.env, cwd=self.work)

    def _init(self, folder: Path) -> None:
        off = [[self._dvc, "config", f"core.{name}", "false"] for name in ("analytics", "check_update")]
        timed(["git", "init", "-q"], [self._dvc, "init", "-q"], *off, env=self.env, cwd=folder)

    @property
    def _dvc(self) -> str:
        return str(peers.environment() / "bin" / "dvc")


class WarmDvc(Dvc):
    """DVC from Python: `Repo.add`."""

    name = "DVC (Python)"
    python = "peers"

    def prepare(self) -> None:
        super().prepare()
        other = self.home / "other"
        other.mkdir()
        shutil.copytree(self.small(), other / "data")
        self._init(other)
        self.worker.call("dvc_add", repository=other, folder="data")

    def put(self) -> float:
        return self.worker.call("dvc_add", repository=self.work, folder="data")


class Oxen(Repository):
    """Oxen from Python, as its package has no command: init, add, commit."""

    name = "Oxen (Python)"
    python = "peers"

    def prepare(self) -> None:
        super().prepare()
        config = self.home / ".config" / "oxen"
        config.mkdir(parents=True)
        (config / "user_config.toml").write_text('name = "bench"\nemail = "bench@example.org"\n')
        other = self.home / "other"
        other.mkdir()
        shutil.copytree(self.small(), other / "data")
        self._all(other)

    def put(self) -> float:
        return self._all(self.work)

    def again(self) -> float:
        return self.worker.call("oxen_put", repository=self.work, folder=self.work / "data")

    def _all(self, repository: Path) -> float:
        init = self.worker.call("oxen_init", repository=repository)
        return init + self.worker.call("oxen_put", repository=repository, folder=repository / "data")


class MLflow(Contender):
    """MLflow from Python: `log_artifacts`, which copies and knows no versions."""

    name = "MLflow (Python)"
    python = "peers"

    def prepare(self) -> None:
        self.worker.call("mlflow_put", source=self.small(), store=self.home / "mlruns")

    def put(self) -> float:
        return self.worker.call("mlflow_put", source=self.source, store=self.home / "mlruns")


class Packing(Contender):
    """Hash, pack and fsync in one thread."""

    name = "hash, pack and fsync in one thread"
    steps = ("put",)
    python = "ours"

    def prepare(self) -> None:
        self.worker.call("pack", source=self.small(), dest=self.home / "small-packs")

    def put(self) -> float:
        return self.worker.call("pack", source=self.source, dest=self.home / "packs")


class Stat(Contender):
    """A look at every file: the least that finding the changed one costs."""

    name = "a stat of all"
    steps = ("again",)
    python = "ours"

    def again(self) -> float:
        return self.worker.call("stat_all", source=self.source)


class Hashing(Contender):
    """SHA-256 of one file."""

    name = "SHA-256 alone"
    steps = ("put",)
    python = "ours"

    def put(self) -> float:
        return self.worker.call("hash_alone", file=self.source / "file")


class Writing(Contender):
    """The bytes of one file, written and flushed to the disk."""

    name = "write and fsync"
    steps = ("put",)
    python = "ours"

    def put(self) -> float:
        return self.worker.call("write_and_fsync", file=self.source / "file", dest=self.home / "written")
