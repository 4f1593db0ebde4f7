"""A cell that runs as a job: made one by a button, and followed by a bar that outlives kernel and page."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

import pytest
from playwright.sync_api import expect

from tests.browser.page import JOBS_MS
from tests.browser.test_views import save

if TYPE_CHECKING:
    from playwright.sync_api import Locator

    from tests.browser.conftest import OpenPage, StartLab
    from tests.browser.page import LabPage

pytestmark = [pytest.mark.browser, pytest.mark.timeout(300)]
WAITS = "import pathlib, time\nprint('said')\nwhile not pathlib.Path({gate!r}).exists(): time.sleep(0.05)"


def bar(page: LabPage, number: int) -> Locator:
    return page.notebook.get_by_role("region", name=f"the cell's job {number}", exact=True)


def found_in_palette(page: LabPage, words: str) -> list[str]:
    """What the command palette offers for some words. Its entries have no role of their own."""
    page.page.keyboard.press("Control+Shift+c")
    page.page.keyboard.type(words)
    found = page.page.locator(".lm-CommandPalette-itemLabel").filter(visible=True)
    expect(found.filter(has_text="Toggle")).to_have_count(0)  # which stand there before anything is typed
    labels = found.all_inner_texts()
    page.page.keyboard.press("Escape")
    return labels


def show_provenance(page: LabPage) -> None:
    """Ask the bar of job 1 for it, which is drawn beside."""
    bar(page, 1).click(button="right")
    entry = page.page.get_by_role("menu").get_by_role("menuitem", name="Show Provenance")
    assert page.barriers(entry) == []
    page.photograph("cell-menu")
    entry.click()
    drawn = page.page.get_by_role("region", name="provenance", exact=True)
    expect(drawn.get_by_role("button", name=re.compile("job 1")).first).to_be_visible()


def test_a_button_makes_a_cell_a_job_whose_bar_stays_without_a_kernel_and_in_a_second_browser(
    start_lab: StartLab, open_page: OpenPage
) -> None:
    lab = start_lab()
    page = open_page(lab).open()
    gate = lab.notebooks / "gate"
    page.new_notebook()
    first = page.notebook.get_by_role("textbox").first
    first.click()
    page.page.keyboard.insert_text(WAITS.format(gate=str(gate)))
    page.page.get_by_role("button", name="Run as Job").click(click_count=2, delay=100)  # as one opens a file
    expect(page.notebook.get_by_role("textbox")).to_have_count(2)
    expect(first).to_have_text("%load_ext acai_jupyter")
    expect(page.notebook.get_by_role("textbox").last).to_contain_text("%%acai runimport")
    for _ in range(2):
        page.page.keyboard.press("Shift+Enter")
    expect(bar(page, 1)).to_contain_text(re.compile(r"job 1 · running · \d+ s · \$\d+\.\d\d"), timeout=JOBS_MS)
    page.look_at("cell-running", bar(page, 1))
    save(page)
    page.choose("Kernel", "Shut Down Kernel")
    expect(page.page.get_by_role("button", name="No Kernel", exact=True)).to_be_visible()
    second = open_page(lab).open("Untitled.ipynb")
    for one in (page, second):
        expect(bar(one, 1)).to_contain_text("job 1 · running")
    bar(second, 1).get_by_role("button", name="log of the cell's job 1").press("Enter")
    expect(bar(second, 1).get_by_role("log")).to_have_text("said\n", timeout=JOBS_MS)
    bar(second, 1).get_by_role("button", name="kill the cell's job 1").press("Enter")
    expect(bar(second, 1).get_by_role("button", name="let it run")).to_be_focused()
    bar(second, 1).get_by_role("button", name="yes, end job 1").press("Enter")
    expect(bar(second, 1).get_by_role("button", name="job 1 in a tab")).to_be_focused(timeout=JOBS_MS)
    for one in (page, second):
        expect(bar(one, 1)).to_contain_text("job 1 · killed · ", timeout=JOBS_MS)
        expect(bar(one, 1).get_by_role("button", name="kill")).to_have_count(0)
    second.look_at("cell-ended", bar(second, 1))
    bar(second, 1).get_by_role("button", name="job 1 in a tab").click()
    expect(second.page.get_by_role("tab", name="job 1", exact=True)).to_be_visible()
    page.page.reload()
    expect(bar(page, 1)).to_contain_text("job 1 · killed · ", timeout=JOBS_MS)
    show_provenance(page)
    page.notebook.get_by_role("textbox").nth(1).click()
    page.page.keyboard.press("Control+Home")
    page.page.keyboard.insert_text("# ")
    expect(bar(page, 1)).to_have_count(0)
    page.page.keyboard.press("Escape")
    assert found_in_palette(page, "as job") == ["Run as Job", "Run as Job…"]
    assert {"ACAI: Open Panel", "ACAI: Open Provenance"} <= set(found_in_palette(page, "acai"))
    # ipywidgets asks a kernel that has only begun for what the one before it had.
    second.troubles = [one for one in second.troubles if "Comm not found" not in one]
