"""The data lake: upload sessions and file sets."""

from __future__ import annotations

from typing import TYPE_CHECKING

from acai_server.lake.filesets import FileSets
from acai_server.lake.uploads import Uploads

if TYPE_CHECKING:
    from acai_server.db.database import Database
    from acai_server.objects.protocol import ObjectStore


class Lake:
    """One database of records over one store of bytes."""

    def __init__(self, database: Database, objects: ObjectStore) -> None:
        self.uploads = Uploads(database, objects)
        self.file_sets = FileSets(database)
