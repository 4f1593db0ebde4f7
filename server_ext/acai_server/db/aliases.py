"""Records of aliases. Each change is a row, and the last row of an alias is what it is now."""

from __future__ import annotations

from collections import defaultdict
from typing import TYPE_CHECKING

from sqlalchemy import func, select

from acai_jupyter.contract.filesets import AliasChange
from acai_server.db import batches
from acai_server.db.tables import FileSetAliasRow, UserRow

if TYPE_CHECKING:
    from collections.abc import Iterable
    from datetime import datetime

    from sqlalchemy.orm import Session

    from acai_jupyter.contract.ids import UserId

# Grouped before it is joined: the index alone tells the last row of each alias, however long its history.
_LAST = """
    SELECT file_set_id, number, alias FROM file_set_alias WHERE id IN (
        SELECT max(id) FROM file_set_alias WHERE file_set_id IN"""
_OF_EACH = " GROUP BY file_set_id, alias)"


class AliasRecords:
    """Aliases by the row of a file set's name."""

    def __init__(self, session: Session) -> None:
        self._session = session

    def of(self, file_set: int) -> dict[str, int]:
        """Return the aliases of a name, each with the version that it stands for now."""
        found = ((alias, number) for (_, number), some in self.of_many([file_set]).items() for alias in some)
        return dict(sorted(found))

    def of_many(self, file_sets: Iterable[int]) -> dict[tuple[int, int], list[str]]:
        """Return the aliases of names, by the name's row and the version's number."""
        found: dict[tuple[int, int], list[str]] = defaultdict(list)
        rows = batches.select_in(self._session, _LAST, dict.fromkeys(file_sets), behind=_OF_EACH)
        for file_set, number, alias in rows:
            if number is not None:
                found[file_set, number].append(alias)
        return {place: sorted(aliases) for place, aliases in found.items()}

    def number(self, file_set: int, alias: str) -> int | None:
        """Return the version that an alias stands for, if it does for one."""
        query = select(FileSetAliasRow.number).where(
            FileSetAliasRow.file_set_id == file_set, FileSetAliasRow.alias == alias
        )
        return self._session.scalar(query.order_by(FileSetAliasRow.id.desc()).limit(1))

    def add(self, file_set: int, alias: str, number: int | None, user: UserId, now: datetime) -> None:
        """Let an alias stand for a version, or for none, from now on."""
        row = FileSetAliasRow(file_set_id=file_set, alias=alias, number=number, user_id=user, at=now)
        self._session.add(row)
        self._session.flush()

    def changes(self, file_set: int, before: int | None, limit: int) -> list[AliasChange]:
        """Return what was changed of a name's aliases, the newest first, with numbers that count for the name alone."""
        table = FileSetAliasRow
        place = func.row_number().over(order_by=table.id).label("place")
        counted = (
            select(place, table.alias, table.number, UserRow.name, table.at)
            .join(UserRow, UserRow.id == table.user_id)
            .where(table.file_set_id == file_set)
            .subquery()
        )
        query = select(counted).order_by(counted.c.place.desc()).limit(limit)
        if before is not None:
            query = query.where(counted.c.place < before)
        return [AliasChange(*row) for row in self._session.execute(query)]
