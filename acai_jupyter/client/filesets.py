"""Asking for file sets, for what sources name and for how contents differ, page by page."""

from __future__ import annotations

from typing import TYPE_CHECKING

from msgspec.structs import replace

from acai_jupyter.contract import endpoints
from acai_jupyter.contract.errors import BadSpec
from acai_jupyter.contract.filesets import CompareSources, ResolveSources
from acai_jupyter.contract.specs import parse_input, parse_set

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from acai_jupyter.client.http import Client
    from acai_jupyter.contract.filesets import AliasPage, Comparison, FileSet, Resolved, Source

LARGEST_PAGE = 1000
"""The most of what is asked for by GET."""
FIRST_ENTRIES, ENTRIES = 1000, 10_000
"""A first page is soon there, the following ones are large."""


def spec_of(text: str) -> str:
    """Read what stands for files on a line and in Python: any spec, or a set without its '@'."""
    if text[:1] not in ("/", "@") and "/" in text:
        raise BadSpec(spec=text, reason="the path of a file starts with '/', and before a file set stands '@'")
    return str(parse_input(text))


def ref_of(text: str) -> str:
    """Read one version of a set: `name`, `name:3`, `name:alias`, also with '@' before it."""
    return str(parse_set(text.removeprefix("/@").removeprefix("@")))


def newest(client: Client) -> Iterator[FileSet]:
    """Yield the newest version of each name, by name."""
    after: str | None = ""
    while after is not None:
        page = client.call(endpoints.LIST_FILE_SETS, query={"after": after, "limit": LARGEST_PAGE})
        yield from page.file_sets
        after = page.next


def versions(client: Client, name: str) -> Iterator[FileSet]:
    """Yield the versions of a name, the newest first, the deleted ones too."""
    query = {"limit": LARGEST_PAGE}
    while True:
        page = client.call(endpoints.LIST_FILE_SET_VERSIONS, query=query, ref=name)
        yield from page.file_sets
        if page.next is None:
            return
        query = {"limit": LARGEST_PAGE, "before": page.next}


def aliases(client: Client, name: str) -> AliasPage:
    """Return what the aliases of a name are now, and all their changes."""
    page = client.call(endpoints.LIST_ALIASES, query={"limit": LARGEST_PAGE}, ref=name)
    changes, following = list(page.changes), page.next
    while following is not None:
        more = client.call(endpoints.LIST_ALIASES, query={"limit": LARGEST_PAGE, "before": following}, ref=name)
        changes += more.changes
        following = more.next
    return replace(page, changes=changes, next=None)


def resolve(client: Client, sources: Sequence[Source], *, counted: bool = False) -> Iterator[Resolved]:
    """Yield the pages of what sources name, all of one moment; if wanted, the first one has their number and size."""
    asked = ResolveSources(list(sources), limit=FIRST_ENTRIES, counted=counted)
    page = client.call(endpoints.RESOLVE_SOURCES, asked)
    pinned = page.pinned
    yield page
    while page.next is not None:
        page = client.call(endpoints.RESOLVE_SOURCES, ResolveSources(pinned, after=page.next, limit=ENTRIES))
        yield page


def compare(client: Client, before: Sequence[Source], after: Sequence[Source], start: int = 0) -> Iterator[Comparison]:
    """Yield the pages of how one content differs from another, all of one moment."""
    limit = ENTRIES if start else FIRST_ENTRIES
    page = client.call(endpoints.COMPARE_SOURCES, CompareSources(list(before), list(after), start, limit))
    pinned_before, pinned_after = page.pinned_before, page.pinned_after
    yield page
    while page.next is not None:
        asked = CompareSources(pinned_before, pinned_after, start=page.next, limit=ENTRIES)
        page = client.call(endpoints.COMPARE_SOURCES, asked)
        yield page
