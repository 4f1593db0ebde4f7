"""`costs`: what jobs have cost, by whom, from what, under which label, each, or day by day."""

from __future__ import annotations

import csv
import io
from datetime import UTC, datetime
from typing import TYPE_CHECKING

from acai_jupyter.client import pages
from acai_jupyter.commands import budgets
from acai_jupyter.commands.listings import Listing
from acai_jupyter.commands.results import Result
from acai_jupyter.commands.units import duration, money
from acai_jupyter.contract import endpoints
from acai_jupyter.contract.errors import BadRequest
from acai_jupyter.contract.foreign import one_line
from acai_jupyter.contract.prices import CostGroup, CostRow, Costs
from acai_jupyter.contract.query.parser import read_time

if TYPE_CHECKING:
    from argparse import Namespace

    from acai_jupyter.client.http import Client

SHOWN = 100
"""So many lines are shown; the file of values has all."""
MOST = 100_000
"""So many rows come in one page."""
_NONE = {CostGroup.NOTEBOOK: "without code", CostGroup.TAG: "without a label"}


def costs(client: Client, arguments: Namespace) -> Result:
    """Show what jobs have cost."""
    found = ask(client, arguments.by, arguments.since, arguments.until)
    if arguments.csv:
        return Result(table(found), found, "costs")
    if not found.rows:
        said = ["Nothing was run in that time.", *budgets.lines(found.left)]
        return Result("\n".join(said), found, "costs")
    listing = Listing(
        [_line(found.by, row) for row in found.rows[:SHOWN]],
        "<>>>",
        [found.by.value, "jobs", "billed", "cost"],
        rest="\n".join(filter(None, [_more(found), _total(found), *budgets.lines(found.left)])),
        head_is_shown=True,
    )
    return Result(listing.text, found, "costs", html=listing.html)


def ask(client: Client, by: str, since: str | datetime | None, until: str | datetime | None) -> Costs:
    """Ask the server; times may be texts. In one page as far as it goes: what runs costs more by the next one."""
    span = {name: _moment(name, text) for name, text in (("since", since), ("until", until)) if text is not None}
    return pages.whole(client, endpoints.GET_COSTS, "rows", "skip", query={"by": by, "limit": MOST, **span})


def table(found: Costs) -> str:
    """Write all of it as a file of comma-separated values."""
    text = io.StringIO()
    writer = csv.writer(text, lineterminator="\n")
    writer.writerow([found.by.value, "jobs", "live_jobs", "attempts", "billed_seconds", "cost_usd"])
    for row in found.rows:
        amounts = f"{row.billed_seconds:.3f}", f"{row.cost_usd:.8f}"
        writer.writerow([row.key, row.jobs, row.live_jobs, row.attempts, *amounts])
    return text.getvalue().rstrip("\n")


def _moment(name: str, given: str | datetime) -> str:
    if isinstance(given, datetime):
        moment: datetime | None = given.astimezone(UTC)
    else:
        moment = read_time(given, datetime.now().astimezone())
    if moment is None:
        raise BadRequest(f"--{name} is a date or a time like 2026-11-01, not {one_line(repr(given))}.")
    return moment.isoformat()


def _line(by: CostGroup, row: CostRow) -> list[str]:
    key = row.key.removeprefix("code.") if by is CostGroup.NOTEBOOK else row.key
    return [key or _NONE.get(by, ""), f"{row.jobs:,}", duration(row.billed_seconds), money(row.cost_usd)]


def _more(found: Costs) -> str:
    left = len(found.rows) - SHOWN
    return f"{left:,} more of less cost; all of them: --csv" if left > 0 else ""


def _total(found: Costs) -> str:
    total = found.total
    live = f", {total.live_jobs:,} still running" if total.live_jobs else ""
    return f"{money(total.cost_usd)} in all, {total.jobs:,} job{'s' if total.jobs != 1 else ''}{live}"
