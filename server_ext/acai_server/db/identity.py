"""The identity of the database, and the nonces by which it and the lease in its store recognise each other."""

from __future__ import annotations

import secrets
from typing import TYPE_CHECKING, NamedTuple

from acai_jupyter.contract.errors import DatabaseBroken
from acai_server.db import batches

if TYPE_CHECKING:
    from sqlalchemy.orm import Session

_READ = "SELECT identity, nonce, next_nonce FROM database_identity"
_BEGIN = "UPDATE database_identity SET next_nonce = ? WHERE next_nonce IS NULL"
_END = "UPDATE database_identity SET nonce = next_nonce, next_nonce = NULL WHERE next_nonce = ?"


class Identity(NamedTuple):
    """Which database this is, and what the lease in its store says, or is about to say."""

    name: str
    nonce: str
    next_nonce: str | None

    def has(self, nonce: str) -> bool:
        """Whether a lease with this nonce was written by this database."""
        return nonce in (self.nonce, self.next_nonce)


class KnownIdentity:
    """Remembers the database's identity, which never changes, so that it is read once."""

    def __init__(self) -> None:
        self._name = ""

    def of(self, session: Session) -> str:
        """Return the identity of the database that a session is on."""
        self._name = self._name or IdentityRecords(session).get().name
        return self._name


class IdentityRecords:
    """The one row of the database about itself."""

    def __init__(self, session: Session) -> None:
        self._session = session

    def get(self) -> Identity:
        """Return the identity with its nonces."""
        found = batches.select(self._session, _READ)
        if len(found) != 1:
            raise DatabaseBroken(reason=f"it has {len(found)} identities instead of one")
        return Identity(*found[0])

    def begin_renewal(self) -> str:
        """Return the nonce that the lease is to get; several servers that renew at once agree on one."""
        batches.changed(self._session, _BEGIN, secrets.token_hex(16))
        found = self.get().next_nonce
        assert found is not None
        return found

    def end_renewal(self, nonce: str) -> None:
        """Note that the lease has the nonce of the renewal. A second time changes nothing."""
        batches.changed(self._session, _END, nonce)
