"""What somebody who looks at the provenance graph sees and does: the view-model. It knows no widget and no browser."""

from __future__ import annotations

import codecs
from dataclasses import dataclass, field, replace
from datetime import datetime
from typing import TYPE_CHECKING

from acai_jupyter.client.follow import whole_log
from acai_jupyter.commands.metadata import change_many, shown, thing_change
from acai_jupyter.commands.screen import Screen
from acai_jupyter.contract import endpoints
from acai_jupyter.contract.drawings import Direction, DrawGraph, Drawing, ShapeKind, Step

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from acai_jupyter.client.http import Client
    from acai_jupyter.contract.drawings import DrawnNode
    from acai_jupyter.contract.metadata import Metadata, Value

DOUBLE_SECONDS = 0.45
"""Two clicks on the same node within this time are one double-click."""
LOG_CHARACTERS = 100_000
"""So much of the end of a log is shown beside the graph."""


@dataclass(frozen=True)
class Selection:
    """What is selected, and all that is known of it."""

    node: DrawnNode
    facts: list[tuple[str, str]] = field(default_factory=list)
    tags: list[str] = field(default_factory=list)
    log: str | None = None

    @property
    def can_be_tagged(self) -> bool:
        """Whether attributes stand on it."""
        return bool(self.node.thing)


class Explorer:
    """One person's look at the graph around a file set or a job. Whoever shows it calls `on_change`'s functions."""

    def __init__(
        self, client: Client, focus: str, *, drawing: Drawing | None = None, steps: Sequence[Step] = ()
    ) -> None:
        self._client = client
        self._first = self._focus = focus
        self._first_steps = list(steps)
        self._steps = list(steps)
        self._path_to = ""
        self._query = ""
        self._before: str | None = None
        self._last_click = ("", float("-inf"))
        self._listeners: list[Callable[[], None]] = []
        self.selection: Selection | None = None
        self.start = ""
        """The file set from which the next path is to be drawn."""
        self.looked_at: tuple[str, ...] = ()
        """The nodes that are to be in sight: what was opened last, and what came of it."""
        self.drawing = drawing or self._draw()
        self.looked_at = (self.drawing.focus,)

    def on_change(self, listener: Callable[[], None]) -> None:
        """Have a function called whenever something is different."""
        self._listeners.append(listener)

    @property
    def query(self) -> str:
        """What the graph is filtered by."""
        return self._query

    @property
    def is_path(self) -> bool:
        """Whether only a path is drawn."""
        return bool(self._path_to)

    def node(self, name: str) -> DrawnNode | None:
        """Return a node of the drawing."""
        return next((one for one in self.drawing.nodes if one.id == name), None)

    # -- what a hand does

    def click(self, name: str, at: float) -> None:
        """Select a node; twice in short time, make it the centre. One that stands for several jobs is opened."""
        before, then = self._last_click
        if before == name and at - then <= DOUBLE_SECONDS:
            self._last_click = ("", float("-inf"))
            self.centre(name)
            return
        self._last_click = (name, at)
        node = self.node(name)
        if node is not None and node.kind is ShapeKind.GROUP:
            self.open(name, Direction.GROUP)
        else:
            self.select(name)

    def click_edge(self, edge: str) -> None:
        """Select the action that an edge belongs to."""
        action = next((one.action for one in self.drawing.edges if one.id == edge), "")
        self.select(action)

    def select(self, name: str) -> None:
        """Show all that is known of a node beside the graph."""
        node = self.node(name)
        self.selection = None if node is None or node.kind is ShapeKind.SOURCE else self._selected(node)
        self._changed()

    def open(self, name: str, direction: Direction) -> None:
        """Draw one step more from a node."""
        step = Step(name, direction)
        if step not in self._steps:
            self._redraw(steps=[*self._steps, step], around=name)

    def centre(self, name: str) -> None:
        """Make a node the centre, with one step around it."""
        node = self.node(name)
        if node is not None and node.thing:
            self._redraw(focus=node.thing, steps=[], path_to="", is_fresh=True)
            self.select(self.drawing.focus)

    def older(self) -> None:
        """Of a project, draw what changed before what is drawn."""
        if self.drawing.next is not None:
            self._redraw(before=self.drawing.next, is_fresh=True)

    def path_to(self, thing: str) -> None:
        """Draw only what lies between the centre and a file set."""
        self._redraw(path_to=thing, is_fresh=True)

    def start_path(self) -> None:
        """Remember the selected set: the next path begins there."""
        if self.selection is not None and self.selection.node.kind is ShapeKind.FILE_SET:
            self.start = self.selection.node.thing
            self._changed()

    def end_path(self) -> None:
        """Draw only what lies between the set that is remembered and the selected one."""
        if self.start and self.selection is not None:
            self._redraw(focus=self.start, steps=[], path_to=self.selection.node.thing, is_fresh=True)
            self.start = ""
            self._changed()

    def whole(self) -> None:
        """Go back to the beginning."""
        self.selection = None
        self.start = ""
        self._before = None
        self._redraw(focus=self._first, steps=self._first_steps, path_to="", query="", is_fresh=True)

    def filter(self, query: str) -> None:
        """Fade what a query is not true of."""
        if query.strip() != self._query:
            self._redraw(query=query.strip())

    def search(self, text: str) -> list[DrawnNode]:
        """Return the nodes whose names have a text, those that begin with it first."""
        wanted = text.casefold().strip()
        named = [(one, name) for one in self.drawing.nodes if (name := name_of(one))]
        found = [(one, name.casefold()) for one, name in named if wanted and wanted in name.casefold()]
        return [one for one, _ in sorted(found, key=lambda pair: (not pair[1].startswith(wanted), pair[1]))]

    def find(self, text: str) -> bool:
        """Select the node that a text names best, and bring it into sight."""
        found = self.search(text)
        if found:
            self.looked_at = (found[0].id,)
            self.select(found[0].id)
        return bool(found)

    def tag(self, words: Sequence[str]) -> None:
        """Change attributes and labels of what is selected: K=V, K=, +LABEL, -LABEL."""
        if self.selection is None or not words:
            return
        thing = self.selection.node.thing
        change_many(self._client, [thing], thing_change(thing, words))
        self.select(self.selection.node.id)

    def set_tags(self, tags: Sequence[str]) -> None:
        """Make labels of what is selected these."""
        if self.selection is not None:
            before = self.selection.tags
            self.tag(
                [f"+{one}" for one in tags if one not in before] + [f"-{one}" for one in before if one not in tags]
            )

    def open_log(self) -> None:
        """Show the log of the selected job as it is now."""
        if self.selection is None or self.selection.node.kind is not ShapeKind.JOB:
            return
        number = int(self.selection.node.thing)
        job = self._client.call(endpoints.GET_JOB, job=number)
        attempts = len(job.attempts)
        decoder, screen = codecs.getincrementaldecoder("utf-8")("replace"), Screen()
        pieces = whole_log(self._client, number, attempts) if attempts else iter(())
        said = "".join(screen.feed(decoder.decode(piece)) for piece in pieces) + screen.close()
        chosen = self.selection
        self.selection = replace(chosen, log=said[-LOG_CHARACTERS:])
        self._changed()

    # -- what follows from it

    def _redraw(
        self,
        *,
        focus: str | None = None,
        steps: list[Step] | None = None,
        path_to: str | None = None,
        query: str | None = None,
        before: str | None = None,
        around: str = "",
        is_fresh: bool = False,
    ) -> None:
        """Draw anew. When that fails, all stays as it was."""
        was = (self._focus, self._steps, self._path_to, self._query, self._before)
        self._before = self._before if before is None else before
        self._focus = self._focus if focus is None else focus
        self._steps = self._steps if steps is None else steps
        self._path_to = self._path_to if path_to is None else path_to
        self._query = self._query if query is None else query
        known = {one.id for one in self.drawing.nodes}
        try:
            self.drawing = self._draw(is_fresh=is_fresh)
        except Exception:
            self._focus, self._steps, self._path_to, self._query, self._before = was
            raise
        new = [one.id for one in self.drawing.nodes if one.id not in known]
        self.looked_at = (self.drawing.focus,) if is_fresh else (around, *new) if around else ()
        if (chosen := self.selection) is not None:
            node = self.node(chosen.node.id)
            self.selection = None if node is None else replace(chosen, node=node)
        self._changed()

    def _draw(self, *, is_fresh: bool = True) -> Drawing:
        offset = datetime.now().astimezone().utcoffset()
        places = {} if is_fresh else {one.id: (one.x, one.y) for one in self.drawing.nodes}
        request = DrawGraph(
            self._focus,
            self._steps,
            self._path_to,
            self._query,
            places,
            None if self._focus else self._before,
            utc_offset_seconds=int(offset.total_seconds()) if offset else 0,
        )
        return self._client.call(endpoints.DRAW_GRAPH, request)

    def _selected(self, node: DrawnNode) -> Selection:
        if not node.thing:
            return Selection(node)
        found = self._client.call(endpoints.GET_METADATA, query={"thing": node.thing})
        facts = _facts(found)
        if node.kind is ShapeKind.JOB:
            job = self._client.call(endpoints.GET_JOB, job=int(node.thing))
            command = job.command if isinstance(job.command, str) else " ".join(job.command)
            facts += [("command", command)] + ([("code", job.code)] if job.code else [])
        return Selection(node, facts, list(found.tags))

    def _changed(self) -> None:
        for listener in self._listeners:
            listener()


def name_of(node: DrawnNode) -> str:
    """How people find a node: the whole name of a set, or the label of a job."""
    return node.thing if node.kind is ShapeKind.FILE_SET else node.label


def _facts(found: Metadata) -> list[tuple[str, str]]:
    """All that is known by key: what people gave first."""

    def told(values: dict[str, Value] | dict[str, Value | list[str] | None], before: str = "") -> list[tuple[str, str]]:
        return [(f"{before}{key}", shown(key, value)) for key, value in values.items() if value is not None]

    return [*told(found.attributes), *told(found.parameters, "params."), *told(found.built_in)]
