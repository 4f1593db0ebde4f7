"""The provenance graph over HTTP."""

from __future__ import annotations

from typing import TYPE_CHECKING

from acai_jupyter.contract import endpoints

if TYPE_CHECKING:
    from acai_jupyter.contract.provenance import Graph
    from acai_server.api.call import Call, Operations


def get_origin(call: Call) -> Graph:
    """Go one step back."""
    return call.services.provenance.origin(call.project, call.params["ref"])


OPERATIONS: Operations = {endpoints.GET_ORIGIN: get_origin}
