"""What stands in a crate's description: RO-Crate 1.1, with the jobs as the actions of its Process Run profile.

Pure: entities of what is known, as plain data.
"""

from __future__ import annotations

import mimetypes
import shlex
from typing import TYPE_CHECKING, Any
from urllib.parse import quote

from acai_jupyter.commands.units import files_of
from acai_jupyter.contract.states import ActionKind, InputRole, JobState

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from acai_jupyter.contract.filesets import FileSet
    from acai_jupyter.contract.provenance import Action, Graph

    Entity = dict[str, Any]

METADATA = "ro-crate-metadata.json"
CONTEXT = ["https://w3id.org/ro/crate/1.1/context", "https://w3id.org/ro/terms/workflow-run/context"]
SPECIFICATION = "https://w3id.org/ro/crate/1.1"
PROFILE = "https://w3id.org/ro/wfrun/process/0.5"
SHA256 = "sha256"
_STATUS = {
    JobState.FINISHED: "http://schema.org/CompletedActionStatus",
    JobState.FAILED: "http://schema.org/FailedActionStatus",
    JobState.KILLED: "http://schema.org/FailedActionStatus",
    JobState.CRASHED: "http://schema.org/FailedActionStatus",
}


def file(name: str, size_bytes: int, sha256: str, said: str = "") -> Entity:
    """Return a file of the crate."""
    kind = mimetypes.guess_type(name)[0]
    found = {
        "@id": quote(name),
        "@type": "File",
        "name": name.rpartition("/")[2],
        "contentSize": str(size_bytes),
        SHA256: sha256,
        "encodingFormat": kind or "application/octet-stream",
    }
    return found | ({"description": said} if said else {})


def describe(spec: str, result: FileSet, files: Sequence[Entity], graph: Graph) -> dict[str, Any]:
    """Return the whole description of a crate with these files."""
    people = dict.fromkeys([result.creator, *(action.creator for action in graph.actions)])
    actions = [_action(action) for action in graph.actions if action.kind is not ActionKind.UPLOAD]
    others = [_set(node.file_set) for node in graph.nodes if node.file_set.ref != result.ref]
    root = {
        "@id": "./",
        "@type": "Dataset",
        "name": spec,
        "description": result.note or f"{spec}: {files_of(result.file_count)}, and what it was made from.",
        "datePublished": result.created_at.isoformat(),
        "creator": _person(result.creator),
        "conformsTo": {"@id": PROFILE},
        "hasPart": _ids([*files, *_code(graph)]),
        "mentions": _ids([*actions, *others]),
        "identifier": result.ref,
    }
    head = {
        "@id": METADATA,
        "@type": "CreativeWork",
        "about": {"@id": "./"},
        "conformsTo": {"@id": SPECIFICATION},
    }
    profile = {"@id": PROFILE, "@type": "CreativeWork", "name": "Process Run Crate", "version": "0.5"}
    programs = [_program(action) for action in graph.actions if action.job is not None]
    values = [value for action in graph.actions for value in _parameters(action)]
    named = [{**_person(name), "@type": "Person", "name": name} for name in people]
    lineage = [*_whole(result), *others, *actions, *programs, *_code(graph), *values, *named]
    return {"@context": CONTEXT, "@graph": [head, root, profile, *files, *lineage]}


def folder_of(ref: str) -> str:
    """Return the name of a folder for what belongs to a set."""
    return ref.replace(":", "-")


def _whole(result: FileSet) -> list[Entity]:
    return [{**_set(result), "hasPart": {"@id": "./"}}]


def _set(one: FileSet) -> Entity:
    deleted = " It was deleted since." if one.deleted_at is not None else ""
    return {
        "@id": _of_set(one.ref),
        "@type": "Collection",
        "name": one.ref,
        "description": f"{files_of(one.file_count)}, {one.size_bytes} bytes.{deleted}",
        "dateCreated": one.created_at.isoformat(),
    }


def _action(action: Action) -> Entity:
    data = [one.file_set for one in action.inputs if one.role is InputRole.DATA]
    found: Entity = {
        "@id": _of_action(action),
        "@type": "CreateAction",
        "name": _called(action),
        "agent": _person(action.creator),
        "object": [*({"@id": _of_set(ref)} for ref in data), *_ids(_parameters(action))],
        "result": [{"@id": _of_set(ref)} for ref in action.outputs],
        "endTime": action.created_at.isoformat(),
    }
    job = action.job
    if job is None:
        return found
    found |= {"instrument": {"@id": f"#program-of-job-{job.number}"}}
    if job.started_at is not None:
        found["startTime"] = job.started_at.isoformat()
    if job.ended_at is not None:
        found["endTime"] = job.ended_at.isoformat()
    if job.state in _STATUS:
        found["actionStatus"] = {"@id": _STATUS[job.state]}
    if job.reason:
        found["error" if job.state is not JobState.FINISHED else "description"] = job.reason
    return found


def _program(action: Action) -> Entity:
    assert action.job is not None
    command = action.job.command
    code = [one.file_set for one in action.inputs if one.role is InputRole.CODE]
    found: Entity = {
        "@id": f"#program-of-job-{action.job.number}",
        "@type": "SoftwareApplication",
        "name": command if isinstance(command, str) else shlex.join(command),
    }
    return found | ({"softwareRequirements": [{"@id": _of_code(ref)} for ref in code]} if code else {})


def _code(graph: Graph) -> list[Entity]:
    """The folders with code."""
    refs = [one.file_set for action in graph.actions for one in action.inputs if one.role is InputRole.CODE]
    return [{"@id": _of_code(ref), "@type": "Dataset", "name": ref} for ref in dict.fromkeys(refs)]


def _parameters(action: Action) -> list[Entity]:
    if action.job is None:
        return []
    return [
        {"@id": f"#job-{action.job.number}-{quote(name)}", "@type": "PropertyValue", "name": name, "value": value}
        for name, value in action.job.parameters.items()
    ]


def _called(action: Action) -> str:
    if action.job is None:
        return "made of other file sets"
    return f"job {action.job.number} {action.job.name}".strip()


def _of_code(ref: str) -> str:
    return f"code/{quote(folder_of(ref))}/"


def _of_action(action: Action) -> str:
    return f"#job-{action.job.number}" if action.job is not None else f"#making-{quote(action.id)}"


def _of_set(ref: str) -> str:
    return f"#{quote(ref)}"


def _person(name: str) -> Entity:
    return {"@id": f"#user-{quote(name)}"}


def _ids(entities: Iterable[Entity]) -> list[Entity]:
    return [{"@id": one["@id"]} for one in entities]
