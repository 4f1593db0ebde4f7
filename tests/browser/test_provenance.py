"""A person looks at where a result comes from, in the graph under a cell."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import pytest
from playwright.sync_api import expect

from tests.browser.graph import GraphUnderCell
from tests.browser.page import JOBS_MS

if TYPE_CHECKING:
    from tests.browser.conftest import OpenPage, StartLab
    from tests.browser.jupyterlab import JupyterLab
    from tests.browser.page import LabPage

pytestmark = [pytest.mark.browser, pytest.mark.timeout(300)]  # the first one builds and installs the wheel
DATA = """%load_ext acai_jupyter
import pathlib
pathlib.Path("raw").mkdir()
pathlib.Path("raw/a.csv").write_text("1,2")
%acai put raw /raw --as raw
"""
JOBS = (
    "%%acai run --input raw --output clean\nopen('output/c', 'w').write('c')",
    "%%acai run --input clean --output model\nprint('it learns')\nopen('output/m', 'w').write('m')",
    "%%acai run --input model --output report\nopen('output/r', 'w').write('r')",
)
SWEEP = """import acai_jupyter as acai
pathlib.Path("train.py").write_text("print('trained')")
sweep = acai.sweep("train.py", {"rate": [1, 2, 3, 4, 5, 6]}, input="clean")
print("swept", all(job.state == "finished" for job in sweep.wait()))
"""
STEAL = "steal()"
FAIL_AS_AN_IMAGE = """() => new Promise(resolve => {
    const image = new Image();
    image.onerror = () => resolve(null);
    image.src = "/lab/tree/x";
})"""
# All of its text gives a class colours; what stands directly in it, which is what counts, hides the page.
SHEET_IN_PARTS = (
    "<style><g>.acai-graph .acai-</g>body{<g>fill:var(--acai-</g>display<g>,#fff);color</g>:"
    "<g>var(--acai-</g>none<g>,#fff)</g>;}</style>"
)
HOSTILE = {
    "application/vnd.acai.provenance+json": {},
    "image/svg+xml": (
        f'<svg xmlns="http://www.w3.org/2000/svg" width="90" height="40" onload="{STEAL}">'
        f"<style>body{{display:none}}</style>{SHEET_IN_PARTS}<script>{STEAL}</script>"
        f'<image href="x" onerror="{STEAL}"/><text y="20" fill="#262b31">raw:1</text></svg>'
    ),
    "text/html": f'<details ontoggle="{STEAL}"><summary>As a table</summary><img src="x" onerror="{STEAL}"></details>',
    "text/plain": "raw:1 in words",
}
BROKEN = {
    "application/vnd.acai.provenance+json": {},
    "image/svg+xml": "<svg",
    "text/plain": "(no input) → job 1 → raw:1",
}


def run_three_jobs(page: LabPage) -> None:
    page.run(DATA)
    expect(page.output("raw:1")).to_be_visible(timeout=JOBS_MS)
    for number, cell in enumerate(JOBS, 1):
        page.run(cell)
        expect(page.output(f"job {number} · finished")).to_be_visible(timeout=JOBS_MS)


def test_a_person_follows_a_report_back_to_the_raw_data_and_opens_a_log(
    start_lab: StartLab, open_page: OpenPage
) -> None:
    page = open_page(start_lab()).open()
    page.new_notebook()
    run_three_jobs(page)
    page.run("%acai provenance report:1")
    graph = GraphUnderCell(page)
    expect(graph.about).to_contain_text("Select a node")
    assert graph.labels() == {"model:1", "job 3", "report:1"}

    graph.click_more("model:1")
    graph.wait_for("job 2")
    graph.click_more("clean:1")
    graph.wait_for("job 1")
    graph.click_more("raw:1")
    graph.wait_for("upload")

    graph.click("raw:1")
    expect(graph.about).to_contain_text("raw:1")
    graph.find("job 2")
    expect(graph.about).to_contain_text("job 2")
    graph.click_line("clean:1", "job 2")
    graph.press("Log")
    expect(page.notebook.get_by_role("region", name="Log of job 2")).to_contain_text("it learns")

    for theme, colours in (("JupyterLab Light", "none"), ("JupyterLab Dark", "invert(1) hue-rotate(180deg)")):
        page.use_theme(theme)
        expect(graph.canvas).to_have_css("filter", colours)
        page.photograph(f"provenance-{theme.split()[1].lower()}")
        assert graph.barriers() == []
    expect(page.errors).to_have_count(0)


def look_around(graph: GraphUnderCell) -> None:
    """Point, open a sweep, leave only the path between two sets, double-click."""
    card = graph.hover("job 1")
    expect(card).to_contain_text("Job 1")
    graph.click("3 more jobs")
    graph.wait_for(*(f"job {number}" for number in range(2, 8)))
    expect(card).to_have_count(0)
    graph.bring_into_sight("raw:1", "open:back:raw:1")
    graph.click_more("raw:1")
    graph.wait_for("upload")
    graph.press("Path from here")
    graph.find("clean:1")
    graph.press("Path from raw:1")
    graph.wait_without("upload")
    assert graph.labels() == {"raw:1", "job 1", "clean:1"}
    graph.double_click("raw:1")
    graph.wait_for("upload")


def test_a_person_looks_around_and_the_saved_notebook_shows_the_drawing_without_a_kernel(
    start_lab: StartLab, open_page: OpenPage
) -> None:
    page = open_page(start_lab()).open()
    page.new_notebook()
    page.run(DATA)
    page.run(JOBS[0])
    expect(page.output("job 1 · finished")).to_be_visible(timeout=JOBS_MS)
    page.run(SWEEP)
    expect(page.output("swept True")).to_be_visible(timeout=JOBS_MS)
    page.run("%acai provenance clean:1")
    look_around(GraphUnderCell(page))
    expect(page.errors).to_have_count(0)
    page.choose("File", "Save Notebook")
    expect(page.page.get_by_title("Notebook has unsaved changes")).to_have_count(0)
    page.choose("Kernel", "Shut Down Kernel")
    page.page.reload()
    drawing = page.notebook.get_by_role("img", name="Provenance of clean:1")
    expect(drawing).to_be_visible()
    expect(drawing).to_contain_text("clean:1")
    expect(drawing.locator("style")).to_have_count(1)
    page.notebook.get_by_text("Provenance of clean:1 as a table").click()
    expect(page.notebook.get_by_role("table")).to_contain_text("job 1")
    for theme in ("JupyterLab Light", "JupyterLab Dark"):
        page.use_theme(theme)
        page.photograph(f"provenance-saved-{theme.split()[1].lower()}")


def keep_outputs(lab: JupyterLab, name: str, *outputs: dict[str, Any]) -> None:
    """Write a notebook as somebody may send it, whose cells have these outputs."""
    shown = [{"output_type": "display_data", "data": one, "metadata": {}} for one in outputs]
    cell: dict[str, Any] = {
        "cell_type": "code",
        "id": "a",
        "source": "",
        "metadata": {},
        "outputs": shown,
        "execution_count": None,
    }
    kernel = {"name": "python3", "display_name": "Python 3 (ipykernel)", "language": "python"}
    notebook = {"cells": [cell], "metadata": {"kernelspec": kernel}, "nbformat": 4, "nbformat_minor": 5}
    (lab.notebooks / name).write_text(json.dumps(notebook))


class Thief:
    """What code that came from elsewhere would call if it ran; set up before the page is opened."""

    def __init__(self, page: LabPage) -> None:
        self._page = page.page
        self._thefts: list[str] = []
        self._page.expose_function("steal", lambda: self._thefts.append(self._page.url))

    def expect_nothing(self) -> None:
        """Nothing has run, not even when an image was not found."""
        self._page.evaluate(FAIL_AS_AN_IMAGE)
        assert not self._thefts


def read_kept(page: LabPage) -> None:
    """What was kept is shown, and nothing of it acts."""
    drawing = page.output("raw:1").first
    expect(drawing).to_be_visible()
    expect(page.notebook.get_by_text("As a table")).to_be_visible()
    page.notebook.get_by_text("As a table").click()
    expect(drawing.locator("script, image, style, [onload], [onerror], [ontoggle]")).to_have_count(0)


def test_what_a_notebook_from_elsewhere_has_kept_is_shown_and_runs_nothing(
    start_lab: StartLab, open_page: OpenPage
) -> None:
    lab = start_lab()
    keep_outputs(lab, "sent.ipynb", HOSTILE)
    keep_outputs(lab, "trusted.ipynb", HOSTILE, BROKEN)
    lab.installation.run("jupyter", "trust", str(lab.notebooks / "trusted.ipynb"), home=lab.home)
    page = open_page(lab)
    thief = Thief(page)
    page.open("trusted.ipynb")
    page.wait_for_kernel()
    read_kept(page)
    expect(page.output("(no input) → job 1 → raw:1")).to_be_visible()
    thief.expect_nothing()
    page.open("sent.ipynb")
    page.wait_for_kernel()
    expect(page.notebook.get_by_text("As a table")).to_be_visible()
    thief.expect_nothing()
