"""How a job stands or ended, in a line for people."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import TYPE_CHECKING

from acai_jupyter.commands.metadata import shown
from acai_jupyter.commands.units import duration, money, size
from acai_jupyter.contract.foreign import one_line
from acai_jupyter.contract.jobs import MIB
from acai_jupyter.contract.states import END_STATES, JobState

if TYPE_CHECKING:
    from acai_jupyter.contract.jobs import Attempt, Job

MISSES = 10
"""So many lines that look like tags and are none are told."""
ATTRIBUTES = 10
"""So many attributes are named in a line."""
PREDICTED = "predicted_seconds", "predicted_cost_usd"
PREDICTED_BY = "predicted_by"
"""The version of the model that says so."""
"""The attributes in which a job keeps what was expected of it."""
WORTH_USD = 0.01
"""What less memory would have spared is told unasked when it is a cent."""
_OUT_OF_MEMORY = "ran out of memory"
_DOES = {
    JobState.LAUNCHING: "its machine is being prepared",
    JobState.DOWNLOADING: "it fetches its code and inputs",
    JobState.RUNNING: "its program runs",
    JobState.UPLOADING: "its outputs are being kept",
}


def line(job: Job, prog: str = "acai", now: datetime | None = None) -> str:
    """Say how a job ended, or where it stands."""
    if job.state is JobState.FINISHED:
        parts = [f"job {job.number}", job.state.value, *_cost_of(job)]
        parts += [flow(job)] if job.output or job.inputs else []
    elif job.state in END_STATES:
        parts = [_end(job), *_kept(job, prog)]
    else:
        state = job.state.value if job.kill_asked_at is None else f"{job.state.value}, being ended"
        parts = [f"job {job.number}", state, f"since {duration(seconds_in_state(job, now))}"]
        parts += [job.waiting.sentence] if job.waiting else []
    return one_line(" · ".join([*parts, *_attributes(job)]))


def _attributes(job: Job) -> list[str]:
    named = [f"{key} {shown('', value)}" for key, value in list(job.attributes.items())[:ATTRIBUTES]]
    more = len(job.attributes) - len(named)
    return [*named, f"and {more:,} more"] if more > 0 else named


def lines(job: Job, prog: str = "acai") -> str:
    """Say that, and below what its agent warns of and which lines of the log look like tags and are none."""
    worth = job.less_memory is not None and job.less_memory.saved_usd >= WORTH_USD
    return "\n".join([line(job, prog), *([spared(job)] if worth else []), *_warnings(job), *misses(job)])


def spared(job: Job) -> str:
    """Say what less memory would have spared; nothing where it would have been too little."""
    less = job.less_memory
    if less is None:
        return ""
    option = f"--memory {less.memory_bytes // MIB}Mi"
    return f"{size(less.memory_bytes)} of memory would have been enough, and {money(less.saved_usd)} less: {option}"


def _warnings(job: Job) -> list[str]:
    return [one_line(f"warning: {said}") for said in job.attempts[-1].warnings] if job.attempts else []


def misses(job: Job) -> list[str]:
    """Say which lines of a job's log look like tags and are none."""
    found = [one_line(miss) for miss in job.attempts[-1].tag_misses] if job.attempts else []
    more = len(found) - MISSES
    return [*found[:MISSES], f"… and {more} more lines like these"] if more > 0 else found


def flow(job: Job) -> str:
    """What went in and what came out."""
    return f"{', '.join(job.inputs) or 'no input'} → {job.output or 'no output'}"


def does(job: Job, now: datetime | None = None) -> str:
    """Say what a live job does now, and why its runner waits if it does."""
    where = job.attempts[-1].machine if job.attempts else ""
    what = _DOES[job.state] if job.kill_asked_at is None else "it is being ended"
    sentence = f"job {job.number} is {job.state.value}: {what}, since {duration(seconds_in_state(job, now))}"
    why = f". {job.waiting.sentence}" if job.waiting else "."
    return one_line(sentence + (f", on {where}" if where else "") + why)


def seconds_in_state(job: Job, now: datetime | None = None) -> float:
    """How long it has been where it is, or since when it is to end."""
    if job.kill_asked_at is not None:
        return max(0.0, ((now or datetime.now(UTC)) - job.kill_asked_at).total_seconds())
    steps = job.attempts[-1].transitions if job.attempts and job.state is not JobState.QUEUED else []
    since = steps[-1].at if steps else job.attempts[-1].transitions[-1].at if job.attempts else job.created_at
    return max(0.0, ((now or datetime.now(UTC)) - since).total_seconds())


def command(job: Job) -> str:
    """The command as one would type it."""
    import shlex

    return job.command if isinstance(job.command, str) else shlex.join(job.command)


def cost(job: Job) -> float | None:
    """What all attempts cost together."""
    costs = [one.cost_usd for one in job.attempts if one.cost_usd is not None]
    return sum(costs) if costs else None


def expected(job: Job) -> str:
    """What was expected of a job whose machine was chosen by that, beside what it took and cost."""
    seconds, usd = (job.attributes.get(name) for name in PREDICTED)
    if not isinstance(seconds, int | float) or not isinstance(usd, int | float):
        return ""
    version = job.attributes.get(PREDICTED_BY)
    said = f"{duration(seconds)}, {money(usd)}{f' by model {one_line(version)}' if isinstance(version, str) else ''}"
    took, paid = job.attempts[-1].billed_seconds if job.attempts else None, cost(job)
    if job.state is not JobState.FINISHED or took is None or paid is None:
        return said
    return f"{said}; it took {duration(took)}{_beside(took, seconds)} and cost {money(paid)}"


def _beside(took: float, said: float) -> str:
    share = round(100 * (took / said - 1)) if said > 0 else 0
    return f" ({abs(share)} % {'more' if share > 0 else 'less'})" if share else ""


def saved(job: Job) -> str:
    """What an earlier result spared."""
    parts = [duration(job.saved_seconds)] if job.saved_seconds else []
    parts += [money(job.saved_usd)] if job.saved_usd else []
    return " and ".join(parts)


def where_log(job: Job, prog: str) -> str:
    """Say that a job which did not run has no log, and where the one is whose result it was given."""
    earlier = job.answered_by
    return f"job {job.number} printed nothing: it was answered by job {earlier}, whose log is in {prog} logs {earlier}"


def whose_log(job: Job) -> str:
    """Say that the log which is shown for a job that did not run is that of the one whose result it was given."""
    return f"job {job.number} printed nothing: it was answered by job {job.answered_by}, whose log this is"


def _cost_of(job: Job) -> list[str]:
    if job.answered_by is not None:
        spared = f", saved {saved(job)}" if saved(job) else ""
        return [f"answered by job {job.answered_by}, which was the same{spared}"]
    last = job.attempts[-1] if job.attempts else None
    if last is None or last.billed_seconds is None or last.cost_usd is None:
        return []
    return [duration(last.billed_seconds), money(cost(job) or 0.0)]


def _end(job: Job) -> str:
    """How it ended badly."""
    if job.reason.startswith(_OUT_OF_MEMORY):
        return f"job {job.number} {job.reason}"
    if job.state is JobState.KILLED and job.reason.startswith("killed by "):
        how = f"was {job.reason}"
    else:
        how = job.state.value + (f" ({job.reason})" if job.reason else "")
    took = _took(job.attempts[-1]) if job.attempts else None
    return f"job {job.number} {how}" + (f" after {duration(took)}" if took is not None else "")


def _took(attempt: Attempt) -> float | None:
    return attempt.billed_seconds if attempt.run_seconds is None else attempt.run_seconds


def _kept(job: Job, prog: str) -> list[str]:
    """What is left of it to look at."""
    parts = ["log kept"] if any(one.log_bytes for one in job.attempts) else []
    if job.partial:
        name = job.partial.partition(":")[0]
        parts.append(f"partial outputs: {prog} get @{name} .")  # there they stand below their own name
    return parts
