"""What a view of a job is made of, as HTML: its way through the states, transfers, what it uses, time and cost."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import TYPE_CHECKING

from acai_jupyter.commands import job_sentences, markup
from acai_jupyter.commands.units import duration, money, size
from acai_jupyter.contract.states import END_STATES, LIVE_STATES, JobState
from acai_jupyter.widgets import coloured

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from acai_jupyter.contract.jobs import Attempt, Job, Transition

WAY = (JobState.QUEUED, JobState.LAUNCHING, JobState.DOWNLOADING, JobState.RUNNING, JobState.UPLOADING)
WIDTH, HEIGHT = 160, 32
_QUIET = "color: var(--jp-ui-font-color2, inherit)"
_SECOND = 3600.0
_PRE = (
    "margin: 4px 0; padding: 6px 8px; max-height: 300px; overflow: auto; line-height: 1.35; white-space: pre-wrap; "
    "font-family: var(--jp-code-font-family, monospace); font-size: var(--jp-code-font-size, 13px); "
    "border: 1px solid var(--jp-border-color2, #8888)"
)


def stepper(job: Job, now: datetime | None = None) -> str:
    """Write the states of the last attempt, with how long it was or is in each; the one it is in is bold."""
    taken = _steps(job)
    ends = [step.at for step in taken[1:]] + [now or datetime.now(UTC)]
    seen = [_step(step, (end - step.at).total_seconds(), job) for step, end in zip(taken, ends, strict=True)]
    begun = {step.state for step in taken}
    ahead = (
        [] if job.state in END_STATES else [state for state in WAY[WAY.index(job.state) + 1 :] if state not in begun]
    )
    seen += [f'<li style="{_ITEM} {_QUIET}">{state.value}</li>' for state in ahead]
    return (
        f'<ol aria-label="states" style="display: flex; flex-wrap: wrap; gap: 4px 14px; {_LIST}">{"".join(seen)}</ol>'
    )


_LIST = "list-style: none; margin: 4px 0; padding: 0; font-size: var(--jp-ui-font-size1, 13px)"
_ITEM = "margin: 0; padding: 0;"


def transfer(job: Job) -> str:
    """Write how far a transfer is, while there is one."""
    last = job.attempts[-1] if job.attempts else None
    if last is None or last.transfer is None or job.state in END_STATES or last.transfer.state is not job.state:
        return ""
    done, total = last.transfer.done_bytes, max(1, last.transfer.total_bytes)
    words = f"{last.transfer.state.value} {size(done)} of {size(total)}"
    bar = f'<progress max="{total}" value="{done}" aria-label="{words}" style="width: {WIDTH}px"></progress>'
    return f"<div>{bar} {markup.text(words)}</div>"


def usage(job: Job) -> str:
    """Draw the CPUs and the memory that the last attempt uses, each against what was asked for."""
    last = job.attempts[-1] if job.attempts else None
    samples = last.usage.samples if last is not None and last.usage is not None else []
    if last is None or len(samples) < 2:  # noqa: PLR2004 (a line has two ends)
        return ""
    times = [one[0] for one in samples]
    cpus, memory = [one[1] for one in samples], [float(one[2]) for one in samples]
    said = f"CPU {cpus[-1]:.1f} of {last.vcpu:g}", f"memory {size(memory[-1])} of {size(last.memory_bytes)}"
    drawn = _sparkline(said[0], times, cpus, last.vcpu), _sparkline(said[1], times, memory, float(last.memory_bytes))
    return f'<div style="display: flex; flex-wrap: wrap; gap: 4px 20px">{"".join(drawn)}</div>'


def spent(job: Job, now: datetime | None = None) -> str:
    """Say how long a live job has taken of what is expected, and what it has cost until now."""
    if job.state not in LIVE_STATES or not job.attempts:
        return ""
    seconds = elapsed_seconds(job.attempts[-1], now)
    parts = []
    if seconds:
        expected = f" of about {duration(job.expected_seconds)}" if job.expected_seconds else ""
        parts.append(f"{duration(seconds)}{expected}")
    parts += [f"{money(cost)} so far"] if (cost := cost_until_now(job, now)) else []
    return markup.below(" · ".join(parts))


def elapsed_seconds(attempt: Attempt, now: datetime | None = None) -> float:
    """For how long an attempt has been billed: from the start of its downloading on."""
    billed = [step.at for step in attempt.transitions if step.state in WAY[2:]]
    return max(0.0, ((now or datetime.now(UTC)) - billed[0]).total_seconds()) if billed else 0.0


def cost_until_now(job: Job, now: datetime | None = None) -> float:
    """What the attempts before cost, and this one until now."""
    last = job.attempts[-1]
    return (job_sentences.cost(job) or 0.0) + (last.usd_per_hour or 0.0) * elapsed_seconds(last, now) / _SECOND


def log(lines: Sequence[str], skipped: int, words: str) -> str:
    """Write the end of a log, or the lines of it that hold what is searched for."""
    found = [line for line in lines if words.lower() in coloured.plain(line).lower()] if words else lines
    text = "\n".join(coloured.marked(line, words) if words else coloured.html(line) for line in found)
    above = [f"{len(found):,} of the last {len(lines):,} lines"] if words else []
    above += [f"{size(skipped)} before this are left out"] if skipped and not words else []
    head = "".join(map(markup.below, above))
    return f'{head}<pre tabindex="0" aria-label="the end of the log" style="{_PRE}">{text}</pre>'


def _steps(job: Job) -> list[Transition]:
    """The steps of the last attempt, with its time in the queue before."""
    from acai_jupyter.contract.jobs import Transition

    before = job.attempts[-2].transitions[-1].at if len(job.attempts) > 1 else job.created_at
    steps = job.attempts[-1].transitions if job.attempts else []
    is_queued = not steps or (job.state is JobState.QUEUED)
    if is_queued and steps:  # it is to be tried again
        return [Transition(JobState.QUEUED, steps[-1].at)]
    return [Transition(JobState.QUEUED, before), *steps]


def _step(step: Transition, seconds: float, job: Job) -> str:
    is_now = step.state is job.state
    words = step.state.value if step.state in END_STATES else f"{step.state.value} {duration(max(0.0, seconds))}"
    mark = markup.mark(job.state) if is_now else ""
    style = "font-weight: 600" if is_now else _QUIET
    current = ' aria-current="step"' if is_now else ""
    return f'<li{current} style="{_ITEM} {style}">{mark}{markup.text(words)}</li>'


def _sparkline(words: str, times: Sequence[float], values: Sequence[float], asked: float) -> str:
    top = max(asked, *values) or 1.0
    points = " ".join(f"{x:.1f},{y:.1f}" for x, y in _places(times, values, top))
    line = HEIGHT - asked / top * (HEIGHT - 2) - 1
    drawn = (
        f'<line x1="0" x2="{WIDTH}" y1="{line:.1f}" y2="{line:.1f}" stroke="currentColor" stroke-opacity="0.4" '
        f'stroke-dasharray="3 3"/><polyline points="{points}" fill="none" stroke="var(--jp-brand-color1, #1976d2)" '
        'stroke-width="1.5"/>'
    )
    picture = f'<svg width="{WIDTH}" height="{HEIGHT}" role="img" aria-label="{markup.text(words)}">{drawn}</svg>'
    return f'<div><div style="{_QUIET}">{markup.text(words)}</div>{picture}</div>'


def _places(times: Iterable[float], values: Iterable[float], top: float) -> Iterator[tuple[float, float]]:
    all_times = list(times)
    first, span = all_times[0], max(all_times[-1] - all_times[0], 0.001)
    for at, value in zip(all_times, values, strict=True):
        yield (at - first) / span * WIDTH, HEIGHT - 1 - value / top * (HEIGHT - 2)
