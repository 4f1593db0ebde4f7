"""What a person can choose about cells, and what a form asks while the kernel is still at its cell."""

from __future__ import annotations

import json
import re
from typing import TYPE_CHECKING

import pytest
from playwright.sync_api import expect

from tests.browser.page import JOBS_MS
from tests.browser.test_cells import bar
from tests.browser.test_job_form import Form, code
from tests.browser.test_views import save

if TYPE_CHECKING:
    from pathlib import Path

    from tests.browser.conftest import OpenPage, StartLab
    from tests.browser.page import LabPage

pytestmark = [pytest.mark.browser, pytest.mark.timeout(300)]
JOB = "%%acai run --cpu 1\nprint('said')"
SWEEP = """%%acai run --detach --memory 512Mi --cpu 0.5 --sweep n=1,2
import pathlib, time
while not pathlib.Path({gate!r}).exists(): time.sleep(0.05)"""
SUBMITS = """import pathlib, time
while not pathlib.Path({gate!r}).exists(): time.sleep(0.05)
%acai submit first.py --memory 512Mi"""


def choose(home: Path, **settings: object) -> None:
    """Keep settings where the settings editor keeps them."""
    folder = home / ".jupyter" / "lab" / "user-settings" / "acai-jupyter"
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "cells.jupyterlab-settings").write_text(json.dumps(settings))


def open_form(page: LabPage, beginning: str) -> Form:
    code(page, beginning).click()
    page.page.keyboard.press("Control+Alt+r")
    form = Form(page)
    expect(form.run).to_be_visible()
    return form


def test_a_person_chooses_whether_cells_have_bars_and_which_groups_are_open(
    start_lab: StartLab, open_page: OpenPage, home: Path
) -> None:
    choose(home, bars=False, openGroups=["values"])
    page = open_page(start_lab()).open()
    page.new_notebook()
    page.run("%load_ext acai_jupyter")
    page.run(JOB)
    view = page.notebook.get_by_role("region", name="job 1", exact=True)
    expect(view).to_contain_text("job 1 · finished", timeout=JOBS_MS)
    form = open_form(page, "%%acai run")
    expect(form.field("p")).to_be_visible()
    expect(form.field("cpu")).to_be_visible()  # as something is given there
    expect(form.field("input")).to_be_hidden()
    expect(bar(page, 1)).to_have_count(0)
    page.page.keyboard.press("Escape")
    save(page)
    choose(home)
    page.page.reload()
    expect(bar(page, 1)).to_contain_text("job 1 · finished", timeout=JOBS_MS)
    form = open_form(page, "%%acai run")
    expect(form.field("input")).to_be_visible()
    expect(form.field("p")).to_be_hidden()
    # One run tells of no other machine, which the form may have come to ask by now.
    page.troubles = [one for one in page.troubles if "/provisions" not in one]


def test_a_sweep_that_still_runs_is_run_again_only_after_a_question(start_lab: StartLab, open_page: OpenPage) -> None:
    lab = start_lab()
    page = open_page(lab).open()
    gate = lab.notebooks / "gate"
    page.new_notebook()
    page.run("%load_ext acai_jupyter")
    page.run(SWEEP.format(gate=str(gate)))
    swept = page.notebook.get_by_role("region", name=re.compile("^the cell's sweep-"))
    expect(swept).to_contain_text("2 jobs", timeout=JOBS_MS)
    form = open_form(page, "%%acai run")
    again = form.region.get_by_role("button", name="it runs already, run it once more")
    form.run.press("Enter")
    expect(again).to_be_visible()
    gate.touch()
    expect(again).to_have_count(0, timeout=JOBS_MS)  # as it runs no longer
    expect(swept).to_contain_text("2 finished")


def test_a_cell_that_the_kernel_is_still_at_is_run_again_only_after_a_question(
    start_lab: StartLab, open_page: OpenPage
) -> None:
    lab = start_lab()
    page = open_page(lab).open()
    (lab.notebooks / "first.py").write_text("print('tried')\n")
    gate = lab.notebooks / "gate"
    page.new_notebook()
    page.run("%load_ext acai_jupyter")
    page.run(SUBMITS.format(gate=str(gate)))
    form = open_form(page, "import pathlib")
    form.tells("machine", "512 MB")
    form.run.press("Enter")
    expect(form.region.get_by_role("button", name="it runs already, run it once more")).to_be_visible()
    form.region.get_by_role("button", name="do not").press("Enter")
    expect(form.run).to_be_focused()
    gate.touch()
    view = page.notebook.get_by_role("region", name=re.compile(r"^job \d$"))
    expect(view).to_contain_text("job 1 · finished", timeout=JOBS_MS)
    expect(page.notebook.get_by_text("[*]:")).to_have_count(0)
    form.run.press("Enter")  # nobody asks any more
    expect(form.region).to_have_count(0)
    expect(view).to_contain_text("job 2 · finished", timeout=JOBS_MS)
