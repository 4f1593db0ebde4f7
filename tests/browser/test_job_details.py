"""What jobs tell afterwards: a long log, the code that changed, metrics, what depends on what; and cleaning up."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

import pytest
from playwright.sync_api import expect

from tests.browser.page import JOBS_MS
from tests.browser.test_explored_graph import GraphTab
from tests.browser.test_jobs_table import Table

if TYPE_CHECKING:
    from playwright.sync_api import Locator

    from tests.browser.conftest import OpenPage, StartLab
    from tests.browser.page import LabPage

pytestmark = [pytest.mark.browser, pytest.mark.timeout(300)]
BEGIN = """%load_ext acai_jupyter
import pathlib
pathlib.Path("raw").mkdir(); pathlib.Path("raw/a.csv").write_text("1,2")
%acai put raw /raw --as raw"""
TRAIN = """_ = pathlib.Path("train.py").write_text('''import acai_jupyter
open("output/m", "w").write("m")
acai_jupyter.tag("loss", {loss})
{end}
''')
%acai submit train.py --input raw --output model --memory 512Mi"""
CELL = """%%acai run --env-var FOO=bar --tag stage=x --description words --memory 512Mi
import os

print(os.environ["FOO"])"""
FAILS = """for n in range(3000): print("line", n, "x" * (n % 300))
raise ValueError("<b>no</b> such column")"""


def job_tab(page: LabPage, table: Table, number: int) -> Locator:
    table.numbers.filter(has_text=str(number)).click()
    return page.page.locator(".jp-AcaiJobTab").filter(
        has=page.page.get_by_role("region", name=f"job {number}", exact=True)
    )


def test_a_person_finds_out_why_a_job_failed_and_cleans_up(start_lab: StartLab, open_page: OpenPage) -> None:
    page = open_page(start_lab()).open()
    page.new_notebook()
    page.run(BEGIN)
    for number, (loss, end) in enumerate(((0.5, ""), (0.25, ""), (0.125, FAILS)), 1):
        page.run(TRAIN.format(loss=loss, end=end))
        shown = page.notebook.get_by_role("region", name=f"job {number}", exact=True)
        expect(shown).to_contain_text("failed" if end else "finished", timeout=JOBS_MS)
    page.choose("View", "ACAI Jobs")
    table = Table(page)
    expect(table.count).to_have_text("3 jobs", timeout=JOBS_MS)
    job = job_tab(page, table, 3)
    read_log(page, job)
    see_changes(job)
    page.look_at("job-failed", job)
    find_provenance_of_input(page, job)
    page.page.get_by_role("tab", name="Jobs", exact=True).click()
    compare_metrics(table)
    compare_code(table)
    clean_up(table)
    page.page.get_by_role("tab", name="Provenance", exact=True).click()
    ask_the_graph(page)
    page.page.get_by_role("tab", name="Jobs", exact=True).click()
    run_with_changes(page, table)
    copy_a_cell(page, table)
    see_what_was_predicted(page, table)


def copy_a_cell(page: LabPage, table: Table) -> None:
    """What is copied is the whole job; what was not answered before is there as soon as it is."""
    page.page.get_by_role("tab", name="Untitled.ipynb").click()
    page.run(CELL)
    expect(page.notebook.get_by_role("region", name="job 5", exact=True)).to_contain_text(
        "job 5 · finished", timeout=JOBS_MS
    )
    page.page.get_by_role("tab", name="Jobs", exact=True).click()
    job = job_tab(page, table, 5)
    page.page.context.grant_permissions(["clipboard-read", "clipboard-write"])
    page.page.route(re.compile("/jobs/5/request"), lambda route: route.abort())
    job.locator("summary").filter(has_text="Copy").click()
    expect(job.get_by_role("alert")).to_contain_text("The Jupyter server cannot be reached.")
    page.page.unroute_all()
    copied = []
    for words in ("cell", "shell", "Python"):
        job.get_by_role("button", name=f"copy as {words}").click()
        expect(job.get_by_text(f"Copied as {words}.")).to_be_visible()
        copied.append(page.page.evaluate("navigator.clipboard.readText()"))
    assert copied == [CELL, "acai replay 5", "acai.replay(5)"]
    page.look_at("job-copied", job)
    page.forgive("ERR_FAILED")


def run_with_changes(page: LabPage, table: Table) -> None:
    """The same job with other values; what cannot be read is said at its field, and nothing is submitted."""
    job = job_tab(page, table, 1)
    job.locator("summary").filter(has_text="Run again with changes").click()
    form = job.get_by_role("form", name="Run again with changes")
    expect(form.get_by_role("textbox", name="inputs")).to_have_value("@raw")
    form.get_by_role("textbox", name="parameters").fill("depth=3")
    form.get_by_role("textbox", name="memory").fill("plenty")
    form.get_by_role("button", name="run with these values").click()
    expect(form.get_by_role("alert")).to_have_text("'plenty' is not a size; write it like 512Mi or 4Gi.")
    page.look_at("job-changed", job)
    form.get_by_role("textbox", name="memory").fill("768Mi")
    name = form.get_by_role("textbox", name="name", exact=True)
    name.fill("smaller")
    form.get_by_role("button", name="run with these values").dblclick()  # which is once
    expect(form.get_by_role("status")).to_have_text("job 4 was submitted")
    name.press("Enter")
    form.get_by_role("button", name="open job 4").click()
    again = page.page.get_by_role("tabpanel", name="job 4").get_by_role("region", name="job 4", exact=True)
    expect(again).to_contain_text("job 4 · finished", timeout=JOBS_MS)
    again.get_by_role("button", name="details, job 4").click()
    expect(again).to_contain_text("smaller")
    expect(again).to_contain_text("768 MB")
    page.page.get_by_role("tab", name="Jobs", exact=True).click()
    expect(table.count).to_have_text("4 jobs")


def see_what_was_predicted(page: LabPage, table: Table) -> None:
    """Four runs of a kind are enough for a model."""
    page.page.get_by_role("tab", name="Untitled.ipynb").click()
    page.run("%%acai run --sweep lr=1,2,3,4 --memory 512Mi\npass")
    sweep = page.notebook.get_by_role("region", name="sweep-6", exact=True)
    expect(sweep).to_contain_text("4 jobs · 4 finished", timeout=JOBS_MS)
    page.page.get_by_role("tab", name="Jobs", exact=True).click()
    job = job_tab(page, table, 9)
    job.locator("summary").filter(has_text="Attempts").click()
    expect(job.get_by_text(re.compile(r"^predicted [\d.]+ s, took [\d.]+ s \(.+\)$"))).to_be_visible()
    page.look_at("job-attempts", job)


def read_log(page: LabPage, job: Locator) -> None:
    """It opens at its end, however long its lines are; on request they are not broken; all of it can be had."""
    job.get_by_role("button", name="log, job 3", exact=True).click()
    log = job.get_by_role("log", name="Log of job 3")
    last = log.locator("code").filter(has_text="ValueError: <b>no</b> such column")
    expect(log).to_have_attribute("data-window", "")  # its lines are counted
    expect(last).to_be_in_viewport()
    line = log.locator("code").filter(has_text="line 2999 ")
    high = line.evaluate("node => node.getBoundingClientRect().height")
    job.get_by_role("button", name="wrap, the log of job 3").click()
    assert line.evaluate("node => node.getBoundingClientRect().height") < high
    expect(last).to_be_in_viewport()
    with page.page.expect_download() as started:
        job.get_by_role("button", name="download, the log of job 3").click()
    assert started.value.suggested_filename == "job-3-attempt-1.log"
    lines = started.value.path().read_text().splitlines()
    assert [line for line in lines if line.startswith("line ")][::2999] == ["line 0 ", f"line 2999 {'x' * 299}"]


def see_changes(job: Locator) -> None:
    job.get_by_text("Code and environment", exact=True).click()
    changes = job.get_by_role("region", name="code of job 3, what changed")
    expect(changes).to_contain_text("Its code differs from that of job 2, the last of its kind that finished before it")
    lines = changes.get_by_role("table", name="lines that differ").get_by_role("row")
    expect(lines.filter(has_text='"loss", 0.25')).to_have_attribute("data-kind", "removed")
    expect(lines.filter(has_text="<b>no</b> such column")).to_have_attribute("data-kind", "added")


def find_provenance_of_input(page: LabPage, job: Locator) -> None:
    job.get_by_role("definition").filter(has_text="raw:1").click(button="right", position={"x": 5, "y": 8})
    page.page.get_by_role("menu").get_by_text("Show Provenance", exact=True).click()
    expect(GraphTab(page).title).to_contain_text("Provenance of raw:1")


def compare_metrics(table: Table) -> None:
    table.press("Home", "Space", "ArrowDown", "Space", "ArrowDown", "Space")
    table.say("3 jobs chosen")
    table.do("metrics")
    charts = table.region.get_by_role("region", name="metrics of the chosen jobs")
    expect(charts.get_by_role("img", name="loss: job 1: 0.5, job 2: 0.25, job 3: 0.125")).to_be_visible()
    table.page.look_at("jobs-metrics", table.region)


def compare_code(table: Table) -> None:
    table.do("choose none")
    table.press("Home", "Space", "ArrowDown", "Space")
    table.do("compare")
    page = table.page.page
    code = page.get_by_role("region", name=re.compile(r"^code of jobs \d and \d$"))
    expect(code).to_contain_text(re.compile(r"The code of job \d differs from that of job \d:"))
    lines = code.get_by_role("table", name="lines that differ").get_by_role("row")
    expect(lines.filter(has_text='"loss"').filter(has_text="0.")).to_have_count(2)
    table.page.look_at("jobs-code-compared", code)
    page.get_by_role("tab", name="Jobs", exact=True).click()


def clean_up(table: Table) -> None:
    table.do("choose none")
    table.press("Home", "Space")
    table.say("1 job chosen")
    table.do("clean up")
    table.do("yes, delete 1 job")
    table.say("1 deleted")
    expect(table.count).to_have_text("2 jobs")
    table.do("undo")
    table.say("1 brought back")
    expect(table.count).to_have_text("3 jobs")


def ask_the_graph(page: LabPage) -> None:
    """What would have to be made again, and why two sets differ."""
    graph = GraphTab(page)
    graph.press("what is affected")
    affected = graph.about.get_by_role("region", name="affected by raw:1")
    expect(affected).to_contain_text("Would have to be made again if raw:1 changed: 2 file sets · 3 jobs")
    expect(affected.get_by_role("listitem").filter(has_text="model:2")).to_contain_text("newest")
    affected.get_by_role("button", name="model:1", exact=True).click()
    expect(graph.title).to_have_text("Provenance of model:1")
    graph.press("path from here")
    graph.press("back")
    graph.node("model:2").click()
    graph.press("why different from model:1")
    why = graph.about.get_by_role("region", name="why model:1 and model:2 differ")
    expect(why.get_by_role("listitem").filter(has_text=re.compile("^code: "))).to_contain_text("train.py")
    page.look_at("graph-asked", graph.region)
