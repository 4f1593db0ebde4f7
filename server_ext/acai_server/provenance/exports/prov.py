"""A lineage as W3C PROV-JSON: sets are entities, actions activities, users agents."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any
from urllib.parse import quote

import msgspec

from acai_jupyter.contract.states import InputRole

if TYPE_CHECKING:
    from collections.abc import Iterator
    from datetime import datetime

    from acai_jupyter.contract.lineage import ClosureSet
    from acai_server.provenance.exports.lineage import Lineage, Step

NAMESPACE = "urn:acai:"
"""What the names of kinds and of attributes stand below; those of sets, jobs and users below their project's."""


def write(lineage: Lineage) -> Iterator[str]:
    """Write it."""
    document: dict[str, dict[str, Any]] = {
        "prefix": {"acai": NAMESPACE, "project": f"{NAMESPACE}project:{quote(lineage.project)}:"},
        "entity": {_entity(one.ref): _described(one) for one in lineage.sets.values()},
        "activity": {_activity(step): _done(step) for step in lineage.steps.values()},
        "agent": {},
    }
    relations = _Relations()
    for step in lineage.steps.values():
        document["agent"][_agent(step.action.creator)] = {"prov:type": _name("prov:Person")}
        relations.add("wasAssociatedWith", activity=_activity(step), agent=_agent(step.action.creator))
        for key, role in step.inputs:
            used = _entity(lineage.sets[key].ref)
            relations.add("used", activity=_activity(step), entity=used, role=role.value)
        for key in step.outputs:
            _generated(relations, lineage, step, key)
    for one in lineage.sets.values():
        if one.deleted_at is not None:
            relations.add("wasInvalidatedBy", entity=_entity(one.ref), time=_moment(one.deleted_at))
    yield msgspec.json.format(msgspec.json.encode(document | relations.found)).decode() + "\n"


class _Relations:
    """Relations by kind, each with a name of its own."""

    def __init__(self) -> None:
        self.found: dict[str, dict[str, Any]] = {}

    def add(self, kind: str, **ends: str) -> None:
        of_kind = self.found.setdefault(kind, {})
        of_kind[f"_:{kind}{len(of_kind) + 1}"] = {f"prov:{name}": value for name, value in ends.items()}


def _generated(relations: _Relations, lineage: Lineage, step: Step, key: int) -> None:
    made = lineage.sets[key]
    time = _moment(made.created_at)
    relations.add("wasGeneratedBy", entity=_entity(made.ref), activity=_activity(step), time=time)
    for used, role in step.inputs:
        if role is InputRole.DATA:
            source = _entity(lineage.sets[used].ref)
            relations.add(
                "wasDerivedFrom", generatedEntity=_entity(made.ref), usedEntity=source, activity=_activity(step)
            )


def _described(one: ClosureSet) -> dict[str, Any]:
    return {
        "prov:type": _name("acai:FileSet"),
        "prov:label": one.ref,
        "acai:file_count": one.file_count,
        "acai:size_bytes": one.size_bytes,
        "acai:creator": one.creator,
    }


def _done(step: Step) -> dict[str, Any]:
    known: dict[str, Any] = {
        "prov:type": _name(f"acai:{step.action.kind.value}"),
        "prov:label": step.name,
        "prov:startTime": _moment(step.action.created_at),
    }
    if step.job is None:
        return known | {"prov:endTime": _moment(step.action.created_at)}
    job = step.job
    known |= {"acai:state": job.state.value, "acai:template": job.template}
    known |= {f"acai:param.{name}": value for name, value in job.parameters.items()}
    if job.cost_usd is not None:
        known["acai:cost_usd"] = job.cost_usd
    return known if job.ended_at is None else known | {"prov:endTime": _moment(job.ended_at)}


def _entity(ref: str) -> str:
    return f"project:{ref}"


def _activity(step: Step) -> str:
    return f"project:{'job' if step.action.job is not None else 'action'}/{step.id.partition('-')[2]}"


def _agent(user: str) -> str:
    return f"acai:user/{quote(user)}"


def _name(name: str) -> dict[str, str]:
    return {"$": name, "type": "prov:QUALIFIED_NAME"}


def _moment(moment: datetime) -> str:
    return moment.isoformat()
