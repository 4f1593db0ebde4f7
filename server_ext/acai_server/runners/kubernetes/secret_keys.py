"""Which secrets the jobs of a project can use: keys of one Secret, whose values are not read.

The key `clinic.hub-token` belongs to the project `clinic`, whose jobs name it `hub-token`. Other keys are for jobs of
every project, if the settings share them.
"""

from __future__ import annotations

import time
from typing import TYPE_CHECKING

import msgspec

from acai_server.runners.kubernetes import calls
from acai_server.runners.kubernetes.api import Missing, decoded

if TYPE_CHECKING:
    from collections.abc import Collection

    from acai_server.runners.kubernetes.api import Api

KEPT_SECONDS = 5.0
ALL = "*"
"""Shares every key that has no project."""


class _Keys(msgspec.Struct, frozen=True):
    data: dict[str, msgspec.Raw] = {}


class SecretKeys:
    """Remembers the keys for some seconds. Used on one event loop."""

    def __init__(self, api: Api, secret: str, shared: frozenset[str]) -> None:
        self._api = api
        self._secret = secret
        self._shared = shared
        self._known: frozenset[str] = frozenset()
        self._read_at = 0.0

    async def find(self, project: str, wanted: Collection[str]) -> dict[str, str | None]:
        """Return the key of each secret that jobs of a project name; None where they can use none of that name."""
        if not wanted:
            return {}
        found = self._keys(project, wanted)
        if time.monotonic() - self._read_at > KEPT_SECONDS or None in found.values():
            self._known, self._read_at = await self._read(), time.monotonic()
            found = self._keys(project, wanted)
        return found

    async def refuses(self, project: str, wanted: Collection[str]) -> str:
        """Return which of these secrets jobs of a project cannot use, and what to do; empty when they can use all."""
        found = await self.find(project, sorted(wanted))
        name = next((name for name, key in found.items() if key is None), None)
        if name is None:
            return ""
        key = f"the key '{project}.{name}'" if "." not in name else "one without a '.' in its name"
        return (
            f"project '{project}' has no secret '{name}'; an operator can add {key} to the Secret {self._secret} of "
            f"the cluster, or share '{name}' with all projects (kubernetes_shared_secrets)"
        )

    def _keys(self, project: str, wanted: Collection[str]) -> dict[str, str | None]:
        return {name: key_of(project, name, self._known, self._shared) for name in wanted}

    async def _read(self) -> frozenset[str]:
        try:
            return frozenset(decoded(await self._api.ask(calls.GET_JOB_SECRETS, self._secret), _Keys).data)
        except Missing:
            return frozenset()


def key_of(project: str, name: str, known: Collection[str], shared: Collection[str]) -> str | None:
    """Return the key of a secret for jobs of a project; the project's own comes before a shared one.

    The names of projects may have dots. A project's secret has none, so that no key belongs to two projects.
    """
    has_no_dot = "." not in name
    own = f"{project}.{name}"
    if project and has_no_dot and own in known:
        return own
    is_shared = name in shared or (has_no_dot and ALL in shared)
    return name if is_shared and name in known else None
