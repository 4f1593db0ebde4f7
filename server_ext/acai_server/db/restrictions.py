"""Records of restrictions, of whom they let through, and of groups. What is behind them: `restricted.py`."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from acai_jupyter.contract.restrictions import GROUP, Group, Lift, Restriction, written
from acai_server.db import batches

if TYPE_CHECKING:
    from collections.abc import Container, Iterable
    from datetime import datetime

    from sqlalchemy.orm import Session

    from acai_jupyter.contract.ids import ProjectId, UserId

READ, WRITE = "read", "write"
_ALL = """
    SELECT r.id, r.kind, r.name, u.name AS creator, r.created_at FROM restriction r
    JOIN user_account u ON u.id = r.user_id WHERE r.project_id = ?"""
_GRANTS = """
    SELECT g.restriction_id, g.allows, u.name, p.name FROM restriction_grant g
    LEFT JOIN user_account u ON u.id = g.user_id LEFT JOIN user_group p ON p.id = g.group_id
    WHERE g.restriction_id IN"""
_RIGHTS = """
    SELECT r.id, r.kind, r.name,
    max(CASE WHEN g.user_id = ? OR m.user_id IS NOT NULL THEN CASE g.allows WHEN 'write' THEN 2 ELSE 1 END ELSE 0 END)
    FROM restriction r LEFT JOIN restriction_grant g ON g.restriction_id = r.id
    LEFT JOIN group_member m ON m.group_id = g.group_id AND m.user_id = ?
    WHERE r.project_id = ? GROUP BY r.id, r.kind, r.name"""
_ADD = """
    INSERT INTO restriction (project_id, kind, name, user_id, created_at) VALUES (?, ?, ?, ?, ?) RETURNING id"""
_GRANT = "INSERT INTO restriction_grant (restriction_id, user_id, group_id, allows) VALUES (?, ?, ?, ?)"
_COUNT = """
    UPDATE project SET restrictions = (SELECT count(*) FROM restriction WHERE project_id = project.id) WHERE id = ?"""
_LIFT = """
    SELECT n.name, l.number, l.reason, u.name, l.at, l.ended_at FROM lift l JOIN file_set n ON n.id = l.file_set_id
    JOIN user_account u ON u.id = l.user_id WHERE """
_GROUPS = "SELECT id, name FROM user_group WHERE project_id = ? AND name > ? ORDER BY name LIMIT ?"
_MEMBERS = """
    SELECT m.group_id, u.name FROM group_member m JOIN user_account u ON u.id = m.user_id WHERE m.group_id IN"""
_LIFTS = """
    SELECT n.name, l.number, l.reason, u.name, l.at, l.ended_at, l.place FROM (
        SELECT l.*, row_number() OVER (ORDER BY l.id) AS place
        FROM lift l JOIN file_set n ON n.id = l.file_set_id WHERE n.project_id = ?
    ) AS l JOIN file_set n ON n.id = l.file_set_id JOIN user_account u ON u.id = l.user_id
    WHERE l.place < ? ORDER BY l.place DESC LIMIT ?"""
"""Numbered within the project: who lifts something has it locked, and a lift is never taken away."""
_NO_LIMIT = 2**53
_LEFT = (
    "DELETE FROM group_member WHERE user_id = ? AND group_id IN (SELECT id FROM user_group WHERE project_id = ?)",
    """DELETE FROM restriction_grant WHERE user_id = ?
    AND restriction_id IN (SELECT id FROM restriction WHERE project_id = ?)""",
)


@dataclass(frozen=True)
class Right:
    """What somebody may do behind a restriction."""

    restriction: int
    kind: str
    name: str
    reads: bool
    writes: bool


class RestrictionRecords:
    """Restrictions by project."""

    def __init__(self, session: Session) -> None:
        self._session = session

    def rights(self, project: ProjectId, user: UserId) -> list[Right]:
        """Return what a user may do behind each restriction of a project."""
        rows = batches.select(self._session, _RIGHTS, user, user, project)
        return [Right(row, kind, name, reads=allowed > 0, writes=allowed > 1) for row, kind, name, allowed in rows]

    def sees_all(self, project: ProjectId, user: UserId) -> bool:
        """Whether nothing in a project is hidden from a user."""
        if all(right.reads for right in self.rights(project, user)):
            return True
        sql = "SELECT 1 FROM membership WHERE project_id = ? AND user_id = ? AND role = 'admin'"
        return bool(batches.select(self._session, sql, project, user))

    def named(self, project: ProjectId) -> dict[int, str]:
        """Return all restrictions of a project, in the order of what they restrict, as people write that."""
        return {row.id: written(row.kind, row.name) for row in self._all(project)}

    def listed(self, project: ProjectId, only: Container[int] | None = None) -> dict[int, Restriction]:
        """Return restrictions of a project, by what they restrict: all, or some of them."""
        rows = [row for row in self._all(project) if only is None or row.id in only]
        through: dict[tuple[int, str], list[str]] = {}
        for restriction, allows, user, group in batches.select_in(self._session, _GRANTS, [row.id for row in rows]):
            through.setdefault((restriction, allows), []).append(user or f"{GROUP}{group}")
        return {
            row.id: Restriction(
                written(row.kind, row.name),
                sorted(through.get((row.id, READ), [])),
                sorted(through.get((row.id, WRITE), [])),
                row.creator,
                batches.as_time(row.created_at),
            )
            for row in rows
        }

    def _all(self, project: ProjectId) -> list[Any]:
        return sorted(batches.select(self._session, _ALL, project), key=lambda row: (row.kind, row.name))

    def find(self, project: ProjectId, kind: str, name: str) -> int | None:
        """Return a restriction by what it restricts."""
        sql = "SELECT id FROM restriction WHERE project_id = ? AND kind = ? AND name = ?"
        found = batches.select(self._session, sql, project, kind, name)
        return found[0][0] if found else None

    def add(self, project: ProjectId, kind: str, name: str, user: UserId, now: datetime) -> int:
        """Write a restriction that lets nobody through yet."""
        at = batches.as_stored(self._session, now)
        row = batches.select(self._session, _ADD, project, kind, name, user, at)[0][0]
        batches.changed(self._session, _COUNT, project)
        return int(row)

    def let_through(self, restriction: int, grants: Iterable[tuple[int | None, int | None, str]]) -> None:
        """Say whom a restriction lets through, in the place of what was said before: users, groups, and to do what."""
        batches.changed(self._session, "DELETE FROM restriction_grant WHERE restriction_id = ?", restriction)
        batches.change(self._session, _GRANT, [(restriction, user, group, allows) for user, group, allows in grants])

    def end(self, project: ProjectId, restriction: int) -> None:
        """Take a restriction away. Nothing may be behind it any more."""
        batches.changed(self._session, "DELETE FROM restriction_grant WHERE restriction_id = ?", restriction)
        batches.changed(self._session, "DELETE FROM restriction WHERE id = ?", restriction)
        batches.changed(self._session, _COUNT, project)

    def forget_user(self, project: ProjectId, user: UserId) -> None:
        """Let a user who leaves a project through nothing in it any more."""
        for sql in _LEFT:
            batches.changed(self._session, sql, user, project)

    # -- lifts

    def lifts(self, project: ProjectId, below: int | None, limit: int) -> list[tuple[int, Lift]]:
        """Return lifts of a project with their numbers in it, the newest first, from below a number on."""
        bound = _NO_LIMIT if below is None else below
        return [(row[-1], _lift(row[:-1])) for row in batches.select(self._session, _LIFTS, project, bound, limit)]

    def lift(self, file_set: int, number: int | None, reason: str, user: UserId, now: datetime) -> None:
        """Write why a file set is open."""
        sql = "INSERT INTO lift (file_set_id, number, reason, user_id, at) VALUES (?, ?, ?, ?, ?)"
        batches.changed(self._session, sql, file_set, number, reason, user, batches.as_stored(self._session, now))

    def lifted(self, file_set: int, number: int | None) -> Lift | None:
        """Return the lift of a name, or of one of its versions, that has not ended."""
        which = "l.number IS NULL" if number is None else "l.number = ?"
        sql = _LIFT + f"l.ended_at IS NULL AND n.id = ? AND {which}"
        found = batches.select(self._session, sql, file_set, *(() if number is None else (number,)))
        return _lift(found[0]) if found else None

    def end_lift(self, file_set: int, number: int | None, now: datetime) -> None:
        """End what is lifted of a name, or of one of its versions."""
        which = "number IS NULL" if number is None else "number = ?"
        sql = f"UPDATE lift SET ended_at = ? WHERE ended_at IS NULL AND file_set_id = ? AND {which}"  # noqa: S608 (SQL of ours)
        given = (batches.as_stored(self._session, now), file_set)
        batches.changed(self._session, sql, *given, *(() if number is None else (number,)))

    # -- groups

    def groups(self, project: ProjectId, after: str, limit: int) -> list[Group]:
        """Return groups of a project, by name, from behind a name on."""
        names = dict(batches.select(self._session, _GROUPS, project, after, limit))
        return [Group(names[group], users) for group, users in self._members(list(names)).items()]

    def group(self, group: int, name: str) -> Group:
        """Return one group."""
        return Group(name, self._members([group])[group])

    def _members(self, groups: list[int]) -> dict[int, list[str]]:
        found: dict[int, list[str]] = {group: [] for group in groups}
        for group, user in batches.select_in(self._session, _MEMBERS, groups):
            found[group].append(user)
        return {group: sorted(users) for group, users in found.items()}

    def find_group(self, project: ProjectId, name: str) -> int | None:
        """Return the group of a name."""
        sql = "SELECT id FROM user_group WHERE project_id = ? AND name = ?"
        found = batches.select(self._session, sql, project, name)
        return found[0][0] if found else None

    def set_group(self, project: ProjectId, name: str, users: Iterable[UserId]) -> int:
        """Say who is in a group, which is made if there is none of the name."""
        group = self.find_group(project, name)
        if group is None:
            sql = "INSERT INTO user_group (project_id, name) VALUES (?, ?) RETURNING id"
            group = batches.select(self._session, sql, project, name)[0][0]
        batches.changed(self._session, "DELETE FROM group_member WHERE group_id = ?", group)
        sql = "INSERT INTO group_member (group_id, user_id) VALUES (?, ?)"
        batches.change(self._session, sql, [(group, user) for user in users])
        return group

    def remove_group(self, group: int) -> None:
        """Take a group away, and what it was let through."""
        for table in ("group_member", "restriction_grant"):
            batches.changed(self._session, f"DELETE FROM {table} WHERE group_id = ?", group)  # noqa: S608 (names of ours)
        batches.changed(self._session, "DELETE FROM user_group WHERE id = ?", group)


def _lift(row: Any) -> Lift:
    name, number, reason, creator, at, ended = row
    file_set = name if number is None else f"{name}:{number}"
    ended_at = None if ended is None else batches.as_time(ended)
    return Lift(file_set, reason, creator, batches.as_time(at), ended_at)
