"""Aliases: names that people give to versions of file sets, and take away, with the history of both."""

from __future__ import annotations

from typing import TYPE_CHECKING

from acai_jupyter.contract.errors import BadRequest, BadSpec, FileSetNotFound, TooManyKept, printable
from acai_jupyter.contract.filesets import AliasPage, FileSet
from acai_jupyter.contract.specs import check_name, parse_set
from acai_server.db import pages, sight
from acai_server.lake.filesets import named

if TYPE_CHECKING:
    from acai_jupyter.contract.ids import ProjectId, UserId
    from acai_server.db.database import Database
    from acai_server.db.filesets import NamedFileSet
    from acai_server.db.work import Work

_BELONG = "aliases belong to a name"
_PAGE = 100
MOST = 1000
"""Of a name at once: all of them are with each answer about it."""


class Aliases:
    """An alias stands for one version of its name, or for none. Whoever changes one has the project locked."""

    def __init__(self, database: Database) -> None:
        self._database = database

    def page(self, project: ProjectId, text: str, before: int | None, limit: int) -> AliasPage:
        """Return what the aliases of a name are now, and a page of their changes."""
        with self._database.reading() as work:
            return _page(work, named(work, project, text, _BELONG), before, limit)

    def set(self, project: ProjectId, user: UserId, ref: str, alias: str) -> FileSet:
        """Let an alias stand for a version."""
        _check(alias)
        with self._database.writing() as work:
            work.uploads.lock_project(project)
            stored = work.file_sets.find(project, parse_set(ref))
            if alias not in stored.public.aliases:
                name = work.file_sets.name(project, stored.public.name)
                assert name is not None
                _change(work, project, user, name, alias, stored.public.version)
                stored = work.file_sets.by_id([stored.id])[stored.id]
            return stored.public

    def remove(self, project: ProjectId, user: UserId, text: str, alias: str) -> AliasPage:
        """Let an alias stand for nothing any more."""
        _check(alias)
        with self._database.writing() as work:
            work.uploads.lock_project(project)
            name = named(work, project, text, _BELONG)
            if work.aliases.number(name.id, alias) is None:
                said = f"{name.name} has no alias '{alias}'.{work.file_sets.said_aliases(name)}"
                raise FileSetNotFound(said, name=f"{name.name}:{alias}")
            _change(work, project, user, name, alias, None)
            return _page(work, name, None, _PAGE)


def _check(alias: str) -> None:
    try:
        check_name(alias)
    except BadSpec as error:
        shown = printable(alias[:80])
        raise BadRequest(reason=f"'{shown}' cannot be an alias, as {error.details['reason']}") from error


def _change(work: Work, project: ProjectId, user: UserId, name: NamedFileSet, alias: str, number: int | None) -> None:
    sight.refuse_set(name.name)
    was = work.aliases.number(name.id, alias)
    if was is None and number is not None and len(work.aliases.of(name.id)) >= MOST:
        raise TooManyKept(owner=name.name, limit=MOST, things="aliases")
    work.aliases.add(name.id, alias, number, user, work.clock.now())
    told = {"version": number, "was": was, "user": work.uploads.creator(user)}
    work.events.record(project, "alias_changed", f"{name.name}:{alias}", **told)


def _page(work: Work, name: NamedFileSet, before: int | None, limit: int) -> AliasPage:
    changes = pages.cut(work.aliases.changes(name.id, before, limit + 1), limit, lambda one: one.number)
    return AliasPage(work.aliases.of(name.id), *changes)
