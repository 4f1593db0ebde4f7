"""The API, fuzzed from its OpenAPI document as every role: no fault of ours, and no answer other than as told."""

from __future__ import annotations

import os
from contextlib import closing
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import hypothesis
import pytest
import schemathesis
from hypothesis import strategies as st
from schemathesis import GenerationMode
from schemathesis.checks import (
    content_type_conformance,
    not_a_server_error,
    response_schema_conformance,
    status_code_conformance,
)
from schemathesis.core.result import Ok

from acai_jupyter.contract.endpoints import ALL, BASE
from acai_jupyter.contract.states import Role
from acai_server.api.openapi import document
from tests.integration.places import Place, Server

if TYPE_CHECKING:
    from collections.abc import Iterator

    from schemathesis import APIOperation, Case

    from tests.servers.postgres import Postgres

    Operation = APIOperation[Any, Any, Any, Any]

EXAMPLES = int(os.environ.get("FUZZ_EXAMPLES", "3"))
"""For each operation, each asked as every role; `make fuzz` takes more."""
SEEDED = "FUZZ_SEEDED" in os.environ
"""Whether `--hypothesis-seed` chooses the examples; they are always the same otherwise."""
CHECKS = [not_a_server_error, status_code_conformance, content_type_conformance, response_schema_conformance]
SCHEMA = schemathesis.openapi.from_dict(document())
OPERATIONS: list[Operation] = [result.ok() for result in SCHEMA.get_all_operations() if isinstance(result, Ok)]
KNOWN = {
    "project": ["default"],
    "job": ["1"],
    "ref": ["digits:1", "digits", "1"],
    "alias": ["best"],
    "user": ["nobody", "admin"],
    "key": ["p1/objects/ab/cd/1"],
}
"""What there is, so that not all that is asked for is missing."""


@dataclass(frozen=True)
class Fuzzed:
    """A server with a token of each role, and none."""

    server: Server
    tokens: dict[str, str]


@pytest.fixture(scope="module", params=["sqlite", pytest.param("postgres", marks=pytest.mark.postgres)])
def fuzzed(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Fuzzed]:
    with closing(Place(tmp_path_factory.mktemp("home"))) as place:
        place.write("digits/1.txt", "one")
        server = place.start(**_database(request))
        put = place.acai("put", "digits", "/digits", "--as", "digits")
        assert put.returncode == 0, put.stderr
        assert server.ask("POST", "/v1/projects/default/jobs", {"command": ["true"]}).status == 201
        tokens = {"nobody": ""}
        for role in Role:
            made = server.ask("POST", "/v1/projects/default/users", {"name": f"fuzzing-{role}", "role": role})
            tokens[role.value] = made.json["issued"]["secret"]
        yield Fuzzed(server, tokens | {"global_admin": server.token})


def _database(request: pytest.FixtureRequest) -> dict[str, str]:
    """What is no text, no number or no time to PostgreSQL may be one to SQLite."""
    if request.param == "sqlite":
        return {}
    postgres: Postgres = request.getfixturevalue("postgres_server")
    return {"ACAI_DATABASE": postgres.create_database(request.getfixturevalue("postgres_template"))}


@pytest.mark.parametrize("operation", OPERATIONS, ids=lambda operation: operation.label)
def test_no_request_is_a_fault_and_each_answer_is_as_told(fuzzed: Fuzzed, operation: Operation) -> None:
    strategy = st.one_of(*(operation.as_strategy(generation_mode=mode) for mode in GenerationMode))

    @hypothesis.settings(
        max_examples=EXAMPLES,
        derandomize=not SEEDED,
        deadline=None,
        suppress_health_check=list(hypothesis.HealthCheck),
    )
    @hypothesis.given(case=strategy, data=st.data())
    def ask(case: Case[Any], data: st.DataObject) -> None:
        for name, values in KNOWN.items():
            if name in case.path_parameters and (name == "project" or data.draw(st.booleans())):
                case.path_parameters[name] = data.draw(st.sampled_from(values))
        if "wait_seconds" in (case.query or {}):
            case.query["wait_seconds"] = 0
        for token in fuzzed.tokens.values():
            headers = {"Authorization": f"Bearer {token}"} if token else {}
            response = case.call(base_url=f"{fuzzed.server.root}{BASE}", headers=headers, timeout=120)
            case.validate_response(response, checks=CHECKS)

    ask()


def test_every_route_is_fuzzed() -> None:
    assert len(OPERATIONS) == len(ALL)
