"""Records of the audit log: added and read, never changed."""

from __future__ import annotations

from collections import Counter
from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING, Any

from sqlalchemy import select

from acai_jupyter.contract.audit import AuditEntry
from acai_server.db import batches, pages, rows
from acai_server.db.tables import AuditRow, ProjectRow, TokenRow, UserRow

if TYPE_CHECKING:
    from collections.abc import Iterator
    from datetime import datetime

    from sqlalchemy.orm import Session

    from acai_jupyter.contract.audit import AuditQuery
    from acai_jupyter.contract.ids import ProjectId, TokenId, UserId


@dataclass(frozen=True)
class NewEntry:
    """What is to be written down."""

    project_id: ProjectId | None
    """None for what concerns no project that is there."""
    user_id: UserId
    token_id: TokenId | None
    action: str
    thing: str
    address: str
    request_id: str
    status: int


class AuditRecords:
    """Who did what."""

    def __init__(self, session: Session) -> None:
        self._session = session

    def add(self, entry: NewEntry, at: datetime) -> None:
        """Write one thing down, in a single statement.

        Entries of a project are there in the order of their ids: its own numbers are counted by that. PostgreSQL gives
        the id when it is the entry's turn.
        """
        values: dict[str, Any] = {"at": rows.as_kept(self._session, at), **asdict(entry)}
        sql = f"INSERT INTO audit_entry ({', '.join(values)}) SELECT {', '.join('?' * len(values))}"
        if self._session.get_bind().dialect.name == "postgresql" and entry.project_id is not None:
            batches.changed(self._session, sql + _TURN, *values.values(), _ORDER_LOCK + entry.project_id)
        else:
            batches.changed(self._session, sql, *values.values())

    def page(self, project: ProjectId, query: AuditQuery) -> tuple[list[AuditEntry], int | None]:
        """Return entries of a project, the newest first, and the number to go on below.

        Numbers count within the project: what is done in others moves none.
        """
        wanted = [AuditRow.project_id == project]
        if query.before is not None:
            wanted.append(AuditRow.id <= self._row(project, query.before - 1))
        wanted += [UserRow.name == query.user] if query.user is not None else []
        wanted += [AuditRow.action == query.action] if query.action is not None else []
        wanted += [AuditRow.at >= query.since] if query.since is not None else []
        asked = _ENTRIES.where(*wanted).order_by(AuditRow.id.desc()).limit(query.limit + 1)
        found, last = pages.cut(list(self._session.execute(asked)), query.limit, lambda row: row[0].id)
        is_whole = query.user is None and query.action is None and query.since is None
        numbers = self._numbers(project, [row[0].id for row in found], is_whole=is_whole)
        return [_entry(numbers[row[0].id], *row) for row in found], None if last is None else numbers[last]

    def _row(self, project: ProjectId, number: int) -> int:
        """The id of the entry with a number, or of the newest where there is no such number yet."""
        if number < 1:
            return 0
        found = batches.select(self._session, _NTH, project, number - 1)
        return int(found[0][0]) if found else _NO_LIMIT

    def _numbers(self, project: ProjectId, ids: list[int], *, is_whole: bool) -> dict[int, int]:
        """Count entries, the newest first; there are no others between them when they are whole."""
        if not ids:
            return {}
        low, high = ids[-1], ids[0]
        before = batches.select(self._session, _OLDER, project, low)[0][0]
        if is_whole:
            return {row: before + len(ids) - place for place, row in enumerate(ids)}
        return {
            row: before + place for row, place in batches.select_in(self._session, _PLACES, ids, project, low, high)
        }

    def all_of_them(self) -> Iterator[AuditEntry]:
        """Give the entries of all projects, the oldest first."""
        numbers: Counter[int | None] = Counter()
        for row in self._session.execute(_ENTRIES.order_by(AuditRow.id).execution_options(yield_per=500)):
            numbers[row[0].project_id] += 1
            yield _entry(numbers[row[0].project_id], *row)


_ENTRIES = (
    select(AuditRow, UserRow.name, ProjectRow.name, TokenRow.name)
    .join(UserRow, UserRow.id == AuditRow.user_id)
    .outerjoin(ProjectRow, ProjectRow.id == AuditRow.project_id)
    .outerjoin(TokenRow, TokenRow.id == AuditRow.token_id)
)


_OLDER = "SELECT count(*) FROM audit_entry WHERE project_id = ? AND id < ?"
_NTH = "SELECT id FROM audit_entry WHERE project_id = ? ORDER BY id LIMIT 1 OFFSET ?"
_PLACES = """
    SELECT id, place FROM (
        SELECT id, row_number() OVER (ORDER BY id) AS place FROM audit_entry
        WHERE project_id = ? AND id BETWEEN ? AND ?
    ) AS counted WHERE id IN"""
_TURN = " FROM (SELECT pg_advisory_xact_lock(?)) AS turn"
_ORDER_LOCK = 0x4143_4155 << 32
"""With a project's id behind it: nobody waits for what is written down of another project."""
_NO_LIMIT = 2**53


def _entry(number: int, row: AuditRow, user: str, project: str | None, token: str | None) -> AuditEntry:
    return AuditEntry(
        number=number,
        at=row.at,
        user=user,
        action=row.action,
        thing=row.thing,
        project=project or "",
        token=token or "",
        address=row.address,
        request_id=row.request_id,
        status=row.status,
    )
