"""The client and the connections to the store, shared by all file systems of a process, and never with another."""

from __future__ import annotations

import atexit
import os
from contextlib import contextmanager
from functools import cache
from typing import TYPE_CHECKING

from acai_jupyter.client.connection import Connection, find_connection
from acai_jupyter.client.http import Client
from acai_jupyter.contract.errors import NotAllowed, NotFound
from acai_jupyter.transfer.connections import Connections

if TYPE_CHECKING:
    from collections.abc import Iterator


def client(project: str | None) -> Client:
    """Return a client of the server that is to be used now: it may be another one than a moment ago."""
    return _client(os.getpid(), find_connection(project))


def connections() -> Connections:
    """Return the connections to the store."""
    return _connections(os.getpid())


@contextmanager
def told_to_python() -> Iterator[None]:
    """Raise what Python's own files raise, where callers look for that."""
    try:
        yield
    except NotFound as error:
        raise FileNotFoundError(error.message) from error
    except NotAllowed as error:
        raise PermissionError(error.message) from error


@cache
def _client(process: int, connection: Connection) -> Client:
    del process  # after a fork the child makes its own
    return Client(connection)


@cache
def _connections(process: int) -> Connections:
    del process
    made = Connections()
    atexit.register(made.close)
    return made
