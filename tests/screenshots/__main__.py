"""`make screenshots`: the pictures of README and docs, made anew in Chromium from a story that really runs."""

from __future__ import annotations

import os
import re
import shutil
import sys
import tempfile
from pathlib import Path
from typing import TYPE_CHECKING

import nbformat
from nbformat.v4 import new_code_cell, new_notebook
from playwright.sync_api import expect, sync_playwright

from tests.browser.jupyterlab import JupyterLab, copy_notebooks, quiet_home
from tests.browser.page import LabPage
from tests.packaging import distributions
from tests.packaging.distributions import ROOT

if TYPE_CHECKING:
    from playwright.sync_api import Locator

IMAGES = ROOT / "docs" / "images"
PATIENCE_MS = 300_000
WIDTH, HEIGHT = 1280, 800
THEMES = {"light": "JupyterLab Light", "dark": "JupyterLab Dark"}
SEARCH = """%%acai run --input digits --output model --cpu 1 --memory 1Gi --sweep k=1,3,5,9,15
import csv, os, acai_jupyter, joblib, numpy
from PIL import Image
from sklearn.model_selection import cross_val_score
from sklearn.neighbors import KNeighborsClassifier

rows = list(csv.DictReader(open("digits/labels.csv")))
images = numpy.array([numpy.asarray(Image.open(f"digits/{row['file']}")).ravel() for row in rows])
labels = [row["digit"] for row in rows]
classifier = KNeighborsClassifier(int(os.environ["ACAI_PARAM_K"]))
acai_jupyter.tag("accuracy", round(cross_val_score(classifier, images, labels, cv=5).mean(), 4))
joblib.dump(classifier.fit(images, labels), "output/model.joblib")"""
LONG = """%%acai run --input model --output report --cpu 1 --memory 512Mi --detach --name report
import itertools, time
for row in itertools.count(1):
    print(f"checked {row * 100} pictures", flush=True)
    time.sleep(1)"""


class Album:
    """Photographs a page in both themes."""

    def __init__(self, page: LabPage) -> None:
        self.page = page

    def keep(self, name: str, *, shows: Locator, clip: Locator | None = None) -> None:
        """Photograph the page, or a part of it, when it shows something."""
        for theme, label in THEMES.items():
            self.page.use_theme(label)
            expect(shows).to_be_visible()
            self.page.page.mouse.move(0, HEIGHT - 1)
            path = IMAGES / f"{name}-{theme}.png"
            (self.page.page if clip is None else clip).screenshot(path=path, animations="disabled")
            sys.stdout.write(f"{path.relative_to(ROOT)}\n")


def run_the_story(page: LabPage) -> None:
    """The quick start, a search and a job that goes on."""
    page.wait_for_kernel()
    page.choose("Run", "Run All Cells")
    expect(page.output("job 2 · finished")).to_contain_text("model:2", timeout=PATIENCE_MS)
    expect(page.notebook.locator(".acai-graph-box canvas").first).to_be_visible(timeout=PATIENCE_MS)
    page.wait_for_kernel()


def search(page: LabPage) -> None:
    """In a notebook of its own, a search that has ended and a job that goes on."""
    cells = [new_code_cell(source) for source in ("%load_ext acai_jupyter", SEARCH, LONG)]
    kernel = {"kernelspec": {"display_name": "Python 3 (ipykernel)", "language": "python", "name": "python3"}}
    nbformat.write(new_notebook(cells=cells, metadata=kernel), page.lab.notebooks / "search.ipynb")
    page.open("search.ipynb")
    expect(page.notebook.get_by_role("textbox")).to_have_count(len(cells))  # and no more the quick start's
    page.wait_for_kernel()
    page.choose("Run", "Run All Cells")
    board = page.notebook.get_by_role("region", name=re.compile("^sweep-"))
    expect(board).to_contain_text("5 finished", timeout=PATIENCE_MS)
    bar = page.notebook.get_by_role("region", name=re.compile("^the cell's job")).last
    expect(bar).to_contain_text("running", timeout=PATIENCE_MS)


def photograph_notebook(album: Album) -> None:
    """The quick start's second job and what its result was made of."""
    page = album.page
    page.open_panel()
    graph = page.notebook.locator(".acai-graph-box").first
    graph.evaluate("node => node.scrollIntoView({block: 'end'})")
    album.keep("notebook", shows=graph)


def photograph_form(album: Album) -> None:
    """The options of the quick start's first job, and what would happen."""
    page = album.page
    page.notebook.locator(".cm-content").filter(has_text=re.compile("^%%acai run")).first.click()
    page.page.keyboard.press("Control+Alt+r")
    form = page.notebook.get_by_role("region", name="options of the cell's job", exact=True)
    plan = form.get_by_role("complementary", name="plan", exact=True)
    expect(plan).to_have_attribute("aria-busy", "false")
    form.evaluate("node => node.scrollIntoView({block: 'start'})")
    album.keep("job-form", shows=plan.get_by_text("earlier run").first)
    form.get_by_role("button", name="Close the options").click()


def photograph_search(album: Album) -> None:
    """A search for the best, as its cell shows it."""
    board = album.page.notebook.get_by_role("region", name=re.compile("^sweep-"))
    board.scroll_into_view_if_needed()
    album.keep("sweep", shows=board)


def photograph_jobs(album: Album) -> None:
    """The table of jobs with two of them chosen, and what differs between them."""
    page = album.page
    page.choose("View", "ACAI Jobs")
    table = page.page.get_by_role("region", name="all jobs", exact=True)
    grid = table.get_by_role("grid", name="jobs")
    table.get_by_text("columns", exact=True).click()
    table.get_by_role("searchbox", name="Columns that begin with").fill("acc")
    table.get_by_role("checkbox", name="accuracy").check()
    page.page.keyboard.press("Escape")
    grid.get_by_role("columnheader", name="accuracy").get_by_role("button").click()
    grid.focus()
    for key in ("Home", "Space", "ArrowDown", "Space"):
        grid.press(key)
    album.keep("jobs", shows=table.get_by_role("status").filter(has_text="2 jobs chosen"))
    table.get_by_role("button", name="compare", exact=True).click()
    album.keep("compared", shows=page.page.get_by_role("region", name=re.compile(r"^job \d+ and job \d+$")))


def photograph_job(album: Album) -> None:
    """A job that runs, in a tab of its own."""
    page = album.page
    page.panel.get_by_role("region", name="Running jobs").get_by_role("button").first.click()
    album.keep("job", shows=page.page.get_by_role("log").filter(has_text="checked").last)


def photograph_data(album: Album) -> None:
    """The file sets in the sidebar, and how two versions of one differ."""
    page = album.page.page
    album.page.choose("View", "ACAI Data")
    sidebar = page.get_by_role("region", name="ACAI Data", exact=True)
    sidebar.get_by_role("tab", name="file sets").click()
    sets = sidebar.get_by_role("list", name="file sets")
    sets.get_by_role("button", name=re.compile("^digits:2")).click()
    digits = page.get_by_role("region", name="file set digits", exact=True)
    for version in (1, 2):
        digits.get_by_role("checkbox", name=f"compare version {version}").check()
    album.keep("fileset", shows=digits.get_by_role("button", name="compare 1 and 2"))
    digits.get_by_role("button", name="compare 1 and 2").click()
    compared = page.get_by_role("region", name="digits:1 and digits:2", exact=True)
    album.keep("filesets-compared", shows=compared.get_by_role("status"))


def photograph_graph(album: Album) -> None:
    """The whole project as a graph, with a set selected."""
    page = album.page
    page.open_panel()
    page.open_panel()  # a second click closes the sidebar
    page.choose("View", "ACAI Provenance")
    region = page.page.get_by_role("region", name="provenance", exact=True)
    region.get_by_role("button", name="model:7: ").dblclick()
    expect(region.get_by_role("status")).to_contain_text("Provenance of model:7")
    region.get_by_role("button", name="model:7: ").click()
    album.keep("provenance", shows=region.get_by_role("complementary", name="selected").get_by_role("heading"))


def main() -> int:
    """Install what a user installs, run the story, and keep the pictures."""
    program = next(filter(None, map(shutil.which, ("chromium", "chromium-browser", "google-chrome"))), None)
    if program is None:
        sys.stderr.write("There is no Chromium; on Debian or Ubuntu: apt-get install chromium\n")
        return 1
    IMAGES.mkdir(exist_ok=True)
    with tempfile.TemporaryDirectory(prefix="acai-screenshots-", ignore_cleanup_errors=True) as name:
        folder = Path(name)
        installed = distributions.install(folder / "packages")
        installed.run("python", str(ROOT / "notebooks" / "make_digits.py"), "digits", home=folder)
        notebooks = copy_notebooks(ROOT / "notebooks", folder / "notebooks", folder / "digits")
        lab = JupyterLab(installed, quiet_home(folder / "home"), notebooks).start()
        try:
            with sync_playwright() as playwright:
                sandbox = ["--no-sandbox"] if os.geteuid() == 0 else []
                browser = playwright.chromium.launch(executable_path=program, args=sandbox)
                expect.set_options(timeout=PATIENCE_MS)
                page = LabPage(browser.new_page(viewport={"width": WIDTH, "height": HEIGHT}), lab).open(
                    "quick-start.ipynb"
                )
                tell(Album(page))
                browser.close()
        finally:
            lab.stop()
    return 0


def tell(album: Album) -> None:
    """The story from its beginning to its end."""
    page = album.page
    run_the_story(page)
    photograph_notebook(album)
    photograph_form(album)
    search(page)
    photograph_search(album)
    photograph_jobs(album)
    photograph_job(album)
    photograph_data(album)
    photograph_graph(album)


if __name__ == "__main__":
    sys.exit(main())
