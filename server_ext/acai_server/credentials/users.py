"""Users in a project: let in, changed, taken out. A project always keeps an admin."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import msgspec

from acai_jupyter.contract.accounts import (
    CreatedUser,
    CreateToken,
    CreateUser,
    IssuedToken,
    ProjectUser,
    Token,
    TokenList,
    UpdateUser,
    UserList,
    check_token,
    check_user,
)
from acai_jupyter.contract.errors import Conflict, NotAllowed, ProjectNotFound, TokenNotFound, UserNotFound
from acai_jupyter.contract.foreign import one_line
from acai_jupyter.contract.queries import FIRST
from acai_jupyter.contract.states import Role, Scope
from acai_server.credentials.tokens import free_name, issue
from acai_server.db import pages

if TYPE_CHECKING:
    from acai_jupyter.contract.ids import ProjectId, UserId
    from acai_jupyter.contract.queries import NamedQuery
    from acai_server.credentials.tokens import Tokens
    from acai_server.db.database import Database
    from acai_server.db.projects import Member
    from acai_server.db.work import Work

FIRST_TOKEN = "first"  # noqa: S105 (a name)


class Users:
    """The users of projects."""

    def __init__(self, database: Database, tokens: Tokens) -> None:
        self._database = database
        self._tokens = tokens

    def listed(self, project: ProjectId, asked: NamedQuery = FIRST) -> UserList:
        """Return a page of who is in a project."""
        self._tokens.write_uses()
        with self._database.reading() as work:
            found = work.users.listed(project, asked.after, asked.limit + 1)
        return UserList(*pages.cut(found, asked.limit, lambda one: one.name))

    def create(self, member: Member, wanted: CreateUser) -> CreatedUser:
        """Let somebody in, with a token that opens this project and nothing else."""
        check_user(wanted.name)
        project = member.project_id
        with self._database.writing() as work:
            work.uploads.lock_project(project)
            user, issued = enter(work, (project, member.project), wanted)
        return CreatedUser(user, issued)

    def change(self, project: ProjectId, name: str, wanted: UpdateUser) -> ProjectUser:
        """Give a user another role or quota."""
        with self._database.writing() as work:
            work.uploads.lock_project(project)
            user, before = found(work, project, name)
            values: dict[str, Any] = {}
            if wanted.role is not msgspec.UNSET:
                if wanted.role is not Role.ADMIN:
                    _keep_an_admin(work, project, before)
                values["role"] = wanted.role.value
            if wanted.quota is not msgspec.UNSET:
                values["quota"] = wanted.quota
            if values:
                work.users.change(project, user, values)
                work.events.record(project, "user_changed", f"user {before.name}")
            return found(work, project, name)[1]

    def remove(self, project: ProjectId, name: str) -> ProjectUser:
        """Take a user out; what they made stays, and what they submitted goes on."""
        with self._database.writing() as work:
            work.uploads.lock_project(project)
            user, before = found(work, project, name)
            _keep_an_admin(work, project, before)
            work.users.leave(project, user)
            work.restrictions.forget_user(project, user)
            work.tokens.revoke_all(user, project, work.clock.now())
            work.events.record(project, "user_removed", f"user {before.name}")
        return before

    def tokens(self, project: ProjectId, name: str, asked: NamedQuery = FIRST) -> TokenList:
        """Return a page of the tokens that a user has of a project."""
        with self._database.reading() as work:
            user, _ = found(work, project, name)
        return self._tokens.listed(project, user, asked)

    def create_token(self, member: Member, name: str, wanted: CreateToken) -> IssuedToken:
        """Make a token of this project for a user."""
        check_token(wanted.name)
        if wanted.all_projects:
            raise NotAllowed("A token that opens all projects can only be made by the user it stands for.")
        with self._database.writing() as work:
            user, known = found(work, member.project_id, name)
            return issue(work, (user, known.name), (member.project_id, member.project), wanted)

    def revoke_token(self, project: ProjectId, name: str, token: str) -> Token:
        """End a user's token of this project."""
        with self._database.reading() as work:
            user, _ = found(work, project, name)
        try:
            return self._tokens.revoke(project, user, token)
        except TokenNotFound as error:
            raise TokenNotFound(token=one_line(token[:64]), user=name) from error


def replace_lost(database: Database, project: str, name: str) -> IssuedToken:
    """Make a token of a project for a user who has none left, whoever asks: an operator, at the database itself."""
    with database.writing() as work:
        there = work.projects.find(project)
        if there is None:
            raise ProjectNotFound(project=one_line(project[:128]))
        user, known = found(work, there, name)
        taken = {stored.public.name for stored in work.tokens.listed(user, there)}
        request = CreateToken(free_name("replaced", taken), Scope.ADMIN)
        return issue(work, (user, known.name), (there, project), request)


def enter(work: Work, project: tuple[ProjectId, str], wanted: CreateUser) -> tuple[ProjectUser, IssuedToken]:
    """Put a user, of whom the server may know from elsewhere, into a project."""
    user = work.users.ensure(wanted.name, work.clock.now())
    if not work.users.join(project[0], user, wanted.role, wanted.quota):
        raise Conflict(reason=f"{wanted.name} is in this project already")
    taken = {stored.public.name for stored in work.tokens.listed(user, project[0])}
    request = CreateToken(free_name(FIRST_TOKEN, taken), Scope.ADMIN, wanted.expires_in_days)
    issued = issue(work, (user, wanted.name), project, request)
    work.events.record(project[0], "user_created", f"user {wanted.name}")
    return found(work, project[0], wanted.name)[1], issued


def found(work: Work, project: ProjectId, name: str) -> tuple[UserId, ProjectUser]:
    """Return a user of a project, or say that there is none."""
    user = work.users.find(project, name)
    if user is None:
        raise UserNotFound(user=one_line(name[:64]))
    return user


def _keep_an_admin(work: Work, project: ProjectId, user: ProjectUser) -> None:
    if user.role is Role.ADMIN and work.users.admins(project) == 1:
        reason = f"{user.name} is the only admin of this project; make somebody else an admin first"
        raise Conflict(reason=reason)
