"""Drawings of the provenance graph over HTTP."""

from __future__ import annotations

from typing import TYPE_CHECKING

from acai_jupyter.contract import endpoints
from acai_jupyter.contract.drawings import DrawGraph

if TYPE_CHECKING:
    from acai_jupyter.contract.drawings import Drawing
    from acai_server.api.call import Call, Operations


def draw_graph(call: Call) -> Drawing:
    """Draw what is around a file set or a job."""
    return call.services.drawings.draw(call.project, call.sent(DrawGraph))


OPERATIONS: Operations = {endpoints.DRAW_GRAPH: draw_graph}
