"""The things that attributes stand on: how each kind is named, when it is visible, and its built-in keys in SQL.

In each piece of SQL `e` is the thing's own row; `{join}` keeps the order of tables on SQLite, which would choose its
own without statistics.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from acai_jupyter.contract.metadata import Time, Value
from acai_jupyter.contract.query.builtin import BUILT_IN, SubjectKind, ValueType
from acai_jupyter.contract.specs import encode_path
from acai_server.db import batches

if TYPE_CHECKING:
    from collections.abc import Iterable

    from sqlalchemy.orm import Session

    from acai_jupyter.contract.ids import ProjectId

_USER = "(SELECT name FROM user_account WHERE id = {0}.user_id)"
_NEWER = """(NOT EXISTS (SELECT 1 FROM file_version w JOIN upload_session t ON t.id = w.session_id
    WHERE w.file_id = e.file_id AND w.number > e.number AND t.commit_number IS NOT NULL AND w.deleted_at IS NULL))"""
_ACTION = "action_output o JOIN action a ON a.id = o.action_id"
_LAST = "(SELECT a.{0} FROM attempt a WHERE a.job_id = e.id ORDER BY a.number DESC LIMIT 1)"
_SETS = "JOIN file_set s ON s.id = v.file_set_id"


@dataclass(frozen=True)
class Subjects:
    """One kind of thing. `name` are the columns that its name is made of; `near` lets an equality use an index."""

    tables: str
    visible: str
    name: tuple[str, str]
    keys: dict[str, str]
    near: dict[str, str]


KINDS = {
    SubjectKind.FILE: Subjects(
        "file_version e {join} file f ON f.id = e.file_id {join} upload_session u ON u.id = e.session_id",
        "f.project_id = ? AND u.commit_number IS NOT NULL AND e.deleted_at IS NULL",
        ("f.path", "e.number"),
        {
            "path": "f.path",
            "version": "e.number",
            "latest": _NEWER,
            "created_at": "u.ended_at",
            "creator": _USER.format("u"),
            "size_bytes": "e.size_bytes",
            "sha256": "{hex}",
            "storage": "u.storage",
        },
        {"path": "e.file_id = (SELECT id FROM file WHERE project_id = ? AND path = ?)"},
    ),
    SubjectKind.FILE_SET: Subjects(
        "file_set_version e {join} file_set f ON f.id = e.file_set_id",
        "f.project_id = ? AND f.role = 'data' AND e.deleted_at IS NULL",
        ("f.name", "e.number"),
        {
            "name": "f.name",
            "version": "e.number",
            "latest": "(e.number = f.latest)",
            "created_at": "e.created_at",
            "creator": _USER.format("e"),
            "file_count": "e.file_count",
            "size_bytes": "e.size_bytes",
            "made_by": f"(SELECT a.kind FROM {_ACTION} WHERE o.file_set_version_id = e.id)",
            "job": f"(SELECT j.number FROM {_ACTION} JOIN job j ON j.id = a.job_id WHERE o.file_set_version_id = e.id)",
        },
        {"name": "e.file_set_id = (SELECT id FROM file_set WHERE project_id = ? AND name = ?)"},
    ),
    SubjectKind.JOB: Subjects(
        "job e",
        "e.project_id = ? AND e.deleted_at IS NULL",
        ("e.number", "e.number"),
        {
            "number": "e.number",
            "name": "{name}",
            "state": "e.state",
            "created_at": "e.created_at",
            "creator": _USER.format("e"),
            "ended_at": "e.ended_at",
            "input": f"job_input i JOIN file_set_version v ON v.id = i.file_set_version_id {_SETS} "
            "WHERE i.job_id = e.id AND i.role = 'data'",
            "output": f"file_set_version v {_SETS} WHERE v.id = e.output_version_id",
            "vcpu": "{vcpu}",
            "memory_bytes": "{memory}",
            "run_seconds": _LAST.format("run_seconds"),
            "billed_seconds": "(SELECT sum(a.billed_seconds) FROM attempt a WHERE a.job_id = e.id)",
            "cost_usd": "(SELECT sum(a.cost_usd) FROM attempt a WHERE a.job_id = e.id)",
            "exit_code": _LAST.format("exit_code"),
            "attempts": "(SELECT count(*) FROM attempt a WHERE a.job_id = e.id)",
            "template": "nullif(e.template, '')",
        },
        {},
    ),
}
"""References (`input`, `output`) are what follows FROM, with `s` the file set and `v` its version."""

ALWAYS_THERE = frozenset(
    ("path", "version", "latest", "creator", "size_bytes", "sha256", "storage", "file_count", "number", "state")
)
"""Built-in keys that every thing of their kind has, beside `created_at`; and `name` of a file set."""

_DIALECTS = {
    "sqlite": {
        "join": "CROSS JOIN",
        "hex": "lower(hex(e.sha256))",
        "name": "nullif(json_extract(e.request, '$.name'), '')",
        "vcpu": "json_extract(e.request, '$.resources.vcpu')",
        "memory": "json_extract(e.request, '$.resources.memory_bytes')",
    },
    "postgresql": {
        "join": "JOIN",
        "hex": "encode(e.sha256, 'hex')",
        "name": "nullif(e.request ->> 'name', '')",
        "vcpu": "(e.request -> 'resources' ->> 'vcpu')::float8",
        "memory": "(e.request -> 'resources' ->> 'memory_bytes')::float8",
    },
}


class SubjectRecords:
    """Things by name and by row."""

    def __init__(self, session: Session) -> None:
        self._session = session
        self._dialect = session.get_bind().dialect.name

    def find(self, project: ProjectId, kind: SubjectKind, name: str | int, version: int | None) -> int | None:
        """Return the row of a thing that is visible: of a path or set in a version (None: the newest), or of a job."""
        subjects = KINDS[kind]
        sql = f"SELECT e.id FROM {self.tables(kind)} WHERE {subjects.visible} AND {subjects.name[0]} = ?"
        near = subjects.near.get("path") or subjects.near.get("name")
        given: list[Any] = [project, name]
        if near is not None:
            sql, given = f"{sql} AND {near}", [*given, project, name]
        if version is not None:
            sql, given = f"{sql} AND e.number = ?", [*given, version]
        rows = batches.select(self._session, f"{sql} ORDER BY e.number DESC LIMIT 1", *given)
        return rows[0][0] if rows else None

    def jobs(self, project: ProjectId, numbers: list[int]) -> dict[int, int]:
        """Return the rows of jobs by number."""
        sql = "SELECT number, id FROM job WHERE project_id = ? AND number IN"
        return dict(batches.select_in(self._session, sql, numbers, project))

    def names(self, kind: SubjectKind, rows: Iterable[int]) -> dict[int, str]:
        """Return how people write things."""
        first, second = KINDS[kind].name
        sql = f"SELECT e.id, {first}, {second} FROM {self.tables(kind)} WHERE e.id IN"
        found = batches.select_in(self._session, sql, rows)
        return {row: _name(kind, name, version) for row, name, version in found}

    def built_in(
        self, kind: SubjectKind, rows: list[int], keys: list[str]
    ) -> dict[int, dict[str, Value | list[str] | None]]:
        """Return values of built-in keys."""
        plain = [key for key in keys if BUILT_IN[kind][key] is not ValueType.REFERENCE]
        columns = ", ".join(["e.id", *(self.expression(kind, key) for key in plain)])
        found: dict[int, dict[str, Value | list[str] | None]] = {row: {} for row in rows}
        for row, *values in batches.select_in(
            self._session, f"SELECT {columns} FROM {self.tables(kind)} WHERE e.id IN", rows
        ):
            found[row] |= {k: built_in_value(BUILT_IN[kind][k], v) for k, v in zip(plain, values, strict=True)}
        for key in keys:
            if key not in plain:
                self._add_references(kind, key, found)
        return found

    def expression(self, kind: SubjectKind, key: str) -> str:
        """Return the SQL of a built-in key; a text is ordered by code point."""
        sql = KINDS[kind].keys[key].format_map(_DIALECTS[self._dialect])
        is_text = BUILT_IN[kind][key] is ValueType.TEXT
        return f'({sql} COLLATE "C")' if is_text and self._dialect == "postgresql" else sql

    def tables(self, kind: SubjectKind) -> str:
        """Return what stands after FROM."""
        return KINDS[kind].tables.format_map(_DIALECTS[self._dialect])

    def _add_references(
        self, kind: SubjectKind, key: str, found: dict[int, dict[str, Value | list[str] | None]]
    ) -> None:
        source = KINDS[kind].keys[key]
        order = ", i.position" if key == "input" else ""
        for page in batches.pages(found):
            marks = ", ".join("?" * len(page))
            tables, _, where = source.partition(" WHERE ")
            chosen = f"{where} AND e.id IN ({marks}) ORDER BY e.id{order}"
            sql = f"SELECT e.id, s.name, v.number FROM job e, {tables} WHERE {chosen}"
            named: dict[int, list[str]] = {}
            for row, name, number in batches.select(self._session, sql, *page):
                named.setdefault(row, []).append(f"{name}:{number}")
            for row in page:
                refs = named.get(row)
                found[row][key] = refs if key == "input" or refs is None else refs[0]


def _name(kind: SubjectKind, name: Any, version: int) -> str:
    if kind is SubjectKind.JOB:
        return str(name)
    return f"{encode_path(name) if kind is SubjectKind.FILE else name}:{version}"


def built_in_value(kind: ValueType, stored: Any) -> Value | None:
    """Return the value of a built-in key as it is told."""
    if stored is None:
        return None
    if kind is ValueType.TIME:
        return Time(batches.as_time(stored))
    if kind is ValueType.BOOLEAN:
        return bool(stored)
    if kind is ValueType.NUMBER:
        return int(stored) if float(stored).is_integer() else float(stored)
    return str(stored)
