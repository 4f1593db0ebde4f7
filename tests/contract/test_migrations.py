"""Replayed migrations are the tables, and a database of the future is left alone."""

from __future__ import annotations

import hashlib
import io
import re
import zlib
from contextlib import closing, contextmanager
from datetime import UTC, datetime, timedelta
from typing import TYPE_CHECKING, Any

import msgspec
import pytest
from alembic import command
from alembic.autogenerate import compare_metadata
from alembic.migration import MigrationContext
from alembic.script import ScriptDirectory
from sqlalchemy import JSON, DateTime, LargeBinary, bindparam, text

from acai_jupyter.contract.errors import Conflict, DatabaseBroken, DatabaseBusy, DatabaseNewer
from acai_jupyter.contract.filesets import Retention
from acai_jupyter.contract.ids import ObjectKey, ProjectId
from acai_jupyter.contract.query.builtin import SubjectKind
from acai_jupyter.contract.states import UploadState
from acai_server.clock import Clock
from acai_server.db import schema
from acai_server.db.batches import as_time
from acai_server.db.database import Database
from acai_server.db.tables import Table
from acai_server.lake.retention import Outdated
from acai_server.objects.memory import MemoryObjectStore
from acai_server.testing.keeping import alias, alive, get, listed, make, remove, undo, versions
from acai_server.testing.lakes import SIGNER, LakeUser, check_lake

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from sqlalchemy.engine import Connection

    from acai_server.objects.protocol import ObjectStore
    from tests.servers.postgres import Postgres


@pytest.fixture(params=["sqlite_database", pytest.param("postgres_database", marks=pytest.mark.postgres)])
def database(request: pytest.FixtureRequest) -> Database:
    found: Database = request.getfixturevalue(request.param)
    return found


def test_replayed_migrations_are_the_tables(empty_database: Database) -> None:
    with empty_database.connect() as connection:
        _replay(connection)
        context = MigrationContext.configure(
            connection, opts={"compare_type": True, "compare_server_default": True, "target_metadata": Table.metadata}
        )
        assert compare_metadata(context, Table.metadata) == []


def test_a_new_database_has_what_replayed_migrations_make(empty_database: Database) -> None:
    schema.migrate(empty_database)
    with empty_database.connect() as connection:
        made = _definitions(connection)
        Table.metadata.drop_all(connection)
        connection.exec_driver_sql("DROP TABLE alembic_version")
        connection.commit()
        assert _definitions(connection) == set()
        connection.rollback()
        _replay(connection)
        assert _definitions(connection) == made
    assert len(made) > 100


def _replay(connection: Connection) -> None:
    with schema.references_unchecked(connection):
        schema.bring_to(connection, schema.HEAD)
        connection.commit()


def _definitions(connection: Connection) -> set[tuple[str, ...]]:
    """All that a database says of its tables, but for the order of columns and constraints."""
    if connection.dialect.name == "postgresql":
        return {tuple(map(str, row)) for query in _POSTGRES_SAYS for row in connection.exec_driver_sql(query)}
    found = connection.exec_driver_sql("SELECT type, name, sql FROM sqlite_master WHERE name NOT LIKE 'sqlite_%'").all()
    return {(*named, " ".join(part.replace('"', "").split())) for *named, sql in found for part in _parts(sql)}


def _parts(sql: str) -> list[str]:
    """A statement in pieces: before its outermost brackets, what commas part within them, and after."""
    before, _, rest = sql.partition("(")
    within, _, after = rest.rpartition(")")
    return [before, *re.split(r",(?![^()]*\))", within), after]


_POSTGRES_SAYS = (
    """SELECT table_name, column_name, data_type, character_maximum_length, column_default, is_nullable, is_identity
       FROM information_schema.columns WHERE table_schema = 'public'""",
    """SELECT conrelid::regclass, conname, pg_get_constraintdef(oid) FROM pg_constraint
       WHERE connamespace = 'public'::regnamespace""",
    "SELECT tablename, indexname, indexdef FROM pg_indexes WHERE schemaname = 'public'",
    "SELECT sequence_name, data_type FROM information_schema.sequences",
)


def test_the_code_knows_its_migrations(database: Database) -> None:
    with database.connect() as connection:
        script = ScriptDirectory.from_config(schema.alembic_config(connection))
        assert schema.revision(connection) == schema.HEAD
    revisions = [revision.revision for revision in script.walk_revisions()]
    assert (script.get_heads(), sorted(schema.KNOWN)) == ([schema.HEAD], sorted(revisions))


def test_migrating_again_changes_nothing(database: Database) -> None:
    schema.migrate(database)
    schema.check(database)


def test_a_newer_database_is_refused_and_left_alone(database: Database) -> None:
    with database.connect() as connection:
        connection.exec_driver_sql("UPDATE alembic_version SET version_num = '9999'")
        connection.commit()
    for use in (schema.migrate, schema.check):
        with pytest.raises(DatabaseNewer, match=f"revision 9999; this one knows {schema.HEAD}"):
            use(database)
    with database.connect() as connection:
        assert schema.revision(connection) == "9999"


def test_a_database_without_tables_is_not_used_before_it_is_migrated(tmp_path: Path) -> None:
    database = Database(f"sqlite:///{tmp_path / 'empty.db'}", Clock())
    with pytest.raises(DatabaseBusy, match="acai-server migrate"):
        schema.check(database)
    schema.migrate(database)
    schema.check(database)
    database.close()


def test_what_is_no_database_is_said_in_a_sentence(tmp_path: Path) -> None:
    (tmp_path / "acai.db").write_text("this is a letter to somebody, and long enough to be taken for more")
    database = Database(f"sqlite:///{tmp_path / 'acai.db'}", Clock())
    with pytest.raises(DatabaseBroken, match="not a database"):
        schema.migrate(database)
    database.close()
    assert schema.has_pending_jobs(tmp_path / "acai.db")


# -- from 0001 to 0002

MORNING = datetime(2026, 1, 2, 3, 4, 5, 678, UTC)
BODIES = (b"one", b"two", b"three")
PACK_KEY = ObjectKey("p1/objects/ab/abc")
# Which user made which version of which path of which content, and after how many hours.
OLD_VERSIONS = (
    ("/a", 1, 1, b"one", 0),
    ("/b", 1, 1, b"two", 0),
    ("/a", 2, 2, b"two", 0),
    ("/a", 3, 1, b"three", 2),
    ("/c/d", 1, 2, b"one", 3),
)


@pytest.fixture(params=["sqlite", pytest.param("postgresql", marks=pytest.mark.postgres)])
def old_database(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[Database]:
    """A database at revision 0001 with what a project of two users held then."""
    server: Postgres | None = request.getfixturevalue("postgres_server") if request.param == "postgresql" else None
    url = server.create_database() if server else f"sqlite:///{tmp_path / 'old.db'}"
    with closing(Database(url, Clock())) as database:
        with database.connect() as connection:
            command.upgrade(schema.alembic_config(connection), "0001")
            _fill(connection)
            connection.commit()
        yield database
    if server:
        server.drop_database(url)


@pytest.fixture
def objects() -> ObjectStore:
    store = MemoryObjectStore(SIGNER)
    pack = b"".join(BODIES)
    store.put(PACK_KEY, io.BytesIO(pack), size_bytes=len(pack))
    return store


def test_versions_are_there_after_the_migration(old_database: Database, objects: ObjectStore) -> None:
    schema.migrate(old_database)
    user = LakeUser(old_database, objects)
    assert [
        (one.path, one.version, one.creator, one.created_at, one.sha256)
        for path in ("/a", "/b", "/c/d")
        for one in user.versions(path)
    ] == [
        (path, number, ("you", "her")[who - 1], MORNING + timedelta(hours=hours), _hash(body).hex())
        for path, number, who, body, hours in sorted(OLD_VERSIONS)
    ]
    assert user.versions("/b")[0].deleted_at == MORNING + timedelta(days=1)
    assert user.read() == {"/a": b"three", "/c/d": b"one"}
    assert user.children() == ["a", "c/"]
    assert user.read("/a:2") == {"/a": b"two"}
    check_lake(user)


def test_sets_are_there_after_the_migration(old_database: Database, objects: ObjectStore) -> None:
    schema.migrate(old_database)
    user = LakeUser(old_database, objects)
    assert user.named("@s:1") == {"/a": 1, "/c/d": 1}
    assert user.read("@s") == {"/a": b"one", "/c/d": b"one"}
    assert user.children("/c", "s") == ["d"]
    found = user.lake.file_sets.get(user.member.project_id, "s")
    assert (found.ref, found.creator, found.created_at) == ("s:1", "her", MORNING)


def test_sessions_that_were_pending_are_given_up(old_database: Database, objects: ObjectStore) -> None:
    schema.migrate(old_database)
    user = LakeUser(old_database, objects)
    assert user.listed(UploadState.PENDING) == []
    with old_database.connect() as connection:
        assert connection.exec_driver_sql("SELECT count(*) FROM file WHERE path = '/pending'").scalar_one() == 0
    user.put({"/pending": b"again"})
    assert user.numbers("/pending") == [1]


def test_uploads_go_on_after_the_migration(old_database: Database, objects: ObjectStore) -> None:
    schema.migrate(old_database)
    user = LakeUser(old_database, objects)
    her = user.beside("her")
    assert user.put({"/a": b"three", "/new": b"new"}, file_set="s", only_changed=True).file_set == "s:2"
    assert user.named("@s") == {"/a": 3, "/new": 1}
    her.put({"/a": b"four", "/b": b"five"})
    assert (user.numbers("/a"), user.numbers("/b")) == ([1, 2, 3, 4], [1, 2])
    assert user.remove("/b:1", undo=True) == [1]
    with pytest.raises(Conflict, match="in file set s:1"):
        user.remove("/a:1")
    base = user.put({"/a": b"four"}, only_changed=True).id
    assert user.begin({"/c/d": b"one"}, base=base, only_changed=True).staged_files == 1
    check_lake(user)


def test_a_migrated_database_has_the_tables_and_refers_to_nothing_that_is_not_there(old_database: Database) -> None:
    schema.migrate(old_database)
    test_replayed_migrations_are_the_tables(old_database)
    if old_database.name == "sqlite":
        with old_database.connect() as connection:
            assert connection.exec_driver_sql("PRAGMA foreign_key_check").all() == []
            assert connection.exec_driver_sql("PRAGMA foreign_keys").scalar_one() == 1


def test_projects_keep_what_else_they_had(old_database: Database, objects: ObjectStore) -> None:
    schema.migrate(old_database)
    user = LakeUser(old_database, objects, "you", "other")
    assert (user.member.project_id, user.named()) == (2, {})
    with old_database.connect() as connection:
        rows = connection.exec_driver_sql("SELECT name, last_job, last_commit FROM project ORDER BY id").all()
    assert [tuple(row) for row in rows] == [("default", 7, 4), ("other", 0, 0)]


def _fill(connection: Connection) -> None:
    chunks: dict[bytes, bytes] = {}
    leaves = [("/a", 1, 3, _hash(b"one")), ("/c/d", 1, 3, _hash(b"one"))]
    branches = [(leaf[0], _chunk(chunks, [leaf], [])) for leaf in leaves]
    root = _chunk(chunks, [], branches)
    pack = b"".join(BODIES)
    paths = sorted({path for path, *_ in OLD_VERSIONS})
    at = {"created_at": MORNING}
    rows: list[tuple[str, dict[str, Any]]] = [
        ("project", {"id": 1, "name": "default", "last_job": 7} | at),
        ("project", {"id": 2, "name": "other", "last_job": 0} | at),
        ("user_account", {"id": 1, "name": "you", "is_global_admin": True} | at),
        ("user_account", {"id": 2, "name": "her", "is_global_admin": False} | at),
        *(("membership", {"project_id": 1, "user_id": user, "role": "admin"}) for user in (1, 2)),
        ("object", {"id": 5, "project_id": 1, "key": PACK_KEY, "size_bytes": 11, "sha256": _hash(pack)} | at),
        *(("blob", _blob(number, body, pack)) for number, body in enumerate(BODIES, 10)),
        *(("file", {"id": n, "project_id": 1, "path": path, "latest": 3}) for n, path in enumerate(paths, 20)),
        *(("file_version", _version(paths.index(one[0]) + 20, *one[1:])) for one in OLD_VERSIONS),
        *(("chunk", {"project_id": 1, "sha256": key, "body": body}) for key, body in chunks.items()),
        ("file_set", {"id": 1, "project_id": 1, "name": "s", "role": "data", "latest": 1}),
        (
            "file_set_version",
            {"id": 1, "file_set_id": 1, "number": 1, "root": root, "file_count": 2, "size_bytes": 6, "user_id": 2} | at,
        ),
        ("upload_session", {"id": "0" * 32, "project_id": 1, "user_id": 1, "state": "pending"} | at),
        ("upload_entry", {"upload_id": "0" * 32, "path": "/pending", "sha256": _hash(b"x"), "size_bytes": 1}),
        ("upload_object", {"key": "p1/objects/xx", "upload_id": "0" * 32, "size_bytes": 1, "sha256": _hash(b"x")}),
        (
            "upload_session",
            {"id": "1" * 32, "project_id": 1, "user_id": 1, "state": "committed", "result": {"id": "1" * 32}} | at,
        ),
    ]
    for table, row in rows:
        _insert(connection, table, row)
    connection.execute(
        text("UPDATE file_version SET deleted_at = :at WHERE file_id = 21").bindparams(
            bindparam("at", MORNING + timedelta(days=1), DateTime(timezone=True))
        )
    )
    if connection.dialect.name == "postgresql":
        for table in ("project", "user_account", "file_set", "file_set_version"):
            connection.execute(text(f"SELECT setval(pg_get_serial_sequence('{table}', 'id'), 100)"))


def _blob(number: int, body: bytes, pack: bytes) -> dict[str, Any]:
    place = {"object_id": 5, "offset": pack.index(body)}
    return {"id": number, "project_id": 1, "sha256": _hash(body), "size_bytes": len(body)} | place


def _version(file: int, number: int, user: int, body: bytes, hours: int) -> dict[str, Any]:
    made = {"user_id": user, "created_at": MORNING + timedelta(hours=hours)}
    return {"file_id": file, "number": number, "blob_id": BODIES.index(body) + 10} | made


def _insert(connection: Connection, table: str, row: dict[str, Any]) -> None:
    kinds: dict[type, Any] = {datetime: DateTime(timezone=True), bytes: LargeBinary(), dict: JSON()}
    names = ", ".join(f'"{name}"' for name in row)
    marks = ", ".join(f":{name}" for name in row)
    binds = [bindparam(name, value, kinds.get(type(value))) for name, value in row.items()]
    connection.execute(text(f'INSERT INTO "{table}" ({names}) VALUES ({marks})').bindparams(*binds))


def _chunk(chunks: dict[bytes, bytes], leaves: list[Any], branches: list[Any]) -> bytes:
    """Keep a chunk of a manifest as revision 0001 did."""
    body = msgspec.msgpack.encode((leaves, branches))
    chunks[_hash(body)] = zlib.compress(body, 1)
    return _hash(body)


def _hash(body: bytes) -> bytes:
    return hashlib.sha256(body).digest()


# -- from 0002 to 0003


def test_attributes_and_parameters_of_before_are_there_afterwards(empty_database: Database) -> None:
    with empty_database.connect() as connection:
        command.upgrade(schema.alembic_config(connection), "0002")
        for statement in _OLD:
            connection.exec_driver_sql(statement)
        connection.commit()
    assert schema.migrate(empty_database) == "0002"
    with empty_database.reading() as work:
        project = ProjectId(1)
        job = work.attributes.of_many(project, SubjectKind.JOB, [7])[7]
        of_set = work.attributes.of_many(project, SubjectKind.FILE_SET, [7])[7]
    assert job == {"accuracy": 0.5, "model": "BERT", "tag.state": "x", "params.lr": 0.1, "params.on": True}
    assert of_set == {"note": "x" * 500}


_REQUEST = '{"command": ["true"], "parameters": {"lr": 0.1, "on": true, "long": "' + "y" * 501 + '"}}'
_JOB = f"(7, 1, 1, 1, 'queued', '', 0, '{_REQUEST}', '2026-01-01 00:00:00')"
_ATTRIBUTES = f"""(1, 'job', 7, 'accuracy', 0.5, NULL), (1, 'job', 7, 'model', NULL, 'BERT'),
    (1, 'job', 7, 'state', NULL, 'x'), (1, 'file_set', 7, 'note', NULL, '{"x" * 600}'),
    (1, 'job', 7, 'nothing', NULL, NULL)"""
_OLD = (
    "INSERT INTO project (id, name, last_job, last_commit, created_at) VALUES (1, 'p', 1, 0, '2026-01-01 00:00:00')",
    "INSERT INTO user_account (id, name, is_global_admin, created_at) VALUES (1, 'u', TRUE, '2026-01-01 00:00:00')",
    f"""INSERT INTO job (id, project_id, number, user_id, state, reason, priority, request, created_at)
        VALUES {_JOB}""",
    f"INSERT INTO attribute (project_id, subject_kind, subject_id, key, number, text) VALUES {_ATTRIBUTES}",
)


# -- from 0003 to 0004


def test_sets_of_before_go_on_and_can_be_named_deleted_and_brought_back(
    old_database: Database, objects: ObjectStore
) -> None:
    before = datetime.now(UTC)
    _bring_to_0003(old_database)
    assert schema.migrate(old_database) == "0003"
    user = LakeUser(old_database, objects)
    assert [(one.ref, one.note, one.aliases) for one in listed(user)] == [("s:3", "", []), ("t:1", "", [])]
    assert [(one.creator, one.created_at) for one in versions(user, "s")] == [("her", MORNING)] * 3
    with old_database.connect() as connection:
        sets = connection.exec_driver_sql("SELECT name, last, latest FROM file_set ORDER BY name").all()
        oldest = connection.exec_driver_sql("SELECT min(used_at), max(emptied_at) FROM chunk, object").one()
    assert [tuple(row) for row in sets] == [("s", 3, 3), ("t", 1, 1)]
    assert (as_time(oldest[0]) >= before, oldest[1]) == (True, None)
    alias(user, "s:1", "paper")
    remove(user, "s:3")
    assert (get(user, "s").ref, make(user, "s", a="new"), user.read("@s:paper")["/a"]) == ("s:2", "s:4", b"one")
    undo(user, "s:3")
    assert alive(user, "s") == [4, 3, 2, 1]
    check_lake(user)


def test_no_project_has_rules_after_the_migration(old_database: Database, objects: ObjectStore) -> None:
    _bring_to_0003(old_database)
    schema.migrate(old_database)
    user = LakeUser(old_database, objects)
    assert user.lake.retention.get(user.member.project_id) == Retention()
    assert user.lake.retention.outdated(user.member.project_id) == Outdated()


def test_events_of_before_keep_their_numbers_and_those_of_a_project_go_on_from_there(old_database: Database) -> None:
    with old_database.connect() as connection, _references_unchecked(connection):
        command.upgrade(schema.alembic_config(connection), "0014")
        told = {"kind": "told", "subject": "a thing", "created_at": MORNING, "details": {"size": 3}}
        for number, project in ((11, 1), (12, 2), (13, 1)):
            _insert(connection, "event", {"number": number, "project_id": project} | told)
        connection.commit()
    schema.migrate(old_database)
    with old_database.writing() as work:
        for project in (1, 2, 2):
            work.events.record(ProjectId(project), "told", "later")
    with old_database.reading() as work:
        found = {one: work.events.after(ProjectId(one), 9 + one, 100).events for one in (1, 2)}
    assert [event.number for event in found[1]] == [11, 13, 14]
    assert [event.details for event in found[1]] == [{"size": 3}, {"size": 3}, {}]
    assert [event.number for event in found[2]] == [12, 13, 14]


def _bring_to_0003(database: Database) -> None:
    """Add versions of sets to what was there, as revision 0003 kept them."""
    with database.connect() as connection, _references_unchecked(connection):
        command.upgrade(schema.alembic_config(connection), "0003")
        root = connection.exec_driver_sql("SELECT root FROM file_set_version").scalar_one()
        counted = {"root": root, "file_count": 2, "size_bytes": 6, "user_id": 2, "created_at": MORNING}
        _insert(connection, "file_set", {"id": 2, "project_id": 1, "name": "t", "role": "data", "latest": 1})
        for row, file_set, number in ((2, 1, 2), (3, 1, 3), (4, 2, 1)):
            _insert(connection, "file_set_version", {"id": row, "file_set_id": file_set, "number": number} | counted)
        connection.execute(text("UPDATE file_set SET latest = 3 WHERE id = 1"))
        connection.commit()


@contextmanager
def _references_unchecked(connection: Connection) -> Iterator[None]:
    """Migrations rebuild tables that others refer to, which SQLite allows only so."""
    if connection.dialect.name == "sqlite":
        connection.connection.execute("PRAGMA foreign_keys=OFF")
    yield
    if connection.dialect.name == "sqlite":
        connection.connection.execute("PRAGMA foreign_keys=ON")
