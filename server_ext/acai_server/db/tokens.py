"""Records of tokens, by hash. A token itself is never here."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from sqlalchemy import or_, select, update

from acai_jupyter.contract.accounts import Token
from acai_jupyter.contract.ids import ProjectId, TokenId, UserId
from acai_jupyter.contract.states import Scope
from acai_server.db.tables import ProjectRow, TokenRow, UserRow

if TYPE_CHECKING:
    from collections.abc import Mapping
    from datetime import datetime

    from sqlalchemy.orm import Session


@dataclass(frozen=True)
class StoredToken:
    """A token that is not revoked."""

    id: TokenId
    user: UserId
    project: ProjectId
    hash: bytes
    public: Token


class TokenRecords:
    """The tokens of users."""

    def __init__(self, session: Session) -> None:
        self._session = session

    def listed(self, user: UserId, project: ProjectId) -> list[StoredToken]:
        """Return the tokens that a user has of a project and that are not revoked, by name."""
        return self._found(TokenRow.user_id == user, TokenRow.project_id == project)

    def page(self, user: UserId, project: ProjectId, after: str, limit: int) -> list[StoredToken]:
        """Return so many of them, from behind a name on."""
        theirs = (TokenRow.user_id == user, TokenRow.project_id == project)
        return self._found(*theirs, TokenRow.name > after, limit=limit)

    def find(self, user: UserId, project: ProjectId, name: str) -> StoredToken | None:
        """Return one of them."""
        found = self._found(TokenRow.user_id == user, TokenRow.project_id == project, TokenRow.name == name)
        return found[0] if found else None

    def is_valid(self, token_hash: bytes) -> bool:
        """Whether a token is kept, and not revoked."""
        return bool(self._found(TokenRow.hash == token_hash))

    def _found(self, *conditions: Any, limit: int | None = None) -> list[StoredToken]:
        query = (
            select(TokenRow, UserRow.name, ProjectRow.name)
            .join(UserRow, UserRow.id == TokenRow.user_id)
            .join(ProjectRow, ProjectRow.id == TokenRow.project_id)
            .where(TokenRow.revoked_at.is_(None), *conditions)
            .order_by(TokenRow.name)
            .limit(limit)
        )
        return [_stored(row, user, project) for row, user, project in self._session.execute(query)]

    def add(self, user: UserId, project: ProjectId, token: Token, token_hash: bytes) -> None:
        """Write a token; Conflict when the user has one of its name in the project."""
        row = TokenRow(user_id=user, project_id=project, name=token.name, hash=token_hash)
        row.scope, row.all_projects = token.scope.value, token.all_projects
        row.created_at, row.expires_at = token.created_at, token.expires_at
        self._session.add(row)
        self._session.flush()

    def revoke(self, token: TokenId, now: datetime) -> None:
        """End a token for good."""
        self._session.execute(update(TokenRow).where(TokenRow.id == token).values(revoked_at=now))

    def revoke_all(self, user: UserId, project: ProjectId, now: datetime) -> None:
        """End all tokens that a user has of a project alone."""
        theirs = (TokenRow.user_id == user, TokenRow.project_id == project, ~TokenRow.all_projects)
        self._session.execute(update(TokenRow).where(*theirs, TokenRow.revoked_at.is_(None)).values(revoked_at=now))

    def end_expired(self, user: UserId, name: str, now: datetime) -> None:
        """End a user's tokens of a name, or of it and a number, that have expired: they open nothing any more."""
        named = or_(TokenRow.name == name, TokenRow.name.like(f"{name}-%"))
        expired = (TokenRow.user_id == user, TokenRow.revoked_at.is_(None), TokenRow.expires_at <= now)
        self._session.execute(update(TokenRow).where(*expired, named).values(revoked_at=TokenRow.expires_at))

    def used(self, moments: Mapping[TokenId, datetime]) -> None:
        """Write when tokens were last used; what is known to be later stays."""
        for token, at in sorted(moments.items()):
            is_later = or_(TokenRow.last_used_at.is_(None), TokenRow.last_used_at < at)
            self._session.execute(update(TokenRow).where(TokenRow.id == token, is_later).values(last_used_at=at))


def _stored(row: TokenRow, user: str, project: str) -> StoredToken:
    public = Token(
        name=row.name,
        user=user,
        project=project,
        scope=Scope(row.scope),
        all_projects=row.all_projects,
        created_at=row.created_at,
        expires_at=row.expires_at,
        last_used_at=row.last_used_at,
    )
    return StoredToken(TokenId(row.id), UserId(row.user_id), ProjectId(row.project_id), row.hash, public)
