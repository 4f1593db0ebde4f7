"""What whoever asks may not see: every query of theirs reads tables from which it is left out.

While a thread works for somebody to whom something is closed, each SELECT gets a WITH clause in front in which those
tables are named anew without it: what is asked cannot find it, whichever question it is. Who may see all, and loops,
pay nothing: their statements are not touched. What has to know the whole truth, as the next number of a path, says so
with `everything`.
"""

from __future__ import annotations

import re
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass, field, replace
from functools import lru_cache
from typing import TYPE_CHECKING, Any

from acai_jupyter.contract.errors import NotAllowed

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator

    from sqlalchemy.engine import Engine


@dataclass
class Opened:
    """What a request looked into; of that the restricted is written down."""

    sets: dict[int, str] = field(default_factory=dict)
    jobs: dict[int, int] = field(default_factory=dict)
    paths: dict[str, None] = field(default_factory=dict)


@dataclass(frozen=True)
class Sight:
    """What of a project's restrictions concerns one of its users. A project without any has none."""

    unseen: tuple[int, ...] = ()
    """The restrictions behind which they see nothing."""
    closed_sets: frozenset[str] = frozenset()
    closed_folders: tuple[str, ...] = ()
    """Where they may not write, though their role may."""
    opened: Opened = field(default_factory=Opened, compare=False)


_SIGHT: ContextVar[Sight | None] = ContextVar("acai_sight", default=None)


def seeing(sight: Sight | None, work: Callable[..., Any], *arguments: Any) -> Any:
    """Do some work as somebody sees it."""
    if sight is None:
        return work(*arguments)
    token = _SIGHT.set(sight)
    try:
        return work(*arguments)
    finally:
        _SIGHT.reset(token)


@contextmanager
def everything() -> Iterator[None]:
    """See all meanwhile: for what is decided by what is there, and not shown. Not across a `yield` of a generator."""
    sight = _SIGHT.get()
    if sight is None or not sight.unseen:
        yield
        return
    token = _SIGHT.set(replace(sight, unseen=(), opened=Opened()))
    try:
        yield
    finally:
        _SIGHT.reset(token)


def unseen() -> tuple[int, ...]:
    """Return the restrictions behind which whoever asks sees nothing."""
    sight = _SIGHT.get()
    return () if sight is None else sight.unseen


def opened() -> Opened | None:
    """Return where to note what is looked into; none where nothing is restricted."""
    sight = _SIGHT.get()
    return None if sight is None else sight.opened


def look_into(paths: Iterable[str]) -> None:
    """Note files that are shown or handed out."""
    noted = opened()
    if noted is not None:
        noted.paths |= dict.fromkeys(paths)


def must_see_all() -> None:
    """Refuse what tells of all of a project to who does not see all of it."""
    if unseen():
        raise NotAllowed("This tells of all that is in the project, and some of it is restricted. Ask an admin.")


def refuse_set(name: str) -> None:
    """Refuse to write a file set that is closed to whoever asks; whether it is there is not said."""
    sight = _SIGHT.get()
    if sight is not None and name in sight.closed_sets:
        raise NotAllowed(f"You may not write file sets of the name '{name}'. Take another name, or ask an admin.")


def refuse_paths(paths: Iterable[str]) -> None:
    """Refuse to write files in folders that are closed to whoever asks."""
    sight = _SIGHT.get()
    if sight is None or not sight.closed_folders:
        return
    for path in paths:
        folder = next((one for one in sight.closed_folders if path.startswith(one)), None)
        if folder is not None:
            raise NotAllowed(f"You may not write below '{folder}'. Take another folder, or ask an admin.")


def refuse_folder(folder: str) -> None:
    """Refuse to write anywhere below a folder, of which a part may be closed to whoever asks."""
    sight = _SIGHT.get()
    below = folder.rstrip("/") + "/"
    for closed in () if sight is None else sight.closed_folders:
        if closed.startswith(below) or below.startswith(closed):
            raise NotAllowed(f"You may not write all that is below '{below}'. Take another folder, or ask an admin.")


# -- the tables as they are read

_VERSIONS = "SELECT q.file_set_version_id FROM restricted_version q WHERE q.restriction_id IN ({u}) AND NOT q.is_lifted"
_JOBS = "SELECT q.job_id FROM restricted_job q WHERE q.restriction_id IN ({u})"
_SESSIONS = "SELECT q.session_id FROM restricted_session q WHERE q.restriction_id IN ({u})"
_ACTIONS = f"""SELECT g.id FROM {{s}}.action g WHERE g.job_id IN ({_JOBS})
    UNION SELECT g.action_id FROM {{s}}.action_output g WHERE g.file_set_version_id IN ({_VERSIONS})"""
_NAMES = f"SELECT h.file_set_id FROM {{s}}.file_set_version h WHERE h.id IN ({_VERSIONS})"
_SEEN = f"FROM {{s}}.file_set_version w WHERE w.file_set_id = n.id AND w.id NOT IN ({_VERSIONS})"
_EDGE = f"x.file_set_version_id NOT IN ({_VERSIONS}) AND x.action_id NOT IN ({_ACTIONS})"
_IN_OPEN_FOLDER = """NOT EXISTS (SELECT 1 FROM restriction q WHERE q.id IN ({u})
        AND q.kind = 'folder' AND substr(x.path, 1, length(q.name)) = q.name)"""
_FILES = f"""SELECT 1 FROM {{s}}.file_version v JOIN {{s}}.file x ON x.id = v.file_id
        WHERE v.id = a.subject_id AND v.session_id NOT IN ({_SESSIONS}) AND {_IN_OPEN_FOLDER}"""
_IS_OF_OPEN_THING = f"""CASE k.subject_kind WHEN 'job' THEN a.subject_id NOT IN ({_JOBS})
        WHEN 'file_set' THEN a.subject_id NOT IN ({_VERSIONS}) ELSE EXISTS ({_FILES}) END"""
_TABLES = {
    "file": f"SELECT * FROM {{s}}.file x WHERE {_IN_OPEN_FOLDER}",
    "file_version": f"SELECT * FROM {{s}}.file_version x WHERE x.session_id NOT IN ({_SESSIONS})",
    "file_set_version": f"SELECT * FROM {{s}}.file_set_version x WHERE x.id NOT IN ({_VERSIONS})",
    "file_set": f"""SELECT n.id, n.project_id, n.name, n.role,
        CASE WHEN n.id IN ({_NAMES}) THEN (SELECT max(w.number) {_SEEN}) ELSE n.last END AS last,
        CASE WHEN n.id IN ({_NAMES}) THEN coalesce((SELECT max(w.number) {_SEEN} AND w.deleted_at IS NULL), 0)
        ELSE n.latest END AS latest
        FROM {{s}}.file_set n WHERE n.id NOT IN ({_NAMES}) OR EXISTS (SELECT 1 {_SEEN})""",
    "file_set_alias": f"""SELECT * FROM {{s}}.file_set_alias x WHERE NOT EXISTS (SELECT 1 FROM {{s}}.file_set_version w
        WHERE w.file_set_id = x.file_set_id AND w.number = x.number AND w.id IN ({_VERSIONS}))""",
    "file_set_link": f"""SELECT * FROM {{s}}.file_set_link x
        WHERE (x.source_id NOT IN ({_NAMES}) AND x.target_id NOT IN ({_NAMES})) OR EXISTS (
        SELECT 1 FROM {{s}}.file_set_version a JOIN {{s}}.action_input i ON i.file_set_version_id = a.id
        JOIN {{s}}.action_output o ON o.action_id = i.action_id
        JOIN {{s}}.file_set_version b ON b.id = o.file_set_version_id
        WHERE a.file_set_id = x.source_id AND b.file_set_id = x.target_id AND i.action_id NOT IN ({_ACTIONS})
        AND a.id NOT IN ({_VERSIONS}) AND b.id NOT IN ({_VERSIONS}))""",
    "action": f"SELECT * FROM {{s}}.action x WHERE x.id NOT IN ({_ACTIONS})",
    "action_input": f"SELECT * FROM {{s}}.action_input x WHERE {_EDGE}",
    "action_output": f"SELECT * FROM {{s}}.action_output x WHERE {_EDGE}",
    # What was made of sets that are hidden would name them.
    "action_sources": f"""SELECT * FROM {{s}}.action_sources x WHERE x.action_id NOT IN (
        SELECT i.action_id FROM {{s}}.action_input i WHERE i.file_set_version_id IN ({_VERSIONS}))""",
    "job": f"SELECT * FROM {{s}}.job x WHERE x.id NOT IN ({_JOBS})",
    "profiling": f"""SELECT * FROM {{s}}.profiling x WHERE NOT EXISTS (SELECT 1 FROM {{s}}.attribute_label l
        JOIN {{s}}.attribute_key k ON k.id = l.key_id AND k.project_id = x.project_id AND k.subject_kind = 'job'
        WHERE l.label = 'profile-' || x.number AND l.subject_id IN ({_JOBS}))""",
    "attribute_key": f"""SELECT * FROM {{s}}.attribute_key k WHERE
        EXISTS (SELECT 1 FROM {{s}}.attribute a WHERE a.key_id = k.id AND {_IS_OF_OPEN_THING})
        OR EXISTS (SELECT 1 FROM {{s}}.attribute_label a WHERE a.key_id = k.id AND {_IS_OF_OPEN_THING})""",
    # Nobody leans on another's bytes who may not see all: what the server has already would tell what is hidden.
    "object": """SELECT x.id, x.project_id, x.session_id, x.key, x.size_bytes, x.sha256,
        CAST(NULL AS TIMESTAMP) AS checked_at, x.emptied_at, x.suspected_at FROM {s}.object x""",
}
"""What stands for each table: `u` are the restrictions, `s` is where the tables themselves are."""
_MENTIONED = re.compile(r'(?<![\w.])"?(' + "|".join(sorted(_TABLES, key=len, reverse=True)) + r')"?(?!\w)')
_BEGIN = re.compile(r"\s*(?:(WITH\s+RECURSIVE|WITH|SELECT)\b)", re.IGNORECASE)
_WRITES = re.compile(r"\b(INSERT|UPDATE|DELETE)\b", re.IGNORECASE)


def as_seen(sql: str, schema: str | None) -> str:
    """Return a statement as whoever asks is to be answered."""
    sight = _SIGHT.get()
    if sight is None or not sight.unseen:
        return sql
    return _as_seen(sql, schema or "main", sight.unseen)


@lru_cache(maxsize=2048)
def _as_seen(sql: str, schema: str, restrictions: tuple[int, ...]) -> str:
    begin = _BEGIN.match(sql)
    if begin is None or _WRITES.search(sql):  # what locks rows has found them before
        return sql
    given = {"s": schema, "u": ", ".join(map(str, restrictions))}
    tables = dict.fromkeys(_MENTIONED.findall(sql))
    if not tables:
        return sql
    named = ", ".join(f"{name} AS NOT MATERIALIZED ({_TABLES[name].format_map(given)})" for name in tables)
    word, rest = begin[1].upper(), sql[begin.end(1) :]
    if word == "SELECT":
        return f"WITH {named} SELECT{rest}"
    return f"{' '.join(word.split())} {named}, {rest.lstrip()}"


def listen(engine: Engine) -> None:
    """Let what goes through an engine be asked as whoever asks sees it."""
    from sqlalchemy import event

    def rewrite(connection: Any, _cursor: Any, statement: str, parameters: Any, *_more: Any) -> tuple[str, Any]:
        return as_seen(statement, connection.dialect.default_schema_name), parameters

    event.listen(engine, "before_cursor_execute", rewrite, retval=True)
