"""JupyterLab's page in words of what a person does. Things are found by role and label; nothing waits for time."""

from __future__ import annotations

import json
import re
import time
from contextlib import contextmanager
from typing import TYPE_CHECKING

from playwright.sync_api import expect

from tests.packaging.distributions import ROOT

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from playwright.sync_api import ConsoleMessage, Error, Locator, Page, Response, WebSocket

    from tests.browser.jupyterlab import JupyterLab

SCREENSHOTS = ROOT / "test-results"
AXE = ROOT / "node_modules" / "axe-core" / "axe.min.js"
JOBS_MS = 60_000
THEMES = ("JupyterLab Dark High Contrast", "JupyterLab Dark", "JupyterLab Light")


class LabPage:
    """A page, what its console complained of, the kinds of the events that reached it, and whose streams are open."""

    def __init__(self, page: Page, lab: JupyterLab) -> None:
        self.page = page
        self.lab = lab
        self.troubles: list[str] = []
        self.events: list[str] = []
        self.streams: list[str] = []
        page.on("console", self._note_console)
        page.on("pageerror", self._note_error)
        page.on("websocket", self._note_socket)

    def open(self, notebook: str = "") -> LabPage:
        """Open JupyterLab, on a notebook if one is named."""
        path = f"/lab/tree/{notebook}?" if notebook else "/lab?"
        self.page.goto(self.lab.url.replace("/lab?", path))
        self.page.get_by_role("tab", name="ACAI", exact=True).wait_for()
        return self

    def open_panel(self) -> None:
        self.page.get_by_role("tab", name="ACAI", exact=True).click()

    @property
    def panel(self) -> Locator:
        return self.page.get_by_role("region", name="ACAI", exact=True)

    @property
    def state(self) -> Locator:
        """The sentence that says how the panel is connected."""
        return self.panel.get_by_role("status")

    @property
    def try_again(self) -> Locator:
        return self.panel.get_by_role("button", name="Try again")

    def fact(self, term: str) -> Locator:
        """What the panel says of a term, below the heading that opens it."""
        section = self.panel.get_by_role("group").filter(has=self.page.get_by_text("Connection", exact=True))
        if section.get_attribute("open") is None:
            section.locator("summary").click()
        described = self.panel.get_by_role("term").filter(has_text=re.compile(f"^{re.escape(term)}$"))
        return described.locator("xpath=following-sibling::dd[1]")

    def hold_timers(self) -> None:
        """From now on what the page wants to do later is not done, so that only the person acts."""
        now = time.time()
        self.page.clock.install(time=now)
        self.page.clock.pause_at(now + 1)
        self.close_dialogs()

    def close_dialogs(self) -> None:
        """Close JupyterLab's own dialog about a lost connection whenever it comes."""
        dialog = self.page.get_by_role("dialog", name="Server Connection Error")
        self.page.add_locator_handler(dialog, self._close_dialog)

    @contextmanager
    def until_kept(self, *names: str) -> Iterator[None]:
        """Wait at the end until a reload brings these back: the layout is kept when nothing has moved for a while."""
        with self.page.expect_response(lambda answer: names_in_layout(answer, names), timeout=JOBS_MS):
            yield

    def choose(self, *path: str) -> None:
        """Choose an entry of the main menu. Below the bar by its words: what opens a submenu has no role there."""
        bar, *entries = path
        self.page.get_by_role("menuitem", name=bar, exact=True).click()
        for words in entries:
            self.page.get_by_role("menu").get_by_text(words, exact=True).click()

    def use_theme(self, name: str) -> None:
        """Switch the theme by the menu; return when the page wears it and nothing covers it any more."""
        self.choose("Settings", "Theme", name)
        expect(self.page.locator("body")).to_have_attribute("data-jp-theme-name", name)
        expect(self.page.locator("#jupyterlab-splash")).to_have_count(0)

    def look_at(self, name: str, *parts: Locator, opening: Callable[[], object] = lambda: None) -> None:
        """Photograph the page in each theme; in none may axe find anything serious in those parts.

        What the menu of themes closes is opened again by `opening`.
        """
        for theme in THEMES:
            self.use_theme(theme)
            opening()
            self.photograph(f"{name}-{theme.removeprefix('JupyterLab ').lower().replace(' ', '-')}")
            found = [one for part in parts for one in self.barriers(part)]
            assert not found, (theme, found)

    def new_notebook(self) -> None:
        self.page.get_by_role("button", name="Python 3 (ipykernel)").first.click()
        self.wait_for_kernel()

    def wait_for_kernel(self) -> None:
        expect(self.page.get_by_role("button", name="Python 3 (ipykernel) | Idle")).to_be_visible()

    def run(self, code: str) -> None:
        """Type into the last cell and run it."""
        self.notebook.get_by_role("textbox").last.click()
        self.page.keyboard.insert_text(code)
        self.page.keyboard.press("Shift+Enter")

    @property
    def notebook(self) -> Locator:
        return self.page.get_by_role("feed", name="Cells")

    def output(self, text: str) -> Locator:
        """The output that has a text. Outputs have no role of their own."""
        return self.notebook.locator(".jp-OutputArea-output").filter(has_text=text)

    @property
    def errors(self) -> Locator:
        """Outputs that tell of errors."""
        return self.notebook.locator("[data-mime-type$='.error'], [data-mime-type$='.stderr']")

    def photograph(self, name: str) -> None:
        SCREENSHOTS.mkdir(exist_ok=True)
        self.page.screenshot(path=SCREENSHOTS / f"{name}.png")

    def barriers(self, inside: Locator | None = None) -> list[str]:
        """What axe finds serious or critical in the panel, or in another part of the page.

        JupyterLab's body has no height and hides what overflows, from which axe concludes that all of it is hidden.
        """
        self.page.evaluate(AXE.read_text())
        self.page.evaluate("document.body.style.height = '100vh'")
        part = inside or self.panel
        found = json.loads(part.evaluate("async node => JSON.stringify(await axe.run(node))"))
        assert "color-contrast" not in {rule["id"] for rule in found["inapplicable"]}, "axe saw no text"
        return [
            f"{rule['id']}: {rule['help']}: {[node['html'] for node in rule['nodes']]}"
            for rule in found["violations"]
            if rule["impact"] in ("serious", "critical")
        ]

    def forgive(self, pattern: str) -> None:
        """Take out the troubles that belong to the story; there must be one."""
        rest = [trouble for trouble in self.troubles if not re.search(pattern, trouble)]
        assert len(rest) < len(self.troubles), f"nothing matches {pattern}"
        self.troubles = rest

    def _close_dialog(self, dialog: Locator) -> None:
        dialog.get_by_role("button", name="Close").click()

    def _note_console(self, message: ConsoleMessage) -> None:
        if message.type == "error":
            self.troubles.append(f"{message.text} at {message.location['url']}")

    def _note_error(self, error: Error) -> None:
        self.troubles.append(str(error))

    def _note_socket(self, socket: WebSocket) -> None:
        found = re.search(r"/projects/([^/]+)/events/stream", socket.url)
        if found:
            socket.on("framereceived", self._note_frame)
            self.streams.append(project := found[1])
            socket.on("close", lambda _: self.streams.remove(project))

    def _note_frame(self, frame: str | bytes) -> None:
        self.events += [event["kind"] for event in json.loads(frame).get("events", [])]


def names_in_layout(answer: Response, names: tuple[str, ...]) -> bool:
    """Say whether this request kept a layout that names all these in its main area."""
    if answer.request.method != "PUT" or "/api/workspaces/" not in answer.url:
        return False
    kept = json.loads(str(answer.request.post_data))["data"]
    main = json.dumps(kept.get("layout-restorer:data", {}).get("main"), ensure_ascii=False)
    return all(name in main for name in names)
