"""Who a token stands for."""

from __future__ import annotations

import hashlib
from typing import TYPE_CHECKING

from acai_jupyter.contract.endpoints import Access
from acai_jupyter.contract.errors import NotAllowed, NotSignedIn, ProjectNotFound
from acai_jupyter.contract.states import Role

if TYPE_CHECKING:
    from acai_server.db.database import Database
    from acai_server.db.projects import Member

ALLOWED: dict[Role, frozenset[Access]] = {
    Role.VIEWER: frozenset((Access.READ,)),
    Role.MEMBER: frozenset((Access.READ, Access.WRITE)),
    Role.ADMIN: frozenset((Access.READ, Access.WRITE)),
}


class Credentials:
    """The embedded default has one user, who is an admin of the project `default`."""

    def __init__(self, database: Database, local_token: str, *, project: str = "default", user: str = "you") -> None:
        self._database = database
        with database.writing() as work:
            self.local = work.projects.ensure_local(project, user, token_hash(local_token), work.clock.now())

    def authenticate(self, token: str) -> Member:
        """Return whom a token stands for."""
        with self._database.reading() as work:
            member = work.projects.member_by_token(token_hash(token), work.clock.now())
        if member is None:
            raise NotSignedIn
        return member

    def authorise(self, member: Member, project: str | None, access: Access) -> None:
        """Refuse what the member's role does not allow. Another project is as good as none."""
        if project not in (None, member.project):
            raise ProjectNotFound(project=project)
        if access not in ALLOWED[member.user.role]:
            raise NotAllowed(user=member.user.name, action=access.value)


def token_hash(token: str) -> bytes:
    """Return what is kept of a token. It is random and long, so one round of SHA-256 is enough."""
    return hashlib.sha256(token.encode()).digest()
