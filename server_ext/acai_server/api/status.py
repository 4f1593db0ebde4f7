"""What the server is, and its own description."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import msgspec

from acai_jupyter.contract import endpoints
from acai_jupyter.contract.checkups import Check, Finding
from acai_jupyter.contract.endpoints import Access
from acai_jupyter.contract.errors import AcaiError
from acai_jupyter.contract.projects import Status
from acai_server import __version__
from acai_server.api.openapi import document
from acai_server.checkup.service import in_short
from acai_server.credentials.permissions import allowed

if TYPE_CHECKING:
    from acai_jupyter.contract.checkups import Checkup
    from acai_server.api.call import Call, Operations


def get_status(call: Call) -> Status:
    """Say what one is connected to."""
    services = call.services
    return Status(
        version=__version__,
        mode="serving",
        project=call.member.project,
        user=call.member.user,
        data_folder=services.data_folder if call.member.is_global_admin else None,
        backends=services.backends,
        machine=services.engine.machine(),
        limits=services.limits,
        store=services.lake.uploads.store(),
        started_at=services.started_at,
        notices=[*services.notices(), *(services.operator_notices if call.member.is_global_admin else [])],
        left=services.budgets.listed(call.member).left,
    )


def get_checkup(call: Call) -> Checkup:
    """Try all that the server stands on; what it is made of is told to who may watch it."""
    found = call.services.checkups.look()
    shown = found if Access.OBSERVE in allowed(call.member) else in_short(found)
    from acai_server.lake.integrity.damage import CONTENTS  # it loads SQLAlchemy, which JupyterLab starts without

    damages = call.services.lake.damages
    try:
        contents = damages.check(call.project, sees_all_projects=call.member.is_global_admin)
    except AcaiError as error:
        contents = Check(CONTENTS, Finding.FAILED, error.message)
    return msgspec.structs.replace(shown, checks=[*shown.checks, contents])


def get_openapi(call: Call) -> dict[str, Any]:
    """Describe the API."""
    del call
    return document()


OPERATIONS: Operations = {
    endpoints.GET_STATUS: get_status,
    endpoints.GET_PROJECT_STATUS: get_status,
    endpoints.GET_CHECKUP: get_checkup,
    endpoints.GET_OPENAPI: get_openapi,
}
