"""Runs all benchmarks, or those that are named, and prints their tables; `--write` puts them into the documentation."""

from __future__ import annotations

import argparse
import sys
import tempfile
from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING

from benchmarks.report import Table, machine, write

if TYPE_CHECKING:
    from collections.abc import Iterator

NAMES = (
    "startup",
    "imports",
    "setup",
    "lake",
    "metadata",
    "filesets",
    "jobs",
    "agent",
    "cluster",
    "graph",
    "notebook",
    "panels",
    "provenance",
    "readers",
    "team",
    "tutorials",
    "views",
)
PAGE = Path(__file__).parents[1] / "docs" / "developers" / "benchmarks.md"


def main() -> int:
    """Return 1 when a limit is not kept."""
    arguments = _parser().parse_args()
    print(machine(), flush=True)
    kept = True
    for name in arguments.names or NAMES:
        for table in _tables(name, arguments):
            print(f"\n{table.name}: {table.summary}\n\n{table.text}", flush=True)
            kept = kept and all(row.kept for row in table.rows)
            if arguments.write:
                write(PAGE, table)
    return 0 if kept else 1


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(prog="make bench", description=__doc__, allow_abbrev=False)
    parser.add_argument("names", nargs="*", type=_name, metavar="NAME", help=f"of {', '.join(NAMES)}")
    parser.add_argument("--write", action="store_true", help="put the tables into the documentation")
    lake = parser.add_argument_group("lake")
    lake.add_argument("--rows", type=lambda text: text.split(","), help="which of its tables, like small,large")
    lake.add_argument("--rounds", type=int, default=3, help="of which the medians are taken (default 3)")
    lake.add_argument("--settle", type=float, default=10.0, help="seconds to wait before rounds of many files")
    lake.add_argument(
        "--folder", type=Path, default=Path(tempfile.gettempdir()), help="where to keep the files meanwhile"
    )
    panels = parser.add_argument_group("panels")
    panels.add_argument("--hour", action="store_true", help="let the hour of running jobs be one, not some minutes")
    return parser


def _name(text: str) -> str:
    if text not in NAMES:
        raise argparse.ArgumentTypeError(f"there is no benchmark {text}; there are {', '.join(NAMES)}")
    return text


def _tables(name: str, arguments: argparse.Namespace) -> Iterator[Table]:
    if name == "lake":
        from benchmarks.lake import tables
        from benchmarks.lake.rounds import Plan

        plan = Plan(arguments.folder, arguments.rounds, arguments.settle)
        yield from tables.tables(arguments.rows, plan)
        return
    if name == "panels":
        from benchmarks import panels

        yield Table(name, (panels.__doc__ or "").splitlines()[0], panels.run(is_real_hour=arguments.hour))
        return
    module = import_module(f"benchmarks.{name}")
    yield Table(name, (module.__doc__ or "").splitlines()[0], module.run())


sys.exit(main())
