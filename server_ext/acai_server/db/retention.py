"""Records of what a project keeps of old versions, and which versions that leaves."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from sqlalchemy import delete, select

from acai_jupyter.contract.filesets import Retention
from acai_jupyter.contract.query.builtin import TAGS, SubjectKind
from acai_server.db import batches
from acai_server.db.aliases import AliasRecords
from acai_server.db.burials import StoredVersion
from acai_server.db.tables import RetentionRow

if TYPE_CHECKING:
    from datetime import datetime

    from sqlalchemy.orm import Session

    from acai_jupyter.contract.ids import FileSetVersionId, ProjectId

# Of a version `q`.
LABELLED = """
    EXISTS (SELECT 1 FROM attribute_label l JOIN attribute_key k ON k.id = l.key_id
            WHERE l.subject_id = q.id AND k.project_id = ? AND k.subject_kind = ? AND k.name = ?)"""
_SETS = f"""
    SELECT q.id, q.file_set_id, q.name, q.number, q.root FROM (
        SELECT v.id, v.file_set_id, s.name, v.number, v.root, v.created_at,
               row_number() OVER (PARTITION BY v.file_set_id ORDER BY v.number DESC) AS place
        FROM file_set s JOIN file_set_version v ON v.file_set_id = s.id
        WHERE s.project_id = ? AND s.role = 'data' AND v.deleted_at IS NULL{{some}}) q
    WHERE q.place > ? AND q.created_at < ? AND NOT {LABELLED}
      AND NOT EXISTS (SELECT 1 FROM job_input i JOIN job j ON j.id = i.job_id
                      WHERE i.file_set_version_id = q.id AND j.ended_at IS NULL)
    ORDER BY q.name, q.number"""  # noqa: S608 (SQL of ours)
_FILES = f"""
    SELECT q.path, q.number, q.id, q.size_bytes FROM (
        SELECT f.path, v.number, v.id, v.size_bytes, u.ended_at,
               row_number() OVER (PARTITION BY v.file_id ORDER BY v.number DESC) AS place
        FROM file f JOIN file_version v ON v.file_id = f.id JOIN upload_session u ON u.id = v.session_id
        WHERE f.project_id = ? AND f.path > ? AND f.path <= ?
          AND u.commit_number IS NOT NULL AND v.deleted_at IS NULL) q
    WHERE q.place > ? AND q.ended_at < ? AND NOT {LABELLED}
    ORDER BY q.path, q.number"""  # noqa: S608 (SQL of ours)
_BORDER = """
    SELECT max(p.path) FROM (SELECT path FROM file WHERE project_id = ? AND path > ? ORDER BY path LIMIT ?) p"""


@dataclass(frozen=True)
class Rule:
    """What the rules come to: a version goes that has so many newer ones and is older than a moment."""

    place: int
    before: datetime


@dataclass(frozen=True)
class OutdatedSet:
    """A file set version that the rules do not keep."""

    id: FileSetVersionId
    file_set_id: int
    ref: str
    root: bytes


class RetentionRecords:
    """One set of rules for each project."""

    def __init__(self, session: Session) -> None:
        self._session = session

    def get(self, project: ProjectId) -> Retention:
        """Return what a project keeps; without rules it keeps all."""
        row = self._session.scalar(select(RetentionRow).where(RetentionRow.project_id == project))
        return Retention() if row is None else Retention(row.keep_last, row.keep_days, row.files)

    def set(self, project: ProjectId, rules: Retention) -> None:
        """Put rules in the place of those that were there. The project is locked."""
        self._session.execute(delete(RetentionRow).where(RetentionRow.project_id == project))
        if rules != Retention():
            row = RetentionRow(project_id=project, keep_last=rules.keep_last, keep_days=rules.keep_days)
            row.files = rules.files
            self._session.add(row)
        self._session.flush()

    def file_sets(self, project: ProjectId, rule: Rule, names: list[int] | None = None) -> list[OutdatedSet]:
        """Return the versions of data sets that go, by name; of some names only, if they are given."""
        some = "" if names is None else f" AND s.id IN ({', '.join('?' * len(names))})"
        given = (project, *(names or ()), *self._given(rule), project, SubjectKind.FILE_SET.value, TAGS)
        rows = batches.select(self._session, _SETS.format(some=some), *given)
        aliases = AliasRecords(self._session).of_many(row[1] for row in rows)
        return [
            OutdatedSet(row, file_set, f"{name}:{number}", root)
            for row, file_set, name, number, root in rows
            if (file_set, number) not in aliases
        ]

    def border(self, project: ProjectId, after: str, limit: int) -> str | None:
        """Return the path up to which there are so many files after a path; none when there are no more."""
        found: str | None = batches.select(self._session, _BORDER, project, after, limit)[0][0]
        return found

    def files(self, project: ProjectId, rule: Rule, after: str, border: str) -> list[StoredVersion]:
        """Return the file versions that go in a stretch of paths, if no file set holds them."""
        tags = (project, SubjectKind.FILE.value, TAGS)
        rows = batches.select(self._session, _FILES, project, after, border, *self._given(rule), *tags)
        return [StoredVersion(*row) for row in rows]

    def _given(self, rule: Rule) -> tuple[Any, ...]:
        return rule.place, batches.as_stored(self._session, rule.before)
