"""What versions of runtime models knew."""

from __future__ import annotations

from typing import TYPE_CHECKING

from acai_server.db import batches, sight
from acai_server.db.tables import ModelVersionRow

if TYPE_CHECKING:
    from collections.abc import Sequence
    from datetime import datetime

    from sqlalchemy.orm import Session

    from acai_jupyter.contract.ids import JobNumber, ProjectId

_SEEN = "SELECT number FROM job WHERE project_id = ? AND number IN"


class ModelRecords:
    """Versions of models by project, template and name. None is ever changed."""

    def __init__(self, session: Session) -> None:
        self._session = session

    def keep(self, project: ProjectId, template: str, version: str, known: bytes, now: datetime) -> None:
        """Write down what a version knew, if that is not there."""
        row = {"project_id": project, "template": template, "version": version, "known": known, "created_at": now}
        batches.insert_missing(self._session, ModelVersionRow, [row])

    def find(self, project: ProjectId, template: str, version: str) -> tuple[bytes, datetime] | None:
        """Return what a version knew, and when it was asked for the first time."""
        row = self._session.get(ModelVersionRow, (project, template, version))
        return None if row is None else (row.known, row.created_at)

    def are_seen(self, project: ProjectId, numbers: Sequence[JobNumber]) -> bool:
        """Whether whoever asks may see all of these jobs."""
        if not sight.unseen():
            return True
        found = batches.select_in(self._session, _SEEN, list(numbers), project)
        return {row[0] for row in found} == set(numbers)
