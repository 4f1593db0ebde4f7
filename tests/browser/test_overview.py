"""The jobs of a project at a glance: in the panel, on its icon, in the status bar, and in notifications."""

from __future__ import annotations

import re
import zlib
from typing import TYPE_CHECKING

import pytest
from playwright.sync_api import expect

from tests.browser.page import JOBS_MS

if TYPE_CHECKING:
    from pathlib import Path

    from playwright.sync_api import Response

    from tests.browser.conftest import OpenPage, StartLab
    from tests.packaging.distributions import Installation

pytestmark = [pytest.mark.browser, pytest.mark.timeout(300)]
EVIL = "<img src=x onerror=\\\"document.title='owned'\\\">"
WAITS = "import pathlib, time\nwhile not pathlib.Path({gate!r}).exists(): time.sleep(0.05)"
MOST_AT_START = 60_000
# Each is said only by what is loaded when first needed: the graph, the table, a comparison, a form, a log.
LATER = (
    "Fade what this is not true of",
    "which jobs, like: %1",
    "show what is the same too",
    "Nothing was run: first correct",
    "to the end, the log of job",
)
LOOK_AWAY = "document.hasFocus = () => false"


def scripts_of(answers: list[Response]) -> list[Response]:
    """Our scripts among what was loaded."""
    return [one for one in answers if re.search(r"/acai-jupyter/static/.*\.js", one.url)]


def size_of_scripts(answers: list[Response]) -> int:
    """How large they are together, compressed."""
    return sum(len(zlib.compress(one.body(), 9)) for one in scripts_of(answers))


def check_start(answers: list[Response], installed: Installation) -> None:
    """Little is loaded with the page, and nothing of what is loaded when it is first needed."""
    assert 1000 < size_of_scripts(answers) < MOST_AT_START
    shipped = "".join(one.read_text() for one in installed.folder.rglob("labextensions/acai-jupyter/static/*.js"))
    loaded = "".join(one.text() for one in scripts_of(answers))
    assert [words in shipped for words in LATER] == [True] * len(LATER)
    assert [words for words in LATER if words in loaded] == []


def test_running_waiting_and_ended_jobs_are_seen_wherever_one_looks(
    start_lab: StartLab, open_page: OpenPage, home: Path, installed: Installation
) -> None:
    config = home / ".config" / "acai" / "config.toml"
    config.parent.mkdir(parents=True)
    config.write_text("quota = 1\n")
    lab = start_lab()
    page = open_page(lab)
    answers: list[Response] = []
    page.page.on("response", lambda answer: answers.append(answer))  # noqa: PLW0108 (it keeps something on it)
    page.open()
    status = page.page.get_by_role("button", name=re.compile("^ACAI: "))
    expect(status).to_have_text("ACAI: 0 running · $0.00 today", timeout=JOBS_MS)
    page.page.wait_for_load_state("networkidle")  # what would be loaded a little later belongs to the start
    check_start(answers, installed)
    gate = lab.notebooks / "gate"
    page.new_notebook()
    page.run("%load_ext acai_jupyter")
    page.run(f'%%acai run --detach --memory 512Mi --name "{EVIL}"\n{WAITS.format(gate=str(gate))}')
    page.run("%%acai run --detach --memory 512Mi --name second\nprint('over')")
    expect(status).to_contain_text("ACAI: 1 running · 1 waiting · ", timeout=JOBS_MS)
    tab = page.page.get_by_role("tab", name="ACAI", exact=True)
    expect(tab).to_have_attribute("data-acai-badge", "1")
    status.click()
    running = page.panel.get_by_role("region", name="Running jobs").get_by_role("button")
    expect(running).to_contain_text("job 1 <img src=x")
    expect(running).to_contain_text("running")
    waiting = page.panel.get_by_role("region", name="Waiting jobs").get_by_role("button")
    expect(waiting).to_contain_text("job 2 second")
    expect(waiting).to_contain_text("It waits for one of its user's jobs to end")
    page.look_at("overview", page.panel, page.page.locator(".jp-AcaiStatus"))
    page.run("%acai project budget --total 0.000001 --report")
    budget = page.page.get_by_role("alert").filter(has_text="All of the budget of the project is spent")
    expect(budget).to_have_count(1, timeout=JOBS_MS)
    page.page.evaluate(LOOK_AWAY)
    gate.touch()
    told = page.page.get_by_role("alert").filter(has_text="job 2 · finished")
    expect(told).to_be_visible(timeout=JOBS_MS)
    expect(page.panel.get_by_role("region", name="Recent jobs").get_by_role("button")).to_have_count(2)
    expect(tab).to_have_attribute("data-acai-badge", "")
    page.photograph("overview-notification")
    page.page.get_by_role("button", name="Open job 2").click()
    opened = page.page.get_by_role("tabpanel").get_by_role("region", name="job 2", exact=True)
    expect(opened).to_contain_text("job 2 · finished")
    with page.until_kept("acai-job-1"):
        page.panel.get_by_role("region", name="Recent jobs").get_by_role("button").last.press("Enter")
        expect(page.page.get_by_role("tab", name="job 1", exact=True)).to_be_visible()
    page.page.reload()
    expect(page.page.get_by_role("tab", name="job 2", exact=True)).to_be_visible(timeout=JOBS_MS)
    assert page.page.title() != "owned"
    page.page.get_by_role("tab", name="Untitled.ipynb").click()
    page.wait_for_kernel()  # a server that ends while a page takes up its kernel waits long for it
