"""Cuts a query into words, each with its place; says what is wrong with a word that is none."""

from __future__ import annotations

import re
from typing import NamedTuple

from acai_jupyter.contract.errors import BadQuery

MAX_LENGTH = 10_000
KEYWORDS = frozenset(
    ("and", "or", "not", "in", "between", "has", "order", "by", "asc", "desc", "limit", "true", "false")
)
_DATE = r"\d{4}-\d{2}-\d{2}(?:[T]\d{2}:\d{2}(?::\d{2}(?:\.\d{1,6})?)?(?:Z|[+-]\d{2}:?\d{2})?)?"
_TOKEN = re.compile(
    rf"""
    (?P<space>\s+)
  | (?P<time>{_DATE})(?![\w.])
  | (?P<duration>\d+(?:\.\d+)?(?:min|[smhdw])|\d+(?:mo|y))(?!\w)
  | (?P<number>(?:\d+(?:\.\d*)?|\.\d+)(?:[eE][+-]?\d+)?)(?![\w.])
  | (?P<text>'(?:[^']|'')*')
  | (?P<quoted>"[^"]*")
  | (?P<word>[A-Za-z_](?:[A-Za-z0-9_.-]*[A-Za-z0-9_])?)
  | (?P<sign><=|>=|==|!=|<>|!~|[=<>~(),+-])
    """,
    re.VERBOSE,
)
_EXCERPT = 30


class Token(NamedTuple):
    """One word of a query. `kind` is a keyword or a sign itself, else what it is, like word, text and number."""

    kind: str
    text: str
    position: int


def tokens(query: str) -> list[Token]:
    """Cut a query into words; the last is its end."""
    if len(query) > MAX_LENGTH:
        raise BadQuery(f"The query has {len(query):,} characters; at most {MAX_LENGTH:,} are taken.", column=1)
    stray = next((at for at, character in enumerate(query) if not is_text(character)), None)
    if stray is not None:
        raise fault(query, stray, "a text has neither NUL characters nor surrogates")
    found: list[Token] = []
    position = 0
    while position < len(query):
        match = _TOKEN.match(query, position)
        if match is None:
            raise fault(query, position, _stray(query[position]))
        position = match.end()
        kind, text = match.lastgroup or "", match[0]
        if kind != "space":
            found.append(_token(kind, text, match.start()))
    return [*found, Token("end", "", len(query))]


def is_text(text: str) -> bool:
    """Whether every database can keep this text: it has neither NUL characters nor surrogates."""
    return not any(c == "\0" or "\ud800" <= c <= "\udfff" for c in text)


def _token(kind: str, text: str, position: int) -> Token:
    if kind == "sign":
        return Token({"==": "=", "<>": "!="}.get(text, text), text, position)
    if kind == "word" and text.lower() in KEYWORDS:
        return Token(text.lower(), text, position)
    if kind == "quoted":
        return Token("quoted", text[1:-1], position)
    return Token(kind, text, position)


def _stray(character: str) -> str:
    if character == "'":
        return "the text that begins here does not end; a ' inside a text is written ''"
    if character == '"':
        return "the name that begins here does not end"
    if character.isdigit() or character == ".":
        return "this is no number, date or duration"
    return f"{character!a} means nothing here"


def fault(query: str, position: int, reason: str) -> BadQuery:
    """Say what is wrong at a place, and show it."""
    if not query:
        return BadQuery(column=position + 1, reason=reason, excerpt="")
    start = max(0, position - _EXCERPT)
    shown = query[start : position + _EXCERPT]
    visible = "".join(c if c.isprintable() else " " for c in shown)
    pointer = " " * (position - start) + "^"
    return BadQuery(column=position + 1, reason=reason, excerpt=f"\n  {visible}\n  {pointer}")
