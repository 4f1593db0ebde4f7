"""A log of any length in a job's tab: all of it can be scrolled through, and a line can be linked to."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

import pytest
from playwright.sync_api import expect

from tests.browser.page import JOBS_MS

if TYPE_CHECKING:
    from pathlib import Path

    from playwright.sync_api import Locator

    from tests.browser.conftest import OpenPage, StartLab
    from tests.browser.page import LabPage

pytestmark = [pytest.mark.browser, pytest.mark.timeout(300)]
LINES = 200_000
MOST_LINES = 150
"""So many lines are there at most, of all."""
PRINTS = f"""%%acai run --memory 512Mi --detach
import pathlib, time
for n in range(1, {LINES + 1}):
    print("\\x1b[32mline\\x1b[0m", n, "<img src=x onerror=document.title='owned'>", "x" * (n % 300))
    if n == 123_456:
        print("ValueError: here it begins")
print("w" * 5_000, "needle", "w" * 5_000)
print("\\x1b[38;5;208morange\\x1b[0m \\x1b[48;2;0;0;95mnavy\\x1b[0m", end=" ")
print("\\x1b[38;2;255;255;200mpale\\x1b[0m user\\u202enimda")
print("waits", flush=True)
while not pathlib.Path({{gate!r}}).exists(): time.sleep(0.05)
print("over")"""


def line(log: Locator, number: int) -> Locator:
    return log.locator("code").filter(has=log.page.get_by_role("button", name=f"line {number}", exact=True))


def press(part: Locator, words: str) -> None:
    part.get_by_role("button", name=f"{words}, the log of job 1", exact=True).click()


def test_a_log_of_any_length_is_seen_from_its_first_line_to_its_last(start_lab: StartLab, open_page: OpenPage) -> None:
    lab = start_lab()
    gate = lab.notebooks / "gate"
    page = open_page(lab).open()
    page.new_notebook()
    page.run("%load_ext acai_jupyter")
    page.run(PRINTS.format(gate=str(gate)))
    page.open_panel()
    running = page.panel.get_by_role("region", name="Running jobs")
    running.get_by_role("button").filter(has_text="job 1").first.click(timeout=JOBS_MS)
    tab = page.page.locator(".jp-AcaiJobTab")
    log = tab.get_by_role("log", name="Log of job 1")
    expect(line(log, LINES + 4)).to_be_in_viewport(timeout=JOBS_MS)
    expect(line(log, LINES + 4)).to_have_text("waits\n")
    scroll_while_it_grows(tab, log, gate)
    press(tab, "to the end")
    expect(line(log, LINES + 5)).to_have_text("over\n")
    expect(line(log, LINES + 5)).to_be_in_viewport()
    press(tab, "first error")
    expect(line(log, 123_457)).to_have_text("ValueError: here it begins\n")
    expect(line(log, 123_457)).to_be_in_viewport()
    expect(line(log, 123_457)).to_have_attribute("data-marked", "")
    search(tab, log)
    page.look_at("long-log", tab)
    open_link(page, tab)
    assert page.page.title() != "owned"


def scroll_while_it_grows(tab: Locator, log: Locator, gate: Path) -> None:
    log.focus()
    log.press("Home")
    expect(line(log, 1)).to_be_in_viewport()
    expect(line(log, 1).locator(".jp-AcaiLog-ink-green")).to_have_text("line")
    assert log.locator("code").count() < MOST_LINES
    log.press("PageDown")
    expect(line(log, 1)).not_to_be_in_viewport()
    seen = first_seen(log)
    assert seen > 1
    gate.touch()
    expect(tab).to_contain_text("job 1 · finished", timeout=JOBS_MS)
    assert first_seen(log) == seen
    log.hover()
    log.page.mouse.wheel(0, 2000)
    expect(line(log, seen)).not_to_be_in_viewport()
    log.evaluate("node => { node.scrollTop = node.scrollHeight / 2; }")
    expect(line(log, LINES // 2 + 9)).to_be_in_viewport()
    assert log.locator("code").count() < MOST_LINES


def first_seen(log: Locator) -> int:
    """The number of the first line that can be seen."""
    found = log.evaluate(
        """node => {
            const top = node.getBoundingClientRect().top;
            const seen = [...node.querySelectorAll('code')].find(one => one.getBoundingClientRect().bottom > top + 1);
            return seen.querySelector('[data-number]').dataset.number;
        }"""
    )
    return int(found)


def search(tab: Locator, log: Locator) -> None:
    field = tab.get_by_role("searchbox", name="Search in the log of job 1")
    field.fill("4711 <IMG")  # in one look: what goes over a change of looks is not marked
    expect(tab.get_by_role("status").filter(has_text=re.compile(r"^20 of [\d,]+ lines$"))).to_be_visible()
    expect(log.locator("code")).to_have_count(20)
    press(tab, "next")
    press(tab, "previous")
    press(tab, "next")
    expect(log.locator("code[data-marked] mark")).to_have_text("4711 <img")
    expect(log.locator("code[data-marked]")).to_be_in_viewport()
    assert log.locator("code").count() > 20
    field.fill("needle")  # behind what is shown of its line otherwise
    expect(log.locator("code")).to_have_count(1)
    expect(log.locator("code")).to_have_text(re.compile(r"^[\d,]+ before …w+ needle w+… [\d,]+ more\s$"))
    press(tab, "next")
    expect(log.locator("code[data-marked] mark")).to_have_text("needle")
    field.fill("line")
    # A busy server answers in several parts, and counts on to the end of a part.
    first_hits = re.compile(r"^the first 1,000 of more than 1\d\d,\d{3} lines$")
    expect(tab.get_by_role("status").filter(has_text=first_hits)).to_be_visible()
    press(tab, "previous")  # of the first line, which is the last one of all
    expect(line(log, LINES + 1)).to_have_attribute("data-marked", "")
    press(tab, "previous")
    expect(line(log, LINES)).to_have_attribute("data-marked", "")
    field.fill("")
    see_looks(tab, log)


def see_looks(tab: Locator, log: Locator) -> None:
    """Colours of its own are legible, no text is turned, and a long word stands beside its number."""
    press(tab, "to the end")
    looks = line(log, LINES + 3)
    expect(looks).to_have_text("orange navy pale user\\u202enimda\n")
    expect(looks.get_by_text("navy")).to_have_css("background-color", "rgb(0, 0, 95)")
    expect(looks.get_by_text("navy")).to_have_css("color", "rgb(255, 255, 255)")
    wide = line(log, LINES + 2)
    expect(wide).to_have_text(re.compile(r"^w{2000}… 8,008 more\n$"))
    number, text = (wide.locator(part).bounding_box() for part in ("button", ".jp-AcaiLog-text"))
    assert number is not None
    assert text is not None
    assert text["y"] == pytest.approx(number["y"], abs=4)
    assert number["height"] < text["height"] / 2
    assert text["x"] >= number["x"] + number["width"]


def open_link(page: LabPage, tab: Locator) -> None:
    """In lines that are not broken, a line is marked; its link opens it again, and hostile ones open nothing."""
    log = tab.get_by_role("log", name="Log of job 1")
    press(tab, "wrap")
    tab.get_by_role("button", name="copy link").wait_for()
    press(tab, "first error")
    line(log, 123_460).get_by_role("button").click()
    link = str(tab.get_by_role("link", name="link to line 123460").get_attribute("href"))
    assert link.endswith("/lab?acai-job=1&acai-attempt=1&acai-line=123460")
    page.page.goto(link)
    expect(line(log, 123_460)).to_be_in_viewport(timeout=JOBS_MS)
    expect(line(log, 123_460)).to_have_attribute("data-marked", "")
    expect(tab.get_by_role("button", name="wrap, the log of job 1")).to_have_attribute("aria-pressed", "false")
