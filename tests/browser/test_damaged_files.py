"""A file whose stored bytes are damaged: previews, downloads and comparisons name it, and a good copy heals it."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest
from playwright.sync_api import expect

from tests.browser.page import JOBS_MS
from tests.browser.test_data import Data

if TYPE_CHECKING:
    from pathlib import Path

    from tests.browser.conftest import OpenPage, StartLab
    from tests.browser.page import LabPage

pytestmark = [pytest.mark.browser, pytest.mark.timeout(300)]
PUT = """%load_ext acai_jupyter
import pathlib
place = pathlib.Path("raw"); place.mkdir()
(place / "notes.txt").write_text("one\\ntwo\\n")
%acai put raw /raw --as raw
(place / "notes.txt").write_text("one\\n2\\n")
%acai put raw /raw --as raw"""
PUT_AGAIN = """(place / "first.txt").write_text("one\\ntwo\\n")
%acai put raw /copies --as copies"""
DAMAGED = "The stored bytes of '/raw/notes.txt:{}' are damaged. Put a good copy of the file to heal it; "
REPAIR = "acai-server repair looks for other copies."


def test_a_damaged_file_is_named_where_it_is_read_and_opens_after_a_good_copy_was_put(
    start_lab: StartLab, open_page: OpenPage
) -> None:
    lab = start_lab()
    page = open_page(lab).open()
    page.new_notebook()
    page.run(PUT)
    expect(page.output("raw:2")).to_be_visible(timeout=JOBS_MS)
    page.choose("View", "ACAI Data")
    data = Data(page)
    data.file("raw/").click()
    data.file("notes.txt").dblclick()
    versions = data.about("/raw/notes.txt")
    objects = lab.home / ".local" / "share" / "acai" / "objects"
    stored_object(objects, b"one\ntwo\n").unlink()
    stored_object(objects, b"one\n2\n").write_bytes(b"one\n3\n")
    assert damaged_files(page) == 0
    page.use_theme("JupyterLab Dark")
    versions.get_by_role("button", name="open version 1").click()
    dialog = page.page.get_by_role("dialog")
    expect(dialog).to_contain_text(DAMAGED.format(1) + REPAIR)
    page.photograph("damaged-preview-dark")
    dialog.get_by_role("button").last.click()
    page.use_theme("JupyterLab Light")
    versions.get_by_role("button", name="download version 2").click()
    expect(dialog).to_contain_text("notes.txt could not be downloaded")
    expect(dialog).to_contain_text(DAMAGED.format(2) + REPAIR)
    page.photograph("damaged-download-light")
    dialog.get_by_role("button").last.click()
    assert damaged_files(page) == 2
    for version in (1, 2):
        versions.get_by_role("checkbox", name=f"compare version {version}").check()
    versions.get_by_role("button", name="compare 1 and 2").click()
    compared = data.about("/raw/notes.txt:1 and /raw/notes.txt:2")
    expect(compared.get_by_role("alert")).to_contain_text("are damaged. Put a good copy of the file to heal it.")
    page.look_at("damaged-comparison", compared)
    page.page.get_by_role("tab", name="Untitled.ipynb").click()
    page.run("%acai doctor")
    expect(page.output("2 damaged files: /raw/notes.txt:1, /raw/notes.txt:2.")).to_be_visible(timeout=JOBS_MS)
    page.run(PUT_AGAIN)
    expect(page.output("copies:1")).to_be_visible(timeout=JOBS_MS)
    assert damaged_files(page) == 0
    data.tab("notes.txt 1 → 2").click()
    compared.get_by_role("button", name="Try again").click()
    expect(compared.get_by_role("status")).to_have_text("1 line added, 1 removed")
    data.tab("notes.txt · versions").click()
    versions.get_by_role("button", name="open version 1").click()
    expect(page.page.get_by_role("textbox").filter(has_text="two").last).to_be_visible()
    page.forgive("status of 40[49] .*/acai/api/v1/")
    page.forgive("Failed to initialize the context")  # JupyterLab's, of the preview


def stored_object(objects: Path, content: bytes) -> Path:
    """Return the object in the store's folder that holds just this."""
    (found,) = (one for one in objects.rglob("*") if one.is_file() and one.read_bytes() == content)
    found.chmod(0o644)
    return found


def damaged_files(page: LabPage) -> int:
    """Return how many damaged files the server knows of."""
    answer = page.page.request.get(page.lab.url_of("acai/api/v1/ready"))
    return int(answer.json()["damaged_files"])
