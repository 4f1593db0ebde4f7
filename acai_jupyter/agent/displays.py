"""What a cell shows, as MIME bundles: by the real IPython's formatters where there is one, else by the same methods."""

import base64
import json
import os
import sys
from contextlib import suppress
from typing import Any, Dict, List, Optional, Tuple

MAX_BYTES = 32 * 1024 * 1024 - 1024
"""Of all of them together; with what stands around them it stays below what is kept."""
BELL = ".bell"
"""The agent hears of what is new by a named pipe beside the file."""
TOO_MUCH = "[not kept: all that a cell displays may have 32 MB together]"
_METHODS = (
    ("text/html", "_repr_html_"),
    ("text/markdown", "_repr_markdown_"),
    ("text/latex", "_repr_latex_"),
    ("image/svg+xml", "_repr_svg_"),
    ("image/png", "_repr_png_"),
    ("image/jpeg", "_repr_jpeg_"),
    ("application/json", "_repr_json_"),
    ("application/javascript", "_repr_javascript_"),
)
_PLAIN = (bool, int, float, complex, str, bytes, type(None))
"""Their text is all that there is to show, and not worth loading IPython for."""

Bundle = Tuple[Dict[str, Any], Dict[str, Any]]


class Displays:
    """Writes each display as a line of JSON at once, so that a program that is ended has kept what it showed."""

    def __init__(self, path: str) -> None:
        self._path = path
        self._bell = _bell(path)
        self._lines: List[bytes] = []
        self._ids: Dict[str, int] = {}
        self._size_bytes = 0
        self._clear_next = False
        self._formatter: Any = None

    def show(self, value: Any, display_id: Optional[str] = None, *, update: bool = False, **options: Any) -> None:
        """Show a value; `raw` options say that it is a bundle already."""
        found: Bundle = (value, {}) if options.get("raw") else self.bundle(value, **_chosen(options))
        data, metadata = found
        if data:
            self.publish(data, {**metadata, **(options.get("metadata") or {})}, display_id, update=update)

    def publish(
        self, data: Dict[str, Any], metadata: Dict[str, Any], display_id: Optional[str] = None, *, update: bool = False
    ) -> None:
        """Keep a bundle; with `update` in place of one that was shown before."""
        line = _line(data, metadata)
        place = self._ids.get(display_id) if update and display_id else None
        if update and place is None:
            return
        if self._clear_next:
            self.clear()
            place = None
        before = 0 if place is None else len(self._lines[place])
        if self._size_bytes - before + len(line) > MAX_BYTES:
            line = _line({"text/plain": TOO_MUCH}, {})
            if place is None and self._lines and self._lines[-1] == line:
                return
        self._size_bytes += len(line) - before
        if place is not None:
            self._lines[place] = line
            self._write_all()
            return
        if display_id:
            self._ids[display_id] = len(self._lines)
        self._lines.append(line)
        with open(self._path, "ab") as file:
            file.write(line)
        self._ring()

    def clear(self, *, wait: bool = False) -> None:
        """Drop what was shown, at once or when something new is."""
        self._clear_next = wait
        if not wait:
            self._lines, self._ids, self._size_bytes = [], {}, 0
            self._write_all()

    def bundle(self, value: Any, include: Any = None, exclude: Any = None) -> Bundle:
        """Return the forms of a value; nothing when it has shown itself."""
        if type(value) in _PLAIN:
            return {"text/plain": repr(value)}, {}
        formatter = self._ipython()
        found: Bundle = (formatter or _Plain).format(value, include=include, exclude=exclude)
        data, metadata = found
        if is_figure(value):
            data = {**data, "image/png": png(value)}
        return {mime: _text(body) for mime, body in data.items()}, metadata

    def _ipython(self) -> Any:
        """IPython's formatters; None where there is no IPython."""
        if self._formatter is None:
            try:
                from IPython.core.formatters import DisplayFormatter

                self._formatter = DisplayFormatter()
            except ImportError:
                self._formatter = False
        return self._formatter or None

    def _write_all(self) -> None:
        part = self._path + ".part"
        with open(part, "wb") as file:
            file.writelines(self._lines)
        os.replace(part, self._path)
        self._ring()

    def _ring(self) -> None:
        """Say that there is something new. A bell that is full was not heard yet, and will be."""
        if self._bell is not None:
            with suppress(OSError):
                os.write(self._bell, b".")


def _bell(path: str) -> Optional[int]:
    """Where to say that there is something new; None where nobody listens."""
    with suppress(OSError):
        return os.open(path + BELL, os.O_WRONLY | os.O_NONBLOCK)
    return None


def is_figure(value: Any) -> bool:
    """Whether it is a figure of matplotlib, which is not loaded to find out."""
    figures = sys.modules.get("matplotlib.figure")
    return figures is not None and isinstance(value, figures.Figure)


def png(figure: Any) -> bytes:
    """Draw a figure as a notebook does."""
    import io

    out = io.BytesIO()
    figure.savefig(out, format="png", bbox_inches="tight")
    return out.getvalue()


class _Plain:
    """What IPython's formatters do, in short."""

    @staticmethod
    def format(value: Any, include: Any = None, exclude: Any = None) -> Bundle:
        """Return the forms of a value; nothing when it has shown itself."""
        if isinstance(value, type):
            return {"text/plain": repr(value)}, {}
        own = getattr(value, "_ipython_display_", None)
        if callable(own):
            own()
            return {}, {}
        data: Dict[str, Any] = {"text/plain": _repr(value)}
        metadata: Dict[str, Any] = {}
        for mime, name in _METHODS:
            _add(data, metadata, mime, _called(value, name))
        whole = _called(value, "_repr_mimebundle_", include=include, exclude=exclude)
        if isinstance(whole, tuple):
            whole, described = whole
            metadata.update(described)
        data.update(whole or {})
        wanted = [mime for mime in data if (not include or mime in include) and mime not in (exclude or ())]
        return {mime: data[mime] for mime in wanted}, metadata


def _chosen(options: Dict[str, Any]) -> Dict[str, Any]:
    return {name: options.get(name) for name in ("include", "exclude")}


def _add(data: Dict[str, Any], metadata: Dict[str, Any], mime: str, body: Any) -> None:
    if isinstance(body, tuple):
        body, metadata[mime] = body
    if body is not None:
        data[mime] = body


def _called(value: Any, name: str, **options: Any) -> Any:
    """What a method of a value returns; one that fails is left out, and the others are shown."""
    method = getattr(value, name, None)
    with suppress(Exception):
        return method(**options) if callable(method) else None
    return None


def _repr(value: Any) -> str:
    try:
        return repr(value)
    except Exception as error:  # noqa: BLE001 (whatever a class does in it)
        return "<%s, which cannot be written: %s>" % (type(value).__name__, type(error).__name__)


def _text(body: Any) -> Any:
    return base64.b64encode(body).decode() if isinstance(body, bytes) else body


def _line(data: Dict[str, Any], metadata: Dict[str, Any]) -> bytes:
    kept = {"data": {mime: _text(body) for mime, body in data.items()}, "metadata": metadata}
    return json.dumps(kept, default=str).encode("utf-8", "replace") + b"\n"
