"""Graphs of any shape, recorded as services record them, and what networkx says of the same."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import networkx as nx

from acai_jupyter.contract import decoding
from acai_jupyter.contract.lineage import (
    ClosureAction,
    ClosureEnd,
    ClosureInput,
    ClosureLine,
    ClosureOutput,
    ClosureSet,
    LineageDirection,
)
from acai_jupyter.contract.queries import ClosureQuery, ExportQuery, NeighbourhoodQuery
from acai_jupyter.contract.states import ActionKind, InputRole
from acai_server.lake.service import Lake
from acai_server.objects.memory import MemoryObjectStore
from acai_server.provenance.service import Provenance
from acai_server.testing.databases import enter
from acai_server.testing.lakes import SIGNER

if TYPE_CHECKING:
    from collections.abc import Sequence

    from acai_jupyter.contract.ids import FileSetVersionId, ProjectId, UserId
    from acai_jupyter.contract.lineage import ExportFormat
    from acai_jupyter.contract.provenance import Graph
    from acai_server.db.database import Database

_LINES = decoding.json_decoder(ClosureLine)


@dataclass
class Closed:
    """A closure as it was answered."""

    sets: list[ClosureSet] = field(default_factory=list)
    actions: list[ClosureAction] = field(default_factory=list)
    edges: set[tuple[str, str]] = field(default_factory=set)
    """Pairs of a set that went into an action and one that it made."""
    end: ClosureEnd | None = None

    @property
    def refs(self) -> set[str]:
        """The sets."""
        return {one.ref for one in self.sets}


def read_closure(pieces: Any) -> Closed:
    """Read the lines of a closure."""
    found, inputs, outputs = Closed(), list[ClosureInput](), list[ClosureOutput]()
    kinds: dict[type, list[Any]] = {
        ClosureSet: found.sets,
        ClosureAction: found.actions,
        ClosureInput: inputs,
        ClosureOutput: outputs,
    }
    for line in b"".join(pieces).splitlines():
        assert found.end is None
        one = _LINES.decode(line)
        if isinstance(one, ClosureEnd):
            found.end = one
        else:
            kinds[type(one)].append(one)
    refs = {one.key: one.ref for one in found.sets}
    assert len(refs) == len(found.sets)
    assert len({one.key for one in found.actions}) == len(found.actions)
    joined = {one.action for one in inputs} | {one.action for one in outputs}
    assert joined <= {one.key for one in found.actions}
    found.edges = {(refs[i.file_set], refs[o.file_set]) for i in inputs for o in outputs if i.action == o.action}
    return found


class GraphMaker:
    """Makes sets of sets in a project, and keeps the same graph for networkx."""

    def __init__(self, database: Database, project: str = "default", user: str = "you") -> None:
        member = enter(database, project, user)
        self.database = database
        self.project: ProjectId = member.project_id
        self.user: UserId = member.user_id
        lake = Lake(database, MemoryObjectStore(SIGNER))
        self.provenance = Provenance(database, lake.files, lake.composing)
        self.graph: Any = nx.DiGraph()
        self.versions: dict[str, FileSetVersionId] = {}

    def make(self, name: str, inputs: Sequence[str] = (), role: InputRole = InputRole.DATA) -> str:
        """Make the next version of a name of others."""
        with self.database.writing() as work:
            counted = {"root": b"", "file_count": 1, "size_bytes": 2}
            made = work.file_sets.add(self.project, self.user, name, InputRole.DATA, now=work.clock.now(), **counted)  # type: ignore[arg-type]
            kind = ActionKind.CREATION if inputs else ActionKind.UPLOAD
            used = [(self.versions[one], role) for one in inputs]
            work.actions.add(self.project, self.user, kind, used, made.id, work.clock.now())
        ref = made.public.ref
        self.versions[ref] = made.id
        self.graph.add_node(ref)
        self.graph.add_edges_from((one, ref) for one in inputs)
        return ref

    def closure(
        self, ref: str, direction: LineageDirection, depth: int | None = None, limit: int = 100_000, **other: Any
    ) -> Closed:
        """Ask for a closure."""
        query = ClosureQuery(direction, depth, limit)
        return read_closure(self.provenance.closure(other.get("project", self.project), ref, query))

    def around(self, thing: str, **how: int) -> Graph:
        """Ask for a neighbourhood."""
        return self.provenance.neighbourhood(self.project, thing, NeighbourhoodQuery(**how))

    def export(self, ref: str, wanted: ExportFormat, direction: LineageDirection = LineageDirection.BACK) -> str:
        """Write a lineage in a format."""
        query = ExportQuery(wanted, direction)
        return b"".join(self.provenance.export(self.project, ref, query, "default")).decode()


def reached(graph: Any, ref: str, direction: LineageDirection, depth: int | None = None) -> set[str]:
    """What networkx finds on one side of a node."""
    side = graph.reverse(copy=False) if direction is LineageDirection.BACK else graph
    return set(nx.single_source_shortest_path_length(side, ref, cutoff=depth))
