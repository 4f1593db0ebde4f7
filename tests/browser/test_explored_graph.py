"""The graph of provenance in a tab of its own: the project, what is around a thing, and all that is known of it."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest
from playwright.sync_api import expect

from tests.browser.page import JOBS_MS
from tests.browser.test_provenance import DATA, JOBS

if TYPE_CHECKING:
    from playwright.sync_api import Locator, Response

    from tests.browser.conftest import OpenPage, StartLab
    from tests.browser.page import LabPage

pytestmark = [pytest.mark.browser, pytest.mark.timeout(300)]
EVIL = "<img src=x onerror=document.title='owned'>"


class GraphTab:
    """The tab with the graph."""

    def __init__(self, page: LabPage) -> None:
        self.page = page
        self.region = page.page.get_by_role("region", name="provenance", exact=True)
        self.title = self.region.get_by_role("status")
        self.about = self.region.get_by_role("complementary", name="selected")

    def node(self, name: str) -> Locator:
        return self.region.get_by_role("button", name=f"{name}: ")

    def press(self, words: str) -> None:
        self.region.get_by_role("button", name=words, exact=True).click()

    def export(self, kind: str) -> str:
        """Have something exported, and return the name of the file; there is something in it."""
        self.region.get_by_role("combobox", name="Format").select_option(kind)
        with self.page.page.expect_download() as started:
            self.press("export")
        assert started.value.path().stat().st_size > 100
        return started.value.suggested_filename


def test_a_person_explores_the_project_in_a_tab(start_lab: StartLab, open_page: OpenPage) -> None:
    page = open_page(start_lab()).open()
    page.new_notebook()
    page.run(DATA)
    expect(page.output("raw:1")).to_be_visible(timeout=JOBS_MS)
    for number, cell in enumerate(JOBS, 1):
        page.run(cell)
        expect(page.output(f"job {number} · finished")).to_be_visible(timeout=JOBS_MS)
    page.choose("View", "ACAI Provenance")
    graph = GraphTab(page)
    expect(graph.title).to_have_text("Provenance of the project", timeout=JOBS_MS)
    for name in ("raw:1", "clean:1", "model:1", "report:1"):
        expect(graph.node(name)).to_be_visible()
    graph.node("report:1").dblclick()
    expect(graph.title).to_contain_text("Provenance of report:1")
    expect(graph.node("raw:1")).to_have_count(0)
    graph.region.get_by_role("button", name="draw what model:1 was made of").press("Enter")
    graph.region.get_by_role("button", name="draw what clean:1 was made of").press("Enter")
    expect(graph.node("raw:1")).to_be_visible()
    learn_and_tag(graph)
    draw_a_path(graph)
    take_away(graph)
    page.look_at("explored", graph.region)
    find_by_right_click(graph)
    see_what_is_new(graph)
    page.page.reload()
    expect(graph.title).to_have_text("Provenance of clean:1", timeout=JOBS_MS)
    assert page.page.title() != "owned"


def learn_and_tag(graph: GraphTab) -> None:
    field = graph.region.get_by_role("searchbox", name="Find by name")
    field.fill("job 2")
    field.press("Enter")
    expect(graph.node("job 2")).to_have_attribute("aria-pressed", "true")
    expect(graph.about).to_contain_text("job 2")
    field.fill("clean")
    field.press("Enter")
    expect(graph.about.get_by_role("heading")).to_have_text("clean:1")
    line = graph.about.get_by_role("textbox", name="Add labels and attributes")
    line.fill(f'stage="{EVIL}" +reviewed')
    line.press("Enter")
    labels = graph.about.get_by_role("list", name="Labels and attributes")
    expect(labels).to_contain_text("reviewed")
    expect(labels).to_contain_text(f"stage {EVIL}")
    query = graph.region.get_by_role("searchbox", name="Fade what this is not true of")
    query.fill("'reviewed' in tags")
    query.press("Enter")
    expect(graph.region.locator("svg g[opacity]")).not_to_have_count(0)
    query.fill("")
    query.press("Enter")
    expect(graph.region.locator("svg g[opacity]")).to_have_count(0)


def draw_a_path(graph: GraphTab) -> None:
    graph.node("clean:1").click()
    graph.press("path from here")
    expect(graph.about.get_by_role("note")).to_contain_text("Now select")
    graph.node("report:1").click()
    graph.press("path from clean:1")
    expect(graph.node("raw:1")).to_have_count(0)
    expect(graph.node("model:1")).to_be_visible()
    graph.press("back")
    expect(graph.node("raw:1")).to_be_visible()


def take_away(graph: GraphTab) -> None:
    names = [graph.export(kind) for kind in ("svg", "png", "prov", "dot")]
    assert names == [f"provenance-report-1.{kind}" for kind in ("svg", "png", "prov.json", "dot")]


def find_by_right_click(graph: GraphTab) -> None:
    """From the panel by the right button to the graph, and from the graph to the job."""
    page = graph.page
    page.open_panel()
    recent = page.panel.get_by_role("region", name="Recent jobs").get_by_role("button")
    recent.filter(has_text="job 1").click(button="right")
    page.page.get_by_role("menu").get_by_text("Show Provenance", exact=True).click()
    expect(graph.title).to_have_text("Provenance of job 1")
    expect(graph.about).to_contain_text("job 1")
    graph.press("open job")
    expect(page.page.get_by_role("tab", name="job 1", exact=True)).to_be_visible()
    page.page.get_by_role("tab", name="Provenance", exact=True).click()


def see_what_is_new(graph: GraphTab) -> None:
    """What is made of a set meanwhile appears by itself."""
    page = graph.page
    with page.page.expect_response(is_layout_kept):
        graph.node("clean:1").dblclick()
        expect(graph.title).to_have_text("Provenance of clean:1")
    expect(graph.node("job 4")).to_have_count(0)
    page.page.get_by_role("tab", name="Untitled.ipynb").click()
    page.run("%%acai run --input clean --output other --detach\nopen('output/o', 'w').write('o')")
    page.page.get_by_role("tab", name="Provenance", exact=True).click()
    expect(graph.node("other:1")).to_be_visible(timeout=JOBS_MS)
    expect(graph.node("job 4")).to_be_visible()


def is_layout_kept(answer: Response) -> bool:
    kept = str(answer.request.post_data) if answer.request.method == "PUT" else ""
    return "/api/workspaces/" in answer.url and '"focus":"clean:1"' in kept
