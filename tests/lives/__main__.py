"""`make lives ARGS="--jobs 200 --kills 100 --seed 7"`: exit status 1 when a job did not come to its right end."""

from __future__ import annotations

import argparse
import secrets
import sys
import tempfile
from pathlib import Path

from tests.kills.backends import BACKENDS
from tests.lives.campaign import campaign


def main() -> int:
    """Run one campaign."""
    parser = argparse.ArgumentParser(prog="make lives", description="Kill servers and agents; check every job's end.")
    parser.add_argument("--jobs", type=int, default=200, help="how many (200)")
    parser.add_argument("--kills", type=int, default=100, help="how many (100)")
    parser.add_argument("--seed", default=secrets.token_hex(4), help="the seed of an earlier run (default: a new one)")
    parser.add_argument("--backend", choices=sorted(BACKENDS), default="folder", help="records and bytes (folder)")
    parser.add_argument("--folder", help="keep all of it in this new folder (default: a temporary one)")
    arguments = parser.parse_args()
    with tempfile.TemporaryDirectory(prefix="acai-lives-", ignore_cleanup_errors=True) as folder:
        wrong = campaign(
            Path(arguments.folder or f"{folder}/home").absolute(),
            jobs=arguments.jobs,
            kills=arguments.kills,
            seed=arguments.seed,
            backend=arguments.backend,
            say=lambda line: (sys.stdout.write(f"{line}\n"), sys.stdout.flush()),
        )
    for one in wrong:
        sys.stdout.write(f"{one}\n")
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
