"""Groups: users of a project who are named together."""

from __future__ import annotations

from typing import TYPE_CHECKING

from acai_jupyter.contract.accounts import check_group, check_user
from acai_jupyter.contract.errors import GroupNotFound
from acai_jupyter.contract.foreign import one_line
from acai_jupyter.contract.queries import FIRST
from acai_jupyter.contract.restrictions import Group, GroupList
from acai_server.credentials.users import found
from acai_server.db import pages

if TYPE_CHECKING:
    from acai_jupyter.contract.ids import ProjectId
    from acai_jupyter.contract.queries import NamedQuery
    from acai_server.db.database import Database


class Groups:
    """The groups of projects."""

    def __init__(self, database: Database) -> None:
        self._database = database

    def listed(self, project: ProjectId, asked: NamedQuery = FIRST) -> GroupList:
        """Return a page of who is in which group."""
        with self._database.reading() as work:
            theirs = work.restrictions.groups(project, asked.after, asked.limit + 1)
        return GroupList(*pages.cut(theirs, asked.limit, lambda one: one.name))

    def set(self, project: ProjectId, name: str, users: list[str]) -> Group:
        """Say who is in a group, in the place of who was."""
        check_group(name)
        for user in users:
            check_user(user)
        with self._database.writing() as work:
            work.uploads.lock_project(project)
            rows = [found(work, project, user)[0] for user in dict.fromkeys(users)]
            group = work.restrictions.set_group(project, name, rows)
            work.events.record(project, "access_changed", "access")
            return work.restrictions.group(group, name)

    def remove(self, project: ProjectId, name: str) -> Group:
        """Take a group away; restrictions let nobody through as one of it any more."""
        with self._database.writing() as work:
            work.uploads.lock_project(project)
            row = work.restrictions.find_group(project, name)
            if row is None:
                raise GroupNotFound(group=one_line(name[:64]))
            was = work.restrictions.group(row, name)
            work.restrictions.remove_group(row)
            work.events.record(project, "access_changed", "access")
        return was
