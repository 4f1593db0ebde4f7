"""What the panels cost a page and how fast they are, in Chromium, beside an empty JupyterLab and jupyter-scheduler."""

from __future__ import annotations

import subprocess
from typing import TYPE_CHECKING

from benchmarks import job_peers
from benchmarks.chromium import OURS, chromium, fresh_page, jupyterlab
from benchmarks.panels import hour, opened, peer, sizes, table
from benchmarks.panels.watching import frames_seen, watch_frames
from tests.packaging.distributions import Installation

if TYPE_CHECKING:
    from playwright.sync_api import Browser

    from benchmarks.report import Row

IDLE_MS = 10_000


def run(*, is_real_hour: bool = False) -> list[Row]:
    """Measure all of it; the hour as it is, or in some minutes."""
    found = _peer()
    with chromium() as browser:
        rows = sizes.measure(browser, OURS, found)
        rows += table.measure(browser, _idle_fps(browser))
        if found is not None:
            rows += peer.measure(browser, found, table.JOBS, table.ROUNDS)
        rows += opened.measure(browser)
    with chromium() as browser:
        return rows + hour.measure(browser, is_real=is_real_hour)


def _peer() -> Installation | None:
    try:
        return Installation(job_peers.environment())
    except subprocess.CalledProcessError as error:
        print(f"jupyter-scheduler could not be installed: {(error.stderr or b'')[-300:]!r}", flush=True)
        return None


def _idle_fps(browser: Browser) -> float:
    with jupyterlab(without="acai-jupyter") as lab:
        page = fresh_page(browser, lab).page
        watch_frames(page)
        page.wait_for_timeout(IDLE_MS)
        fps = frames_seen(page)["fps"]
        page.close()
    return fps
