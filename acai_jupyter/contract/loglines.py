"""The lines that an agent and a program speak in, among the ordinary lines of a log.

Marked lines carry what the agent has to say: a record separator, the word ACAI, the attempt's key and a JSON object.
They are advisory, as the program can print too, and are cut out of the log exactly, wherever they stand.
Standard library only, Python 3.8: the agent carries this file.
"""

import json
import re
from typing import Any, Dict, List, Tuple

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
    except ValueError:
        return []
    return [value] if isinstance(value, dict) else []


def tag_lines(key: str, value: object) -> str:
    """Write the lines that attach an attribute to a job and to its output file set."""
    if not re.match(r"[A-Za-z_][A-Za-z0-9_.-]*\Z", key):
        raise ValueError("a tag's name starts with a letter and has letters, digits, '_', '.' and '-' only: %r" % key)
    number = isinstance(value, (int, float)) and not isinstance(value, bool)
    word = "ACAI_TAG_NUM" if number else "ACAI_TAG"
    text = str(value).replace("\\", "\\\\").replace("\n", "\\n")
    return "".join("[{}] {} {}:{}\n".format(word, place, key, text) for place in ("fileset", "job"))


_TAG = re.compile(r"^\[(ACAI_TAG|ACAI_TAG_NUM)\] (\S+) ([A-Za-z_][A-Za-z0-9_.-]*):(.*)$", re.MULTILINE)


def tags(log: str, output: str) -> Dict[str, Dict[str, Any]]:
    """Read the tag lines of a log: attributes for the job and for its output file set, the last of a key counts."""
    found: Dict[str, Dict[str, Any]] = {"fileset": {}, "job": {}}
    for match in _TAG.finditer(log):
        word, place, key, text = match.groups()
        value = _tag_value(word, text.rstrip("\r"))
        place = "fileset" if place not in found and output and place == output else place
        if place in found and value is not None:
            found[place][key] = value
    return found


def _tag_value(word: str, text: str) -> Any:
    """The value of a tag line; None for a number that is not one."""
    if word == "ACAI_TAG":
        return re.sub(r"\\(.)", lambda m: "\n" if m[1] == "n" else m[1], text)
    try:
        number = float(text)
    except ValueError:
        return None
    return number if number - number == 0 else None
