"""The server's own signed URLs, for stores that have none: method, key, size, hash and expiry are covered."""

from __future__ import annotations

import hashlib
import hmac
from typing import TYPE_CHECKING
from urllib.parse import quote, urlencode

from acai_jupyter.contract.endpoints import BASE
from acai_jupyter.contract.errors import NotAllowed

if TYPE_CHECKING:
    from collections.abc import Callable

    from acai_jupyter.contract.ids import ObjectKey
    from acai_jupyter.contract.queries import ObjectQuery


class UrlSigner:
    """`address` says where the server is now: it is not known before the server listens."""

    def __init__(
        self, secret: bytes, address: Callable[[], str], now: Callable[[], float], valid_seconds: int = 24 * 3600
    ) -> None:
        self._secret = secret
        self._address = address
        self._now = now
        self._valid_seconds = valid_seconds

    def url(self, method: str, key: ObjectKey, *, size_bytes: int | None = None, sha256: str | None = None) -> str:
        """Return a URL that does one thing to one object for a limited time."""
        expires = int(self._now()) + self._valid_seconds
        signature = self._signature(method, key, expires, size_bytes, sha256)
        covered = {"expires": expires, "signature": signature, "size": size_bytes, "sha256": sha256}
        query = urlencode({name: value for name, value in covered.items() if value is not None})
        return f"{self._address()}{BASE}/v1/objects/{quote(key)}?{query}"

    def check(self, method: str, key: str, query: ObjectQuery) -> None:
        """Refuse what was not signed, was changed, or is too old."""
        wanted = self._signature(method, key, query.expires, query.size, query.sha256)
        if not hmac.compare_digest(wanted.encode(), query.signature.encode()):
            raise NotAllowed("This URL's signature is not valid.")
        if query.expires < self._now():
            raise NotAllowed("This URL has expired; ask for a new one.")

    def _signature(self, method: str, key: str, expires: int, size: int | None, sha256: str | None) -> str:
        covered = "\n".join((method, key, str(expires), str(size), str(sha256)))
        return hmac.new(self._secret, covered.encode(), hashlib.sha256).hexdigest()
