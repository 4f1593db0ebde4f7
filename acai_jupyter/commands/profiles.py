"""`profile list` and `profile show`: what earlier runs have taught."""

from __future__ import annotations

import math
from html import escape
from typing import TYPE_CHECKING

from acai_jupyter.client import pages
from acai_jupyter.commands.listings import Listing
from acai_jupyter.commands.results import Result
from acai_jupyter.commands.units import ago, columns, duration
from acai_jupyter.contract import endpoints

if TYPE_CHECKING:
    from argparse import Namespace

    from acai_jupyter.client.http import Client
    from acai_jupyter.contract.profiles import ProfileDetails, UsedRun

SHOWN = 20
WIDTH, EDGE = 280, 36


def list_profiles(client: Client, arguments: Namespace) -> Result:
    """List the templates that have runs to learn from."""
    del arguments
    found = pages.whole(client, endpoints.LIST_PROFILES, "profiles", "before")
    if not found.profiles:
        return Result("No job has finished yet, so there is nothing to learn from.", found, "profiles")
    rows = [[one.template, f"{one.runs:,}", f"job {one.latest}", ago(one.finished_at)] for one in found.profiles]
    listing = Listing(rows, "<>><", ["profile", "runs", "newest", "finished"], head_is_shown=True)
    return Result(listing.text, found, "profiles", html=listing.html)


def show(client: Client, arguments: Namespace) -> Result:
    """Show the model of a profile, how far off it is, and the runs that it knows."""
    query = {"template": arguments.name, **({"version": arguments.version} if arguments.version else {})}
    found = client.call(endpoints.GET_PROFILE, query=query)
    return Result(text(found), found, "profile", html=lambda: html(found))


def text(found: ProfileDetails) -> str:
    """Write it for a terminal."""
    lent = f", with the experience of {found.borrowed_from}" if found.borrowed_from else ""
    known = f"model {found.version}, of {ago(found.known_at)}"
    head = f"{found.template}: {len(found.runs):,} runs, up to job {found.model}{lent} · {known}"
    believed = f"{found.form} inside of what was run, {found.form_outside} outside"
    rows = [["log-linear", found.log_linear], ["believed", believed]]
    rows += [["typically off", _errors(found)], *([name, said] for name, said in found.ranges.items())]
    runs = [_cells(one) for one in found.runs[:SHOWN]]
    table = columns([["job", "run with", "took", "by the model", ""], *runs], "><>><")
    more = len(found.runs) - SHOWN
    rest = [f"… and {more:,} more runs: --json has all"] if more > 0 else []
    return "\n".join([head, columns([[f"  {name}", said] for name, said in rows], "<<"), table, *rest])


def html(found: ProfileDetails) -> str:
    """Return the same with a picture of what was said beside what it took."""
    return f'<div class="acai-profile"><pre>{escape(text(found))}</pre>{svg(found)}</div>'


def svg(found: ProfileDetails) -> str:
    """Draw each run: what it took to the right, what the model says upwards; on the line both are the same."""
    logs = [math.log(max(amount, 1e-9)) for one in found.runs for amount in (one.seconds, one.predicted_seconds)]
    low, span = min(logs), max(max(logs) - min(logs), 1e-9)

    def at(seconds: float) -> float:
        return EDGE + (WIDTH - 2 * EDGE) * (math.log(max(seconds, 1e-9)) - low) / span

    dots = "".join(
        f'<circle cx="{at(one.seconds):.1f}" cy="{WIDTH - at(one.predicted_seconds):.1f}" r="3" fill-opacity="0.5">'
        f"<title>job {one.job}: took {duration(one.seconds)}, by the model {duration(one.predicted_seconds)}</title>"
        "</circle>"
        for one in found.runs
    )
    ends = math.exp(low), math.exp(low + span)
    title = f"Runs of {escape(found.template)}: what they took to the right, what the model says upwards"
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH} {WIDTH}" width="{WIDTH}" role="img" '
        f'aria-label="{title}" font-size="11" fill="currentColor"><title>{title}</title>'
        f'<path d="M{EDGE},{WIDTH - EDGE}L{WIDTH - EDGE},{EDGE}" stroke="currentColor" stroke-opacity="0.35"/>{dots}'
        f'<text x="{EDGE}" y="{WIDTH - 10}">{duration(ends[0])}</text>'
        f'<text x="{WIDTH - EDGE}" y="{WIDTH - 10}" text-anchor="end">{duration(ends[1])}</text></svg>'
    )


def _errors(found: ProfileDetails) -> str:
    return ", ".join(f"{name} {100 * error:.1f} %" for name, error in found.errors.items())


def _cells(one: UsedRun) -> list[str]:
    given = [f"{name}={value}" for name, value in one.parameters.items()]
    given.append(f"{one.resources.vcpu:g} vCPU")
    notes = [*(["ended early"] if one.is_bound else []), *(["other code, counts half"] if one.has_other_code else [])]
    took = f"{'over ' if one.is_bound else ''}{duration(one.seconds)}"
    return [str(one.job), " ".join(given), took, duration(one.predicted_seconds), ", ".join(notes)]
