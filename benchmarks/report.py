"""Rows of measurements, and how they are shown."""

from __future__ import annotations

import os
import platform
import re
import statistics
from dataclasses import dataclass
from datetime import UTC, datetime
from importlib.metadata import version
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

SHOWN = ("acai-jupyter", "jupyterlab", "jupyter-server", "sqlalchemy")


@dataclass(frozen=True)
class Row:
    """One measurement: what, how much, and what was promised, if anything."""

    what: str
    measured: float
    unit: str
    limit: float | None = None

    @property
    def kept(self) -> bool:
        """Whether the promise is kept; what has none is a peer or a baseline."""
        return self.limit is None or self.measured <= self.limit


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


def table(rows: Sequence[Row]) -> str:
    """Return the rows as a Markdown table."""
    lines = ["| what | measured | at most | |", "|---|---|---|---|"]
    for row in rows:
        limit = "" if row.limit is None else f"{row.limit:g} {row.unit}"
        verdict = "" if row.limit is None else ("kept" if row.kept else "**not kept**")
        lines.append(f"| {row.what} | {row.measured:,.3g} {row.unit} | {limit} | {verdict} |")
    return "\n".join(lines)


def write(page: Path, name: str, summary: str, rows: Sequence[Row]) -> None:
    """Put the table into its place on the page of measurements."""
    text = page.read_text()
    begin, end = f"<!-- begin {name} -->", f"<!-- end {name} -->"
    block = f"{begin}\n{summary}\n\n{machine()}\n\n{table(rows)}\n{end}"
    if begin in text:
        text = re.sub(f"{re.escape(begin)}.*?{re.escape(end)}", lambda _: block, text, flags=re.DOTALL)
    else:
        text = f"{text.rstrip()}\n\n## {name}\n\n{block}\n"
    page.write_text(text)
