"""One unit of work: the records of every service inside one transaction."""

from __future__ import annotations

from functools import cached_property
from typing import TYPE_CHECKING

from acai_server.db.actions import ActionRecords
from acai_server.db.attributes import AttributeRecords
from acai_server.db.events import EventRecords
from acai_server.db.files import FileRecords
from acai_server.db.filesets import FileSetRecords
from acai_server.db.jobs import JobRecords
from acai_server.db.projects import ProjectRecords
from acai_server.db.uploads import UploadRecords

if TYPE_CHECKING:
    from sqlalchemy.orm import Session

    from acai_server.clock import Clock


class Work:
    """What a service can ask of the database and write to it, all or nothing."""

    def __init__(self, session: Session, clock: Clock, backend: str) -> None:
        self._session = session
        self.clock = clock
        self.events = EventRecords(session, clock, backend)

    @cached_property
    def projects(self) -> ProjectRecords:
        """Projects, users and tokens."""
        return ProjectRecords(self._session)

    @cached_property
    def uploads(self) -> UploadRecords:
        """Upload sessions."""
        return UploadRecords(self._session)

    @cached_property
    def files(self) -> FileRecords:
        """Files, their versions and their blobs."""
        return FileRecords(self._session)

    @cached_property
    def file_sets(self) -> FileSetRecords:
        """File sets and the chunks of their manifests."""
        return FileSetRecords(self._session)

    @cached_property
    def actions(self) -> ActionRecords:
        """The provenance graph."""
        return ActionRecords(self._session)

    @cached_property
    def jobs(self) -> JobRecords:
        """Jobs, attempts and transitions."""
        return JobRecords(self._session)

    @cached_property
    def attributes(self) -> AttributeRecords:
        """Attributes of things."""
        return AttributeRecords(self._session)
