"""Lineages in the formats of other programs, read by libraries of those formats."""

from __future__ import annotations

import io
import json
from typing import TYPE_CHECKING, Any
from uuid import UUID

import attr
import networkx as nx
import prov.model
import pydot
import pytest
from openlineage.client.generated.base import Dataset, EventType, Job, Run, RunEvent, RunFacet
from openlineage.client.generated.dataset_version_dataset import DatasetVersionDatasetFacet
from openlineage.client.generated.error_message_run import ErrorMessageRunFacet

from acai_jupyter.contract.filesets import RemoveFileSets
from acai_jupyter.contract.lineage import ExportFormat, LineageDirection
from acai_jupyter.contract.queries import ExportQuery
from acai_server.clock import Clock
from acai_server.db import schema
from acai_server.db.database import Database
from acai_server.testing.lineages import graph_of
from acai_server.testing.stages import HandClock, JobUser

if TYPE_CHECKING:
    from collections.abc import Iterator

HOSTILE = 'x "<&>\\" λ'


@pytest.fixture(scope="module")
def user() -> Iterator[JobUser]:
    """A project: raw data, a job that cleaned it, one that trained, one that failed and one without input."""
    database = Database("sqlite://", Clock())
    schema.migrate(database)
    user = JobUser(database, HandClock())
    user.lake.put({"/raw/a": b"1"}, file_set="raw")
    user.lake.put({"/code/t.py": b"one"}, file_set="program")
    user.run(user.submit(inputs=["raw"], code="program", output="clean", name=HOSTILE), outputs={"c": b"c"})
    user.run(
        user.submit(inputs=["clean"], output="model", parameters={"lr": 0.1, "note": HOSTILE}), outputs={"m": b"m"}
    )
    failed = user.submit(inputs=["clean"], keep_partial=True)
    user.run(failed, exit_code=1, reason=HOSTILE, outputs={"half": b"h"})
    user.run(user.submit(output="alone"), outputs={"x": b"x"})
    user.submit(inputs=["clean"])
    user.lake.lake.keeping.change(user.project, user.user, "model:1", RemoveFileSets())
    yield user
    database.close()


def written(user: JobUser, ref: str, wanted: ExportFormat, direction: LineageDirection = LineageDirection.BACK) -> str:
    """Return a lineage in a format."""
    query = ExportQuery(wanted, direction)
    return b"".join(graph_of(user).export(user.project, ref, query, "default")).decode()


def test_json_tells_all_of_it(user: JobUser) -> None:
    document = json.loads(written(user, "model:1", ExportFormat.JSON))
    assert (document["focus"], document["is_cut"]) == ("model:1", False)
    sets = {one["file_set"]: one for one in document["file_sets"]}
    assert sets.keys() == {"raw:1", "program:1", "clean:1", "model:1"}
    assert sets["model:1"]["deleted_at"] is not None
    assert [one["kind"] for one in document["actions"]] == ["upload", "upload", "job", "job"]
    assert document["actions"][2]["inputs"] == [
        {"file_set": "raw:1", "role": "data"},
        {"file_set": "program:1", "role": "code"},
    ]
    assert document["actions"][3]["job"]["parameters"] == {"lr": 0.1, "note": HOSTILE}


@pytest.mark.filterwarnings("ignore::DeprecationWarning")  # pydot speaks an older pyparsing
def test_dot_is_read_by_a_parser_of_dot(user: JobUser) -> None:
    (graph,) = pydot.graph_from_dot_data(written(user, "model:1", ExportFormat.DOT)) or []
    labels = {node.get("label") for node in graph.get_nodes()}
    assert {'"raw:1\\n1 file"', '"model:1\\n1 file\\ndeleted"', '"job 1 finished\\nyou\\ncode program:1"'} <= labels
    assert not any("program:1\\n1 file" in str(label) for label in labels)
    assert len(graph.get_edges()) == 5  # raw from its upload; to and from each of two jobs
    forward = written(user, "clean:1", ExportFormat.DOT, LineageDirection.FORWARD)
    (graph,) = pydot.graph_from_dot_data(forward) or []
    dashed = [node.get("label") for node in graph.get_nodes() if node.get("style") == "dashed"]
    assert sorted(dashed) == ['"job 3 failed\\nyou"', '"job 5 queued\\nyou"']


def test_graphml_is_read_by_networkx(user: JobUser) -> None:
    text = written(user, "model:1", ExportFormat.GRAPHML)
    graph = nx.read_graphml(io.BytesIO(text.encode()))
    makings = {"making-raw:1", "making-program:1"}
    assert set(graph) == {"raw:1", "program:1", "clean:1", "model:1", "job-1", "job-2", *makings}
    assert nx.is_directed_acyclic_graph(graph)
    assert nx.ancestors(graph, "model:1") == set(graph) - {"model:1"}
    assert graph.nodes["job-1"]["job"] == 1
    assert graph.edges["program:1", "job-1"]["role"] == "code"


def test_prov_is_read_by_its_library_and_means_the_same(user: JobUser) -> None:
    text = written(user, "model:1", ExportFormat.PROV)
    document = prov.model.ProvDocument.deserialize(content=text, format="json")
    kinds = {kind: list(document.get_records(getattr(prov.model, kind))) for kind in KINDS}
    assert {kind: len(found) for kind, found in kinds.items()} == KINDS
    names = {str(record.identifier) for record in kinds["ProvEntity"]}
    assert names == {f"project:{name}:1" for name in ("raw", "program", "clean", "model")}
    derived = {(str(r.args[0].localpart), str(r.args[1].localpart)) for r in kinds["ProvDerivation"]}
    assert derived == {("clean:1", "raw:1"), ("model:1", "clean:1")}
    again = prov.model.ProvDocument.deserialize(content=document.serialize(format="json"), format="json")
    assert again == document


KINDS = {
    "ProvEntity": 4,
    "ProvActivity": 4,
    "ProvAgent": 1,
    "ProvUsage": 3,
    "ProvGeneration": 4,
    "ProvDerivation": 2,
    "ProvAssociation": 4,
    "ProvInvalidation": 1,
}


def test_openlineage_events_are_those_that_its_own_client_would_send(user: JobUser) -> None:
    lines = written(user, "clean:1", ExportFormat.OPENLINEAGE, LineageDirection.FORWARD).splitlines()
    events = [json.loads(line) for line in lines]
    for event in events:
        check_event(event)
    ends = {event["run"]["facets"]["acai_job"]["number"]: event for event in events}
    assert {number: event["eventType"] for number, event in ends.items()} == {2: "COMPLETE", 3: "FAIL", 5: "START"}
    assert ends[3]["run"]["facets"]["errorMessage"]["message"] == HOSTILE
    assert [one["name"] for one in ends[2]["outputs"]] == ["model"]
    runs = [event["run"]["runId"] for event in events]
    assert (len(set(runs)), len(events)) == (3, 5)
    back = [json.loads(line) for line in written(user, "clean:1", ExportFormat.OPENLINEAGE).splitlines()]
    assert [event["eventType"] for event in back] == ["START", "COMPLETE"] * 3


def check_event(event: dict[str, Any]) -> None:
    """Build the event with the classes made of OpenLineage's schema; they refuse what it does not allow."""
    UUID(event["run"]["runId"])
    facets = event["run"]["facets"]
    made = RunEvent(
        eventTime=event["eventTime"],
        producer=event["producer"],
        run=Run(event["run"]["runId"], {}),
        job=Job(event["job"]["namespace"], event["job"]["name"], {}),
        eventType=EventType(event["eventType"]),
        inputs=[],
        outputs=[],
    )
    assert event["schemaURL"] == made.schemaURL
    assert event.keys() == set(attr.asdict(made))
    assert event["job"].keys() <= set(attr.asdict(made.job))
    for one in event["inputs"] + event["outputs"]:
        version = one["facets"]["version"]
        facet = DatasetVersionDatasetFacet(version["datasetVersion"], producer=version["_producer"])
        assert version.keys() <= set(attr.asdict(facet))
        assert version["_schemaURL"] == facet._schemaURL
        Dataset(one["namespace"], one["name"], facets={"version": facet})
    if "errorMessage" in facets:
        error = facets["errorMessage"]
        known = ErrorMessageRunFacet(error["message"], error["programmingLanguage"], producer=error["_producer"])
        assert error["_schemaURL"] == known._schemaURL
    if "acai_job" in facets:
        assert set(attr.asdict(RunFacet(producer=event["producer"]))) - {"_deleted"} <= facets["acai_job"].keys()
