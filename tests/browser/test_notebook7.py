"""Notebook 7: the same panels and forms on its pages, which have one thing in the middle and tabs below it."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

import pytest
from playwright.sync_api import expect

from tests.browser.page import JOBS_MS, LabPage
from tests.browser.test_cells import bar
from tests.browser.test_data import Data
from tests.browser.test_explored_graph import GraphTab
from tests.browser.test_job_form import Form, code
from tests.packaging import distributions

if TYPE_CHECKING:
    from playwright.sync_api import Locator, Page

    from tests.browser.conftest import OpenPage, StartLab
    from tests.browser.jupyterlab import JupyterLab
    from tests.packaging.distributions import Installation

pytestmark = [pytest.mark.browser, pytest.mark.timeout(600)]
# What Notebook 7.6 itself says, on each page and when it opens one, with and without extensions.
OWN_FAULTS = ("reading 'schema'", "reading 'updateRenderOption'")
PUT = """import pathlib
place = pathlib.Path("raw"); place.mkdir()
(place / "squares.csv").write_text("number,square\\n7,49\\n")
(place / "notes.txt").write_text("what was measured")
%acai put raw /raw --as raw"""
JOB = "import pathlib; pathlib.Path('output/made').write_text('made')"


@pytest.fixture(scope="session")
def installed(tmp_path_factory: pytest.TempPathFactory) -> Installation:
    return distributions.install(distributions.shared(tmp_path_factory.getbasetemp()), "notebook7")


class NotebookPage(LabPage):
    """A page of Notebook 7."""

    def __init__(self, page: Page, lab: JupyterLab) -> None:
        super().__init__(page, lab)
        # JupyterLab says nothing in its menus; here stands what its status bar says.
        self.glance = page.get_by_role("navigation").get_by_role("button", name=re.compile("^ACAI: "))

    def tab(self, name: str) -> Locator:
        """A tab below what the page shows."""
        return self.page.locator("#jp-down-stack").get_by_role("tab", name=name, exact=True)

    def opened_by(self, act: Locator) -> NotebookPage:
        """Click on what opens a page, and return that page."""
        with self.page.context.expect_page() as coming:
            act.click()
        return NotebookPage(coming.value, self.lab)

    def assert_calm(self) -> None:
        self.troubles[:] = [one for one in self.troubles if not any(own in one for own in OWN_FAULTS)]
        assert self.troubles == []


def test_a_person_works_with_jobs_and_data_on_the_pages_of_notebook_7(start_lab: StartLab, open_page: OpenPage) -> None:
    lab = start_lab("jupyter-notebook")
    (lab.notebooks / "first try.py").write_text("print('tried')\n")
    tree = open_tree(open_page(lab))
    page = submit_a_script(tree)
    run_a_cell(page)
    look_at_tabs(page)
    look_at_versions(page)
    expect(tree.panel.get_by_role("button", name=re.compile("^job 2"))).to_be_visible()
    expect(tree.glance).to_contain_text("0 running")
    for one in (page, tree):
        one.assert_calm()


def open_tree(plain: LabPage) -> NotebookPage:
    """The page of files, with the panel beside it and the table of jobs below."""
    tree = NotebookPage(plain.page, plain.lab)
    plain.troubles = tree.troubles  # what both heard is judged once
    plain.page.goto(plain.lab.url_of("tree"))
    tree.choose("View", "ACAI Panel")
    expect(tree.state).to_have_text("Connected.", timeout=JOBS_MS)
    expect(tree.glance).to_have_text("ACAI: 0 running · $0.00 today")
    tree.choose("View", "ACAI Jobs")
    expect(tree.tab("Jobs")).to_be_visible()
    table = tree.page.get_by_role("combobox", name="Which jobs")
    expect(table).to_be_visible()
    box = table.bounding_box()
    assert box is not None
    assert box["y"] < 600, "the tabs below have no room"
    tree.photograph("notebook7-tree")
    assert tree.barriers() == []
    return tree


def submit_a_script(tree: NotebookPage) -> NotebookPage:
    """From the list of files: a notebook with a page of its own, where the options of its line are open."""
    script = tree.page.get_by_role("listitem", name=re.compile("first try.py"))
    script.click(button="right")
    page = tree.opened_by(tree.page.get_by_role("menuitem", name="Submit as Job…"))
    form = Form(page)
    expect(form.field("input")).to_be_focused()
    expect(code(page, "%acai submit 'first try.py'")).to_be_visible()
    form.tells("code", "first try.py")
    form.type("memory", "512Mi")
    expect(code(page, "%acai submit 'first try.py' --memory 512Mi")).to_be_visible()
    page.photograph("notebook7-form")
    form.run.press("Enter")
    job = page.notebook.get_by_role("region", name="job 1", exact=True)
    expect(job).to_contain_text("job 1 · finished", timeout=JOBS_MS)
    page.page.reload()  # the options were asked for once
    expect(code(page, "%acai submit")).to_be_visible()
    expect(form.region).to_have_count(0)
    return page


def run_a_cell(page: NotebookPage) -> None:
    """The button of a cell's toolbar, its bar, and the job among the tabs below."""
    expect(page.page.get_by_role("button", name="Python 3 (ipykernel)", exact=True)).to_be_visible()
    code(page, "%load_ext").click()
    page.page.keyboard.press("Shift+Enter")
    code(page, "%acai submit").click()
    for key in ("Escape", "b"):
        page.page.keyboard.press(key)
    page.run(PUT)
    expect(page.output("raw:1")).to_be_visible(timeout=JOBS_MS)
    page.notebook.get_by_role("textbox").last.click()
    page.page.keyboard.insert_text(JOB)
    page.page.get_by_role("button", name="Run as Job").click()
    page.page.keyboard.insert_text(" --input raw --output made")
    page.page.keyboard.press("Shift+Enter")
    expect(bar(page, 2)).to_contain_text("job 2 · finished", timeout=JOBS_MS)
    bar(page, 2).get_by_role("button", name="job 2 in a tab").click()
    expect(page.tab("job 2")).to_be_visible()


def look_at_tabs(page: NotebookPage) -> None:
    """The graph, in front of the job's tab; the job again; and no more room below when all are closed."""
    page.choose("View", "ACAI Provenance")
    graph = GraphTab(page)
    expect(graph.node("made:1")).to_be_visible(timeout=JOBS_MS)
    graph.node("made:1").click(button="right")
    expect(page.page.get_by_role("menuitem", name="Show Provenance")).to_be_visible()
    page.page.keyboard.press("Escape")
    page.photograph("notebook7-provenance")
    assert page.barriers(graph.region) == []
    page.tab("job 2").click()
    expect(page.page.get_by_role("region", name="job 2", exact=True).last).to_be_visible()
    expect(graph.region).to_be_hidden()
    for name in ("job 2", "Provenance"):
        page.tab(name).locator(".lm-TabBar-tabCloseIcon").click()
    expect(page.page.locator("#jp-down-stack")).to_be_hidden()


def look_at_versions(page: NotebookPage) -> None:
    """Files beside the notebook, and a version in a page of its own, in JupyterLab's viewer of tables."""
    page.choose("View", "ACAI Data")
    data = Data(page)
    expect(page.panel).to_be_hidden()
    data.file("raw/").click()
    for name, shown in (("squares.csv", "file is read-only"), ("notes.txt", "what was measured")):
        data.file(name).dblclick()
        about = data.about(f"/raw/{name}")
        version = page.opened_by(about.get_by_role("button", name="open version 1"))
        expect(version.page.get_by_role("main")).to_contain_text(shown, timeout=JOBS_MS)
        expect(version.page.get_by_role("main")).to_contain_text("version 1")
        version.photograph(f"notebook7-{name}")
        version.assert_calm()
        version.page.close()
