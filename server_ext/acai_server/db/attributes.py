"""Records of attributes and labels. Whether a key may be set, and by whom, is asked elsewhere."""

from __future__ import annotations

import math
from collections import defaultdict
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any

from sqlalchemy import select

from acai_jupyter.contract.metadata import MAX_TEXT, Time, Value
from acai_jupyter.contract.query.builtin import PARAMETERS, TAGS, SubjectKind, ValueType, is_reserved
from acai_jupyter.contract.query.lexer import is_text
from acai_server.db import batches, sight
from acai_server.db.tables import AttributeKeyRow

if TYPE_CHECKING:
    from collections.abc import Iterable

    from sqlalchemy.orm import Session

    from acai_jupyter.contract.ids import ProjectId

TYPES = {ValueType.BOOLEAN: 1, ValueType.NUMBER: 2, ValueType.TIME: 3, ValueType.TEXT: 4}
"""How a type is kept. The order of the numbers is that of things whose values have several types."""
_EXACT = 2**53
_UPSERT = """
    INSERT INTO attribute (subject_id, key_id, type, number, text) VALUES (?, ?, ?, ?, ?)
    ON CONFLICT (subject_id, key_id) DO UPDATE
    SET type = excluded.type, number = excluded.number, text = excluded.text"""
_OF = """
    SELECT a.subject_id, k.name, a.type, a.number, a.text FROM attribute a JOIN attribute_key k ON k.id = a.key_id
    WHERE k.project_id = ? AND k.subject_kind = ? AND a.subject_id IN"""
_SWAP = {
    "change": "UPDATE attribute SET type = ?, number = ?, text = ?",
    "delete": "DELETE FROM attribute",
    "add": """
    INSERT INTO attribute (type, number, text, subject_id, key_id) VALUES (?, ?, ?, ?, ?)
    ON CONFLICT (subject_id, key_id) DO NOTHING""",
}
_WHERE_IT_IS = " WHERE subject_id = ? AND key_id = ? AND type = ? AND {0} = ?"
_LABELS_OF = """
    SELECT l.subject_id, l.label FROM attribute_label l JOIN attribute_key k ON k.id = l.key_id
    WHERE k.project_id = ? AND k.subject_kind = ? AND l.subject_id IN"""
_ADD_LABEL = """
    INSERT INTO attribute_label (subject_id, key_id, label) VALUES (?, ?, ?)
    ON CONFLICT (subject_id, key_id, label) DO NOTHING"""
_TYPE_OF_KEY = """
    SELECT a.type FROM attribute a WHERE a.key_id = ? AND a.{0} IS NOT NULL
    AND EXISTS (SELECT 1 FROM {1} = a.subject_id) LIMIT 1"""
_THINGS = {
    SubjectKind.FILE: "file_version v JOIN file f ON f.id = v.file_id WHERE v.id",
    SubjectKind.FILE_SET: "file_set_version v WHERE v.id",
    SubjectKind.JOB: "job v WHERE v.id",
}
"""Where the subjects of each kind are, so that restricted ones do not count."""

Columns = tuple[int, float | None, str | None]


class AttributeRecords:
    """Keys and values on things, by kind and row."""

    def __init__(self, session: Session) -> None:
        self._session = session

    def keys(self, project: ProjectId, kind: SubjectKind, names: Iterable[str]) -> dict[str, int]:
        """Return the numbers of those keys that are in use."""
        sql = "SELECT name, id FROM attribute_key WHERE project_id = ? AND subject_kind = ? AND name IN"
        return dict(batches.select_in(self._session, sql, names, project, kind.value))

    def used(self, project: ProjectId, kind: SubjectKind, prefix: str, limit: int) -> dict[str, ValueType]:
        """Return keys in use that begin with a prefix, by name, each with a type that it has somewhere."""
        table = AttributeKeyRow
        if not is_text(prefix):
            return {}
        query = select(table.id, table.name).where(table.project_id == project, table.subject_kind == kind.value)
        query = query.where(table.name.startswith(prefix, autoescape=True), table.name != TAGS)
        found = {name: self._type_of(kind, key) for key, name in self._session.execute(query.order_by(table.name))}
        return dict([(name, kept) for name, kept in found.items() if kept is not None][:limit])

    def ensure(self, project: ProjectId, kind: SubjectKind, names: Iterable[str]) -> dict[str, int]:
        """Return the numbers of keys; those that were never used get one."""
        wanted = sorted(set(names))
        known = self.keys(project, kind, wanted)
        fresh = [name for name in wanted if name not in known]
        if not fresh:
            return known
        rows = [{"project_id": project, "subject_kind": kind.value, "name": name} for name in fresh]
        batches.insert_missing(self._session, AttributeKeyRow, rows)
        with sight.everything():  # one that was in use only where it is hidden is there already
            fresh_ids = self.keys(project, kind, fresh)
        return known | fresh_ids

    def set_said(self, project: ProjectId, kind: SubjectKind, subject: int, said: dict[str, Any]) -> dict[str, Value]:
        """Set attributes of one thing as a program said them; returns those that are different now.

        What cannot be one is left out.
        """
        kept = {key: value for key, value in said.items() if not is_reserved(key) and can_be_kept(value)}
        have = self.of_many(project, kind, [subject])[subject] if kept else {}
        fresh = {k: v for k, v in kept.items() if k not in have or as_columns(have[k]) != as_columns(v)}
        self.write(project, kind, [(subject, key, value) for key, value in fresh.items()])
        return fresh

    def add_parameters(self, project: ProjectId, job: int, parameters: dict[str, str | int | float | bool]) -> None:
        """Make a job's parameters findable; what is too long to find it by stays with the job."""
        kept: list[tuple[int, str, Value]] = [
            (job, PARAMETERS + name, value) for name, value in parameters.items() if can_be_kept(value)
        ]
        self.write(project, SubjectKind.JOB, kept)

    def write(self, project: ProjectId, kind: SubjectKind, values: list[tuple[int, str, Value]]) -> None:
        """Set attributes of many things; the others stay."""
        keys = self.ensure(project, kind, (key for _, key, _ in values))
        rows = [(subject, keys[key], *as_columns(value)) for subject, key, value in values]
        batches.change(self._session, _UPSERT, sorted(rows))

    def swap(
        self, project: ProjectId, kind: SubjectKind, subject: int, key: str, values: tuple[Value | None, Value | None]
    ) -> bool:
        """Put a value in the place of another, None for nothing; returns False where there is something else.

        The condition is in the statement, so of many who expect the same value one has it replaced.
        """
        before, after = values
        if before is None and after is None:
            return key not in self.of_many(project, kind, [subject], [key])[subject]
        at = (subject, self.ensure(project, kind, [key])[key])
        written = () if after is None else as_columns(after)
        if before is None:
            return batches.changed(self._session, _SWAP["add"], *written, *at) == 1
        expected, number, text = as_columns(before)
        column, value = ("number", number) if text is None else ("text", text)
        sql = _SWAP["delete" if after is None else "change"] + _WHERE_IT_IS.format(column)
        return batches.changed(self._session, sql, *written, *at, expected, value) == 1

    def delete(self, project: ProjectId, kind: SubjectKind, wanted: list[tuple[int, str]]) -> None:
        """Delete attributes; one that is not there stays so."""
        keys = self.keys(project, kind, {key for _, key in wanted})
        rows = sorted((subject, keys[key]) for subject, key in wanted if key in keys)
        batches.change(self._session, "DELETE FROM attribute WHERE subject_id = ? AND key_id = ?", rows)

    def add_labels(self, project: ProjectId, kind: SubjectKind, labels: list[tuple[int, str]]) -> None:
        """Add labels to things; one that is there stays once."""
        if labels:
            key = self.ensure(project, kind, [TAGS])[TAGS]
            rows = sorted((subject, key, label) for subject, label in labels)
            batches.change(self._session, _ADD_LABEL, rows)

    def remove_labels(self, project: ProjectId, kind: SubjectKind, labels: list[tuple[int, str]]) -> None:
        """Take labels from things."""
        key = self.keys(project, kind, [TAGS]).get(TAGS)
        if labels and key is not None:
            rows = sorted((subject, key, label) for subject, label in labels)
            sql = "DELETE FROM attribute_label WHERE subject_id = ? AND key_id = ? AND label = ?"
            batches.change(self._session, sql, rows)

    def of(self, project: ProjectId, kind: str, subject: int) -> dict[str, Value]:
        """Return the attributes of one thing that its users gave it."""
        found = self.of_many(project, SubjectKind(kind), [subject])[subject]
        return {key: value for key, value in found.items() if not key.startswith(PARAMETERS)}

    def of_many(
        self, project: ProjectId, kind: SubjectKind, subjects: Iterable[int], only: list[str] | None = None
    ) -> dict[int, dict[str, Value]]:
        """Return the attributes of things, a job's parameters among them, by key."""
        found: dict[int, dict[str, Value]] = defaultdict(dict)
        chosen = "" if only is None else f"k.name IN ({', '.join('?' * len(only))}) AND "
        sql = _OF.replace("a.subject_id IN", f"{chosen}a.subject_id IN")
        rows = batches.select_in(self._session, sql, subjects, project, kind.value, *(only or ()))
        for subject, key, *columns in sorted(rows, key=lambda row: (row[0], row[1])):
            found[subject][key] = as_value(*columns)
        return found

    def labels_of(self, project: ProjectId, kind: SubjectKind, subjects: Iterable[int]) -> dict[int, list[str]]:
        """Return the labels of things, in order."""
        found: dict[int, list[str]] = defaultdict(list)
        for subject, label in sorted(batches.select_in(self._session, _LABELS_OF, subjects, project, kind.value)):
            found[subject].append(label)
        return found

    def _type_of(self, kind: SubjectKind, key: int) -> ValueType | None:
        for column in ("number", "text"):
            rows = batches.select(self._session, _TYPE_OF_KEY.format(column, _THINGS[kind]), key)
            if rows:
                return next(kind for kind, kept in TYPES.items() if kept == rows[0][0])
        return None


def can_be_kept(value: object) -> bool:
    """Whether a value can be found by."""
    return fault_of(value) is None


def fault_of(value: object) -> str | None:
    """Say why nothing could be found by a value."""
    if isinstance(value, str):
        return _fault_of_text(value)
    if isinstance(value, Time):
        return _fault_of_time(value)
    if not isinstance(value, int | float):
        return "a value is a text, number, boolean or time"
    try:
        return None if math.isfinite(float(value)) else "it is no finite number"
    except OverflowError:
        return "the number is too large"


def _fault_of_text(value: str) -> str | None:
    if len(value) > MAX_TEXT:
        return f"its text has {len(value):,} characters; at most {MAX_TEXT} are taken"
    return None if is_text(value) else "its text has a NUL character or a surrogate"


def _fault_of_time(value: Time) -> str | None:
    if value.time.tzinfo is None:
        return "its time has no zone, like the Z of 2026-11-01T12:00:00Z"
    try:
        as_value(*as_columns(value))
    except (OverflowError, ValueError):
        return "its time is at an end of the calendar, where it has no day in another zone"
    return None


def as_columns(value: Value) -> Columns:
    """Return how a value is kept: type, number, text."""
    if isinstance(value, str):
        return TYPES[ValueType.TEXT], None, value
    if isinstance(value, bool):
        return TYPES[ValueType.BOOLEAN], float(value), None
    if isinstance(value, Time):
        return TYPES[ValueType.TIME], value.time.timestamp(), None
    return TYPES[ValueType.NUMBER], float(value), None


def as_value(kind: int, number: float | None, text: str | None) -> Value:
    """Return a value that was kept. A whole number comes back as one."""
    if text is not None:
        return text
    assert number is not None
    if kind == TYPES[ValueType.BOOLEAN]:
        return bool(number)
    if kind == TYPES[ValueType.TIME]:
        return Time(datetime.fromtimestamp(number, UTC))
    return int(number) if number.is_integer() and abs(number) <= _EXACT else number
