"""Things by what people write: a job's number, a file set like `model:2`, a file version like `/data.csv:3`."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from acai_jupyter.contract.errors import BadSpec, FileNotFound, JobNotFound
from acai_jupyter.contract.query.builtin import SubjectKind
from acai_jupyter.contract.specs import encode_path, parse_set, parse_spec

if TYPE_CHECKING:
    from acai_jupyter.contract.ids import ProjectId
    from acai_server.db.work import Work

_MAX_DIGITS = 12


@dataclass(frozen=True)
class Thing:
    """One thing: its row, and how people write it."""

    kind: SubjectKind
    id: int
    name: str


def find_thing(work: Work, project: ProjectId, name: str) -> Thing:
    """Return one thing, or say that it is not there."""
    return find_things(work, project, [name])[name]


def find_things(work: Work, project: ProjectId, names: list[str]) -> dict[str, Thing]:
    """Return things by what was written."""
    numbers = {name: int(name) for name in names if _is_number(name)}
    found = _jobs(work, project, numbers)
    for name in names:
        if name not in found:
            found[name] = _file(work, project, name) if name.startswith("/") else _file_set(work, project, name)
    return found


def _is_number(name: str) -> bool:
    return name.isascii() and name.isdigit() and len(name) <= _MAX_DIGITS


def _jobs(work: Work, project: ProjectId, numbers: dict[str, int]) -> dict[str, Thing]:
    rows = work.subjects.jobs(project, list(numbers.values()))
    missing = next((number for number in numbers.values() if number not in rows), None)
    if missing is not None:
        raise JobNotFound(job=missing)
    return {name: Thing(SubjectKind.JOB, rows[number], str(number)) for name, number in numbers.items()}


def _file_set(work: Work, project: ProjectId, name: str) -> Thing:
    stored = work.file_sets.find(project, parse_set(name.removeprefix("@")))
    return Thing(SubjectKind.FILE_SET, stored.id, stored.public.ref)


def _file(work: Work, project: ProjectId, name: str) -> Thing:
    spec = parse_spec(name)
    if spec.is_folder:
        raise BadSpec(spec=name, reason="attributes stand on a file version, not on a folder")
    row = work.subjects.find(project, SubjectKind.FILE, spec.path, spec.version)
    if row is None:
        version = "" if spec.version is None else f":{spec.version}"
        raise FileNotFound(path=f"{encode_path(spec.path)}{version}", hint="")
    return Thing(SubjectKind.FILE, row, work.subjects.names(SubjectKind.FILE, [row])[row])
