"""Lists that come in pages, as a whole."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, TypeVar

from msgspec.structs import replace

if TYPE_CHECKING:
    from acai_jupyter.client.http import Client
    from acai_jupyter.contract.routes import Endpoint

PageT = TypeVar("PageT", bound=Any)


def whole(client: Client, endpoint: Endpoint[PageT], rows: str, onward: str = "after", **asked: Any) -> PageT:
    """Return a list with the rows of all of its pages; `onward` is how the next one is asked for.

    The first is asked for as ever, so that a server that answers all at once does so.
    """
    query = asked.pop("query", {})
    first = page = client.call(endpoint, query=query, **asked)
    found = list(getattr(page, rows))
    while page.next is not None:
        page = client.call(endpoint, query={**query, onward: page.next}, **asked)
        found += getattr(page, rows)
    return replace(first, **{rows: found, "next": None})
