"""Finding out what works, from where somebody sits: this environment, the way to the server, and what that found."""

from __future__ import annotations

import platform
import sys
import time
from importlib.util import find_spec
from typing import TYPE_CHECKING
from urllib.parse import urlsplit

from acai_jupyter._version import __version__
from acai_jupyter.client.http import Client
from acai_jupyter.client.sessions import proof
from acai_jupyter.contract import endpoints
from acai_jupyter.contract.checkups import Check, Checkup, Finding
from acai_jupyter.contract.errors import AcaiError
from acai_jupyter.transfer.connections import Connections
from acai_jupyter.transfer.errors import TransferError

if TYPE_CHECKING:
    from collections.abc import Iterable

SECONDS = 10.0
EXTRAS = {
    "ipywidgets": "views for front ends without our extension: pip install 'acai-jupyter[widgets]'",
    "papermill": "notebooks cannot be submitted as jobs: pip install 'acai-jupyter[notebooks]'",
    "pandas": "find() gives tables of its own: pip install pandas",
}
"""What this environment can do without, and what it misses."""


def look(client: Client | None = None, project: str | None = None) -> Checkup:
    """Look at everything; what cannot be reached is said to be so."""
    checks = [_environment(), *extras(EXTRAS)]
    try:
        client = client or Client(project=project)
        checks.append(_connection(client))
        found = client.call(endpoints.GET_CHECKUP)
    except AcaiError as error:
        return Checkup([*checks, Check("server", Finding.FAILED, error.message)])
    checks += found.checks
    if found.probe_url:
        checks.append(_bytes(client, found.probe_url))
    return Checkup(checks)


def _environment() -> Check:
    said = f"acai_jupyter {__version__}, Python {platform.python_version()} at {sys.prefix}"
    return Check("environment", Finding.OK, said)


def extras(wanted: dict[str, str]) -> Iterable[Check]:
    """Name the libraries of these that are not there, and what one does without them."""
    for name, without in wanted.items():
        if find_spec(name) is None:
            yield Check("environment", Finding.WARNING, f"{name} is not installed; {without}")


def _connection(client: Client) -> Check:
    status = client.status  # the first request also opens the connection
    begun = time.monotonic()
    client.call(endpoints.GET_STATUS)
    took = (time.monotonic() - begun) * 1000
    who = f"project {client.connection.project or status.project}, user {status.user.name} ({status.user.role.value})"
    said = f"{client.connection.url}, ACAI {status.version}, {who}, answers in {took:.0f} ms"
    return Check("connection", Finding.OK, said)


def _bytes(client: Client, url: str) -> Check:
    """Fetch a few bytes from the store, as every download does."""
    if proof(client.store):
        return Check("contents", Finding.OK, "this environment shares the store's disk")
    try:
        with Connections(SECONDS, SECONDS) as connections, connections.request("GET", url, {}) as answer:
            answer.read()
    except TransferError as error:
        answered = f"answers {error.status}" if error.status else "cannot be reached"
    else:
        return Check("contents", Finding.OK, "are fetched from the store by signed URLs")
    host = urlsplit(url).netloc
    said = f"{host} {answered} from here, and contents are fetched from there; open the way to it, or ask its operator."
    return Check("contents", Finding.FAILED, said)
