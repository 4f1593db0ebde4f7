"""What was recorded before jobs were actions from the start is in the graph afterwards."""

from __future__ import annotations

from typing import TYPE_CHECKING

from alembic import command

from acai_jupyter.contract.ids import ProjectId
from acai_jupyter.contract.provenance import ActionInput
from acai_jupyter.contract.queries import NeighbourhoodQuery, ProjectGraphQuery
from acai_jupyter.contract.states import ActionKind, InputRole
from acai_server.db import schema
from acai_server.lake.service import Lake
from acai_server.objects.memory import MemoryObjectStore
from acai_server.provenance.service import Provenance
from acai_server.testing.lakes import SIGNER

if TYPE_CHECKING:
    from acai_server.db.database import Database

PROJECT = ProjectId(1)
DATA, CODE = InputRole.DATA, InputRole.CODE
_AT = "'2026-01-01 00:00:00'"
_NAMES = ("raw", "code.clean", "clean", "best")
_SETS = [f"({n}, 1, '{name}', '{'code' if name[:4] == 'code' else 'data'}', 1, 1)" for n, name in enumerate(_NAMES, 1)]
_VERSIONS = [f"({10 * n}, {n}, 1, 1, 2, 1, '', {_AT}, CAST('' AS BYTES))" for n in range(1, 5)]
_REQUEST = '{"command": ["true"]}'
_JOBS = [
    f"({n}, 1, {n}, 1, '{state}', '', 0, '{_REQUEST}', {_AT}, 1, 1, 0, '')"
    for n, state in ((1, "finished"), (2, "failed"), (3, "queued"))
]
_OLD = (
    f"INSERT INTO project (id, name, last_job, last_commit, created_at) VALUES (1, 'p', 3, 0, {_AT})",
    f"INSERT INTO user_account (id, name, is_global_admin, created_at) VALUES (1, 'u', TRUE, {_AT})",
    f"INSERT INTO file_set (id, project_id, name, role, latest, last) VALUES {', '.join(_SETS)}",
    f"""INSERT INTO file_set_version (id, file_set_id, number, file_count, size_bytes, user_id, note, created_at, root)
        VALUES {", ".join(_VERSIONS)}""",
    f"""INSERT INTO job (id, project_id, number, user_id, state, reason, priority, request, created_at, vcpu,
        memory_bytes, gpus, template) VALUES {", ".join(_JOBS)}""",
    """INSERT INTO job_input (job_id, position, file_set_version_id, role)
        VALUES (1, 0, 10, 'data'), (1, 1, 20, 'code'), (2, 0, 30, 'data'), (2, 1, 20, 'code')""",
    f"""INSERT INTO action (id, project_id, kind, job_id, user_id, created_at) VALUES (1, 1, 'upload', NULL, 1, {_AT}),
        (2, 1, 'job', 1, 1, {_AT}), (3, 1, 'creation', NULL, 1, {_AT})""",
    """INSERT INTO action_input (action_id, position, file_set_version_id, role)
        VALUES (2, 0, 10, 'data'), (2, 1, 20, 'code'), (3, 0, 30, 'data'), (3, 1, 10, 'data')""",
    "INSERT INTO action_output (file_set_version_id, action_id) VALUES (10, 1), (30, 2), (40, 3)",
)
"""raw:1, uploaded → (job 1) → clean:1 → (by hand, with raw:1) → best:1. Job 2 failed over clean:1, job 3 waits."""


def _migrated(database: Database) -> Provenance:
    bytes_ = "BLOB" if database.name == "sqlite" else "BYTEA"
    with database.connect() as connection:
        command.upgrade(schema.alembic_config(connection), "0005")
        for statement in _OLD:
            connection.exec_driver_sql(statement.replace("BYTES", bytes_))
        if database.name == "postgresql":
            connection.exec_driver_sql("SELECT setval(pg_get_serial_sequence('action', 'id'), 3)")
        connection.commit()
    assert schema.migrate(database) == "0005"
    lake = Lake(database, MemoryObjectStore(SIGNER))
    return Provenance(database, lake.files, lake.composing)


def test_actions_of_before_have_their_inputs_in_their_order_and_other_jobs_are_actions_now(
    empty_database: Database,
) -> None:
    graph = _migrated(empty_database).neighbourhood(PROJECT, "clean:1", NeighbourhoodQuery(back=9, forward=9))
    found = {one.job.number if one.job else one.kind: (one.inputs, one.outputs) for one in graph.actions}
    code = ActionInput("code.clean:1", CODE)
    assert found == {
        ActionKind.UPLOAD: ([], ["raw:1"]),
        1: ([ActionInput("raw:1", DATA), code], ["clean:1"]),
        ActionKind.CREATION: ([ActionInput("clean:1", DATA), ActionInput("raw:1", DATA)], ["best:1"]),
        2: ([ActionInput("clean:1", DATA), code], []),
    }


def test_a_job_without_input_is_an_action_too_and_what_sets_were_made_of_is_not_known(empty_database: Database) -> None:
    graph = _migrated(empty_database)
    (action,) = graph.neighbourhood(PROJECT, "3", NeighbourhoodQuery()).actions
    assert (action.kind, action.inputs, action.outputs, action.creator) == (ActionKind.JOB, [], [], "u")
    assert graph.sources(PROJECT, "best:1").sources is None


def test_names_hang_together_as_before(empty_database: Database) -> None:
    (component,) = _migrated(empty_database).project(PROJECT, ProjectGraphQuery()).components
    links = {(one.source, one.target) for one in component.links}
    assert links == {("raw", "clean"), ("clean", "best"), ("raw", "best")}
