"""Tokens: made, listed, replaced and ended. Each is shown once, to whoever asked for it."""

from __future__ import annotations

from datetime import timedelta
from typing import TYPE_CHECKING

from acai_jupyter.contract.accounts import CreateToken, IssuedToken, Token, TokenList, check_token
from acai_jupyter.contract.errors import Conflict, NotAllowed, TokenNotFound
from acai_jupyter.contract.foreign import one_line
from acai_jupyter.contract.queries import FIRST
from acai_server.credentials.secrets import new_token, token_hash
from acai_server.db import pages

if TYPE_CHECKING:
    from acai_jupyter.contract.ids import ProjectId, UserId
    from acai_jupyter.contract.queries import NamedQuery
    from acai_server.credentials.uses import TokenUses
    from acai_server.db.database import Database
    from acai_server.db.projects import Member
    from acai_server.db.tokens import StoredToken
    from acai_server.db.work import Work


class Tokens:
    """The tokens of users, by project."""

    def __init__(self, database: Database, uses: TokenUses, own: bytes) -> None:
        self._database = database
        self._uses = uses
        self._own = own
        """Of the server's own token, on which it stands itself, the hash."""

    def listed(self, project: ProjectId, user: UserId, asked: NamedQuery = FIRST) -> TokenList:
        """Return a page of what is known of the tokens that somebody has of a project."""
        self.write_uses()
        with self._database.reading() as work:
            found = [stored.public for stored in work.tokens.page(user, project, asked.after, asked.limit + 1)]
        return TokenList(*pages.cut(found, asked.limit, lambda one: one.name))

    def write_uses(self) -> None:
        """Write down when tokens were used until now, for who is about to read it."""
        self._uses.step()

    def create(self, member: Member, wanted: CreateToken) -> IssuedToken:
        """Make a token that opens no more than the one it is made with."""
        check_token(wanted.name)
        if wanted.all_projects and not member.all_projects:
            raise NotAllowed("A token that opens one project cannot make one that opens all.")
        with self._database.writing() as work:
            return issue(work, (member.user_id, member.name), (member.project_id, member.project), wanted)

    def rotate(self, project: ProjectId, user: UserId, name: str) -> IssuedToken:
        """Put a new secret in the place of a token's, for as long as the old one was made for."""
        with self._database.writing() as work:
            stored = self._ended(work, project, user, name)
            old = stored.public
            lasts = None if old.expires_at is None else (old.expires_at - old.created_at) / timedelta(days=1)
            wanted = CreateToken(name, old.scope, lasts, old.all_projects)
            work.events.wake()
            return issue(work, (user, old.user), (project, old.project), wanted)

    def revoke(self, project: ProjectId, user: UserId, name: str) -> Token:
        """End a token; streams that were opened with it end too."""
        with self._database.writing() as work:
            stored = self._ended(work, project, user, name)
            work.events.wake()
        return stored.public

    def _ended(self, work: Work, project: ProjectId, user: UserId, name: str) -> StoredToken:
        stored = work.tokens.find(user, project, name)
        if stored is None:
            raise TokenNotFound(token=one_line(name[:64]), user="yours")
        if stored.hash == self._own:
            what = "stop the server, remove the file token in its data folder, and start it again"
            raise Conflict(reason=f"'{name}' is the token that this server itself uses; to have another, {what}")
        work.tokens.revoke(stored.id, work.clock.now())
        return stored


def issue(work: Work, user: tuple[UserId, str], project: tuple[ProjectId, str], wanted: CreateToken) -> IssuedToken:
    """Make a token and keep its hash."""
    if work.tokens.find(user[0], project[0], wanted.name) is not None:
        raise Conflict(reason=f"there is a token '{wanted.name}' already; give it another name, or rotate it")
    now, secret = work.clock.now(), new_token()
    days = wanted.expires_in_days
    token = Token(
        name=wanted.name,
        user=user[1],
        project=project[1],
        scope=wanted.scope,
        all_projects=wanted.all_projects,
        created_at=now,
        expires_at=None if days is None else now + timedelta(days=days),
        last_used_at=None,
    )
    work.tokens.add(user[0], project[0], token, token_hash(secret))
    return IssuedToken(token, secret)


def free_name(name: str, taken: set[str]) -> str:
    """A name beside those that somebody has: who comes back may have tokens of this project that opened all."""
    return next(one for one in (name, *(f"{name}-{count}" for count in range(2, 10_000))) if one not in taken)
