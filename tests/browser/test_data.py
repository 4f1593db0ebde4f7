"""Files and file sets in the sidebar and in tabs: what they hold, in JupyterLab's own viewers, how versions differ."""

from __future__ import annotations

import getpass
import re
import zipfile
from typing import TYPE_CHECKING

import pytest
from playwright.sync_api import expect

from tests.browser.page import JOBS_MS

if TYPE_CHECKING:
    from playwright.sync_api import Locator, Response

    from tests.browser.conftest import OpenPage, StartLab
    from tests.browser.page import LabPage

pytestmark = [pytest.mark.browser, pytest.mark.timeout(300)]
EVIL = "<img src=x onerror=document.title='owned'>.txt"
MAKE = f"""%load_ext acai_jupyter
import base64, json, pathlib
place = pathlib.Path("raw"); (place / "img").mkdir(parents=True)
rows = [f"{{n}},{{n * n}}" for n in range(120_000)]
(place / "squares.csv").write_text("number,square\\n" + "\\n".join(rows) + "\\n")
(place / "notes.txt").write_text("one\\ntwo\\nthree\\n")
(place / "settings.json").write_text(json.dumps({{"depth": 3}}))
(place / {EVIL!r}).write_text("hostile")
(place / "a@b:1%.txt").write_text("of a name with signs")
(place / "was.txt").write_text("under another name"); (place / "gone.txt").write_text("gone")
(place / "img" / "dot.png").write_bytes(base64.b64decode(
    "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg=="))
many = pathlib.Path("many"); many.mkdir()
for n in range(1_500): (many / f"{{n:04}}.txt").write_text(str(n))"""
PUT = """%acai put raw /raw --as raw
%acai put many /many
(place / "notes.txt").write_text("one\\n2\\nthree\\n"); (place / "new.txt").write_text("new")
(place / "was.txt").rename(place / "is.txt"); (place / "gone.txt").unlink()
%acai put raw /raw --as raw"""
MORE = """import acai_jupyter as acai
for n in range(100): acai.create_file_set(f"of-{n:03}", ["/raw/notes.txt"])
for n in range(20):
    (many / "0000.txt").write_text(f"again {n}")
    acai.put(str(many / "0000.txt"), dest="/many/0000.txt")
print("all there")"""
JOB = """%%acai run --memory 512Mi --input raw --output raw
import pathlib
pathlib.Path("output").mkdir(exist_ok=True)
pathlib.Path("output/notes.txt").write_text("one\\n2\\n3\\n")"""


class Data:
    """The sidebar with files and file sets, and the tabs that it opens."""

    def __init__(self, page: LabPage) -> None:
        self.page = page
        self.region = page.page.get_by_role("region", name="ACAI Data", exact=True)
        self.tree = self.region.get_by_role("tree", name="files")
        self.ranges: list[int] = []
        page.page.on("response", self._note)

    def file(self, name: str) -> Locator:
        return self.tree.get_by_role("treeitem").filter(has_text=name)

    @property
    def search(self) -> Locator:
        return self.region.get_by_role("combobox", name="Find files, file sets and jobs")

    def tab(self, name: str) -> Locator:
        return self.page.page.get_by_role("tab", name=name, exact=True)

    def about(self, path: str) -> Locator:
        return self.page.page.get_by_role("region", name=path, exact=True)

    def _note(self, answer: Response) -> None:
        if "/objects/" in answer.url:
            self.ranges.append(int(answer.headers.get("content-length", "0")))


@pytest.fixture
def data(start_lab: StartLab, open_page: OpenPage) -> Data:
    """The sidebar of a project with files in three versions, the last one by a job."""
    page = open_page(start_lab()).open()
    page.new_notebook()
    page.run(MAKE)
    page.run(PUT)
    expect(page.output("raw:2")).to_be_visible(timeout=JOBS_MS)
    page.run(JOB)
    expect(page.output("→ raw:3")).to_be_visible(timeout=JOBS_MS)
    page.choose("View", "ACAI Data")
    return Data(page)


def test_a_person_looks_at_files_and_what_their_versions_hold(data: Data) -> None:
    walk_through_folders(data)
    look_at_versions(data)
    preview(data)
    make_a_set(data)
    find(data)
    assert data.page.page.title() != "owned"


def walk_through_folders(data: Data) -> None:
    expect(data.file("raw/")).to_be_visible(timeout=JOBS_MS)
    data.file("many/").click()
    expect(data.file("0000.txt")).to_be_visible()
    assert data.tree.get_by_role("treeitem").count() < 100
    data.tree.press("End")
    data.tree.press("End")
    data.file("many/").wait_for(state="detached")
    data.tree.press("Home")
    data.tree.press("ArrowLeft")
    expect(data.tree.get_by_role("treeitem")).to_have_count(2)
    data.tree.press("ArrowDown")
    data.tree.press("ArrowRight")
    expect(data.file(EVIL)).to_be_visible()
    expect(data.file("notes.txt")).to_contain_text("v3 · 8 B")


def look_at_versions(data: Data) -> None:
    data.file("notes.txt").dblclick()
    about = data.about("/raw/notes.txt")
    rows = about.get_by_role("table", name="versions").get_by_role("row")
    expect(rows).to_have_count(4)
    cells = rows.nth(1).get_by_role("cell")
    expect(cells.nth(3)).to_have_text(re.compile(r"^\d{4}-\d\d-\d\d \d\d:\d\d$"))
    expect(cells.nth(4)).to_have_text(getpass.getuser())
    expect(cells.nth(5)).to_have_text("job 1")
    expect(rows.nth(3)).to_contain_text("upload")
    edit_labels(about)
    about.get_by_role("checkbox", name="compare version 1").check()
    about.get_by_role("checkbox", name="compare version 3").check()
    data.page.look_at("file", data.region, about)
    about.get_by_role("button", name="compare 1 and 3").click()
    compared = data.about("/raw/notes.txt:1 and /raw/notes.txt:3")
    expect(compared.get_by_role("status")).to_have_text("2 lines added, 2 removed")
    expect(compared.get_by_role("row").filter(has_text="two")).to_have_attribute("data-kind", "removed")
    data.page.look_at("file-compared", compared)
    about = data.about("/raw/notes.txt")
    data.tab("notes.txt · versions").click()
    with data.page.page.expect_download() as started:
        about.get_by_role("button", name="download version 2").click()
    assert started.value.path().read_text() == "one\n2\nthree\n"
    about.get_by_role("button", name="job 1").click(button="right")
    menu = data.page.page.get_by_role("menu")
    expect(menu.get_by_text("Use as Input", exact=True)).to_be_hidden()
    expect(menu.get_by_text("Show Provenance", exact=True).filter(visible=True)).to_have_count(1)
    data.page.page.keyboard.press("Escape")
    about.get_by_role("button", name="job 1").click()
    expect(data.tab("job 1")).to_be_visible()
    remove_a_version(data)


def edit_labels(about: Locator) -> None:
    """Values are shown in full. A label that is pressed twice goes once, and the keyboard stays where it went."""
    line = about.get_by_role("textbox", name="Add labels and attributes")
    labels = about.get_by_role("list", name="Labels and attributes")
    line.fill(f"+{'x' * 129}")
    line.press("Enter")
    expect(about.get_by_role("alert")).to_have_text("A label has at most 128 characters; this one has 129.")
    line.fill("stage=candidate accuracy=0.123456789012 +checked +old")
    line.press("Enter")
    expect(labels).to_contain_text("stage candidate")
    expect(labels).to_contain_text("accuracy 0.123456789012")
    labels.get_by_role("button", name="remove old").dblclick()
    expect(labels.get_by_role("button", name="remove old")).to_have_count(0)
    expect(labels.get_by_role("button", name="remove accuracy")).to_be_focused()
    expect(about.get_by_role("alert")).to_have_count(0)


def remove_a_version(data: Data) -> None:
    """One version of a file is deleted where it is listed, and brought back from there."""
    data.file("many/").click()
    data.file("0007.txt").dblclick()
    about = data.about("/many/0007.txt")
    size = about.get_by_role("table", name="versions").get_by_role("row").nth(1).get_by_role("cell").nth(2)
    expect(size).to_have_text("1 B")
    about.get_by_role("button", name="delete version 1").click()
    about.get_by_role("button", name="yes, delete version 1").click()
    expect(size).to_have_text("deleted")
    about.get_by_role("button", name="bring back version 1").click()
    expect(size).to_have_text("1 B")
    data.file("many/").click()


def preview(data: Data) -> None:
    """A table by parts, a picture, JSON, and a name that is no markup; none of them writable."""
    page = data.page.page
    data.file("squares.csv").dblclick()
    data.about("/raw/squares.csv").get_by_role("button", name="open version 1").click()
    parts = page.get_by_role("group", name="part of the file")
    expect(parts).to_contain_text("of 3")
    data.page.look_at("preview-csv", parts)
    page.get_by_role("button", name="the next part").click()
    expect(parts.get_by_role("spinbutton", name="go to part")).to_have_value("2")
    assert max(data.ranges) < 1_200_000
    expect(data.tab("squares.csv")).to_have_count(1)
    data.file(EVIL).dblclick()
    data.about(f"/raw/{EVIL}").get_by_role("button", name="open version 1").click()
    expect(data.tab(EVIL)).to_be_visible()
    expect(page.get_by_role("textbox").filter(has_text="hostile")).to_be_visible()
    data.file("img/").click()
    data.file("dot.png").dblclick()
    data.about("/raw/img/dot.png").get_by_role("button", name="open version 1").click()
    expect(page.locator(".jp-ImageViewer img")).to_be_visible()
    data.file("a@b:1%.txt").dblclick()
    with data.page.until_kept("acai:default/1.2/raw/squares.csv", "acai:default/1/raw/a@b:1%.txt"):
        data.about("/raw/a@b:1%.txt").get_by_role("button", name="open version 1").click()
        expect(page.get_by_role("textbox").filter(has_text="of a name with signs")).to_be_visible()
    page.reload()  # its address names a document of ours
    expect(data.file("raw/")).to_be_visible(timeout=JOBS_MS)
    expect(data.tab("squares.csv")).to_be_visible()
    expect(page.get_by_role("dialog")).to_have_count(0)


def make_a_set(data: Data) -> None:
    """A set of what is chosen, its alias and note, what it holds, and how versions differ."""
    page = data.page.page
    data.file("raw/").wait_for()
    data.file("raw/").click()
    data.file("notes.txt").click()
    data.file("settings.json").click(modifiers=["Control"])
    data.region.get_by_role("button", name="make a set").click()
    name = data.region.get_by_role("textbox", name="Name of the file set")
    name.fill("picked")
    name.press("Enter")
    picked = page.get_by_role("region", name="file set picked", exact=True)
    contents = picked.get_by_role("tree", name="contents of picked:1")
    expect(contents.get_by_role("treeitem", name="raw/")).to_have_attribute("draggable", "true")
    alias = picked.get_by_role("textbox", name="Add an alias to picked:1")
    alias.fill("paper")
    alias.press("Enter")
    note = picked.get_by_role("textbox", name="Note on picked:1")
    note.fill("<b>chosen</b> by hand")
    note.press("Control+Enter")
    row = picked.get_by_role("table", name="versions").get_by_role("row").nth(1)
    expect(row.get_by_role("cell").nth(5)).to_have_text("paper")
    picked.get_by_role("button", name="remove alias paper").click()
    expect(row.get_by_role("cell").nth(5)).to_have_text("")
    expect(alias).to_be_focused()
    expect(row).to_contain_text("<b>chosen</b> by hand")
    line = picked.get_by_role("textbox", name="Add labels and attributes")
    line.fill("accuracy=0.93 +best")
    line.press("Enter")
    expect(picked.get_by_role("list", name="Labels and attributes")).to_contain_text("accuracy 0.93")
    data.region.get_by_role("tab", name="file sets").click()
    sets = data.region.get_by_role("list", name="file sets")
    expect(sets.get_by_role("button")).to_have_text([re.compile("^picked:1"), re.compile("^raw:3")])
    data.page.look_at("fileset", data.region, picked)
    sets.get_by_role("button", name="raw:3").click()
    raw = page.get_by_role("region", name="file set raw", exact=True)
    raw.get_by_role("checkbox", name="compare version 1").check()
    raw.get_by_role("checkbox", name="compare version 2").check()
    raw.get_by_role("button", name="compare 1 and 2").click()
    compared = page.get_by_role("region", name="raw:1 and raw:2", exact=True)
    expect(compared.get_by_role("status")).to_have_text("1 added · 1 removed · 1 changed · 1 renamed")
    rows = compared.get_by_role("row")
    expect(rows.filter(has_text="/raw/new.txt")).to_have_attribute("data-kind", "added")
    expect(rows.filter(has_text="/raw/gone.txt")).to_have_attribute("data-kind", "removed")
    expect(rows.filter(has_text="/raw/was.txt → /raw/is.txt")).to_have_attribute("data-kind", "renamed")
    data.page.look_at("filesets-compared", compared)
    compared.get_by_role("button", name="lines that differ in /raw/notes.txt").click()
    lines = data.about("/raw/notes.txt:1 and /raw/notes.txt:2")
    expect(lines.get_by_role("status")).to_have_text("1 line added, 1 removed")


def test_sets_and_folders_are_downloaded_and_deleted_sets_brought_back(data: Data) -> None:
    download_archives(data)
    delete_a_set(data)
    go_on_with_long_lists(data)


def download_archives(data: Data) -> None:
    """A folder below its name, a choice and a set by their paths; a pack of files is read as one."""
    data.file("many/").click()
    data.ranges.clear()
    folder = downloaded(data, data.region)
    assert folder == {f"many/{n:04}.txt": str(n).encode() for n in range(1_500)}
    assert len(data.ranges) <= 4
    data.file("many/").click()
    data.file("raw/").click()
    data.file("notes.txt").click(modifiers=["Control"])
    data.file("img/").click(modifiers=["Control"])
    data.file("raw/").click(modifiers=["Control"])
    chosen = downloaded(data, data.region)
    assert sorted(chosen) == ["raw/img/dot.png", "raw/notes.txt"]
    assert chosen["raw/notes.txt"] == b"one\n2\n3\n"
    stop_a_download(data)
    data.region.get_by_role("tab", name="file sets").click()
    data.region.get_by_role("list", name="file sets").get_by_role("button", name="raw:3").click()
    raw = data.page.page.get_by_role("region", name="file set raw", exact=True)
    raw.get_by_role("button", name="version 1", exact=True).click()
    expect(raw.get_by_role("tree", name="contents of raw:1")).to_be_visible()
    first = downloaded(data, raw)
    names = {"a@b:1%.txt", "gone.txt", "was.txt", "img/dot.png", "notes.txt", "settings.json", "squares.csv", EVIL}
    assert set(first) == {f"raw/{name}" for name in names}
    assert first["raw/notes.txt"] == b"one\ntwo\nthree\n"
    assert len(first["raw/squares.csv"]) > 1_000_000


def downloaded(data: Data, part: Locator) -> dict[str, bytes]:
    """Press a button; return what the archive holds."""
    with data.page.page.expect_download() as started:
        part.get_by_role("button", name="download", exact=True).click()
    with zipfile.ZipFile(started.value.path()) as archive:
        assert archive.testzip() is None
        return {name: archive.read(name) for name in archive.namelist()}


def stop_a_download(data: Data) -> None:
    """One that takes its time says what it does, and ends when it is told to."""
    page = data.page.page
    page.route("**/acai/api/v1/objects/**", lambda _: None)
    data.region.get_by_role("button", name="download", exact=True).click()
    told = page.locator(".Toastify").get_by_text("Downloading default.zip")  # JupyterLab's notifications have no name
    expect(told).to_be_visible()
    page.get_by_role("button", name="Stop", exact=True).click()
    expect(told).to_have_count(0)
    page.unroute_all(behavior="ignoreErrors")


def delete_a_set(data: Data) -> None:
    """Versions that are deleted stay in the list, and come back from there; the bytes were never gone."""
    raw = data.page.page.get_by_role("region", name="file set raw", exact=True)
    rows = raw.get_by_role("table", name="versions").get_by_role("row")
    raw.get_by_role("button", name="delete").click()
    raw.get_by_role("button", name="yes, delete raw:1").click()
    expect(rows.nth(3)).to_contain_text("deleted")
    expect(raw.get_by_role("checkbox", name="compare version 1")).to_be_disabled()
    raw.get_by_role("button", name="version 1", exact=True).click()
    data.page.look_at("fileset-deleted", raw)
    raw.get_by_role("button", name="bring back raw:1").click()
    expect(rows.nth(3)).to_contain_text("8 files")
    expect(raw.get_by_role("tree", name="contents of raw:1")).to_be_visible()


def go_on_with_long_lists(data: Data) -> None:
    """Of many versions, and of many sets, the first page is there; and the rest when it is asked for."""
    data.tab("Untitled.ipynb").click()
    data.page.run(MORE)
    expect(data.page.output("all there")).to_be_visible(timeout=JOBS_MS)
    sets = data.region.get_by_role("list", name="file sets").get_by_role("button")
    expect(sets).to_have_count(100)
    data.region.get_by_role("button", name="more file sets").click()
    expect(sets).to_have_count(101)
    data.search.fill("creator != ''")
    found = data.region.get_by_role("region", name="File sets found")
    expect(found.get_by_role("heading")).to_have_text("File sets 50+")
    found.get_by_role("button", name="more: File sets").click()
    expect(found.get_by_role("heading")).to_have_text("File sets 100+")
    expect(data.region.get_by_role("button", name="/.code/")).to_have_count(0)
    data.search.fill("path = '/many/0000.txt' and version = 1")
    data.region.get_by_role("button", name=f"/many/0000.txt:1 {getpass.getuser()}", exact=True).click()
    about = data.about("/many/0000.txt")
    rows = about.get_by_role("table", name="versions").get_by_role("row")
    expect(rows).to_have_count(21)
    about.get_by_role("button", name="older").click()
    expect(rows).to_have_count(22)


def find(data: Data) -> None:
    """One field over files, sets and jobs."""
    field = data.search
    field.fill("accuracy > and")
    expect(data.region.get_by_role("alert")).to_contain_text("column 12")
    field.fill("accuracy > 0.9 or stage = 'candidate' or number = 1")
    for kind, thing in (("File sets", "picked:1"), ("Files", "/raw/notes.txt:3"), ("Jobs", "job 1")):
        found = data.region.get_by_role("region", name=f"{kind} found")
        expect(found.get_by_role("button")).to_have_text([re.compile(f"^{re.escape(thing)}")])
    data.page.look_at("found", data.region)
    data.region.get_by_role("button", name="job 1").click(button="right")
    data.page.page.get_by_role("menu").get_by_text("Show Provenance", exact=True).click()
    graph = data.page.page.get_by_role("region", name="provenance", exact=True)
    expect(graph.get_by_role("status")).to_have_text("Provenance of job 1")
    field.fill("")
    data.page.forgive("400")  # the query that is none
