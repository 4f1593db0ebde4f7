"""What a job's cell displayed, as far as it can be shown here: a program can have written anything there."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from acai_jupyter.client.follow import in_silence
from acai_jupyter.client.patience import Patience
from acai_jupyter.contract import endpoints
from acai_jupyter.contract.states import END_STATES

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

    from acai_jupyter.client.http import Client
    from acai_jupyter.contract.jobs import Job

_STILL = frozenset(("text/plain", "image/png", "image/jpeg", "image/gif", "application/json"))
"""Forms that run nothing in a browser."""
_WIDGET = "application/vnd.jupyter.widget-view+json"
"""A widget's model was in the job's process, and is gone."""


def shown_of(client: Client, job: Job, say: Callable[[str], None] = in_silence) -> list[dict[str, Any]]:
    """Return what a job has displayed so far; for a cached answer, what the job that made it displayed.

    If another user's job made the displays, only those that cannot run anything in a notebook are returned. Waits for a
    server that is away.
    """
    if job.state in END_STATES and not job.has_displays and job.answered_by is None:
        return []
    patience = Patience(client, say)
    maker = job if job.answered_by is None else patience.call(endpoints.GET_JOB, job=job.answered_by)
    found = patience.call(endpoints.GET_DISPLAYS, job=maker.number).displays
    return cleaned(found, is_own=maker.user == patience.ask(lambda: client.status).user.name)


def cleaned(displays: Iterable[Any], *, is_own: bool) -> list[dict[str, Any]]:
    """Keep what has the form of a display."""
    bundles = (_bundle(one, is_own=is_own) for one in displays)
    return [one for one in bundles if one["data"]]


def _bundle(display: Any, *, is_own: bool) -> dict[str, Any]:
    data, metadata = _dict(display, "data"), _dict(display, "metadata")
    kept = {mime: body for mime, body in data.items() if mime != _WIDGET and (is_own or mime in _STILL)}
    return {"data": kept, "metadata": {key: value for key, value in metadata.items() if key in kept or is_own}}


def _dict(display: Any, name: str) -> dict[str, Any]:
    found = display.get(name) if isinstance(display, dict) else None
    return found if isinstance(found, dict) else {}
