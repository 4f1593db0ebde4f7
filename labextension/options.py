"""Writes the options of a job as the page needs them, from the parsers that read its lines.

A test fails when they are stale.
"""

from __future__ import annotations

import inspect
import json
from typing import TYPE_CHECKING, Any

from acai_jupyter.commands import job_options, verbs

if TYPE_CHECKING:
    import argparse

HEADER = """// Generated from the options of `submit` and `%%acai run` by `make contract`; do not edit.
import type { IRunOption } from './runLine';

/** In the order in which help lists them. */
export const RUN_OPTIONS: readonly IRunOption[] = """
_KINDS = {
    job_options.parameter: "parameter",
    job_options.swept: "sweep",
    job_options.variable: "variable",
    job_options.secret: "secret",
    job_options.amount: "amount",
    job_options.memory: "size",
    job_options.time_limit: "time",
    job_options.confidence: "confidence",
    job_options.gpu_type: "text",
}
_COMMON = "options"
"""What argparse calls the group of what is in none."""
_LAST = "project"
_APART = ("help", "json", "plan")
"""What is no option of a job: what a line answers, and in which form. The form always shows the plan."""


def typescript() -> str:
    """Return the table of options."""
    of_cell, of_script = _options(verbs.cell_parser()), _options(verbs.submit_parser())
    rows = [{**row, "only": _only(row["name"], of_cell, of_script)} for row in {**of_script, **of_cell}.values()]
    text = json.dumps(sorted(rows, key=lambda row: row["group"] == _LAST), indent=2)
    return f"{HEADER}{text};\n"


def _options(parser: argparse.ArgumentParser) -> dict[str, dict[str, Any]]:
    found = {}
    for group in parser._action_groups:  # noqa: SLF001 (it has no other way to tell)
        title = _LAST if group.title == _COMMON else str(group.title)
        for action in group._group_actions:  # noqa: SLF001
            if action.option_strings and action.dest not in _APART:
                row = _row(action, title)
                found[row["name"]] = row
    return found


def _row(action: argparse.Action, group: str) -> dict[str, Any]:
    kind, low, high = _kind(action.type)
    words = "none" if action.nargs == 0 else "one" if action.nargs is None else "many"
    default = action.default if isinstance(action.default, str | int | float) and action.nargs != 0 else ""
    return {
        "name": action.option_strings[0].lstrip("-"),
        "flag": action.option_strings[0],
        "group": group,
        "metavar": action.metavar or "",
        "help": action.help or "",
        "words": words,
        "repeats": isinstance(action.default, list),
        "default": f"{default:g}" if isinstance(default, float) else str(default),
        "kind": kind,
        "low": low,
        "high": high,
    }


def _kind(reads: Any) -> tuple[str, int | None, int | None]:
    """How a word is read: by which function, and for whole numbers between which."""
    if reads is None:
        return "text", None, None
    if reads in _KINDS:
        return _KINDS[reads], None, None
    bounds = inspect.getclosurevars(reads).nonlocals
    return "whole", bounds["low"], bounds["high"]


def _only(name: str, of_cell: dict[str, Any], of_script: dict[str, Any]) -> str:
    """On which of the lines alone it may stand."""
    return "" if name in of_cell and name in of_script else "cell" if name in of_cell else "submit"
