"""The server's own signed URLs, for stores that have none: method, key, size, hash, part and expiry are covered."""

from __future__ import annotations

import hashlib
import hmac
from typing import TYPE_CHECKING
from urllib.parse import quote, urlencode

from msgspec import to_builtins

from acai_jupyter.contract.endpoints import BASE
from acai_jupyter.contract.errors import NotAllowed
from acai_jupyter.contract.queries import ObjectQuery

if TYPE_CHECKING:
    from collections.abc import Callable

    from acai_jupyter.contract.ids import ObjectKey
    from acai_server.objects.protocol import Within


class UrlSigner:
    """`address` says where the server is now: it is not known before the server listens."""

    def __init__(
        self, secret: bytes, address: Callable[[], str], now: Callable[[], float], valid_seconds: int = 24 * 3600
    ) -> None:
        self._secret = secret
        self._address = address
        self._now = now
        self._valid_seconds = valid_seconds

    def url(
        self,
        method: str,
        key: ObjectKey,
        *,
        size_bytes: int | None = None,
        sha256: str | None = None,
        part: tuple[str, int] | None = None,
        within: Within | None = None,
    ) -> str:
        """Return a URL that does one thing to one object, or to one part of one, for a limited time."""
        parts_id, number = part or (None, None)
        first, last = (None, None) if within is None else (within[0], within[0] + within[1] - 1)
        expires = int(self._now()) + self._valid_seconds
        query = ObjectQuery(expires, "", size_bytes, sha256, parts_id, number, first, last)
        covered = to_builtins(query) | {"signature": self._signature(method, key, query)}
        written = urlencode({name: value for name, value in covered.items() if value is not None})
        return f"{self._address()}{BASE}/v1/objects/{quote(key)}?{written}"

    def check(self, method: str, key: str, query: ObjectQuery) -> None:
        """Refuse what was not signed, was changed, or is too old."""
        wanted = self._signature(method, key, query)
        if not hmac.compare_digest(wanted.encode(), query.signature.encode()):
            raise NotAllowed("This URL's signature is not valid.")
        if query.expires < self._now():
            raise NotAllowed("This URL has expired; ask for a new one.")

    def _signature(self, method: str, key: str, query: ObjectQuery) -> str:
        of_query = (query.expires, query.size, query.sha256, query.parts, query.part, query.first, query.last)
        covered = "\n".join((method, key, *map(str, of_query)))
        return hmac.new(self._secret, covered.encode(), hashlib.sha256).hexdigest()
