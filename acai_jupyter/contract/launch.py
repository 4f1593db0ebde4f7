"""What passes between the server and the agent: the launch document one way, the result record the other.

The agent is standard library only and reads and writes these as plain JSON; the server checks every byte that comes
back, as a job's program can write anything.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

import msgspec

from acai_jupyter.contract import decoding
from acai_jupyter.contract.environments import Lock
from acai_jupyter.contract.jobs import Usage
from acai_jupyter.contract.uploads import HashText, Size

if TYPE_CHECKING:
    from collections.abc import Iterable

LAUNCH_VERSION = 3
MAX_OUTPUTS = 1_000_000


class InputFile(msgspec.Struct, frozen=True, array_like=True, gc=False):
    """One file to put into the working folder: a byte range of one of the document's objects."""

    path: str
    object: int
    offset: int
    size_bytes: int
    sha256: str
    is_code: bool
    """Code may be changed by the program; other inputs are read-only."""


class Slots(msgspec.Struct, frozen=True):
    """Where the agent may write: URLs that take an object of any size, each once (again: the same).

    But `displays`: while the program runs, more of them take the place of fewer.
    """

    log: list[str]
    """Pieces of the log, compressed, in order."""
    packs: list[str]
    result: str
    displays: str


class Gang(msgspec.Struct, frozen=True):
    """An agent's place among those that run one attempt together, each on a machine of its own."""

    rank: int
    programs: list[str]
    """Where the program of each rank may listen, as host:port."""
    agents: str
    """Where the first agent listens to the others."""
    patience_seconds: float
    """So long all of them may take to come."""


class LaunchDocument(msgspec.Struct, frozen=True):
    """All an agent needs to run one attempt, but secrets: the first line of what it reads.

    Each line after it is one `InputFile`, so that nobody has to hold a million of them. It is renewed while the server
    lives: read it again when a URL has expired or the slots are used up.
    """

    version: int
    key: str
    job: int
    attempt: int
    command: list[str]
    as_cell: bool
    environment: dict[str, str]
    objects: list[str]
    """URLs of the objects that hold the inputs and the code."""
    output_folder: str
    slots: Slots
    vcpu: float
    memory_bytes: int
    gpus: int = 0
    time_limit_seconds: float | None = None
    grace_seconds: float = 10.0
    """From asking the program to end to ending it."""
    keep_partial: bool = False
    variables: str = ""
    """The folder of the working folder with the values that a cell has as variables; empty where there are none."""
    receive: list[str] = []
    """Which variables of a cell are kept among its outputs."""
    parameters: dict[str, str | int | float | bool] = {}
    lock: Lock | None = None
    """What the program's environment is built from, unless there is one under the key."""
    lock_key: str = ""
    gang: Gang | None = None
    keep_checkpoint: bool = False
    """Whether what a program that does not end well left in its checkpoint folder is for a further attempt."""
    max_log_bytes: int = 4 * 1024**3
    max_object_bytes: int | None = None
    """What one slot can take, where the store has such a bound."""
    max_output_path_bytes: int = 0
    """How long the path of an output below the output folder may be; 0 where the agent is to assume a limit."""


def write_launch(document: LaunchDocument, files: Iterable[InputFile]) -> bytes:
    """Return what an agent is to read. The document may be completed while the files are taken."""
    encoder = msgspec.json.Encoder()
    lines = bytearray()
    for file in files:
        lines += b"\n"
        lines += encoder.encode(file)
    return encoder.encode(document) + lines


def read_launch(body: bytes) -> tuple[LaunchDocument, list[InputFile]]:
    """Read what an agent reads."""
    first, *others = body.split(b"\n")
    document = decoding.from_json(first, LaunchDocument)
    return document, [decoding.from_json(line, InputFile) for line in others]


class OutputFile(msgspec.Struct, frozen=True, array_like=True, gc=False):
    """One output, relative to the output folder: a byte range of a pack."""

    path: str
    pack: int
    offset: Size
    size_bytes: Size
    sha256: HashText


class SentPack(msgspec.Struct, frozen=True):
    """A pack that the agent sent to the slot of its position."""

    size_bytes: Size
    sha256: HashText


class LogPiece(msgspec.Struct, frozen=True):
    """A piece of the log in the slot of its position: how many bytes of the log, and how many compressed.

    It is a row of gzip members of a few MiB, so that a page is found without reading all.
    """

    size_bytes: Size
    stored_bytes: Size
    members: list[tuple[Size, Size]] = []
    """The same two sizes of each member."""


class ResultRecord(msgspec.Struct, frozen=True):
    """How an attempt ended, as the agent saw it."""

    version: int
    exit_code: Annotated[int, msgspec.Meta(ge=-(2**31), lt=2**31)]
    reason: str
    started_at: float
    ended_at: float
    run_seconds: Annotated[float, msgspec.Meta(ge=0)]
    billed_seconds: Annotated[float, msgspec.Meta(ge=0)]
    outputs: Annotated[list[OutputFile], msgspec.Meta(max_length=MAX_OUTPUTS)]
    packs: list[SentPack]
    log: list[LogPiece]
    log_is_whole: bool = True
    """False when a part of it could not be sent; what the runner has of it may be more."""
    ran_out_of_memory: bool = False
    was_stopped: bool = False
    """Somebody asked it to end."""
    followed: bool = False
    """Another of its gang has failed, or is gone; that one's end counts."""
    never_began: bool = False
    """Its program did not start, as not all of its gang came: no fault of the program."""
    exceeded_time: bool = False
    usage: Usage | None = None
    held: Annotated[list[str], msgspec.Meta(max_length=20)] = []
    environment: dict[str, str | dict[str, str]] = {}
    warnings: Annotated[list[str], msgspec.Meta(max_length=100)] = []
    damaged_inputs: Annotated[list[str], msgspec.Meta(max_length=100)] = []
    """Inputs whose copies in the cache of the machine had other content than they were kept with."""
    checkpoint: Annotated[list[OutputFile], msgspec.Meta(max_length=MAX_OUTPUTS)] = []
    """What is for a further attempt, in the same packs."""
    unread: Annotated[list[str], msgspec.Meta(max_length=100)] = []
    """Hashes of inputs that the store may have lost."""
    displays_bytes: Size = 0
    """How large what the cell displayed is; 0 when it displayed nothing."""
