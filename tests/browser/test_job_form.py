"""The form with the options of a job, at a cell and for a script of the file browser; by keyboard, through a reload."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

import pytest
from playwright.sync_api import expect

from tests.browser.page import JOBS_MS, THEMES
from tests.browser.test_cells import bar
from tests.browser.test_views import save

if TYPE_CHECKING:
    from playwright.sync_api import Locator

    from tests.browser.conftest import OpenPage, StartLab
    from tests.browser.page import LabPage

pytestmark = [pytest.mark.browser, pytest.mark.timeout(600)]
# Runs of one profile on two machines, so that there is something to choose among.
EARLIER = """%%acai run --profile nap --memory 512Mi --cpu {cpu} --env-var CPU={cpu} --sweep n=1,2
import os, time
time.sleep(int(os.environ["ACAI_PARAM_N"]) / float(os.environ["CPU"]) / 2)"""
WAITS = """import pathlib, time
pathlib.Path("output/made").write_text("made")
while not pathlib.Path({gate!r}).exists():
    time.sleep(0.05)"""

# What waits for the browser to be idle waits until it is released, as on a busy machine.
HOLD_IDLE = """() => {
    const { requestIdleCallback } = window;
    const held = [];
    window.requestIdleCallback = run => held.push(run);
    window.releaseIdle = () => {
        window.requestIdleCallback = requestIdleCallback;
        for (const run of held) { run({ didTimeout: true, timeRemaining: () => 50 }); }
    };
}"""


class Form:
    """The options that are open."""

    def __init__(self, page: LabPage) -> None:
        self.page = page
        self.region = page.notebook.get_by_role("region", name="options of the cell's job", exact=True)
        self.plan = self.region.get_by_role("complementary", name="plan", exact=True)
        self.machine = self.region.get_by_role("slider", name="machine, from the cheapest to the fastest")
        self.run = self.region.get_by_role("button", name="Run the cell as a job")

    def field(self, name: str) -> Locator:
        return self.region.get_by_role("textbox", name=name, exact=True)

    def type(self, name: str, text: str) -> None:
        """Go to a field and type, as one does in place of what is there."""
        self.field(name).focus()
        self.page.page.keyboard.press("Control+A")
        self.page.page.keyboard.type(text)

    def open_group(self, title: str) -> None:
        self.region.get_by_role("group").get_by_text(title, exact=True).press("Enter")

    def tells(self, term: str, said: str | re.Pattern[str]) -> None:
        """Wait until the plan says so, and is that of the line as it stands."""
        found = self.plan.get_by_role("term").filter(has_text=re.compile(f"^{term}$"))
        expect(found.locator("xpath=following-sibling::dd[1]")).to_contain_text(said, timeout=JOBS_MS)


def code(page: LabPage, beginning: str) -> Locator:
    """The text of the cell that begins so."""
    return page.notebook.locator(".cm-content").filter(has_text=re.compile(f"^{re.escape(beginning)}"))


def prepare(page: LabPage) -> None:
    """A file set of two files, and four runs of the profile nap."""
    folder = page.lab.notebooks / "notes"
    folder.mkdir()
    for name in ("one", "two"):
        (folder / f"{name}.txt").write_text(name)
    page.new_notebook()
    page.run("%load_ext acai_jupyter")
    page.run("%acai put notes /notes --as notes")
    for count, cpu in enumerate(("0.5", "1"), start=1):
        page.run(EARLIER.format(cpu=cpu))
        boards = page.notebook.get_by_role("region", name=re.compile("^sweep-"))
        expect(boards.filter(has_text="2 finished")).to_have_count(count, timeout=JOBS_MS)


def correct(form: Form) -> None:
    """Say what is wrong, see it told beside its field, and put it right."""
    alert = form.region.get_by_role("alert")
    form.page.page.keyboard.type("nots")
    expect(alert).to_contain_text("There is no file set 'nots'")
    expect(form.field("input")).to_have_attribute("aria-invalid", "true")
    offered = form.region.get_by_role("list", name="for input").get_by_role("button")
    for theme in THEMES:
        form.page.use_theme(theme)
        form.type("input", "no")
        expect(offered).to_have_text(["notes"])
        form.page.photograph(f"job-form-offers-{theme.removeprefix('JupyterLab ').lower().replace(' ', '-')}")
        assert form.page.barriers(form.region) == [], theme
    form.page.page.keyboard.press("Escape")
    expect(offered).to_have_count(0)
    form.page.page.keyboard.type("t")
    expect(offered).to_have_text(["notes"])
    for key in ("ArrowDown", "Enter"):
        form.page.page.keyboard.press(key)
    expect(form.field("input")).to_have_value("notes")
    expect(form.field("input")).to_be_focused()
    expect(offered).to_have_count(0)
    form.tells("input", "notes:1 (2 files, 6 B, already there)")
    expect(alert).to_have_count(0)
    form.page.page.keyboard.press("Tab")
    expect(form.field("output")).to_be_focused()
    form.page.page.keyboard.type("made")
    form.tells("output", "made")
    form.type("cpu", "0.")
    expect(alert).to_contain_text("is not a number above 0")
    form.run.press("Enter")
    expect(form.run).to_be_visible()
    form.type("cpu", "1")
    form.tells("machine", "1 vCPU")


def open_while_busy(form: Form) -> None:
    """Open the form of the active cell on a page that is idle only after the person has gone on to Run."""
    page = form.page.page
    page.evaluate(HOLD_IDLE)
    page.keyboard.press("Control+Alt+r")
    expect(form.field("input")).to_be_focused()
    form.run.focus()
    page.evaluate("window.releaseIdle()")
    expect(form.run).to_be_focused()


def choose_machine(form: Form) -> None:
    """Name the profile, and take the cheapest machine that its runs speak for."""
    page = form.page
    form.open_group("values")
    form.type("p", "n=2")
    form.type("profile", "na")
    form.region.get_by_role("list", name="for profile").get_by_role("button", name="nap", exact=True).click()
    expect(form.field("profile")).to_have_value("nap")
    form.tells("expected", "from 4 earlier runs")
    expect(form.machine).to_be_visible()
    page.look_at("job-form", form.region)
    line = code(page, "%%acai run --input notes --output made")
    expect(line).not_to_contain_text("--memory")
    form.machine.press("End")
    expect(line).to_contain_text("--memory")
    fastest = line_cpu(line)
    form.machine.press("ArrowLeft")
    expect(line).not_to_contain_text(f"--cpu {fastest} ")
    form.machine.press("ArrowRight")
    expect(line).to_contain_text(f"--cpu {fastest} ")
    form.tells("machine", re.compile(f"^{fastest} vCPU"))
    expect(form.region.get_by_role("alert")).to_have_count(0)  # the fastest that is offered can be had
    form.machine.press("Home")
    expect(line).to_contain_text(re.compile(r"--cpu [\d.]+ -p n=2 --profile nap --memory 512Mi"))
    expect(line).not_to_contain_text(f"--cpu {fastest} ")  # which is the cheapest, the runs have told
    form.tells("machine", f"{line_cpu(line)} vCPU, 512 MB")


def run_in_a_new_kernel(form: Form) -> None:
    """Run the active cell by its options, when the kernel has heard of nothing that stands above."""
    page = form.page
    page.choose("Kernel", "Restart Kernel…")
    page.page.get_by_role("dialog").get_by_role("button", name="Confirm Kernel Restart").click()
    page.wait_for_kernel()
    page.page.keyboard.press("Control+Alt+r")
    form.tells("output", "made")
    form.run.press("Enter")
    expect(form.region).to_have_count(0)


def line_cpu(line: Locator) -> str:
    """How many vCPU the line asks for."""
    found = re.search(r"--cpu ([\d.]+)", line.inner_text())
    assert found is not None
    return found[1]


def test_a_person_chooses_options_sees_the_plan_change_runs_the_job_and_watches_it_through_a_reload(
    start_lab: StartLab, open_page: OpenPage
) -> None:
    lab = start_lab()
    page = open_page(lab).open()
    prepare(page)
    gate = lab.notebooks / "gate"
    form = Form(page)
    page.notebook.locator(".cm-content").last.click()
    page.page.keyboard.insert_text(WAITS.format(gate=str(gate)))
    page.page.keyboard.press("Control+Alt+r")
    expect(form.field("input")).to_be_focused()
    form.tells("input", "none")
    form.tells("expected", "not known: no such job has finished yet")
    correct(form)
    choose_machine(form)
    form.run.press("Enter")
    expect(form.region).to_have_count(0)
    expect(bar(page, 5)).to_contain_text("job 5 · running", timeout=JOBS_MS)
    save(page)
    page.page.reload()
    expect(bar(page, 5)).to_contain_text("job 5 · running", timeout=JOBS_MS)
    code(page, "%%acai run --input notes --output made").click()
    open_while_busy(form)
    expect(form.field("input")).to_have_value("notes")
    expect(form.field("memory")).to_have_value("512Mi")
    expect(form.field("p")).to_have_value("n=2")
    page.page.keyboard.press("Enter")
    expect(form.region.get_by_role("button", name="do not")).to_be_focused()
    page.page.keyboard.press("Enter")
    expect(form.run).to_be_focused()
    page.page.keyboard.press("d")
    page.page.keyboard.press("d")  # which deletes a cell that has the focus itself
    page.page.keyboard.press("Escape")
    expect(form.region).to_have_count(0)
    gate.touch()
    expect(bar(page, 5)).to_contain_text("job 5 · finished", timeout=JOBS_MS)
    run_in_a_new_kernel(form)
    expect(bar(page, 6)).to_contain_text("job 6 · finished", timeout=JOBS_MS)
    # What JupyterLab says of a kernel that is restarted while it is asked for something.
    of_jupyterlab = re.compile("debugger state|Canceled future|Comm not found")
    page.troubles = [one for one in page.troubles if not of_jupyterlab.search(one)]
    page.forgive(r"status of 40[04] .*/plans")  # a set that is not there, a machine that is too large


def test_a_script_is_submitted_from_the_file_browser(start_lab: StartLab, open_page: OpenPage) -> None:
    lab = start_lab()
    page = open_page(lab).open()
    (lab.notebooks / "first try.py").write_text("print('tried')\n")
    page.page.get_by_role("button", name=re.compile("^Refresh")).first.click()
    script = page.page.get_by_role("listitem", name=re.compile("first try.py"))
    script.click(button="right")
    page.page.get_by_role("menuitem", name="Submit as Job…").click()
    form = Form(page)
    expect(form.field("input")).to_be_focused()
    expect(code(page, "%acai submit 'first try.py'")).to_be_visible()
    form.tells("code", "first try.py")
    page.page.keyboard.press("Tab")
    form.type("memory", "512Mi")
    expect(code(page, "%acai submit 'first try.py' --memory 512Mi")).to_be_visible()
    page.look_at("script-form", form.region)
    form.run.press("Enter")
    expect(page.notebook.get_by_role("region", name="job 1", exact=True)).to_contain_text(
        re.compile(r"job 1 · finished"), timeout=JOBS_MS
    )


def test_the_launcher_and_a_shortcut_open_the_table_of_jobs(start_lab: StartLab, open_page: OpenPage) -> None:
    page = open_page(start_lab()).open()
    page.page.get_by_role("button", name="ACAI Jobs").click()
    jobs = page.page.get_by_role("tab", name="Jobs", exact=True)
    expect(jobs).to_be_visible()
    page.photograph("launched")
    jobs.get_by_role("img").or_(jobs.locator(".lm-TabBar-tabCloseIcon")).last.click()
    expect(jobs).to_have_count(0)
    page.page.keyboard.press("Control+Alt+j")
    expect(jobs).to_be_visible()
