"""`acai-server adopt-store`: give the object store of these settings to their database."""

from __future__ import annotations

from contextlib import closing
from datetime import timedelta
from typing import TYPE_CHECKING, Any

from acai_jupyter.contract.errors import BadRequest, Conflict
from acai_server.admin_backups import database_of, objects_of

if TYPE_CHECKING:
    import argparse
    from collections.abc import Callable, Iterable, Iterator

    from acai_jupyter.contract.ids import ObjectKey
    from acai_server.db.database import Database
    from acai_server.objects.protocol import ObjectStore
    from acai_server.settings import Settings
    from acai_server.store_owner.mark import Mark


def declare(verbs: Any) -> None:
    """Add the verb."""
    adopted = verbs.add_parser("adopt-store", help="let the object store belong to this database")
    adopted.add_argument("--yes", action="store_true", help="do it; without this, only say what the store holds")


def adopt_store(settings: Settings, given: argparse.Namespace) -> Iterator[str]:
    """Mark the store as this database's. Its content stays; what this database does not know is never deleted."""
    from acai_server.db import schema
    from acai_server.store_owner import lease, mark

    objects = objects_of(settings)
    with closing(database_of(settings)) as database:
        schema.migrate(database) if database.name == "sqlite" else schema.check(database)
        with database.reading() as work:
            own, now = work.identity.get(), work.clock.now()
        identity, (mark_body, found), (lease_body, note) = own.name, mark.find(objects), lease.find(objects)
        is_ours = found is not None and found.identity == identity
        if is_ours and (lease_body is None or (note is not None and own.has(note.nonce))):
            yield f"The object store belongs to this database ({identity}) already."
            return
        expiry = timedelta(seconds=lease.INTERVAL_SECONDS * lease.EXPIRY_INTERVALS)
        if note is not None and not note.is_released and note.renewed_at + expiry > now:
            raise Conflict(
                reason="a server of another database or of a copy of this one was using the object store at "
                f"{note.renewed_at:%H:%M} UTC; stop it first, or if it was killed, try again after "
                f"{note.renewed_at + expiry:%H:%M} UTC"
            )
        if not given.yes:
            broken = [
                key
                for key, body, content in ((mark.KEY, mark_body, found), (lease.KEY, lease_body, note))
                if body is not None and content is None
            ]
            raise BadRequest(
                f"{_owner(found, is_ours=is_ours, broken=broken)} The database of these settings is {identity}. "
                f"{_content(database, objects)} "
                "To let it belong to this database, stop all servers that use it and run: "
                "acai-server adopt-store --yes"
            )
        mark.adopt(database, objects)
        lease.hand_over(database, objects)
    yield f"The object store belongs to this database now ({identity}). Objects that it does not know stay."


def _owner(found: Mark | None, *, is_ours: bool, broken: list[ObjectKey]) -> str:
    """Say which database the store belongs to, as far as its mark and lease can be decoded."""
    if broken:
        named = " and ".join(f"'{key}'" for key in broken)
        return f"It is not known which database uses the object store: {named} cannot be decoded and will be replaced."
    if is_ours:
        return "The object store belongs to another copy of this database, which used it last."
    return f"The object store belongs to {'no database yet' if found is None else f'the database {found.identity}'}."


def _content(database: Database, objects: ObjectStore) -> str:
    """Say how much the store holds, and whether this database knows any of it."""
    from acai_server.store_owner import mark

    count = sum(1 for _ in mark.content(objects))
    known = "some of them" if mark.names_objects_in(database, objects) else "none of them"
    return f"It holds {count:,} objects; this database knows {known}."


VERBS: dict[str, Callable[[Settings, argparse.Namespace], Iterable[str]]] = {"adopt-store": adopt_store}
