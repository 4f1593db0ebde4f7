"""Price books by version."""

from __future__ import annotations

import hashlib
import json
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from sqlalchemy import select

from acai_server.db.batches import insert_missing
from acai_server.db.tables import PriceBookRow

if TYPE_CHECKING:
    from datetime import datetime

    from sqlalchemy.orm import Session


@dataclass(frozen=True)
class StoredBook:
    """One version of a book."""

    version: int
    runner: str
    region: str
    content: dict[str, Any]
    created_at: datetime


class PriceRecords:
    """Books that attempts ran under. None is ever changed."""

    def __init__(self, session: Session) -> None:
        self._session = session

    def keep(self, runner: str, region: str, content: dict[str, Any], now: datetime) -> int:
        """Return the version of a book of a runner and region; one that was not known gets the next."""
        key = hashlib.sha256(json.dumps(content, sort_keys=True).encode()).digest()
        row = {"runner": runner, "region": region, "hash": key, "content": content, "created_at": now}
        found = self._version(runner, region, key)
        if found is None:
            insert_missing(self._session, PriceBookRow, [row])
            found = self._version(runner, region, key)
        assert found is not None
        return found

    def find(self, version: int) -> StoredBook | None:
        """Return one version."""
        row = self._session.get(PriceBookRow, version)
        return None if row is None else _stored(row)

    def all(self) -> list[StoredBook]:
        """Return all versions, the newest first."""
        return [_stored(row) for row in self._session.scalars(select(PriceBookRow).order_by(PriceBookRow.id.desc()))]

    def _version(self, runner: str, region: str, key: bytes) -> int | None:
        query = select(PriceBookRow.id).where(
            PriceBookRow.runner == runner, PriceBookRow.region == region, PriceBookRow.hash == key
        )
        return self._session.scalar(query)


def _stored(row: PriceBookRow) -> StoredBook:
    return StoredBook(row.id, row.runner, row.region, row.content, row.created_at)
