"""The event loop belongs to kernels' websockets: work of ours that has to wait does not keep it."""

from __future__ import annotations

import sqlite3
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from tests.integration.places import Place

JOBS = "/v1/projects/default/jobs"


def test_jupyter_answers_while_requests_of_ours_wait_for_the_database(place: Place) -> None:
    server = place.start()
    assert server.status().status == 200
    with closing(sqlite3.connect(place.data / "acai.db", isolation_level=None)) as other, ThreadPoolExecutor(4) as pool:
        other.execute("BEGIN IMMEDIATE")
        waiting = [pool.submit(server.ask, "POST", JOBS, {"command": ["true"]}) for _ in range(4)]
        assert server.ask("GET", "/api/status", base="").status == 200
        assert server.status().status == 200
        assert not any(request.done() for request in waiting)
        other.execute("ROLLBACK")
        assert [request.result().status for request in waiting] == [201] * 4
