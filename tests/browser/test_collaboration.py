"""Two people in one notebook, by JupyterLab's real-time collaboration: one job for a cell, and nobody's edits lost."""

from __future__ import annotations

import re
from contextlib import contextmanager
from typing import TYPE_CHECKING

import pytest
from playwright.sync_api import expect

from tests.browser.page import JOBS_MS
from tests.browser.test_cells import WAITS, bar
from tests.browser.test_job_form import Form, code
from tests.browser.test_two_tabs import edit_attributes, edit_notes
from tests.packaging import distributions

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from playwright.sync_api import Locator, WebSocketRoute

    from tests.browser.conftest import OpenPage, StartLab
    from tests.browser.page import LabPage
    from tests.packaging.distributions import Installation

pytestmark = [pytest.mark.browser, pytest.mark.timeout(600)]

NOT_OURS = "Comm not found|handling a Yjs update|appendStreamOutput|400 .*/provisions"
"""ipywidgets asks a kernel that has only begun for what the one before it had; JupyterLab stumbles over outputs that
two pages clear at once; a machine is not predicted of what ran once."""


@pytest.fixture(scope="session")
def installed(tmp_path_factory: pytest.TempPathFactory) -> Installation:
    return distributions.install(distributions.shared(tmp_path_factory.getbasetemp()), "collaboration")


class Writer:
    """Somebody in a page of their own, of whom others hear nothing while what their page sends is held back."""

    def __init__(self, page: LabPage) -> None:
        self.page = page
        self.form = Form(page)
        self.held: list[Callable[[], None]] | None = None
        page.page.route_web_socket(re.compile("/api/collaboration/room/"), self._join)

    def _join(self, room: WebSocketRoute) -> None:
        server = room.connect_to_server()

        def on_message(message: str | bytes) -> None:
            if self.held is None:
                server.send(message)
            else:
                self.held.append(lambda: server.send(message))

        room.on_message(on_message)

    def release(self) -> None:
        """Let others hear of all that was held back."""
        held, self.held = self.held or [], None
        for send in held:
            send()

    @property
    def name(self) -> str:
        """As whom Jupyter knows them."""
        me = self.page.page.request.get(self.page.lab.url_of("api/me"))
        return str(me.json()["identity"]["username"])

    @property
    def line(self) -> Locator:
        """The cell that runs as a job."""
        return code(self.page, "%%acai run")


@contextmanager
def at_once(*writers: Writer) -> Iterator[None]:
    """What these do inside, each does before hearing of the others."""
    for one in writers:
        one.held = []
    yield
    for one in writers:
        assert one.held, "nothing was sent, so nothing was held back"
        one.release()


def test_two_people_in_one_notebook_run_a_cell_as_one_job_and_lose_nothing(
    start_lab: StartLab, open_page: OpenPage
) -> None:
    lab = start_lab()
    first, second = writers = [Writer(open_page(lab)) for _ in range(2)]
    gate = lab.notebooks / "gate"
    first.page.open().new_notebook()
    first.page.notebook.get_by_role("textbox").first.click()
    first.page.page.keyboard.insert_text(WAITS.format(gate=str(gate)))
    second.page.open("Untitled.ipynb")
    expect(code(second.page, "import pathlib")).to_be_visible()
    assert first.name != second.name
    with at_once(first, second):
        for one in writers:
            one.page.page.get_by_role("button", name="Run as Job").click()
            expect(one.line).to_be_visible()
    edit_options(first, second)
    for one in writers:
        expect(code(one.page, "%load_ext acai_jupyter")).to_have_count(1)
        expect(one.page.notebook.locator(".cm-content")).to_have_count(2)
    run_once(first, second)
    theirs, mine = (job_of(one.page) for one in writers)
    edit_attributes(theirs, mine, "job 1")
    edit_notes(theirs, mine, "job 1")
    gate.touch()
    for tab in (theirs, mine):
        expect(tab).to_contain_text("job 1 · finished", timeout=JOBS_MS)
    expect(jobs_of(first.page)).to_have_count(1)
    run_at_once(first, second)
    expect(jobs_of(first.page)).to_have_count(2)
    second.page.forgive("409")
    for one in writers:
        one.page.troubles = [trouble for trouble in one.page.troubles if not re.search(NOT_OURS, trouble)]


def edit_options(first: Writer, second: Writer) -> None:
    """What one chooses stands in the other's form; what both choose at once stays, and the cell has one line."""
    for one in (first, second):
        one.line.click()
        one.page.page.keyboard.press("Control+Alt+r")
        expect(one.form.run).to_be_visible()
    first.form.type("memory", "512Mi")
    expect(second.form.field("memory")).to_have_value("512Mi")
    with at_once(first, second):
        first.form.type("cpu", "0.5")
        second.form.type("output", "made")
        expect(first.line).to_contain_text("--cpu 0.5")
        expect(second.line).to_contain_text("--output made")
    for one in (first, second):
        for field, value in (("memory", "512Mi"), ("cpu", "0.5"), ("output", "made")):
            expect(one.form.field(field)).to_have_value(value)
            expect(one.line).to_contain_text(f" --{field} {value}")
        expect(one.line).to_contain_text(re.compile("^%%acai run(?!.*%%acai)"))


def run_once(first: Writer, second: Writer) -> None:
    """The second one who presses Run is asked, and sees the job of the first."""
    first.form.run.press("Enter")
    for one in (first, second):
        expect(bar(one.page, 1)).to_contain_text(re.compile(r"job 1 · running · \d+ s"), timeout=JOBS_MS)
    second.form.run.press("Enter")
    asked = second.form.region.get_by_role("button", name="it runs already, run it once more")
    expect(asked).to_be_visible()
    second.page.photograph("collaboration")
    second.form.region.get_by_role("button", name="do not").press("Enter")
    expect(asked).to_have_count(0)


def run_at_once(first: Writer, second: Writer) -> None:
    """Both press Run before either hears of the other: the cell runs once, and both see that job."""
    for one in (first, second):
        one.page.page.get_by_role("tab", name="Untitled.ipynb").click()
        one.line.click()
        one.page.page.keyboard.press("Control+Alt+r")
        expect(one.form.run).to_be_visible()
    with at_once(first, second):
        for one in (first, second):
            one.form.run.press("Enter")
        for one in (first, second):
            expect(bar(one.page, 2)).to_contain_text("job 2 · finished", timeout=JOBS_MS)
    for one in (first, second):
        expect(bar(one.page, 2)).to_contain_text("job 2 · finished")
    second.page.photograph("collaboration-at-once")


def job_of(page: LabPage) -> Locator:
    """The tab of the cell's job."""
    bar(page, 1).get_by_role("button", name="job 1 in a tab").click()
    field = page.page.get_by_role("textbox", name="Add labels and attributes")
    expect(field).to_be_visible()
    return page.page.get_by_role("tabpanel").filter(has=field)


def jobs_of(page: LabPage) -> Locator:
    """The rows of the table of jobs."""
    page.choose("View", "ACAI Jobs")
    table = page.page.get_by_role("grid", name="jobs")
    return table.get_by_role("row").filter(has=page.page.get_by_role("gridcell"))
