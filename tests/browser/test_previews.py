"""What versions of files hold, in JupyterLab's own viewers: as it was put, by parts, and nothing of it runs."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest
from playwright.sync_api import expect

from tests.browser.page import JOBS_MS
from tests.browser.test_data import Data

if TYPE_CHECKING:
    from playwright.sync_api import Locator

    from tests.browser.conftest import OpenPage, StartLab

pytestmark = [pytest.mark.browser, pytest.mark.timeout(300)]
OWNED = "owned()"  # what the page has of the test, in each of its frames
MAKE = f"""%load_ext acai_jupyter
import base64, hashlib, json, pathlib
import pyarrow as pa, pyarrow.parquet as pq
place = pathlib.Path("raw"); place.mkdir()
rows = 300_000
names = [f"<img src=x onerror={OWNED}>{{n}}" for n in range(rows)]
digests = [hashlib.md5(n.to_bytes(4)).hexdigest() for n in range(rows)]
table = pa.table({{"number": range(rows), "name": names, "digest": digests}})
codecs = {{"number": "zstd", "name": "gzip", "digest": "brotli"}}
pq.write_table(table, place / "table.parquet", row_group_size=5_000, use_dictionary=False, compression=codecs)
(place / "broken.parquet").write_text("no table")
large = (place / "table.parquet").stat().st_size > 3_000_000
(place / "lines.jsonl").write_text("".join(json.dumps({{"number": n, "square": n * n}}) + "\\n" for n in range(60_000)))
(place / "settings.json").write_text(json.dumps({{"depth": 3, "rest": " " * 1_500_000}}))
(place / "drawing.svg").write_text('<svg xmlns="http://www.w3.org/2000/svg" width="40" height="30">'
    "<script>{OWNED}</script><rect width='40' height='30' fill='teal'/></svg>")
(place / "report.html").write_text("<h1>A report</h1><script>{OWNED}</script>")
(place / "dot.png").write_bytes(base64.b64decode(
    "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg=="))
html = "<img src='dot.png' alt='a dot'><img src='gone.png' alt='what is gone'><img src=x onerror={OWNED}>"
shown = {{"output_type": "display_data", "metadata": {{}}, "data": {{"text/html": html}}}}
said = {{"trusted": True}}
code = {{"cell_type": "code", "id": "b", "metadata": said, "source": "1", "execution_count": 1, "outputs": [shown]}}
cells = [{{"cell_type": "markdown", "id": "a", "metadata": {{}}, "source": "# Of an earlier day"}}, code]
(place / "kept.ipynb").write_text(json.dumps({{"cells": cells, "metadata": {{}}, "nbformat": 4, "nbformat_minor": 5}}))
%acai put raw /raw --as raw
print("large enough" if large else "too small")"""


@pytest.fixture
def data(start_lab: StartLab, open_page: OpenPage) -> Data:
    """The sidebar of a project with a file of each kind."""
    page = open_page(start_lab()).open()
    page.new_notebook()
    page.run(MAKE)
    expect(page.output("large enough")).to_be_visible(timeout=JOBS_MS)
    data = Data(page)
    page.choose("View", "ACAI Data")
    data.file("raw/").click()
    return data


def opened(data: Data, name: str) -> Locator:
    """Open version 1 of a file; return what the main area shows of it."""
    data.file(name).dblclick()
    data.about(f"/raw/{name}").get_by_role("button", name="open version 1").click()
    tab = data.tab(name)
    expect(tab).to_have_attribute("aria-selected", "true")
    shown = data.page.page.get_by_role("main").locator(".jp-MainAreaWidget").filter(visible=True)
    expect(shown.get_by_role("button", name="version 1")).to_be_visible()
    return shown


def test_each_kind_of_file_has_its_viewer(data: Data) -> None:
    owned: list[str] = []
    data.page.page.expose_function("owned", lambda: owned.append("ran"))
    parquet(data)
    lines(data)
    pictures_and_pages(data)
    notebooks(data)
    data.page.forgive("Blocked script execution")
    data.page.forgive("may not be used as base URLs")
    assert owned == []
    data.page.page.evaluate(OWNED)
    assert owned == ["ran"], "what is hostile could not have been noticed"


def parquet(data: Data) -> None:
    """Rows by parts, without all of the file."""
    shown = opened(data, "table.parquet")
    parts = shown.get_by_role("group", name="part of the file")
    field = parts.get_by_role("spinbutton", name="go to part")
    expect(parts).to_contain_text("of 300")
    expect(shown.locator(".jp-CSVViewer")).to_be_visible()
    data.page.look_at("preview-parquet", parts)
    shown.get_by_role("button", name="the next part").click()
    expect(field).to_have_value("2")
    field.fill("299")
    field.press("Enter")
    expect(shown.get_by_role("button", name="the part before")).to_be_visible()
    expect(field).to_have_value("299")
    assert 0 < sum(data.ranges) < 1_200_000
    data.file("broken.parquet").dblclick()
    data.about("/raw/broken.parquet").get_by_role("button", name="open version 1").click()
    dialog = data.page.page.get_by_role("dialog")
    expect(dialog).to_contain_text("broken.parquet cannot be shown as a table")
    dialog.get_by_role("button").last.click()
    data.page.forgive("cannot be shown as a table")


def lines(data: Data) -> None:
    """JSON by lines comes in parts and says so; a value of JSON is one, however large."""
    shown = opened(data, "lines.jsonl")
    parts = shown.get_by_role("group", name="part of the file")
    expect(parts).to_contain_text("of 3")
    expect(shown.locator(".jp-RenderedJSON")).to_contain_text("items")
    data.page.look_at("preview-jsonl", parts)
    shown = opened(data, "settings.json")
    expect(shown).to_contain_text("depth")
    expect(parts).to_have_count(0)


def pictures_and_pages(data: Data) -> None:
    """A drawing is drawn and a page is shown; the scripts in them do not run."""
    shown = opened(data, "drawing.svg")
    picture = shown.locator("img")
    expect(picture).to_have_js_property("naturalWidth", 40)
    shown = opened(data, "report.html")
    expect(shown.frame_locator("iframe").get_by_role("heading", name="A report")).to_be_visible()
    data.page.look_at("preview-html")


def notebooks(data: Data) -> None:
    """A notebook is read, with the pictures beside it, and nothing is started for that."""
    sessions = data.page.page.request.get(data.page.lab.url.replace("/lab?", "/api/sessions?")).json()
    shown = opened(data, "kept.ipynb")
    expect(shown.get_by_role("heading", name="Of an earlier day")).to_be_visible()
    expect(shown.get_by_role("img", name="a dot")).to_have_js_property("naturalWidth", 1)
    expect(shown.get_by_role("img", name="what is gone")).to_be_attached()
    expect(shown.get_by_role("button", name="No Kernel")).to_be_visible()
    data.page.look_at("preview-notebook")
    after = data.page.page.request.get(data.page.lab.url.replace("/lab?", "/api/sessions?")).json()
    assert [one["path"] for one in after] == [one["path"] for one in sessions]
    data.page.forgive("404")  # the picture that is gone
    data.page.forgive("reading 'kernel'")  # ipywidgets, of any notebook without a kernel
