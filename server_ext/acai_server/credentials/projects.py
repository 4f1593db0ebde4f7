"""Projects: created by a global admin, who thereby makes their admin."""

from __future__ import annotations

from typing import TYPE_CHECKING

from acai_jupyter.contract.accounts import (
    CreatedProject,
    CreateProject,
    CreateUser,
    ProjectList,
    check_project,
    check_user,
)
from acai_jupyter.contract.endpoints import Access
from acai_jupyter.contract.errors import Conflict
from acai_jupyter.contract.queries import FIRST
from acai_jupyter.contract.states import Role
from acai_server.credentials.permissions import allowed
from acai_server.credentials.users import enter
from acai_server.db import pages

if TYPE_CHECKING:
    from acai_jupyter.contract.queries import NamedQuery
    from acai_server.db.database import Database
    from acai_server.db.projects import Member


class Projects:
    """The projects of a server."""

    def __init__(self, database: Database) -> None:
        self._database = database

    def listed(self, member: Member, asked: NamedQuery = FIRST) -> ProjectList:
        """Return a page of the projects that what somebody has shown opens; to a global admin the names of all."""
        sees_all = Access.GLOBAL_ADMIN in allowed(member)
        only = None if member.all_projects else member.project_id
        with self._database.asking() as work:
            found = work.projects.listed(
                member.user_id, all_of_them=sees_all, only=only, after=asked.after, limit=asked.limit + 1
            )
        return ProjectList(*pages.cut(found, asked.limit, lambda one: one.name))

    def create(self, member: Member, wanted: CreateProject) -> CreatedProject:
        """Make a project with an admin: who asks, or somebody else, who gets a token of it."""
        check_project(wanted.name)
        admin = wanted.admin or member.name
        with self._database.writing() as work:
            project = work.projects.create(wanted.name, work.clock.now())
            if project is None:
                raise Conflict(reason=f"there is a project '{wanted.name}' already")
            if admin == member.name:
                work.users.join(project, member.user_id, Role.ADMIN, None)
                return CreatedProject(wanted.name, admin, None)
            check_user(admin)
            _, issued = enter(work, (project, wanted.name), CreateUser(admin, Role.ADMIN))
        return CreatedProject(wanted.name, admin, issued)
