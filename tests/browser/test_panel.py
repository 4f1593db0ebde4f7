"""A person looks at the panel."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest
from playwright.sync_api import expect

if TYPE_CHECKING:
    from tests.browser.conftest import OpenPage, StartLab

pytestmark = [pytest.mark.browser, pytest.mark.timeout(300)]  # the first one builds and installs the wheel


def test_the_panel_says_what_it_is_connected_to_in_both_themes(start_lab: StartLab, open_page: OpenPage) -> None:
    page = open_page(start_lab()).open()
    page.open_panel()
    expect(page.state).to_have_text("Connected.")
    expect(page.fact("Project")).to_have_text("default")
    expect(page.fact("User")).to_contain_text("(admin)")
    expect(page.fact("Data in")).to_have_text(str(page.lab.home / ".local/share/acai"))
    expect(page.fact("Runner")).to_have_text("process")
    expect(page.fact("Database")).to_have_text("sqlite")
    expect(page.fact("Object store")).to_have_text("filesystem")
    expect(page.fact("Live updates")).to_have_text("live")
    expect(page.try_again).to_have_count(0)
    for theme in ("JupyterLab Light", "JupyterLab Dark"):
        page.use_theme(theme)
        page.photograph(f"panel-{theme.split()[1].lower()}")
        assert page.barriers() == []


def test_a_second_jupyterlab_of_the_same_person_uses_the_data_of_the_first(
    start_lab: StartLab, open_page: OpenPage
) -> None:
    start_lab()
    page = open_page(start_lab()).open()
    page.choose("View", "ACAI Panel")
    expect(page.state).to_have_text("Connected through another server of yours, which has the data open.")
    expect(page.fact("Live updates")).to_have_text("live")
    page.new_notebook()
    page.run("%load_ext acai_jupyter\n%acai status")
    expect(page.output("project default")).to_contain_text("data in ~/.local/share/acai")
    expect(page.errors).to_have_count(0)
