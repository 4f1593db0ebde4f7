"""Environments that are made for a job: packages by exact versions, which whoever runs the job builds and keeps."""

from __future__ import annotations

import hashlib
import re
from typing import Annotated

import msgspec

BUILT = "built.json"
"""The file in an environment's folder that says that it is whole; the agent writes it."""
_PACKAGE = re.compile(r"^([A-Za-z0-9][\w.-]*)(?:\[[^\]]*\])?==([^\s;\\]+)", re.MULTILINE)


class Lock(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """Which packages an environment has, each in one version, as `uv pip compile` writes it down."""

    requirements: Annotated[str, msgspec.Meta(max_length=1_000_000)]
    python: Annotated[str, msgspec.Meta(pattern=r"^3(\.\d+){1,2}(?!\n)$")]
    """The Python that the versions were chosen for."""
    interpreter: Annotated[str, msgspec.Meta(max_length=4000)] = ""
    """Where that Python is on the machine that submits; whoever builds elsewhere finds one by the version."""

    @property
    def key(self) -> str:
        """What environments are kept by: two locks that agree in it build the same."""
        return hashlib.sha256(f"{self.python}\n{self.requirements}".encode()).hexdigest()

    @property
    def packages(self) -> dict[str, str]:
        """Names and versions."""
        return {name.lower().replace("_", "-"): version for name, version in _PACKAGE.findall(self.requirements)}
