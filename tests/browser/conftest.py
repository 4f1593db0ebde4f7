"""Chromium, JupyterLab from the built wheel, and a home that is nobody's. Skipped where there is no Chromium."""

from __future__ import annotations

import os
import shutil
from typing import TYPE_CHECKING

import pytest
from playwright.sync_api import expect, sync_playwright

from tests.browser.jupyterlab import JupyterLab, copy_notebooks, quiet_home
from tests.browser.page import LabPage
from tests.packaging import distributions
from tests.packaging.distributions import ROOT

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from pathlib import Path

    from playwright.sync_api import Browser

    from tests.packaging.distributions import Installation

    StartLab = Callable[..., JupyterLab]
    OpenPage = Callable[[JupyterLab], LabPage]

PATIENCE_MS = 90_000


@pytest.fixture(scope="session")
def installed(tmp_path_factory: pytest.TempPathFactory) -> Installation:
    return distributions.install(distributions.shared(tmp_path_factory.getbasetemp()))


@pytest.fixture(scope="session")
def digits(installed: Installation, tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("data")
    installed.run("python", str(ROOT / "notebooks" / "make_digits.py"), "digits", home=folder)
    return folder / "digits"


@pytest.fixture(scope="package")
def chromium(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Browser]:
    """For this folder only: while it lives, Playwright keeps an event loop in this thread."""
    names = ("chromium", "chromium-browser", "google-chrome")
    program = next(filter(None, map(shutil.which, names)), None)
    if program is None:
        pytest.skip("there is no Chromium; on Debian or Ubuntu: apt-get install chromium")
    expect.set_options(timeout=PATIENCE_MS)
    with sync_playwright() as playwright:
        sandbox = ["--no-sandbox"] if os.geteuid() == 0 else []
        env: dict[str, str | float | bool] = {
            "PATH": os.environ["PATH"],
            "HOME": str(tmp_path_factory.mktemp("chromium")),
        }
        browser = playwright.chromium.launch(executable_path=program, args=sandbox, env=env)
        yield browser
        browser.close()


@pytest.fixture
def home(tmp_path: Path) -> Path:
    return quiet_home(tmp_path / "home")


@pytest.fixture
def start_lab(installed: Installation, home: Path, digits: Path, tmp_path: Path) -> Iterator[StartLab]:
    """Start JupyterLab on a copy of the notebooks; again for the same person, or for whose home is given."""
    notebooks = copy_notebooks(ROOT / "notebooks", tmp_path / "notebooks", digits)
    started: list[JupyterLab] = []

    def start(program: str = "jupyter-lab", whose: Path = home, options: tuple[str, ...] = ()) -> JupyterLab:
        started.append(JupyterLab(installed, whose, notebooks, program, options))
        return started[-1].start()

    yield start
    for lab in reversed(started):
        lab.stop()
        print(lab.text)  # noqa: T201 (shown when a test fails)


@pytest.fixture
def open_page(chromium: Browser, request: pytest.FixtureRequest) -> Iterator[OpenPage]:
    """Open a page on a JupyterLab. At the end, nothing may stand in its console that the test has not foreseen."""
    opened: list[LabPage] = []

    def open_on(lab: JupyterLab) -> LabPage:
        page = chromium.new_page(viewport={"width": 1280, "height": 900})
        opened.append(LabPage(page, lab))
        return opened[-1]

    yield open_on
    for number, page in enumerate(opened, start=1):
        page.photograph(f"{request.node.name}-{number}")
        page.page.close()
    assert [page.troubles for page in opened] == [[]] * len(opened)
