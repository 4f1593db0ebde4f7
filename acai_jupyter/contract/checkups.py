"""What was looked at to find out whether all works, and what was found."""

from __future__ import annotations

from enum import StrEnum

import msgspec


class Finding(StrEnum):
    """How something is."""

    OK = "ok"
    WARNING = "warning"
    """It works, and will not for long, or not as well as it could."""
    FAILED = "failed"
    """It does not work."""


class Check(msgspec.Struct, frozen=True):
    """One thing that was looked at. What is said of it ends with what to do, unless it is well."""

    name: str
    finding: Finding
    said: str


class Checkup(msgspec.Struct, frozen=True):
    """What a server found of all it stands on. Who can fetch `probe_url` can fetch contents."""

    checks: list[Check]
    probe_url: str = ""
