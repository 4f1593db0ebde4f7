"""What views of several jobs show, a list or a sweep, as plain values."""

from __future__ import annotations

import re
from datetime import UTC, datetime
from typing import TYPE_CHECKING

from acai_jupyter.client import searches
from acai_jupyter.commands import listings, metadata, sweep_tables
from acai_jupyter.contract import endpoints
from acai_jupyter.contract.errors import AcaiError
from acai_jupyter.contract.query.builtin import SubjectKind
from acai_jupyter.contract.query.parser import parse
from acai_jupyter.contract.query.tree import And, Comparison, Contains, OneOf, Operator, Or
from acai_jupyter.contract.states import END_STATES, JobState

if TYPE_CHECKING:
    from collections.abc import Callable

    from acai_jupyter.client.http import Client
    from acai_jupyter.contract.events import Event
    from acai_jupyter.contract.metadata import FoundPage
    from acai_jupyter.contract.query.tree import Term
    from acai_jupyter.contract.sweeps import SweepTable

CHANGES = "metadata_changed"
PROGRESS = "job_progressed"
_FIXED = ("number", "created_at")
"""What a job has from its beginning, and every later one more of."""
_SWEEP = re.compile(r"sweep-\d+")


class JobsModel:
    """The jobs that a query is true of. It is live while one of them is, or while further ones can come to it."""

    def __init__(self, client: Client, query: str = "", on_change: Callable[[], None] = lambda: None) -> None:
        self.client = client
        self.query = query
        self.on_change = on_change
        self.error = ""
        self.html = ""
        self._is_live = False
        self.refresh()

    @property
    def is_live(self) -> bool:
        """Whether it may still change by itself."""
        return self._is_live

    def hear(self, event: Event) -> None:
        """Look again when something was said of jobs."""
        if event.kind == CHANGES or (event.kind.startswith("job_") and event.kind != PROGRESS):
            self.refresh()

    def choose(self, query: str) -> None:
        """Show others."""
        self.query = query
        self.refresh()

    def refresh(self) -> None:
        """Ask the server; a query that is wrong is said, and what was found before stays."""
        try:
            asked = metadata.request(SubjectKind.JOB, self.query, metadata.OF_JOBS)
            page = searches.find(self.client, asked, most=metadata.SHOWN)
        except AcaiError as error:
            self.error = error.message
        else:
            self._take(page)
        self.on_change()

    def _take(self, page: FoundPage) -> None:
        cells = [
            [row.thing, *(metadata.shown(k, v) for k, v in zip(page.columns, row.values, strict=True))]
            for row in page.rows
        ]
        self.html, self.error = listings.Listing(cells, ">", ["job", *page.columns]).html(), ""
        place = page.columns.index("state")
        has_live = any(JobState(str(row.values[place])) not in END_STATES for row in page.rows)
        self._is_live = has_live or not names_its_jobs(parse(self.query, datetime.now(UTC)).where)


def names_its_jobs(term: Term) -> bool:
    """Whether what is asked for leaves no room for jobs that are yet to come."""
    match term:
        case And(terms):
            return any(map(names_its_jobs, terms))
        case Or(terms):
            return bool(terms) and all(map(names_its_jobs, terms))
        case Comparison(key, operator):
            return key in _FIXED and operator in (Operator.EQUAL, Operator.LESS, Operator.AT_MOST)
        case OneOf(key):
            return key in _FIXED
        case Contains(key, label):
            return key == "tags" and _SWEEP.fullmatch(label) is not None
    return False


class SweepModel:
    """The jobs of a sweep, with parameters and metrics."""

    def __init__(self, client: Client, tag: str, on_change: Callable[[], None] = lambda: None) -> None:
        self.client = client
        self.tag = tag
        self.on_change = on_change
        self.error = ""
        self.table: SweepTable = client.call(endpoints.GET_SWEEP_TABLE, sweep=tag)
        self._subjects = self._named()

    @property
    def is_live(self) -> bool:
        """Whether any of its jobs has not ended."""
        return any(row.state not in END_STATES for row in self.table.rows)

    @property
    def html(self) -> str:
        """How all of them stand, and each in a row."""
        return sweep_tables.shown(self.table)._repr_html_()

    @property
    def share(self) -> float:
        """How much of it is over."""
        ended = sum(row.state in END_STATES for row in self.table.rows)
        return ended / max(1, len(self.table.rows))

    def hear(self, event: Event) -> None:
        """Look again when something was said of one of its jobs."""
        if event.subject in self._subjects and event.kind != PROGRESS:
            self.refresh()

    def refresh(self) -> None:
        """Ask the server; what cannot be had now is said, and stays as it was."""
        self._do(lambda: None)

    def kill(self) -> None:
        """Ask for the end of all its jobs."""
        self._do(lambda: self.client.call(endpoints.KILL_SWEEP, sweep=self.tag))

    def _do(self, act: Callable[[], object]) -> None:
        try:
            act()
            self.table, self.error = self.client.call(endpoints.GET_SWEEP_TABLE, sweep=self.tag), ""
            self._subjects = self._named()
        except AcaiError as error:
            self.error = error.message
        self.on_change()

    def _named(self) -> set[str]:
        return {f"job {row.job}" for row in self.table.rows}
