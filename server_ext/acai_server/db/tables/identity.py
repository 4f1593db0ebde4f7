"""Which database this is: what marks the object store that belongs to it."""

from __future__ import annotations

from sqlalchemy import String
from sqlalchemy.orm import Mapped, mapped_column

from acai_server.db.tables.table import Table


class DatabaseIdentityRow(Table):
    """The one row that says which database this is. A copy of the database has the same identity.

    `nonce` is what the lease in the store says while this database, and not a copy of it, renews the lease;
    `next_nonce` is what the lease will say after a renewal that is under way.
    """

    __tablename__ = "database_identity"
    identity: Mapped[str] = mapped_column(String(32), primary_key=True)
    nonce: Mapped[str] = mapped_column(String(32))
    next_nonce: Mapped[str | None] = mapped_column(String(32))
