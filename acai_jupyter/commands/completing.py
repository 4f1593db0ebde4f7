"""What a begun line may go on with: verbs, options, sets, paths, jobs, keys of queries. Never late, never an error."""

from __future__ import annotations

import re
import threading
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

from acai_jupyter.client.http import Client
from acai_jupyter.commands import line_words, verbs
from acai_jupyter.commands.metadata import KINDS
from acai_jupyter.contract import endpoints
from acai_jupyter.contract.errors import BadQuery
from acai_jupyter.contract.files import ChildKind
from acai_jupyter.contract.query.builtin import SubjectKind, is_reserved
from acai_jupyter.contract.query.parser import parse
from acai_jupyter.contract.specs import encode_path
from acai_jupyter.contract.states import END_STATES

if TYPE_CHECKING:
    import argparse
    from collections.abc import Callable, Iterable, Sequence

PATIENCE_SECONDS = 0.3
MOST = 1000
OF_SETS = {"SET", "SPEC", "THING", "A", "B", "NAME"}
OF_KEYS = {"QUERY", "KEY,KEY"}
OF_CHANGES = "CHANGE"
OF_JOBS = {"N"}
OF_VARIABLES = {"VARS"}
HERE = {"SRC", "FILE", "FOLDER", "SCRIPT"}
"""What stands for a file or folder here."""
OF_HERE_TOO = {"get", "export"}
"""Verbs whose DEST or FILE is a place here."""
NOT_SETS = {"handle", "secret"}
"""Names of something else."""
NEWEST = 50
"""So many jobs are offered."""
_WORD = re.compile(r"""((?:[^\s"']|"[^"]*(?:"|\Z)|'[^']*(?:'|\Z))+)(\s*)""")
_KEY = re.compile(r"[A-Za-z_][A-Za-z0-9_.-]*\Z")
_one_at_a_time = threading.Lock()


class Completions(NamedTuple):
    """What stands at the end of the line, and what may stand in its place."""

    begun: str = ""
    found: tuple[str, ...] = ()


class Line(NamedTuple):
    """The words of a line, without quotes, and the one that is begun, as it was typed."""

    words: list[str]
    begun: str


def complete(
    text: str, client: Callable[[], Client] = Client, variables: Iterable[str] = (), *, of_cell: bool = False
) -> Completions:
    """Return how the line after `acai` may go on; nothing when the server takes too long or fails.

    `variables` are those of the notebook. `of_cell` says that it is a cell's line, which stands after `%%acai`.
    """
    if not _one_at_a_time.acquire(blocking=False):  # one that hangs is not followed by more
        return Completions()
    answers: list[Completions] = []
    known = tuple(variables)

    def work() -> None:
        try:
            answers.append(candidates(text, client, known, of_cell=of_cell))
        except Exception:  # noqa: BLE001 (whoever presses a key is not to be told what is wrong elsewhere)
            answers.append(Completions())
        finally:
            _one_at_a_time.release()

    thread = threading.Thread(target=work, name="acai-complete", daemon=True)
    thread.start()
    thread.join(PATIENCE_SECONDS)
    return answers[0] if answers else Completions()


def candidates(
    text: str, client: Callable[[], Client], variables: Sequence[str] = (), *, of_cell: bool = False
) -> Completions:
    """Return how the line may go on."""
    words, begun = split(text)
    name, rest = _verb_of_cell(words) if of_cell else _verb(words[line_words.after_common(words) :])
    if name is None:
        return Completions(begun, _fitting(_first_words(rest) if of_cell else _next_words(rest), begun))
    parser = verbs.OF_CELLS[name]() if of_cell else _parser(name)
    if begun.startswith("-"):
        return Completions(begun, _fitting(parser._option_string_actions, begun))  # noqa: SLF001 (it has no other way to tell)
    action = _action(parser, rest)
    if action is None or action.dest == "project":
        return Completions()
    if action.choices:
        return Completions(begun, _fitting(map(str, action.choices), begun))
    if action.metavar in OF_VARIABLES:
        return _variables(begun, variables)
    return _values(action, [name, *rest], begun, client)


def _values(action: argparse.Action, words: Sequence[str], begun: str, client: Callable[[], Client]) -> Completions:
    if (action.type is None and action.metavar in HERE) or (action.metavar == "DEST" and words[0] in OF_HERE_TOO):
        return _here(begun)
    if action.metavar in OF_JOBS and action.dest.startswith("number"):
        return _jobs(begun, words, client)
    if begun.startswith("/") and "@" not in begun and (action.metavar in OF_SETS or action.metavar in ("PATH", "DEST")):
        return _paths(begun, client)
    if action.metavar in OF_KEYS:
        kind = next((KINDS[word] for word in words if word in KINDS), None)
        return _keys(kind, begun, client) if kind else Completions()
    if action.metavar == OF_CHANGES:
        return _changes(_kind(words[1:]), begun, client)
    return _sets(begun, client) if action.metavar in OF_SETS and action.dest not in NOT_SETS else Completions()


def split(text: str) -> Line:
    """Split a line that is not at its end yet: quotes may be open."""
    found = list(_WORD.finditer(text.lstrip()))
    is_open = bool(found) and not found[-1][2]
    words = [one[1].replace('"', "").replace("'", "") for one in found]
    return Line(words[:-1], found[-1][1]) if is_open else Line(words, "")


def _verb(words: Sequence[str]) -> tuple[str | None, Sequence[str]]:
    lengths = (length for length in (2, 1) if " ".join(words[:length]) in verbs.VERBS)
    length = next(lengths, 0)
    return (" ".join(words[:length]), words[length:]) if length else (None, words)


def _verb_of_cell(words: Sequence[str]) -> tuple[str | None, Sequence[str]]:
    return (words[0], words[1:]) if words and words[0] in verbs.OF_CELLS else (None, words)


def _first_words(words: Sequence[str]) -> Iterable[str]:
    """What may follow `%%acai`."""
    return () if words else verbs.OF_CELLS


def _next_words(words: Sequence[str]) -> Iterable[str]:
    """The verbs, or after the first word of some of them the second."""
    split_names = [name.split() for name in verbs.VERBS]
    return dict.fromkeys(
        name[len(words)] for name in split_names if len(name) > len(words) and name[: len(words)] == [*words]
    )


def _parser(name: str) -> argparse.ArgumentParser:
    parser = verbs.Parser(prog=name)
    verbs.add_common(parser)
    verbs.VERBS[name].arguments(parser)
    return parser


def _action(parser: argparse.ArgumentParser, rest: Sequence[str]) -> argparse.Action | None:
    """Return what the next word is the value of."""
    options = parser._option_string_actions  # noqa: SLF001 (it has no other way to tell)
    positional = [one for one in parser._actions if not one.option_strings]  # noqa: SLF001 (the same)
    waiting: argparse.Action | None = None
    given = 0
    for word in rest:
        if word in options and (waiting is None or waiting.nargs == "+"):
            waiting = options[word] if options[word].nargs in (None, "+") else None
        elif waiting is None:
            given += 1
        elif waiting.nargs != "+":
            waiting = None
    if waiting is not None:
        return waiting
    if given < len(positional):
        return positional[given]
    return positional[-1] if positional and positional[-1].nargs in ("*", "+") else None


def _keys(kind: SubjectKind, begun: str, client: Callable[[], Client]) -> Completions:
    query = begun[1:] if begun[:1] in ("'", '"') else begun
    if begun[:1] == '"' and query.count("'") % 2:  # inside of a text
        return Completions()
    match = _KEY.search(query)
    prefix = match[0] if match else ""
    following = _following(query.removesuffix(prefix))
    if following:
        return Completions(prefix, _fitting(following, prefix.lower()))
    return Completions(prefix, _known(kind, prefix, client))


def _known(kind: SubjectKind, prefix: str, client: Callable[[], Client]) -> tuple[str, ...]:
    asked = {"kind": kind.value, "prefix": prefix, "limit": MOST}
    return tuple(one.key for one in client().call(endpoints.LIST_KEYS, query=asked).keys)


def _following(before: str) -> tuple[str, ...]:
    """Return what may stand where a condition, or an order, has ended."""
    if not before.strip() or before[-1] not in " )":
        return ()
    words = {"and": "has(a)", "or": "has(a)", "order by": "a", "limit": "1"}
    return tuple(word for word, rest in words.items() if _is_query(before) and _is_query(f"{before} {word} {rest}"))


def _is_query(text: str) -> bool:
    try:
        parse(text, datetime.now(UTC))
    except BadQuery:
        return False
    return True


def _changes(kind: SubjectKind, begun: str, client: Callable[[], Client]) -> Completions:
    """Keys that can be set; what stands behind the '=' nobody knows."""
    if begun and not _KEY.fullmatch(begun):
        return Completions()
    return Completions(begun, tuple(f"{key}=" for key in _known(kind, begun, client) if not is_reserved(key)))


def _kind(words: Sequence[str]) -> SubjectKind:
    """What the things of `tag` are, by the first: a job's number, a path, a set; with `--where` it says so."""
    thing = next((word for word in words if not word.startswith("-")), "")
    if "--where" in words and thing in KINDS:
        return KINDS[thing]
    if thing.isdigit():
        return SubjectKind.JOB
    return SubjectKind.FILE if thing.startswith("/") else SubjectKind.FILE_SET


def _sets(begun: str, client: Callable[[], Client]) -> Completions:
    """Names of sets; behind a ':' their aliases and versions."""
    folder, at, ref = begun.rpartition("@")
    if not at and begun.startswith("/"):
        return Completions()
    name, colon, version = ref.partition(":")
    if not colon:
        page = client().call(endpoints.LIST_FILE_SETS, query={"after": _before(name), "limit": MOST})
        return Completions(begun, tuple(folder + at + one for one in _fitting((s.name for s in page.file_sets), name)))
    versions = client().call(endpoints.LIST_FILE_SET_VERSIONS, query={"limit": MOST}, ref=name).file_sets
    living = [one for one in versions if one.deleted_at is None]
    known = ["latest", *(alias for one in living for alias in one.aliases), *(str(one.version) for one in living)]
    return Completions(begun, tuple(f"{folder}{at}{name}:{one}" for one in _fitting(known, version)))


def _paths(begun: str, client: Callable[[], Client]) -> Completions:
    """Files and folders of the project."""
    folder, _, name = begun.rpartition("/")
    page = client().call(endpoints.LIST_FOLDER, query={"path": f"{folder}/"})
    children = (encode_path(one.name) + ("/" if one.kind is ChildKind.FOLDER else "") for one in page.children)
    return Completions(begun, tuple(f"{folder}/{one}" for one in _fitting(children, name)))


def _here(begun: str) -> Completions:
    """Files and folders of this machine."""
    folder, slash, name = begun.rpartition("/")
    place = Path(f"{folder}{slash}" or ".").expanduser()
    names = (one.name + ("/" if one.is_dir() else "") for one in sorted(place.iterdir()))
    shown = (one for one in names if name.startswith(".") or not one.startswith("."))
    return Completions(begun, tuple(f"{folder}{slash}{one}" for one in _fitting(shown, name)))


def _jobs(begun: str, words: Sequence[str], client: Callable[[], Client]) -> Completions:
    """Numbers of jobs, the newest first; those that are there to be ended only while they live."""
    found = client().call(endpoints.LIST_JOBS, query={"limit": NEWEST}).jobs
    some = (one for one in found if words[0] != "kill" or one.state not in END_STATES)
    return Completions(begun, _fitting((str(one.number) for one in some if str(one.number) not in words), begun))


def _variables(begun: str, variables: Sequence[str]) -> Completions:
    """Names of a notebook's own variables, behind the last comma."""
    before, comma, name = begun.rpartition(",")
    own = (one for one in variables if name.startswith("_") or not one.startswith("_"))
    return Completions(begun, tuple(f"{before}{comma}{one}" for one in _fitting(own, name)))


def _before(name: str) -> str:
    """A text that stands before all names that begin so, and behind nearly all others."""
    return f"{name[:-1]}{chr(ord(name[-1]) - 1)}~" if name and name.isascii() else ""


def _fitting(known: Iterable[str], begun: str) -> tuple[str, ...]:
    return tuple(one for one in known if one.startswith(begun))
