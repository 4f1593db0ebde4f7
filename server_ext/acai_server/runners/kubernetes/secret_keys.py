"""Which secrets jobs can ask for: the keys of one Secret, whose values are not read."""

from __future__ import annotations

import time
from typing import TYPE_CHECKING

import msgspec

from acai_server.runners.kubernetes import calls
from acai_server.runners.kubernetes.api import Missing, decoded

if TYPE_CHECKING:
    from acai_server.runners.kubernetes.api import Api

KEPT_SECONDS = 5.0


class _Keys(msgspec.Struct, frozen=True):
    data: dict[str, msgspec.Raw] = {}


class SecretKeys:
    """Remembers the keys for some seconds. Used on one event loop."""

    def __init__(self, api: Api, secret: str) -> None:
        self._api = api
        self._secret = secret
        self._known: frozenset[str] = frozenset()
        self._read_at = 0.0

    async def refuses(self, wanted: list[str]) -> str:
        """Return which of these there is not; empty when there are all."""
        if not wanted:
            return ""
        if time.monotonic() - self._read_at > KEPT_SECONDS or not self._known.issuperset(wanted):
            self._known, self._read_at = await self._read(), time.monotonic()
        missing = next((name for name in wanted if name not in self._known), None)
        return (
            ""
            if missing is None
            else f"there is no secret '{missing}': no such key in the Secret {self._secret} of the cluster"
        )

    async def _read(self) -> frozenset[str]:
        try:
            return frozenset(decoded(await self._api.ask(calls.GET_JOB_SECRETS, self._secret), _Keys).data)
        except Missing:
            return frozenset()
