"""Which objects of the store the records of this database own, and which of those it has released.

An object that no record owns is never released. It may belong to another database, to a copy of this one, or to an
import that is under way.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from acai_jupyter.contract.ids import ProjectId
from acai_server.objects.keys import JobOwner, UploadOwner, is_content_key, owner_of

if TYPE_CHECKING:
    from collections.abc import Iterable
    from datetime import datetime

    from acai_jupyter.contract.ids import ObjectKey
    from acai_server.db.sweeping import Owner
    from acai_server.db.work import Work

NEEDLESS_AFTER_JOB = ("launch", "pack", "result")
"""Slots of an attempt that are of no use after the job has ended; a pack of outputs has a record. Logs stay."""

_OF_SERVER = ("checkup/", "store/")
"""What no project owns: objects that a checkup tries the store with, the mark and the lease."""


@dataclass(frozen=True)
class Ownership:
    """A page of keys, sorted by what may become of their objects. Keys in neither list are in use."""

    released: list[ObjectKey] = field(default_factory=list)
    unknown: list[ObjectKey] = field(default_factory=list)


def ownership(work: Work, keys: list[ObjectKey], before: datetime) -> Ownership:
    """Sort keys; what sessions and jobs that ended after a moment have left is in use."""
    recorded = work.sweeping.recorded(keys)
    found = Ownership()
    by_project: dict[ProjectId, list[ObjectKey]] = {}
    for key in keys:
        if key not in recorded and is_content_key(key):
            by_project.setdefault(_project_of(key), []).append(key)
    for project, bare in by_project.items():
        for key, owner, slot in _owners(work, project, bare):
            if owner is None:
                found.unknown.append(key)
            elif owner.is_collected or (_is_needless(slot) and owner.ended_at is not None and owner.ended_at <= before):
                found.released.append(key)
    return found


def is_owned(work: Work, key: ObjectKey) -> bool:
    """Whether a session or job of this database owns what is below a key, or the server itself does."""
    if not is_content_key(key):
        return key.startswith(_OF_SERVER)
    return all(owner is not None for _, owner, _ in _owners(work, _project_of(key), [key]))


def _project_of(key: ObjectKey) -> ProjectId:
    return ProjectId(int(key.partition("/")[0][1:]))


def _is_needless(slot: str) -> bool:
    """Whether an object without a record is of no use after its session or job has ended; a session has no slots."""
    return slot in ("", *NEEDLESS_AFTER_JOB)


def _owners(work: Work, project: ProjectId, keys: list[ObjectKey]) -> Iterable[tuple[ObjectKey, Owner | None, str]]:
    """Find the session or job that owns each object, if there is one, and the slot of a job's attempt."""
    named = {key: owner_of(key) for key in keys}
    uploads = sorted({one.upload for one in named.values() if isinstance(one, UploadOwner)})
    numbers = sorted({one.number for one in named.values() if isinstance(one, JobOwner)})
    sessions, jobs = work.sweeping.sessions(project, uploads), work.sweeping.jobs(project, numbers)
    for key, name in named.items():
        owner, slot = None, ""
        if isinstance(name, UploadOwner):
            owner = sessions.get(name.upload)
        elif isinstance(name, JobOwner):
            owner, slot = jobs.get(name.number), name.slot
        is_owned = owner is not None and name is not None and owner.folder == name.folder
        yield key, owner if is_owned else None, slot
