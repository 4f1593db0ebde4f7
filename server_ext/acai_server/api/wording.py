"""What a decoder finds wrong with a request, in words for people: which field, what it should be, what it is."""

from __future__ import annotations

import re

from acai_jupyter.contract.errors import AcaiError, BadRequest, TooManyRows

_KINDS = {
    "str": "a text",
    "int": "a whole number",
    "float": "a number",
    "bool": "true or false",
    "array": "a list",
    "object": "an object",
    "null": "nothing (null)",
}
_QUOTED = re.compile(r"`([^`]*)`")
_LENGTH = re.compile(r"`(str|array|object)` of length ([<>])= (\d+)")
_BOUNDS = {"<": "at most", ">": "at least"}
_COUNTED = {"str": "character", "array": "item", "object": "name"}
_LABEL = re.compile(r"changes\[\d+\]\.(?:add|remove)_labels\[\d+\]")
_FORM = re.compile(r" matching regex .*", re.DOTALL)
_NO_NUMBER = "; a number that is not finite cannot be sent"


_ROWS = re.compile(r"Expected `int` <= (\d+) - at `\$\.limit`\Z")


def refusal(error: Exception) -> AcaiError:
    """Return our error for what a decoder finds wrong."""
    rows = _ROWS.match(str(error))
    return TooManyRows(limit=int(rows[1])) if rows else BadRequest(reason=said(error))


def said(error: Exception) -> str:
    """Return one clause, without the end of the sentence."""
    what, _, where = str(error).partition(" - at ")
    what = _LENGTH.sub(_bounded, _FORM.sub(" of another form", what))
    what = _QUOTED.sub(lambda found: _kinds(found[1]), what)
    place = _place(where)
    if place.startswith("a value in ") and "got nothing" in what:
        what += _NO_NUMBER
    return f"{place}: {what[:1].lower()}{what[1:]}" if place else what


def _bounded(found: re.Match[str]) -> str:
    """Say how long something may be, or how short."""
    kind, sign, number = found.groups()
    return f"`{kind}` of {_BOUNDS[sign]} {number} {_COUNTED[kind]}{'' if number == '1' else 's'}"


def _kinds(name: str) -> str:
    """Say which kinds of values are meant; what is none is the name of a field."""
    kinds = name.split(" | ")
    if any(kind not in _KINDS for kind in kinds):
        return f"'{name}'"
    named = [_KINDS[kind] for kind in kinds if not (kind == "int" and "float" in kinds)]
    return ", ".join(named[:-1]) + f" or {named[-1]}" if len(named) > 1 else named[0]


def _place(where: str) -> str:
    """Say which field is meant: `resources.vcpu`, or a name or a value in one."""
    path = where.replace("`", "").removeprefix("key in ").removeprefix("$").removeprefix(".")
    if _LABEL.fullmatch(path):
        return "a label"
    if where.startswith("`key` in"):
        return f"a name in {path}"
    return f"a value in {path.removesuffix('[...]')}" if path.endswith("[...]") else path
