"""Views that go with their jobs: through attempts, into other projects, to the end, after which they cost nothing."""

from __future__ import annotations

import copy
import json
from typing import TYPE_CHECKING

import nbformat
import pytest
from playwright.sync_api import expect

from tests.browser.page import JOBS_MS
from tests.browser.test_long_log import first_seen
from tests.browser.test_views import LOAD, button, save, view, waits_for

if TYPE_CHECKING:
    from pathlib import Path

    from tests.browser.conftest import OpenPage, StartLab
    from tests.browser.page import LabPage

pytestmark = [pytest.mark.browser, pytest.mark.timeout(300)]
JOB = "application/vnd.acai.job+json"
COPIES = 100
SHOWN_OUTPUTS = 50
"""Of so many outputs of a cell JupyterLab shows all."""
COUNT_INTERVALS = """() => {
    const ours = new Set();
    const [set, clear] = [window.setInterval, window.clearInterval];
    window.setInterval = (...asked) => {
        const id = set(...asked);
        if (new Error().stack.includes('/extensions/acai-jupyter/')) { ours.add(id); }
        return id;
    };
    window.clearInterval = id => { ours.delete(id); clear(id); };
    window.acaiIntervals = () => ours.size;
}"""
"""Counts the intervals that our extension has set and not cleared."""


def test_a_view_has_the_log_of_each_attempt_and_that_of_the_job_which_answered_for_its_own(
    start_lab: StartLab, open_page: OpenPage
) -> None:
    lab = start_lab()
    page = open_page(lab).open()
    gate, seen = lab.notebooks / "gate", lab.notebooks / "seen"
    page.new_notebook()
    page.run(LOAD)
    page.run(
        "%%acai run --detach --retries 1 --retry-failed --memory 512Mi\nimport pathlib, time\n"
        f"seen = pathlib.Path({str(seen)!r})\n"
        "if not seen.exists():\n    seen.touch(); print('in vain'); raise SystemExit(3)\n"
        f"print('once more', flush=True)\nwhile not pathlib.Path({str(gate)!r}).exists(): time.sleep(0.05)"
    )
    steps = view(page, 1).get_by_role("list", name="job 1: states")
    expect(steps.get_by_text("queued again")).to_be_visible(timeout=JOBS_MS)
    expect(steps.get_by_role("listitem").filter(has_text="running")).to_have_attribute(
        "aria-current", "step", timeout=JOBS_MS
    )
    expect(view(page, 1)).to_contain_text("failed: exit 3 after")
    log = view(page, 1).get_by_role("log")
    expect(log).to_have_text("once more\n", timeout=JOBS_MS)
    page.look_at("view-attempts", view(page, 1))
    chosen = view(page, 1).get_by_role("combobox", name="Attempt of job 1")
    chosen.press("ArrowUp")  # which would be the cell above for the notebook
    expect(log).to_contain_text("in vain")
    log.press("j")
    expect(log).to_be_focused()
    assert page.barriers(view(page, 1)) == []
    gate.touch()
    expect(view(page, 1)).to_contain_text("job 1 · finished", timeout=JOBS_MS)
    for number in (2, 3):
        page.run("%%acai run --cached --detach\nprint('the first time')")
        expect(view(page, number)).to_contain_text(f"job {number} · finished", timeout=JOBS_MS)
    expect(view(page, 3)).to_contain_text("answered by job 2")
    button(page, "log", 3).click()
    expect(view(page, 3)).to_contain_text("job 3 did not run: it was answered by job 2, whose log this is.")
    expect(view(page, 3).get_by_role("log", name="Log of job 2")).to_have_text("the first time\n")
    stay_where_somebody_reads(page, lab.notebooks / "more")


def stay_where_somebody_reads(page: LabPage, more: Path) -> None:
    """A log becomes too long to be there as a whole, and who has left its end is where they were."""
    page.run(
        "%%acai run --detach --memory 512Mi\nimport pathlib, time\nfor n in range(190): print('row', n)\n"
        f"print(end='', flush=True)\nwhile not pathlib.Path({str(more)!r}).exists(): time.sleep(0.05)\n"
        "for n in range(190, 400): print('row', n)"
    )
    log = view(page, 4).get_by_role("log", name="Log of job 4")
    expect(log.locator("code").last).to_have_text("row 189\n", timeout=JOBS_MS)
    expect(log.locator("code").last).to_be_in_viewport()
    log.hover()
    page.page.mouse.wheel(0, -900)
    expect(log.locator("code").last).not_to_be_in_viewport()
    seen = first_seen(log)
    more.touch()
    expect(view(page, 4)).to_contain_text("job 4 · finished", timeout=JOBS_MS)
    expect(log).to_have_attribute("data-window", "")
    assert first_seen(log) == seen


def test_a_view_is_live_in_another_project_and_views_that_are_done_cost_nothing(
    start_lab: StartLab, open_page: OpenPage, home: Path
) -> None:
    settings = home / ".jupyter" / "lab" / "user-settings"
    (settings / "acai-jupyter").mkdir()
    (settings / "acai-jupyter" / "overview.jupyterlab-settings").write_text(json.dumps({"followAtStart": False}))
    (settings / "@jupyterlab" / "notebook-extension").mkdir()
    all_cells = {"windowingMode": "none"}  # else those that are scrolled away are not there to be looked at
    (settings / "@jupyterlab" / "notebook-extension" / "tracker.jupyterlab-settings").write_text(json.dumps(all_cells))
    lab = start_lab()
    page = open_page(lab)
    page.page.add_init_script(f"({COUNT_INTERVALS})()")
    page.open()
    gate = lab.notebooks / "gate"
    page.new_notebook()
    page.run(f"{LOAD}\n%acai project create theirs")
    page.run(waits_for(str(gate)).replace("%%acai run", "%%acai run --project theirs --detach"))
    expect(view(page, 1).get_by_role("listitem").filter(has_text="running")).to_have_attribute(
        "aria-current", "step", timeout=JOBS_MS
    )
    assert page.streams == ["theirs"]
    assert intervals(page) == 1
    page.choose("Kernel", "Shut Down Kernel")
    gate.touch()
    expect(view(page, 1)).to_contain_text("job 1 · finished", timeout=JOBS_MS)
    expect(view(page, 1).get_by_role("status")).to_have_text("job 1 is finished")
    assert page.streams == []
    assert intervals(page) == 0
    save(page)
    copied = copies(lab.notebooks / "Untitled.ipynb")
    page.page.goto("about:blank")
    asked: list[str] = []
    page.page.on("request", lambda request: asked.append(request.url))
    page.open(copied.name)
    for number in range(1, COPIES + 1):
        page.output(f"job {number} · finished").first.scroll_into_view_if_needed()
        expect(view(page, number)).to_contain_text("finished")
    assert [url for url in asked if "/acai/api/" in url] == []
    assert page.streams == []
    assert intervals(page) == 0
    button(page, "details", COPIES).click()
    expect(view(page, COPIES).get_by_role("list", name=f"job {COPIES}: states")).to_contain_text("running")
    texts = odd(copied)
    page.open("odd.ipynb")
    expect(view(page, 1)).to_contain_text("finished")
    for text in texts:
        expect(page.output(text).locator("pre").filter(visible=True)).to_have_text(text)
    expect(page.notebook.get_by_role("region").filter(has_text="undefined")).to_have_count(0)
    page.forgive("is not iterable|The above error occurred")  # what cannot be drawn


def intervals(page: LabPage) -> int:
    found: int = page.page.evaluate("() => window.acaiIntervals()")
    return found


def odd(notebook: Path) -> list[str]:
    """Write a notebook with outputs that are ours by name alone, before one that is; returns their texts."""
    kept = nbformat.read(notebook, as_version=4)
    good = kept.cells[0].outputs[0]
    row: dict[str, object] = {"job": {}, "state": {}}
    table = {"tag": "sweep-1", "parameters": [], "metrics": [], "rows": [row]}
    page = {"kind": "job", "columns": ["state"], "rows": [None]}
    unreadable = {**good.data[JOB]["job"]["attempts"][0], "warnings": 5}
    changes: list[dict[str, object]] = [
        {"attempts": [None]},
        {"inputs": [None]},
        {"state": {}},
        {"attempts": [unreadable]},
    ]
    outputs = [copy.deepcopy(good) for _ in changes]
    for number, (output, change) in enumerate(zip(outputs, changes, strict=True), start=COPIES + 1):
        output.data[JOB]["number"] = number
        output.data[JOB]["job"].update(change)
    for kind, found in (
        ("sweep", {"project": "default", "count": 1, "table": table}),
        ("jobs", {"project": "default", "request": {}, "page": page}),
    ):
        outputs.append(nbformat.v4.new_output("display_data", {JOB.replace("job", kind): found}))
    texts = [f"what others see of output {number}" for number, _ in enumerate(outputs)]
    for output, text in zip(outputs, texts, strict=True):
        output.data["text/plain"] = text
    kept.cells = [nbformat.v4.new_code_cell("", outputs=[*outputs, good])]
    nbformat.write(kept, notebook.with_name("odd.ipynb"))
    return texts


def copies(notebook: Path) -> Path:
    """Write a notebook with a hundred views like the one that this one has kept."""
    kept = nbformat.read(notebook, as_version=4)
    outputs = [output for cell in kept.cells for output in cell.get("outputs", []) if JOB in output.get("data", {})]
    found = [copy.deepcopy(outputs[0]) for _ in range(COPIES)]
    for number, output in enumerate(found, start=1):
        output.data["text/plain"] = f"job {number} · finished"
        output.data[JOB]["number"] = output.data[JOB]["job"]["number"] = number
    kept.cells = [
        nbformat.v4.new_code_cell("", outputs=found[start : start + SHOWN_OUTPUTS])
        for start in range(0, COPIES, SHOWN_OUTPUTS)
    ]
    written = notebook.with_name("copies.ipynb")
    nbformat.write(kept, written)
    return written
