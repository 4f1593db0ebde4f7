"""What a cell shows of its job: live, without a kernel, and the same tomorrow."""

from __future__ import annotations

import json
import re
from typing import TYPE_CHECKING

import nbformat
import pytest
from nbconvert import HTMLExporter
from playwright.sync_api import expect

from tests.browser.page import AXE, JOBS_MS

if TYPE_CHECKING:
    from playwright.sync_api import Locator

    from tests.browser.conftest import OpenPage, StartLab
    from tests.browser.page import LabPage

pytestmark = [pytest.mark.browser, pytest.mark.timeout(300)]
LOAD = "%load_ext acai_jupyter"
MOST_NODES = 20_000
"""So many nodes has a page that is quick with a log of any length: 5,000 lines of it, and what the cell prints."""
EVIL = "<img src=x onerror=\\\"document.title='owned'\\\">"


def waits_for(gate: str, more: str = "") -> str:
    """A cell's program that prints, and ends when a file is there."""
    return (
        "%%acai run --memory 512Mi\nimport pathlib, sys, time\n"
        f"print('\\x1b[31mhere\\x1b[0m'); sys.stdout.flush()\n{more}"
        f"while not pathlib.Path({gate!r}).exists(): time.sleep(0.05)\nprint('over')"
    )


def view(page: LabPage, number: int) -> Locator:
    return page.notebook.get_by_role("region", name=f"job {number}", exact=True)


def button(page: LabPage, words: str, number: int) -> Locator:
    return page.notebook.get_by_role("button", name=f"{words}, job {number}", exact=True)


def leads_to_provenance(page: LabPage, *parts: Locator) -> None:
    """Say that the context menu of each part shows where it is from."""
    for part in parts:
        part.click(button="right")
        expect(page.page.get_by_role("menu").get_by_text("Show Provenance", exact=True)).to_be_visible()
        page.page.keyboard.press("Escape")


def save(page: LabPage) -> None:
    """Save the notebook; return when the server has it."""
    with page.page.expect_response(lambda answer: answer.request.method == "PUT" and "/api/contents/" in answer.url):
        page.page.keyboard.press("Control+s")


def barriers(page: LabPage, part: Locator) -> list[str]:
    page.page.evaluate(AXE.read_text())
    page.page.evaluate("document.body.style.height = '100vh'")
    found = json.loads(part.evaluate("async node => JSON.stringify(await axe.run(node))"))
    return [
        f"{rule['id']}: {rule['help']}" for rule in found["violations"] if rule["impact"] in ("serious", "critical")
    ]


def test_a_job_is_shown_live_and_its_end_stays_when_kernel_page_and_server_began_anew(
    start_lab: StartLab, open_page: OpenPage
) -> None:
    lab = start_lab()
    page = open_page(lab).open()
    gate = lab.notebooks / "gate"
    page.new_notebook()
    page.run(f"{LOAD}\n%acai status")
    expect(page.output("ACAI")).to_be_visible()
    page.run(waits_for(str(gate), "import acai_jupyter; acai_jupyter.tag('epoch', 3)\n"))
    step = view(page, 1).get_by_role("listitem").filter(has_text="running")
    expect(step).to_have_attribute("aria-current", "step", timeout=JOBS_MS)
    expect(view(page, 1).get_by_role("img", name="CPU")).to_be_visible(timeout=JOBS_MS)
    expect(view(page, 1)).to_contain_text("epoch 3", timeout=JOBS_MS)
    page.look_at("view-live", view(page, 1))
    save(page)
    page.choose("Kernel", "Restart Kernel…")
    page.page.get_by_role("button", name="Confirm Kernel Restart").click()
    page.wait_for_kernel()
    expect(step).to_have_attribute("aria-current", "step")
    page.open_panel()
    lab.stop()
    expect(page.state).to_contain_text("reconnects by itself")
    lab.start()
    expect(page.state).to_have_text("Connected.", timeout=JOBS_MS)
    page.page.reload()
    expect(step).to_have_attribute("aria-current", "step", timeout=JOBS_MS)
    gate.touch()
    expect(view(page, 1)).to_contain_text("job 1 · finished", timeout=JOBS_MS)
    button(page, "log", 1).click()
    log = view(page, 1).get_by_role("log", name="Log of job 1")
    expect(log).to_have_text("here\nover\n")
    page.notebook.get_by_role("searchbox", name="Search in the log of job 1").fill("OVER")
    expect(log).to_have_text("over\n")
    button(page, "details", 1).click()
    page.look_at("view-done", view(page, 1))
    save(page)
    kept = json.loads((lab.notebooks / "Untitled.ipynb").read_text())
    bundles = [output["data"] for cell in kept["cells"] for output in cell["outputs"] if "data" in output]
    views = [bundle["application/vnd.acai.job+json"] for bundle in bundles if "application/vnd.acai.job+json" in bundle]
    assert [one["job"]["state"] for one in views] == ["finished"]
    page.forgive(".")  # what JupyterLab says of a server that was away


def test_jobs_are_ended_and_run_again_by_the_keyboard(start_lab: StartLab, open_page: OpenPage) -> None:
    lab = start_lab()
    page = open_page(lab).open()
    gate = lab.notebooks / "gate"
    page.new_notebook()
    page.run(LOAD)
    page.run(waits_for(str(gate)))
    kill = button(page, "kill", 1)
    kill.focus(timeout=JOBS_MS)
    page.page.keyboard.press("Enter")
    expect(button(page, "let it run", 1)).to_be_focused()
    page.notebook.get_by_role("button", name="yes, end job 1").press("Enter")
    expect(view(page, 1)).to_contain_text("job 1 was killed by", timeout=JOBS_MS)
    gate.touch()
    button(page, "run again", 1).dblclick()  # which is once, or the sweep would be another
    expect(view(page, 2)).to_contain_text("job 2 · finished", timeout=JOBS_MS)
    page.run("%%acai run --sweep lr=1,2 --memory 512Mi --detach\nimport time\nwhile True: time.sleep(0.05)")
    sweep = page.notebook.get_by_role("region", name="sweep-3", exact=True)
    sweep.get_by_role("button", name="kill all").press("Enter")
    expect(sweep.get_by_role("button", name="let them run")).to_be_focused()
    sweep.get_by_role("button", name="yes, end all jobs of sweep-3").press("Enter")
    expect(sweep).to_contain_text("2 jobs · 2 killed", timeout=JOBS_MS)
    expect(sweep.get_by_role("button", name="kill all")).to_have_count(0)


def test_a_sweep_has_a_bar_that_ends_it_and_opens_its_jobs(start_lab: StartLab, open_page: OpenPage) -> None:
    page = open_page(start_lab()).open()
    page.new_notebook()
    page.run(LOAD)
    page.run("%%acai run --memory 512Mi\npass")
    expect(view(page, 1)).to_contain_text("finished", timeout=JOBS_MS)
    page.run("%%acai run --sweep lr=1,2 --memory 512Mi --detach\nimport time\nwhile True: time.sleep(0.05)")
    bar = page.notebook.get_by_role("region", name="the cell's sweep-2", exact=True)
    expect(bar).to_contain_text(re.compile(r"sweep-2 · 2 jobs · .*running"), timeout=JOBS_MS)
    page.look_at("cell-sweep", bar)
    bar.get_by_role("button", name="kill all jobs of the cell's sweep-2").press("Enter")
    expect(bar.get_by_role("button", name="let them run")).to_be_focused()
    bar.get_by_role("button", name="yes, end all jobs of sweep-2").press("Enter")
    expect(bar).to_contain_text("2 jobs · 2 killed", timeout=JOBS_MS)
    expect(bar.get_by_role("button", name="kill all")).to_have_count(0)
    bar.get_by_role("button", name="sweep-2 in the table of jobs").click()
    expect(page.page.get_by_label("Which jobs")).to_have_value("'sweep-2' in tags")
    jobs = page.page.get_by_role("grid", name="jobs")
    expect(jobs).to_have_attribute("aria-rowcount", "3", timeout=JOBS_MS)


def test_what_others_wrote_is_text_everywhere_and_lists_are_live(start_lab: StartLab, open_page: OpenPage) -> None:
    page = open_page(start_lab()).open()
    page.new_notebook()
    page.run(LOAD)
    page.run(f'%%acai run --name "{EVIL}" --tag "a={EVIL}"\nprint({EVIL!r})')
    expect(view(page, 1)).to_contain_text("finished", timeout=JOBS_MS)
    button(page, "log", 1).click()
    expect(view(page, 1).get_by_role("log")).to_contain_text("<img")
    page.run("%acai jobs")
    table = page.notebook.get_by_role("region", name="jobs", exact=True)
    expect(table.get_by_role("row")).to_have_count(2)
    leads_to_provenance(page, table.get_by_role("row").nth(1), view(page, 1))
    page.run("%%acai run --detach\nprint('again')")
    expect(table.get_by_role("row")).to_have_count(3, timeout=JOBS_MS)
    page.run("%%acai run --detach\nraise SystemExit(1)")
    table.get_by_role("button", name="job", exact=True).click()
    expect(table.get_by_role("columnheader").first).to_have_attribute("aria-sort", "ascending")
    field = table.get_by_role("searchbox", name="Which jobs")
    field.fill("number = 1")
    field.press("Enter")
    expect(table.get_by_role("row")).to_have_count(2)
    field.fill("")
    field.press("Enter")
    expect(table.get_by_role("row")).to_have_count(4, timeout=JOBS_MS)
    table.get_by_role("button", name="1 failed").click()
    expect(table.get_by_role("row")).to_have_count(2)
    expect(table.get_by_role("button", name="job 3")).to_be_visible()
    table.get_by_role("button", name="1 failed").click()
    expect(table.get_by_role("row")).to_have_count(4)
    field.fill("number >")
    field.press("Enter")
    expect(table.get_by_role("alert")).to_be_visible()
    assert barriers(page, table) == []
    page.photograph("view-jobs-light")
    page.use_theme("JupyterLab Dark")
    assert barriers(page, table) == []
    page.photograph("view-jobs-dark")
    assert page.page.title() != "owned"
    page.forgive("400")  # the query that is none


def test_a_million_lines_neither_stop_the_page_nor_fill_the_notebook(start_lab: StartLab, open_page: OpenPage) -> None:
    lab = start_lab()
    page = open_page(lab).open()
    gate = lab.notebooks / "gate"
    page.new_notebook()
    page.run(LOAD)
    page.run(
        "%%acai run\nimport itertools, pathlib\n"
        "for n in itertools.count():\n    print('line', n, 'of more than a million')\n"
        f"    if n >= 1_000_000 and n % 1_000 == 0 and pathlib.Path({str(gate)!r}).exists(): break\n"
        "print('over')"
    )
    expect(page.output("line 1000 of more")).to_be_visible(timeout=JOBS_MS)
    page.notebook.get_by_role("textbox").last.click()
    page.page.keyboard.type("typed = 'meanwhile'")
    expect(page.notebook.get_by_role("textbox").last).to_have_text("typed = 'meanwhile'")
    gate.touch()
    expect(view(page, 1)).to_contain_text("job 1 · finished", timeout=120_000)
    expect(page.output("over").last).to_be_visible(timeout=JOBS_MS)
    button(page, "log", 1).click()
    log = view(page, 1).get_by_role("log")
    expect(log).to_contain_text("over", timeout=JOBS_MS)
    log.press("Home")
    expect(log).to_contain_text("line 0 of more", timeout=JOBS_MS)
    assert page.notebook.locator("*").count() < MOST_NODES
    page.notebook.get_by_role("textbox").last.click()
    save(page)
    notebook = lab.notebooks / "Untitled.ipynb"
    assert re.search(r"line \d{7,} of more than a million", notebook.read_text())
    assert notebook.stat().st_size < 1_000_000
    page.notebook.get_by_role("searchbox", name="Search in the log of job 1").fill("LINE 4711 of")
    expect(log.locator("code")).to_have_text(["line 4711 of more than a million\n"])
    expect(view(page, 1).get_by_role("status").filter(has_text=re.compile(r"^1 of [\d,]{9,} lines$"))).to_be_visible()


def test_a_sweep_is_a_live_table_from_which_provenance_opens(start_lab: StartLab, open_page: OpenPage) -> None:
    lab = start_lab()
    page = open_page(lab).open()
    gate = lab.notebooks / "gate"
    page.new_notebook()
    page.run(LOAD)
    page.run(
        "%%acai run --sweep lr=0.1,0.2 --memory 512Mi --output net --detach\n"
        "import acai_jupyter, os, pathlib, time\n"
        f"while not pathlib.Path({str(gate)!r}).exists(): time.sleep(0.05)\n"
        "acai_jupyter.tag('accuracy', float(os.environ['ACAI_PARAM_LR']))"
    )
    sweep = page.notebook.get_by_role("region", name="sweep-1", exact=True)
    expect(sweep.get_by_text("running").first).to_be_visible(timeout=JOBS_MS)
    expect(sweep.get_by_role("row")).to_have_count(3)
    page.choose("Kernel", "Shut Down Kernel")
    gate.touch()
    expect(sweep).to_contain_text("2 jobs · 2 finished", timeout=JOBS_MS)
    expect(sweep).to_contain_text("best by accuracy: job 2 (0.2)", timeout=JOBS_MS)
    page.look_at("view-sweep", sweep)
    leads_to_provenance(page, sweep.get_by_role("row").nth(1))
    sweep.get_by_role("button", name="highest").click()
    expect(sweep).to_contain_text("best by accuracy: job 1 (0.1)")
    save(page)
    kept = (lab.notebooks / "Untitled.ipynb").read_text()
    assert '"count": 2' in kept
    assert '"state": "queued"' not in kept
    exporter = HTMLExporter()  # type: ignore[no-untyped-call]  # nbconvert ships no types
    elsewhere, _ = exporter.from_notebook_node(nbformat.reads(kept, as_version=4))
    assert "2 jobs · 2 finished" in elsewhere
    assert re.search(r"<td[^>]*>0.2</td><td[^>]*>finished</td><td[^>]*>0.2</td>", elsewhere)
    sweep.get_by_role("button", name="job 2", exact=True).click()
    button(page, "provenance", 2).click()
    graph = page.page.get_by_role("region", name="provenance", exact=True)
    expect(graph.get_by_role("status")).to_contain_text("Provenance of net:")
    page.photograph("provenance-tab-light")
    assert barriers(page, graph) == []
    graph.get_by_role("button", name="job 2").dblclick()
    expect(graph.get_by_role("status")).to_have_text("Provenance of job 2")
    page.use_theme("JupyterLab Dark")
    page.photograph("provenance-tab-dark")
    assert barriers(page, graph) == []
    graph.get_by_role("button", name="back", exact=True).click()
    expect(graph.get_by_role("status")).to_contain_text("Provenance of net:")
