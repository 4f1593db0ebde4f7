"""The list of jobs of jupyter-scheduler, of which a page has 25 rows, with as many jobs in its database."""

from __future__ import annotations

import sqlite3
import time
from contextlib import closing
from typing import TYPE_CHECKING

from benchmarks.chromium import fresh_page, jupyterlab
from benchmarks.panels.watching import seen_after
from benchmarks.report import Row, median

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence
    from pathlib import Path

    from playwright.sync_api import Browser, Page

    from tests.packaging.distributions import Installation

_ROWS = "[...document.querySelectorAll('.jp-notebook-jobs-panel tbody tr')].map(row => row.textContent)"
_COLUMNS = (
    "job_id, name, runtime_environment_name, input_filename, status, create_time, start_time, end_time, update_time, "
    "output_formats, url, tags, parameters, packaged_files"
)


def measure(browser: Browser, peer: Installation, jobs: int, rounds: int) -> list[Row]:
    """Open it, and sort by a column."""
    with jupyterlab(peer) as lab:
        _fill(lab.home / ".local" / "share" / "jupyter" / "scheduler.sqlite", jobs)
        found = []
        for _ in range(rounds):
            page = fresh_page(browser, lab).page
            found.append((_open(page), _sort(page)))
            page.close()
    said = f"jupyter-scheduler's list of {jobs:,} jobs"
    return [
        Row(f"{said}: open", median([opened for opened, _ in found]), "ms"),
        Row(f"{said}: sort by a column", median([sorted_ for _, sorted_ in found]), "ms"),
    ]


def _open(page: Page) -> float:
    card = page.locator(".jp-LauncherCard").filter(has_text="Jobs")
    return seen_after(page, "pointerdown", card.click, f"{_ROWS}.length > 20")


def _sort(page: Page) -> float:
    page.evaluate(f"window.acaiRows = {_ROWS}.join()")
    heading = page.locator(".jp-notebook-jobs-panel th").filter(has_text="Job name")
    return seen_after(page, "pointerdown", heading.click, f"{_ROWS}.join() !== window.acaiRows")


def _fill(path: Path, count: int) -> None:
    with closing(sqlite3.connect(path)) as connection, connection:
        marks = ", ".join("?" * len(_COLUMNS.split(",")))
        connection.executemany(f"INSERT INTO jobs ({_COLUMNS}) VALUES ({marks})", _jobs(count))


def _jobs(count: int) -> Iterable[Sequence[object]]:
    now = int(time.time() * 1000)
    for number in range(count):
        at = now - 60_000 * (count - number)
        times = at, at, at + number % 997, at
        kept = '["ipynb"]', f"/jobs/{number}", "[]", "{}", "[]"
        yield f"{number:08}", f"training-{number % 500}", "python3", "train.ipynb", "COMPLETED", *times, *kept
