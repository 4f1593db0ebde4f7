"""Records of projects, and who somebody is in one."""

from __future__ import annotations

import hmac
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from sqlalchemy import func, or_, select

from acai_jupyter.contract.accounts import Project
from acai_jupyter.contract.ids import ProjectId, TokenId, UserId
from acai_jupyter.contract.projects import User
from acai_jupyter.contract.states import Role, Scope
from acai_server.db import batches
from acai_server.db.batches import insert_missing
from acai_server.db.tables import MembershipRow, ProjectRow, TokenRow, UserRow

if TYPE_CHECKING:
    from collections.abc import Iterable
    from datetime import datetime

    from sqlalchemy.orm import Session

_COLUMNS = "t.id, t.hash, t.scope, t.all_projects, t.expires_at"
_FROM = """
    JOIN user_account u ON u.id = t.user_id
    LEFT JOIN project p ON {which}
    LEFT JOIN membership m ON m.user_id = u.id AND m.project_id = p.id
    WHERE t.hash = ? AND t.revoked_at IS NULL"""
_WHO = "u.id, u.name, u.is_global_admin, p.id, p.name, p.restrictions, m.role"
_BY_TOKEN = f"SELECT {_COLUMNS}, {_WHO} FROM token t" + _FROM.format(which="p.id = t.project_id")  # noqa: S608 (SQL of ours)
_BY_TOKEN_IN = f"SELECT {_COLUMNS}, {_WHO} FROM token t" + _FROM.format(  # noqa: S608 (the same)
    which="p.name = ? AND (t.all_projects OR p.id = t.project_id)"
)
_BY_TOKENS_IN = _BY_TOKEN_IN.replace(
    "WHERE t.hash = ? AND t.revoked_at IS NULL", "WHERE t.revoked_at IS NULL AND t.hash IN"
)
_BY_NAME = f"""
    SELECT {_WHO} FROM user_account u LEFT JOIN project p ON p.name = ?
    LEFT JOIN membership m ON m.user_id = u.id AND m.project_id = p.id WHERE u.id = ?"""  # noqa: S608 (the same)

_BY_ID = _BY_NAME.replace("p.name = ?", "p.id = ?")


@dataclass(frozen=True)
class Member:
    """A user in a project, as a token or Jupyter's identity proves it.

    Without a role they are not in the project, which only a global admin has any use for.
    """

    user_id: UserId
    project_id: ProjectId
    project: str
    name: str
    role: Role | None
    scope: Scope = Scope.ADMIN
    is_global_admin: bool = False
    all_projects: bool = True
    """Whether what they have shown opens all their projects."""
    token: TokenId | None = None
    has_restrictions: bool = False
    """Whether there are any in the project."""
    expires_at: datetime | None = None

    @property
    def user(self) -> User:
        """The user as others see them."""
        assert self.role is not None, "who is not in a project is not shown in it"
        return User(self.name, self.role)


@dataclass(frozen=True)
class Stranger:
    """Who is known, and has no such project."""

    name: str


class ProjectRecords:
    """Projects, and who a token or a name stands for in one."""

    def __init__(self, session: Session) -> None:
        self._session = session

    def users(self) -> int:
        """Count the users who can do anything here: those in a project, and global admins."""
        is_in_one = select(MembershipRow.user_id).where(MembershipRow.user_id == UserRow.id).exists()
        query = select(func.count()).select_from(UserRow).where(or_(UserRow.is_global_admin, is_in_one))
        return self._session.scalars(query).one()

    def member_by_token(self, token_hash: bytes, project: str | None, now: datetime) -> Member | Stranger | None:
        """Return whom a token stands for in a project, its own if none is named; none when it is not valid."""
        if project is None:
            found = batches.select(self._session, _BY_TOKEN, token_hash)
        else:
            found = batches.select(self._session, _BY_TOKEN_IN, project, token_hash)
        if not found or not hmac.compare_digest(bytes(found[0][1]), token_hash):
            return None
        return _shown(found[0], now)

    def members_by_tokens(
        self, hashes: Iterable[bytes], project: str, now: datetime
    ) -> dict[bytes, Member | Stranger | None]:
        """Return whom tokens stand for in a project, by their hashes, in one statement; unknown ones are left out."""
        rows = batches.select_in(self._session, _BY_TOKENS_IN, hashes, project)
        return {bytes(row[1]): _shown(row, now) for row in rows}

    def member_by_id(self, user: UserId, project: str) -> Member | Stranger | None:
        """Return who a user is in a project."""
        found = batches.select(self._session, _BY_NAME, project, user)
        return _member(found[0]) if found else None

    def member_in(self, user: UserId, project: ProjectId) -> Member | None:
        """Return who a user is in a project that there is."""
        found = batches.select(self._session, _BY_ID, project, user)
        who = _member(found[0]) if found else None
        return who if isinstance(who, Member) else None

    def listed(
        self, user: UserId, *, all_of_them: bool, only: ProjectId | None, after: str = "", limit: int | None = None
    ) -> list[Project]:
        """Return the projects of a user by name, or all of them, or only one; from behind a name on."""
        query = (
            select(ProjectRow.name, MembershipRow.role, ProjectRow.created_at)
            .outerjoin(MembershipRow, (MembershipRow.project_id == ProjectRow.id) & (MembershipRow.user_id == user))
            .where(ProjectRow.name > after)
            .order_by(ProjectRow.name)
            .limit(limit)
        )
        if not all_of_them:
            query = query.where(MembershipRow.role.is_not(None))
        if only is not None:
            query = query.where(ProjectRow.id == only)
        rows = self._session.execute(query)
        return [Project(name, None if role is None else Role(role), at) for name, role, at in rows]

    def find(self, name: str) -> ProjectId | None:
        """Return the project of a name."""
        found = self._session.scalar(select(ProjectRow.id).where(ProjectRow.name == name))
        return None if found is None else ProjectId(found)

    def name_of(self, project: ProjectId) -> str:
        """Return the name of a project."""
        return str(self._session.scalars(select(ProjectRow.name).where(ProjectRow.id == project)).one())

    def create(self, name: str, now: datetime) -> ProjectId | None:
        """Write a project; none when there is one of that name."""
        if self.find(name) is not None:
            return None
        row = ProjectRow(name=name, created_at=now)
        self._session.add(row)
        self._session.flush()
        return ProjectId(row.id)

    def ensure_local(self, project: str, user: str, token_hash: bytes, now: datetime) -> Member:
        """Make sure that the project, the user and the token of a server itself are there."""
        member = self.member_by_token(token_hash, None, now)
        if isinstance(member, Member):
            return member
        insert_missing(self._session, ProjectRow, [{"name": project, "created_at": now}])
        insert_missing(self._session, UserRow, [{"name": user, "is_global_admin": True, "created_at": now}])
        project_id = self._session.scalars(select(ProjectRow.id).where(ProjectRow.name == project)).one()
        user_id = self._session.scalars(select(UserRow.id).where(UserRow.name == user)).one()
        membership = {"project_id": project_id, "user_id": user_id, "role": Role.ADMIN.value}
        insert_missing(self._session, MembershipRow, [membership])
        name = f"server-{token_hash.hex()[:8]}"  # each server of a database has its own
        token = {"user_id": user_id, "project_id": project_id, "name": name, "hash": token_hash}
        token |= {"scope": Scope.ADMIN.value, "all_projects": True, "created_at": now}
        insert_missing(self._session, TokenRow, [token])
        return Member(UserId(user_id), ProjectId(project_id), project, user, Role.ADMIN, is_global_admin=True)


def _shown(row: Any, now: datetime) -> Member | Stranger | None:
    """Return whom a token that is kept stands for; none when it has expired."""
    token, _, scope, all_projects, expires, *who = row
    expires_at = None if expires is None else batches.as_time(expires)
    if expires_at is not None and expires_at <= now:
        return None
    shown = {"scope": Scope(scope), "token": TokenId(token), "all_projects": bool(all_projects)}
    return _member(who, **shown, expires_at=expires_at)


def _member(who: Any, **shown: Any) -> Member | Stranger:
    user, name, is_global_admin, project, project_name, restrictions, role = who
    if project is None:
        return Stranger(name)
    return Member(
        UserId(user),
        ProjectId(project),
        project_name,
        name,
        None if role is None else Role(role),
        is_global_admin=bool(is_global_admin),
        has_restrictions=bool(restrictions),
        **shown,
    )
