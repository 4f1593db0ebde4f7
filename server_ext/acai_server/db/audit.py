"""Records of the audit log: added and read, never changed."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING

from sqlalchemy import select

from acai_jupyter.contract.audit import AuditEntry
from acai_server.db import rows
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
        """Write one thing down."""
        rows.insert(self._session, AuditRow(at=at, **asdict(entry)))

    def page(self, project: ProjectId, query: AuditQuery) -> list[AuditEntry]:
        """Return entries of a project, the newest first."""
        wanted = [AuditRow.project_id == project]
        wanted += [AuditRow.id < query.before] if query.before is not None else []
        wanted += [UserRow.name == query.user] if query.user is not None else []
        wanted += [AuditRow.action == query.action] if query.action is not None else []
        wanted += [AuditRow.at >= query.since] if query.since is not None else []
        found = self._session.execute(_ENTRIES.where(*wanted).order_by(AuditRow.id.desc()).limit(query.limit))
        return [_entry(*row) for row in found]

    def all_of_them(self) -> Iterator[AuditEntry]:
        """Give the entries of all projects, the oldest first."""
        found = self._session.execute(_ENTRIES.order_by(AuditRow.id).execution_options(yield_per=500))
        return (_entry(*row) for row in found)


_ENTRIES = (
    select(AuditRow, UserRow.name, ProjectRow.name, TokenRow.name)
    .join(UserRow, UserRow.id == AuditRow.user_id)
    .outerjoin(ProjectRow, ProjectRow.id == AuditRow.project_id)
    .outerjoin(TokenRow, TokenRow.id == AuditRow.token_id)
)


def _entry(row: AuditRow, user: str, project: str | None, token: str | None) -> AuditEntry:
    return AuditEntry(
        number=row.id,
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
