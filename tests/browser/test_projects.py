"""One person in two projects: which one is shown is chosen in the panel, and what is written into cells names it."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest
from playwright.sync_api import expect

from tests.browser.page import JOBS_MS

if TYPE_CHECKING:
    from playwright.sync_api import Locator

    from tests.browser.conftest import OpenPage, StartLab
    from tests.browser.page import LabPage

pytestmark = [pytest.mark.browser, pytest.mark.timeout(300)]
SETUP = """%load_ext acai_jupyter
from pathlib import Path
_ = Path("here.csv").write_text("a\\n1\\n"), Path("there.csv").write_text("b\\n2\\n")
%acai put here.csv /data/ --as ours
%acai project create vision
%acai --project vision put there.csv /pictures/ --as theirs
print("all is there")"""


def switch(page: LabPage, project: str) -> None:
    page.panel.get_by_role("button", name="Project").click()
    page.page.get_by_role("menu").get_by_text(project, exact=True).click()
    expect(page.panel.get_by_role("button", name="Project")).to_have_text(f"Project {project}")


def recent(page: LabPage) -> Locator:
    return page.panel.get_by_role("region", name="Recent jobs").get_by_role("button")


def data_of(page: LabPage) -> Locator:
    page.page.get_by_role("tab", name="ACAI Data", exact=True).click()
    return page.page.get_by_role("region", name="ACAI Data", exact=True)


def log_of_job(page: LabPage) -> Locator:
    """The log of job 1 in the tab that is in front."""
    tab = page.page.get_by_role("tabpanel").locator("visible=true")
    tab.get_by_role("button", name="log, job 1", exact=True).click()
    return tab.get_by_role("log", name="Log of job 1")


def see_vision(page: LabPage) -> None:
    """All that is shown beside notebooks begins anew."""
    switch(page, "vision")
    expect(recent(page)).to_have_count(0)
    status = page.page.get_by_role("button", name="ACAI vision: ")
    expect(status).to_have_text("ACAI vision: 0 running · $0.00 today")
    expect(page.fact("Project")).to_have_text("vision")
    data = data_of(page)
    expect(data.get_by_role("treeitem", name="pictures")).to_be_visible()
    expect(data.get_by_role("treeitem", name="data")).to_have_count(0)
    data.get_by_role("tab", name="file sets").click()
    data.get_by_role("button", name="theirs").first.click()
    expect(page.page.get_by_role("tab", name="theirs · vision", exact=True)).to_be_visible()


def run_in_vision(page: LabPage) -> None:
    """What becomes a job now is one of the chosen project, and says so."""
    page.page.get_by_role("tab", name="Untitled.ipynb").click()
    page.notebook.get_by_role("textbox").last.click()
    page.page.keyboard.insert_text("print('in vision')")
    page.page.get_by_role("button", name="Run as Job").first.click()
    cell = page.notebook.get_by_role("textbox").last
    expect(cell).to_contain_text("%%acai run --project vision")
    cell.click()
    page.page.keyboard.press("Shift+Enter")
    expect(page.output("in vision")).to_be_visible(timeout=JOBS_MS)


def test_somebody_in_two_projects_switches_between_them(start_lab: StartLab, open_page: OpenPage) -> None:
    page = open_page(start_lab()).open()
    page.open_panel()
    expect(page.state).to_have_text("Connected.")
    page.new_notebook()  # what is still being opened takes the focus
    page.panel.get_by_role("button", name="Project").click()
    menu = page.page.get_by_role("menu")
    expect(menu).to_contain_text("default")
    expect(menu).to_contain_text("There is no other project for you here")
    page.page.keyboard.press("Escape")
    expect(page.panel.get_by_role("button", name="Project")).to_be_focused()
    page.run(SETUP)
    expect(page.output("all is there")).to_be_visible(timeout=JOBS_MS)
    page.run("%%acai run --memory 512Mi --name here\nprint('in default')")
    expect(recent(page)).to_contain_text("job 1 here", timeout=JOBS_MS)
    recent(page).click()
    expect(page.page.get_by_role("tab", name="job 1", exact=True)).to_be_visible()
    data = data_of(page)
    expect(data.get_by_role("treeitem", name="data")).to_be_visible()
    page.open_panel()

    see_vision(page)
    run_in_vision(page)
    page.open_panel()
    expect(recent(page)).to_contain_text("job 1", timeout=JOBS_MS)
    page.look_at("projects", page.panel)
    with page.until_kept("acai-job-1@vision"):
        recent(page).click()
        own = page.page.get_by_role("tab", name="job 1 · vision", exact=True)
        expect(own).to_be_visible()
    expect(log_of_job(page)).to_contain_text("in vision")

    # The other tab has stayed where it was opened, and lives on.
    page.page.get_by_role("tab", name="job 1", exact=True).click()
    expect(log_of_job(page)).to_contain_text("in default")
    page.page.get_by_role("tab", name="Untitled.ipynb").click()
    page.run("%acai tag 1 +seen")
    page.page.get_by_role("tab", name="job 1", exact=True).click()
    expect(page.page.get_by_role("tabpanel").locator("visible=true").get_by_text("seen")).to_be_visible()

    page.page.reload()
    expect(page.panel.get_by_role("button", name="Project")).to_have_text("Project vision", timeout=JOBS_MS)
    expect(page.page.get_by_role("tab", name="job 1 · vision", exact=True)).to_be_visible()
    page.page.get_by_role("tab", name="job 1", exact=True).click()
    expect(log_of_job(page)).to_contain_text("in default")
    switch(page, "default")
    expect(recent(page)).to_contain_text("job 1 here")
    page.page.get_by_role("tab", name="Untitled.ipynb").click()
    page.wait_for_kernel()
