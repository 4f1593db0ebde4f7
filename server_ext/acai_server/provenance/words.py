"""What stands in the nodes of a drawing, and what is said of them."""

from __future__ import annotations

from typing import TYPE_CHECKING
from unicodedata import combining, east_asian_width

from acai_jupyter.contract.foreign import one_line
from acai_jupyter.contract.states import ActionKind, JobState

if TYPE_CHECKING:
    from datetime import datetime

    from acai_jupyter.contract.filesets import FileSet
    from acai_jupyter.contract.provenance import Action, ActionJob

LABEL_SIZE = 12.5
WORDS_SIZE = 11.0
_BOLD = 1.18
"""The first line is bold, and stands where a job is narrower."""
_WIDTHS = {
    "ijl": 0.28,
    ".,:;'|!· ": 0.33,
    "cksvxyz": 0.56,
    'frtI()[]{}/-"\\': 0.42,
    "mwMW@%—…": 1.0,
    "ABCDEFGHJKLNOPQRSTUVXYZ&": 0.72,
}
"""How wide characters are in DejaVu Sans, which is wider than most: where it is to fit is drawn with any font."""
_OTHER, _SQUARE = 0.62, 1.05
_LONGEST = 60
"""No shape has room for more characters, however narrow."""
_STEP = 1024
_MINUTE, _HOUR = 60, 3600
_LEAST_USD = 0.00001
_BAD = (JobState.FAILED, JobState.KILLED, JobState.CRASHED)


def label(text: str, room: float) -> str:
    """Cut the first line of a shape with so much room."""
    return _short(text, room / (LABEL_SIZE * _BOLD))


def below(text: str, room: float) -> str:
    """Cut the second line."""
    return _short(text, room / WORDS_SIZE)


def _short(text: str, room: float) -> str:
    """Keep both ends: a version's number is at the end."""
    text = one_line(text)
    most = min(len(text), _LONGEST)
    cut = text if most == len(text) else _cut(text, most)
    while most > 1 and width(cut) > room:
        most -= 1
        cut = _cut(text, most)
    return cut


def _cut(text: str, most: int) -> str:
    behind = most // 2
    return f"{text[: most - behind - 1]}…{text[len(text) - behind :]}"


def width(text: str) -> float:
    """Say how wide a text is, in its size."""
    return sum(_width(one) for one in text)


def _width(character: str) -> float:
    if combining(character):
        return 0.0
    if east_asian_width(character) in "WF":
        return _SQUARE
    return next((found for characters, found in _WIDTHS.items() if character in characters), _OTHER)


def of_set(found: FileSet) -> str:
    """The second line of a file set."""
    return "file set · deleted" if found.deleted_at else f"file set · {_files(found.file_count)}"


def about_set(found: FileSet) -> str:
    """All of it in a sentence."""
    deleted = f", deleted {_day(found.deleted_at)}" if found.deleted_at else ""
    aliases = f", also {', '.join(found.aliases)}" if found.aliases else ""
    return one_line(
        f"File set {found.ref}{aliases}: {_files(found.file_count)}, {size(found.size_bytes)}, "
        f"made {_day(found.created_at)} by {found.creator}{deleted}."
    )


def of_job(job: ActionJob) -> str:
    """The second line of a job: how it ended, how long it took."""
    if job.deleted_at:
        return f"{job.state.value} · deleted"
    seconds = job.billed_seconds
    if job.answered_by:
        return f"{job.state.value} · as job {job.answered_by}"
    return job.state.value if seconds is None else f"{job.state.value} · {duration(seconds)}"


def about_job(action: Action, job: ActionJob) -> str:
    """All of it in a sentence."""
    name = f" ({job.name})" if job.name else ""
    why = f": {job.reason.rstrip('.')}" if job.reason and job.state in _BAD else ""
    took = "" if job.billed_seconds is None else f", {duration(job.billed_seconds)}"
    cost = "" if job.cost_usd is None else f", {money(job.cost_usd)}"
    given = ", ".join(f"{key}={value}" for key, value in list(job.parameters.items())[:5])
    answered = f", answered by job {job.answered_by}" if job.answered_by else ""
    return one_line(
        f"Job {job.number}{name}, {job.state.value}{why}{took}{cost}{answered}{f', {given}' if given else ''}, "
        f"submitted {_day(action.created_at)} by {action.creator}."
    )


def about_action(action: Action) -> str:
    """Say who put files, or put sets together."""
    made = ", ".join(action.outputs)
    verb = "Uploaded" if action.kind is ActionKind.UPLOAD else "Made from specs"
    return one_line(f"{verb} {_day(action.created_at)} by {action.creator}: {made}.")


def size(count: float) -> str:
    """Steps of 1024, as everywhere."""
    for unit in ("B", "KB", "MB", "GB", "TB"):
        if round(count) < _STEP:
            return f"{_number(count)} {unit}"
        count /= _STEP
    return f"{_number(count)} PB"


def duration(seconds: float) -> str:
    """In two units at most."""
    if seconds < _MINUTE - 0.5:
        return f"{_number(seconds)} s"
    whole = round(seconds)
    if whole < _HOUR:
        return f"{whole // _MINUTE} min" + (f" {whole % _MINUTE} s" if whole % _MINUTE else "")
    minutes = whole % _HOUR // _MINUTE
    return f"{whole // _HOUR} h" + (f" {minutes} min" if minutes else "")


def money(usd: float) -> str:
    """Cents, or for a small sum what can be read of it; as the command line says it."""
    if usd == 0 or usd >= 0.01:  # noqa: PLR2004 (a cent)
        return f"${usd:,.2f}"
    return f"${usd:.5f}" if usd >= _LEAST_USD else f"under ${_LEAST_USD:.5f}"


def _number(value: float) -> str:
    return f"{value:.1f}".removesuffix(".0") if value < 9.95 else f"{value:.0f}"  # noqa: PLR2004 (what rounds to ten)


def _files(count: int) -> str:
    return f"{count:,} file{'s' if count != 1 else ''}"


def _day(moment: datetime | None) -> str:
    return f"{moment:%Y-%m-%d %H:%M} UTC" if moment else ""
