"""A part of the provenance graph, as a Python object that goes further when asked."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import msgspec

from acai_jupyter.client import lineages
from acai_jupyter.commands.results import Result
from acai_jupyter.commands.trees import action_name, graph_lines
from acai_jupyter.contract import endpoints
from acai_jupyter.contract.lineage import ExportFormat, LineageDirection

if TYPE_CHECKING:
    from acai_jupyter.client.http import Client
    from acai_jupyter.client.lineages import Closure
    from acai_jupyter.contract.lineage import Affected, Paths
    from acai_jupyter.contract.provenance import Action, Node
    from acai_jupyter.contract.provenance import Graph as Answer


class Graph:
    """What is around a set or a job, so many steps back and forward. It never changes: going further makes another."""

    def __init__(self, client: Client, answer: Answer, *, back: int = 1, forward: int = 1, limit: int = 200) -> None:
        self._client = client
        self._steps = {"back": back, "forward": forward, "limit": limit}
        self.answer = answer
        """As the server gave it."""

    @property
    def focus(self) -> str:
        """What it is around: a set like `model:2`, or a job's number."""
        return self.answer.focus

    @property
    def nodes(self) -> list[Node]:
        """File set versions, nearest first."""
        return self.answer.nodes

    @property
    def actions(self) -> list[Action]:
        """Uploads, creations and jobs."""
        return self.answer.actions

    @property
    def is_cut(self) -> bool:
        """Whether more is so near than the limit lets in."""
        return self.answer.is_cut

    def __contains__(self, ref: object) -> bool:
        return any(node.ref == ref for node in self.nodes)

    def __len__(self) -> int:
        return len(self.nodes)

    def back(self, steps: int = 1) -> Graph:
        """Return the same with further steps back."""
        return self._again(self.focus, back=self._steps["back"] + steps)

    def forward(self, steps: int = 1) -> Graph:
        """Return the same with further steps forward."""
        return self._again(self.focus, forward=self._steps["forward"] + steps)

    def around(self, thing: str | int) -> Graph:
        """Return as many steps around something else."""
        return self._again(thing)

    def ancestors(self, depth: int | None = None) -> Closure:
        """Return all that the focus was made of."""
        return lineages.closure(self._client, self.focus, LineageDirection.BACK, depth)

    def descendants(self, depth: int | None = None) -> Closure:
        """Return all that was made of the focus."""
        return lineages.closure(self._client, self.focus, LineageDirection.FORWARD, depth)

    def paths(self, to: str | int, limit: int = 20) -> Paths:
        """Return the ways between the focus and another set, whichever is the earlier."""
        query = {"to": lineages.set_of(self._client, to), "limit": limit}
        return self._client.call(endpoints.GET_PATHS, query=query, ref=self._set())

    def affected(self) -> Affected:
        """Return the sets and jobs that would be affected if the focus changed."""
        return self._client.call(endpoints.GET_AFFECTED, ref=self._set())

    def export(self, wanted: str, direction: str = "back", depth: int | None = None) -> str:
        """Return the lineage as `json`, `dot`, `graphml`, `prov` or `openlineage`."""
        return lineages.export(self._client, self.focus, ExportFormat(wanted), LineageDirection(direction), depth)

    def to_networkx(self) -> Any:
        """Return a DiGraph: sets and actions are nodes with their attributes, edges know the role of an input."""
        import networkx as nx

        graph = nx.DiGraph()
        for node in self.nodes:
            known = msgspec.structs.asdict(node.file_set)
            graph.add_node(node.ref, kind="file set", distance=node.distance, attributes=node.attributes, **known)
        for action in self.actions:
            name = action_name(action) if action.job else f"making of {action.id}"
            job = {} if action.job is None else msgspec.structs.asdict(action.job)
            job |= {"kind": action.kind.value, "creator": action.creator, "created_at": action.created_at}
            graph.add_node(name, **job)
            graph.add_edges_from((one.file_set, name, {"role": one.role.value}) for one in action.inputs)
            graph.add_edges_from((name, ref, {"is_partial": ref in action.partial}) for ref in action.outputs)
        return graph

    def __repr__(self) -> str:
        return "\n".join(graph_lines(self.answer))

    def _repr_mimebundle_(self, **kwargs: Any) -> dict[str, Any]:
        return Result(repr(self), self.answer, "provenance")._repr_mimebundle_(**kwargs)

    def _set(self) -> str:
        return lineages.set_of(self._client, self.focus)

    def _again(self, thing: str | int, **changed: int) -> Graph:
        return around(self._client, thing, **(self._steps | changed))


def around(client: Client, thing: str | int, *, back: int = 1, forward: int = 1, limit: int = 200) -> Graph:
    """Return what is around a set or a job."""
    answer = lineages.neighbourhood(client, thing, back=back, forward=forward, limit=limit)
    return Graph(client, answer, back=back, forward=forward, limit=limit)
