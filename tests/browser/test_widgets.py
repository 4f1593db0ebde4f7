"""Views that dashboards and front ends without our extension have by ipywidgets, as a person uses them."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest
from playwright.sync_api import expect

from tests.browser.page import JOBS_MS
from tests.browser.test_views import LOAD, waits_for

if TYPE_CHECKING:
    from playwright.sync_api import Locator

    from tests.browser.conftest import OpenPage, StartLab
    from tests.browser.page import LabPage

pytestmark = [pytest.mark.browser, pytest.mark.timeout(300)]


def widgets(page: LabPage) -> Locator:
    """The last output of widgets: they have no role of their own."""
    return page.notebook.locator(".jp-OutputArea-output").filter(has=page.page.locator(".jupyter-widgets")).last


def test_a_job_in_a_dashboard_is_watched_searched_ended_and_run_again(start_lab: StartLab, open_page: OpenPage) -> None:
    lab = start_lab()
    page = open_page(lab).open()
    gate = lab.notebooks / "gate"
    page.new_notebook()
    page.run(f"{LOAD}\nimport acai_jupyter as acai")
    page.run(waits_for(str(gate)).replace("%%acai run", "%%acai run --detach"))
    page.run("acai.widgets.JobView(1)")
    job = widgets(page)
    step = job.get_by_role("list", name="states").get_by_role("listitem").filter(has_text="running")
    expect(step).to_have_attribute("aria-current", "step", timeout=JOBS_MS)
    expect(job.get_by_role("img", name="CPU")).to_be_visible(timeout=JOBS_MS)
    job.get_by_role("button", name="log", exact=True).click()
    expect(job.get_by_label("the end of the log")).to_have_text("here\n", timeout=JOBS_MS)
    field = job.get_by_placeholder("search in the log")
    field.fill("nowhere")
    expect(job).to_contain_text("0 of the last 1 lines")
    field.fill("HERE")
    expect(job.get_by_label("the end of the log")).to_have_text("here")
    page.photograph("widget-live-light")
    assert page.barriers(job) == []
    job.get_by_role("button", name="kill", exact=True).click()
    job.get_by_role("button", name="yes, end job 1").click()
    expect(job).to_contain_text("job 1 was killed by", timeout=JOBS_MS)
    expect(job.get_by_role("button", name="kill", exact=True)).to_have_count(0)
    gate.touch()
    job.get_by_role("button", name="run again").click()
    expect(job).to_contain_text("job 2 · finished", timeout=JOBS_MS)
    job.get_by_role("button", name="provenance").first.click()
    expect(job.get_by_role("img")).not_to_have_count(0)
    page.use_theme("JupyterLab Dark")
    page.photograph("widget-done-dark")
    assert page.barriers(job) == []
    page.run("acai.widgets.JobsTable()")
    table = widgets(page)
    expect(table.get_by_role("row")).to_have_count(3)
    table.get_by_role("textbox").fill("state = 'finished'")
    table.get_by_role("textbox").press("Enter")
    expect(table.get_by_role("row")).to_have_count(2)
    page.photograph("widget-jobs-dark")
    assert page.barriers(table) == []
