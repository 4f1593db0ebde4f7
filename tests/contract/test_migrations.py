"""Replayed migrations are the tables, and a database of the future is left alone."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest
from alembic.autogenerate import compare_metadata
from alembic.migration import MigrationContext
from alembic.script import ScriptDirectory

from acai_jupyter.contract.errors import DatabaseBroken, DatabaseBusy, DatabaseNewer
from acai_server.clock import Clock
from acai_server.db import schema
from acai_server.db.database import Database
from acai_server.db.tables import Table

if TYPE_CHECKING:
    from pathlib import Path


@pytest.fixture(params=["sqlite_database", pytest.param("postgres_database", marks=pytest.mark.postgres)])
def database(request: pytest.FixtureRequest) -> Database:
    found: Database = request.getfixturevalue(request.param)
    return found


def test_replayed_migrations_are_the_tables(database: Database) -> None:
    with database.connect() as connection:
        context = MigrationContext.configure(
            connection, opts={"compare_type": True, "compare_server_default": True, "target_metadata": Table.metadata}
        )
        assert compare_metadata(context, Table.metadata) == []


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
