"""One thread for all views of a kernel: it hears what happens in a project, and ends when no view is live any more."""

from __future__ import annotations

import logging
import threading
from contextlib import suppress
from typing import TYPE_CHECKING, Protocol

from acai_jupyter.client.http import Client
from acai_jupyter.client.patience import Patience
from acai_jupyter.contract import endpoints
from acai_jupyter.contract.errors import AcaiError

if TYPE_CHECKING:
    from acai_jupyter.contract.events import Event, EventPage

WAIT_SECONDS = 10.0
_log = logging.getLogger(__name__)


class Live(Protocol):
    """What wants to hear of events while it is live."""

    @property
    def is_live(self) -> bool:
        """Whether it still wants to."""
        ...

    def hear(self, event: Event) -> None:
        """Take one."""
        ...

    def refresh(self) -> None:
        """Look anew: events were missed."""
        ...


class Follower:
    """Follows the events of one project."""

    def __init__(self, client: Client) -> None:
        self._client = client
        self._lock = threading.Lock()
        self._live: list[Live] = []
        self._thread: threading.Thread | None = None

    def add(self, model: Live) -> None:
        """Tell it of events from now on, until it is live no more."""
        with self._lock:
            if any(one is model for one in self._live):
                return
            self._live.append(model)
            is_first = self._thread is None
            if is_first:
                self._thread = threading.Thread(target=self._follow, name="acai-views", daemon=True)
                self._thread.start()
        if not is_first:  # what happened since the model was made was told to the others
            model.refresh()

    def remove(self, model: Live) -> None:
        """Tell it no more."""
        with self._lock, suppress(ValueError):
            self._live.remove(model)

    @property
    def is_following(self) -> bool:
        """Whether anything is live."""
        return self._thread is not None

    def _follow(self) -> None:
        patience = Patience(self._client, lambda _: None)
        last: int | None = None
        try:
            while models := self._models():
                query = {} if last is None else {"since": last, "wait_seconds": WAIT_SECONDS}
                page = patience.call(endpoints.LIST_EVENTS, query=query)
                for model in models:
                    self._tell(model, page, is_first=last is None)
                last = page.last
        except AcaiError:  # it stayed away: the views say how they stood
            pass
        finally:
            with self._lock:
                if self._thread is threading.current_thread():
                    self._thread = None
            self._client.rest()

    def _tell(self, model: Live, page: EventPage, *, is_first: bool) -> None:
        """What one view cannot do with it is no matter of the others."""
        try:
            if is_first or page.reload:
                model.refresh()
            for event in page.events:
                model.hear(event)
        except AcaiError:  # it says how it stood, and hears of what comes next
            pass
        except Exception:  # noqa: BLE001 (whatever it is, the others go on)
            _log.exception("a view is not renewed any more")
            self.remove(model)

    def _models(self) -> list[Live]:
        with self._lock:
            self._live = [model for model in self._live if model.is_live]
            if not self._live:
                self._thread = None
            return list(self._live)


_followers: dict[tuple[str, str], Follower] = {}
_clients: dict[tuple[str, str, str], Client] = {}


def client_of_views(project: str | None = None) -> Client:
    """Return the one that all views of a project share in this kernel, however many there are."""
    made = Client(project=project)
    connection = made.connection
    return _clients.setdefault((connection.url, connection.project or "", connection.token), made)


def show_changes(model: Live, client: Client) -> None:
    """Renew a view while what it shows is live; what has ended costs neither a thread nor a connection."""
    if model.is_live:
        follower(client).add(model)
    elif not follower(client).is_following:
        client.rest()


def follower(client: Client) -> Follower:
    """Return the one of a client's project."""
    place = client.connection.url, client.connection.project or client.status.project
    return _followers.setdefault(place, Follower(client))
