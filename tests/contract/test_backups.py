"""Backups of each kind of database, restored into each; and one project brought to a server that has others."""

from __future__ import annotations

import io
import re
from contextlib import ExitStack, closing
from typing import TYPE_CHECKING, Any

import msgspec
import pytest
from alembic import command

from acai_jupyter.contract.errors import (
    BadRequest,
    Conflict,
    DatabaseNewer,
    HashMismatch,
    StoreMismatch,
    StoreUnavailable,
)
from acai_jupyter.contract.ids import ObjectKey
from acai_jupyter.contract.metadata import ChangeMetadata, FindThings, ThingChange
from acai_jupyter.contract.query.builtin import SubjectKind
from acai_jupyter.contract.states import JobState
from acai_server.backups import form
from acai_server.backups.importing import Import
from acai_server.backups.making import Backup
from acai_server.backups.restoring import restore
from acai_server.clock import Clock
from acai_server.db import dumps, schema
from acai_server.db.database import Database
from acai_server.engine.ends import End, conclude
from acai_server.metadata.service import Attributes
from acai_server.objects.filesystem import FilesystemObjectStore
from acai_server.objects.memory import MemoryObjectStore
from acai_server.store_owner import mark
from acai_server.testing.keeping import alias, make, remove
from acai_server.testing.lakes import SIGNER, LakeUser, rows
from acai_server.testing.stages import HandClock, JobUser

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from acai_jupyter.contract.ids import AttemptId, JobId
    from acai_server.backups.form import Note
    from acai_server.db.work import Work
    from acai_server.objects.protocol import ObjectStore
    from tests.servers.postgres import Postgres

PAIRS = [
    ("sqlite", "sqlite"),
    pytest.param(("sqlite", "postgresql"), marks=pytest.mark.postgres),
    pytest.param(("postgresql", "sqlite"), marks=pytest.mark.postgres),
]
SQLITE = PAIRS[:1]


class Store(MemoryObjectStore):
    """A store that can be away."""

    is_away = False

    def get(self, key: ObjectKey, offset: int = 0, size_bytes: int | None = None) -> bytes:
        if self.is_away:
            raise StoreUnavailable(reason="the test says so")
        return super().get(key, offset, size_bytes)


@pytest.fixture(params=PAIRS)
def databases(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[list[Database]]:
    """Two databases without tables."""
    with ExitStack() as stack:
        found = []
        for number, kind in enumerate(request.param):
            url = f"sqlite:///{tmp_path / str(number)}.db"
            if kind == "postgresql":
                server: Postgres = request.getfixturevalue("postgres_server")
                url = server.create_database()
                stack.callback(server.drop_database, url)
            found.append(stack.enter_context(closing(Database(url, HandClock().clock))))
        yield found


@pytest.fixture
def here(databases: list[Database]) -> JobUser:
    """Somebody with a project."""
    schema.migrate(databases[0])
    return JobUser(databases[0], HandClock(), objects=Store(SIGNER))


@pytest.fixture
def there(databases: list[Database]) -> Database:
    """A database without tables."""
    return databases[1]


only_sqlite = pytest.mark.parametrize("databases", SQLITE, indirect=True)


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    return tmp_path / "backup"


def live_in(user: JobUser) -> None:
    """Leave something of everything."""
    lake = user.lake
    make(lake, "digits", **{"1.txt": "one", "2.txt": "two"})
    alias(lake, make(lake, "digits", **{"1.txt": "another", "ü/'\"\\x.txt": "strange"}), "best")
    make(lake, "gone", **{"gone.txt": "gone"})
    remove(lake, "gone:1")
    made = user.run(user.submit(inputs=["digits:1"], output="model", parameters={"lr": 0.1}), outputs={"m": b"model"})
    assert made.state is JobState.FINISHED
    user.run(user.submit(keep_partial=True), exit_code=3, outputs={"half": b"half"})
    changes = [
        ThingChange("model:1", set={"accuracy": 0.5, "note": "a ' and a \\", "good": True}, add_labels=["best", "ü"]),
        ThingChange(str(made.number), set={"count": 3}),
        ThingChange("/1.txt:2", set={"source": "web"}),
    ]
    Attributes(user.database, lake.lake.files).change(user.project, user.user, ChangeMetadata(changes))
    other = LakeUser(user.database, user.objects, "eve", "other")
    make(other, "digits", **{"1.txt": "of eve"})


def back_up(user: JobUser, folder: Path, project: str | None = None) -> Note:
    backup = Backup(user.database, user.objects, folder, kept(folder))
    note = backup.make(project)
    assert backup.troubles == []
    return note


def kept(folder: Path) -> ObjectStore:
    return FilesystemObjectStore(folder / "objects", SIGNER)


def crash(work: Work, job: JobId, attempt: AttemptId) -> None:
    conclude(work, job, attempt, End(JobState.CRASHED, "restored"))


def put_back(database: Database, folder: Path, objects: ObjectStore | None = None) -> JobUser:
    """Restore, and return who was there."""
    objects = objects or MemoryObjectStore(SIGNER)
    restore(database, objects, folder, kept(folder), crash)
    return JobUser(database, HandClock(), objects=objects)


def everything(folder: Path) -> dict[str, list[Any]]:
    """All records in a backup, by table, and the list of its objects."""
    note = form.read_note(folder)
    names = [*note.tables, form.OBJECTS]
    return {name: [row for _, rows in form.pages(folder / note.records, name) for row in rows] for name in names}


def test_what_comes_back_is_what_there_was(here: JobUser, there: Database, folder: Path, tmp_path: Path) -> None:
    live_in(here)
    back_up(here, folder)
    user = put_back(there, folder)
    back_up(user, tmp_path / "again")
    before, after = everything(folder), everything(tmp_path / "again")
    assert {name: len(found) for name, found in before.items()} == {name: len(found) for name, found in after.items()}
    assert before == after
    empty = {name for name, found in before.items() if not found}
    filled = {
        "file_version",
        "blob",
        "chunk",
        "file_set_alias",
        "action_input",
        "attempt",
        "transition",
        "event",
        "token",
    }
    assert not empty & (filled | {"attribute", "attribute_label", "attribute_change", "price_book", "job_input"})
    assert user.lake.read("@digits:best") == here.lake.read("@digits:best")
    assert user.job(1) == here.job(1)
    assert list(user.engine.log_stream(user.project, 1)) == list(here.engine.log_stream(here.project, 1))


def test_what_is_made_afterwards_has_numbers_of_its_own(here: JobUser, there: Database, folder: Path) -> None:
    live_in(here)
    back_up(here, folder)
    user = put_back(there, folder)
    assert make(user.lake, "digits", **{"3.txt": "three"}) == "digits:3"
    ended = user.run(user.submit(inputs=["digits:3"], output="model"), outputs={"m": b"new"})
    assert (ended.number, ended.output) == (3, "model:2")
    with there.reading() as work:
        events = work.events.after(user.project, 0, 1000).events
    assert [one.number for one in events] == sorted({one.number for one in events})


def test_jobs_and_uploads_that_were_under_way_are_said_to_be_over(here: JobUser, there: Database, folder: Path) -> None:
    held, lost, waiting = here.submit(), here.submit(retries=0), here.submit()
    here.quota = 2
    here.engine = here.another_engine()
    assert len(here.schedule()) == 2
    pending = here.lake.begin({"/a": b"a"}).id
    back_up(here, folder)
    user = put_back(there, folder)
    assert user.states(held, lost, waiting) == ["queued", "crashed", "queued"]
    assert user.job(lost).reason == "restored"
    with pytest.raises(Conflict):
        user.lake.commit(pending)
    user.schedule()
    assert user.states(waiting) == ["launching"]


@only_sqlite
def test_the_next_backup_copies_what_is_new_and_drops_what_is_gone(here: JobUser, folder: Path) -> None:
    live_in(here)
    first = back_up(here, folder)
    key = next(iter(kept(folder).keys("p1/objects/")))
    path = folder / "objects" / key
    before = path.stat().st_ino
    (folder / "objects" / "p1" / "left_over").write_bytes(b"of a backup that was killed")
    make(here.lake, "digits", **{"9.txt": "nine"})
    second = back_up(here, folder)
    assert path.stat().st_ino == before
    assert second.objects.rows == first.objects.rows + 1
    assert [one.name for one in folder.glob("records-*")] == [second.records]
    assert not (folder / "objects" / "p1" / "left_over").exists()


@only_sqlite
def test_a_backup_that_breaks_off_leaves_the_last_one_whole(here: JobUser, there: Database, folder: Path) -> None:
    make(here.lake, "digits", **{"1.txt": "one"})
    back_up(here, folder)
    make(here.lake, "digits", **{"2.txt": "two"})
    assert isinstance(here.objects, Store)
    here.objects.is_away = True
    with pytest.raises(StoreUnavailable):
        back_up(here, folder)
    assert put_back(there, folder).lake.read("@digits") == {"/1.txt": b"one"}


@only_sqlite
def test_bytes_that_are_gone_or_rotten_are_named_and_stop_nothing(here: JobUser, folder: Path) -> None:
    make(here.lake, "one", **{"1.txt": "one"})
    make(here.lake, "two", **{"2.txt": "two"})
    gone, rotten = here.objects.keys("p1/objects/")
    here.objects.delete(gone)
    here.objects.put(rotten, io.BytesIO(b"rot"), size_bytes=3)
    backup = Backup(here.database, here.objects, folder, kept(folder))
    assert backup.make().objects.rows == 1
    assert sorted(backup.troubles) == sorted(
        [
            f"'{gone}' is not in the object store.",
            f"'{rotten}' holds other bytes than were recorded; it is kept as it is.",
        ]
    )


@only_sqlite
def test_nothing_is_written_over(here: JobUser, there: Database, folder: Path, tmp_path: Path) -> None:
    make(here.lake, "digits", **{"1.txt": "one"})
    back_up(here, folder)
    with pytest.raises(Conflict, match="the database is not empty"):
        put_back(here.database, folder)
    filled = MemoryObjectStore(SIGNER)
    filled.put(ObjectKey("p1/objects/aa/other/1"), io.BytesIO(b"x"), size_bytes=1)
    with pytest.raises(Conflict, match="the object store is not empty"):
        put_back(there, folder, filled)
    (tmp_path / "letters").mkdir()
    (tmp_path / "letters" / "letter").touch()
    with pytest.raises(BadRequest, match="holds 'letter'"):
        back_up(here, tmp_path / "letters")
    with pytest.raises(BadRequest, match="holds all projects"):
        back_up(here, folder, "default")
    with pytest.raises(BadRequest, match="Restore it"):
        Import(there, here.objects, folder, kept(folder)).run()


@only_sqlite
@pytest.mark.parametrize("noted", [True, False])
def test_the_backup_of_another_database_is_never_replaced(
    here: JobUser, there: Database, folder: Path, *, noted: bool
) -> None:
    make(here.lake, "digits", **{"1.txt": "one"})
    note = back_up(here, folder)
    if not noted:  # as version 0.1 wrote it
        (folder / form.NOTE).write_bytes(msgspec.json.encode(msgspec.structs.replace(note, identity="")))
    before = sorted(kept(folder).keys(""))
    schema.migrate(there)
    other = JobUser(there, HandClock(), objects=Store(SIGNER))
    make(other.lake, "digits", **{"1.txt": "of another database"})
    with pytest.raises(BadRequest, match="holds the backup of another database"):
        back_up(other, folder)
    assert sorted(kept(folder).keys("")) == before
    assert back_up(here, folder).identity == identity_of(here.database)


def test_a_restored_database_has_a_new_identity_and_finds_what_the_old_one_made(
    here: JobUser, there: Database, folder: Path
) -> None:
    live_in(here)
    here.objects.put(here.key(1, 1, "displays"), io.BytesIO(b"[]"), size_bytes=2)
    back_up(here, folder)
    restored = Store(SIGNER)
    put_back(there, folder, restored)
    assert identity_of(there) != identity_of(here.database)
    mark.claim(there, restored)
    with pytest.raises(StoreMismatch):
        mark.claim(here.database, restored)
    user = JobUser(there, HandClock(), objects=restored)
    assert user.key(1, 1, "displays") == here.key(1, 1, "displays")
    assert restored.get(user.key(1, 1, "displays")) == b"[]"
    made = make(user.lake, "new", **{"new.txt": "new"})
    assert user.lake.read(f"@{made}") == {"/new.txt": b"new"}
    assert any(f"/objects/{identity_of(there)}/" in key for key in restored.keys("p"))
    assert identity_of(there) in user.key(user.submit(), 1, "log")


def identity_of(database: Database) -> str:
    with database.reading() as work:
        return work.identity.get().name


@only_sqlite
def test_a_restore_goes_on_where_it_was_interrupted(here: JobUser, there: Database, folder: Path) -> None:
    live_in(here)
    back_up(here, folder)
    objects, away = MemoryObjectStore(SIGNER), Store(SIGNER)
    away.is_away = True
    with pytest.raises(StoreUnavailable):
        restore(there, objects, folder, away, crash)
    some = next(iter(kept(folder).keys("p1/")))
    objects.put(some, io.BytesIO(kept(folder).get(some)), size_bytes=kept(folder).size(some))
    assert put_back(there, folder, objects).lake.read("@digits:best") == here.lake.read("@digits:best")


@only_sqlite
def test_what_is_no_backup_or_is_damaged_is_refused(here: JobUser, there: Database, folder: Path) -> None:
    make(here.lake, "digits", **{"1.txt": "one"})
    note = back_up(here, folder)
    path = folder / note.records / "file.jsonl.gz"
    whole = path.read_bytes()
    path.write_bytes(whole[:-1] + b"?")
    with pytest.raises(BadRequest, match="is not what was backed up"):
        put_back(there, folder)
    path.write_bytes(whole)
    key = next(iter(kept(folder).keys("p1/objects/")))
    (folder / "objects" / key).write_bytes(b"eno")
    with pytest.raises(HashMismatch):
        put_back(there, folder)
    rewrite(folder, revision="9999")
    with pytest.raises(DatabaseNewer):
        put_back(there, folder)
    rewrite(folder, form=2)
    with pytest.raises(BadRequest, match="has the form 2"):
        put_back(there, folder)
    (folder / form.NOTE).unlink()
    with pytest.raises(BadRequest, match="holds no whole backup"):
        put_back(there, folder)
    assert rows(there, "sqlite_master") == 0


def rewrite(folder: Path, **said: Any) -> None:
    path = folder / form.NOTE
    path.write_bytes(msgspec.json.encode(msgspec.json.decode(path.read_bytes()) | said))


def columns_at(revision: str, path: Path, table: str) -> set[str]:
    """The columns that a table had."""
    with closing(Database(f"sqlite:///{path}", Clock())) as database, database.connect() as connection:
        command.upgrade(schema.alembic_config(connection), revision)
        return {row[1] for row in connection.exec_driver_sql(f"PRAGMA table_info({table})")}


def test_a_backup_of_an_older_revision_is_brought_to_this_one(
    here: JobUser, there: Database, folder: Path, tmp_path: Path
) -> None:
    back_up(here, folder)
    note = form.read_note(folder)
    older: dict[str, Any] = {}
    before = everything(folder)
    for table in ("project", "user_account"):
        had = columns_at("0008", tmp_path / "older.db", table)
        now = dumps.columns_of(table)
        kept_at = [at for at, column in enumerate(now) if column.name in had]
        with form.writing(folder / note.records, table, [now[at] for at in kept_at], older) as file:
            file.add([tuple(row[at] for at in kept_at) for row in before[table]])
    rewrite(folder, revision="0008", tables=msgspec.to_builtins(older))
    restore(there, MemoryObjectStore(SIGNER), folder, kept(folder), crash)
    schema.check(there)
    with there.reading() as work:
        assert work.projects.find("default") == here.project


# -- one project


def elsewhere(database: Database) -> JobUser:
    """Somebody at a server that has other things, under other numbers."""
    schema.migrate(database)
    user = JobUser(database, HandClock(), objects=MemoryObjectStore(SIGNER), project_name="own")
    make(user.lake, "letters", a="a")
    user.run(user.submit(), outputs={"x": b"x"})
    Attributes(database, user.lake.lake.files).change(
        user.project, user.user, ChangeMetadata([ThingChange("letters:1", set={"accuracy": 0.9})])
    )
    return user


def test_a_project_comes_to_a_server_that_has_others(here: JobUser, there: Database, folder: Path) -> None:
    live_in(here)
    waiting = here.submit()
    note = back_up(here, folder, "default")
    own = elsewhere(there)
    bring = Import(there, own.objects, folder, kept(folder))
    bring.run()
    bring.run("copy")
    for name in ("default", "copy"):
        came = JobUser(there, HandClock(), objects=own.objects, project_name=name)
        assert came.project not in (here.project, own.project)
        assert came.lake.read("@digits:best") == here.lake.read("@digits:best")
        assert came.lake.read("@model:1") == {"/model/m": b"model"}
        assert msgspec.structs.replace(came.job(1), attempts=[]) == msgspec.structs.replace(here.job(1), attempts=[])
        assert came.job(waiting).state is JobState.KILLED
        assert found(came, "accuracy = 0.5") == found(here, "accuracy = 0.5") == ["model:1"]
        assert make(came.lake, "digits", **{"new.txt": "new"}) == "digits:3"
        assert came.run(came.submit()).number == waiting + 1
    assert own.lake.read("@letters:1") == {"/a": b"a"}
    assert found(own, "accuracy > 0") == ["letters:1"]
    with pytest.raises(Conflict, match="there is a project 'default' already"):
        bring.run()
    assert "token" not in note.tables
    assert "eve" not in str(everything(folder))


def found(user: JobUser, query: str) -> list[str]:
    wanted = FindThings(SubjectKind.FILE_SET, query)
    return [one.thing for one in Attributes(user.database, user.lake.lake.files).find(user.project, wanted).rows]


@only_sqlite
def test_an_import_goes_on_where_it_was_interrupted(here: JobUser, there: Database, folder: Path) -> None:
    live_in(here)
    back_up(here, folder, "default")
    own, away = elsewhere(there), Store(SIGNER)
    away.is_away = True
    with pytest.raises(StoreUnavailable):
        Import(there, own.objects, folder, away).run()
    Import(there, own.objects, folder, kept(folder)).run()
    came = JobUser(there, HandClock(), objects=own.objects)
    assert came.lake.read("@digits:best") == here.lake.read("@digits:best")


def forged(folder: Path, table: str, columns: list[dumps.Column], rows: list[tuple[Any, ...]]) -> None:
    """Put a file of records into a backup, with a note that fits."""
    note = form.read_note(folder)
    tables = dict(note.tables)
    with form.writing(folder / note.records, table, columns, tables) as file:
        file.add(rows)
    rewrite(folder, tables=msgspec.to_builtins(tables))


@only_sqlite
def test_an_export_with_tokens_in_it_is_refused(here: JobUser, there: Database, folder: Path) -> None:
    """A planted token would let its forger in as any user of the same name, the operator included."""
    live_in(here)
    back_up(here, folder, "default")
    own = elsewhere(there)
    columns = dumps.columns_of("token")
    with here.database.reading() as work:
        tokens = [row for page in work.dumps.rows("token") for row in page]
    forged(folder, "token", columns, tokens)
    with pytest.raises(BadRequest, match="see the table 'token'"):
        Import(there, own.objects, folder, kept(folder)).run()
    assert rows(there, "project") == 1


SQL = [
    ('file_set" ("id") SELECT 1; --', ["id"], "names a table that no backup has"),
    ("sqlite_master", ["sql"], "no column 'sql' in a table 'sqlite_master'"),
    ("alembic_version", ["version_num"], "no column 'version_num'"),
    ("file_set", ['id") SELECT 1; --'], "is not a column"),
    ("file_set", ["id", "id"], "a column twice"),
    ("file_set", ["surprise"], "no column 'surprise'"),
]


@only_sqlite
@pytest.mark.parametrize(("table", "columns", "said"), SQL, ids=lambda value: str(value)[:20])
def test_names_in_a_backup_are_not_taken_for_sql(
    here: JobUser, there: Database, folder: Path, table: str, columns: list[str], said: str
) -> None:
    back_up(here, folder)
    if "/" not in table and '"' not in table:
        forged(folder, table, [dumps.Column(name, "plain") for name in columns], [(1,) * len(columns)])
    else:
        rewrite(folder, tables={table: {"rows": 1, "sha256": ""}})
    with pytest.raises(BadRequest, match=re.escape(said)):
        put_back(there, folder)
    assert "user_account" not in tables_with_rows(there)


def tables_with_rows(database: Database) -> set[str]:
    with database.connect() as connection:
        found = connection.exec_driver_sql("SELECT name FROM sqlite_master WHERE type = 'table'").scalars().all()
    return {name for name in found if rows(database, name)}


@only_sqlite
def test_records_outside_a_backup_are_not_read(here: JobUser, there: Database, folder: Path) -> None:
    note = back_up(here, folder)
    rewrite(folder, records=f"../{folder.name}/{note.records}")
    with pytest.raises(BadRequest, match="names a folder of records that no backup has"):
        put_back(there, folder)


@only_sqlite
def test_records_that_refer_to_nothing_are_not_restored(here: JobUser, there: Database, folder: Path) -> None:
    live_in(here)
    back_up(here, folder)
    forged(folder, "file_set", dumps.columns_of("file_set"), [])
    with pytest.raises(BadRequest, match="that is not in the backup"):
        put_back(there, folder)
    assert "user_account" not in tables_with_rows(there)


def test_every_table_is_of_projects_or_known_to_be_not() -> None:
    assert {name for name in dumps.TABLES if not dumps.of_project(name)} == dumps.NOT_A_PROJECTS


def test_every_number_of_another_row_is_known_to_be_one() -> None:
    """A new column that refers to something has a foreign key, or `Renumbering` has to learn of it."""
    unbound = {
        f"{name}.{column.name}"
        for name, table in dumps.TABLES.items()
        for column in table.columns
        if column.name.endswith("_id") and column.name not in dumps.references(name)
    }
    assert unbound == {
        "attribute.subject_id",
        "attribute_label.subject_id",
        "attribute_change.subject_id",
        "audit_entry.request_id",
        "upload_object.parts_id",
    }
