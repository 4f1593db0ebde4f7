"""The text of a cell, before it becomes a program: what is IPython's is refused with its line and the way to do it."""

from __future__ import annotations

import io
import re
import tokenize
import warnings
from typing import NamedTuple

from acai_jupyter.contract.errors import BadRequest
from acai_jupyter.contract.foreign import one_line

_TOP_LEVEL_AWAIT = 0x2000
_SHOWN = 60
_BANG = re.compile(r"!{1,2}\s*(?P<command>.*)")
_TO_NAME = re.compile(r"(?P<name>[A-Za-z_][\w\[\]'\"., ]*?)\s*=\s*(?P<sign>[!%])(?P<command>.*)")
_MAGIC = re.compile(r"%{1,2}(?P<name>[A-Za-z_]\w*)")
_HELP = re.compile(r"\?{1,2}\s*(?P<before>[\w.%*]+)|(?P<name>%{0,2}[A-Za-z_][\w.*]*(?:\[\d+\])?)\?{1,2}\Z")
_QUOTED_CALL = re.compile(r"[,;/]\s*[A-Za-z_][\w.]*")
_WORDS = re.compile(r"(?P<name>cd|pip|conda|mamba|uv|cat|mkdir|rm|cp|mv|ls)\s+[\w./~-]")
_INSTEAD = {
    "matplotlib": "leave it out, figures are shown without it",
    "autoreload": "leave it out, every job starts anew",
    "load_ext": "leave it out, a job has no notebook",
    "bash": "run it with subprocess.run(['bash', '-c', …], check=True)",
    "sh": "run it with subprocess.run(['sh', '-c', …], check=True)",
    "cd": "use os.chdir(…)",
    "pwd": "use os.getcwd()",
    "env": "use os.environ, or --env-var NAME=VALUE",
    "run": "submit the script: %acai submit SCRIPT",
    "time": "measure with time.perf_counter(); the job says how long it took",
    "timeit": "use the module timeit",
    "writefile": "write it with pathlib.Path(…).write_text(…)",
    "who": "use dir()",
}
_INSTALLING = "install it where the kernel runs, before the job is submitted"
_INSTEAD |= dict.fromkeys(("pip", "conda", "mamba", "uv"), _INSTALLING)
_OWN_CELL = "keep what is the notebook's own in another cell"


class Place(NamedTuple):
    """A line of a cell, and what to do instead of what is in it."""

    number: int
    text: str
    instead: str


def check(cell: str) -> None:
    """Refuse what is not plain Python."""
    wrong = _syntax_error(cell)
    if wrong is None:
        return
    lines = cell.splitlines()
    found = [place for place in map(_of_ipython, range(1, len(lines) + 1), lines) if place is not None]
    places = [place for place in found if _begins_statement(lines[: place.number - 1])]
    if places:
        without = list(lines)
        for place in places:
            without[place.number - 1] = _without(lines[place.number - 1])
        other = _syntax_error("\n".join(without))
        first = places[0]
        if other is None or first.text.startswith("%%") or (other.lineno or 1) >= first.number:
            line = f"Line {first.number} '{one_line(first.text[:_SHOWN])}'"
            raise BadRequest(f"{line} is IPython's, and a cell in a job is plain Python: {first.instead}.")
        wrong = other
    raise BadRequest(f"Line {wrong.lineno or 1} is not Python: {one_line(wrong.msg)}.")


def without_ipython(cell: str) -> str:
    """Return a notebook's cell without what only a kernel understands; nothing when that leaves no Python."""
    if _syntax_error(cell) is None:
        return cell
    lines = [_without(line) for line in cell.splitlines()]
    text = "\n".join(lines)
    return text if _syntax_error(text) is None else ""


def _without(line: str) -> str:
    return line if _of_ipython(0, line) is None else f"{line[: len(line) - len(line.lstrip())]}pass"


def _syntax_error(text: str) -> SyntaxError | None:
    """Return what Python does not understand; what it only warns of is for the job to say."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        try:
            compile(text, "cell", "exec", dont_inherit=True, flags=_TOP_LEVEL_AWAIT)
        except SyntaxError as error:
            return error
        except (ValueError, RecursionError, MemoryError, OverflowError) as error:
            return SyntaxError(str(error) or "it is nested too deeply")
    return None


def _of_ipython(number: int, line: str) -> Place | None:
    text = line.strip()
    instead = _instead(text)
    return Place(number, text, instead) if instead else None


def _instead(text: str) -> str:
    """Return what to do instead of a line of IPython's; empty for any other line."""
    if _HELP.match(text):
        return "use help(…)"
    found = _of_command(text) or _of_magic(text)
    if found:
        return found
    if words := _WORDS.match(text):
        return _INSTEAD.get(words["name"], "use the module subprocess")
    return "write the call with its parentheses" if _QUOTED_CALL.match(text) else ""


def _of_command(text: str) -> str:
    if bang := _BANG.match(text):
        return f"use subprocess.run({_quoted(bang['command'])}, shell=True, check=True)"
    kept = _TO_NAME.match(text)
    if kept is None:
        return ""
    if kept["sign"] == "%":
        return _of_magic(f"%{kept['command']}")
    return f"use subprocess.getoutput({_quoted(kept['command'])}).splitlines()"


def _of_magic(text: str) -> str:
    magic = _MAGIC.match(text)
    return _INSTEAD.get(magic["name"], _OWN_CELL) if magic else ""


def _quoted(command: str) -> str:
    short = command.strip()
    return repr(one_line(short)) if len(short) <= _SHOWN else "…"


def _begins_statement(before: list[str]) -> bool:
    """Whether a new statement begins after these lines: they leave no bracket, text or line open."""
    if before and before[-1].rstrip().endswith("\\"):
        return False
    depth = 0
    try:
        for token in tokenize.generate_tokens(io.StringIO("\n".join([*before, ""])).readline):
            if token.type == tokenize.OP:
                depth += (token.string in "([{") - (token.string in ")]}")
    except (tokenize.TokenError, SyntaxError):
        return _is_only_unfinished(before)
    return depth <= 0


def _is_only_unfinished(before: list[str]) -> bool:
    """Lines of IPython's can leave quotes open themselves: without them nothing may be open."""
    own = [line for line in before if _of_ipython(0, line) is None]
    return len(own) < len(before) and _begins_statement(own)
