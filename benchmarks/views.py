"""A long log followed in a notebook, in JupyterLab in Chromium: how long the page stands still, and what is kept."""

from __future__ import annotations

from typing import TYPE_CHECKING

from benchmarks.chromium import new_notebook
from benchmarks.report import Row

if TYPE_CHECKING:
    from tests.browser.page import LabPage

LINES = 1_000_000
LONGEST_MS = 500.0
"""Who types or scrolls meanwhile takes no offence at less."""
NOTEBOOK_BYTES = 1024 * 1024
MINUTES_MS = 15 * 60_000
_WATCH = """() => {
    window.acaiTasks = [];
    new PerformanceObserver(list => {
        window.acaiTasks.push(...list.getEntries().map(entry => entry.duration));
    }).observe({ type: 'longtask' });
    window.acaiGap = 0;
    let before = performance.now();
    const look = now => {
        window.acaiGap = Math.max(window.acaiGap, now - before);
        before = now;
        requestAnimationFrame(look);
    };
    requestAnimationFrame(look);
}"""
_SEEN = """() => [performance.now(), window.acaiGap, Math.max(0, ...window.acaiTasks), window.acaiTasks.length]"""


def run(lines: int = LINES) -> list[Row]:
    with new_notebook() as page:
        page.run("%load_ext acai_jupyter\n%acai status")
        page.output("ACAI").first.wait_for(timeout=60_000)
        page.page.evaluate(_WATCH)
        begun, *_ = page.page.evaluate(_SEEN)
        page.run(
            f"%%acai run --memory 512Mi\nfor number in range({lines}):\n    print('line', number, 'of a long log')"
        )
        view = page.notebook.get_by_role("region", name="job 1", exact=True)
        view.get_by_text("job 1 · finished").first.wait_for(timeout=MINUTES_MS)
        ended, gap, longest, count = page.page.evaluate(_SEEN)
        kept = _saved_bytes(page)
        _open_log(page, lines)
        _, _, opened, _ = page.page.evaluate(_SEEN)
    seconds = (ended - begun) / 1000
    said = f"a log of {lines:,} lines followed"
    return [
        Row(f"{said}: from Enter to its end", seconds, "s"),
        Row(f"{said}: longest task of the page", longest, "ms", LONGEST_MS),
        Row(f"{said}: longest time between two frames", gap, "ms", 2 * LONGEST_MS),
        Row(f"{said}: tasks of more than 50 ms, each second", count / seconds, "1/s"),
        Row(f"{said}: longest task until its end is opened in the view", opened, "ms", LONGEST_MS),
        Row(f"{said}: the saved notebook", kept, "B", NOTEBOOK_BYTES),
    ]


def _saved_bytes(page: LabPage) -> float:
    with page.page.expect_response(lambda answer: answer.request.method == "PUT" and "/api/contents/" in answer.url):
        page.page.keyboard.press("Control+s")
    return float((page.lab.notebooks / "Untitled.ipynb").stat().st_size)


def _open_log(page: LabPage, lines: int) -> None:
    page.notebook.get_by_role("button", name="log, job 1", exact=True).click()
    log = page.notebook.get_by_role("log", name="Log of job 1")
    log.get_by_text(f"line {lines - 1} of a long log").first.wait_for(timeout=60_000)
