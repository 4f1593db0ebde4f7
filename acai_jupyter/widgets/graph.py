"""The provenance graph under a cell: ipywidgets and ipycytoscape in front of an `Explorer`."""

from __future__ import annotations

import time
import traceback
from datetime import datetime
from html import escape
from typing import TYPE_CHECKING, Any

import ipycytoscape
import ipywidgets
from IPython import get_ipython

from acai_jupyter.commands.graph_forms import summary
from acai_jupyter.contract.drawings import Direction, ShapeKind
from acai_jupyter.contract.errors import AcaiError
from acai_jupyter.contract.foreign import one_line
from acai_jupyter.widgets import elements
from acai_jupyter.widgets.explorer import Explorer, name_of

if TYPE_CHECKING:
    from collections.abc import Callable

    from acai_jupyter.widgets.elements import Element
    from acai_jupyter.widgets.explorer import Selection

CANVAS = (2400.0, 330.0)
"""The canvas is wider than any page and stands in the middle of its box: so the middle of what is seen is known."""
SEEN = (600.0, 310.0)
"""So much of it is seen at least."""
LEAST_ZOOM = 0.7
"""At this one can still read."""
_HINT = "Select a node or a line to see all that is known of it. + draws more; a double-click makes it the centre."
_STYLE = """<style>
.acai-graph-box { position: relative; overflow: hidden; min-width: 0; flex: 1 1 420px; height: 330px;
  border: 1px solid var(--jp-border-color2, #d0d7de); border-radius: 4px; }
.acai-graph-box .custom-widget, .acai-graph-box .custom-widget:hover { position: absolute; left: 50%; width: 2400px;
  height: 330px; margin: 0 0 0 -1200px; background: transparent; border: none; resize: none; }
.acai-graph-hover { position: absolute; left: 8px; bottom: 8px; max-width: calc(100% - 16px); pointer-events: none; }
.acai-graph-hover .acai-card { background: var(--jp-layout-color1, #fff); color: var(--jp-ui-font-color1, #1f2328);
  border: 1px solid var(--jp-border-color1, #c4ccd4); border-radius: 4px; padding: 4px 8px; line-height: 1.4;
  font-size: 12px; white-space: normal; overflow-wrap: anywhere; }
.acai-graph-side { flex: 0 1 250px; max-height: 330px; overflow: hidden; padding: 0 0 0 10px; }
.acai-graph-side > .acai-graph-facts { flex: 1 1 0; min-height: 0; overflow: hidden auto; }
.acai-graph-side p, .acai-graph-side div { line-height: 1.45; font-size: 12px; margin: 0; }
.acai-graph-side h4 { margin: 2px 0 6px; font-size: 14px; overflow-wrap: anywhere; }
.acai-graph-side dl { display: grid; grid-template-columns: auto 1fr; gap: 1px 10px; margin: 6px 0; line-height: 1.45;
  font-size: 12px; }
.acai-graph-side dt { color: var(--jp-ui-font-color1, #40474f); font-weight: normal; }
.acai-graph-side dd { margin: 0; overflow-wrap: anywhere; }
.acai-graph-log pre { max-height: 260px; overflow: auto; margin: 6px 0 0; padding: 6px 10px; font-size: 12px;
  background: var(--jp-layout-color2, #f6f8fa); color: var(--jp-content-font-color1, #1f2328); }
.acai-graph-said { line-height: 1.5; font-size: 12px; }
.acai-graph-said .acai-error { color: var(--jp-error-color0, #b3261e); white-space: pre-wrap; }
[data-jp-theme-light="false"] .acai-graph-box canvas, .vscode-dark .acai-graph-box canvas
  { filter: invert(1) hue-rotate(180deg); }
[data-jp-theme-light="false"] .acai-graph-said .acai-error { color: var(--jp-error-color3, #f2b8b5); }
</style>"""


class GraphWidget:
    """Shows an explorer. `box` is the widget."""

    def __init__(self, explorer: Explorer) -> None:
        self._explorer = explorer
        self._nodes: dict[str, tuple[Element, Any]] = {}
        self._edges: dict[str, tuple[Element, Any]] = {}
        self._zoom = 1.0
        self._middle = (0.0, 0.0)
        self._is_showing = False
        self._pointed = ""
        self._canvas = self._make_canvas()
        self._hover = ipywidgets.HTML()
        self._hover.add_class("acai-graph-hover")
        self._said = ipywidgets.HTML()
        self._said.add_class("acai-graph-said")
        self._log = ipywidgets.HTML()
        self._log.add_class("acai-graph-log")
        self._about = ipywidgets.HTML()
        self._facts = ipywidgets.HTML()
        self._facts.add_class("acai-graph-facts")
        self._make_controls()
        self.box = self._arranged()
        explorer.on_change(self.show)
        self._fit()
        self.show()

    # -- what there is

    def _make_canvas(self) -> Any:
        layout = ipywidgets.Layout(width=f"{CANVAS[0]:g}px", height=f"{CANVAS[1]:g}px")
        canvas = ipycytoscape.CytoscapeWidget(layout=layout)
        canvas.tooltip_source = "no tooltip"  # it would show a name as HTML
        canvas.user_zooming_enabled = False  # the wheel scrolls the notebook
        canvas.auto_ungrabify = True
        canvas.min_zoom, canvas.max_zoom = 0.1, 3.0
        canvas.cytoscape_style = elements.style(self._explorer.drawing.looks)
        canvas.on("node", "click", self._guarded(self._clicked))
        canvas.on("edge", "click", self._guarded(lambda told: self._explorer.click_edge(told["data"]["id"])))
        canvas.on("node", "mouseover", self._guarded(self._hovered))
        canvas.on("node", "mouseout", self._guarded(lambda _: self._point_at("")))
        return canvas

    def _make_controls(self) -> None:
        explorer = self._explorer
        self._search = ipywidgets.Combobox(placeholder="Find by name", ensure_option=False, layout=_width("150px"))
        self._search.observe(self._guarded(self._searched), "value")
        self._filter = ipywidgets.Text(
            placeholder="Filter, like accuracy > 0.9", continuous_update=False, layout=_width("200px")
        )
        self._filter.observe(self._guarded(lambda change: explorer.filter(change["new"])), "value")
        self._whole = self._button("Start again", "Back to the first graph", explorer.whole)
        self._older = self._button("Older", "Draw what changed before these", explorer.older)
        self._smaller = self._button("\N{MINUS SIGN}", "Smaller", lambda: self._zoomed(0.8))
        self._larger = self._button("+", "Larger", lambda: self._zoomed(1.25))
        self._back = self._button("← Back", "Draw what it was made of", lambda: self._opened(Direction.BACK))
        self._forward = self._button("Forward →", "Draw what was made of it", lambda: self._opened(Direction.FORWARD))
        self._centre = self._button("Make centre", "Draw one step around it", self._centred)
        self._path = self._button("Path to centre", "Draw only what lies between it and the centre", self._pathed)
        self._start = self._button("Path from here", "Then select the set where the path ends", explorer.start_path)
        self._end = self._button("Path from", "Draw only what lies between the two", explorer.end_path)
        self._open_log = self._button("Log", "Show what the job printed", explorer.open_log)
        self._tags = ipywidgets.TagsInput(allow_duplicates=False, placeholder="add a label")
        self._tags.observe(self._guarded(self._tagged), "value")
        self._attribute = ipywidgets.Text(
            placeholder="key=value, or key= to delete", continuous_update=False, layout=_width("100%")
        )
        self._attribute.observe(self._guarded(self._attributed), "value")

    def _arranged(self) -> Any:
        seen = ipywidgets.Box([self._canvas, self._hover])
        seen.add_class("acai-graph-box")
        buttons = ipywidgets.Box(
            [self._back, self._forward, self._centre, self._path, self._start, self._end, self._open_log],
            layout=ipywidgets.Layout(flex_flow="row wrap"),
        )
        side = ipywidgets.VBox([self._about, buttons, self._tags, self._attribute, self._facts])
        side.add_class("acai-graph-side")
        bar = ipywidgets.Box(
            [self._search, self._filter, self._whole, self._older, self._smaller, self._larger],
            layout=ipywidgets.Layout(flex_flow="row wrap"),
        )
        middle = ipywidgets.Box([seen, side], layout=ipywidgets.Layout(display="flex", flex_flow="row wrap"))
        return ipywidgets.VBox([ipywidgets.HTML(_STYLE), bar, middle, self._said, self._log])

    def _button(self, words: str, title: str, act: Callable[[], object]) -> Any:
        made = ipywidgets.Button(description=words, tooltip=title, layout=_width("auto"))
        made.on_click(self._guarded(lambda _: act()))
        return made

    # -- what a hand does

    def _guarded(self, act: Callable[[Any], object]) -> Callable[[Any], None]:
        """Say what goes wrong: what a callback raises would be seen nowhere."""

        def guarded(told: Any) -> None:
            if self._is_showing:  # it is we who changed it
                return
            try:
                act(told)
            except AcaiError as error:
                self._say(error.message)
            except Exception:  # noqa: BLE001 (it is shown, with all there is to know)
                self._say(traceback.format_exc())

        return guarded

    def _say(self, error: str) -> None:
        self._said.value = f'<div class="acai-error" role="alert">{escape(error)}</div>'

    def _clicked(self, told: dict[str, Any]) -> None:
        name = told["data"]["id"]
        opened = elements.opened_by(name)
        if opened is not None:
            self._explorer.open(*opened)
        else:
            self._explorer.click(name, _sent_at())

    def _hovered(self, told: dict[str, Any]) -> None:
        self._point_at(told["data"]["id"])

    def _point_at(self, name: str) -> None:
        """Show the card of a node that is drawn."""
        self._pointed = name
        node = self._explorer.node(name)
        about = node.about if node else ""
        self._hover.value = f'<div class="acai-card">{escape(one_line(about))}</div>' if about else ""

    def _searched(self, change: dict[str, Any]) -> None:
        if change["new"] and not self._explorer.find(change["new"]):
            self._say(f"Nothing that is drawn is named like '{one_line(change['new'])}'.")

    def _opened(self, direction: Direction) -> None:
        if (chosen := self._explorer.selection) is not None:
            self._explorer.open(chosen.node.id, direction)

    def _centred(self) -> None:
        if (chosen := self._explorer.selection) is not None:
            self._explorer.centre(chosen.node.id)

    def _pathed(self) -> None:
        if (chosen := self._explorer.selection) is not None:
            self._explorer.path_to(chosen.node.thing)

    def _tagged(self, change: dict[str, Any]) -> None:
        self._explorer.set_tags(change["new"])

    def _attributed(self, change: dict[str, Any]) -> None:
        if change["new"].strip():
            self._explorer.tag([change["new"].strip()])
            self._attribute.value = ""

    def _zoomed(self, by: float) -> None:
        self._zoom = min(max(self._zoom * by, 0.15), 2.5)
        self._look()

    # -- what is seen

    def show(self) -> None:
        """Show the explorer as it is now."""
        self._is_showing = True
        try:
            if self._explorer.looked_at:
                self._turn_to(self._explorer.looked_at)
                self._explorer.looked_at = ()
            self._show_graph()
            self._point_at(self._pointed)
            self._show_selection(self._explorer.selection)
            self._search.options = sorted({name for one in self._explorer.drawing.nodes if (name := name_of(one))})
            self._filter.value = self._explorer.query
            self._said.value = f'<div role="status">{escape(summary(self._explorer.drawing))}</div>'
        finally:
            self._is_showing = False

    def _turn_to(self, names: tuple[str, ...]) -> None:
        """Bring nodes into sight: the middle between them to the middle of what is seen."""
        drawing = self._explorer.drawing
        if names == (drawing.focus,):
            self._fit()
            return
        found = [one for one in drawing.nodes if one.id in names]
        if found:
            xs, ys = [one.x for one in found], [one.y for one in found]
            self._middle = ((min(xs) + max(xs)) / 2, (min(ys) + max(ys)) / 2)
            self._look()

    def _fit(self) -> None:
        """Show all of it if it can be read then; else what is around the focus."""
        drawing = self._explorer.drawing
        needed = min(SEEN[0] / max(drawing.width, 1), SEEN[1] / max(drawing.height, 1))
        self._zoom = min(1.0, max(LEAST_ZOOM, needed))
        focus = self._explorer.node(drawing.focus)
        whole = (drawing.left + drawing.width / 2, drawing.top + drawing.height / 2)
        self._middle = whole if needed >= LEAST_ZOOM or focus is None else (focus.x, focus.y)
        self._look()

    def _look(self) -> None:
        pan = {"x": CANVAS[0] / 2 - self._zoom * self._middle[0], "y": CANVAS[1] / 2 - self._zoom * self._middle[1]}
        self._canvas.cytoscape_layout = {"name": "preset", "fit": False, "zoom": self._zoom, "pan": pan}

    def _show_graph(self) -> None:
        drawing, chosen = self._explorer.drawing, self._explorer.selection
        name = chosen.node.id if chosen else ""
        known = len(self._nodes) + len(self._edges)
        _bring_to(self._nodes, elements.nodes(drawing, name), ipycytoscape.Node)
        _bring_to(self._edges, elements.edges(drawing, name), ipycytoscape.Edge)
        if len(self._nodes) + len(self._edges) > known:
            graph = self._canvas.graph
            with graph.hold_sync():  # in one message, as each makes the page lay out all of it again
                graph.nodes = [widget for _, widget in self._nodes.values()]
                graph.edges = [widget for _, widget in self._edges.values()]

    def _show_selection(self, chosen: Selection | None) -> None:
        self._about.value, self._facts.value = _about(chosen), _facts(chosen)
        node = chosen.node if chosen else None
        is_set = node is not None and node.kind is ShapeKind.FILE_SET
        is_centre = node is not None and node.id == self._explorer.drawing.focus
        start = self._explorer.start
        is_other = bool(start) and node is not None and node.thing != start
        self._end.description = f"Path from {one_line(start)}"
        shown = {
            self._back: node is not None and node.back > 0,
            self._forward: node is not None and node.forward > 0,
            self._centre: node is not None and bool(node.thing) and (not is_centre or self._explorer.is_path),
            self._path: is_set and not is_centre and self._explorer.drawing.focus in self._sets(),
            self._start: is_set and not is_other,
            self._end: is_set and is_other,
            self._older: self._explorer.drawing.next is not None,
            self._open_log: node is not None and node.kind is ShapeKind.JOB,
            self._tags: chosen is not None and chosen.can_be_tagged,
            self._attribute: chosen is not None and chosen.can_be_tagged,
        }
        for widget, is_shown in shown.items():
            widget.layout.display = None if is_shown else "none"
        self._tags.value = chosen.tags if chosen else []
        self._attribute.value = ""
        self._log.value = _log(chosen)

    def _sets(self) -> set[str]:
        return {one.id for one in self._explorer.drawing.nodes if one.kind is ShapeKind.FILE_SET}


def _width(width: str) -> Any:
    return ipywidgets.Layout(width=width)


def _bring_to(shown: dict[str, tuple[Element, Any]], wanted: dict[str, Element], kind: Any) -> None:
    """Change the widgets of elements to what is wanted.

    None is ever taken out of the list: ipycytoscape makes all behind it anew, and loses those. They are hidden.
    """
    for name, (element, widget) in shown.items():
        if name not in wanted and element["classes"] != elements.HIDDEN:
            widget.classes = elements.HIDDEN
            shown[name] = {**element, "classes": elements.HIDDEN}, widget
    for name, element in wanted.items():
        if name not in shown:
            shown[name] = element, kind(pannable=True, **element)
            continue
        last, widget = shown[name]
        for key, value in element.items():
            if last[key] != value:
                setattr(widget, key, value)
        shown[name] = element, widget


def _about(chosen: Selection | None) -> str:
    if chosen is None:
        return f"<p>{_HINT}</p>"
    node = chosen.node
    kind = "file set" if node.kind is ShapeKind.FILE_SET else node.words
    return f"<h4>{escape(one_line(name_of(node)))}</h4><div>{escape(one_line(kind))}</div>"


def _facts(chosen: Selection | None) -> str:
    if chosen is None:
        return ""
    if not chosen.facts:
        return f"<p>{escape(one_line(chosen.node.about))}</p>"
    rows = "".join(f"<dt>{escape(key)}</dt><dd>{escape(one_line(said))}</dd>" for key, said in chosen.facts)
    return f'<dl tabindex="0" aria-label="All that is known of it">{rows}</dl>'


def _log(chosen: Selection | None) -> str:
    if chosen is None or chosen.log is None:
        return ""
    name = f"Log of {chosen.node.label}"
    text = chosen.log or "(it printed nothing)"
    region = f'<pre tabindex="0" role="region" aria-label="{escape(name)}">{escape(text)}</pre>'
    return f"<strong>{escape(name)}</strong>{region}"


def _sent_at() -> float:
    """When the front end sent the message that is being handled: a busy kernel handles two slow clicks at once."""
    kernel = getattr(get_ipython(), "kernel", None)
    header = kernel.get_parent().get("header", {}) if kernel is not None else {}
    sent = header.get("date")
    if isinstance(sent, str):
        sent = datetime.fromisoformat(sent)
    return sent.timestamp() if isinstance(sent, datetime) else time.time()
