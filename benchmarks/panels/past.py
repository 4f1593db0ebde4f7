"""A project with a long past: jobs with times, costs, names and attributes, as they would have been recorded."""

from __future__ import annotations

import json
from contextlib import closing, contextmanager
from datetime import UTC, datetime, timedelta
from typing import TYPE_CHECKING, Any

from acai_jupyter.client.connection import Connection
from acai_jupyter.client.http import Client
from acai_server.clock import Clock
from acai_server.db import batches
from acai_server.db.database import Database
from benchmarks.metadata import Member, fill

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from tests.browser.jupyterlab import JupyterLab

_ATTEMPT = ("id", "job_id", "number", "runner", "key", "vcpu", "memory_bytes", "machine", "seen")
_ENDED = ("exit_code", "run_seconds", "billed_seconds", "cost_usd", "log_bytes")
_FAILED_EACH = 9


def data_folder(lab: JupyterLab) -> Any:
    """Return where a JupyterLab keeps what is ours."""
    return lab.home / ".local" / "share" / "acai"


def client_of(lab: JupyterLab) -> Client:
    """Return a client of its one user."""
    token = (data_folder(lab) / "token").read_text().strip()
    return Client(Connection(f"http://127.0.0.1:{lab.port}", token))


@contextmanager
def database_of(lab: JupyterLab) -> Iterator[Database]:
    """Open its database beside it."""
    with closing(Database(f"sqlite:///{data_folder(lab) / 'acai.db'}", Clock())) as database:
        yield database


def fill_past(database: Database, count: int) -> None:
    """Record jobs that have ended, one a minute, the last of them now, with 15 attributes each."""
    with database.reading() as work:
        found = batches.select(work._session, "SELECT project_id, user_id FROM membership")  # noqa: SLF001
    member = Member(*found[0])
    fill(database, member, count)
    with database.writing() as work:
        session = work._session  # noqa: SLF001 (no service makes so many jobs at once)
        cursor: Any = session.connection().connection.cursor()
        cursor.executemany(
            "UPDATE job SET state = ?, reason = ?, created_at = ?, ended_at = ?, request = ? WHERE id = ?",
            _jobs(session, count),
        )
        marks = ", ".join("?" * len(_ATTEMPT + _ENDED))
        names = ", ".join(_ATTEMPT + _ENDED)
        cursor.executemany(f"INSERT INTO attempt ({names}) VALUES ({marks})", _attempts(count))
        cursor.execute("UPDATE project SET last_job = ?", (count,))


def _jobs(session: Any, count: int) -> Iterable[Sequence[Any]]:
    now = datetime.now(UTC)
    for number in range(1, count + 1):
        begun = now - timedelta(minutes=count - number + 1)
        ends = begun + timedelta(seconds=number % 997)
        request = {
            "command": ["python", "train.py"],
            "name": f"training-{number % 500}",
            "resources": {"vcpu": 1, "memory_bytes": 2**30},
        }
        has_failed = number % _FAILED_EACH == 0
        state, reason = ("failed", "exit code 1") if has_failed else ("finished", "")
        at = batches.as_stored(session, begun), batches.as_stored(session, ends)
        yield state, reason, *at, json.dumps(request), number


def _attempts(count: int) -> Iterable[Sequence[Any]]:
    for number in range(1, count + 1):
        seconds = float(number % 997)
        code = int(number % _FAILED_EACH == 0)
        shared = (number, number, 1, "process", "k", 1.0, 2**30, "", "{}")
        yield *shared, code, seconds, seconds + 1, seconds / 36_000, 1000
