"""A long log in a job's tab, opened and searched; a large graph of provenance in its tab, drawn and drawn further."""

from __future__ import annotations

import subprocess
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from typing import TYPE_CHECKING

from acai_jupyter.client.follow import wait
from acai_jupyter.contract import endpoints
from acai_jupyter.contract.filesets import CreateFileSet
from acai_jupyter.contract.jobs import CreateJob, Resources
from benchmarks.chromium import fresh_page, jupyterlab
from benchmarks.panels.past import client_of
from benchmarks.panels.watching import seen_after
from benchmarks.report import Row, median

if TYPE_CHECKING:
    from collections.abc import Sequence

    from playwright.sync_api import Browser, Page

    from acai_jupyter.client.http import Client
    from tests.browser.jupyterlab import JupyterLab

LINES = 1_000_000
ROUNDS = 5
END_MS = 500.0
FOUND_MS = 1000.0
PARTS = 98
"""With as many actions, a graph of 200 nodes around the set that they were made of."""
DRAWN_MS = 700.0
EXPANDED_MS = 250.0
_PRINTING = """
for number in range({lines}):
    print(f"line {{number}} of a long log, loss {{1 / (number + 1):.9f}}, accuracy {{1 - 1 / (number + 2):.9f}}")
"""
_LOG = "[...document.querySelectorAll('.jp-AcaiJobTab [role=log]')].some(log => log.textContent.includes('{words}'))"
_NODES = "document.querySelectorAll('.jp-AcaiProvenance-node').length"


def measure(browser: Browser) -> list[Row]:
    """Measure both in one project."""
    with jupyterlab() as lab:
        fresh_page(browser, lab).page.close()
        client = client_of(lab)
        resources = Resources(1, 512 * 1024**2)
        job = client.call(
            endpoints.CREATE_JOB,
            CreateJob(["python", "-c", _PRINTING.format(lines=LINES)], name="long", resources=resources),
        )
        assert wait(client, job.number).state == "finished"
        logs = [_log(browser, lab) for _ in range(ROUNDS)]
        _make_sets(lab, client)
        graphs = [_graph(browser, lab) for _ in range(ROUNDS)]
    ends, first, middle = zip(*logs, strict=True)
    drawn, expanded = zip(*graphs, strict=True)
    said = f"a log of {LINES:,} lines"
    return [
        Row(f"{said}: open at the end, from the click", median(ends), "ms", END_MS, beside=_spread(ends)),
        Row(f"{said}: search for what is on one line", median(first), "ms", FOUND_MS, beside=_spread(first)),
        Row(f"{said}: search for what is on many", median(middle), "ms", FOUND_MS, beside=_spread(middle)),
        Row("a graph of 200 nodes: drawn, from the click", median(drawn), "ms", DRAWN_MS, beside=_spread(drawn)),
        Row("a node of it drawn further", median(expanded), "ms", EXPANDED_MS, beside=_spread(expanded)),
    ]


def _spread(times: Sequence[float]) -> str:
    return f"{min(times):,.0f} to {max(times):,.0f} ms"


def _log(browser: Browser, lab: JupyterLab) -> tuple[float, float, float]:
    page = fresh_page(browser, lab).page
    page.get_by_role("tab", name="ACAI", exact=True).click()
    page.get_by_role("region", name="Recent jobs").get_by_role("button").filter(has_text="job 1").click()
    button = page.get_by_role("button", name="log, job 1", exact=True)
    button.wait_for()
    page.wait_for_load_state("networkidle")
    end = seen_after(page, "pointerdown", button.click, _LOG.format(words=f"line {LINES - 1} of a long log"))
    one = _searched(page, "line 4711 o", "f", "line 4711 of a long log")
    many = _searched(page, "line 9999", "9", "line 999990 of a long log")
    page.close()
    return end, one, many


def _searched(page: Page, typed: str, last: str, words: str) -> float:
    """With the words that were typed but for their last character."""
    field = page.get_by_role("searchbox", name="Search in the log of job 1")
    field.fill("no such words")
    page.wait_for_timeout(2000)
    field.evaluate(f"field => field.setSelectionRange(0, {len('no such words')})")
    page.keyboard.insert_text(typed)
    return seen_after(page, "keydown", partial(page.keyboard.press, last), _LOG.format(words=words))


def _make_sets(lab: JupyterLab, client: Client) -> None:
    raw = lab.notebooks / "raw"
    raw.mkdir()
    (raw / "a").write_text("1")
    installation = lab.installation
    command = [str(installation.programs / "acai"), "put", "raw", "/raw", "--as", "raw"]
    subprocess.run(command, env=installation.environment(lab.home), cwd=lab.notebooks, check=True, capture_output=True)
    client.call(endpoints.CREATE_FILE_SET, CreateFileSet("data", ["@raw:1"]))

    def make(number: int) -> None:
        client.call(endpoints.CREATE_FILE_SET, CreateFileSet(f"part-{number}", ["@data:1"]))

    with ThreadPoolExecutor(4) as pool:
        list(pool.map(make, range(PARTS)))


def _graph(browser: Browser, lab: JupyterLab) -> tuple[float, float]:
    """Around the set that all were made of, from a double click on it; then further behind what it was made of."""
    page = fresh_page(browser, lab).page
    page.get_by_role("menuitem", name="View", exact=True).click()
    page.get_by_role("menu").get_by_text("ACAI Provenance", exact=True).click()
    middle = page.locator(".jp-AcaiProvenance-node[data-acai-thing='data:1']")
    middle.wait_for()
    page.wait_for_load_state("networkidle")
    drawn = seen_after(page, "pointerdown", middle.dblclick, f"{_NODES} > {2 * PARTS}")
    page.wait_for_load_state("networkidle")
    before = page.evaluate(_NODES)
    more = page.locator(".jp-AcaiProvenance-more").first
    more.scroll_into_view_if_needed()
    expanded = seen_after(page, "pointerdown", more.click, f"{_NODES} > {before}")
    page.close()
    return drawn, expanded
