"""All that lies before or behind file set versions, as many rows as it takes.

Ids of versions grow along every edge, so they are an order of the graph. Each row is a line of the contract
(`lineage.ClosureLine`) already; of large answers the database writes the lines itself, in half the time that it takes
to fetch and encode their rows.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from acai_jupyter.contract.lineage import LineageDirection
from acai_server.db import batches
from acai_server.db.rows import as_json

if TYPE_CHECKING:
    from collections.abc import Iterable

    from sqlalchemy.orm import Session

    from acai_jupyter.contract.ids import ActionId, FileSetVersionId, ProjectId

Row = tuple[Any, ...]
_WALK = """
    WITH RECURSIVE walk(id) AS (
        SELECT CAST(? AS BIGINT) UNION
        SELECT {far} FROM walk {{join}} {near_table} n ON n.file_set_version_id = walk.id
        {{join}} {far_table} f ON f.action_id = n.action_id WHERE {far} {border} ?)
    SELECT {{list}}(id) FROM (SELECT id FROM walk LIMIT ?) found"""
_WALKS = {
    LineageDirection.BACK: _WALK.format(
        far="f.file_set_version_id", near_table="action_output", far_table="action_input", border=">="
    ),
    LineageDirection.FORWARD: _WALK.format(
        far="f.file_set_version_id", near_table="action_input", far_table="action_output", border="<="
    ),
}
_NO_BORDER = {LineageDirection.BACK: 0, LineageDirection.FORWARD: 2**62}
_STEP = """
    SELECT DISTINCT f.file_set_version_id FROM {{keys}} {{join}} {near_table} n ON n.file_set_version_id = k.value
    {{join}} {far_table} f ON f.action_id = n.action_id"""
_STEPS = {
    LineageDirection.BACK: _STEP.format(near_table="action_output", far_table="action_input"),
    LineageDirection.FORWARD: _STEP.format(near_table="action_input", far_table="action_output"),
}
_SETS = (
    "'set', v.id, n.name, v.number, n.role, v.file_count, v.size_bytes, {created}, u.name, {deleted}",
    """{join} file_set_version v ON v.id = k.value {join} file_set n ON n.id = v.file_set_id
    {join} user_account u ON u.id = v.user_id WHERE n.project_id = ?""",
)
_ACTIONS = (
    "'action', a.id, a.kind, {made}, u.name, j.number, j.state",
    """{join} action a ON a.id = k.value {join} user_account u ON u.id = a.user_id
    LEFT JOIN job j ON j.id = a.job_id WHERE a.project_id = ?""",
)
_OUTPUT = "'output', o.action_id, o.file_set_version_id"
_INPUT = "'input', i.action_id, i.file_set_version_id, i.role"
_NEAR = {
    LineageDirection.BACK: (_OUTPUT, "{join} action_output o ON o.file_set_version_id = k.value"),
    LineageDirection.FORWARD: (_INPUT, "{join} action_input i ON i.file_set_version_id = k.value"),
}
_FAR = {
    LineageDirection.BACK: (_INPUT, "{join} action_input i ON i.action_id = k.value"),
    LineageDirection.FORWARD: (_OUTPUT, "{join} action_output o ON o.action_id = k.value"),
}
"""What stands in a line, and where it is found by the keys."""
_ROWS = "SELECT {} FROM {{keys}} {}"
_SAME = "replace({0}, ' ', 'T') || 'Z'"
_DIALECTS = {
    "sqlite": {
        "join": "CROSS JOIN",
        "keys": "json_each(?) k",
        "list": "json_group_array",
        "lines": "SELECT group_concat(json_array({}), char(10)) FROM {{keys}} {}",
        "created": _SAME.format("v.created_at"),
        "deleted": _SAME.format("v.deleted_at"),
        "made": _SAME.format("a.created_at"),
    },
    "postgresql": {
        "join": "JOIN",
        "keys": "unnest(CAST(? AS BIGINT[])) WITH ORDINALITY k(value, place)",
        "list": "json_agg",
        "lines": "SELECT string_agg(CAST(json_build_array({}) AS TEXT), chr(10) ORDER BY k.place) FROM {{keys}} {}",
        "created": "v.created_at",
        "deleted": "v.deleted_at",
        "made": "a.created_at",
    },
}
"""CROSS JOIN keeps the order of tables on SQLite, and so the order of the keys."""


class ClosureRecords:
    """Closures, and what is in them."""

    def __init__(self, session: Session) -> None:
        self._session = session
        self._dialect = _DIALECTS[session.get_bind().dialect.name]

    def all(
        self, start: FileSetVersionId, direction: LineageDirection, limit: int, border: FileSetVersionId | None = None
    ) -> list[FileSetVersionId]:
        """Return what lies on one side of a version, itself first, in the order of steps; at most so many.

        With a border, only what does not lie beyond that version's place in the order of the graph.
        """
        sql = _WALKS[direction].format_map(self._dialect)
        beyond = _NO_BORDER[direction] if border is None else border
        found: list[FileSetVersionId] = as_json(batches.bare(self._session, sql, start, beyond, limit)[0][0])
        return found

    def within(
        self, start: FileSetVersionId, direction: LineageDirection, depth: int, limit: int
    ) -> tuple[list[FileSetVersionId], int]:
        """Return likewise what lies within so many steps, and how many of these have all their edges in it."""
        sql = _STEPS[direction].format_map(self._dialect)
        seen: dict[FileSetVersionId, None] = {start: None}
        level, inside = [start], 0
        for _ in range(depth):
            inside = len(seen)
            found = dict.fromkeys(row[0] for row in batches.bare(self._session, sql, self._keys(level)))
            level = [one for one in found if one not in seen]
            seen |= dict.fromkeys(level)
            if not level or len(seen) > limit:
                break
        return list(seen)[:limit], inside if level else len(seen)

    def sets(self, project: ProjectId, versions: list[FileSetVersionId]) -> bytes:
        """Return file set versions as lines of JSON, in their order."""
        return self._lines(_SETS, versions, project)

    def actions(self, project: ProjectId, actions: list[ActionId]) -> bytes:
        """Return actions as lines of JSON, in their order."""
        return self._lines(_ACTIONS, actions, project)

    def near(self, versions: list[FileSetVersionId], direction: LineageDirection) -> list[Row]:
        """Return the edges between versions and the actions on one side of them."""
        return self._rows(_NEAR[direction], versions)

    def far(self, actions: list[ActionId], direction: LineageDirection) -> list[Row]:
        """Return the edges between actions and the versions on one side of them."""
        return self._rows(_FAR[direction], actions)

    def far_lines(self, actions: list[ActionId], direction: LineageDirection) -> bytes:
        """Return them as lines of JSON."""
        return self._lines(_FAR[direction], actions)

    def _rows(self, what: tuple[str, str], keys: Iterable[int]) -> list[Row]:
        sql = _ROWS.format(*what).format_map(self._dialect)
        return batches.bare(self._session, sql, self._keys(keys))

    def _lines(self, what: tuple[str, str], keys: Iterable[int], *parameters: Any) -> bytes:
        sql = self._dialect["lines"].format(*what).format_map(self._dialect)
        text = batches.bare(self._session, sql, self._keys(keys), *parameters)[0][0]
        return b"" if text is None else f"{text}\n".encode()

    def _keys(self, keys: Iterable[int]) -> Any:
        return str(list(keys)) if self._dialect is _DIALECTS["sqlite"] else list(keys)
