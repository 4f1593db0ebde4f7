"""Layered drawing from left to right: pure geometry.

Layers follow the longest path; a line over several layers gets a bend in each. The order within layers comes from
sweeps by the mean of neighbours, the heights from isotonic regression, in which what stood somewhere weighs much more
than what is new: that is why a drawing that grows keeps its places.
"""

from __future__ import annotations

from bisect import bisect_left, insort
from collections import defaultdict
from dataclasses import dataclass
from itertools import pairwise
from math import inf
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    Point = tuple[float, float]
    Link = tuple[str, str]

COLUMN = 48.0
"""Between the boxes of neighbouring layers."""
GAP = 18.0
BEND_HEIGHT = 4.0
SWEEPS = 6
_STAYS = 1e9
"""How much more a place weighs than a wish."""


@dataclass(frozen=True)
class Box:
    """What is to be placed. `rank` is the layer of one that nothing leads to."""

    id: str
    width: float
    height: float
    rank: int = 0


@dataclass(frozen=True)
class Layout:
    """The middles of boxes, and for each link its points from border to border."""

    places: dict[str, Point]
    routes: dict[Link, list[Point]]


def lay_out(boxes: Sequence[Box], links: Sequence[Link], anchor: str, known: Mapping[str, Point]) -> Layout:
    """Place boxes. The anchor stands where it is known to stand, else at (0, 0)."""
    links = _acyclic(boxes, dict.fromkeys(links))
    layers = _layers(boxes, links)
    chains = _chains(links, layers)
    columns = _Columns(boxes, layers, chains, {box: place[1] for box, place in known.items()})
    heights = columns.settled()
    columns_at = _columns_at(boxes, layers)
    middle = columns_at[layers[anchor]][0] if anchor else 0.0
    dx, dy = _shift(anchor, middle, heights.get(anchor, 0.0), known)
    middles = {box.id: (columns_at[layers[box.id]][0] + dx, heights[box.id] + dy) for box in boxes}
    halves = {box.id: box.width / 2 for box in boxes}
    routes: dict[Link, list[Point]] = {}
    for (source, target), chain in chains.items():
        (x, y), (end_x, end_y) = middles[source], middles[target]
        stops = [(x + halves[source], y)]
        for bend in chain[1:-1]:  # level past the boxes of its layer
            at, half = columns_at[layers[bend]]
            stops += [(at - half + dx, heights[bend] + dy), (at + half + dx, heights[bend] + dy)]
        routes[source, target] = _route([*stops, (end_x - halves[target], end_y)])
    return Layout(middles, routes)


def _acyclic(boxes: Sequence[Box], links: Iterable[Link]) -> list[Link]:
    """Leave out what would lead back; the graph has no cycle, but a drawing must not hang if it had."""
    links = list(links)
    following = _neighbours(links)[1]
    open_, done = set[str](), set[str]()
    backward: set[Link] = set()
    for box in boxes:
        stack = [(box.id, iter(following[box.id]))] if box.id not in done else []
        open_.update(one for one, _ in stack)
        while stack:
            one, rest = stack[-1]
            for target in rest:
                if target in open_:
                    backward.add((one, target))
                elif target not in done:
                    open_.add(target)
                    stack.append((target, iter(following[target])))
                    break
            else:
                stack.pop()
                open_.remove(one)
                done.add(one)
    return [link for link in links if link not in backward]


def _layers(boxes: Sequence[Box], links: Sequence[Link]) -> dict[str, int]:
    """The longest path to each; what nothing leads to stands close before what it leads to."""
    before, after = _neighbours(links)
    waits = {box.id: len(before[box.id]) for box in boxes}
    layers = {box.id: 0 if before[box.id] else box.rank for box in boxes}
    ready = [box.id for box in boxes if not waits[box.id]]
    for one in ready:  # grows while it is walked
        for target in after[one]:
            layers[target] = max(layers[target], layers[one] + 1)
            waits[target] -= 1
            if not waits[target]:
                ready.append(target)
    for one in reversed(ready):
        if not before[one] and after[one]:
            layers[one] = min(layers[target] for target in after[one]) - 1
    return layers


def _neighbours(links: Iterable[Link]) -> tuple[dict[str, list[str]], dict[str, list[str]]]:
    before: dict[str, list[str]] = defaultdict(list)
    after: dict[str, list[str]] = defaultdict(list)
    for source, target in links:
        before[target].append(source)
        after[source].append(target)
    return before, after


def _chains(links: Sequence[Link], layers: dict[str, int]) -> dict[Link, list[str]]:
    """Each link as a chain with a bend in every layer that it crosses. The bends get their layers."""
    chains: dict[Link, list[str]] = {}
    for source, target in links:
        bends = []
        for layer in range(layers[source] + 1, layers[target]):
            bend = f"bend\0{source}\0{target}\0{layer}"
            layers[bend] = layer
            bends.append(bend)
        chains[source, target] = [source, *bends, target]
    return chains


class _Columns:
    """The boxes and bends of each layer, in order, and how high they stand."""

    def __init__(
        self, boxes: Sequence[Box], layers: dict[str, int], chains: Mapping[Link, list[str]], known: Mapping[str, float]
    ) -> None:
        self._known = {one: y for one, y in known.items() if one in layers}
        self._heights = dict.fromkeys(layers, BEND_HEIGHT) | {box.id: box.height for box in boxes}
        pieces = [pair for chain in chains.values() for pair in pairwise(chain)]
        self._before, self._after = _neighbours(pieces)
        self._columns: dict[int, list[str]] = defaultdict(list)
        for one, layer in layers.items():
            self._columns[layer].append(one)
        self._y: dict[str, float] = dict(self._known)

    def settled(self) -> dict[str, float]:
        """Return the heights with the fewest crossings that the sweeps met."""
        order = sorted(self._columns)
        self._begin(order)
        best, fewest = dict(self._y), self._crossings(order)
        for sweep in range(SWEEPS):
            for layer in order if sweep % 2 == 0 else reversed(order):
                self._sweep(layer, self._before if sweep % 2 == 0 else self._after, reorder=True)
            crossings = self._crossings(order)
            if crossings <= fewest:
                best, fewest = dict(self._y), crossings
        self._y = best
        for column in self._columns.values():
            column.sort(key=lambda one: self._y[one])
        both = {one: self._before[one] + self._after[one] for column in self._columns.values() for one in column}
        for layers in (order, order[::-1], order):
            for layer in layers:
                self._sweep(layer, both, reorder=False)
        return self._y

    def _begin(self, order: Sequence[int]) -> None:
        """What is new begins beside its neighbours that have a place, else below what is there."""
        for _ in range(2):
            for layer in order:
                for one in self._columns[layer]:
                    if one not in self._y:
                        placed = [self._y[other] for other in self._before[one] + self._after[one] if other in self._y]
                        if placed:
                            self._y[one] = sum(placed) / len(placed)
        for column in self._columns.values():
            for number, one in enumerate(column):
                self._y.setdefault(one, number * 60.0)
        for layer in order:
            self._sweep(layer, defaultdict(list), reorder=True)

    def _sweep(self, layer: int, neighbours: Mapping[str, list[str]], *, reorder: bool) -> None:
        column = self._columns[layer]
        wishes = {one: self._wish(one, neighbours[one]) for one in column}
        if reorder:
            column[:] = self._ordered(column, wishes)
        weights = [_STAYS if one in self._known else 1.0 for one in column]
        heights = [self._heights[one] for one in column]
        self._y.update(zip(column, _spread([wishes[one] for one in column], weights, heights), strict=True))

    def _ordered(self, column: Sequence[str], wishes: Mapping[str, float]) -> list[str]:
        """By wish. What is new goes between two that stay only where there is room for it, else above or below all."""
        by_wish = sorted(column, key=lambda one: wishes[one])
        staying = [one for one in by_wish if one in self._known]
        slots: list[list[str]] = [[] for _ in range(len(staying) + 1)]
        rooms = [inf, *(self._room(one, other) for one, other in pairwise(staying)), inf][: len(slots)]
        for one in (one for one in by_wish if one not in self._known):
            needed = self._heights[one] + GAP
            fitting = [number for number, room in enumerate(rooms) if room >= needed]
            best = min(fitting, key=lambda number: self._distance(staying, number, wishes[one]))
            slots[best].append(one)
            rooms[best] -= needed
        return [one for slot, behind in zip(slots, [*staying, None], strict=True) for one in (*slot, behind) if one]

    def _room(self, one: str, other: str) -> float:
        return self._known[other] - self._known[one] - (self._heights[one] + self._heights[other]) / 2 - GAP

    def _distance(self, staying: Sequence[str], slot: int, wish: float) -> float:
        """How far a wish is from a slot between those that stay."""
        above = self._known[staying[slot - 1]] if slot else -inf
        below = self._known[staying[slot]] if slot < len(staying) else inf
        return max(above - wish, wish - below, 0.0)

    def _wish(self, one: str, neighbours: Sequence[str]) -> float:
        if one in self._known:
            return self._known[one]
        if not neighbours:
            return self._y[one]
        return sum(self._y[other] for other in neighbours) / len(neighbours)

    def _crossings(self, order: Sequence[int]) -> int:
        return sum(self._crossings_behind(layer) for layer in order)

    def _crossings_behind(self, layer: int) -> int:
        ends = sorted((self._y[one], self._y[other]) for one in self._columns[layer] for other in self._after[one])
        seen: list[float] = []
        crossings = 0
        for _, end in ends:
            crossings += len(seen) - bisect_left(seen, end + 1e-9)
            insort(seen, end)
        return crossings


def _spread(wishes: Sequence[float], weights: Sequence[float], heights: Sequence[float]) -> list[float]:
    """The heights nearest to the wishes, by weighted squares, at which nothing overlaps: isotonic regression."""
    offsets, at = [], 0.0
    for number, height in enumerate(heights):
        at += (heights[number - 1] + height) / 2 + GAP if number else 0.0
        offsets.append(at)
    blocks: list[list[float]] = []  # mean, weight, count
    for wish, weight, offset in zip(wishes, weights, offsets, strict=True):
        blocks.append([wish - offset, weight, 1])
        while len(blocks) > 1 and blocks[-2][0] > blocks[-1][0]:
            mean, weight_behind, count = blocks.pop()
            first = blocks[-1]
            whole = first[1] + weight_behind
            blocks[-1] = [(first[0] * first[1] + mean * weight_behind) / whole, whole, first[2] + count]
    means = [mean for mean, _, count in blocks for _ in range(int(count))]
    return [mean + offset for mean, offset in zip(means, offsets, strict=True)]


def _columns_at(boxes: Sequence[Box], layers: Mapping[str, int]) -> dict[int, Point]:
    """The middle of each layer and half its width. Boxes have few widths, so that a layer keeps its own as it grows."""
    widths: dict[int, float] = dict.fromkeys(layers.values(), 0.0)
    for box in boxes:
        widths[layers[box.id]] = max(widths[layers[box.id]], box.width)
    at, found = 0.0, {}
    for layer in sorted(widths):
        found[layer] = (at + widths[layer] / 2, widths[layer] / 2)
        at += widths[layer] + COLUMN
    return found


def _shift(anchor: str, x: float, y: float, known: Mapping[str, Point]) -> Point:
    wanted = known.get(anchor, (0.0, 0.0))
    return wanted[0] - x, wanted[1] - y


def _route(stops: Sequence[Point]) -> list[Point]:
    """Between two stops a line turns halfway, and is level at both."""
    points = [stops[0]]
    for (x, y), (next_x, next_y) in pairwise(stops):
        middle = (x + next_x) / 2
        points += [(middle, y), (middle, next_y)]
    return [*points, stops[-1]]
