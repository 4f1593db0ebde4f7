"""Ours, from Python and by the command, each with a server of its own that runs already."""

from __future__ import annotations

from typing import TYPE_CHECKING

from benchmarks.lake.contenders import Contender
from benchmarks.lake.data import stored_bytes
from benchmarks.lake.programs import WorkFailed, one_line, timed
from tests.integration.places import BIN, Place

if TYPE_CHECKING:
    from pathlib import Path

SLOWER = ("PYTHONWARNINGS", "PYTHONDONTWRITEBYTECODE")
"""What tests want and a user does not have."""


class Acai(Contender):
    """`acai_jupyter.put` and `get`, in a process that has put something before."""

    name = "ACAI (Python)"
    steps = ("put", "again", "back")
    python = "ours"

    def __init__(self, home: Path, source: Path, **variables: str) -> None:
        super().__init__(home, source)
        self.place = Place(home / "user")
        for name in SLOWER:
            self.place.environment.pop(name, None)
        self.env = self.place.environment
        self._variables = variables

    @property
    def returned(self) -> Path:
        return self.out / "data" if (self.out / "data").exists() else self.out

    def prepare(self) -> None:
        try:
            self.server = self.place.start(program="acai", **self._variables)
        except AssertionError as error:
            raise WorkFailed(one_line(f"the server does not start: {error}")) from error
        self.worker.call("acai_put", source=self.small(), dest="/small", file_set="small")

    def put(self) -> float:
        return self.worker.call("acai_put", source=self.source, dest="/data", file_set="bench")

    def again(self) -> float:
        before = stored_bytes(self.place.data)
        seconds = self.put()
        self.new_bytes = stored_bytes(self.place.data) - before
        return seconds

    def back(self) -> float:
        return self.worker.call("acai_get", spec="@bench", dest=self.out)

    def close(self) -> None:
        super().close()
        self.place.close()


class AcaiCommand(Acai):
    """The command `acai`."""

    name = "ACAI (command)"

    def put(self) -> float:
        return timed([BIN / "acai", "put", self.source, "/data", "--as", "bench"], env=self.env, cwd=self.place.work)

    def back(self) -> float:
        return timed([BIN / "acai", "get", "@bench", self.out], env=self.env, cwd=self.place.work)


OURS: tuple[type[Acai], ...] = (Acai, AcaiCommand)
