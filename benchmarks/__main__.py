"""Runs all benchmarks, or those that are named, and prints their tables; `--write` puts them into the documentation."""

from __future__ import annotations

import sys
from importlib import import_module
from pathlib import Path

from benchmarks.report import machine, table, write

NAMES = ("startup", "imports", "setup")
PAGE = Path(__file__).parents[1] / "docs" / "developers" / "benchmarks.md"


def main() -> int:
    """Return 1 when a limit is not kept."""
    words = [word for word in sys.argv[1:] if not word.startswith("--")]
    unknown = set(words) - set(NAMES)
    if unknown:
        print(f"There is no benchmark {', '.join(sorted(unknown))}; there are {', '.join(NAMES)}.", file=sys.stderr)
        return 2
    print(machine(), flush=True)
    kept = True
    for name in words or NAMES:
        module = import_module(f"benchmarks.{name}")
        rows, summary = module.run(), (module.__doc__ or "").splitlines()[0]
        print(f"\n{name}: {summary}\n\n{table(rows)}", flush=True)
        kept = kept and all(row.kept for row in rows)
        if "--write" in sys.argv:
            write(PAGE, name, summary, rows)
    return 0 if kept else 1


sys.exit(main())
