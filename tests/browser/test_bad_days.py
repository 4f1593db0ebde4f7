"""Something is wrong, the panel says what, and the person puts it right."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

import pytest
from playwright.sync_api import expect

from tests.browser.page import JOBS_MS
from tests.browser.test_cell_settings import JOB, open_form
from tests.browser.test_cells import bar
from tests.browser.test_data import Data

if TYPE_CHECKING:
    from pathlib import Path

    from tests.browser.conftest import OpenPage, StartLab
    from tests.browser.page import LabPage

pytestmark = [pytest.mark.browser, pytest.mark.timeout(300)]  # the first one builds and installs the wheel

RAW = """%load_ext acai_jupyter
import pathlib
place = pathlib.Path("raw"); (place / "inner").mkdir(parents=True)
(place / "notes.txt").write_text("one\\ntwo\\n"); (place / "inner" / "one.txt").write_text("one")
%acai put raw /raw --as raw
(place / "notes.txt").write_text("one\\n2\\n")
%acai put raw /raw --as raw"""


def test_the_panel_survives_a_server_that_stops_and_comes_back(start_lab: StartLab, open_page: OpenPage) -> None:
    lab = start_lab()
    page = open_page(lab).open()
    page.open_panel()
    expect(page.fact("Live updates")).to_have_text("live")
    page.hold_timers()
    lab.stop()
    expect(page.state).to_have_text("The connection to the server is lost. This page reconnects by itself.")
    expect(page.try_again).to_be_visible()
    page.photograph("panel-lost")
    page.try_again.click()
    expect(page.state).to_have_text("The connection to the server is lost. This page reconnects by itself.")
    lab.start()
    page.try_again.click()
    expect(page.state).to_have_text("Connected.")
    expect(page.fact("Live updates")).to_have_text("live")
    page.forgive("ERR_CONNECTION_REFUSED|ERR_EMPTY_RESPONSE|ERR_CONNECTION_RESET")


def test_the_panel_says_that_the_store_belongs_to_another_database(
    start_lab: StartLab, open_page: OpenPage, tmp_path: Path
) -> None:
    lab = start_lab()
    page = open_page(lab).open()
    page.open_panel()
    expect(page.state).to_have_text("Connected.")
    page.hold_timers()
    lab.stop()
    data = lab.home / ".local" / "share" / "acai"
    for path in data.glob("acai.db*"):
        path.rename(tmp_path / path.name)
    lab.start()
    page.try_again.click()
    expect(page.state).to_contain_text("The object store belongs to another database, and nothing in it was changed.")
    expect(page.state).to_contain_text("acai-server adopt-store")
    page.photograph("panel-store-of-another-database")
    for path in data.glob("acai.db*"):
        path.unlink()
    for path in tmp_path.glob("acai.db*"):
        path.rename(data / path.name)
    page.try_again.click()
    expect(page.state).to_have_text("Connected.")
    page.forgive("ERR_CONNECTION_REFUSED|ERR_EMPTY_RESPONSE|ERR_CONNECTION_RESET|503")


def test_panel_and_tab_say_in_both_themes_that_a_server_which_hangs_is_away(
    start_lab: StartLab, open_page: OpenPage
) -> None:
    lab = start_lab()
    light, dark = (open_page(lab) for _ in range(2))
    for page in (light, dark):
        page.page.clock.install()
        page.open()
        page.close_dialogs()
        page.choose("View", "ACAI Jobs")
        page.choose("View", "ACAI Panel")
        expect(page.fact("Live updates")).to_have_text("live")
    in_the_dark(dark)
    with lab.hanging():
        for page, theme in ((light, "light"), (dark, "dark")):
            away = page.page.locator(".jp-AcaiAway").filter(visible=True)
            page.page.clock.fast_forward("00:46")
            expect(page.state).to_have_text("The connection to the server is lost. This page reconnects by itself.")
            expect(away.get_by_role("alert")).to_contain_text("The connection to the server is lost.")
            assert page.barriers() + page.barriers(away) == []
            page.photograph(f"server-away-{theme}")
    expect(light.state).to_have_text("Connected.")
    expect(light.fact("Live updates")).to_have_text("live")


def test_tabs_say_that_the_server_is_away_and_try_again(start_lab: StartLab, open_page: OpenPage) -> None:
    lab = start_lab()
    page = open_page(lab).open()
    page.new_notebook()
    page.run("%load_ext acai_jupyter")
    page.run("%%acai run --memory 512Mi --output net\nopen('output/a.txt', 'w').write('a')")
    expect(page.output("→ net:1")).to_be_visible(timeout=JOBS_MS)
    page.notebook.get_by_role("button", name="provenance").click()
    page.choose("View", "ACAI Jobs")
    page.page.get_by_role("grid", name="jobs").locator("button").filter(has_text=re.compile("^1$")).click()
    job = page.page.locator(".jp-AcaiJobTab").filter(has=page.page.get_by_role("region", name="job 1", exact=True))
    expect(job).to_be_visible()
    page.choose("View", "ACAI Data")
    files = page.page.get_by_role("tree", name="files")
    files.get_by_role("treeitem").filter(has_text="net/").click()
    files.get_by_role("treeitem").filter(has_text="a.txt").dblclick()
    tabs = ["Provenance", "Jobs", "a.txt · versions"]
    for tab in tabs:
        expect(page.page.get_by_role("tab", name=tab, exact=True)).to_be_visible()
    page.hold_timers()
    lab.stop()
    main = page.page.get_by_role("main")
    lost = main.get_by_role("alert").filter(has_text="The connection to the server is lost.")
    again = page.page.locator(".jp-AcaiAway").get_by_role("button", name="Try again")
    for tab in tabs:
        page.page.get_by_role("tab", name=tab, exact=True).click()
        expect(lost.filter(visible=True)).to_have_count(1)
        expect(again.filter(visible=True)).to_have_count(1)
    page.page.get_by_role("tab", name="job 1", exact=True).click()
    job.get_by_role("button", name="log, job 1").click()
    job.locator("summary").filter(has_text="Code and environment").click()
    unanswered = job.get_by_role("alert").filter(has_text="The Jupyter server cannot be reached.")
    expect(unanswered).to_have_count(3)  # the log, what changed in the code, and the environment
    page.photograph("job-away")
    lab.start()
    again.filter(visible=True).click()
    expect(lost.filter(visible=True)).to_have_count(0)
    for left in (2, 1, 0):
        job.get_by_role("button", name="Try again").first.click()
        expect(unanswered).to_have_count(left)
    expect(job.get_by_role("log")).to_have_count(0)
    expect(job).to_contain_text("It printed nothing.")
    expect(job.get_by_role("region", name="environment")).to_contain_text("cell.py")
    page.forgive(".")  # what JupyterLab says of a server that was away


def in_the_dark(page: LabPage) -> LabPage:
    """A page that wears the dark theme, as none can be changed once its server is away."""
    page.use_theme("JupyterLab Dark")
    return page


def test_who_is_signed_out_is_told_so_and_goes_on_after_signing_in(start_lab: StartLab, open_page: OpenPage) -> None:
    lab = start_lab()
    page = open_page(lab).open()
    page.close_dialogs()
    page.new_notebook()
    page.run("%load_ext acai_jupyter")
    page.run(JOB)
    expect(bar(page, 1)).to_contain_text("job 1 · finished", timeout=JOBS_MS)
    form = open_form(page, "%%acai run")
    form.tells("machine", "1 vCPU")
    page.open_panel()
    expect(page.state).to_have_text("Connected.")
    dark = in_the_dark(open_page(lab).open())
    dark.close_dialogs()
    dark.choose("View", "ACAI Panel")
    expect(dark.state).to_have_text("Connected.")
    page.choose("View", "ACAI Jobs")
    jobs = page.page.get_by_role("region", name="all jobs", exact=True)
    expect(jobs.get_by_role("status").filter(has_text="1 job")).to_be_visible()
    kernel = page.page.get_by_role("dialog").filter(has_text="Select Kernel")  # its kernel goes with the server
    page.page.add_locator_handler(kernel, lambda shown: shown.get_by_role("button", name="No Kernel").click())
    lab.stop()
    lab.forget_sessions()
    lab.start()
    expect(page.state).to_have_text(re.compile("^You are signed out. Reload the page and sign in again"))
    for one, theme in ((page, "light"), (dark, "dark")):
        expect(one.state).to_have_text(re.compile("^You are signed out"))
        assert one.barriers() == []
        one.photograph(f"panel-signed-out-{theme}")
    again = page.page.locator(".jp-AcaiAway").filter(visible=True).get_by_role("button", name="Try again")
    expect(again).to_be_in_viewport()  # beside a sentence that is too long for its line
    page.page.get_by_role("tab", name="Untitled.ipynb").click()
    form.type("memory", "1Gi")
    expect(form.region.get_by_role("alert")).to_contain_text("You are signed out. Reload the page and sign in again")
    assert page.barriers(form.region) == []
    page.photograph("job-form-signed-out")
    page.try_again.click()
    expect(page.state).to_have_text(re.compile("^You are signed out"))
    page.open()
    page.choose("View", "ACAI Panel")  # whether or not the layout was kept already
    expect(page.state).to_have_text("Connected.")
    page.choose("View", "ACAI Jobs")
    expect(jobs.get_by_role("status").filter(has_text="1 job")).to_be_visible()
    dark.forgive(".")
    page.forgive(".")  # what JupyterLab says of a server that was away, and does not know it


def test_a_broken_setting_is_a_sentence_in_the_panel_and_mending_it_is_enough(
    start_lab: StartLab, open_page: OpenPage, home: Path
) -> None:
    config = home / ".config" / "acai" / "config.toml"
    config.parent.mkdir(parents=True)
    config.write_text("quotta = 1\n")
    page = open_page(start_lab()).open()
    page.open_panel()
    sentence = f"The setting quotta in {config} is not understood: there is no such setting; the nearest is quota."
    expect(page.state).to_have_text(sentence)
    expect(page.state).to_have_js_property("scrollWidth", page.state.evaluate("node => node.clientWidth"))
    assert page.barriers() == []
    page.photograph("panel-broken-setting")
    config.write_text("quota = 1\n")
    page.try_again.click()
    expect(page.state).to_have_text("Connected.")
    page.forgive("400 .* at http.*/acai/api/v1/status")


def test_where_websockets_are_blocked_it_says_so_and_asks_now_and_then(
    start_lab: StartLab, open_page: OpenPage
) -> None:
    page = open_page(start_lab())
    page.page.route_web_socket(re.compile("/events/stream"), lambda socket: socket.close())
    page.open()
    page.open_panel()
    expect(page.state).to_have_text(re.compile("^WebSockets do not come through to the server"))
    page.new_notebook()
    page.run("%load_ext acai_jupyter")
    page.run("%%acai run --detach --memory 512Mi --name quiet\nprint('over')")
    ended = page.panel.get_by_role("region", name="Recent jobs")
    expect(ended).to_contain_text("quiet")
    expect(ended).to_contain_text("finished")
    expect(page.state).to_have_text(re.compile("^WebSockets do not come through to the server"))
    expect(page.page.get_by_role("button", name=re.compile("^ACAI: .* · changes come late$"))).to_be_visible()
    page.choose("View", "ACAI Jobs")
    late = page.page.locator(".jp-AcaiAway").get_by_role("status")
    expect(late).to_have_text(re.compile("^WebSockets do not come through to the server"))
    page.look_at("panel-late", page.panel, page.page.locator(".jp-AcaiAway"))


def test_files_and_sets_are_there_again_when_the_server_is(start_lab: StartLab, open_page: OpenPage) -> None:
    lab = start_lab()
    page = open_page(lab).open()
    page.new_notebook()
    page.run(RAW)
    expect(page.output("raw:2")).to_be_visible(timeout=JOBS_MS)
    page.choose("View", "ACAI Data")
    data = Data(page)
    made = page.page.get_by_role("region", name="file set raw", exact=True)
    data.region.get_by_role("tab", name="file sets").click()
    data.region.get_by_role("button", name="raw:2").click()
    expect(made.get_by_role("treeitem")).to_have_count(1)
    data.region.get_by_role("tab", name="files", exact=True).click()
    data.file("raw/").click()
    data.file("notes.txt").dblclick()
    data.about("/raw/notes.txt").get_by_role("checkbox", name="compare version 1").check()
    page.close_dialogs()
    lab.stop()
    away = data.region.get_by_role("alert")
    expect(away).to_have_text(re.compile("^The connection to the server is lost"))
    ask_while_nobody_answers(data)
    page.photograph("data-away")
    lab.start()
    data.region.get_by_role("button", name="Try again").click()
    expect(away).to_have_count(0)
    expect(data.file("one.txt")).to_be_visible()
    lines = data.about("/raw/notes.txt:1 and /raw/notes.txt:2").get_by_role("row")
    expect(lines.filter(has_text="two")).to_be_visible()
    data.tab("raw:1 → raw:2").click()
    expect(data.about("raw:1 and raw:2").get_by_role("status")).to_have_text("1 changed")
    data.tab("raw").click()
    expect(made.get_by_role("tree", name="contents of raw:1").get_by_role("treeitem")).to_have_text(["▸raw/"])
    expect(made.get_by_role("alert")).to_have_count(0)
    lab.stop()
    lab.forget_sessions()
    lab.start()
    expect(away).to_have_text(re.compile("^You are signed out. Reload the page"))
    page.photograph("data-signed-out")
    page.forgive(".")  # what JupyterLab says of a server that was away, and does not know it


def ask_while_nobody_answers(data: Data) -> None:
    """Open a folder, another version of a set, and what differs between versions of both."""
    lost = "The Jupyter server cannot be reached."
    data.file("inner/").click()
    expect(data.tree.get_by_text("ask again")).to_be_visible()
    file = data.about("/raw/notes.txt")
    file.get_by_role("checkbox", name="compare version 2").check()
    file.get_by_role("button", name="compare 1 and 2").click()
    expect(data.about("/raw/notes.txt:1 and /raw/notes.txt:2").get_by_role("alert")).to_contain_text(lost)
    data.tab("raw").click()
    made = data.about("file set raw")
    made.get_by_role("button", name="version 1", exact=True).click()
    expect(made.locator(".jp-AcaiData-contents").get_by_role("alert")).to_contain_text(lost)
    for version in (1, 2):
        made.get_by_role("checkbox", name=f"compare version {version}").check()
    made.get_by_role("button", name="compare 1 and 2").click()
    expect(data.about("raw:1 and raw:2").get_by_role("alert")).to_contain_text(lost)
    data.tab("notes.txt 1 → 2").click()
