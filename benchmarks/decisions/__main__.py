"""Measures decisions and prints their tables; `--write` puts them into the documentation. Fixed seeds."""

from __future__ import annotations

import argparse
import sys
from importlib import import_module
from pathlib import Path

from benchmarks.report import Table, machine, write

PARTS = {
    "predicting": "How long runs take that the model has not seen.",
    "planning": "Which runs to make for a profile: mnist_runtime, three levels of each hint, 20 draws.",
    "choosing": "The cheapest machine under a deadline, after six runs of it, at confidence 0.9.",
    "speed": "How long deciding takes, warm.",
}
PAGE = Path(__file__).parents[2] / "docs" / "developers" / "decisions-benchmarks.md"


def main() -> int:
    """Return 1 when a limit is not kept."""
    parser = argparse.ArgumentParser(prog="make bench-decisions", description=__doc__, allow_abbrev=False)
    parser.add_argument("names", nargs="*", metavar="NAME", help=f"of {', '.join(PARTS)}")
    parser.add_argument("--write", action="store_true", help="put the tables into the documentation")
    arguments = parser.parse_args()
    print(machine(), flush=True)
    kept = True
    for name in arguments.names or PARTS:
        table = Table(name, PARTS[name], list(import_module(f"benchmarks.decisions.{name}").rows()))
        print(f"\n{table.name}: {table.summary}\n\n{table.text}", flush=True)
        kept = kept and all(row.kept for row in table.rows)
        if arguments.write:
            write(PAGE, table)
    return 0 if kept else 1


sys.exit(main())
