"""One round: every contender once, each alone on the machine."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import time
from contextlib import ExitStack, closing, suppress
from dataclasses import dataclass
from typing import TYPE_CHECKING

from benchmarks.lake.data import changed, check_equal
from benchmarks.lake.programs import WorkFailed
from benchmarks.lake.scores import Scores, Time

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence
    from pathlib import Path

    from benchmarks.lake.contenders import Contender

    Factory = Callable[[Path, Path], Contender]

STEPS = ("put", "again", "back")


@dataclass(frozen=True)
class Plan:
    """How often and where. The folder is deleted by who made it, after all tables."""

    folder: Path
    rounds: int
    settle_seconds: float

    def rounds_of_many_files(self) -> Iterator[tuple[int, Path]]:
        """Give each round a folder, and delete none of them.

        For a minute, or six, ext4 does not give the numbers of deleted files away again, and looks at each of them
        whenever a file is made near them: `cp -r` takes ten times as long then.
        """
        for number in range(self.rounds):
            folder = self.folder / f"round-{number}"
            folder.mkdir(parents=True)
            _spread(folder)
            os.sync()
            time.sleep(self.settle_seconds)
            yield number, folder

    def rounds_of_large_files(self) -> Iterator[tuple[int, Path]]:
        """Give each round a folder, and delete it afterwards."""
        for number in range(self.rounds):
            yield number, self.folder / f"round-{number}"
            shutil.rmtree(self.folder / f"round-{number}")


def _spread(folder: Path) -> None:
    """Have ext4 put the folders in this one far from each other, and from what others delete; elsewhere do nothing."""
    if shutil.which("chattr"):
        subprocess.run(["chattr", "+T", folder], check=False, capture_output=True)


def run_round(scores: Scores, number: int, factories: Sequence[Factory], *, source: Path, folder: Path) -> None:
    """Run one round: another contender is first in each; who deletes is last."""
    print(f"round {number + 1}", file=sys.stderr, flush=True)
    shift = number % len(factories)
    contenders = [make(folder / str(place), source) for place, make in enumerate(factories)]
    contenders = [*contenders[shift:], *contenders[:shift]]
    for contender in sorted(contenders, key=lambda contender: contender.deletes):
        with closing(contender), suppress(WorkFailed):
            _run(scores, contender)


def _run(scores: Scores, contender: Contender) -> None:
    steps = [step for step in contender.steps if step in scores.steps]
    try:
        contender.prepare()
    except WorkFailed as error:
        for step in steps:
            scores.refuse(step, contender.name, str(error))
        raise
    with ExitStack() as changes:  # what is fetched back after a change is compared with the changed source
        for step in steps:
            if step == "again":
                _again(scores, contender, changes.enter_context(changed(contender.source)))
            else:
                _timed(scores, contender, step, contender.put if step == "put" else contender.back)


def _again(scores: Scores, contender: Contender, content: bytes) -> None:
    contender.change(content)
    _timed(scores, contender, "again", contender.again)
    if contender.new_bytes is not None:
        scores.keep_new_bytes(contender.name, contender.new_bytes - len(content))


def _timed(scores: Scores, contender: Contender, step: str, act: Callable[[], float]) -> None:
    os.sync()
    try:
        seconds = act()
        before = time.perf_counter()
        os.sync()
        synced = seconds + time.perf_counter() - before
        if step == "back":
            check_equal(contender.source, contender.returned)
    except WorkFailed as error:
        scores.refuse(step, contender.name, str(error))
        raise
    scores.keep(step, contender.name, Time(seconds, synced))
