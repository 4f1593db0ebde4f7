"""What `%acai provenance` and `acai_jupyter.provenance` show: the graph in every form that a front end may want."""

from __future__ import annotations

from functools import wraps
from importlib.util import find_spec
from typing import TYPE_CHECKING, Any

import msgspec

from acai_jupyter.client.http import Client
from acai_jupyter.commands import graph_forms, python_graph
from acai_jupyter.commands.graphs import Graph
from acai_jupyter.contract import endpoints
from acai_jupyter.contract.drawings import MAX_STEPS, Direction, DrawGraph, Drawing, Step
from acai_jupyter.contract.lineage import ProjectGraph
from acai_jupyter.contract.provenance import Graph as Answer

if TYPE_CHECKING:
    from collections.abc import Sequence

    from acai_jupyter.commands.results import Result

WIDGET = "application/vnd.jupyter.widget-view+json"


@wraps(python_graph.provenance)
def provenance(*given: Any, **options: Any) -> Any:
    """Return the same; what is around a set or a job as something that a notebook draws."""
    found = python_graph.provenance(*given, **options)
    return DrawnGraph.of(found) if isinstance(found, Graph) else found


def seen(result: Result, project: str | None) -> Any:
    """Return what a notebook shows of an answer to the verb."""
    if isinstance(result.value, ProjectGraph) and result.value.components:
        return GraphView(Client(project=project), "", result.text)
    if not isinstance(result.value, Answer):
        return result
    return GraphView(Client(project=project), result.value.focus, result.text, opened(result.value))


def opened(answer: Answer) -> list[Step]:
    """Return what is to be opened in a drawing, which begins with a step each way, for it to show as much."""
    distances = {node.ref: node.distance for node in answer.nodes}
    made = {ref for action in answer.actions for ref in action.outputs}
    farthest: dict[str, int] = {}
    for action in answer.actions:
        to = max((distances[ref] for ref in action.outputs), default=MAX_STEPS)
        farthest |= {one.file_set: max(to, farthest.get(one.file_set, to)) for one in action.inputs}
    back = [Step(ref, Direction.BACK) for ref, far in distances.items() if far < 0 and ref in made]
    forward = [
        Step(ref, Direction.FORWARD)
        for ref, far in distances.items()
        if far > 0 and ref in made and farthest.get(ref, far) > far
    ]
    return [*back, *forward][:MAX_STEPS]


class GraphView:
    """The graph around a file set or a job, or without either that of the project, to be displayed.

    Without the extra `widgets` it stands still.
    """

    def __init__(self, client: Client, focus: str, text: str = "", steps: Sequence[Step] = ()) -> None:
        self._client = client
        self._focus = focus
        self._text = text
        self._steps = list(steps)
        self._drawing: Drawing | None = None

    @property
    def drawing(self) -> Drawing:
        """What is drawn at first, with its SVG."""
        if self._drawing is None:
            self._drawing = self._client.call(endpoints.DRAW_GRAPH, DrawGraph(self._focus, self._steps, with_svg=True))
        return self._drawing

    def __repr__(self) -> str:
        return self._text or graph_forms.text(self.drawing)

    def _repr_mimebundle_(self, **kwargs: Any) -> dict[str, Any]:
        del kwargs
        drawing = self.drawing
        kept = msgspec.structs.replace(drawing, svg=None)
        bundle = {
            "text/plain": repr(self),
            "text/html": graph_forms.html(drawing),
            "image/svg+xml": drawing.svg,
            "application/vnd.acai.provenance+json": msgspec.to_builtins(kept),
        }
        return bundle | self._widget(kept)

    def _widget(self, drawing: Drawing) -> dict[str, Any]:
        """Make a new widget for each place where it is shown."""
        if find_spec("ipycytoscape") is None or find_spec("ipywidgets") is None:
            return {}
        from acai_jupyter.widgets.explorer import Explorer
        from acai_jupyter.widgets.graph import GraphWidget

        made = GraphWidget(Explorer(self._client, self._focus, drawing=drawing, steps=self._steps))
        return {WIDGET: {"version_major": 2, "version_minor": 0, "model_id": made.box.model_id}}


class DrawnGraph(Graph):
    """A graph that is drawn where it is displayed."""

    @classmethod
    def of(cls, graph: Graph) -> DrawnGraph:
        """Return the same, drawn."""
        return cls(graph._client, graph.answer, **graph._steps)  # noqa: SLF001 (its own class)

    def _repr_mimebundle_(self, **kwargs: Any) -> dict[str, Any]:
        del kwargs
        view = GraphView(self._client, self.answer.focus, repr(self), opened(self.answer))
        return view._repr_mimebundle_()

    def _again(self, thing: str | int, **changed: int) -> DrawnGraph:
        return self.of(super()._again(thing, **changed))
