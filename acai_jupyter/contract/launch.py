"""What passes between the server and the agent: the launch document one way, the result record the other.

The agent is standard library only and reads and writes these as plain JSON; the server checks every byte that comes
back, as a job's program can write anything.
"""

from __future__ import annotations

from typing import Annotated

import msgspec

from acai_jupyter.contract.uploads import HashText, Size

LAUNCH_VERSION = 1


class Piece(msgspec.Struct, frozen=True):
    """One file to put into the working folder: a byte range of an object."""

    path: str
    url: str
    offset: int
    size_bytes: int
    sha256: str


class Slots(msgspec.Struct, frozen=True):
    """Where the agent may write."""

    log: str
    pack: str
    result: str


class LaunchDocument(msgspec.Struct, frozen=True):
    """All an agent needs to run one attempt."""

    version: int
    key: str
    job: int
    command: list[str]
    environment: dict[str, str]
    inputs: list[Piece]
    code: list[Piece]
    slots: Slots


class OutputFile(msgspec.Struct, frozen=True):
    """One output, relative to the output folder: a byte range of the pack."""

    path: str
    offset: Size
    size_bytes: Size
    sha256: HashText


class ResultRecord(msgspec.Struct, frozen=True):
    """How an attempt ended, as the agent saw it."""

    version: int
    exit_code: int
    reason: str
    started_at: float
    ended_at: float
    run_seconds: Annotated[float, msgspec.Meta(ge=0)]
    billed_seconds: Annotated[float, msgspec.Meta(ge=0)]
    outputs: list[OutputFile]
    pack_size_bytes: Size
    pack_sha256: HashText
