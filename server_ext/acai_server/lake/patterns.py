"""Patterns of paths, which no pattern and no path can make slow."""

from __future__ import annotations

import re
import unicodedata
from functools import lru_cache
from typing import TYPE_CHECKING, Any

from acai_jupyter.contract.errors import BadRequest
from acai_jupyter.contract.specs import MAX_PATH_BYTES
from acai_server.lake.flows import FIRST, LAST, Range

if TYPE_CHECKING:
    from collections.abc import Callable

_TOKEN = re.compile(r"(?<=/)\*\*/|\*\*|\*|\?|\[(!?)(\]?[^\]/]*)\]|[^*?\[]+")
_SPECIAL = re.compile(r"[*?\[]")
_MEMORY_BYTES = 64 * 1024 * 1024
MAX_WILDCARDS = 32


def check(pattern: str) -> str:
    """Return a pattern as it is used, or say what is wrong with it."""
    shown = ascii(pattern[:80])[1:-1]
    if not pattern.startswith("/"):
        raise BadRequest(reason=f"the pattern '{shown}' does not start with '/'; '/**/*.png' fits in every folder")
    if len(pattern) > MAX_PATH_BYTES:
        raise BadRequest(reason=f"a pattern has {len(pattern):,} characters; at most {MAX_PATH_BYTES:,} are taken")
    if any(character < " " or "\ud800" <= character <= "\udfff" or character == LAST for character in pattern):
        raise BadRequest(reason=f"the pattern '{shown}' has a character that no path has")
    if len(_SPECIAL.findall(pattern)) > MAX_WILDCARDS:
        raise BadRequest(reason=f"the pattern '{shown}' has more than {MAX_WILDCARDS} wildcards")
    translated(pattern)
    return unicodedata.normalize("NFC", pattern)


def choose(pattern: str) -> tuple[Range, Callable[[str], bool] | None]:
    """Return the range in which paths that fit a pattern stand, and the test they pass; none where all there do."""
    special = _SPECIAL.search(pattern)
    if special is None:
        return (
            (Range(pattern, pattern + LAST), None) if pattern.endswith("/") else (Range(pattern, pattern + FIRST), None)
        )
    literal, rest = pattern[: special.start()], pattern[special.start() :]
    within = Range(literal, literal + LAST)
    if rest == "**" or (rest == "**/" and literal.endswith("/")):
        return within, None
    return within, _test(translated(pattern))


def translated(pattern: str) -> str:
    """Return the regular expression of a pattern, for RE2."""
    if pattern.endswith("/"):
        pattern += "**"
    done, at = [], 0
    while at < len(pattern):
        token = _TOKEN.match(pattern, at)
        if token is None:
            raise BadRequest(reason=f"a '[' of the pattern '{pattern[:80]}' has no end; '[[]' is the character itself")
        done.append(_translated(token))
        at = token.end()
    return "".join(done)


def _translated(token: re.Match[str]) -> str:
    known = {"**/": "(?:.*/)?", "**": ".*", "*": "[^/]*", "?": "[^/]"}
    if token[0] in known:
        return known[token[0]]
    if token[2] is None:
        return re.escape(token[0])
    if not token[2]:
        raise BadRequest(reason=f"'{token[0]}' in a pattern names no character")
    return _characters(token[2], is_not=bool(token[1]))


def _characters(text: str, *, is_not: bool) -> str:
    """One character of some, or not of them; never the '/' between folders."""
    ranges = []
    at = 0
    while at < len(text):
        first = last = text[at]
        if text[at + 1 : at + 2] == "-" and at + 2 < len(text):
            last = text[at + 2]
            at += 2
        at += 1
        if last < first:
            raise BadRequest(reason=f"'{first}-{last}' in a pattern runs backwards")
        ranges.append((ord(first), ord(last)))
    if is_not:
        return f"[^/{''.join(map(_range, ranges))}]"
    parts = [part for one in ranges for part in _without_slash(*one)]
    return f"[{''.join(map(_range, parts))}]"


def _without_slash(first: int, last: int) -> list[tuple[int, int]]:
    slash = ord("/")
    if not first <= slash <= last:
        return [(first, last)]
    return [(a, b) for a, b in ((first, slash - 1), (slash + 1, last)) if a <= b]


def _range(bounds: tuple[int, int]) -> str:
    return "-".join(f"\\x{{{bound:x}}}" for bound in bounds)


@lru_cache(64)
def _test(expression: str) -> Callable[[str], bool]:
    import re2

    options = re2.Options()
    options.max_mem = _MEMORY_BYTES
    options.log_errors = False
    compiled: Any = re2.Set.FullMatchSet(options)
    compiled.Add(expression)
    compiled.Compile()
    return lambda path: bool(compiled.Match(path))
