"""`tag`, `find`, `jobs`: attributes of things, and things by attributes."""

from __future__ import annotations

import math
import re
from dataclasses import replace as replace_result
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any

import msgspec
from msgspec.structs import replace

from acai_jupyter.client import searches
from acai_jupyter.commands.listings import Listing
from acai_jupyter.commands.missing import TITLES, hints
from acai_jupyter.commands.results import Result
from acai_jupyter.commands.snapshots import of_jobs, project_of
from acai_jupyter.commands.units import ago, duration, money, size
from acai_jupyter.contract import decoding, endpoints
from acai_jupyter.contract.errors import BadRequest
from acai_jupyter.contract.foreign import one_line
from acai_jupyter.contract.metadata import (
    MAX_THINGS,
    Change,
    Changed,
    ChangeMetadata,
    FindThings,
    FoundPage,
    Key,
    Metadata,
    ThingChange,
    Time,
    Value,
)
from acai_jupyter.contract.query.builtin import SubjectKind
from acai_jupyter.contract.query.conditions import Condition
from acai_jupyter.contract.query.parser import parse, read_time
from acai_jupyter.contract.query.tree import keys

if TYPE_CHECKING:
    from argparse import Namespace
    from collections.abc import Sequence

    from acai_jupyter.client.http import Client

KINDS = {"files": SubjectKind.FILE, "filesets": SubjectKind.FILE_SET, "jobs": SubjectKind.JOB}
SHOWN = 100
"""So many are listed when the query has no limit of its own."""
OF_ALL = {
    SubjectKind.FILE: ["created_at", "creator", "size_bytes"],
    SubjectKind.FILE_SET: ["created_at", "creator", "file_count", "size_bytes"],
    SubjectKind.JOB: ["state", "name", "created_at", "creator"],
}
"""What is told of each thing when neither columns nor a query name any key."""
OF_JOBS = ("state", "name", "created_at", "billed_seconds", "cost_usd", "output")
_NUMBER = re.compile(r"[+-]?(\d+(\.\d*)?|\.\d+)([eE][+-]?\d+)?\Z")
_CONDITION = "{'key': …} with 'value', 'range': [from, to], 'regex' or 'best': 'max' or 'min'"
_NO_NUMBER = re.compile(r"[+-]?(nan|inf|infinity)\Z", re.IGNORECASE)
_DATE = re.compile(r"\d{4}-\d{2}-\d{2}(T[\d:.]+(Z|[+-]\d{2}:?\d{2})?)?\Z")


def tag(client: Client, arguments: Namespace) -> Result:
    """Set, delete and show attributes and labels of things."""
    things, words = _parted([arguments.thing, *arguments.words, *arguments.args])
    if arguments.where is not None:
        things = found_by(client, things, arguments.where)
    if arguments.where is not None or len(things) > 1:
        return _tag_many(client, things, words, arguments.expect)
    if words:
        change_many(client, things, thing_change(things[0], words, arguments.expect))
    if arguments.history:
        page = client.call(endpoints.LIST_CHANGES, query={"thing": arguments.thing})
        listing = Listing([[ago(one.at), one.user, _changed(one)] for one in page.changes], "<<<")
        if not listing.rows:
            return Result(f"Nobody has changed anything on {page.thing}.", page, "changes")
        return Result(listing.text, page, "changes", html=listing.html)
    found = client.call(endpoints.GET_METADATA, query={"thing": arguments.thing})
    return Result(_line(found), found, "metadata")


def _parted(words: list[str]) -> tuple[list[str], list[str]]:
    """Part the things, which come first, from the changes."""
    is_thing = [word[:1] == "/" or ("=" not in word and word[:1] not in ("+", "-")) for word in words]
    border = max(1, is_thing.index(False) if False in is_thing else len(words))
    if border == len(words) > 1:
        raise _no_change(words[-1])
    return words[:border], words[border:]


def found_by(client: Client, kinds: list[str], query: str) -> list[str]:
    """Return the things of a kind that a query is true of."""
    if len(kinds) != 1 or kinds[0] not in KINDS:
        raise BadRequest("--where stands with one of files, filesets and jobs: acai tag jobs --where QUERY CHANGE.")
    return [row.thing for row in searches.find(client, request(KINDS[kinds[0]], query)).rows]


def _tag_many(client: Client, things: list[str], words: list[str], expected: list[str]) -> Result:
    if not words:
        raise BadRequest("There is nothing to change: give KEY=VALUE, KEY= (delete), +LABEL or -LABEL.")
    change = thing_change("", words, expected)
    changed = change_many(client, things, change)
    same = len(things) - len(changed)
    text = f"{len(changed):,} changed" + (f", {same:,} were so already" if same else "")
    return Result(text if things else "Nothing found.", Changed(changed), "changed")


def change_many(client: Client, things: Sequence[str], change: ThingChange) -> list[str]:
    """Make the same change on many things; returns those that are different now.

    So many as one request takes are changed all or not at all.
    """
    changed: list[str] = []
    for start in range(0, len(things), MAX_THINGS):
        page = [replace(change, thing=thing) for thing in things[start : start + MAX_THINGS]]
        changed += client.call(endpoints.CHANGE_METADATA, ChangeMetadata(page)).things
    return changed


def find(client: Client, arguments: Namespace) -> Result:
    """Find files, file sets or jobs."""
    chosen = [key for key in (arguments.columns or "").split(",") if key]
    return _listed(client, KINDS[arguments.kind], " ".join(arguments.query), chosen)


def jobs(client: Client, arguments: Namespace) -> Result:
    """List jobs, the newest first, or those that a query is true of."""
    return _listed(client, SubjectKind.JOB, " ".join(arguments.query), list(OF_JOBS))


def request(
    kind: SubjectKind, query: str, chosen: Sequence[str] = (), conditions: Sequence[Condition] = ()
) -> FindThings:
    """Ask as somebody whose clock stands as it does here; a syntax error is said before anything is sent."""
    now = datetime.now().astimezone()
    columns = list(chosen) or keys(parse(query, now)) or ([] if conditions else OF_ALL[kind])
    for key in columns:
        _check_key(key)
    offset = now.utcoffset()
    seconds = int(offset.total_seconds()) if offset else 0
    return FindThings(kind, query, list(conditions), columns, limit=SHOWN, utc_offset_seconds=seconds)


def conditions_of(given: Sequence[dict[str, Any]]) -> list[Condition]:
    """Read the original's list of conditions."""
    return [_condition_of(one, number) for number, one in enumerate(given, 1)]


def _condition_of(given: Any, number: int) -> Condition:
    try:
        return decoding.convert(given, Condition)
    except msgspec.ValidationError as error:
        key = given.get("key") if isinstance(given, dict) else None
        if isinstance(key, str):
            _check_key(key)
        raise BadRequest(reason=f"condition {number} is {given!r:.80}, and one is {_CONDITION}") from error


def thing_change(thing: str, words: Sequence[str], expected: Sequence[str] = ()) -> ThingChange:
    """Read K=V, K= (delete), +LABEL and -LABEL; what is expected is K=V or K= (nothing)."""
    values: dict[str, Value] = {}
    deleted: list[str] = []
    added: list[str] = []
    removed: list[str] = []
    for word in words:
        key, equals, value = word.partition("=")
        if word[:1] in "+-" and len(word) > 1:
            (added if word[0] == "+" else removed).append(word[1:])
        elif not equals or not key:
            raise _no_change(word)
        elif _check_key(key) and value:
            values[key] = value_of(value)
        else:
            deleted.append(key)
    return ThingChange(thing, values, deleted, added, removed, _expected(expected))


def _expected(words: Sequence[str]) -> dict[str, Value | None]:
    parts = [word.partition("=") for word in words]
    for word, (key, equals, _) in zip(words, parts, strict=True):
        if not equals or not key:
            raise BadRequest(f"'{word}' is none of KEY=VALUE and KEY=, which --expect takes.")
        _check_key(key)
    return {key: value_of(value) if value else None for key, _, value in parts}


def _no_change(word: str) -> BadRequest:
    return BadRequest(f"'{word}' is none of KEY=VALUE, KEY= (delete), +LABEL and -LABEL.")


def _check_key(key: str) -> bool:
    try:
        return bool(decoding.convert(key, Key))
    except msgspec.ValidationError as error:
        reason = (
            f"'{key[:80]}' is no key: one starts with a letter and has letters, digits, '_', '.' and '-', at most 128"
        )
        raise BadRequest(reason=reason) from error


def value_of(text: str) -> Value:
    """Read a value as the query language writes it; what is none is a text as it stands."""
    if text in ("true", "false"):
        return text == "true"
    if len(text) > 1 and text[0] == text[-1] == "'":
        return text[1:-1].replace("''", "'")
    if _NUMBER.match(text):
        return _finite(text, float(text)) if re.search(r"[.eE]", text) else int(text)
    if _NO_NUMBER.match(text):
        reason = f"{text} is no number that things can be found by; a text like this stands in quotes: KEY=\"'{text}'\""
        raise BadRequest(reason=reason)
    moment = read_time(text, datetime.now().astimezone()) if _DATE.match(text) else None
    return text if moment is None else Time(moment)


def _finite(key: str, value: float) -> float:
    if not math.isfinite(value):
        raise BadRequest(reason=f"{key} is {value}, which is no number that things can be found by")
    return value


def shown(key: str, value: Value | list[str] | None) -> str:
    """Write a value for people; the built-in units are known by their names."""
    if value is None or isinstance(value, str):
        return one_line(value or "")
    if isinstance(value, list):
        return one_line(", ".join(value))
    if isinstance(value, Time):
        return f"{value.time.astimezone():%Y-%m-%d %H:%M}"
    return str(value).lower() if isinstance(value, bool) else _number(key, value)


def _number(key: str, value: float) -> str:
    for ending, write in (("_bytes", size), ("_seconds", duration), ("_usd", money)):
        if key.endswith(ending):
            return write(value)
    return f"{value:.6g}" if isinstance(value, float) else str(value)


def _listed(client: Client, kind: SubjectKind, query: str, chosen: list[str]) -> Result:
    asked = request(kind, query, chosen)
    parsed = parse(query, datetime.now(UTC))
    has_limit = parsed.limit is not None
    page = searches.find(client, asked, most=None if has_limit else SHOWN)
    if not page.rows:
        return Result(" ".join([f"No {TITLES[kind]} found.", *hints(client, kind, keys(parsed))]), page, "found")
    cells = [[shown(key, v) for key, v in zip(page.columns, row.values, strict=True)] for row in page.rows]
    rows = [[row.thing, *values] for row, values in zip(page.rows, cells, strict=True)]
    more = f"… and more: end the query with 'limit {10 * SHOWN}' to see so many" if page.next else ""
    listing = Listing(rows, _sides(page), [TITLES[kind], *page.columns], rest=more, head_is_shown=True)
    found = Result(listing.text, page, "found", html=listing.html)
    if kind is not SubjectKind.JOB:
        return found
    return replace_result(found, kind="jobs", snapshot=lambda: of_jobs(asked, page, project_of(client)))


def _sides(page: FoundPage) -> str:
    """Numbers stand at the right."""
    first = ">" if page.kind is SubjectKind.JOB else "<"
    kinds = [[row.values[at] for row in page.rows] for at in range(len(page.columns))]
    return first + "".join(">" if all(_is_number(value) for value in column) else "<" for column in kinds)


def _is_number(value: Any) -> bool:
    return value is None or (isinstance(value, int | float) and not isinstance(value, bool))


def _line(found: Metadata) -> str:
    name = f"job {found.thing}" if found.kind is SubjectKind.JOB else found.thing
    parts = [name, *(f"{key} {shown('', value)}" for key, value in found.attributes.items())]
    if found.tags:
        parts.append(f"tags {', '.join(found.tags)}")
    return " · ".join(parts) if len(parts) > 1 else f"{name} has no attributes yet."


def _changed(change: Change) -> str:
    parts = [f"{key}={shown('', value)}" for key, value in change.set.items()]
    parts += [f"{key}=" for key in change.deleted]
    parts += [f"+{label}" for label in change.added_labels] + [f"-{label}" for label in change.removed_labels]
    return " ".join(parts)


def annotation(
    values: dict[str, Any],
    add: Sequence[str],
    remove: Sequence[str],
    delete: Sequence[str],
    expect: dict[str, Any] | None = None,
) -> ThingChange:
    """Read what is given to `acai.annotate`: plain Python values become ours."""
    expect = expect or {}
    for key in (*values, *delete, *expect):
        _check_key(key)
    plain = {key: _of_python(key, value) for key, value in values.items()}
    before = {key: None if value is None else _of_python(key, value) for key, value in expect.items()}
    change = {"thing": "", "delete": delete, "add_labels": add, "remove_labels": remove}
    try:
        checked = decoding.convert(change | {"set": dict.fromkeys(plain, 0)}, ThingChange)
    except msgspec.ValidationError as error:
        raise BadRequest(reason=str(error)) from error
    return replace(checked, set=plain, expect=before)


def _of_python(key: str, value: Any) -> Value:
    if isinstance(value, datetime):
        return Time(value if value.tzinfo else value.astimezone())
    item = getattr(value, "item", None)  # numpy's numbers
    plain = item() if callable(item) else value
    if isinstance(plain, str | int | float | bool):
        return _finite(key, plain) if isinstance(plain, float) else plain
    raise BadRequest(reason=f"{key} is a {type(value).__name__}; a value is a text, number, boolean or time")
