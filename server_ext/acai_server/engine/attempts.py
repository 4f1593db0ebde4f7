"""How an attempt is named: for the runner, and in the object store."""

from __future__ import annotations

from typing import TYPE_CHECKING, Literal

from acai_jupyter.contract.ids import ObjectKey
from acai_server.objects.keys import folder_prefix

if TYPE_CHECKING:
    from acai_server.db.jobs import StoredAttempt, StoredJob

Slot = Literal["launch", "log", "found", "pack", "result", "displays"]
"""`log` and `pack` are numbered; `found` is what the server kept of a log that the agent could not send."""


def runner_name(job: StoredJob, attempt: StoredAttempt) -> str:
    """Return the attempt's name for the runner: unique, and safe as a file name and a label."""
    return f"job-{job.project_id}-{job.number}-{attempt.number}"


def slot_key(
    job: StoredJob, attempt: StoredAttempt | int, slot: Slot, number: int | None = None, *, rank: int = 0
) -> ObjectKey:
    """Return where something of the attempt is kept; of a gang, each rank has its own."""
    kind = f"{slot}_{rank}" if rank else slot
    what = kind if number is None else f"{kind}/{number}"
    number = attempt if isinstance(attempt, int) else attempt.number
    return ObjectKey(f"{folder_prefix(job.project_id, job.object_folder)}{number}/{what}")
