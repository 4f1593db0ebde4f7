"""Hints of a command, like `--epoch {1,2,3}`: which values it is to be run with, and under which name.

In the command the value of a parameter takes the place of each, so that every run has the same command.
"""

from __future__ import annotations

import re
from argparse import ArgumentTypeError
from dataclasses import dataclass
from typing import TYPE_CHECKING

from acai_jupyter.commands.job_options import swept
from acai_jupyter.contract.errors import BadRequest
from acai_jupyter.contract.foreign import one_line

if TYPE_CHECKING:
    from acai_jupyter.contract.sweeps import ParameterValue

_OF_OPTION = re.compile(r"(?:\A|\s)(?:--?(?P<option>[A-Za-z][\w-]*)(?:\s+|=)|(?P<name>[A-Za-z_]\w*)=)[\"']?\Z")
_NAMED = re.compile(r"\s*(?P<name>[A-Za-z_]\w*)=(?P<values>.*)\Z", re.DOTALL)
_WHOLE = re.compile(r"\{(?P<inside>[^{}]*)\}\Z")
_SHOWN = 60


@dataclass(frozen=True)
class Hinted:
    """A command that takes its values from the environment, and the values of each hint."""

    command: str
    values: dict[str, list[ParameterValue]]


def of_command(text: str) -> Hinted:
    """Read the hints of a command; `{{` and `}}` are braces, and `${NAME}` is the shell's."""
    written: list[str] = []
    values: dict[str, list[ParameterValue]] = {}
    quote, at = "", 0
    while at < len(text):
        end = _other(text, at, quote)
        if end:
            piece = text[at:end]
            written.append({"{{": "{", "}}": "}"}.get(piece, piece))
            quote = _quote_after(piece, quote)
        else:
            end = _end_of_hint(text, at)
            name, given = _hint(text[at + 1 : end - 1], _name_before(text[:at]))
            if name in values:
                raise BadRequest(f"Two hints are called {name}; give one another name: {{other={_shown(given)}}}.")
            values[name] = given
            written.append(_variable(name, quote))
        at = end
    return Hinted("".join(written), values)


def of_value(name: str, text: str) -> list[ParameterValue] | None:
    """Read `{1,2,3}` as the value of `-p NAME`; none when it is no hint."""
    if not text.startswith("{"):
        return None
    found = _WHOLE.match(text)
    if found is None:
        raise BadRequest(f"The hint '{one_line(text[:_SHOWN])}' is not closed: write it like {{1,2,3}}.")
    return _hint(found["inside"], name)[1]


def _other(text: str, at: int, quote: str) -> int:
    """Where what is no hint ends that begins here; 0 when a hint begins."""
    if text[at] == "\\" and quote != "'":
        return min(at + 2, len(text))
    if text.startswith(("{{", "}}"), at):
        return at + 2
    if text.startswith("${", at) and quote != "'":
        return text.find("}", at) + 1 or len(text)
    return 0 if text[at] == "{" else at + 1


def _quote_after(piece: str, quote: str) -> str:
    if piece in ("'", '"') and quote in ("", piece):
        return "" if quote else piece
    return quote


def _end_of_hint(text: str, at: int) -> int:
    end = text.find("}", at) + 1
    if not end or "{" in text[at + 1 : end]:
        begun = one_line(text[at : at + 20])
        raise BadRequest(f"The hint '{begun}' is not closed: write it like {{1,2,3}}, and {{{{ for a brace.")
    return end


def _hint(inside: str, before: str) -> tuple[str, list[ParameterValue]]:
    named = _NAMED.match(inside)
    name, written = (named["name"], named["values"]) if named else (before, inside)
    shown = one_line(inside[:_SHOWN])
    if not written.strip():
        raise BadRequest(f"The hint '{{{shown}}}' is empty: write its values, like {{1,2,3}}.")
    if not name:
        raise BadRequest(f"The hint '{{{shown}}}' has no name, as no option stands before it: {{name={shown}}}.")
    try:
        return name, list(swept(f"{name}={written}")[1])
    except ArgumentTypeError as error:
        why = "its values are parted by commas; quote one with commas or quotes, and write {{ for a brace"
        raise BadRequest(f"The hint '{{{shown}}}' cannot be read: {why}.") from error


def _name_before(text: str) -> str:
    found = _OF_OPTION.search(text)
    return (found["option"] or found["name"]).replace("-", "_") if found else ""


def _variable(name: str, quote: str) -> str:
    """The value of a parameter, so that a shell takes it as one word where the hint stood."""
    value = f"${{ACAI_PARAM_{name.upper()}}}"
    return {"": f'"{value}"', '"': value, "'": f"'\"{value}\"'"}[quote]


def _shown(values: list[ParameterValue]) -> str:
    return one_line(",".join(map(str, values))[:_SHOWN])
