r"""The regular expressions of `~`: a subset that every engine reads the same way, and that none can hang on.

An expression is read here and written anew for the engine that will run it: RE2 for SQLite, PostgreSQL's own, and
Python's, by which tests hold the others. There are no back-references and no looking around, so that an automaton can
run it; repetitions have a bound, so that it stays small. `\d`, `\w`, `\s` and `(?i)` are those of ASCII.
"""

from __future__ import annotations

from typing import NamedTuple

import msgspec

MAX_PATTERN = 500
MAX_REPEAT = 100
MAX_STATES = 2000
MAX_NESTED = 1000
"""What RE2 takes of the product of repetitions inside each other."""
MAX_GROUPS = 30
_LAST = 0x10FFFF
_DIGITS = ((48, 57),)
_WORDS = ((48, 57), (65, 90), (95, 95), (97, 122))
_SPACES = ((9, 13), (32, 32))
_CLASSES = {"d": _DIGITS, "w": _WORDS, "s": _SPACES}
_CONTROLS = {"n": 10, "r": 13, "t": 9, "f": 12, "v": 11}
_COUNTS = {"*": (0, None), "+": (1, None), "?": (0, 1)}

_ANY = ((1, _LAST),)

Ranges = tuple[tuple[int, int], ...]


class BadPattern(Exception):
    """What is wrong with an expression, and where."""

    def __init__(self, position: int, reason: str) -> None:
        super().__init__(reason)
        self.position = position
        self.reason = reason


class Character(msgspec.Struct, frozen=True):
    """One character of some."""

    ranges: Ranges


class Edge(msgspec.Struct, frozen=True):
    """The begin or the end of the text."""

    is_end: bool


class Repeat(msgspec.Struct, frozen=True):
    """The same many times."""

    node: Node
    least: int
    most: int | None


class Sequence(msgspec.Struct, frozen=True):
    """One after the other."""

    nodes: tuple[Node, ...]


class Choice(msgspec.Struct, frozen=True):
    """One of them."""

    nodes: tuple[Node, ...]


Node = Character | Edge | Repeat | Sequence | Choice


def read(pattern: str) -> Node:
    """Read an expression; raises `BadPattern`."""
    if len(pattern) > MAX_PATTERN:
        raise BadPattern(0, f"the expression has more than {MAX_PATTERN} characters")
    node = _Reader(pattern).all()
    if _states(node) > MAX_STATES:
        raise BadPattern(0, "the expression repeats too much; use smaller numbers in {}")
    if _nested(node) > MAX_NESTED:
        raise BadPattern(0, f"repetitions inside each other make more than {MAX_NESTED}; use smaller numbers in {{}}")
    return node


class Dialect(NamedTuple):
    """How an engine writes characters and the edges of a text."""

    start: str
    end: str
    any: str
    short: str
    long: str


RE2 = Dialect(r"\A", r"\z", "(?s:.)", r"\x{{{0:x}}}", r"\x{{{0:x}}}")
POSTGRES = Dialect("^", "$", ".", r"\u{0:04x}", r"\U{0:08x}")
PYTHON = Dialect(r"\A", r"\Z", "(?s:.)", r"\u{0:04x}", r"\U{0:08x}")


def write(node: Node, dialect: Dialect) -> str:
    """Write an expression for an engine."""
    match node:
        case Character(ranges):
            return _write_class(ranges, dialect)
        case Edge(is_end):
            return dialect.end if is_end else dialect.start
        case Repeat(inner, least, most):
            one = write(inner, dialect)
            return f"{one if isinstance(inner, Character) else f'(?:{one})'}{_counted(least, most)}"
        case Sequence(nodes):
            return "".join(write(one, dialect) for one in nodes) or "(?:)"
        case Choice(nodes):
            return f"(?:{'|'.join(write(one, dialect) for one in nodes)})"


def _counted(least: int, most: int | None) -> str:
    plain = {(0, None): "*", (1, None): "+", (0, 1): "?"}
    if least == most:
        return f"{{{least}}}"
    return plain.get((least, most)) or f"{{{least},{'' if most is None else most}}}"


def _write_class(ranges: Ranges, dialect: Dialect) -> str:
    if ranges == _ANY:
        return dialect.any
    if len(ranges) == 1 and ranges[0][0] == ranges[0][1]:
        return _letter(ranges[0][0], dialect)
    # No database keeps a NUL, and PostgreSQL knows no surrogates.
    parts = [part for low, high in ranges for part in _whole(max(low, 1), high)]
    return f"[{''.join(f'{_letter(a, dialect)}-{_letter(b, dialect)}' for a, b in parts)}]"


def _whole(low: int, high: int) -> list[tuple[int, int]]:
    parts = [(low, min(high, 0xD7FF)), (max(low, 0xE000), high)]
    return [(a, b) for a, b in parts if a <= b]


def _letter(code: int, dialect: Dialect) -> str:
    letter = chr(code)
    if letter.isascii() and letter.isalnum():
        return letter
    return (dialect.short if code <= 0xFFFF else dialect.long).format(code)  # noqa: PLR2004 (Unicode's first plane)


def _states(node: Node) -> int:
    match node:
        case Repeat(inner, least, most):
            return 1 + _states(inner) * max(1, least, most or 0)
        case Sequence(nodes) | Choice(nodes):
            return 1 + sum(_states(one) for one in nodes)
    return 1


def _nested(node: Node) -> int:
    match node:
        case Repeat(inner, least, most):
            return _nested(inner) * max(1, least, most or 0)
        case Sequence(nodes) | Choice(nodes):
            return max(map(_nested, nodes), default=1)
    return 1


class _Reader:
    def __init__(self, pattern: str) -> None:
        self._pattern = pattern
        self._at = 0
        self._groups = 0
        self._any_case = pattern.startswith("(?i)")

    def all(self) -> Node:
        if self._any_case:
            self._at = 4
        node = self._choice()
        if self._at < len(self._pattern):
            raise BadPattern(self._at, "this ')' closes nothing")
        return node

    def _choice(self) -> Node:
        nodes = [self._sequence()]
        while self._skip("|"):
            nodes.append(self._sequence())
        return nodes[0] if len(nodes) == 1 else Choice(tuple(nodes))

    def _sequence(self) -> Node:
        nodes: list[Node] = []
        while self._peek() not in ("", "|", ")"):
            nodes.append(self._repeated())
        return nodes[0] if len(nodes) == 1 else Sequence(tuple(nodes))

    def _repeated(self) -> Node:
        start = self._at
        node = self._atom()
        counts = self._counts()
        if counts is None:
            return node
        if isinstance(node, Edge):
            raise BadPattern(start, "an edge of the text cannot be repeated")
        self._skip("?")  # which match is found does not matter
        if self._peek() and self._peek() in "*+?{":
            raise BadPattern(self._at, "this repeats a repetition; put the first into (...)")
        return Repeat(node, *counts)

    def _counts(self) -> tuple[int, int | None] | None:
        sign = self._peek()
        if sign in _COUNTS:
            self._at += 1
            return _COUNTS[sign]
        if sign != "{":
            return None
        start, end = self._at, self._pattern.find("}", self._at)
        least, comma, most = self._pattern[start + 1 : max(end, 0)].partition(",")
        if end < 0 or not _is_count(least) or not (most == "" or _is_count(most)):
            raise BadPattern(start, "a repetition is written {2}, {2,} or {2,5}; a brace itself \\{")
        self._at = end + 1
        low = int(least)
        high = (int(most) if most else None) if comma else low
        if low > MAX_REPEAT or (high or 0) > MAX_REPEAT or (high is not None and high < low):
            raise BadPattern(start, f"a repetition goes from a smaller to a larger number, at most {MAX_REPEAT}")
        return low, high

    def _atom(self) -> Node:
        start, letter = self._at, self._peek()
        self._at += 1
        match letter:
            case "(":
                return self._group(start)
            case "[":
                return Character(self._set(start))
            case ".":
                return Character(_ANY)
            case "^" | "$":
                return Edge(letter == "$")
            case "\\":
                return Character(self._escape(start))
            case "*" | "+" | "?" | "{":
                raise BadPattern(
                    start, f"there is nothing before '{letter}' to repeat; the character itself is \\{letter}"
                )
        return Character(self._cased(((ord(letter), ord(letter)),)))

    def _group(self, start: int) -> Node:
        if self._pattern.startswith("?", self._at) and not self._pattern.startswith("?:", self._at):
            raise BadPattern(start, "of the forms (?...) there are (?:...), and (?i) at the beginning")
        self._at += 2 if self._pattern.startswith("?:", self._at) else 0
        self._groups += 1
        if self._groups > MAX_GROUPS:
            raise BadPattern(start, f"more than {MAX_GROUPS} groups")
        node = self._choice()
        if not self._skip(")"):
            raise BadPattern(start, "this '(' is not closed")
        return node

    def _escape(self, start: int) -> Ranges:
        letter = self._peek()
        self._at += 1
        if letter.lower() in _CLASSES:
            ranges = _CLASSES[letter.lower()]
            return _others(ranges) if letter.isupper() else ranges
        if letter in _CONTROLS:
            return ((_CONTROLS[letter],) * 2,)
        if not letter or letter.isalnum():
            raise BadPattern(start, "after '\\' stands one of d w s D W S n r t f v, or a sign")
        return ((ord(letter), ord(letter)),)

    def _set(self, start: int) -> Ranges:
        is_negated = self._skip("^")
        ranges: list[tuple[int, int]] = []
        while not (self._peek() == "]" and ranges):
            if not self._peek():
                raise BadPattern(start, "this '[' is not closed")
            ranges += self._member()
        self._at += 1
        merged = self._cased(_merged(ranges))
        if is_negated:
            merged = _others(merged)
        if not merged:
            raise BadPattern(start, "nothing is in this set")
        return merged

    def _member(self) -> Ranges:
        start = self._at
        low = self._one()
        if self._pattern[self._at : self._at + 1] != "-" or self._pattern[self._at + 1 : self._at + 2] in ("]", ""):
            return low
        self._at += 1
        high = self._one()
        if any(len(side) != 1 or side[0][0] != side[0][1] for side in (low, high)) or high[0][0] < low[0][0]:
            raise BadPattern(start, "a range goes from a smaller to a larger character")
        return ((low[0][0], high[0][0]),)

    def _one(self) -> Ranges:
        start, letter = self._at, self._peek()
        self._at += 1
        if letter == "[" and self._peek() in (":", ".", "="):
            raise BadPattern(start, "named classes are not understood; write \\d, \\w or a range")
        return self._escape(start) if letter == "\\" else ((ord(letter), ord(letter)),)

    def _cased(self, ranges: Ranges) -> Ranges:
        """Add the other case of ASCII letters where case does not count."""
        if not self._any_case:
            return ranges
        more = list(ranges)
        for low, high in ranges:
            for first, last, shift in ((65, 90, 32), (97, 122, -32)):
                a, b = max(low, first), min(high, last)
                more += [(a + shift, b + shift)] if a <= b else []
        return _merged(more)

    def _peek(self) -> str:
        return self._pattern[self._at : self._at + 1]

    def _skip(self, letter: str) -> bool:
        found = self._pattern.startswith(letter, self._at)
        self._at += len(letter) if found else 0
        return found


def _is_count(text: str) -> bool:
    return text.isascii() and text.isdigit() and len(text) <= len(str(MAX_REPEAT))


def _merged(ranges: list[tuple[int, int]]) -> Ranges:
    found: list[tuple[int, int]] = []
    for low, high in sorted(ranges):
        if found and low <= found[-1][1] + 1:
            found[-1] = (found[-1][0], max(high, found[-1][1]))
        else:
            found.append((low, high))
    return tuple(found)


def _others(ranges: Ranges) -> Ranges:
    found, start = [], 1
    for low, high in ranges:
        if start < low:
            found.append((start, low - 1))
        start = high + 1
    if start <= _LAST:
        found.append((start, _LAST))
    return tuple(found)
