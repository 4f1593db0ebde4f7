"""A lineage as OpenLineage events, a line each: for each action that it began, and how its run stands or ended."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any
from urllib.parse import quote
from uuid import NAMESPACE_URL, uuid5

import msgspec

from acai_jupyter.contract.states import InputRole, JobState

if TYPE_CHECKING:
    from collections.abc import Iterator
    from datetime import datetime

    from acai_server.provenance.exports.lineage import Lineage, Step

PRODUCER = "urn:acai:jupyter"
_SPEC = "https://openlineage.io/spec"
_EVENT = f"{_SPEC}/2-0-2/OpenLineage.json#/$defs/RunEvent"
_VERSION = f"{_SPEC}/facets/1-0-1/DatasetVersionDatasetFacet.json#/$defs/DatasetVersionDatasetFacet"
_ERROR = f"{_SPEC}/facets/1-0-1/ErrorMessageRunFacet.json#/$defs/ErrorMessageRunFacet"
_PLAIN = f"{_SPEC}/2-0-2/OpenLineage.json#/$defs/RunFacet"
_TYPES = {
    None: "COMPLETE",
    JobState.FINISHED: "COMPLETE",
    JobState.FAILED: "FAIL",
    JobState.CRASHED: "FAIL",
    JobState.KILLED: "ABORT",
}


def write(lineage: Lineage) -> Iterator[str]:
    """Write it, in the order in which the actions began."""
    for step in lineage.steps.values():
        events = [_event(lineage, step, "START", step.action.created_at)]
        if step.action.state is not JobState.QUEUED:
            kind = _TYPES.get(step.action.state, "RUNNING")
            events.append(_event(lineage, step, kind, _stands_since(lineage, step)))
        yield "".join(msgspec.json.encode(event).decode() + "\n" for event in events)


def _event(lineage: Lineage, step: Step, kind: str, moment: datetime) -> dict[str, Any]:
    namespace = f"acai://{quote(lineage.project)}"
    return {
        "eventType": kind,
        "eventTime": _moment(moment),
        "run": {"runId": str(uuid5(NAMESPACE_URL, f"{namespace}/{step.id}")), "facets": _run(step)},
        "job": {"namespace": namespace, "name": _job(lineage, step)},
        "inputs": [_dataset(lineage, namespace, key) for key, role in step.inputs if role is InputRole.DATA],
        "outputs": [_dataset(lineage, namespace, key) for key in step.outputs],
        "producer": PRODUCER,
        "schemaURL": _EVENT,
    }


def _stands_since(lineage: Lineage, step: Step) -> datetime:
    if step.job is not None:
        return step.job.ended_at or step.job.started_at or step.action.created_at
    return max([step.action.created_at, *(lineage.sets[key].created_at for key in step.outputs)])


def _job(lineage: Lineage, step: Step) -> str:
    """What runs again and again is one job to OpenLineage: a template; or making versions of one name."""
    if step.job is not None:
        return step.job.template or step.job.name or step.id
    made = [lineage.sets[key].name for key in step.outputs]
    return f"{step.action.kind.value} {' '.join(made)}".strip()


def _run(step: Step) -> dict[str, Any]:
    if step.job is None:
        return {}
    job = step.job
    known = {"number": job.number, "state": job.state.value, "parameters": job.parameters, "cost_usd": job.cost_usd}
    facets: dict[str, Any] = {"acai_job": {"_producer": PRODUCER, "_schemaURL": _PLAIN, **known}}
    if _TYPES.get(job.state) == "FAIL":
        error = {"message": job.reason, "programmingLanguage": "unknown"}
        facets["errorMessage"] = {"_producer": PRODUCER, "_schemaURL": _ERROR, **error}
    return facets


def _dataset(lineage: Lineage, namespace: str, key: int) -> dict[str, Any]:
    one = lineage.sets[key]
    version = {"_producer": PRODUCER, "_schemaURL": _VERSION, "datasetVersion": str(one.version)}
    return {"namespace": namespace, "name": one.name, "facets": {"version": version}}


def _moment(moment: datetime) -> str:
    return moment.isoformat()
