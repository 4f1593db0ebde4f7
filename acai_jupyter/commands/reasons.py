"""Why two sets or jobs differ, in words."""

from __future__ import annotations

from typing import TYPE_CHECKING

from acai_jupyter.commands.filesets import named
from acai_jupyter.commands.metadata import shown
from acai_jupyter.commands.units import files_of
from acai_jupyter.contract.foreign import one_line

if TYPE_CHECKING:
    from acai_jupyter.contract.lineage import Cause, WhyDifferent

FARTHER = 5
"""So many causes that lie further back are told."""


def reasons(why: WhyDifferent) -> list[str]:
    """Say in what the actions differ that made two things, and then what lies further back."""
    if why.jobs[0] is not None and why.jobs[0] == why.jobs[1]:
        return [f"both are of job {why.jobs[0]}"]
    near = [cause for cause in why.causes if cause.distance == 1]
    if any(cause.what == "made by" for cause in near):
        return []
    far = [cause for cause in why.causes if cause.distance > 1]
    more = [f"{len(far) - FARTHER:,} more further back"] if len(far) > FARTHER else []
    return [*_near(why, near), *(f"{cause.of[1]}: {reason(cause)}" for cause in far[:FARTHER]), *more]


def _near(why: WhyDifferent, causes: list[Cause]) -> list[str]:
    """Inputs and code are told also when they are the same."""
    same = [one for one in why.same if one.distance == 1]
    inputs = [reason(cause) for cause in causes if cause.what == "input"]
    if not inputs and (known := [str(one.value) for one in same if one.what == "input"]):
        inputs = [f"input {named(known)} the same"]
    code = [reason(cause) for cause in causes if cause.what == "code"]
    if not code and any(one.what == "code" for one in same):
        code = ["code the same"]
    return [*inputs, *code, *(reason(cause) for cause in causes if cause.what not in ("input", "code"))]


def reason(cause: Cause) -> str:
    """Write one cause in words."""
    before, after = cause.before, cause.after
    if cause.what == "code" and cause.file_count is not None:
        return f"code: {files_of(cause.file_count)} {'differs' if cause.file_count == 1 else 'differ'}"
    if cause.what == "input" and (before is None or after is None):
        return f"input {after} added" if before is None else f"input {before} removed"
    if cause.what == "variables" and cause.file_count is not None:
        return "variables differ"
    counted = "" if cause.file_count is None else f" ({files_of(cause.file_count)})"
    what = cause.what.removeprefix("parameter ")
    missing = "none" if what in ("code", "variables", "image") else "not given"
    values = [missing if value is None else shown("", value) for value in (before, after)]
    return one_line(f"{what} {values[0]} → {values[1]}{counted}")
