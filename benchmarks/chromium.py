"""JupyterLab in Chromium, for benchmarks of what a page shows."""

from __future__ import annotations

import json
import os
import shutil
import tempfile
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

from playwright.sync_api import sync_playwright

from tests.browser.jupyterlab import JupyterLab, quiet_home
from tests.browser.page import LabPage
from tests.packaging.distributions import ROOT, Installation

if TYPE_CHECKING:
    from collections.abc import Iterator

    from playwright.sync_api import Browser, Response

OURS = Installation(ROOT / ".venv")


@contextmanager
def chromium() -> Iterator[Browser]:
    """Start it."""
    names = ("chromium", "chromium-browser", "google-chrome")
    program = next(filter(None, map(shutil.which, names)), None)
    assert program is not None, "there is no Chromium"
    sandbox = ["--no-sandbox"] if os.geteuid() == 0 else []
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=program, args=sandbox)
        yield browser
        browser.close()


@contextmanager
def jupyterlab(installation: Installation = OURS, without: str = "", config: str = "") -> Iterator[JupyterLab]:
    """Start one in a home of its own, without an extension of the page, with settings of ours; all of it goes."""
    with tempfile.TemporaryDirectory() as folder:
        home, notebooks = quiet_home(Path(folder, "home")), Path(folder, "notebooks")
        notebooks.mkdir()
        if without:
            _leave_out(without, installation, home)
        _write(home / ".config" / "acai" / "config.toml", config)
        lab = JupyterLab(installation, home, notebooks).start()
        try:
            yield lab
        finally:
            lab.stop()


def _leave_out(extension: str, installation: Installation, home: Path) -> None:
    """Let it find all others: one that is only disabled is loaded all the same."""
    found, kept = installation.folder / "share" / "jupyter" / "labextensions", home / "labextensions"
    for one in (*found.glob("[!@]*"), *found.glob("@*/*")):
        name = str(one.relative_to(found))
        if name != extension:
            (kept / name).parent.mkdir(parents=True, exist_ok=True)
            (kept / name).symlink_to(one)
    config = {"LabApp": {"labextensions_path": [str(kept)]}}
    (home / ".jupyter" / "jupyter_lab_config.json").write_text(json.dumps(config))


def _write(path: Path, text: str) -> None:
    path.parent.mkdir(parents=True)
    path.write_text(text)


def new_page(browser: Browser, lab: JupyterLab) -> LabPage:
    """Return a new page, which is not opened yet."""
    return LabPage(browser.new_page(viewport={"width": 1280, "height": 900}), lab)


def fresh_page(browser: Browser, lab: JupyterLab, answers: list[Response] | None = None) -> LabPage:
    """Return a new page without what earlier ones left open, once all that comes with it has answered."""
    page = new_page(browser, lab)
    if answers is not None:
        page.page.on("response", lambda answer: answers.append(answer))  # noqa: PLW0108 (it keeps something on it)
    page.page.goto(lab.url.replace("/lab?", "/lab?reset&"))
    page.page.get_by_role("button", name="Python 3").first.wait_for(timeout=120_000)
    page.page.wait_for_load_state("networkidle")
    return page


@contextmanager
def new_notebook() -> Iterator[LabPage]:
    """Open one; all of it goes afterwards."""
    with jupyterlab() as lab, chromium() as browser:
        page = new_page(browser, lab).open()
        page.new_notebook()
        yield page
