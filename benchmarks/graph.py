"""The provenance graph under a cell, in JupyterLab in Chromium: from Enter, or from a click, to drawn; median of 5."""

from __future__ import annotations

from typing import TYPE_CHECKING

from benchmarks.chromium import new_notebook
from benchmarks.report import Row, median
from tests.browser.graph import GraphUnderCell

if TYPE_CHECKING:
    from tests.browser.page import LabPage

ROUNDS = 5
PARTS = 98
"""With as many actions, a graph of 200 nodes around the set that they were made of."""
ALL = 5000
"""With as many actions, a project of 10,000 nodes."""
DRAWN_SECONDS = 1.5
OPENED_MS = 300.0
_DATA = """%load_ext acai_jupyter
import acai_jupyter as acai, pathlib
from concurrent.futures import ThreadPoolExecutor
pathlib.Path("raw").mkdir()
pathlib.Path("raw/a").write_text("1")
acai.put("raw", dest="/raw", as_="raw")
acai.create_file_set("data", ["@raw:1"])
def make(source, numbers):
    with ThreadPoolExecutor(8) as pool:
        list(pool.map(lambda number: acai.create_file_set(f"part-{number}", [source]), numbers))
    print("made", len(numbers))
"""
_WATCH = """([before, wanted, event]) => {
    window.acaiDrawn = new Promise(resolve => {
        document.addEventListener(event, () => {
            const begun = performance.now();
            const look = () => {
                const seen = [...document.querySelectorAll('.acai-graph-box .custom-widget')];
                const core = seen.length > before ? seen[seen.length - 1]._cyreg?.cy : undefined;
                if (core !== undefined && core.nodes().length >= wanted) {
                    requestAnimationFrame(() => resolve(performance.now() - begun));
                } else {
                    requestAnimationFrame(look);
                }
            };
            look();
        }, { once: true, capture: true });
    });
}"""


def run() -> list[Row]:
    with new_notebook() as page:
        page.run(f"{_DATA}make('@data:1', range({PARTS}))")
        page.output(f"made {PARTS}").wait_for(timeout=300_000)
        first = _shown(page, 0)
        times = [_round(page, number) for number in range(1, ROUNDS + 1)]
        page.run(f"make('@raw:1', range({PARTS}, {ALL}))")
        page.output(f"made {ALL - PARTS}").wait_for(timeout=900_000)
        large = [_round(page, number) for number in range(ROUNDS + 1, 2 * ROUNDS + 1)]
    rows = [Row("the first graph of a kernel, 200 nodes, from Enter to drawn", first / 1000, "s")]
    for where, found in (("", times), (" in a project of 10,000 nodes", large)):
        drawn = median([shown for shown, _ in found]) / 1000
        opened = median([opened for _, opened in found])
        rows += [
            Row(f"a graph of 200 nodes{where}, from Enter to drawn", drawn, "s", DRAWN_SECONDS),
            Row(f"a node of it opened{where}, from the click to drawn", opened, "ms", OPENED_MS),
        ]
    return rows


def _round(page: LabPage, before: int) -> tuple[float, float]:
    return _shown(page, before), _opened(page, before)


def _shown(page: LabPage, before: int) -> float:
    cell = page.notebook.get_by_role("textbox").last
    cell.click()
    page.page.keyboard.insert_text("%acai provenance data:1")
    page.page.evaluate(_WATCH, [before, 2 * PARTS, "keydown"])
    page.page.keyboard.press("Shift+Enter")
    return float(page.page.evaluate("window.acaiDrawn"))


def _opened(page: LabPage, before: int) -> float:
    graph = GraphUnderCell(page)
    graph.wait_for("raw:1")
    graph.bring_into_sight("raw:1", "open:back:raw:1")
    page.page.evaluate(_WATCH, [before, graph.count() + 1, "mousedown"])
    graph.click_more("raw:1")
    return float(page.page.evaluate("window.acaiDrawn"))
