"""A new notebook in a JupyterLab in Chromium, for benchmarks of what a page shows."""

from __future__ import annotations

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


@contextmanager
def new_notebook() -> Iterator[LabPage]:
    """Open one; all of it goes afterwards."""
    names = ("chromium", "chromium-browser", "google-chrome")
    program = next(filter(None, map(shutil.which, names)), None)
    assert program is not None, "there is no Chromium"
    with tempfile.TemporaryDirectory() as folder, sync_playwright() as playwright:
        home, notebooks = quiet_home(Path(folder, "home")), Path(folder, "notebooks")
        notebooks.mkdir()
        lab = JupyterLab(Installation(ROOT / ".venv"), home, notebooks).start()
        try:
            sandbox = ["--no-sandbox"] if os.geteuid() == 0 else []
            browser = playwright.chromium.launch(executable_path=program, args=sandbox)
            page = LabPage(browser.new_page(viewport={"width": 1280, "height": 900}), lab).open()
            page.new_notebook()
            yield page
            browser.close()
        finally:
            lab.stop()
