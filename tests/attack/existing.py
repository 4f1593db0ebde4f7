"""The campaigns that have verbs of their own, with the figures of all others."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from typing import TYPE_CHECKING

from tests.kills.campaign import campaign as kill_clients
from tests.lives.campaign import campaign as kill_jobs

if TYPE_CHECKING:
    from tests.attack.campaign import Run

KILLS = 10
SHORT_KILLS = 5
JOBS = 8
FUZZ_EXAMPLES = 3
_COUNTED = re.compile(r"(\d+) (passed|failed|error)")


def kills(run: Run) -> None:
    """Kill clients and servers of the data lake; see `tests.kills`."""
    for number in run.rounds():
        count = SHORT_KILLS if run.is_short else KILLS
        wrong = kill_clients(
            run.home / f"{number}",
            kills=count,
            seed=f"{run.seed}-{number}",
            backend=run.backend,
            check_every=count,
            say=run.say,
        )
        run.figures["kills"] += count
        for one in wrong:
            run.violation(one, f"make kills ARGS='--kills {count} --seed {run.seed}-{number} --backend {run.backend}'")


def lives(run: Run) -> None:
    """Kill servers and agents while jobs run; see `tests.lives`."""
    for number in run.rounds():
        seed = f"{run.seed}-{number}"
        wrong = kill_jobs(
            run.home / f"{number}", jobs=JOBS, kills=JOBS // 2, seed=seed, backend=run.backend, say=run.say
        )
        run.figures["kills"] += JOBS // 2
        run.figures["jobs"] += JOBS
        for one in wrong:
            again = f"--jobs {JOBS} --kills {JOBS // 2} --seed {seed} --backend {run.backend}"
            run.violation(one, f"make lives ARGS='{again}'")


def fuzz(run: Run) -> None:
    """Ask each route of the OpenAPI document as each role; see `tests/integration/test_fuzzed.py`."""
    chosen = "sqlite" if run.backend == "folder" else "postgres"
    for number in run.rounds():
        seed = run.chance.randrange(2**32)
        command = [sys.executable, "-m", "pytest", "-q", "-n", "0", "-o", "timeout=0", "-k", chosen]
        command += [f"--hypothesis-seed={seed}", "tests/integration/test_fuzzed.py"]
        done = subprocess.run(
            command,
            env=os.environ | {"FUZZ_EXAMPLES": str(FUZZ_EXAMPLES), "FUZZ_SEEDED": "1"},
            capture_output=True,
            text=True,
            check=False,
        )
        (run.home / f"fuzz-{number}.log").write_text(done.stdout)
        counts = {word: int(count) for count, word in _COUNTED.findall(done.stdout[-2000:])}
        run.figures["requests"] += FUZZ_EXAMPLES * counts.get("passed", 0)
        if done.returncode:
            again = f"FUZZ_SEEDED=1 FUZZ_EXAMPLES={FUZZ_EXAMPLES} {' '.join(command[1:])}"
            run.violation(f"requests made at random broke a promise: {done.stdout[-2000:]}", again)
