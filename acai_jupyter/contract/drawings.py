"""A drawing of a part of the provenance graph: what stands where, and how it looks; who shows it decides nothing."""

from __future__ import annotations

from enum import StrEnum
from typing import Annotated

import msgspec

MAX_DRAWN = 300
"""So many nodes are drawn at most; more nobody can read."""
MAX_STEPS = 2000


class ShapeKind(StrEnum):
    """What a node of a drawing is. Each has a shape and a word of its own, beside its colour."""

    FILE_SET = "file-set"
    JOB = "job"
    UPLOAD = "upload"
    CREATION = "creation"
    GROUP = "group"
    """Jobs of a sweep, as one."""
    SOURCE = "source"
    """The mark before a job that had no input."""


class Direction(StrEnum):
    """Where a drawing is opened further."""

    BACK = "back"
    FORWARD = "forward"
    GROUP = "group"
    """The jobs behind one node are drawn each."""


class Step(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """A node that was opened: a file set, or a group by its id."""

    node: Annotated[str, msgspec.Meta(min_length=1, max_length=4000)]
    direction: Direction


Place = tuple[float, float]


class DrawGraph(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """Ask for a drawing around a file set version or a job; without either, of the project."""

    focus: Annotated[str, msgspec.Meta(max_length=4000)]
    steps: Annotated[list[Step], msgspec.Meta(max_length=MAX_STEPS)] = []
    path_to: Annotated[str, msgspec.Meta(max_length=4000)] = ""
    """A file set: only what lies between it and the focus is drawn."""
    query: Annotated[str, msgspec.Meta(max_length=20_000)] = ""
    """What it is not true of is faded, and stays in its group."""
    places: Annotated[dict[str, Place], msgspec.Meta(max_length=10 * MAX_DRAWN)] = {}
    """Where nodes stood in the drawing before this one. They stay there as far as can be."""
    before: Annotated[str, msgspec.Meta(max_length=4000)] | None = None
    """In a drawing of the project: only what changed last before what was drawn already."""
    with_svg: bool = False
    utc_offset_seconds: Annotated[int, msgspec.Meta(ge=-86_399, le=86_399)] = 0
    """How far the clock of who asks is ahead of UTC: `today()` begins at their midnight."""


class DrawnNode(msgspec.Struct, frozen=True):
    """A node: its middle, its size, and what stands in it."""

    id: str
    kind: ShapeKind
    label: str
    words: str
    """The second line."""
    about: str
    """All of it in one sentence, for the hover card and for those who do not see the drawing."""
    x: float
    y: float
    width: float
    height: float
    classes: list[str]
    thing: str = ""
    """What its attributes stand on: a file set, or a job's number."""
    back: int = 0
    """How many actions before it are not drawn, and behind it."""
    forward: int = 0
    count: int = 1
    """How many jobs it stands for."""
    name: str = ""
    """All of the label, where its shape has no room for it."""


class DrawnEdge(msgspec.Struct, frozen=True):
    """A line from node to node: a chain of quadratic curves with these points, from middle to middle of each two."""

    id: str
    source: str
    target: str
    points: list[Place]
    classes: list[str]
    action: str
    """The node of the action that it belongs to."""


class Look(msgspec.Struct, frozen=True):
    """How nodes or edges of a class look; of several that fit the later ones win."""

    name: str
    """The class."""
    fill: str = ""
    line: str = ""
    text: str = ""
    line_width: float = 0
    dashed: bool = False
    faded: bool = False
    shape: str = ""
    dark_fill: str = ""
    dark_line: str = ""
    dark_text: str = ""


class Drawing(msgspec.Struct, frozen=True):
    """A part of the graph with the middle of its focus at (0, 0), unless places were given."""

    focus: str
    """The id of the node in the middle; empty for a project."""
    title: str
    nodes: list[DrawnNode]
    edges: list[DrawnEdge]
    left: float
    top: float
    width: float
    height: float
    looks: list[Look]
    is_cut: bool = False
    """Whether there was more than can be drawn."""
    next: str | None = None
    """In drawings of a project, what to ask for as `before` to see what is older."""
    svg: str | None = None
