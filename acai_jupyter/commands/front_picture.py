"""The front of machines as a picture: what each takes and costs, and which are over a bound."""

from __future__ import annotations

import math
from html import escape
from typing import TYPE_CHECKING

from acai_jupyter.commands.units import duration, money, size

if TYPE_CHECKING:
    from collections.abc import Callable

    from acai_jupyter.contract.profiles import Prediction, Provision

WIDTH, HEIGHT, EDGE = 480, 240, 44


def html(found: Provision, said: str) -> str:
    """Return the choice with its picture; it brings no colours but those of the notebook."""
    return f'<div class="acai-provision"><pre>{escape(said)}</pre>{svg(found)}</div>'


def svg(found: Provision) -> str:
    """Draw costs over times, both by orders of magnitude; a machine that is not taken for being over is a cross."""
    points = found.front
    if len(points) < 2:  # noqa: PLR2004 (a line has two ends)
        return ""
    across = _scale([one.seconds for one in points], EDGE, WIDTH - EDGE)
    up = _scale([one.cost_usd for one in points], HEIGHT - EDGE, EDGE)
    limit = None if found.chosen is None else found.chosen
    marks = "".join(
        _mark(one, across(one.seconds), up(one.cost_usd), is_chosen=one == limit, is_over=_is_over(found, one))
        for one in points
    )
    line = " ".join(f"{across(one.seconds):.1f},{up(one.cost_usd):.1f}" for one in points)
    ends = points[-1], points[0]
    labels = (
        f'<text x="{EDGE}" y="{HEIGHT - 12}">{duration(ends[0].seconds)}</text>'
        f'<text x="{WIDTH - EDGE}" y="{HEIGHT - 12}" text-anchor="end">{duration(ends[1].seconds)}</text>'
        f'<text x="4" y="{EDGE - 8}">{money(ends[0].cost_usd)}</text>'
        f'<text x="4" y="{HEIGHT - EDGE + 4}">{money(ends[1].cost_usd)}</text>'
    )
    title = f"Machines for {escape(found.template)}: time to the right, cost upwards"
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH} {HEIGHT}" width="{WIDTH}" role="img" '
        f'aria-label="{title}" font-size="11" fill="currentColor" stroke="none"><title>{title}</title>'
        f'<polyline points="{line}" fill="none" stroke="currentColor" stroke-opacity="0.35"/>{marks}{labels}</svg>'
    )


def _is_over(found: Provision, one: Prediction) -> bool:
    """Whether it is beyond what was chosen for its bounds: slower under a time, dearer under a cost."""
    bound = found.max_seconds, found.max_cost_usd
    seconds, usd = (one.high_seconds, one.high_cost_usd) if found.is_sure else (one.seconds, one.cost_usd)
    return (bound[0] is not None and seconds > bound[0]) or (bound[1] is not None and usd > bound[1])


def _mark(one: Prediction, x: float, y: float, *, is_chosen: bool, is_over: bool) -> str:
    share = one.resources
    state = "chosen" if is_chosen else "over the bound" if is_over else "possible"
    told = f"{share.vcpu:g} vCPU, {size(share.memory_bytes)}: {duration(one.seconds)}, {money(one.cost_usd)} ({state})"
    title = f"<title>{escape(told)}</title>"
    if is_over:
        cross = f"M{x - 3:.1f},{y - 3:.1f}l6,6m0,-6l-6,6"
        return f'<path d="{cross}" fill="none" stroke="currentColor">{title}</path>'
    radius = 6 if is_chosen else 3
    return f'<circle cx="{x:.1f}" cy="{y:.1f}" r="{radius}">{title}</circle>'


def _scale(values: list[float], start: float, end: float) -> Callable[[float], float]:
    logs = [math.log(max(value, 1e-12)) for value in values]
    low, span = min(logs), max(max(logs) - min(logs), 1e-9)
    return lambda value: start + (end - start) * (math.log(max(value, 1e-12)) - low) / span
