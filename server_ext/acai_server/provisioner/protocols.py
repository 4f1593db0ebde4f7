"""What the provisioner wants of the engine; `app.py` hands it in."""

from __future__ import annotations

from typing import TYPE_CHECKING, Protocol

if TYPE_CHECKING:
    from collections.abc import Callable

    from acai_jupyter.contract.ids import JobId, ProjectId, UserId
    from acai_jupyter.contract.jobs import CreateJob, Job, LogPage
    from acai_jupyter.contract.projects import Machine
    from acai_server.db.work import Work


class Jobs(Protocol):
    """Makes and ends jobs."""

    def machine(self) -> Machine:
        """Return what can be held at once."""
        ...

    def check(self, project: ProjectId, request: CreateJob) -> None:
        """Refuse what would be refused if it was submitted."""
        ...

    def submit_if(
        self, project: ProjectId, user: UserId, request: CreateJob, tag: str, still: Callable[[Work], bool]
    ) -> Job | None:
        """Take a job in, with a tag, if something still holds in the transaction that writes it."""
        ...

    def end_tagged(self, work: Work, project: ProjectId, user: UserId, tag: str) -> int:
        """Ask for the end of all jobs with a tag that have not ended; returns how many these are."""
        ...

    def end_for(self, work: Work, job: JobId, user: UserId, why: str) -> None:
        """End a job though nobody asked for it; what it has left is kept."""
        ...

    def log(self, project: ProjectId, number: int, offset: int, attempt: int | None = None) -> LogPage:
        """Return a stretch of a job's log."""
        ...

    def wake(self) -> None:
        """Look at jobs again, now."""
        ...
