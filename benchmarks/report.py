"""Rows of measurements, and how they are shown."""

from __future__ import annotations

import math
import os
import platform
import re
import statistics
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from importlib.metadata import version
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

SHOWN = ("acai-jupyter", "jupyterlab", "jupyter-server", "sqlalchemy")


@dataclass(frozen=True)
class Row:
    """One measurement: what, how much, what was promised, if anything, and how it stands beside another.

    What did not work is NaN, and `beside` says why.
    """

    what: str
    measured: float
    unit: str
    limit: float | None = None
    promise: str = ""
    beside: str = ""
    is_least: bool = False
    """Whether more is better: the limit is the least that was promised."""

    @property
    def kept(self) -> bool:
        """Whether the promise is kept; what has none is a peer or a baseline."""
        if self.limit is None:
            return True
        return self.measured >= self.limit if self.is_least else self.measured <= self.limit

    def promising(self, limit: float, promise: str) -> Row:
        """Return the same with a limit and its words."""
        return replace(self, limit=limit, promise=promise)


def median(values: Sequence[float]) -> float:
    """Return the median."""
    return statistics.median(values)


def machine() -> str:
    """Say what this was measured on."""
    versions = ", ".join(f"{name} {version(name)}" for name in SHOWN)
    return (
        f"{datetime.now(UTC):%Y-%m-%d}, {os.cpu_count()} cores, {platform.system()} {platform.machine()}, "
        f"Python {platform.python_version()}, {versions}"
    )


@dataclass(frozen=True)
class Table:
    """Measurements that belong together, under their name on the page."""

    name: str
    summary: str
    rows: Sequence[Row]

    @property
    def text(self) -> str:
        """The rows in Markdown."""
        head = ["what", "measured", "beside", "at most", ""]
        lines = [[row.what, _quantity(row.measured, row.unit), row.beside, *_promised(row)] for row in self.rows]
        shown = [column for column in range(len(head)) if column != 2 or any(row.beside for row in self.rows)]
        cells = [head, ["---"] * len(head), *lines]
        return "\n".join(f"| {' | '.join(line[column] for column in shown)} |" for line in cells)


def _quantity(value: float, unit: str) -> str:
    if math.isnan(value):
        return "none"
    return f"{value:,.0f} {unit}" if abs(value) >= 1000 else f"{value:,.3g} {unit}"


def _promised(row: Row) -> tuple[str, str]:
    if row.limit is None:
        return "", ""
    limit = ("at least " if row.is_least else "") + _quantity(row.limit, row.unit)
    return (f"{row.promise}: {limit}" if row.promise else limit), ("kept" if row.kept else "**not kept**")


def write(page: Path, table: Table) -> None:
    """Put the table under its heading on the page of measurements, in place of what is there."""
    text = page.read_text()
    block = f"## {table.name}\n\n{table.summary}\n\n{machine()}\n\n{table.text}\n"
    section = re.compile(rf"^## {re.escape(table.name)}\n.*?(?=^## |\Z)", re.DOTALL | re.MULTILINE)
    text = section.sub(lambda _: f"{block}\n", text) if section.search(text) else f"{text.rstrip()}\n\n{block}"
    page.write_text(f"{text.rstrip()}\n")
