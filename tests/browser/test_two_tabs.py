"""Two tabs of one person at once: nothing that one of them writes is lost, and what one sends the other knows of."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

import pytest
from playwright.sync_api import expect

from tests.browser.jupyterlab import quiet_home
from tests.browser.page import JOBS_MS, LabPage
from tests.browser.test_cells import bar
from tests.browser.test_data import Data
from tests.browser.test_uploads import Store, drop

if TYPE_CHECKING:
    from pathlib import Path

    from playwright.sync_api import Browser, Locator

    from tests.browser.conftest import OpenPage, StartLab
    from tests.packaging.distributions import Installation

pytestmark = [pytest.mark.browser, pytest.mark.timeout(300)]
PUT = """%load_ext acai_jupyter
import pathlib
place = pathlib.Path("raw"); place.mkdir()
(place / "notes.txt").write_text("one")
%acai put raw /raw --as raw"""


def opened(page: LabPage) -> Locator:
    """The tab of the file set raw."""
    page.choose("View", "ACAI Data")
    data = Data(page)
    data.region.get_by_role("tab", name="file sets").click()
    data.region.get_by_role("list", name="file sets").get_by_role("button", name="raw:1").click()
    made = page.page.get_by_role("region", name="file set raw", exact=True)
    made.get_by_role("textbox", name="Add labels and attributes").wait_for()
    return made


def test_the_second_of_two_who_edit_is_told_what_the_first_wrote(start_lab: StartLab, open_page: OpenPage) -> None:
    lab = start_lab()
    pages = [open_page(lab).open() for _ in range(2)]
    pages[0].new_notebook()
    pages[0].run(PUT)
    expect(pages[0].output("raw:1")).to_be_visible(timeout=JOBS_MS)
    first, second = (opened(page) for page in pages)
    edit_attributes(first, second, "raw:1")
    edit_notes(first, second, "raw:1")
    pages[1].look_at("edited-by-two", second)
    pages[1].forgive("409")


def test_the_second_of_two_users_is_told_who_wrote_in_a_jupyterlab_of_their_own(
    start_lab: StartLab, open_page: OpenPage, installed: Installation, tmp_path: Path
) -> None:
    lab = start_lab()
    first = open_page(lab).open()
    first.new_notebook()
    first.run("%load_ext acai_jupyter")
    first.run("%%acai run\nprint('done')")
    expect(bar(first, 1)).to_contain_text("job 1 · finished", timeout=JOBS_MS)
    home, token = quiet_home(tmp_path / "ann"), str(tmp_path / "ann.token")
    installed.run("acai", "user", "create", "ann", "--role", "member", "--file", token, home=lab.home)
    installed.run("acai", "login", f"http://127.0.0.1:{lab.port}", "--file", token, home=home)
    second = open_page(start_lab(whose=home)).open()
    mine, anns = (job_of(page) for page in (first, second))
    edit_attributes(anns, mine, "job 1", by="ann")
    edit_notes(anns, mine, "job 1")
    first.forgive("409")


def job_of(page: LabPage) -> Locator:
    """The tab of job 1, which is among those in the panel."""
    page.open_panel()
    page.panel.get_by_role("button", name=re.compile("^job 1")).click()
    field = page.page.get_by_role("textbox", name="Add labels and attributes")
    expect(field).to_be_visible()
    return page.page.locator(".jp-AcaiJobTab").filter(has=field)


def edit_attributes(first: Locator, second: Locator, thing: str, by: str = "") -> None:
    """One writes a value that the other is about to write: told so, they write it again."""
    lines = [one.get_by_role("textbox", name="Add labels and attributes") for one in (first, second)]
    lists = [one.get_by_role("list", name="Labels and attributes") for one in (first, second)]
    lines[1].fill("stage=mine +checked")
    lines[0].fill("stage=theirs")
    lines[0].press("Enter")
    expect(lists[1]).to_contain_text("stage theirs")
    lines[1].press("Enter")
    expect(second.get_by_role("alert")).to_contain_text(f"'stage' of {thing} was not changed: ")
    expect(second.get_by_role("alert")).to_contain_text(f"{by} set it to 'theirs' meanwhile")
    expect(lines[1]).to_have_value("stage=mine +checked")
    expect(lists[0]).not_to_contain_text("checked")
    lines[1].press("Enter")  # now that they know
    for one in lists:
        expect(one).to_contain_text("stage mine")
        expect(one).to_contain_text("checked")
    expect(lines[1]).to_have_value("")
    expect(second.get_by_role("alert")).to_have_count(0)


def edit_notes(first: Locator, second: Locator, thing: str) -> None:
    """What one types stays when the other writes; whose it is to be is chosen."""
    notes = [one.get_by_role("textbox", name=f"Note on {thing}") for one in (first, second)]
    notes[1].fill("what I wr")
    notes[0].fill("<b>theirs</b>")
    notes[0].press("Control+Enter")
    expect(second.get_by_role("alert")).to_contain_text("<b>theirs</b>")
    expect(notes[1]).to_have_value("what I wr")
    notes[1].press_sequentially("ote")
    expect(notes[0]).to_have_value("<b>theirs</b>")
    second.get_by_role("button", name="write mine over it").click()
    expect(notes[0]).to_have_value("what I wrote")
    expect(second.get_by_role("alert")).to_have_count(0)
    notes[0].fill("once more")
    notes[1].fill("not this")
    notes[0].press("Control+Enter")
    second.get_by_role("button", name="take theirs").click()
    for note in notes:
        expect(note).to_have_value("once more")


def test_what_one_tab_sends_is_not_broken_off_for_the_other(
    start_lab: StartLab, chromium: Browser, tmp_path: Path
) -> None:
    photos = tmp_path / "photos"
    photos.mkdir()
    for number in range(600):
        (photos / f"{number:04}.txt").write_text(f"file {number}")
    lab, context = start_lab(), chromium.new_context(viewport={"width": 1280, "height": 900})
    tabs = [Data(LabPage(context.new_page(), lab).open()) for _ in range(2)]
    for tab in tabs:
        tab.page.page.on("dialog", lambda dialog: dialog.accept())
        tab.page.choose("View", "ACAI Data")
        expect(tab.region).to_contain_text("There are no files yet", timeout=JOBS_MS)
    lists = [tab.region.get_by_role("list", name="uploads under way") for tab in tabs]
    store = Store(tabs[0], lets_through=1)
    drop(tabs[0], photos)
    expect(lists[0].get_by_role("status")).to_contain_text("500 of 600 files", timeout=JOBS_MS)
    expect(lists[1]).to_contain_text("photos to /is under way in another tab")
    expect(lists[1]).not_to_contain_text("broken off")
    tabs[0].page.page.reload()
    tabs[0].page.page.get_by_role("tab", name="ACAI", exact=True).wait_for()
    tabs[0].page.choose("View", "ACAI Data")  # whether or not the layout was kept already
    expect(lists[1]).to_contain_text("photos to /was broken off")
    expect(lists[0]).to_contain_text("photos to /was broken off", timeout=JOBS_MS)
    store.open()
    drop(tabs[1], photos)
    expect(lists[1]).to_contain_text("600 new, 0 unchanged", timeout=JOBS_MS)
    expect(lists[0].get_by_role("listitem")).to_have_count(0)
    assert [tab.page.troubles for tab in tabs] == [[], []]
    context.close()
