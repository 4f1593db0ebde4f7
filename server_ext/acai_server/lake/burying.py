"""Burying many file versions, and bringing them back, a page in a transaction: the project is never held for long."""

from __future__ import annotations

import time
from typing import TYPE_CHECKING

from acai_server.lake.holding import held

if TYPE_CHECKING:
    from collections.abc import Iterable

    from acai_jupyter.contract.ids import ProjectId
    from acai_server.db.burials import StoredVersion
    from acai_server.db.database import Database
    from acai_server.db.work import Work
    from acai_server.lake.holding import FileVersion, Load

PAGE = 5000
"""So many file versions are looked at in one transaction: a tenth of a second."""
_PAUSE_SECONDS = 0.005


def let_others_in() -> None:
    """Wait between two pages: a thread that takes a lock again right after it let it go comes before all who wait."""
    time.sleep(_PAUSE_SECONDS)


def loader(database: Database, project: ProjectId) -> Load:
    """Return what loads chunks in transactions of their own."""

    def load(chunks: list[bytes]) -> dict[bytes, bytes]:
        with database.reading() as work:
            return work.file_sets.chunks(project, chunks)

    return load


def load_in(work: Work, project: ProjectId) -> Load:
    """Return what loads chunks in a transaction."""
    return lambda chunks: work.file_sets.chunks(project, chunks)


def unheld(
    work: Work, project: ProjectId, versions: list[StoredVersion], without: Iterable[int] = ()
) -> list[StoredVersion]:
    """Return those versions that no file set holds which is not deleted; some sets are left out of account."""
    gone = set(without)
    roots = {root for version, root in work.file_sets.living(project).items() if version not in gone}
    kept = held(roots, ((one.path, one.number) for one in versions), load_in(work, project))
    return [one for one in versions if (one.path, one.number) not in kept]


def bury_unneeded(work: Work, project: ProjectId, wanted: list[FileVersion]) -> int:
    """Bury those of the versions that no file set holds and that are not the newest of their path; says how many."""
    numbers: dict[str, set[int]] = {}
    for path, number in wanted:
        numbers.setdefault(path, set()).add(number)
    alive = work.burials.alive(project, numbers)
    older = [one for path, versions in alive.items() for one in versions[:-1] if one.number in numbers[path]]
    return bury(work, project, unheld(work, project, older))


def bury(work: Work, project: ProjectId, versions: list[StoredVersion]) -> int:
    """Bury versions; says how many. The project is locked."""
    return _mark(work, project, versions, is_buried=True)


def restore(work: Work, project: ProjectId, versions: list[StoredVersion]) -> int:
    """Bring versions back; says how many. The project is locked."""
    return _mark(work, project, versions, is_buried=False)


def _mark(work: Work, project: ProjectId, versions: list[StoredVersion], *, is_buried: bool) -> int:
    """Mark versions in the order of commits: a session that counted on one of them finds out when it is committed."""
    if versions:
        now = work.clock.now() if is_buried else None
        work.burials.mark(versions, now, work.uploads.next_number(project))
        kind = "files_removed" if is_buried else "files_restored"
        work.events.record(project, kind, f"{len(versions)} file versions")
    return len(versions)
