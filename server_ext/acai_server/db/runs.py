"""Runs of a template, as far as they tell how long others will take."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from acai_jupyter.contract.ids import JobNumber
from acai_jupyter.contract.profilings import SAMPLED
from acai_jupyter.contract.states import InputRole, JobState
from acai_server.db import batches
from acai_server.db.rows import as_json

if TYPE_CHECKING:
    from datetime import datetime

    from sqlalchemy.orm import Session

    from acai_jupyter.contract.ids import ProjectId

_ENDED_LATE = "it ran longer than its limit"
"""How the agent's reason begins when a program was ended because its time was over."""
_TOLD = f"""
    (j.state IN ('{JobState.FINISHED.value}', '{JobState.KILLED.value}')
     OR (j.state = '{JobState.FAILED.value}' AND substr(j.reason, 1, {len(_ENDED_LATE)}) = '{_ENDED_LATE}'))
    AND j.ended_at IS NOT NULL
    AND j.answered_by_id IS NULL AND j.deleted_at IS NULL AND a.run_seconds IS NOT NULL
    AND a.id = (SELECT max(id) FROM attempt WHERE job_id = j.id)"""
_NEWEST = f"""
    SELECT j.ended_at, j.id FROM job j JOIN attempt a ON a.job_id = j.id
    WHERE j.project_id = ? AND j.template = ? AND {_TOLD} ORDER BY j.ended_at DESC, j.id DESC LIMIT 1"""
_RUNS = f"""
    SELECT j.id, j.number, j.state, j.request, j.gpus, a.vcpu, a.memory_bytes, a.run_seconds, a.billed_seconds, a.seen,
    a.price_book
    FROM job j JOIN attempt a ON a.job_id = j.id
    WHERE j.project_id = ? AND j.template = ? AND {_TOLD} ORDER BY j.ended_at DESC, j.id DESC LIMIT ?"""
_INPUTS = """
    SELECT i.job_id, i.role, i.file_set_version_id, v.size_bytes, v.file_count FROM job_input i
    JOIN file_set_version v ON v.id = i.file_set_version_id WHERE i.job_id IN"""
_TEMPLATES = f"""
    SELECT j.template, count(*), max(j.ended_at), max(j.number), max(j.id) FROM job j JOIN attempt a ON a.job_id = j.id
    WHERE j.project_id = ? AND j.state = '{JobState.FINISHED.value}' AND {_TOLD}
    GROUP BY j.template HAVING max(j.number) < ? ORDER BY max(j.number) DESC LIMIT ?"""
_ANY = 2**53
"""More than any number."""

_TOO_LITTLE = """
    SELECT max(a.memory_bytes) FROM job j JOIN attempt a ON a.job_id = j.id JOIN transition t ON t.attempt_id = a.id
    WHERE j.project_id = ? AND j.template = ? AND substr(t.reason, 1, 20) = 'ran out of memory at'"""
"""As `ends.py` writes it down."""
_REQUESTS = "SELECT template, request FROM job WHERE id IN"


@dataclass(frozen=True)
class StoredRun:
    """A run with all that it was given. `is_whole`: it finished; else it was ended while it ran."""

    number: JobNumber
    is_whole: bool
    parameters: dict[str, Any]
    vcpu: float
    memory_bytes: int
    gpus: int
    run_seconds: float
    billed_seconds: float
    max_memory_bytes: int | None
    input_bytes: int
    input_files: int
    code: int | None
    price_book: int | None = None
    gpu_type: str = ""
    is_sample: bool = False
    """It was made on some of the input only, to learn from."""


class RunRecords:
    """Runs by template."""

    def __init__(self, session: Session) -> None:
        self._session = session

    def newest(self, project: ProjectId, template: str) -> tuple[Any, int] | None:
        """Return what changes when there is one more run to learn from; cheap."""
        found = batches.select(self._session, _NEWEST, project, template)
        return (str(found[0][0]), int(found[0][1])) if found else None

    def of(self, project: ProjectId, template: str, most: int) -> list[StoredRun]:
        """Return the last runs, the newest first."""
        found = batches.select(self._session, _RUNS, project, template, most)
        sizes: dict[int, list[Any]] = {}
        for job, role, version, size_bytes, file_count in batches.select_in(
            self._session, _INPUTS, [row[0] for row in found]
        ):
            sizes.setdefault(job, []).append((role, version, size_bytes, file_count))
        return [_run(row, sizes.get(row[0], [])) for row in found]

    def too_little_bytes(self, project: ProjectId, template: str) -> int:
        """Return the most memory that was not enough for a run; 0 when all had enough."""
        return int(batches.select(self._session, _TOO_LITTLE, project, template)[0][0] or 0)

    def templates(self, project: ProjectId, below: int | None, most: int) -> list[tuple[str, int, datetime, JobNumber]]:
        """Return templates with finished runs: how many, when the last had finished, the number of the newest.

        The newest come first; with `below`, those the newest run of which has a lower number.
        """
        found = batches.select(self._session, _TEMPLATES, project, _ANY if below is None else below, most)
        return [(name, int(count), batches.as_time(at), JobNumber(number)) for name, count, at, number, _ in found]

    def with_parameters(self, project: ProjectId, names: set[str], least: int, most: int) -> list[str]:
        """Return templates with so many finished runs, the last of which had parameters of these names."""
        found = [row for row in batches.select(self._session, _TEMPLATES, project, _ANY, most) if row[1] >= least]
        requests = dict(batches.select_in(self._session, _REQUESTS, [row[4] for row in found]))
        named = {name: set(as_json(request).get("parameters", {})) for name, request in requests.items()}
        return [row[0] for row in found if named.get(row[0]) == names]


def _run(row: Any, inputs: list[Any]) -> StoredRun:
    _, number, state, request, gpus, vcpu, memory, run_seconds, billed, seen, book = row
    data = [one for one in inputs if one[0] == InputRole.DATA.value]
    asked = as_json(request)
    usage = (as_json(seen) or {}).get("usage") or {}
    return StoredRun(
        number=JobNumber(number),
        is_whole=state == JobState.FINISHED.value,
        parameters=asked.get("parameters", {}),
        vcpu=vcpu,
        memory_bytes=memory,
        gpus=gpus,
        run_seconds=run_seconds,
        billed_seconds=run_seconds if billed is None else billed,
        max_memory_bytes=usage.get("max_memory_bytes"),
        input_bytes=sum(one[2] for one in data),
        input_files=sum(one[3] for one in data),
        code=next((one[1] for one in inputs if one[0] == InputRole.CODE.value), None),
        price_book=book,
        gpu_type=asked.get("resources", {}).get("gpu_type", ""),
        is_sample=SAMPLED in asked.get("attributes", {}),
    )
