"""Jobs whose right end is known, and which tell by themselves what became of them."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    import random

_COUNT = """
import sys, time, pathlib
lines, pause = {lines}, {pause}
for number in range(lines):
    print("line", {token!r}, number, flush=number % 7 == 0)
    time.sleep(pause)
pathlib.Path("output").mkdir(exist_ok=True)
pathlib.Path("output/made").write_text({token!r})
sys.stdout.flush()
sys.exit({status})
"""
_TREE = """
import subprocess, sys
subprocess.Popen([sys.executable, "-c", "import time; time.sleep(3600)"], start_new_session=True)
"""


@dataclass(frozen=True)
class Program:
    """A job to submit, and how it ends if nobody ends it."""

    token: str
    lines: int
    status: int
    to_be_killed: bool
    leaves_children: bool

    @property
    def request(self) -> dict[str, Any]:
        """What to send."""
        code = (_TREE if self.leaves_children else "") + _COUNT.format(
            lines=self.lines, pause=0.01, token=self.token, status=self.status
        )
        share = {"vcpu": 0.5, "memory_bytes": 512 * 1024**2}
        return {
            "command": ["python", "-c", code],
            "name": self.token,
            "output": self.output,
            "retries": 20,
            "resources": share,
        }

    @property
    def output(self) -> str:
        """The set that it makes, once."""
        return f"out-{self.token}"

    def log(self) -> str:
        """All that a whole attempt prints."""
        return "".join(f"line {self.token} {number}\n" for number in range(self.lines))

    def ends(self) -> set[str]:
        """The states that are right in the end."""
        wanted = "finished" if self.status == 0 else "failed"
        return {wanted, "killed"} if self.to_be_killed else {wanted}


def program(token: str, chance: random.Random) -> Program:
    """Return some program."""
    return Program(
        token,
        lines=chance.choice((1, 20, 60)),
        status=chance.choices((0, 3), (4, 1))[0],
        to_be_killed=chance.random() < 0.15,
        leaves_children=chance.random() < 0.2,
    )
