"""`make docs` passes, and what it builds needs nothing from elsewhere."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

import pytest

from tests.docs.pages import DOCS, fetched, pages

if TYPE_CHECKING:
    from pathlib import Path

pytestmark = pytest.mark.timeout(300)  # the first test builds all pages
_ELSEWHERE = re.compile(r"(?:[a-z]+:)?//")


def test_every_page_is_built(site: Path) -> None:
    wanted = {page.relative_to(DOCS).with_suffix(".html") for page in pages() if page.is_relative_to(DOCS)}
    assert wanted <= {path.relative_to(site) for path in site.rglob("*.html")}


def test_no_page_fetches_anything_from_another_host(site: Path) -> None:
    found = {address for page in site.rglob("*.html") for address in fetched(page) if _ELSEWHERE.match(address)}
    assert not found


def test_no_style_fetches_anything_from_another_host(site: Path) -> None:
    addresses = re.compile(r"""(?:url\(|@import)\s*["']?((?:https?:)?//[^"')]+)""")
    assert not [found for style in site.rglob("*.css") for found in addresses.findall(style.read_text())]


def test_tables_are_filled_in(site: Path) -> None:
    assert not [page for page in site.rglob("*.html") if "<!-- table:" in page.read_text()]
