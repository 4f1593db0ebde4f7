"""The server under attack: killed and started again on the same data."""

from __future__ import annotations

import threading
from typing import TYPE_CHECKING

from tests.servers.process import free_ports

if TYPE_CHECKING:
    import random

    from tests.integration.places import Place, Server
    from tests.kills.backends import Backend

WAIT_SECONDS = 60.0
COLLECTING = {"ACAI_GRACE_DAYS": "0.0003", "ACAI_COLLECT_DAYS": "0.0001"}
"""What was deleted can come back for 26 s, and every 9 s garbage is collected."""


class Serving:
    """One server at a time. Clients wait here for the next one."""

    def __init__(self, place: Place, backend: Backend, chance: random.Random) -> None:
        self._place = place
        self._backend = backend
        self._chance = chance
        self._port = 0
        self._changed = threading.Condition()
        self._server: Server | None = None
        self.generation = 0

    @property
    def server(self) -> Server:
        """The one that answers."""
        assert self._server is not None
        return self._server

    def start(self) -> None:
        """Start it, mostly where clients wait for it, and wait until it answers."""
        if not self._port or self._chance.random() < 0.2:
            self._port = free_ports(1)[0]
        server = self._spawn()
        try:
            server.wait_until_it_answers()
        except AssertionError:
            if "already in use" not in server.log:
                raise
            self._port = 0  # somebody has taken it meanwhile
            self.start()
            return
        with self._changed:
            self._server = server
            self.generation += 1
            self._changed.notify_all()

    def kill(self) -> None:
        """End it as a power cut does."""
        self.server.kill()

    def start_and_kill(self) -> None:
        """Kill it again while it starts."""
        server = self._spawn()
        threading.Event().wait(self._chance.uniform(0.2, 1.8))
        server.kill()

    def wait_for_another(self, generation: int) -> None:
        """Wait for a server after this one, as long as this one does not run."""
        with self._changed:
            self._changed.wait_for(
                lambda: self.generation > generation or self.server.process.poll() is None, WAIT_SECONDS
            )

    def state_of(self, session: str) -> str:
        """Return where an upload session stands."""
        rows = self._backend.database.rows(f"SELECT state FROM upload_session WHERE key = '{session}'")
        return str(rows[0][0]) if rows else ""

    def last_label(self) -> str:
        """Return the label of the upload session that somebody worked on last."""
        rows = self._backend.database.rows("SELECT label FROM upload_session ORDER BY touched_at DESC, id DESC LIMIT 1")
        return str(rows[0][0]) if rows else ""

    def logs(self) -> list[str]:
        """Return what all servers so far have logged."""
        return [server.log for server in self._place.servers]

    def _spawn(self) -> Server:
        variables = self._backend.variables | COLLECTING
        return self._place.spawn(f"--ServerApp.port={self._port}", program="acai", **variables)
