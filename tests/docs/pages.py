"""The Markdown of the repository, taken apart."""

from __future__ import annotations

import re
from html.parser import HTMLParser
from pathlib import Path
from typing import NamedTuple

ROOT = Path(__file__).resolve().parents[2]
DOCS = ROOT / "docs"
BUILT = DOCS / "_build" / "html"
FRONT = [ROOT / name for name in ("README.md", "CONTRIBUTING.md", "CHANGELOG.md", "SECURITY.md")]
_FENCE = re.compile(r"^```(\S*)\n(.*?)^```$", re.MULTILINE | re.DOTALL)
_INLINE = re.compile(r"`([^`\n]+)`")
_LINK = re.compile(r"\]\(([^)\s]+)\)")


class Block(NamedTuple):
    """A fenced block: what it says it is, and its text."""

    kind: str
    text: str


def pages() -> list[Path]:
    return [*FRONT, *(path for path in sorted(DOCS.rglob("*.md")) if "_build" not in path.parts)]


def name(page: Path) -> str:
    return page.relative_to(ROOT).as_posix()


def blocks(page: Path) -> list[Block]:
    return [Block(*found) for found in _FENCE.findall(page.read_text())]


def inline(page: Path) -> list[str]:
    """What stands between single backticks, outside of blocks."""
    return _INLINE.findall(_FENCE.sub("", page.read_text()))


def links(page: Path) -> list[str]:
    """The targets of links to other files, without the part after '#'."""
    found = _LINK.findall(_FENCE.sub("", page.read_text()))
    targets = (target.partition("#")[0] for target in found if "://" not in target)
    return [target for target in targets if target]


def sections(page: Path) -> dict[str, str]:
    """The text below each heading of the second rank."""
    parts = re.split(r"^## (.+)$", page.read_text(), flags=re.MULTILINE)
    return dict(zip(parts[1::2], parts[2::2], strict=True))


def shell_lines(page: Path) -> list[str]:
    """What a page tells people to type in a shell."""
    text = "\n".join(block.text for block in blocks(page) if block.kind == "console")
    return [line.removeprefix("$ ") for line in text.splitlines() if line.startswith("$ ")]


def magic_lines(page: Path) -> list[str]:
    """What a page tells people to type in a notebook."""
    lines = [line for block in blocks(page) if block.kind == "text" for line in block.text.splitlines()]
    return [line for line in lines if line.startswith(("%acai", "%%acai"))]


def table_rows(built: Path) -> list[list[str]]:
    """The rows of all tables of a built page, as a reader sees their cells."""
    reader = _Rows()
    reader.feed(built.read_text())
    return reader.rows


def fetched(built: Path) -> list[str]:
    """What a browser fetches to show a built page."""
    reader = _Fetched()
    reader.feed(built.read_text())
    return reader.addresses


class _Rows(HTMLParser):
    def __init__(self) -> None:
        super().__init__()
        self.rows: list[list[str]] = []
        self._in_cell = False

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        del attrs
        if tag == "tr":
            self.rows.append([])
        elif tag in ("td", "th"):
            self.rows[-1].append("")
            self._in_cell = True

    def handle_endtag(self, tag: str) -> None:
        if tag in ("td", "th"):
            self.rows[-1][-1] = " ".join(self.rows[-1][-1].split())
            self._in_cell = False

    def handle_data(self, data: str) -> None:
        if self._in_cell:
            self.rows[-1][-1] += data


class _Fetched(HTMLParser):
    def __init__(self) -> None:
        super().__init__()
        self.addresses: list[str] = []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        if tag != "a":
            self.addresses += [value for key, value in attrs if key in ("src", "srcset", "href", "data") and value]
