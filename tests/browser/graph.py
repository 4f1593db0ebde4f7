"""The graph under a cell in words of what a person does. It is drawn on a canvas: where things stand is asked of it."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from playwright.sync_api import Locator

    from tests.browser.page import LabPage

_CORE = "node => node.querySelector('.custom-widget')._cyreg.cy"
_WORDS = f"node => ({_CORE})(node).nodes(':visible').map(one => one.data('label').split('\\n')[0])"
_PLACE = f"""(node, id) => {{
    const core = ({_CORE})(node);
    const name = each => (each.data('label') || '').split('\\n')[0];
    const one = core.elements().filter(each => each.id() === id || name(each) === id)[0];
    const at = one.isNode() ? one.renderedPosition() : one.renderedMidpoint();
    const box = node.querySelector('.custom-widget').getBoundingClientRect();
    return [box.x + at.x, box.y + at.y];
}}"""
_LINE = f"""(node, [from, to]) => {{
    const name = one => one.data('label').split('\\n')[0];
    return ({_CORE})(node).edges().filter(one => name(one.source()) === from && name(one.target()) === to)[0].id();
}}"""


_IS_SEEN = f"""([node, id]) => {{
    const [x, y] = ({_PLACE})(node, id);
    const box = node.getBoundingClientRect();
    return x > box.left && x < box.right && y > box.top && y < box.bottom;
}}"""
_IS_LAID_OUT = f"""node => {{
    const isSeen = {_IS_SEEN};
    return ({_CORE})(node).nodes(':visible').some(each => isSeen([node, each.id()]));
}}"""


class GraphUnderCell:
    """The last graph of a notebook."""

    def __init__(self, page: LabPage) -> None:
        self._page = page
        self._box = page.notebook.locator(".acai-graph-box").last
        self._box.locator("canvas").first.wait_for()
        self._box.scroll_into_view_if_needed()
        # Nodes come before the place from where they are looked at, and till then stand elsewhere.
        page.page.wait_for_function(_IS_LAID_OUT, arg=self._box.element_handle())

    @property
    def about(self) -> Locator:
        """What stands beside the graph."""
        return self._page.notebook.locator(".acai-graph-side")

    @property
    def canvas(self) -> Locator:
        """What it is drawn on. Its colours are those of light themes, which dark ones turn around."""
        return self._box.locator("canvas").first

    def labels(self) -> set[str]:
        """What is drawn, without the handles."""
        return {one for one in self._box.evaluate(_WORDS) if one and not one.startswith("+")}

    def count(self) -> int:
        """How many nodes and handles the canvas has, those that are hidden too."""
        found: int = self._box.evaluate(f"node => ({_CORE})(node).nodes().length")
        return found

    def wait_for(self, *labels: str) -> None:
        """Return when nodes are drawn."""
        words = f"([node, labels]) => labels.every(label => ({_WORDS})(node).includes(label))"
        self._page.page.wait_for_function(words, arg=[self._box.element_handle(), labels])

    def wait_without(self, label: str) -> None:
        """Return when a node is not drawn any more."""
        words = f"([node, label]) => !({_WORDS})(node).includes(label)"
        self._page.page.wait_for_function(words, arg=[self._box.element_handle(), label])

    def click(self, name: str) -> None:
        """Click a node, or a line by its id."""
        self._page.page.mouse.click(*self._box.evaluate(_PLACE, name))

    def double_click(self, name: str) -> None:
        self._page.page.mouse.dblclick(*self._box.evaluate(_PLACE, name))

    def hover(self, name: str) -> Locator:
        """Point at a node; returns the card that appears."""
        self._page.page.mouse.move(*self._box.evaluate(_PLACE, name))
        return self._box.locator(".acai-card")

    def click_more(self, thing: str) -> None:
        """Click the + before a file set."""
        self.click(f"open:back:{thing}")

    def click_line(self, source: str, target: str) -> None:
        self.click(self._box.evaluate(_LINE, [source, target]))

    def find(self, name: str) -> None:
        """Type a name into the search field."""
        field = self._page.notebook.get_by_placeholder("Find by name").last
        field.fill(name)
        field.press("Enter")

    def bring_into_sight(self, name: str, handle: str) -> None:
        """Find a node, and return when one of its handles can be clicked."""
        self.find(name)
        self._page.page.wait_for_function(_IS_SEEN, arg=[self._box.element_handle(), handle])

    def press(self, button: str) -> None:
        self._page.notebook.get_by_role("button", name=button, exact=True).click()

    def barriers(self) -> list[str]:
        """What axe finds serious or critical in the whole of it."""
        return self._page.barriers(self._box.locator("xpath=../.."))
