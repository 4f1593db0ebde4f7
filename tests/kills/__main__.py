"""`make kills ARGS="--kills 300 --seed 7"`: exit status 1 when something was lost."""

from __future__ import annotations

import argparse
import secrets
import sys
import tempfile
from pathlib import Path

from tests.kills.backends import BACKENDS
from tests.kills.campaign import campaign


def main() -> int:
    """Run one campaign."""
    parser = argparse.ArgumentParser(prog="make kills", description="Kill clients and servers; check what is left.")
    parser.add_argument("--kills", type=int, default=300, help="how many (300)")
    parser.add_argument("--seed", default=secrets.token_hex(4), help="the seed of an earlier run (default: a new one)")
    parser.add_argument("--backend", choices=sorted(BACKENDS), default="folder", help="where the data is kept (folder)")
    parser.add_argument("--check-every", type=int, default=25, help="kills between two checks (25)")
    parser.add_argument("--folder", help="keep all of it in this new folder (default: a temporary one)")
    arguments = parser.parse_args()
    with tempfile.TemporaryDirectory(prefix="acai-kills-", ignore_cleanup_errors=True) as folder:
        wrong = campaign(
            Path(arguments.folder or f"{folder}/home").absolute(),
            kills=arguments.kills,
            seed=arguments.seed,
            backend=arguments.backend,
            check_every=arguments.check_every,
            say=lambda line: (sys.stdout.write(f"{line}\n"), sys.stdout.flush()),
        )
    if wrong:
        sys.stdout.write(f"{len(wrong)} violations; again: make kills ARGS='--seed {arguments.seed} …'\n")
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
