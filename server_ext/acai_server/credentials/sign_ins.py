"""Users who come with the word of somebody outside: they get a token of a project that they are in."""

from __future__ import annotations

from typing import TYPE_CHECKING

from acai_jupyter.contract.accounts import CreateToken, IssuedToken, check_user
from acai_jupyter.contract.errors import BadRequest, NotAllowed, ProjectNotFound
from acai_jupyter.contract.foreign import one_line
from acai_jupyter.contract.states import Scope
from acai_server.credentials.tokens import free_name, issue
from acai_server.db.projects import Member

if TYPE_CHECKING:
    from collections.abc import Mapping

    from acai_jupyter.contract.sign_in import SignIn
    from acai_server.db.database import Database
    from acai_server.identities.protocol import Identity

OIDC, HUB = "oidc", "jupyterhub"
NAME = "sign-in"


class SignIns:
    """Who may vouch for users, by how: the operator has named them. A token is for so many days."""

    def __init__(self, database: Database, identities: Mapping[str, Identity], days: float) -> None:
        self._database = database
        self._identities = identities
        self._days = days

    def sign_in(self, wanted: SignIn) -> tuple[Member, IssuedToken]:
        """Let in whoever is vouched for, and is in a project. Who that is here was said by its admin."""
        ways = {OIDC: wanted.id_token, HUB: wanted.hub_token}
        shown = [(way, token) for way, token in ways.items() if token is not None]
        if len(shown) != 1:
            raise BadRequest(reason="it has to bring either an ID token or a token of JupyterHub")
        way, token = shown[0]
        if way not in self._identities:
            raise BadRequest("Nobody signs in here that way; ask whoever operates this server for a token.")
        name = check_user(self._identities[way].whose(token))
        return self._let_in(name, wanted.project)

    def _let_in(self, name: str, project: str | None) -> tuple[Member, IssuedToken]:
        with self._database.writing() as work:
            user = work.users.named(name)
            if user is None:
                raise _nowhere(name)
            theirs = [one.name for one in work.projects.listed(user, all_of_them=False, only=None)]
            if not theirs:
                raise _nowhere(name)
            if project is not None and project not in theirs:
                raise ProjectNotFound(project=one_line(project))
            member = work.projects.member_by_id(user, project or theirs[0])
            assert isinstance(member, Member), "they are in it, and nobody changes that here meanwhile"
            if member.is_global_admin:
                raise NotAllowed(f"{name} operates this server, and signs in by a token of it alone.")
            work.tokens.end_expired(user, NAME, work.clock.now())  # else they would pile up in the list
            taken = {stored.public.name for stored in work.tokens.listed(user, member.project_id)}
            request = CreateToken(free_name(NAME, taken), Scope.ADMIN, self._days, all_projects=True)
            return member, issue(work, (user, name), (member.project_id, member.project), request)


def _nowhere(name: str) -> NotAllowed:
    return NotAllowed(f"You are {name}, who is in no project here; ask an admin of one for: acai user create {name}.")
