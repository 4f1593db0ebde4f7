"""Each of our plugins can be disabled, and then only what stands on it is missing."""

from __future__ import annotations

import json
import re
from typing import TYPE_CHECKING

import pytest
from playwright.sync_api import expect

from tests.browser.page import JOBS_MS
from tests.browser.test_cells import bar
from tests.browser.test_views import save

if TYPE_CHECKING:
    from pathlib import Path

    from playwright.sync_api import Locator

    from tests.browser.conftest import OpenPage, StartLab
    from tests.browser.page import LabPage

pytestmark = [pytest.mark.browser, pytest.mark.timeout(600)]
STANDS_ON = {
    "connection": set(),
    "panel": {"connection"},
    "overview": {"connection"},
    "status": {"overview"},
    "jobs-section": {"overview", "panel"},
    "services": {"connection"},
    "views": {"services"},
    "cells": {"services"},
    "jobs": {"services"},
    "provenance": {"connection"},
    "data": {"connection"},
}
# What it says of plugins that it does not start, as nobody gives them what they need.
OF_JUPYTERLAB = re.compile("No provider for: acai-jupyter:|failed to activate")
DISABLED = [*((name,) for name in STANDS_ON), ("jobs", "data"), ("jobs", "panel")]


def below(plugin: str) -> set[str]:
    """A plugin, and all that it cannot be without."""
    return {plugin}.union(*map(below, STANDS_ON[plugin]))


def shown_by(page: LabPage) -> dict[str, Locator]:
    """What one sees of a plugin on the page of a notebook with a job."""
    menu = page.page.get_by_role("menu")
    return {
        "panel": page.page.get_by_role("tab", name="ACAI", exact=True),
        "status": page.page.get_by_role("button", name=re.compile("^ACAI: ")),
        "jobs-section": page.panel.get_by_role("region", name="Recent jobs"),
        "views": page.notebook.get_by_role("region", name="job 1", exact=True),
        "cells": bar(page, 1),
        "jobs": menu.get_by_text("ACAI Jobs", exact=True),
        "provenance": menu.get_by_text("ACAI Provenance", exact=True),
        "data": menu.get_by_text("ACAI Data", exact=True),
    }


def disable(home: Path, plugins: tuple[str, ...]) -> None:
    folder = home / ".jupyter" / "labconfig"
    folder.mkdir(parents=True, exist_ok=True)
    disabled = {f"acai-jupyter:{plugin}": True for plugin in plugins}
    (folder / "page_config.json").write_text(json.dumps({"disabledExtensions": disabled}))


def open_without(page: LabPage, plugins: tuple[str, ...]) -> set[str]:
    """Open the page without some plugins, and return which others are not there either."""
    disable(page.lab.home, plugins)
    page.page.goto(page.lab.url.replace("/lab?", "/lab/tree/Untitled.ipynb?reset&"))
    expect(page.notebook.get_by_role("textbox")).to_have_count(2)
    missing = {name for name in STANDS_ON if below(name) & set(plugins)}
    shown = shown_by(page)
    if "panel" not in missing:
        shown["panel"].click()
    page.page.get_by_role("menuitem", name="View", exact=True).click()
    for name, part in shown.items():
        expect(part).to_have_count(0 if name in missing else 1)
    page.page.keyboard.press("Escape")
    return missing


def press_all(page: LabPage, missing: set[str]) -> None:
    """Press what opens something: it opens what can be opened, and does nothing wrong where that is missing."""
    shown = shown_by(page)
    if "jobs-section" not in missing:
        row = shown["jobs-section"].get_by_text("job 1")
        row.click()
        expect(shown["jobs-section"].get_by_role("button")).to_have_count(0 if "jobs" in missing else 1)
    elif "cells" not in missing and "jobs" not in missing:
        shown["cells"].get_by_role("button", name="job 1 in a tab").click()
    if missing.isdisjoint({"jobs", "cells"}) or missing.isdisjoint({"jobs", "jobs-section"}):
        expect(page.page.get_by_role("tab", name="job 1", exact=True)).to_be_visible()
    if "status" not in missing:
        expect(shown["status"]).to_be_enabled(enabled="panel" not in missing)


def test_each_plugin_can_be_missing_and_the_others_work(start_lab: StartLab, open_page: OpenPage) -> None:
    page = open_page(start_lab()).open()
    page.new_notebook()
    page.run("%load_ext acai_jupyter")
    page.run("%%acai run --memory 512Mi\nprint('said')")
    expect(bar(page, 1)).to_contain_text("job 1 · finished", timeout=JOBS_MS)
    for key in ("Escape", "d", "d"):
        page.page.keyboard.press(key)  # the empty cell below
    expect(page.notebook.get_by_role("textbox")).to_have_count(2)
    save(page)
    for plugins in DISABLED:
        press_all(page, open_without(page, plugins))
        page.troubles = [one for one in page.troubles if not OF_JUPYTERLAB.search(one)]
        assert page.troubles == [], plugins
