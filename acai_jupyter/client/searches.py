"""Searches that go on from page to page."""

from __future__ import annotations

from typing import TYPE_CHECKING

from msgspec.structs import replace

from acai_jupyter.contract import endpoints

if TYPE_CHECKING:
    from acai_jupyter.client.http import Client
    from acai_jupyter.contract.jobs import Job
    from acai_jupyter.contract.metadata import FindThings, FoundPage

LARGEST_PAGE = 1000


def find(client: Client, request: FindThings, most: int | None = None) -> FoundPage:
    """Return all that is found, or so many at most; `next` says that there is more."""
    page = client.call(endpoints.FIND_THINGS, replace(request, limit=_size(most, 0)))
    rows, columns = list(page.rows), page.columns
    while page.next is not None and (most is None or len(rows) < most):
        page = client.call(endpoints.FIND_THINGS, replace(request, after=page.next, limit=_size(most, len(rows))))
        rows += page.rows
    return replace(page, rows=rows, columns=columns)


def newest_jobs(client: Client, most: int) -> list[Job]:
    """Return so many jobs, the newest first."""
    found: list[Job] = []
    before: dict[str, int] = {}
    while len(found) < most:
        query = {"limit": min(LARGEST_PAGE, most - len(found))} | before
        page = client.call(endpoints.LIST_JOBS, query=query)
        found += page.jobs
        if page.next is None:
            break
        before = {"before": page.next}
    return found


def _size(most: int | None, have: int) -> int:
    return LARGEST_PAGE if most is None else min(LARGEST_PAGE, most - have)
