"""Records as rows of plain values, the same from whichever database; and back into one.

Columns are known by name and kind alone, so that rows of an older revision go back into tables of that revision.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

from sqlalchemy import JSON, Boolean, LargeBinary, inspect, text
from sqlalchemy.exc import DataError, IntegrityError, InterfaceError, ProgrammingError

from acai_jupyter.contract.errors import BadRequest
from acai_jupyter.contract.query.builtin import SubjectKind
from acai_server.db import batches, rows
from acai_server.db.tables import ProjectRow, Table, UtcDateTime

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    import sqlalchemy
    from sqlalchemy.orm import Session

    from acai_jupyter.contract.ids import ProjectId

PAGE = 5000
TABLES: dict[str, sqlalchemy.Table] = {
    str(table.name): table
    for table in sorted(Table.metadata.sorted_tables, key=lambda table: "subject_id" in table.columns)
    if table.name != "database_identity"
}
"""All tables but the identity; what a row refers to stands in an earlier one, or in an earlier row of the same.

A database that is filled from a dump keeps its own identity: the one that was dumped may still be in use.
"""
NOT_A_PROJECTS = frozenset(("token", "event", "scrub_pass"))
"""What belongs to a server and not to a project: tokens, events (numbered across projects) and the scrubber's pass."""
SUBJECTS = {SubjectKind.FILE: "file_version", SubjectKind.FILE_SET: "file_set_version", SubjectKind.JOB: "job"}
"""What the number of a subject refers to."""
_KINDS = ((UtcDateTime, "time"), (LargeBinary, "bytes"), (JSON, "json"), (Boolean, "bool"))
_SHARED = ("user_account", "price_book")


class Column(NamedTuple):
    """A column's name, and what its values are: plain numbers and texts, or one of `_KINDS`."""

    name: str
    kind: str


class StoredObject(NamedTuple):
    """An object that a record speaks of."""

    key: str
    size_bytes: int
    sha256: bytes | None


def columns_of(name: str) -> list[Column]:
    """Return the columns of a table as this code knows it."""
    found = []
    for column in TABLES[name].columns:
        kind = next((kind for known, kind in _KINDS if isinstance(column.type, known)), "plain")
        found.append(Column(str(column.name), kind))
    return found


def references(name: str) -> dict[str, str]:
    """Return the columns of a table that refer to others, with the tables they refer to."""
    found = {}
    for column in TABLES[name].columns:
        for key in column.foreign_keys:
            found[str(column.name)] = str(key.column.table.name)
    return found | ({"price_book": "price_book"} if name == "attempt" else {})


def of_project(name: str) -> str:
    """Return the condition under which a row of a table is a project's; empty when none ever is."""
    if name == "project":
        return "id = :project"
    if name == "attribute_change":
        return " OR ".join(
            f"subject_kind = '{kind.value}' AND subject_id IN ({_ids(table)})" for kind, table in SUBJECTS.items()
        )
    if name in _SHARED:
        users = [(one, column) for one in TABLES for column, to in references(one).items() if to == name]
        return " OR ".join(_used(one, column) for one, column in users if one not in NOT_A_PROJECTS)
    if name in NOT_A_PROJECTS:
        return ""
    leading = {column: to for column, to in references(name).items() if to not in _SHARED and to != name}
    if "project_id" in leading:
        return "project_id = :project"
    column, to = next(iter(leading.items()), ("", ""))
    return f"{column} IN ({_ids(to)})" if column else ""


def _ids(name: str) -> str:
    return f"SELECT id FROM {name} WHERE {of_project(name)}"


def _used(name: str, column: str) -> str:
    return f"id IN (SELECT {column} FROM {name} WHERE {of_project(name)})"


class DumpRecords:
    """Reads and writes all tables, of one project or of all."""

    def __init__(self, session: Session) -> None:
        self._session = session
        self._is_postgres = session.get_bind().dialect.name == "postgresql"

    def rows(self, name: str, project: ProjectId | None = None) -> Iterator[list[tuple[Any, ...]]]:
        """Give pages of a table's rows in the order of its key: plain values, aware times, bytes, JSON as text."""
        columns = columns_of(name)
        shown = ", ".join(self._shown(column) for column in columns)
        key = ", ".join(f'"{column.name}"' for column in TABLES[name].primary_key)
        where = "" if project is None else f" WHERE {of_project(name)}"
        query = text(f'SELECT {shown} FROM "{name}"{where} ORDER BY {key}')
        given = {} if project is None else {"project": project}
        converted = [
            (at, _read(column.kind)) for at, column in enumerate(columns) if column.kind not in ("plain", "json")
        ]
        for page in self._session.execute(query, given, execution_options={"yield_per": PAGE}).partitions():
            yield [_converted(row, converted) for row in page]

    def _shown(self, column: Column) -> str:
        """JSON is carried as it is written: what is null in it and what is missing are two things."""
        return f'CAST("{column.name}" AS TEXT)' if column.kind == "json" else f'"{column.name}"'

    def add(self, name: str, columns: list[Column], values: list[tuple[Any, ...]]) -> None:
        """Write rows as they are, with their ids. What does not fit into the table is refused."""
        times = [] if self._is_postgres else [at for at, column in enumerate(columns) if column.kind == "time"]
        stored = [_converted(row, [(at, self._as_stored) for at in times]) for row in values] if times else values
        known = self._columns(name)
        if odd := next((column.name for column in columns if column.name not in known), None):
            raise BadRequest(f"The records do not fit: there is no column '{odd}' in a table '{name}'.")
        try:
            batches.load_into(self._session, name, [column.name for column in columns], stored)
        except (DataError, IntegrityError, InterfaceError, ProgrammingError, OverflowError) as error:
            reason = str(getattr(error, "orig", error)).partition("\n")[0]
            raise BadRequest(f"The records of '{name}' do not fit into its table: {reason}.") from error

    def _columns(self, name: str) -> set[str]:
        """Return what columns a table of ours has in the database, which may be of an older revision."""
        inspector = inspect(self._session.connection())
        if name == "alembic_version" or name not in inspector.get_table_names():
            return set()
        return {str(column["name"]) for column in inspector.get_columns(name)}

    def _as_stored(self, moment: Any) -> Any:
        return batches.as_stored(self._session, moment)

    def free_ids(self, name: str, count: int) -> list[int]:
        """Take numbers for new rows."""
        key = numbered(name)
        assert key is not None
        if self._is_postgres:
            sql = "SELECT nextval(pg_get_serial_sequence(?, ?)) FROM generate_series(1, ?)"
            return [row[0] for row in batches.select(self._session, sql, name, key, count)]
        sql = f'SELECT coalesce(max("{key}"), 0) FROM "{name}"'
        highest = batches.select(self._session, sql)[0][0]
        return list(range(highest + 1, highest + 1 + count))

    def count_on(self) -> None:
        """Let the numbers of new rows begin behind those that were written with theirs."""
        if not self._is_postgres:  # where they always do
            return
        for name in TABLES:
            key = numbered(name)
            if key is not None:
                sql = f'SELECT setval(pg_get_serial_sequence(?, ?), max("{key}")) FROM "{name}"'
                batches.select(self._session, f"{sql} HAVING max({key}) IS NOT NULL", name, key)

    def objects(self, project: ProjectId | None = None) -> Iterator[StoredObject]:
        """Give all objects that records speak of."""
        where = "" if project is None else " WHERE project_id = :project"
        given = {} if project is None else {"project": project}
        found = self._session.execute(text(f"SELECT key, size_bytes, sha256 FROM object{where} ORDER BY id"), given)
        return (StoredObject(key, size, None if sha256 is None else bytes(sha256)) for key, size, sha256 in found)

    def has_object(self, key: str) -> bool:
        """Whether a record speaks of an object."""
        return bool(batches.select(self._session, "SELECT 1 FROM object WHERE key = ?", key))

    def is_empty(self, project: ProjectId) -> bool:
        """Whether nobody is in a project, and nothing."""
        found = [name for name in ("membership", "upload_session", "job", "file_set") if self._has_some(name, project)]
        return not found

    def _has_some(self, name: str, project: ProjectId) -> bool:
        return bool(batches.select(self._session, f"SELECT 1 FROM {name} WHERE project_id = ? LIMIT 1", project))

    def set_counters(self, project: ProjectId, last_job: int, last_commit: int) -> None:
        """Let a project's numbers go on behind those that are written."""
        rows.update(self._session, ProjectRow, project, {"last_job": last_job, "last_commit": last_commit})

    def last_jobs(self) -> list[tuple[int, int]]:
        """Return the projects, each with the number of its last job."""
        return [
            (row[0], row[1]) for row in batches.select(self._session, "SELECT id, last_job FROM project ORDER BY id")
        ]


def numbered(name: str) -> str | None:
    """Return the column by which the database numbers the rows of a table, if it does."""
    keys = list(TABLES[name].primary_key)
    alone = len(keys) == 1 and not keys[0].foreign_keys and keys[0].type.python_type is int
    return str(keys[0].name) if alone else None


def _read(kind: str) -> Callable[[Any], Any]:
    """What makes of a driver's value the one that is carried."""
    makers: dict[str, Callable[[Any], Any]] = {"time": batches.as_time, "bytes": bytes, "bool": bool}
    return makers[kind]


def _converted(row: Any, converted: list[tuple[int, Callable[[Any], Any]]]) -> tuple[Any, ...]:
    values = list(row)
    for at, make in converted:
        if values[at] is not None:
            values[at] = make(values[at])
    return tuple(values)
