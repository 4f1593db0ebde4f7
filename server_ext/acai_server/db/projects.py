"""Records of projects, users and tokens."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from sqlalchemy import select

from acai_jupyter.contract.ids import ProjectId, UserId
from acai_jupyter.contract.projects import User
from acai_jupyter.contract.states import Role
from acai_server.db.batches import insert_missing
from acai_server.db.tables import MembershipRow, ProjectRow, TokenRow, UserRow

if TYPE_CHECKING:
    from datetime import datetime

    from sqlalchemy.orm import Session


@dataclass(frozen=True)
class Member:
    """A user in a project, as a token proves it."""

    user_id: UserId
    project_id: ProjectId
    project: str
    user: User


class ProjectRecords:
    """Projects, the users in them, and their tokens by hash."""

    def __init__(self, session: Session) -> None:
        self._session = session

    def member_by_token(self, token_hash: bytes, now: datetime) -> Member | None:
        """Return whom a token stands for, unless it is revoked or has expired."""
        query = (
            select(TokenRow, UserRow, ProjectRow, MembershipRow.role)
            .join(UserRow, UserRow.id == TokenRow.user_id)
            .join(ProjectRow, ProjectRow.id == TokenRow.project_id)
            .join(
                MembershipRow,
                (MembershipRow.user_id == UserRow.id) & (MembershipRow.project_id == ProjectRow.id),
            )
            .where(TokenRow.hash == token_hash, TokenRow.revoked_at.is_(None))
        )
        found = self._session.execute(query).one_or_none()
        if found is None or (found[0].expires_at is not None and found[0].expires_at <= now):
            return None
        _, user, project, role = found
        return Member(UserId(user.id), ProjectId(project.id), project.name, User(user.name, Role(role)))

    def ensure_local(self, project: str, user: str, token_hash: bytes, now: datetime) -> Member:
        """Make sure that the embedded default's project, user and token are there."""
        member = self.member_by_token(token_hash, now)
        if member is not None:
            return member
        insert_missing(self._session, ProjectRow, [{"name": project, "created_at": now}])
        insert_missing(self._session, UserRow, [{"name": user, "is_global_admin": True, "created_at": now}])
        project_id = self._session.scalars(select(ProjectRow.id).where(ProjectRow.name == project)).one()
        user_id = self._session.scalars(select(UserRow.id).where(UserRow.name == user)).one()
        membership = {"project_id": project_id, "user_id": user_id, "role": Role.ADMIN.value}
        insert_missing(self._session, MembershipRow, [membership])
        token = {"user_id": user_id, "project_id": project_id, "name": "local", "hash": token_hash, "scope": "admin"}
        insert_missing(self._session, TokenRow, [token | {"created_at": now}])
        return Member(UserId(user_id), ProjectId(project_id), project, User(user, Role.ADMIN))
