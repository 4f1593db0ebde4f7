"""The table of 100,000 jobs: opened, sorted, filtered, and while 200 states change in each second."""

from __future__ import annotations

import re
import threading
import time
from functools import partial
from typing import TYPE_CHECKING

from acai_jupyter.contract import endpoints
from acai_jupyter.contract.jobs import CreateJob, KillJobs
from acai_jupyter.contract.sweeps import CreateSweep
from benchmarks.chromium import fresh_page, jupyterlab
from benchmarks.panels.past import client_of, database_of, fill_past
from benchmarks.panels.watching import frames_seen, seen_after, watch_frames
from benchmarks.report import Row, median

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from playwright.sync_api import Browser, Page

    from acai_jupyter.client.http import Client
    from acai_jupyter.contract.ids import JobNumber
    from tests.browser.jupyterlab import JupyterLab
    from tests.browser.page import LabPage

JOBS = 100_000
ROUNDS = 5
OPEN_MS = 400.0
SORT_MS = 200.0
FILTER_MS = 200.0
LONGEST_MS = 100.0
FEWEST_FPS = 55.0
CHANGES = 200
"""State changes in a second."""
FEWEST_HEARD = 0.95 * CHANGES
"""Fewer, and it was no such test."""
_TURNS = 10
CHANGING_SECONDS = 15.0
PAUSE_MS = 1000
_ROWS = "[...document.querySelectorAll('.jp-AcaiGrid tbody tr[data-acai-thing]')].map(row => row.dataset.acaiThing)"
_SORTED = ("cost", "billed", "name", "state", "accuracy")
_FILTERS = (
    ("accuracy > 0.", "9"),
    ("state = 'failed", "'"),
    ("accuracy > 0.9 and params.lr = 0.01", "1"),
    ("name = 'training-7", "'"),
    ("number < 5000", "0"),
    ("model = 'model-3' and accuracy < 0.", "1"),
)


def measure(browser: Browser, idle_fps: float) -> list[Row]:
    """Measure it in a project with so many jobs."""
    with jupyterlab(config="quota = 1\n") as lab:
        fresh_page(browser, lab).page.close()
        with database_of(lab) as database:
            fill_past(database, JOBS)
        opened = [_opened(browser, lab) for _ in range(ROUNDS)]
        page = fresh_page(browser, lab)
        _open(page.page)
        sorts, filters = _sorts(page.page), _filters(page.page)
        changed = _changes(page, client_of(lab), idle_fps)
    said = f"a table of {JOBS:,} jobs"
    return [
        Row(f"{said}: open, from the click to rows", median(opened), "ms", OPEN_MS, beside=_spread(opened)),
        Row(f"{said}: sort by a column, from the click to rows", median(sorts), "ms", SORT_MS, beside=_spread(sorts)),
        Row(f"{said}: filter, from a key to rows", median(filters), "ms", FILTER_MS, beside=_spread(filters)),
        *changed,
    ]


def _spread(times: Sequence[float]) -> str:
    return f"{min(times):,.0f} to {max(times):,.0f} ms"


def _opened(browser: Browser, lab: JupyterLab) -> float:
    page = fresh_page(browser, lab).page
    took = _open(page)
    page.close()
    return took


def _open(page: Page) -> float:
    page.get_by_role("menuitem", name="View", exact=True).click()
    entry = page.get_by_role("menu").get_by_text("ACAI Jobs", exact=True)
    return seen_after(page, "pointerdown", entry.click, f"{_ROWS}.length > 20")


def _sorts(page: Page) -> list[float]:
    """By each of the columns in turn, down and up."""
    page.get_by_text("columns", exact=True).click()
    page.get_by_role("searchbox", name="Columns that begin with").fill("accuracy")
    page.get_by_role("checkbox", name="accuracy").check()
    page.keyboard.press("Escape")
    page.wait_for_timeout(PAUSE_MS)
    headings = page.get_by_role("grid", name="jobs").get_by_role("columnheader")
    found = []
    for name in _SORTED:
        button = headings.filter(has_text=re.compile(f"^{name}")).get_by_role("button")
        found += [_changed(page, "pointerdown", button.click) for _ in range(2)]
        button.click()
        page.wait_for_timeout(PAUSE_MS)
    return found


def _filters(page: Page) -> list[float]:
    """With a query that was typed but for its last character."""
    field = page.get_by_role("combobox", name="Which jobs")
    found = []
    for typed, last in _FILTERS * 2:
        field.fill(typed)
        page.wait_for_timeout(PAUSE_MS)
        found.append(_changed(page, "keydown", partial(page.keyboard.press, last)))
    field.fill("")
    page.wait_for_timeout(PAUSE_MS)
    return found


def _changed(page: Page, event: str, act: Callable[[], object]) -> float:
    """Act, and return the milliseconds to other rows."""
    page.evaluate(f"window.acaiRows = {_ROWS}.join()")
    return seen_after(page, event, act, f"{_ROWS}.join() !== window.acaiRows")


def _changes(page: LabPage, client: Client, idle_fps: float) -> list[Row]:
    """Submit and end jobs, which stay in the queue behind one that runs, with table and panel open."""
    page.open_panel()
    page.panel.get_by_role("region", name="Recent jobs").wait_for()
    before = len(page.events)
    over = threading.Event()
    holder = client.call(
        endpoints.CREATE_JOB, CreateJob(["python", "-c", "import time; time.sleep(3600)"], name="first")
    )
    changing = threading.Thread(target=_change, args=(client, over))
    changing.start()
    page.page.wait_for_timeout(3 * PAUSE_MS)
    watch_frames(page.page)
    begun = time.perf_counter(), len(page.events)
    page.page.wait_for_timeout(1000 * CHANGING_SECONDS)
    frames = frames_seen(page.page)
    heard = (len(page.events) - begun[1]) / (time.perf_counter() - begun[0])
    over.set()
    changing.join()
    client.call(endpoints.KILL_JOB, job=holder.number)
    assert len(page.events) > before
    idle = f"{idle_fps:.3g} 1/s in an empty JupyterLab"
    said = f"{CHANGES} changes of states a second in view"
    return [
        Row(f"{said}: heard by the page", heard, "1/s", FEWEST_HEARD, is_least=True),
        Row(f"{said}: frames", frames["fps"], "1/s", FEWEST_FPS, beside=idle, is_least=True),
        Row(f"{said}: longest task of the page", frames["longest"], "ms", LONGEST_MS),
        Row(f"{said}: longest time between two frames", frames["gap"], "ms"),
    ]


def _change(client: Client, over: threading.Event) -> None:
    """Submit some jobs and end those from before, so many times a second."""
    count = CHANGES // 2 // _TURNS
    asked = CreateSweep(CreateJob(["true"], name="changing"), {"n": list(range(count))})
    due = time.perf_counter()
    jobs: list[JobNumber] = []
    while not over.wait(max(0.0, due - time.perf_counter())):
        due += 1 / _TURNS
        submitted = client.call(endpoints.CREATE_SWEEP, asked).jobs
        if jobs:
            client.call(endpoints.KILL_JOBS, KillJobs(list(jobs)))
        jobs = submitted
    client.call(endpoints.KILL_JOBS, KillJobs(list(jobs)))
