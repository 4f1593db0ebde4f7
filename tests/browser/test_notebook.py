"""A person works in a notebook."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest
from playwright.sync_api import expect

from tests.browser.page import JOBS_MS

if TYPE_CHECKING:
    from tests.browser.conftest import OpenPage, StartLab

pytestmark = [pytest.mark.browser, pytest.mark.timeout(300)]  # the first one builds and installs the wheel


def test_two_lines_in_a_new_notebook_say_what_the_panel_says(start_lab: StartLab, open_page: OpenPage) -> None:
    page = open_page(start_lab()).open()
    page.new_notebook()
    page.run("%load_ext acai_jupyter\n%acai status")
    said = page.output("ACAI")
    expect(said).to_contain_text("data in ~/.local/share/acai")
    page.use_theme("JupyterLab Dark")
    page.open_panel()
    expect(page.state).to_have_text("Connected.")
    for term in ("Project", "User", "Machine"):
        expect(said).to_contain_text(page.fact(term).inner_text())
    expect(said).to_contain_text(page.fact("Server").inner_text())
    expect(page.errors).to_have_count(0)


def test_the_quick_start_runs_from_top_to_bottom_and_its_events_reach_the_panel(
    start_lab: StartLab, open_page: OpenPage
) -> None:
    page = open_page(start_lab()).open("quick-start.ipynb")
    page.open_panel()
    expect(page.fact("Live updates")).to_have_text("live")
    page.wait_for_kernel()
    page.choose("Run", "Run All Cells")
    expect(page.output("job 1 · finished")).to_contain_text("digits:1 → model:1", timeout=JOBS_MS)
    expect(page.output("job 2 · finished")).to_contain_text("digits:2 → model:2", timeout=JOBS_MS)
    expect(page.notebook.locator(".acai-graph-box")).to_have_count(1)
    expect(page.output("2 file sets and 1 job.")).to_be_visible()
    expect(page.output("model:1 → model:2")).to_contain_text("input digits:1 → digits:2 (10 files)")
    expect(page.notebook.get_by_role("row", name="model:2 0.9661")).to_be_visible()
    expect(page.errors).to_have_count(0)
    expect(page.fact("Live updates")).to_have_text("live")
    assert page.events.count("job_finished") == 2
