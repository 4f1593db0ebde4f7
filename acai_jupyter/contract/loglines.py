"""The lines that an agent and a program speak in, among the ordinary lines of a log.

Marked lines carry what the agent has to say: a record separator, the word ACAI, the attempt's key and a JSON object.
They are advisory, as the program can print too, and are cut out of the log exactly, wherever they stand.
Standard library only, Python 3.8: the agent carries this file.
"""

import json
import re
from numbers import Real
from typing import Any, Callable, Dict, List, Optional, Set, Tuple

MARK = b"\x1eACAI "
_HELD = 64 * 1024


def marked(key: str, said: Dict[str, Any]) -> bytes:
    """Write one marked line."""
    return MARK + key.encode() + b" " + json.dumps(said, separators=(",", ":")).encode() + b"\n"


def split(data: bytes, key: str) -> Tuple[bytes, List[Dict[str, Any]], int]:
    """Part what a program printed from what its agent said.

    Returns the program's bytes, what was said, and how much of `data` was used: a marked line whose end has not
    arrived yet is left for the next call.
    """
    start = MARK + key.encode() + b" "
    plain: List[bytes] = []
    said: List[Dict[str, Any]] = []
    position = 0
    while True:
        found = data.find(start, position)
        if found < 0:
            used = len(data) - _half_mark(data, position, start)
            plain.append(data[position:used])
            return b"".join(plain), said, used
        end = data.find(b"\n", found)
        if end < 0 and len(data) - found < _HELD:
            plain.append(data[position:found])
            return b"".join(plain), said, found
        end = len(data) - 1 if end < 0 else end
        plain.append(data[position:found])
        said.extend(_object(data[found + len(start) : end]))
        position = end + 1


def _half_mark(data: bytes, position: int, start: bytes) -> int:
    """How many bytes at the end may be the beginning of a mark."""
    for length in range(min(len(start) - 1, len(data) - position), 0, -1):
        if data.endswith(start[:length]):
            return length
    return 0


def _object(text: bytes) -> List[Dict[str, Any]]:
    try:
        value = json.loads(text)
    except (ValueError, RecursionError):  # a program can print such lines too
        return []
    return [value] if isinstance(value, dict) else []


_KEY = re.compile(r"[A-Za-z_][A-Za-z0-9_.-]{0,127}\Z")
_WORDS = ("ACAI_TAG", "ACAI_TAG_NUM")
_ESCAPES = {"n": "\n", "r": "\r"}
_TAG = re.compile(r"\[(ACAI_TAG|ACAI_TAG_NUM)\] +(\S+) +([^\s:]+):(.*)\Z", re.DOTALL)
TAG_MARK = "\x1e"
"""What `tag_lines` puts before each line: so marked, a tag counts also where the line before has no end."""
_MARKED = TAG_MARK + "[ACAI_TAG"
_ALMOST = re.compile(r"(\[\s*|^\s*)ACAI[_ -]?TAG", re.IGNORECASE)
MAX_TAG_VALUE = 500
MAX_MISSES = 100
MAX_KEYS = 1000
"""So many attributes a program can give its job, and as many its output set: one that runs away gives no more."""


def tag_lines(key: str, value: object) -> str:
    """Write the lines that attach an attribute to a job and to its output file set."""
    if not _KEY.match(key):
        raise ValueError(
            "a tag's name starts with a letter and has at most 128 letters, digits, '_', '.' and '-': %r" % key
        )
    value = _plain(value)
    is_number = isinstance(value, Real) and not isinstance(value, bool)
    word = "ACAI_TAG_NUM" if is_number else "ACAI_TAG"
    text = str(value).replace("\\", "\\\\").replace("\n", "\\n").replace("\r", "\\r")
    text = text.replace(_MARKED, TAG_MARK + "\\" + _MARKED[1:])
    return "".join("{}[{}] {} {}:{}\n".format(TAG_MARK, word, place, key, text) for place in ("fileset", "job"))


def _plain(value: Any) -> Any:
    """Return what a tensor or an array of one value holds; numpy's own numbers are numbers, with fewer digits."""
    item = getattr(value, "item", None)
    if isinstance(value, Real) or not callable(item):
        return value
    try:
        return item()
    except (TypeError, ValueError, RuntimeError):  # it holds several
        return value


def tags(log: str, output: str) -> Dict[str, Dict[str, Any]]:
    """Read the tag lines of a whole log: attributes for the job and for its output file set."""
    reader = TagReader(output)
    reader.feed(log + "\n")
    return reader.found


def _is_free(place: str, key: str) -> bool:
    del place, key
    return False


class TagReader:
    r"""Reads tag lines as a log arrives. Of a key the last counts.

    A line is `[ACAI_TAG] PLACE KEY:VALUE`, or `[ACAI_TAG_NUM]` for a number. It begins with the bracket, or with a
    record separator before it (`TAG_MARK`), which ends what stands before that in the line. PLACE is `fileset` or the
    output set's name, or `job`; KEY ends at the first colon, so that VALUE may have colons and spaces, which all count.
    In VALUE `\n` is a new line, `\r` a carriage return; a backslash before anything else is dropped. `misses` says of
    lines that look like tags and are none why.
    """

    def __init__(self, output: str = "", is_taken: Callable[[str, str], bool] = _is_free) -> None:
        self.found: Dict[str, Dict[str, Any]] = {"fileset": {}, "job": {}}
        self.misses: List[str] = []
        self._keys: Dict[str, Set[str]] = {"fileset": set(), "job": set()}
        self._output = output
        self._is_taken = is_taken
        self._line = 0
        """How many have ended."""
        self._held = ""

    def feed(self, text: str) -> None:
        """Take the next piece; a line counts when it has ended."""
        text = self._held + text
        if "ACAI" not in text and "acai" not in text:  # as most of most logs
            self._line += text.count("\n")
            self._held = _cut(text[text.rfind("\n") + 1 :])
            return
        *lines, last = text.split("\n")
        for line in lines:
            if "ACAI" in line or "acai" in line:
                self._read_parts(_parts(line))
            self._line += 1
        *ended, last = _parts(last)
        self._read_parts(ended)
        self._held = _cut(last)

    def _read_parts(self, parts: List[str]) -> None:
        for part in parts:
            self._read(part.rstrip("\r"))

    def _read(self, line: str) -> None:
        match = _TAG.match(line)
        if match is None:
            if _ALMOST.search(line):
                self._miss(line, _fault(line))
            return
        word, place, key, text = match.groups()
        if place not in self.found and place and place == self._output:
            place = "fileset"
        value = _tag_value(word, text)
        faults = (
            (place not in self.found, "'%s' is neither fileset, job nor the name of the output set" % place[:80]),
            (not _KEY.match(key), "'%s' is no key: letters, digits, '_', '.' and '-', at most 128" % key[:80]),
            (value is None, "'%s' is no number" % text[:80]),
            (isinstance(value, str) and len(value) > MAX_TAG_VALUE, "its value has more than 500 characters"),
            (isinstance(value, str) and "\0" in value, "its value has a NUL character"),
            (self._is_taken(place, key), "the system gives '%s' itself" % key[:80]),
        )
        fault = next((reason for is_so, reason in faults if is_so), None) or self._too_many(place, key)
        if fault is None:
            self._keys[place].add(key)
            self.found[place][key] = value
        else:
            self._miss(line, fault)

    def _too_many(self, place: str, key: str) -> Optional[str]:
        """What is wrong with one more key; `found` may be emptied meanwhile by who reads it."""
        known = self._keys[place]
        return None if key in known or len(known) < MAX_KEYS else "a %s is given %d attributes only" % (place, MAX_KEYS)

    def _miss(self, line: str, reason: str) -> None:
        if len(self.misses) < MAX_MISSES:
            self.misses.append("line %d looks like a tag but %s: %s" % (self._line + 1, reason, _shown(line)))


def _parts(line: str) -> List[str]:
    """Cut a line before each marked tag, without the marks."""
    first, *tags = line.split(_MARKED)
    return [first, *(_MARKED[1:] + tag for tag in tags)]


def _cut(line: str) -> str:
    """What is held of a line that has not ended; its end may be the beginning of a marked tag, however long it is."""
    return line if len(line) <= _HELD else line[: _HELD - len(_MARKED)] + line[-len(_MARKED) :]


def _shown(line: str) -> str:
    return "".join(c if c.isprintable() else " " for c in line.strip()[:120])


def _fault(line: str) -> str:
    """Why a line that looks like a tag is none."""
    if not line.startswith("["):
        return "something stands before it" if "[" in line else "it does not begin with a bracket"
    word, closed, rest = line[1:].partition("]")
    if not closed or word not in _WORDS:
        return "it begins with neither [ACAI_TAG] nor [ACAI_TAG_NUM]"
    place, _, said = rest.strip().partition(" ")
    if not rest.startswith(" ") or not place or not said:
        return "it is not followed by fileset or job, a space, a key and a colon"
    if ":" not in said:
        return "there is no colon between key and value"
    return "there is no key before the colon"


def _tag_value(word: str, text: str) -> Any:
    """The value of a tag line; None for a number that is not one."""
    if word == "ACAI_TAG":
        return re.sub(r"\\(.)", lambda m: _ESCAPES.get(m[1], m[1]), text, flags=re.DOTALL)
    try:
        number = float(text)
    except ValueError:
        return None
    return number if number - number == 0 else None
