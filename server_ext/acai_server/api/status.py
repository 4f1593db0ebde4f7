"""What the server is, and its own description."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from acai_jupyter.contract import endpoints
from acai_jupyter.contract.projects import Status
from acai_server import __version__
from acai_server.api.openapi import document

if TYPE_CHECKING:
    from acai_server.api.call import Call, Operations


def get_status(call: Call) -> Status:
    """Say what one is connected to."""
    services = call.services
    return Status(
        version=__version__,
        mode="serving",
        project=call.member.project,
        user=call.member.user,
        data_folder=services.data_folder,
        backends=services.backends,
        machine=services.engine.machine(),
        started_at=services.started_at,
        notices=services.notices,
    )


def get_openapi(call: Call) -> dict[str, Any]:
    """Describe the API."""
    del call
    return document()


OPERATIONS: Operations = {endpoints.GET_STATUS: get_status, endpoints.GET_OPENAPI: get_openapi}
