"""Files dropped on the sidebar, broken off and gone on with; and what is there, used in a notebook."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest
from playwright.sync_api import expect

from tests.browser.page import JOBS_MS
from tests.browser.test_data import Data

if TYPE_CHECKING:
    from pathlib import Path

    from playwright.sync_api import Locator, Route

    from tests.browser.conftest import OpenPage, StartLab

pytestmark = [pytest.mark.browser, pytest.mark.timeout(300)]
FILES = 2_000
LARGE_BYTES = 20 * 1024**2


class Store:
    """What the page sends to the store; after the first so many objects and parts, nothing gets through."""

    def __init__(self, data: Data, lets_through: int) -> None:
        self.sent = 0
        self.rest = lets_through
        self.held: list[Route] = []
        self.page = data.page.page
        self.page.route("**/acai/api/v1/objects/**", self._pass)

    def open(self) -> None:
        self.rest = 1000
        self.sent = 0

    def _pass(self, route: Route) -> None:
        if route.request.method != "PUT":
            route.continue_()
        elif self.rest:
            self.rest -= 1
            self.sent += 1
            route.continue_()
        else:
            self.held.append(route)

    def let_go(self) -> None:
        """What was held goes on its way, wherever that leads now."""
        self.open()
        for route in self.held:
            route.continue_()


@pytest.fixture
def photos(tmp_path: Path) -> Path:
    """A folder with 2,000 small files and a large one."""
    folder = tmp_path / "photos"
    (folder / "small").mkdir(parents=True)
    for number in range(FILES):
        (folder / "small" / f"{number:04}.txt").write_text(f"file {number}")
    (folder / "large.bin").write_bytes(bytes(range(256)) * (LARGE_BYTES // 256))
    return folder


def drop(data: Data, path: Path, on: Locator | None = None) -> None:
    """Drop a file or a folder of this machine on a row, or below all of them, as a person does with the mouse."""
    drag(data, path, on, "dragEnter", "dragOver", "drop")


def drag(data: Data, path: Path, on: Locator | None, *kinds: str) -> None:
    box = (on or data.tree).bounding_box()
    assert box is not None
    session = data.page.page.context.new_cdp_session(data.page.page)
    dragged = {"items": [], "files": [str(path)], "dragOperationsMask": 1}
    for kind in kinds:
        place = {"x": box["x"] + 60, "y": box["y"] + box["height"] - 10}
        session.send("Input.dispatchDragEvent", {"type": kind, "data": dragged, **place})


def test_what_is_dropped_arrives_and_is_used(start_lab: StartLab, open_page: OpenPage, photos: Path) -> None:
    page = open_page(start_lab()).open()
    page.new_notebook()
    page.run("x = 1")
    page.choose("View", "ACAI Data")
    data = Data(page)
    expect(data.region).to_contain_text("There are no files yet", timeout=JOBS_MS)
    upload(data, photos)
    drop_in_other_ways(data, photos)
    delete_and_undo(data, photos)
    use_in_a_cell(data)


def test_possible_secrets_of_a_folder_stay_behind_and_are_named(
    start_lab: StartLab, open_page: OpenPage, tmp_path: Path
) -> None:
    folder = tmp_path / "work"
    (folder / ".ssh").mkdir(parents=True)
    for name in ("plain.txt", ".env", "ca.pem", ".ssh/config", ".npmrc"):
        (folder / name).write_text("secret")
    page = open_page(start_lab()).open()
    page.close_dialogs()
    page.choose("View", "ACAI Data")
    data = Data(page)
    expect(data.region).to_contain_text("There are no files yet", timeout=JOBS_MS)
    drop(data, folder)
    said = page.page.get_by_role("alert").filter(has_text="Not uploaded, as it may hold a secret: work/")
    expect(said).to_contain_text("and 1 more. To send one, upload the file itself.")
    expect(data.region.get_by_role("list", name="uploads under way")).to_contain_text("work to /1 new")
    page.photograph("secrets-left-out")
    data.region.get_by_label("Files to upload").set_input_files(str(folder / ".env"))
    expect(data.file(".env")).to_contain_text("v1 · 6 B")


def test_an_upload_goes_on_when_the_server_was_restarted_in_the_middle(
    start_lab: StartLab, open_page: OpenPage, photos: Path
) -> None:
    lab = start_lab()
    page = open_page(lab).open()
    page.close_dialogs()
    page.choose("View", "ACAI Data")
    data = Data(page)
    expect(data.region).to_contain_text("There are no files yet", timeout=JOBS_MS)
    store = Store(data, lets_through=3)
    drop(data, photos)
    uploads = data.region.get_by_role("list", name="uploads under way")
    expect(uploads.get_by_role("status")).to_contain_text("501 of 2,001 files", timeout=JOBS_MS)
    lab.stop()
    store.let_go()
    expect(uploads.get_by_role("alert")).to_be_visible(timeout=JOBS_MS)
    page.photograph("upload-failed")
    lab.start()
    uploads.get_by_role("button", name="try again").click()
    expect(uploads).to_contain_text("2,001 new, 0 unchanged", timeout=JOBS_MS)
    page.forgive(".")  # what JupyterLab says of a server that was away


def upload(data: Data, photos: Path) -> None:
    page = data.page.page
    page.on("dialog", lambda dialog: dialog.accept())
    store = Store(data, lets_through=3)
    drop(data, photos)
    uploads = data.region.get_by_role("list", name="uploads under way")
    expect(uploads).to_contain_text(f"of {FILES + 1:,} files", timeout=JOBS_MS)
    expect(uploads.get_by_role("status")).to_contain_text("501 of 2,001 files", timeout=JOBS_MS)
    data.page.look_at("upload", data.region)
    page.reload()
    expect(uploads).to_contain_text("photos to /was broken off", timeout=JOBS_MS)
    store.open()
    drop(data, photos)
    expect(uploads).to_contain_text("2,001 new, 0 unchanged", timeout=JOBS_MS)
    assert store.sent == 3  # of four packs and two parts
    uploads.get_by_role("button", name="dismiss").click()
    expect(data.file("photos/")).to_be_visible()
    drop(data, photos)
    expect(uploads).to_contain_text("0 new, 2,001 unchanged", timeout=JOBS_MS)
    uploads.get_by_role("button", name="dismiss").click()


def drop_in_other_ways(data: Data, photos: Path) -> None:
    """A file on a folder, which is marked before; the same again, each dismissed by itself; a folder without files."""
    bare, empty = photos.parent / "bare.txt", photos.parent / "empty"
    bare.write_text("bare")
    empty.mkdir()
    row, uploads = data.file("photos/"), data.region.get_by_role("list", name="uploads under way")
    drag(data, bare, row, "dragEnter", "dragOver")
    expect(row).to_have_attribute("data-over", "")
    expect(data.region.get_by_role("group", name="uploads")).to_contain_text("to /photos/")
    data.page.photograph("upload-over")
    drag(data, bare, row, "drop")
    row.click()
    expect(data.file("bare.txt")).to_contain_text("v1 · 4 B")
    row.click()
    row.click(modifiers=["Control"])
    drop(data, bare, row)
    expect(uploads.get_by_role("button", name="dismiss")).to_have_count(2)
    for _ in range(2):
        uploads.get_by_role("button", name="dismiss").first.click()
    expect(uploads.get_by_role("listitem")).to_have_count(0)
    drop(data, empty)
    expect(data.region.get_by_role("alert")).to_have_text("There are no files in what was dropped.")
    data.region.get_by_role("button", name="dismiss").click()
    expect(data.region.get_by_role("alert")).to_have_count(0)


def delete_and_undo(data: Data, photos: Path) -> None:
    extra = photos.parent / "extra.txt"
    extra.write_text("extra")
    data.region.get_by_label("Files to upload").set_input_files(str(extra))
    data.file("extra.txt").click()
    data.region.get_by_role("button", name="delete").click()
    data.region.get_by_role("button", name="yes, delete it").click()
    expect(data.file("extra.txt")).to_have_count(0)
    data.region.get_by_role("tab", name="file sets").click()
    data.region.get_by_role("tab", name="files", exact=True).click()
    chosen = data.region.get_by_role("group", name="chosen files")
    expect(chosen.get_by_role("status")).to_have_text("1 deleted")
    expect(chosen.get_by_role("button")).to_have_text(["undo"])
    chosen.get_by_role("button", name="undo").click()
    expect(data.file("extra.txt")).to_contain_text("v1 · 5 B")
    small = photos.parent / "small"
    small.mkdir()
    for name in ("one", "two"):
        (small / name).write_text(name)
    drop(data, small)
    data.file("small/").click()
    data.region.get_by_label("A folder to upload").set_input_files(str(small))
    expect(data.region.get_by_role("list", name="uploads under way")).to_contain_text("small to /small/2 new")
    expect(data.file("small/")).to_have_count(2)  # it went into the folder that is chosen
    data.region.get_by_role("button", name="delete").click()
    data.region.get_by_role("button", name="yes, delete it with all files in it").click()
    expect(data.region.get_by_text("4 deleted")).to_be_visible()
    expect(data.file("small/")).to_have_count(0)
    expect(data.file("extra.txt")).to_have_count(1)
    data.region.get_by_role("button", name="undo").click()
    expect(data.region.get_by_text("4 brought back")).to_be_visible()
    expect(data.file("small/")).to_have_count(1)


def use_in_a_cell(data: Data) -> None:
    """A set of the folder, as input of the cell that was worked in last, in a cell by dragging, and in the graph."""
    page = data.page.page
    data.file("photos/").click()
    data.region.get_by_role("button", name="make a set").click()
    name = data.region.get_by_role("textbox", name="Name of the file set")
    name.fill("photos")
    name.press("Enter")
    made = page.get_by_role("region", name="file set photos", exact=True)
    made.get_by_role("button", name="use as input").click()
    data.tab("Untitled.ipynb").click()
    cells = data.page.notebook.get_by_role("textbox")
    expect(cells.filter(has_text="%%acai run --input photos:1")).to_have_count(1)
    expect(cells.filter(has_text="%load_ext acai_jupyter")).to_have_count(1)
    data.region.get_by_role("tab", name="file sets").click()
    row = data.region.get_by_role("list", name="file sets").get_by_role("button", name="photos:1")
    data.page.notebook.get_by_role("textbox").first.click()
    row.drag_to(cells.first)
    expect(cells.filter(has_text='acai_jupyter.fileset("photos:1")')).to_have_count(1)
    data.region.get_by_role("tab", name="files", exact=True).click()
    cells.first.click()  # what was dropped is selected, and takes nothing more while it is
    data.file("extra.txt").drag_to(cells.first)
    expect(cells.filter(has_text='fsspec.open("acai:///extra.txt:1")')).to_have_count(1)
    data.search.fill("path = '/photos/bare.txt'")
    cells.first.click()
    data.region.get_by_role("region", name="Files found").get_by_role("button").drag_to(cells.first)
    expect(cells.filter(has_text='fsspec.open("acai:///photos/bare.txt:1")')).to_have_count(1)
    data.search.fill("")
    data.region.get_by_role("tab", name="file sets").click()
    row.click(button="right")
    page.get_by_role("menu").get_by_text("Show Provenance", exact=True).click()
    graph = page.get_by_role("region", name="provenance", exact=True)
    graph.get_by_role("button", name="photos:1: ").click()
    graph.get_by_role("button", name="open file set").click()
    expect(made).to_be_visible()
