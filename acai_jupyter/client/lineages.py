"""Asking for what goes far in the provenance graph: closures as they stream, and lineages in formats of others."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import msgspec

from acai_jupyter.client.filesets import ref_of
from acai_jupyter.contract import decoding, endpoints
from acai_jupyter.contract.errors import Conflict, Unavailable
from acai_jupyter.contract.ids import JobNumber
from acai_jupyter.contract.lineage import (
    ClosureAction,
    ClosureEnd,
    ClosureInput,
    ClosureLine,
    ClosureOutput,
    ClosureSet,
    LineageDirection,
)

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from acai_jupyter.client.http import Client
    from acai_jupyter.contract.lineage import ExportFormat
    from acai_jupyter.contract.provenance import Graph

_LINES = decoding.json_decoder(ClosureLine)
MOST = 1_000_000


@dataclass
class Closure:
    """All that lies on one side of a set: sets nearest first, actions, and what joins them by their keys."""

    focus: str
    direction: LineageDirection
    sets: list[ClosureSet] = field(default_factory=list)
    actions: list[ClosureAction] = field(default_factory=list)
    inputs: list[ClosureInput] = field(default_factory=list)
    outputs: list[ClosureOutput] = field(default_factory=list)
    is_cut: bool = False
    """Whether there is more than was asked for."""

    def to_networkx(self, *, actions: bool = True) -> Any:
        """Return a DiGraph of sets and actions; or with `actions=False` of sets alone, with an edge for each use."""
        import networkx as nx

        graph = nx.DiGraph()
        refs = {one.key: one.ref for one in self.sets}
        graph.add_nodes_from((one.ref, {"kind": "file set", **_described(one)}) for one in self.sets)
        if not actions:
            made = dict[int, list[str]]()
            for output in self.outputs:
                made.setdefault(output.action, []).append(refs[output.file_set])
            graph.add_edges_from(
                (refs[used.file_set], ref, {"role": used.role.value})
                for used in self.inputs
                for ref in made.get(used.action, ())
            )
            return graph
        names = {one.key: f"job {one.job}" if one.job is not None else f"action {one.key}" for one in self.actions}
        graph.add_nodes_from((names[one.key], _described(one)) for one in self.actions)
        graph.add_edges_from((refs[one.file_set], names[one.action], {"role": one.role.value}) for one in self.inputs)
        graph.add_edges_from((names[one.action], refs[one.file_set]) for one in self.outputs)
        return graph


def neighbourhood(client: Client, thing: str | int, *, back: int = 1, forward: int = 1, limit: int = 200) -> Graph:
    """Return what is around a set or a job, which is named by its number."""
    query = {"back": back, "forward": forward, "limit": limit}
    return client.call(endpoints.GET_NEIGHBOURHOOD, query=query, ref=name_of(thing))


def closure(
    client: Client,
    ref: str,
    direction: LineageDirection = LineageDirection.BACK,
    depth: int | None = None,
    limit: int = MOST,
) -> Closure:
    """Return all that lies on one side of a set, or of what a job made."""
    query: dict[str, Any] = {"direction": direction.value, "limit": limit}
    if depth is not None:
        query["depth"] = depth
    ref = set_of(client, ref)
    found = Closure(ref, direction)
    kept: dict[type, list[Any]] = {
        ClosureSet: found.sets,
        ClosureAction: found.actions,
        ClosureInput: found.inputs,
        ClosureOutput: found.outputs,
    }
    end = None
    for line in decoded(client.stream(endpoints.GET_CLOSURE, query=query, ref=ref)):
        if isinstance(line, ClosureEnd):
            end = line
        else:
            kept[type(line)].append(line)
    if end is None:
        raise Unavailable(reason="its answer broke off")
    found.focus, found.is_cut = end.focus, end.is_cut
    return found


def export(
    client: Client,
    ref: str,
    wanted: ExportFormat,
    direction: LineageDirection = LineageDirection.BACK,
    depth: int | None = None,
) -> str:
    """Return the lineage of a set, or of what a job made, in the format of other programs."""
    query: dict[str, Any] = {"format": wanted.value, "direction": direction.value}
    if depth is not None:
        query["depth"] = depth
    return b"".join(client.stream(endpoints.EXPORT_LINEAGE, query=query, ref=set_of(client, ref))).decode()


def name_of(thing: str | int) -> str:
    """Read what stands in the graph: a job's number, or a version of a set."""
    text = str(thing)
    return text if text.isascii() and text.isdigit() else ref_of(text)


def set_of(client: Client, thing: str | int) -> str:
    """Read what stands for a file set: its name, or the number of the job that made it."""
    name = name_of(thing)
    if not name.isdecimal():
        return name
    made = client.call(endpoints.GET_JOB, job=JobNumber(int(name))).output
    if made is None or ":" not in made:
        raise Conflict(f"Job {name} made no file set. Name one that it used: acai provenance {name}")
    return made


def decoded(pieces: Iterable[bytes]) -> Iterator[ClosureLine]:
    """Decode lines that may be cut anywhere."""
    rest = b""
    for piece in pieces:
        whole, newline, rest = (rest + piece).rpartition(b"\n")
        if newline:
            yield from _LINES.decode_lines(whole)


def _described(one: ClosureSet | ClosureAction) -> dict[str, Any]:
    known = msgspec.structs.asdict(one)
    del known["key"]
    return {name: value for name, value in known.items() if value is not None}
