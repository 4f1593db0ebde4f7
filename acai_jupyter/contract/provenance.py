"""The graph of what came from what: nodes are file set versions, edges are actions."""

from __future__ import annotations

from datetime import datetime

import msgspec

from acai_jupyter.contract.filesets import FileSet
from acai_jupyter.contract.ids import JobNumber
from acai_jupyter.contract.states import ActionKind, InputRole


class ActionInput(msgspec.Struct, frozen=True):
    """A file set version that went into an action, and as what."""

    file_set: str
    role: InputRole


class Action(msgspec.Struct, frozen=True):
    """What made file set versions: an upload, a creation from specs, or a job."""

    id: int
    kind: ActionKind
    created_at: datetime
    creator: str
    inputs: list[ActionInput]
    outputs: list[str]
    job: JobNumber | None = None


class Graph(msgspec.Struct, frozen=True):
    """A part of the provenance graph around `focus`."""

    focus: str
    nodes: list[FileSet]
    actions: list[Action]
