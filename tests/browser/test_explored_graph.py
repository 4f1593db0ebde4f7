"""The graph of provenance in a tab of its own: the project, what is around a thing, and all that is known of it."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest
from playwright.sync_api import expect

from tests.browser.page import JOBS_MS
from tests.browser.test_provenance import DATA, JOBS, STEAL, SWEEP, Thief

if TYPE_CHECKING:
    from collections.abc import Callable

    from playwright.sync_api import Locator, Response

    from tests.browser.conftest import OpenPage, StartLab
    from tests.browser.page import LabPage

pytestmark = [pytest.mark.browser, pytest.mark.timeout(300)]
LONE = """for number in range(21):
    get_ipython().run_line_magic("acai", f"put raw /lone{number:02} --as lone{number:02}")
print("all put")"""
EVIL = f"<img src=x onerror={STEAL}>"


class GraphTab:
    """The tab with the graph."""

    def __init__(self, page: LabPage) -> None:
        self.page = page
        self.region = page.page.get_by_role("region", name="provenance", exact=True)
        self.title = self.region.get_by_role("status")
        self.about = self.region.get_by_role("complementary", name="selected")

    def node(self, name: str) -> Locator:
        return self.region.get_by_role("button", name=f"{name}: ")

    def more(self, words: str) -> Locator:
        return self.region.get_by_role("button", name=words)

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
    page = open_page(start_lab())
    thief = Thief(page)
    open_while_the_server_is_away(page)
    page.page.get_by_role("tab", name="Launcher", exact=True).click()
    page.new_notebook()
    page.run(DATA)
    expect(page.output("raw:1")).to_be_visible(timeout=JOBS_MS)
    for number, cell in enumerate(JOBS, 1):
        page.run(cell)
        expect(page.output(f"job {number} · finished")).to_be_visible(timeout=JOBS_MS)
    page.page.get_by_role("tab", name="Provenance", exact=True).click()
    graph = GraphTab(page)
    expect(graph.title).to_have_text("Provenance of the project")
    for name in ("raw:1", "clean:1", "model:1", "report:1"):
        expect(graph.node(name)).to_be_visible()
    graph.node("report:1").dblclick()
    expect(graph.title).to_contain_text("Provenance of report:1")
    expect(graph.node("raw:1")).to_have_count(0)
    go_by_keys(graph)
    learn_and_tag(graph)
    filter_wrongly(graph)
    draw_a_path(graph)
    take_away(graph)
    page.look_at("explored", graph.region)
    find_by_right_click(graph)
    see_what_is_new(graph)
    thief.expect_nothing()
    find_all_again_after_a_reload(graph)


def open_while_the_server_is_away(page: LabPage) -> None:
    """The tab takes its project at the first answer, and hears from then on what happens in it.

    No notebook is open yet: JupyterLab would bring that to the front again, some time after the page is loaded.
    """
    page.page.route("**/acai/api/**", lambda route: route.abort())
    page.open()
    expect(page.page.get_by_role("tab", name="Launcher", exact=True)).to_be_visible()
    page.choose("View", "ACAI Provenance")
    graph = GraphTab(page)
    expect(graph.region.get_by_role("alert")).to_be_visible(timeout=JOBS_MS)
    page.page.unroute("**/acai/api/**")
    page.forgive("ERR_FAILED")
    graph.press("Try again")
    expect(graph.title).to_have_text("Provenance of the project", timeout=JOBS_MS)


def go_by_keys(graph: GraphTab) -> None:
    """One stop of the Tab key for all nodes; the focus stays where one is when what was pressed is gone."""
    graph.more("draw what model:1 was made of").press("Enter")
    expect(graph.node("model:1")).to_be_focused()
    expect(graph.more("draw what model:1 was made of")).to_have_count(0)
    graph.more("draw what clean:1 was made of").press("Enter")
    expect(graph.node("clean:1")).to_be_focused()
    expect(graph.node("raw:1")).to_be_in_viewport()
    expect(graph.region.locator("[data-acai-thing][tabindex='0']")).to_have_count(1)
    press = graph.page.page.keyboard.press
    press("ArrowRight")
    expect(graph.node("job 2")).to_be_focused()
    press("End")
    expect(graph.node("report:1")).to_be_focused()
    press("ArrowLeft")
    press("ArrowLeft")
    expect(graph.node("model:1")).to_be_focused()
    press("Enter")
    expect(graph.about.get_by_role("heading")).to_have_text("model:1")
    graph.press("fit")
    expect(graph.node("raw:1")).to_be_in_viewport(ratio=1)
    expect(graph.node("report:1")).to_be_in_viewport(ratio=1)
    graph.press("larger")


def filter_wrongly(graph: GraphTab) -> None:
    """What is wrong with a query is said with its place; the picture stays."""
    query = graph.region.get_by_role("searchbox", name="Fade what this is not true of")
    query.fill("accuracy >")
    query.press("Enter")
    wrong = graph.region.get_by_role("alert")
    expect(wrong).to_contain_text("not understood")
    expect(wrong.locator("pre")).to_contain_text("^")
    expect(graph.node("raw:1")).to_be_visible()
    expect(graph.region.get_by_role("button", name="Try again")).to_have_count(0)
    graph.page.look_at("explored-wrong-query", graph.region)
    graph.page.forgive("400")
    query.fill("")
    query.press("Enter")
    expect(wrong).to_have_count(0)


def find_all_again_after_a_reload(graph: GraphTab) -> None:
    """What is drawn further, the filter, what is selected and the way back."""
    page = graph.page
    graph.more("draw what raw:1 was made of").click()
    expect(graph.node("upload")).to_be_visible()
    query = graph.region.get_by_role("searchbox", name="Fade what this is not true of")
    with page.page.expect_response(keeps('"query":"number = 1"', '"chosen":"raw:1"')):
        query.fill("number = 1")
        query.press("Enter")
        expect(graph.region.locator("svg g[opacity]")).not_to_have_count(0)
        graph.node("raw:1").click()
    page.page.reload()
    expect(graph.title).to_have_text("Provenance of clean:1", timeout=JOBS_MS)
    expect(query).to_have_value("number = 1")
    expect(graph.node("upload")).to_be_visible()
    expect(graph.about.get_by_role("heading")).to_have_text("raw:1")
    graph.press("back")
    expect(query).to_have_value("")
    page.page.set_viewport_size({"width": 820, "height": 900})
    expect(graph.node("clean:1")).to_be_in_viewport(ratio=1)
    page.look_at("explored-narrow", graph.region)


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
    query.press("x")
    expect(graph.region.locator("svg g[opacity]")).not_to_have_count(0)
    expect(query).to_have_value("'reviewed' in tagsx")
    expect(query).to_be_focused()
    query.fill("")
    query.press("Enter")
    expect(graph.region.locator("svg g[opacity]")).to_have_count(0)


def draw_a_path(graph: GraphTab) -> None:
    graph.node("clean:1").click()
    graph.region.get_by_role("button", name="path from here").press("Enter")
    expect(graph.about.get_by_role("note")).to_contain_text("Now select")
    expect(graph.node("clean:1")).to_be_focused()
    graph.node("report:1").click()
    graph.region.get_by_role("button", name="path from clean:1", exact=True).press("Enter")
    expect(graph.node("report:1")).to_be_focused()
    expect(graph.node("raw:1")).to_have_count(0)
    expect(graph.node("model:1")).to_be_visible()
    graph.page.look_at("explored-path", graph.region)
    graph.press("back")
    expect(graph.node("raw:1")).to_be_visible()


def take_away(graph: GraphTab) -> None:
    names = [graph.export(kind) for kind in ("svg", "png", "json", "dot", "graphml", "prov", "openlineage")]
    endings = ("svg", "png", "json", "dot", "graphml", "prov.json", "openlineage.ndjson")
    assert names == [f"provenance-report-1.{ending}" for ending in endings]


def find_by_right_click(graph: GraphTab) -> None:
    """From the panel by the right button to the graph, and from the graph to the job."""
    page = graph.page
    page.open_panel()
    recent = page.panel.get_by_role("region", name="Recent jobs").get_by_role("button")
    recent.filter(has_text="job 1").click(button="right")
    page.page.get_by_role("menu").get_by_text("Show Provenance", exact=True).click()
    expect(graph.title).to_have_text("Provenance of job 1")
    expect(graph.about).to_contain_text("job 1")
    assert graph.export("graphml") == "provenance-1.graphml"
    graph.press("open job")
    expect(page.page.get_by_role("tab", name="job 1", exact=True)).to_be_visible()
    page.page.get_by_role("tab", name="Provenance", exact=True).click()


def see_what_is_new(graph: GraphTab) -> None:
    """What is made of a set meanwhile appears by itself."""
    page = graph.page
    with page.page.expect_response(keeps('"focus":"clean:1"')):
        graph.node("clean:1").dblclick()
        expect(graph.title).to_have_text("Provenance of clean:1")
    expect(graph.node("job 4")).to_have_count(0)
    page.page.get_by_role("tab", name="Untitled.ipynb").click()
    page.run("%%acai run --input clean --output other --detach\nopen('output/o', 'w').write('o')")
    page.page.get_by_role("tab", name="Provenance", exact=True).click()
    expect(graph.node("other:1")).to_be_visible(timeout=JOBS_MS)
    expect(graph.node("job 4")).to_be_visible()
    page.lab.installation.run("acai", "tag", "clean:1", "owner=somebody", home=page.lab.home)
    expect(graph.about.get_by_role("list", name="Labels and attributes")).to_contain_text("owner somebody")


def test_a_person_turns_pages_opens_a_sweep_and_finds_what_is_on_another_page(
    start_lab: StartLab, open_page: OpenPage
) -> None:
    page = open_page(start_lab()).open()
    page.new_notebook()
    page.run(DATA)
    expect(page.output("raw:1")).to_be_visible(timeout=JOBS_MS)
    page.run(SWEEP.replace('input="clean"', 'input="raw"'))
    expect(page.output("swept True")).to_be_visible(timeout=JOBS_MS)
    page.run(LONE)
    expect(page.output("all put")).to_be_visible(timeout=JOBS_MS)
    page.choose("View", "ACAI Provenance")
    graph = GraphTab(page)
    expect(graph.title).to_have_text("Provenance of the project · page 1", timeout=JOBS_MS)
    expect(graph.node("lone20:1")).to_be_visible()
    expect(graph.node("raw:1")).to_have_count(0)
    page.look_at("explored-project", graph.region)
    assert graph.export("json") == "provenance-project.json"
    graph.press("older")
    expect(graph.title).to_have_text("Provenance of the project · page 2")
    expect(graph.node("raw:1")).to_be_visible()
    graph.press("newer")
    expect(graph.node("lone20:1")).to_be_visible()
    field = graph.region.get_by_role("searchbox", name="Find by name")
    field.fill("nobody")
    field.press("Enter")
    expect(graph.region.get_by_role("alert")).to_have_text("No file set and no job is called “nobody”.")
    field.fill("RA")
    field.press("Enter")
    expect(graph.title).to_have_text("Provenance of raw:1")
    expect(graph.region.get_by_role("alert")).to_have_count(0)
    graph.node("3 more jobs").press("Enter")
    for number in range(1, 7):
        expect(graph.node(f"job {number}")).to_be_visible()
    expect(graph.node("3 more jobs")).to_have_count(0)
    expect(graph.region.locator("[data-acai-thing]:focus")).to_have_count(1)
    page.look_at("explored-sweep", graph.region)
    graph.press("back")
    expect(graph.node("3 more jobs")).to_be_visible()


def keeps(*words: str) -> Callable[[Response], bool]:
    """Whether a request keeps a layout of the page in which these words are."""

    def is_it(answer: Response) -> bool:
        kept = str(answer.request.post_data) if answer.request.method == "PUT" else ""
        return "/api/workspaces/" in answer.url and all(one in kept for one in words)

    return is_it
