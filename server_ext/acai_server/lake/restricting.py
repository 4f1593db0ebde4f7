"""Restricting file sets and folders to some of a project's users, and opening what was made of them."""

from __future__ import annotations

from typing import TYPE_CHECKING

import msgspec

from acai_jupyter.contract.accounts import check_user
from acai_jupyter.contract.errors import Conflict, RestrictionNotFound, TooManyKept, UserNotFound
from acai_jupyter.contract.filesets import check_note
from acai_jupyter.contract.foreign import one_line
from acai_jupyter.contract.ids import FileSetVersionId
from acai_jupyter.contract.restrictions import (
    GROUP,
    Lift,
    LiftList,
    LiftRestrictions,
    Restrict,
    Restriction,
    RestrictionList,
    parse_restricted,
    parse_who,
    written,
)
from acai_jupyter.contract.specs import parse_set
from acai_server.db import pages, sight
from acai_server.db.restrictions import READ, WRITE
from acai_server.lake import manifests
from acai_server.lake.filesets import Chunks, named

if TYPE_CHECKING:
    from acai_jupyter.contract.ids import ProjectId, UserId
    from acai_jupyter.contract.queries import NumberedQuery
    from acai_jupyter.contract.restrictions import RestrictionQuery
    from acai_server.db.database import Database
    from acai_server.db.work import Work

Grants = list[tuple[int | None, int | None, str]]
Versions = set[FileSetVersionId]
MOST = 1000
"""Restrictions of a project: each request of whoever is not its admin looks at all of them."""


class Restrictions:
    """The restrictions of projects. Who changes one has the project locked, so nothing slips past that is made."""

    def __init__(self, database: Database) -> None:
        self._database = database

    def listed(self, project: ProjectId, asked: RestrictionQuery) -> RestrictionList:
        """Return a page of the restrictions behind which whoever asks can see, or that a file set version is behind."""
        with self._database.reading() as work:
            found = {row: name for row, name in work.restrictions.named(project).items() if row not in sight.unseen()}
            if asked.file_set is not None:
                behind = work.restricted.behind(work.file_sets.find(project, parse_set(asked.file_set)).id)
                found = {row: name for row, name in found.items() if row in behind}
            rows = [row for row, name in found.items() if not asked.after or _place(name) > _place(asked.after)]
            rows, last = pages.cut(rows, asked.limit, lambda row: found[row])
            return RestrictionList(list(work.restrictions.listed(project, rows).values()), last)

    def set(self, project: ProjectId, user: UserId, wanted: Restrict) -> Restriction:
        """Restrict a name or a folder, or say anew whom a restriction lets through."""
        kind, name = parse_restricted(wanted.what)
        own, newest = self._holding(project, name) if kind == "folder" else (set(), 0)
        with self._database.writing() as work:
            work.uploads.lock_project(project)
            grants = [*_grants(work, project, wanted.readers, READ), *_grants(work, project, wanted.writers, WRITE)]
            row = work.restrictions.find(project, kind, name)
            if row is None:
                if len(work.restrictions.named(project)) >= MOST:
                    raise TooManyKept(owner="the project", limit=MOST, things="restrictions")
                row = work.restrictions.add(project, kind, name, user, work.clock.now())
                work.restricted.begin(row, own | (_holding(work, project, name, newest) if kind == "folder" else set()))
                work.restricted.spread(project, row)
            work.restrictions.let_through(row, grants)
            work.events.record(project, "access_changed", "access")
            return work.restrictions.listed(project)[row]

    def end(self, project: ProjectId, what: str) -> Restriction:
        """Let everybody in the project through again."""
        kind, name = parse_restricted(what)
        with self._database.writing() as work:
            work.uploads.lock_project(project)
            row = work.restrictions.find(project, kind, name)
            if row is None:
                raise RestrictionNotFound(what=written(kind, name))
            was = work.restrictions.listed(project)[row]
            work.restricted.end(row)
            work.restrictions.end(project, row)
            work.events.record(project, "access_changed", "access")
        return was

    def lifts(self, project: ProjectId, asked: NumberedQuery) -> LiftList:
        """Return a page of what was opened, why and by whom."""
        with self._database.reading() as work:
            found = work.restrictions.lifts(project, asked.before, asked.limit + 1)
        lifts, last = pages.cut(found, asked.limit, lambda one: one[0])
        return LiftList([lift for _, lift in lifts], last)

    def lift(self, project: ProjectId, user: UserId, wanted: LiftRestrictions) -> Lift:
        """Open a file set, or one version, though it was made of what is restricted; what is made of it is open too."""
        check_note(wanted.reason)
        with self._database.writing() as work:
            work.uploads.lock_project(project)
            file_set, number = _meant(work, project, wanted.file_set)
            work.restrictions.end_lift(file_set, number, work.clock.now())
            work.restrictions.lift(file_set, number, wanted.reason, user, work.clock.now())
            _spread(work, project)
            return work.restrictions.lifts(project, None, 1)[0][1]

    def end_lift(self, project: ProjectId, text: str) -> Lift:
        """Put a file set back behind what it was made of."""
        with self._database.writing() as work:
            work.uploads.lock_project(project)
            meant, now = _meant(work, project, text), work.clock.now()
            was = work.restrictions.lifted(*meant)
            if was is None:
                raise Conflict(reason=f"nothing is lifted of '{text}'; acai access lifts says of what something is")
            work.restrictions.end_lift(*meant, now)
            _spread(work, project)
        return msgspec.structs.replace(was, ended_at=now)

    def _holding(self, project: ProjectId, folder: str) -> tuple[Versions, int]:
        """Find the versions with files of a folder before others have to wait for it, and the newest looked at."""
        with self._database.reading() as work:
            newest = max(work.file_sets.readable(project, 0), default=0)
            return _holding(work, project, folder, 0), newest


def _place(what: str) -> tuple[bool, str]:
    """Where a restriction stands: file sets first, then folders."""
    return not what.startswith("@"), what


def _holding(work: Work, project: ProjectId, folder: str, above: int) -> Versions:
    chunks = Chunks(work, project)
    found: Versions = set()
    known: dict[bytes, bool] = {}
    for version, root in work.file_sets.readable(project, above).items():
        if root not in known:
            first = next(manifests.entries(root, chunks, folder), None)
            known[root] = first is not None and first.path.startswith(folder)
        if known[root]:
            found.add(version)
    return found


def _spread(work: Work, project: ProjectId) -> None:
    for row in work.restrictions.listed(project):
        work.restricted.spread(project, row)
    work.events.record(project, "access_changed", "access")


def _meant(work: Work, project: ProjectId, text: str) -> tuple[int, int | None]:
    """The name that is meant, and its version if one is named."""
    if ":" not in text:
        return named(work, project, text, "").id, None
    stored = work.file_sets.find(project, parse_set(text))
    return stored.file_set_id, stored.public.version


def _grants(work: Work, project: ProjectId, names: list[str], allows: str) -> Grants:
    return [_grant(work, project, name, allows) for name in dict.fromkeys(names)]


def _grant(work: Work, project: ProjectId, text: str, allows: str) -> tuple[int | None, int | None, str]:
    is_group, name = parse_who(text)
    if is_group:
        group = work.restrictions.find_group(project, name)
        if group is None:
            raise UserNotFound(user=f"{GROUP}{name}")
        return None, group, allows
    user = work.users.find(project, check_user(name))
    if user is None:
        raise UserNotFound(user=one_line(name[:64]))
    return user[0], None, allows
