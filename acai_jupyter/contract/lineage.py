"""What goes far in the graph: closures, paths, what is affected, where files are from, why two differ."""

from __future__ import annotations

from datetime import datetime
from enum import StrEnum

import msgspec

from acai_jupyter.contract.filesets import FileSet
from acai_jupyter.contract.ids import JobNumber, Sha256
from acai_jupyter.contract.provenance import Action, ActionJob, Node
from acai_jupyter.contract.states import ActionKind, InputRole, JobState


class LineageDirection(StrEnum):
    """Where to go from a file set version."""

    BACK = "back"
    """To what it was made of."""
    FORWARD = "forward"
    """To what was made of it."""


# -- the whole project


class Link(msgspec.Struct, frozen=True):
    """Some version of one name was made of some version of another."""

    source: str
    target: str


class Component(msgspec.Struct, frozen=True):
    """Names of file sets that hang together: the newest version of each, and what made those."""

    nodes: list[Node]
    actions: list[Action]
    links: list[Link]
    name_count: int
    """How many names hang together; the first of them, by the newest, are nodes."""


class ProjectGraph(msgspec.Struct, frozen=True):
    """A page of a project's graph by names, what changed last first; `next` is the file set to continue before."""

    components: list[Component]
    next: str | None = None


# -- closures: a stream of lines, each one of these as a JSON array that begins with its tag


class ClosureSet(msgspec.Struct, frozen=True, array_like=True, tag="set", gc=False):
    """A file set version, nearest to the focus first. `key` names it in the lines of this answer."""

    key: int
    name: str
    version: int
    role: InputRole
    file_count: int
    size_bytes: int
    created_at: datetime
    creator: str
    deleted_at: datetime | None

    @property
    def ref(self) -> str:
        """How people write it."""
        return f"{self.name}:{self.version}"


class ClosureAction(msgspec.Struct, frozen=True, array_like=True, tag="action", gc=False):
    """What made or used sets. Of a job also its number and state: what an unfinished one made is partial."""

    key: int
    kind: ActionKind
    created_at: datetime
    creator: str
    job: JobNumber | None
    state: JobState | None


class ClosureInput(msgspec.Struct, frozen=True, array_like=True, tag="input", gc=False):
    """A set of this answer went into an action."""

    action: int
    file_set: int
    role: InputRole


class ClosureOutput(msgspec.Struct, frozen=True, array_like=True, tag="output", gc=False):
    """A set was made by an action."""

    action: int
    file_set: int


class ClosureEnd(msgspec.Struct, frozen=True, array_like=True, tag="end", gc=False):
    """The last line: an answer without it is not whole. `is_cut` says that there are more sets than the limit."""

    focus: str
    sets: int
    is_cut: bool


ClosureLine = ClosureSet | ClosureAction | ClosureInput | ClosureOutput | ClosureEnd


# -- paths


class Paths(msgspec.Struct, frozen=True):
    """All that lies between two file set versions, and the shortest ways from the earlier to the later one."""

    source: str
    target: str
    nodes: list[Node]
    actions: list[Action]
    count: int
    """How many ways there are."""
    paths: list[list[str]]
    """Sets in order; the shortest first."""
    is_cut: bool = False
    """Whether more lies between them than fits into one answer."""


# -- what is affected


class Affected(msgspec.Struct, frozen=True):
    """All that was made of a file set version, directly or not: what would have to be made again if it changed."""

    focus: str
    sets: list[FileSet]
    jobs: list[ActionJob]
    """Those that used it or what was made of it, also those that made nothing."""
    newest: list[str]
    """Which of the sets are the newest of their names."""
    set_count: int
    job_count: int
    is_cut: bool = False
    """Whether only the first of them are listed, nearest first; the counts are then lower bounds."""


# -- files


class FileOrigin(msgspec.Struct, frozen=True):
    """Where a file version is from."""

    path: str
    version: int
    size_bytes: int
    sha256: Sha256
    creator: str
    created_at: datetime
    through: list[str]
    """The set that was asked for, and the sets that it came through, up to the one it first was in."""
    action: Action | None = None
    """The job that wrote it, with its inputs; or the upload that made a set of it. None: it was uploaded as a file."""


# -- why two differ


Scalar = str | int | float | bool


class Cause(msgspec.Struct, frozen=True):
    """Something in which the lineages of two things differ."""

    distance: int
    """Actions back from what was compared: 1 for the jobs that made it, 0 for its own files."""
    what: str
    """'files', 'input', 'code', 'command', 'parameter lr', 'package numpy', 'environment variable X', 'image', …"""
    before: Scalar | None
    """None: there was none."""
    after: Scalar | None
    file_count: int | None = None
    """In how many files they differ, where they are sets whose files are still known."""
    paths: list[str] = []
    """The first of these files."""
    of: tuple[str, str] = ("", "")
    """What was being compared when this was found, like `job 3` and `job 4`."""


class Agreement(msgspec.Struct, frozen=True):
    """Something that was compared and is the same."""

    distance: int
    what: str
    value: Scalar | None


class WhyDifferent(msgspec.Struct, frozen=True):
    """In what the lineages of two sets or jobs differ, the nearest cause first."""

    before: str
    after: str
    causes: list[Cause]
    same: list[Agreement]
    jobs: tuple[JobNumber | None, JobNumber | None]
    """The jobs that made them, where jobs did."""
    is_cut: bool = False
    """Whether the lineages go further back than was looked."""


class ExportFormat(StrEnum):
    """How a lineage is written down for other programs."""

    JSON = "json"
    DOT = "dot"
    GRAPHML = "graphml"
    PROV = "prov"
    """W3C PROV-JSON."""
    OPENLINEAGE = "openlineage"
    """An OpenLineage event in each line."""
