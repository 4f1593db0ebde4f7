"""How much JavaScript a page loads at its start, and how much there is in all; compressed as a proxy would do it."""

from __future__ import annotations

import gzip
from typing import TYPE_CHECKING
from urllib.parse import urlsplit

from benchmarks.chromium import fresh_page, jupyterlab
from benchmarks.report import Row

if TYPE_CHECKING:
    from playwright.sync_api import Browser, Response

    from tests.packaging.distributions import Installation

START_KB = 60.0
ALL_KB = 700.0
_LEVEL = 6
"""What nginx and others do who compress while they serve; jupyter_server itself serves files as they are."""


def measure(browser: Browser, ours: Installation, peer: Installation | None) -> list[Row]:
    """Measure ours, and jupyter-scheduler's where there is one."""
    rows = _of(browser, ours, "ACAI", "acai-jupyter", (START_KB, ALL_KB))
    return rows if peer is None else rows + _of(browser, peer, "jupyter-scheduler", "@jupyterlab/scheduler")


def _of(
    browser: Browser, installation: Installation, name: str, extension: str, limits: tuple[float, float] | None = None
) -> list[Row]:
    """What a page loads at its start without an extension, and more with it; and all that the extension has."""
    without, _ = _loaded(browser, installation, off=extension)
    total, plain = _loaded(browser, installation, of=extension)
    files = (installation.folder / "share" / "jupyter" / "labextensions" / extension / "static").glob("*.js")
    in_all = sum(len(gzip.compress(file.read_bytes(), _LEVEL)) for file in files)
    at_start, all_of_it = limits or (None, None)
    said = f"{without / 1000:,.0f} kB without it; its own files as they are served: {plain / 1000:,.0f} kB"
    return [
        Row(f"{name} adds JavaScript at start, compressed", (total - without) / 1000, "kB", at_start, beside=said),
        Row(f"{name}: all of its JavaScript, compressed", in_all / 1000, "kB", all_of_it),
    ]


def _loaded(browser: Browser, installation: Installation, off: str = "", of: str = "") -> tuple[int, int]:
    """All JavaScript that a new page loads, compressed, and how much of it, not compressed, is of an extension."""
    with jupyterlab(installation, off) as lab:
        fresh_page(browser, lab).page.close()  # the first page of a home may ask for more
        answers: list[Response] = []
        page = fresh_page(browser, lab, answers)
        found = {answer.url: answer.body() for answer in answers if _is_script(answer)}
        page.page.close()
    own = sum(len(body) for url, body in found.items() if of and f"/{of}/static/" in url)
    return sum(len(gzip.compress(body, _LEVEL)) for body in found.values()), own


def _is_script(answer: Response) -> bool:
    return answer.ok and urlsplit(answer.url).path.endswith(".js")
