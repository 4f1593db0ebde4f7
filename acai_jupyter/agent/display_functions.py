"""`display` and what is imported beside it, for cells that run without a kernel: `IPython.display` in the small."""

import os
from typing import Any, Dict, Optional, Tuple, Type

from acai_jupyter.agent.displays import Displays


class DisplayHandle:
    """Something that was shown and can be replaced."""

    def __init__(self, functions: "Functions", display_id: str) -> None:
        self._functions = functions
        self.display_id = display_id

    def display(self, value: Any, **options: Any) -> None:
        """Show it again."""
        self._functions.display(value, display_id=self.display_id, **options)

    def update(self, value: Any, **options: Any) -> None:
        """Show something else in its place."""
        self._functions.update_display(value, display_id=self.display_id, **options)


class Functions:
    """The functions of `IPython.display` over one cell's displays."""

    def __init__(self, displays: Displays) -> None:
        self._displays = displays

    def display(
        self, *values: Any, display_id: Any = None, clear: bool = False, transient: Any = None, **options: Any
    ) -> Optional[DisplayHandle]:
        """Show values as a notebook does."""
        del transient
        if clear:
            self._displays.clear(wait=True)
        if display_id is True or (display_id is None and not values):
            display_id = os.urandom(8).hex()
        for value in values:
            self._displays.show(value, display_id, **options)
        return DisplayHandle(self, display_id) if display_id is not None else None

    def update_display(self, value: Any, *, display_id: str, transient: Any = None, **options: Any) -> None:
        """Show something in the place of what was shown under an id."""
        del transient
        self._displays.show(value, display_id, update=True, **options)

    def publish_display_data(
        self, data: Dict[str, Any], metadata: Optional[Dict[str, Any]] = None, *_: Any, **options: Any
    ) -> None:
        """Show a bundle that somebody made."""
        display_id = (options.get("transient") or {}).get("display_id")
        self._displays.publish(data, metadata or {}, display_id, update=bool(options.get("update")))

    def clear_output(self, wait: bool = False) -> None:  # noqa: FBT002 (IPython's)
        """Drop what was shown."""
        self._displays.clear(wait=wait)

    def named(self) -> Dict[str, Any]:
        """Return them by the names that they are imported by."""
        names = ("display", "update_display", "publish_display_data", "clear_output")
        return {name: getattr(self, name) for name in names}


class Shown:
    """Data of a kind that is shown as it is."""

    mime = "text/plain"

    def __init__(
        self, data: Any = None, url: Optional[str] = None, filename: Optional[str] = None, **options: Any
    ) -> None:
        del url
        if data is None and filename is not None:
            with open(filename, "rb") as file:
                data = file.read()
        self.data = data
        self.metadata = options.pop("metadata", None) or {}

    def __repr__(self) -> str:
        return "<IPython.core.display.%s object>" % type(self).__name__.lstrip("_")

    def _repr_mimebundle_(self, include: Any = None, exclude: Any = None) -> Tuple[Dict[str, Any], Dict[str, Any]]:
        del include, exclude
        text = self.data.decode("utf-8", "replace") if isinstance(self.data, bytes) else self.data
        return {self.mime: text}, self.metadata


class _Image(Shown):
    """A picture: what it is, is in its first bytes."""

    def _repr_mimebundle_(self, include: Any = None, exclude: Any = None) -> Tuple[Dict[str, Any], Dict[str, Any]]:
        del include, exclude
        is_jpeg = isinstance(self.data, bytes) and self.data.startswith(b"\xff\xd8")
        return {"image/jpeg" if is_jpeg else "image/png": self.data}, self.metadata


class _Math(Shown):
    mime = "text/latex"

    def __init__(self, data: str = "", **options: Any) -> None:
        super().__init__("$\\displaystyle %s$" % str(data).strip("$"), **options)


KINDS = {
    "HTML": "text/html",
    "Markdown": "text/markdown",
    "Latex": "text/latex",
    "SVG": "image/svg+xml",
    "JSON": "application/json",
    "Javascript": "application/javascript",
    "Pretty": "text/plain",
    "Code": "text/plain",
}


def classes() -> Dict[str, Type[Shown]]:
    """Return the classes of `IPython.display` that wrap data."""
    found: Dict[str, Type[Shown]] = {name: type(name, (Shown,), {"mime": mime}) for name, mime in KINDS.items()}
    return {**found, "DisplayObject": Shown, "Image": _Image, "Math": _Math}
