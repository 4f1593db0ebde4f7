"""Records of users, and of what each is in a project."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from sqlalchemy import delete, func, select, update

from acai_jupyter.contract.accounts import ProjectUser
from acai_jupyter.contract.ids import UserId
from acai_jupyter.contract.states import Role
from acai_server.db.batches import insert_missing
from acai_server.db.tables import MembershipRow, TokenRow, UserRow

if TYPE_CHECKING:
    from datetime import datetime

    from sqlalchemy.orm import Session

    from acai_jupyter.contract.ids import ProjectId


class UserRecords:
    """Users are the server's: one of a name, in any number of projects."""

    def __init__(self, session: Session) -> None:
        self._session = session

    def ensure(self, name: str, now: datetime) -> UserId:
        """Return the user of a name, made if there is none."""
        insert_missing(self._session, UserRow, [{"name": name, "is_global_admin": False, "created_at": now}])
        return UserId(self._session.scalars(select(UserRow.id).where(UserRow.name == name)).one())

    def named(self, name: str) -> UserId | None:
        """Return the user of a name, in whatever project."""
        found = self._session.scalar(select(UserRow.id).where(UserRow.name == name))
        return None if found is None else UserId(found)

    def join(self, project: ProjectId, user: UserId, role: Role, quota: int | None) -> bool:
        """Put a user into a project; False when they are in it already."""
        if self._session.get(MembershipRow, (project, user)) is not None:
            return False
        self._session.add(MembershipRow(project_id=project, user_id=user, role=role.value, quota=quota))
        self._session.flush()
        return True

    def find(self, project: ProjectId, name: str) -> tuple[UserId, ProjectUser] | None:
        """Return a user of a project."""
        return next(iter(self._listed(project, UserRow.name == name)), None)

    def listed(self, project: ProjectId, after: str, limit: int) -> list[ProjectUser]:
        """Return users of a project, by name, from behind a name on."""
        return [user for _, user in self._listed(project, UserRow.name > after, limit=limit)]

    def _listed(
        self, project: ProjectId, *conditions: Any, limit: int | None = None
    ) -> list[tuple[UserId, ProjectUser]]:
        used = (
            select(func.max(TokenRow.last_used_at))
            .where(TokenRow.user_id == UserRow.id, TokenRow.project_id == project)
            .scalar_subquery()
        )
        query = (
            select(UserRow.id, UserRow.name, MembershipRow.role, MembershipRow.quota, used)
            .join(MembershipRow, MembershipRow.user_id == UserRow.id)
            .where(MembershipRow.project_id == project, *conditions)
            .order_by(UserRow.name)
            .limit(limit)
        )
        rows = self._session.execute(query)
        return [(UserId(row), ProjectUser(name, Role(role), quota, at)) for row, name, role, quota, at in rows]

    def change(self, project: ProjectId, user: UserId, values: dict[str, Any]) -> None:
        """Change what a user is in a project."""
        here = (MembershipRow.project_id == project, MembershipRow.user_id == user)
        self._session.execute(update(MembershipRow).where(*here).values(**values))

    def leave(self, project: ProjectId, user: UserId) -> None:
        """Take a user out of a project."""
        here = (MembershipRow.project_id == project, MembershipRow.user_id == user)
        self._session.execute(delete(MembershipRow).where(*here))

    def admins(self, project: ProjectId) -> int:
        """Count the admins of a project."""
        query = select(func.count()).select_from(MembershipRow)
        is_admin = MembershipRow.role == Role.ADMIN.value
        return self._session.scalars(query.where(MembershipRow.project_id == project, is_admin)).one()
