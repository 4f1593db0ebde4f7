"""Tells lost objects from a store that is away, as an unmounted disk or a bucket that answers 404 for everything."""

from __future__ import annotations

from typing import TYPE_CHECKING

from acai_jupyter.contract.errors import StoreUnavailable
from acai_server.store_owner import mark

if TYPE_CHECKING:
    from acai_server.db.database import Database
    from acai_server.objects.protocol import ObjectStore


def confirm_store(database: Database, objects: ObjectStore) -> None:
    """Raise `StoreUnavailable` unless the store has the mark of this database.

    Call it after objects were found missing or unreadable and before that is recorded, once for all of them.
    """
    with database.reading() as work:
        identity = work.identity.get().name
    found = mark.read(objects)
    if found is None or found.identity != identity:
        raise StoreUnavailable(
            reason="it lacks the mark of this database, as when its disk is not mounted; "
            "if it is the right store, run 'acai-server adopt-store'"
        )
