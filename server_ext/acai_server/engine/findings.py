"""What was found of the agents of an attempt that is over, and what that means together. Nothing is written here."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import msgspec

from acai_jupyter.contract.errors import BadPath, ObjectNotFound
from acai_jupyter.contract.states import JobState
from acai_server.engine.ends import End
from acai_server.engine.kept_logs import LogKeeper
from acai_server.engine.results import read_result

if TYPE_CHECKING:
    from collections.abc import Sequence

    from acai_jupyter.contract.launch import OutputFile, ResultRecord
    from acai_server.db.jobs import StoredAttempt, StoredJob
    from acai_server.engine.kept_logs import Piece
    from acai_server.objects.protocol import ObjectStore
    from acai_server.runners.protocol import Ended, Runner


@dataclass(frozen=True)
class Finding:
    """What one agent left, and what its end means by itself. Alone, its rank is 0."""

    rank: int
    end: End
    ended: Ended
    pieces: list[Piece]
    result: ResultRecord | None = None

    @property
    def likelihood(self) -> tuple[int, float]:
        """Order those of a gang by how likely the ends of others followed from its own."""
        result = self.result
        if self.end.state is JobState.FINISHED:
            return 4, 0.0
        ended_at = 0.0 if result is None else result.ended_at
        if self.end.ran_out_of_memory:
            return 0, ended_at
        if self.ended.followed or (result is not None and result.followed):
            return 3, ended_at
        if self.end.state is JobState.CRASHED:
            return 1, ended_at
        return (3 if result is not None and result.was_stopped else 2), ended_at


def find(objects: ObjectStore, runner: Runner, job: StoredJob, attempt: StoredAttempt, ended: Ended) -> list[Finding]:
    """Return what each agent of an attempt left, by rank."""
    ends = ended.members or (ended,) * job.request.nodes
    return [
        _find(objects, LogKeeper(objects, runner, rank), job, attempt, (rank, one)) for rank, one in enumerate(ends)
    ]


def _find(
    objects: ObjectStore, keeper: LogKeeper, job: StoredJob, attempt: StoredAttempt, seen: tuple[int, Ended]
) -> Finding:
    rank, ended = seen
    try:
        result = read_result(objects, job, attempt, rank)
    except (ObjectNotFound, BadPath, msgspec.MsgspecError) as error:
        told = "left no result" if isinstance(error, ObjectNotFound) else "left a result that cannot be used"
        return Finding(rank, _unseen(ended, told), ended, keeper.found(job, attempt))
    told_pieces = keeper.sent(job, attempt, result.log) if result.log_is_whole else None
    pieces = keeper.found(job, attempt) if told_pieces is None else told_pieces
    return Finding(rank, _end(result, ended), ended, pieces, result)


def together(findings: Sequence[Finding]) -> Finding:
    """Return the one whose end counts for all; of a gang its reason says which node it was."""
    first = min(findings, key=lambda one: one.likelihood)
    if len(findings) == 1 or first.end.state is JobState.FINISHED or first.likelihood[0] == 3:  # noqa: PLR2004
        return first
    return replace(first, end=replace(first.end, reason=f"node {first.rank}: {first.end.reason}"))


def outputs(findings: Sequence[Finding]) -> tuple[list[tuple[int, OutputFile]], list[str]]:
    """Return what all ranks have left, each path once, and what to say of those that several have left."""
    found: dict[str, tuple[int, OutputFile]] = {}
    warnings: list[str] = []
    for one in findings:
        for file in [] if one.result is None else one.result.outputs:
            rank, known = found.setdefault(file.path, (one.rank, file))
            if known.sha256 != file.sha256:
                warnings.append(f"{file.path} was written by several nodes; that of node {rank} is kept")
    return list(found.values()), warnings


def reported(findings: Sequence[Finding], warnings: list[str]) -> dict[str, Any]:
    """What the agents tell of their machines, as it is kept: of a gang, what the first tells, and all warnings."""
    told = next((one.result for one in findings if one.result is not None), None)
    if told is None:
        return {}
    said = [
        f"node {one.rank}: {text}" if len(findings) > 1 else text
        for one in findings
        if one.result is not None
        for text in one.result.warnings
    ]
    return {
        "usage": msgspec.to_builtins(told.usage),
        "held": told.held,
        "environment": told.environment,
        "warnings": [text[:500] for text in (*warnings, *said)][:100],
        "displays_bytes": told.displays_bytes,
    }


def _unseen(ended: Ended, told: str) -> End:
    """The end of an attempt that left no record that can be used: mostly the machine's fault."""
    if ended.out_of_memory:
        return End(JobState.FAILED, ended.reason, ran_out_of_memory=True)
    status = "was not seen to end" if ended.exit_code is None else f"ended with status {ended.exit_code}"
    state = JobState.FAILED if ended.reason and not ended.machine_failed else JobState.CRASHED
    return End(state, ended.reason or f"its agent {status} and {told}")


def _end(result: ResultRecord, ended: Ended) -> End:
    if result.exit_code == 0 and not result.was_stopped:
        return End(JobState.FINISHED, run_seconds=result.run_seconds)
    if result.never_began:
        return End(JobState.CRASHED, result.reason)
    if result.was_stopped and ended.machine_failed:  # it was asked to end for a drain, an eviction, a preemption
        return End(JobState.CRASHED, ended.reason, run_seconds=result.run_seconds)
    out_of_memory = result.ran_out_of_memory or ended.out_of_memory
    told = (ended.reason, result.reason) if result.was_stopped else (result.reason, ended.reason)
    reason = next(filter(None, told), f"exit {result.exit_code}")  # what was done to it says more than that it was
    return End(JobState.FAILED, reason, out_of_memory, result.run_seconds)
