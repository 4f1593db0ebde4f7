"""Following all objects of one kind: a list, then a watch from there on, and a list again when there is doubt."""

from __future__ import annotations

import asyncio
import logging
import time
from typing import TYPE_CHECKING, Any, Generic, TypeVar

from acai_jupyter.contract.errors import AcaiError, Unavailable
from acai_server.runners.kubernetes.api import Gone, decoded
from acai_server.runners.kubernetes.seen import Job, Listed, Pod, Status, WatchEvent

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Callable

    import msgspec

    from acai_server.runners.kubernetes.api import Api
    from acai_server.runners.kubernetes.calls import Call

_log = logging.getLogger(__name__)
T = TypeVar("T", bound=Job | Pod)
PAGE = "500"
WATCH_SECONDS = "600"
"""After so long the API server ends a watch, and it goes on where it was."""
LONGEST_PAUSE_SECONDS = 15.0
_GONE = 410


class Watch(Generic[T]):
    """Tells `take` of each object that is new or other, `drop` of each that is gone, `fill` of all that there are.

    `fill` gets the moment at which the list was asked for, too: what was put there later may be missing in it. With a
    `version` it goes on from there; where that is not kept any more, it lists.
    """

    def __init__(  # noqa: PLR0913 (three ways to tell, and where to go on)
        self,
        api: Api,
        calls: tuple[Call, Call],
        kind: type[T],
        selector: str,
        *,
        take: Callable[[T], None],
        drop: Callable[[T], None],
        fill: Callable[[list[T], float], None],
        version: str = "",
    ) -> None:
        self._api = api
        self._list_call, self._watch_call = calls
        self._kind = kind
        self._selector = selector
        self._take = take
        self._drop = drop
        self._fill = fill
        self._version = version
        self._pause = 0.0
        self.trouble = ""
        """Why nothing is seen at the moment."""

    async def run(self) -> None:
        """Go on until it is cancelled."""
        while True:
            try:
                if not self._version:
                    self._version = await self._list()
                await self._follow()
            except Gone:
                self._version = ""
            except AcaiError as error:
                if not self.trouble:
                    _log.warning("The %s of the cluster cannot be seen: %s", self._watch_call.resource, error.message)
                self.trouble = str(error.details.get("reason", error.message))
                if not isinstance(error, Unavailable):
                    self._version = ""
                self._pause = min(LONGEST_PAUSE_SECONDS, 2 * self._pause or 0.25)
                await asyncio.sleep(self._pause)

    def _see(self) -> None:
        self.trouble, self._pause = "", 0.0

    async def _list(self) -> str:
        asked_at = time.monotonic()
        found: list[T] = []
        next_page: dict[str, str] = {}
        while True:
            words = {"labelSelector": self._selector, "limit": PAGE, **next_page}
            page: Listed[Any] = decoded(await self._api.ask(self._list_call, words=words), Listed[self._kind])  # type: ignore[name-defined]
            found += page.found
            if not page.metadata.continue_:
                self._fill(found, asked_at)
                return page.metadata.resource_version
            next_page = {"continue": page.metadata.continue_}

    async def _follow(self) -> None:
        words = {"labelSelector": self._selector, "allowWatchBookmarks": "true", "resourceVersion": self._version}
        words |= {"watch": "true", "timeoutSeconds": WATCH_SECONDS}
        pieces = self._api.stream(self._watch_call, "", words, opened=self._see)
        async for line in _lines(pieces):
            event = decoded(line, WatchEvent)
            if event.type == "ERROR":
                self._version = ""
                raise _error(event.object)
            seen: T = decoded(event.object, self._kind)
            self._version = seen.metadata.resource_version
            if event.type == "DELETED":
                self._drop(seen)
            elif event.type != "BOOKMARK":
                self._take(seen)


def _error(text: msgspec.Raw) -> Exception:
    status = decoded(text, Status)
    return Gone() if status.code == _GONE else Unavailable(reason=status.message)


async def _lines(pieces: AsyncIterator[bytes]) -> AsyncIterator[bytes]:
    held = b""
    async for piece in pieces:
        *lines, held = (held + piece).split(b"\n")
        for line in lines:
            yield line
