"""When to kill: at any time, or right after something has happened on the server's side."""

from __future__ import annotations

import sqlite3
import time
from contextlib import suppress
from typing import TYPE_CHECKING

from tests.kills.journals import COMMITTING

if TYPE_CHECKING:
    import random
    import threading
    from collections.abc import Callable
    from pathlib import Path

    from tests.kills.stores import Database, Objects

LONGEST_SECONDS = 1.0
LOOK_SECONDS = 0.002
JITTER_SECONDS = (0.0, 0.0, 0.001, 0.005, 0.02)
ANY_TIME = "at any time"

_OF_RECORDS = {
    "a session was begun": "SELECT max(id) FROM upload_session",
    "names were staged": "SELECT max(id) FROM file_version",
    "a target was given": "SELECT count(*) FROM upload_object",
    "an object was told of": "SELECT max(id) FROM object",
    "a manifest was kept": "SELECT count(*) FROM chunk",
    "a commit was done": "SELECT last_commit FROM project",
    "a session was given up": "SELECT count(*) FROM upload_session WHERE state = 'aborted'",
    "a content was freed": "SELECT max(id) - count(*) FROM blob",
    "a pack was moved": "SELECT count(*) FROM object WHERE emptied_at IS NOT NULL",
    "a set was collected": "SELECT count(*) FROM file_set_version WHERE collected_at IS NOT NULL",
}
_COMMITTING = "a commit was asked for"
_OF_FILES = ("an object is being written", "an object is there")


class Moments:
    """Waits for the moments of one campaign."""

    def __init__(self, database: Database, objects: Objects | None, journals: Path) -> None:
        self._database = database
        self._objects = objects
        self._journals = journals
        self.names: list[str] = [*_OF_RECORDS, _COMMITTING, *(_OF_FILES if objects is not None else ())]

    def wait(self, chance: random.Random, pause: threading.Event) -> str:
        """Let time pass until a moment has come; returns its name. Half of them are no particular ones."""
        if chance.random() < 0.5:
            pause.wait(chance.uniform(0.02, LONGEST_SECONDS))
            return ANY_TIME
        name = chance.choice(self.names)
        jitter = chance.choice(JITTER_SECONDS)
        look = self._look(name)
        before, deadline = look(), time.monotonic() + 2 * LONGEST_SECONDS
        while look() == before:
            if time.monotonic() > deadline:
                return ANY_TIME
            pause.wait(LOOK_SECONDS)
        pause.wait(jitter)
        return name

    def _look(self, name: str) -> Callable[[], object]:
        if name == _COMMITTING:
            return self._committing
        if name in _OF_FILES:
            return lambda: self._files(name)
        return lambda: self._records(_OF_RECORDS[name])

    def _records(self, query: str) -> object:
        with suppress(sqlite3.Error):
            return self._database.rows(query)
        return None

    def _files(self, name: str) -> object:
        assert self._objects is not None
        partial = name == _OF_FILES[0]
        return {key for key in self._objects.sizes() if key.endswith(".part") == partial}

    def _committing(self) -> object:
        """Who asks for a commit tells it beside the journals, unless it is a command line."""
        beside = self._journals / COMMITTING
        return beside.stat().st_size if beside.exists() else 0
