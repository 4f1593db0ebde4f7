"""Lineages written down for other programs."""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING

from acai_jupyter.contract.lineage import ExportFormat

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator

    from acai_server.provenance.exports.lineage import Lineage

CONTENT_TYPES = {
    ExportFormat.JSON: "application/json",
    ExportFormat.DOT: "text/vnd.graphviz; charset=utf-8",
    ExportFormat.GRAPHML: "application/graphml+xml; charset=utf-8",
    ExportFormat.PROV: "application/json",
    ExportFormat.OPENLINEAGE: "application/x-ndjson",
}
_HOMES = {
    ExportFormat.JSON: "plain",
    ExportFormat.DOT: "dot",
    ExportFormat.GRAPHML: "graphml",
    ExportFormat.PROV: "prov",
    ExportFormat.OPENLINEAGE: "openlineage",
}


PIECE = 256 * 1024


def joined(texts: Iterable[str]) -> Iterator[bytes]:
    """Put small pieces together."""
    held, size = list[str](), 0
    for text in texts:
        held.append(text)
        size += len(text)
        if size >= PIECE:
            yield "".join(held).encode()
            held, size = [], 0
    if held:
        yield "".join(held).encode()


def writer_of(wanted: ExportFormat) -> Callable[[Lineage], Iterator[str]]:
    """Return what writes a format, piece by piece."""
    write: Callable[[Lineage], Iterator[str]] = import_module(f"{__name__}.{_HOMES[wanted]}").write
    return write
