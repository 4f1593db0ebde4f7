"""A server with a strict Content-Security-Policy: nothing of ours needs more than JupyterLab itself does."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest
from playwright.sync_api import expect

from tests.browser.page import JOBS_MS
from tests.browser.test_cell_settings import open_form
from tests.browser.test_cells import bar
from tests.browser.test_explored_graph import GraphTab
from tests.browser.test_jobs_table import Table

if TYPE_CHECKING:
    from tests.browser.conftest import OpenPage, StartLab

pytestmark = [pytest.mark.browser, pytest.mark.timeout(300)]
# JupyterLab compiles its schemas of settings, writes styles into the page, and shows pictures that it has as text.
POLICY = (
    "default-src 'self'; script-src 'self' 'unsafe-eval'; style-src 'self' 'unsafe-inline'; img-src 'self' data: blob:"
    "; font-src 'self' data:; worker-src 'self' blob:; object-src 'none'; frame-ancestors 'self'; "
    "report-uri /api/security/csp-report"
)


def test_panels_table_graph_and_form_work_under_a_strict_policy(start_lab: StartLab, open_page: OpenPage) -> None:
    headers = {"headers": {"Content-Security-Policy": POLICY}}
    page = open_page(start_lab(options=(f"--ServerApp.tornado_settings={headers}",)))
    told = page.page.goto(page.lab.url)
    assert told is not None
    assert told.headers["content-security-policy"] == POLICY
    page.page.get_by_role("tab", name="ACAI", exact=True).wait_for()
    refused = [one.rpartition(" at ")[2] for one in page.troubles if "Content Security Policy" in one]
    assert all("/lab?" in place for place in refused)  # what stands in JupyterLab's page itself
    page.troubles = []
    page.open_panel()
    expect(page.state).to_have_text("Connected.")
    page.new_notebook()
    page.run("%load_ext acai_jupyter")
    page.run("%%acai run --memory 512Mi --output net\nopen('output/a.txt', 'w').write('a')")
    expect(bar(page, 1)).to_contain_text("job 1 · finished", timeout=JOBS_MS)
    form = open_form(page, "%%acai run")
    form.tells("machine", "512 MB")
    page.choose("View", "ACAI Jobs")
    expect(Table(page).count).to_have_text("1 job")
    page.choose("View", "ACAI Provenance")
    expect(GraphTab(page).node("net:1")).to_be_visible()
    page.choose("View", "ACAI Data")
    files = page.page.get_by_role("tree", name="files")
    files.get_by_role("treeitem").filter(has_text="net/").click()
    files.get_by_role("treeitem").filter(has_text="a.txt").dblclick()
    expect(page.page.get_by_role("tab", name="a.txt · versions")).to_be_visible()
    # One run tells of no other machine, which the form has come to ask.
    page.troubles = [one for one in page.troubles if "/provisions" not in one]
