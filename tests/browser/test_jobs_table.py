"""The table of all jobs: found, sorted, compared, tagged and ended there, by mouse and by keyboard."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

import pytest
from playwright.sync_api import expect

from tests.browser.page import JOBS_MS

if TYPE_CHECKING:
    from pathlib import Path

    from tests.browser.conftest import OpenPage, StartLab
    from tests.browser.page import LabPage

pytestmark = [pytest.mark.browser, pytest.mark.timeout(300)]
TRAIN = """%%acai run --memory 512Mi --output net -p lr={lr} --name "<b>net</b>"
import acai_jupyter, os, pathlib
pathlib.Path("output/net").write_text("net")
acai_jupyter.tag("accuracy", 1 - float(os.environ["ACAI_PARAM_LR"]))"""
MANY = """%%acai run --memory 512Mi --detach --sweep n={values}
import time
time.sleep(600)"""


class Table:
    """The table of jobs in the main area."""

    def __init__(self, page: LabPage) -> None:
        self.page = page
        self.region = page.page.get_by_role("region", name="all jobs", exact=True)
        self.grid = self.region.get_by_role("grid", name="jobs")
        self.count = self.region.get_by_role("status").filter(has_text=re.compile(r"\d jobs?$"))
        self.field = self.region.get_by_role("combobox", name="Which jobs")
        self.active = self.grid.locator("tr[data-active]")
        self.numbers = self.grid.get_by_role("row").locator("button").filter(has_text=re.compile(r"^\d+$"))

    def press(self, *keys: str) -> None:
        self.grid.focus()
        for key in keys:
            self.grid.press(key)

    def choose_value(self, facet: str, value: str) -> None:
        self.region.get_by_text(facet, exact=True).first.click()
        self.region.get_by_role("checkbox", name=value).check()

    def do(self, words: str) -> None:
        self.region.get_by_role("button", name=words, exact=True).click()

    def say(self, words: str) -> None:
        """Wait until it says something."""
        expect(self.region.get_by_role("status").filter(has_text=words)).to_be_visible()


@pytest.fixture
def table(start_lab: StartLab, open_page: OpenPage, home: Path) -> Table:
    """The table of a project with two jobs that have ended, and 248 of which one runs at a time."""
    config = home / ".config" / "acai" / "config.toml"
    config.parent.mkdir(parents=True)
    config.write_text("quota = 1\n")
    page = open_page(start_lab()).open()
    page.new_notebook()
    page.run("%load_ext acai_jupyter")
    for lr in (0.2, 0.1):
        page.run(TRAIN.format(lr=lr))
    expect(page.output("→ net:2")).to_be_visible(timeout=JOBS_MS)
    page.run(MANY.format(values=",".join(map(str, range(248)))))
    expect(page.notebook.get_by_role("region", name=re.compile("^sweep-"))).to_be_visible(timeout=JOBS_MS)
    page.choose("View", "ACAI Jobs")
    return Table(page)


def test_jobs_are_found_sorted_compared_tagged_and_ended_in_a_table(table: Table) -> None:
    expect(table.count).to_have_text("250 jobs", timeout=JOBS_MS)
    assert table.grid.get_by_role("row").count() < 100
    expect(table.grid).to_have_attribute("aria-rowcount", "251")
    table.press("End")
    runs = table.grid.get_by_role("row").filter(has_text="running")
    expect(runs).to_contain_text(re.compile(r"a cell of Untitled.*\d s.*\$0\.\d+"))
    choose_many(table)
    table.field.fill("accuracy > and")
    expect(table.region.get_by_role("alert")).to_contain_text("column 12")
    expect(table.region.locator("pre")).to_have_text("accuracy > and\n" + " " * 11 + "^", use_inner_text=True)
    table.page.photograph("jobs-fault")
    complete_a_key(table)
    expect(table.count).to_have_text("2 jobs")
    expect(table.numbers).to_have_text(["2", "1"])
    open_menus(table)
    sort_by_accuracy(table)
    compare(table)
    tag(table)
    look_at_job(table)
    clean_up(table)
    end_some(table)
    table.press("Home", "Enter")
    expect(table.page.page.get_by_role("tab", name=re.compile(r"^job 24\d$"), selected=True)).to_be_visible()
    table.page.forgive("400")  # the query that is none, and the prediction of what ran once


def choose_many(table: Table) -> None:
    """Also rows that nobody has seen."""
    table.press("Home", "Space", "End", "Shift+Space")
    expect(table.grid.get_by_role("button", name="1", exact=True)).to_be_visible()
    table.say("250 jobs chosen")
    table.do("choose none")
    table.do("choose all 250 listed")
    table.say("250 jobs chosen")
    table.field.fill("state = 'queued'")
    table.say("250 jobs chosen · 3 of them are not in the list")
    expect(table.grid.get_by_role("button", name="250", exact=True)).to_be_in_viewport()
    expect(table.active).to_have_attribute("data-acai-thing", "250")
    table.do("choose none")


def complete_a_key(table: Table) -> None:
    field, keys = table.field, table.region.get_by_role("listbox", name="Keys")
    field.fill("")
    field.press_sequentially("acc")
    expect(keys.get_by_role("option")).to_contain_text(["accuracy"])
    field.press("ArrowDown")
    expect(keys.get_by_role("option", selected=True)).to_contain_text("accuracy")
    field.press("Escape")
    expect(keys).to_have_count(0)
    field.fill("has(acx) and number > 0")
    field.press("Home")
    for _ in range(6):
        field.press("ArrowRight")
    field.press("Backspace")
    field.press_sequentially("c")
    expect(keys.get_by_role("option")).to_contain_text(["accuracy"])
    field.press("ArrowDown")
    field.press("Enter")
    expect(field).to_have_value("has(accuracy) and number > 0")
    assert field.evaluate("node => node.selectionStart") == len("has(accuracy")
    expect(keys).to_have_count(0)
    take_what_stands_there(table)
    field.fill("has(accuracy) and ")
    field.press_sequentially("acc")
    expect(keys).to_be_visible()
    table.count.click()
    expect(keys).to_have_count(0)
    field.fill("has(accuracy)")
    field.press("Enter")


def take_what_stands_there(table: Table) -> None:
    """The text stays as it is, and one types on where one goes to."""
    field, keys = table.field, table.region.get_by_role("listbox", name="Keys")
    field.fill("has(accurac)")
    field.press("End")
    field.press("ArrowLeft")
    field.press_sequentially("y")
    expect(keys.get_by_role("option")).to_contain_text(["accuracy"])
    field.press("ArrowDown")
    field.press("Enter")
    expect(keys).to_have_count(0)
    field.press("End")
    field.press_sequentially(" and x")
    expect(field).to_have_value("has(accuracy) and x")


def open_menus(table: Table) -> None:
    """Each in every theme; a click elsewhere closes it and chooses nothing."""
    page = table.page

    def open_facet() -> None:
        table.region.get_by_text("state", exact=True).first.click()
        expect(table.region.get_by_role("checkbox", name="finished")).to_be_visible()

    def open_columns() -> None:
        table.region.get_by_text("columns", exact=True).click()
        expect(table.region.get_by_role("checkbox", name="created")).to_be_visible()

    def type_a_key() -> None:
        table.field.fill("has(accuracy) and ")
        table.field.press_sequentially("cr")
        expect(table.region.get_by_role("option", name="created_at")).to_be_visible()

    page.look_at("jobs-facet", table.region, opening=open_facet)
    page.look_at("jobs-columns", table.region, opening=open_columns)
    expect(table.region.get_by_role("checkbox", name="finished")).to_have_count(0)
    table.grid.get_by_role("row").nth(1).locator("td").nth(2).click()
    expect(table.region.get_by_role("checkbox", name="created")).not_to_be_visible()
    expect(table.grid.get_by_role("row", selected=True)).to_have_count(0)
    page.look_at("jobs-keys", table.region, opening=type_a_key)
    table.field.fill("has(accuracy)")
    expect(table.count).to_have_text("2 jobs")


def tag(table: Table) -> None:
    """A line that is refused stays."""
    table.do("tag")
    line = table.region.get_by_role("textbox", name="What to change on 2 jobs")
    line.fill("state=best")
    line.press("Enter")
    expect(table.region.get_by_role("alert")).to_contain_text("state")
    expect(line).to_have_value("state=best")
    line.fill("+best")
    line.press("Enter")
    expect(table.grid.get_by_role("gridcell", name="best", exact=True)).to_have_count(2)
    expect(line).to_have_count(0)
    expect(table.region.get_by_role("button", name="tag", exact=True)).to_be_focused()
    table.do("choose none")


def clean_up(table: Table) -> None:
    """The active row stays the same job while others go and come."""
    table.field.fill("")
    expect(table.count).to_have_text("250 jobs")
    heading = table.grid.get_by_role("columnheader", name="job", exact=True).get_by_role("button")
    heading.click()
    heading.click()
    expect(table.numbers.first).to_have_text("1")
    table.press("Home", "Space", "ArrowDown", "Space", "ArrowDown")
    expect(table.active).to_have_attribute("data-acai-thing", "3")
    ask, keep = (table.region.get_by_role("button", name=name, exact=True) for name in ("clean up", "keep them"))
    ask.press("Enter")
    expect(keep).to_be_focused()
    keep.press("Enter")
    expect(ask).to_be_focused()
    ask.press("Enter")
    table.region.get_by_role("button", name="yes, delete 2 jobs").press("Enter")
    table.say("2 deleted")
    expect(table.region.get_by_role("group", name="chosen jobs").locator(":focus")).to_be_visible()
    expect(table.count).to_have_text("248 jobs")
    expect(table.numbers.first).to_have_text("3")
    expect(table.active).to_have_attribute("data-acai-thing", "3")
    table.do("undo")
    table.say("2 brought back")
    expect(table.numbers.first).to_have_text("1")
    expect(table.active).to_have_attribute("data-acai-thing", "3")
    heading.click()


def sort_by_accuracy(table: Table) -> None:
    table.region.get_by_text("columns", exact=True).click()
    table.region.get_by_role("searchbox", name="Columns that begin with").fill("acc")
    table.region.get_by_role("checkbox", name="accuracy").check()
    table.page.page.keyboard.press("Escape")
    heading = table.grid.get_by_role("columnheader", name="accuracy")
    heading.get_by_role("button").click()
    expect(heading).to_have_attribute("aria-sort", "descending")
    expect(table.numbers).to_have_text(["2", "1"])
    heading.get_by_role("button").click()
    expect(table.numbers).to_have_text(["1", "2"])
    tags = table.grid.get_by_role("columnheader", name="tags")
    expect(tags).to_have_accessible_description("Lists have no order to sort by.")


def compare(table: Table) -> None:
    table.press("Home", "Space", "ArrowDown", "Space")
    table.say("2 jobs chosen")
    page = table.page
    page.look_at("jobs", table.region)
    table.do("compare")
    compared = page.page.get_by_role("region", name="job 1 and job 2")
    expect(compared.get_by_role("row").filter(has_text="lr")).to_have_text("lr0.20.1")
    alike = compared.get_by_role("row").filter(has=page.page.get_by_role("rowheader", name="command", exact=True))
    expect(alike).to_have_count(0)
    page.look_at("jobs-compared", compared)
    compared.get_by_role("checkbox", name="show what is the same too").check()
    expect(alike).to_have_count(1)
    page.page.get_by_role("tab", name="Jobs", exact=True).click()


def end_some(table: Table) -> None:
    table.field.fill("")
    expect(table.count).to_have_text("250 jobs")
    table.choose_value("state", "queued")
    expect(table.field).to_have_value("state = 'queued'")
    expect(table.count).to_have_text("247 jobs")
    table.press("Home", "Space", "ArrowDown", "ArrowDown", "Shift+Space")
    table.do("kill")
    table.do("yes, end 3 jobs")
    table.say("3 being ended")
    expect(table.count).to_have_text("244 jobs")


def look_at_job(table: Table) -> None:
    page = table.page
    table.numbers.filter(has_text="1").click()
    job = page.page.locator(".jp-AcaiJobTab").filter(has=page.page.get_by_role("region", name="job 1", exact=True))
    job.get_by_role("textbox", name="Add labels and attributes").fill("stage=<i>new</i> +mine")
    page.page.keyboard.press("Enter")
    labels = job.get_by_role("list", name="Labels and attributes")
    expect(labels).to_contain_text("mine")
    expect(labels).to_contain_text("stage <i>new</i>")
    job.get_by_role("textbox", name="Note on job 1").fill("the first one")
    job.get_by_role("button", name="remove best").click()
    expect(labels).not_to_contain_text("best")
    for title in ("Attempts", "Code and environment", "Copy"):
        job.get_by_text(title, exact=True).click()
    expect(job.get_by_role("row").filter(has_text="finished")).to_contain_text("1 vCPU, 512 MB")
    expect(job.get_by_role("region", name="environment")).to_contain_text("python")
    expect(job.locator("pre").filter(has_text="%%acai run")).to_contain_text(
        "--output net -p lr=0.2 --name '<b>net</b>'"
    )
    expect(job.get_by_role("button", name="provenance of net:1")).to_be_visible()
    page.look_at("job", job)
    page.page.reload()
    expect(job.get_by_role("textbox", name="Note on job 1")).to_have_value("the first one", timeout=JOBS_MS)
    page.page.get_by_role("tab", name="Jobs", exact=True).click()
    expect(table.count).to_have_text("250 jobs", timeout=JOBS_MS)
    expect(table.grid.get_by_role("columnheader", name="accuracy")).to_be_visible()
