"""Sweeps as Python objects: `sweep.wait().best("accuracy")`. A tag is all that they hold, so they outlive a kernel."""

from __future__ import annotations

from contextlib import suppress
from typing import TYPE_CHECKING, Any

import msgspec

from acai_jupyter.client import sweeps
from acai_jupyter.client.http import Client
from acai_jupyter.commands import sweep_tables
from acai_jupyter.commands.job_objects import Job
from acai_jupyter.contract import endpoints
from acai_jupyter.contract.errors import AcaiError, JobFailed
from acai_jupyter.contract.states import JobState

if TYPE_CHECKING:
    from collections.abc import Iterator

    from acai_jupyter.contract.sweeps import Sweep as Snapshot
    from acai_jupyter.contract.sweeps import SweepTable


class Sweep:
    """The jobs that bear a tag. What may change is asked for when it is looked at."""

    def __init__(self, client: Client, tag: str, snapshot: Snapshot | None = None) -> None:
        self._client = client
        self._tag = tag
        self._last = snapshot

    @property
    def tag(self) -> str:
        """The label that finds its jobs: `find jobs "'sweep-7' in tags"`."""
        return self._tag

    @property
    def snapshot(self) -> Snapshot:
        """How its jobs stand now, as a value that stays so."""
        self._last = self._client.call(endpoints.GET_SWEEP, sweep=self._tag)
        return self._last

    @property
    def table(self) -> SweepTable:
        """All its jobs with parameters and metrics as they are now, as a value that stays so."""
        return self._client.call(endpoints.GET_SWEEP_TABLE, sweep=self._tag)

    @property
    def states(self) -> dict[JobState, int]:
        """How many jobs are in each state."""
        return dict(self.snapshot.states)

    @property
    def has_ended(self) -> bool:
        """Whether all jobs are over, for good or bad."""
        return self.snapshot.is_over

    @property
    def cost_usd(self) -> float:
        """What its jobs have cost until now."""
        return self.snapshot.cost_usd

    @property
    def jobs(self) -> list[Job]:
        """Its jobs, by number."""
        return [Job(self._client, number) for number in self.snapshot.jobs]

    def __len__(self) -> int:
        return len((self._last or self.snapshot).jobs)

    def __iter__(self) -> Iterator[Job]:
        return iter(self.jobs)

    def frame(self) -> Any:
        """Return its jobs as a DataFrame when pandas is there, else as a table with the same columns."""
        return sweep_tables.frame(self.table)

    def best(self, metric: str, *, lowest: bool = False) -> Job:
        """Return the finished job with the highest value of a metric, or the lowest."""
        return Job(self._client, sweep_tables.best(self.table, metric, lowest=lowest).job)

    def wait(self, timeout: float | None = None) -> Sweep:
        """Return it when all jobs have ended, however they did; TimeoutError when that takes longer."""
        self._last = sweeps.wait(self._client, self._tag, timeout=timeout)
        return self

    def result(self, timeout: float | None = None) -> SweepTable:
        """Wait for it, and return its table; JobFailed when a job did not finish."""
        self.wait(timeout)
        table = self.table
        bad = [row for row in table.rows if row.state is not JobState.FINISHED]
        if bad:
            first = f"job {bad[0].job} {bad[0].state.value}" + (f" ({bad[0].reason})" if bad[0].reason else "")
            raise JobFailed(f"{len(bad)} of the {len(table.rows)} jobs of {self._tag} did not finish: {first}")
        return table

    def kill(self) -> Sweep:
        """Ask for the end of all its jobs; `wait` tells when that is so."""
        self._last = self._client.call(endpoints.KILL_SWEEP, sweep=self._tag)
        return self

    def plain(self) -> dict[str, Any]:
        """Return its table as plain data, for JSON."""
        found: dict[str, Any] = msgspec.to_builtins(self.table)
        return found

    @property
    def _place(self) -> tuple[str, str, str]:
        connection = self._client.connection
        return connection.url, connection.project or self._client.status.project, self._tag

    def __eq__(self, other: object) -> bool:
        return self._place == other._place if isinstance(other, Sweep) else NotImplemented

    def __hash__(self) -> int:
        return hash(self._place)

    def __reduce__(self) -> tuple[Any, ...]:
        """A token is never pickled."""
        return _found_again, (self._tag, self._place[1])

    def __repr__(self) -> str:
        with suppress(AcaiError):
            return sweep_tables.line(self.snapshot)
        return self._tag if self._last is None else sweep_tables.line(self._last)

    def _repr_mimebundle_(self, **kwargs: Any) -> dict[str, Any]:
        del kwargs
        try:
            table = self.table
        except AcaiError:
            return {"text/plain": repr(self)}
        shown = sweep_tables.shown(table)
        return {
            "text/plain": f"{shown.headline()}\n{shown!r}",
            "text/html": shown._repr_html_(),
            "application/vnd.acai.sweep+json": sweep_tables.snapshot(table, self._place[1]),
        }


def _found_again(tag: str, project: str) -> Sweep:
    return Sweep(Client(project=project), tag)
