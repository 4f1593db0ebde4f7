"""Who somebody is, and what that allows."""

from __future__ import annotations

import threading
from typing import TYPE_CHECKING

from acai_jupyter.contract.endpoints import Access
from acai_jupyter.contract.errors import AcaiError, NotAllowed, NotSignedIn, ProjectNotFound, SettingsBroken
from acai_jupyter.contract.foreign import one_line
from acai_jupyter.contract.states import Role
from acai_server.credentials.audit import Audit
from acai_server.credentials.groups import Groups
from acai_server.credentials.permissions import allowed
from acai_server.credentials.projects import Projects
from acai_server.credentials.secrets import token_hash
from acai_server.credentials.tokens import Tokens
from acai_server.credentials.users import Users
from acai_server.credentials.uses import TokenUses
from acai_server.db.projects import Member, Stranger
from acai_server.db.sight import Sight

if TYPE_CHECKING:
    from collections.abc import Collection

    from acai_jupyter.contract.ids import ProjectId, UserId
    from acai_server.db.database import Database

_ANYWHERE = frozenset((Access.TOKEN, Access.OBSERVE, Access.GLOBAL_ADMIN))
"""Needs that no project has anything to do with."""


class Credentials:
    """The embedded default has one user, who is an admin of the project `default` and of the server."""

    def __init__(self, database: Database, local_token: str, *, project: str = "default", user: str = "you") -> None:
        self._database = database
        own = token_hash(local_token)
        with database.writing() as work:
            self.local = work.projects.ensure_local(project, user, own, work.clock.now())
            if not work.tokens.is_valid(own):
                raise SettingsBroken(reason="its own token was revoked; remove the file token in its data folder")
        self._lock = threading.Lock()
        self._is_alone: bool | None = None
        self._changes = 0
        self.uses = TokenUses(database)
        self.tokens = Tokens(database, self.uses, own)
        self.users = Users(database, self.tokens)
        self.projects = Projects(database)
        self.groups = Groups(database)
        self.audit = Audit(database)

    def identify(self, token: str | None, project: str | None) -> Member:
        """Return whom a token stands for, in the project that is named or its own.

        Without a token that is the server's own user. Another project is as good as none.
        """
        with self._database.asking() as work:
            now = work.clock.now()
            if token is None:
                found = work.projects.member_by_id(self.local.user_id, project or self.local.project)
            else:
                found = work.projects.member_by_token(token_hash(token), project, now)
        if found is None:
            raise NotSignedIn
        if not isinstance(found, Member):
            raise ProjectNotFound(project=one_line((project or "")[:128]))
        if found.token is not None:
            self.uses.note(found.token, now)
        return found

    def identify_all(self, tokens: Collection[str | None], project: str) -> dict[str | None, Member | AcaiError]:
        """Return whom tokens stand for in a project, each a member or the reason why it is refused.

        However many there are, it is one statement, and one more for the server's own user.
        """
        hashes = {token: token_hash(token) for token in tokens if token is not None}
        found: dict[str | None, Member | AcaiError] = {}
        with self._database.reading() as work:
            now = work.clock.now()
            known = work.projects.members_by_tokens(hashes.values(), project, now)
            by_token: dict[str | None, Member | Stranger | None] = {
                token: known.get(hashed) for token, hashed in hashes.items()
            }
            if None in tokens:
                by_token[None] = work.projects.member_by_id(self.local.user_id, project)
        for token, member in by_token.items():
            if isinstance(member, Member):
                found[token] = member
                if member.token is not None:
                    self.uses.note(member.token, now)
            else:
                found[token] = NotSignedIn() if member is None else ProjectNotFound(project=one_line(project[:128]))
        return found

    def authorise(self, member: Member, access: Access) -> None:
        """Refuse what somebody may not do; to who is not in the project, it is not there."""
        if access in allowed(member):
            return
        if member.role is None and access not in _ANYWHERE:
            raise ProjectNotFound(project=member.project)
        raise NotAllowed(user=member.name, action=_ACTIONS[access])

    def sight_of(self, member: Member) -> Sight | None:
        """Return what a project's restrictions close to somebody; none where there are no restrictions.

        An admin, who could let themselves through, is let through; what they read is written down all the same.
        """
        if not member.has_restrictions or member.role is None:
            return None
        if member.role is Role.ADMIN:
            return Sight()
        with self._database.asking() as work:
            rights = work.restrictions.rights(member.project_id, member.user_id)
        closed = [right for right in rights if not right.writes]
        return Sight(
            tuple(sorted(right.restriction for right in rights if not right.reads)),
            frozenset(right.name for right in closed if right.kind == "file_set"),
            tuple(right.name for right in closed if right.kind == "folder"),
        )

    def sight_later(self, project: ProjectId, user: UserId) -> Sight | None:
        """Return how somebody sees a project, for whom something is done later; refuse it where they no more may."""
        with self._database.asking() as work:
            member = work.projects.member_in(user, project)
        if member is None or Access.WRITE not in allowed(member):
            raise NotAllowed(user="whoever asked" if member is None else member.name, action=_ACTIONS[Access.WRITE])
        return self.sight_of(member)

    def has_one_user(self) -> bool:
        """Whether nobody but the server's own user can do anything here."""
        with self._lock:
            known, seen = self._is_alone, self._changes
        if known is not None:
            return known
        with self._database.asking() as work:
            is_alone = work.projects.users() == 1
        with self._lock:
            if self._changes == seen:  # else somebody may have come since
                self._is_alone = is_alone
        return is_alone

    def look_again(self) -> None:
        """Forget how many users there are: somebody may have come."""
        with self._lock:
            self._is_alone = None
            self._changes += 1


_ACTIONS = {
    Access.READ: "read",
    Access.WRITE: "write or run anything",
    Access.ADMIN: "change users, roles, quotas and what is kept",
    Access.OWN: "make, see or end tokens with a token of this scope",
    Access.OBSERVE: "see how the server does",
    Access.GLOBAL_ADMIN: "create projects",
}
