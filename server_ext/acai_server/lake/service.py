"""The data lake: files, upload sessions and file sets."""

from __future__ import annotations

from contextlib import nullcontext
from typing import TYPE_CHECKING

from acai_server.lake.aliases import Aliases
from acai_server.lake.collecting import Terms
from acai_server.lake.composing import Composing
from acai_server.lake.deletion_guard import AlwaysAllowed
from acai_server.lake.files import Files
from acai_server.lake.filesets import FileSets
from acai_server.lake.garbage import Collections
from acai_server.lake.integrity.damage import Damages
from acai_server.lake.keeping import GRACE, Keeping
from acai_server.lake.removing import Removals
from acai_server.lake.restricting import Restrictions
from acai_server.lake.retention import Rules
from acai_server.lake.tidying import Tidying
from acai_server.lake.uploads import Uploads

if TYPE_CHECKING:
    from collections.abc import Callable
    from contextlib import AbstractContextManager
    from datetime import timedelta

    from acai_server.db.database import Database
    from acai_server.lake.deletion_guard import DeletionGuard
    from acai_server.lake.direct import DirectPath
    from acai_server.objects.protocol import ObjectStore


class Lake:
    """One database of records over one store of bytes."""

    def __init__(  # noqa: PLR0913 (the parts and limits of a lake)
        self,
        database: Database,
        objects: ObjectStore,
        direct: DirectPath | None = None,
        *,
        grace: timedelta = GRACE,
        uploads_per_user: int = 0,
        making_room: Callable[[], AbstractContextManager[None]] = nullcontext,
        damages: Damages | None = None,
        guard: DeletionGuard | None = None,
    ) -> None:
        guard = guard or AlwaysAllowed()
        self.tidying = Tidying(database, objects, direct, guard)
        self.damages = damages or Damages(database, objects)
        self.uploads = Uploads(database, objects, direct, self.tidying, self.damages, uploads_per_user)
        self.files = Files(database, objects, direct, self.damages)
        self.removals = Removals(database)
        self.file_sets = FileSets(database)
        self.composing = Composing(database)
        self.aliases = Aliases(database)
        self.keeping = Keeping(database, grace=grace)
        self.retention = Rules(database)
        self.restrictions = Restrictions(database)
        self.collections = Collections(
            database, objects, self.tidying, self.retention, Terms(grace=grace), guard=guard, making_room=making_room
        )
