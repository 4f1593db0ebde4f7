"""What makes jobs comparable, where nobody has said it: the program, and the names of the parameters."""

from __future__ import annotations

import re
import shlex
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from acai_jupyter.contract.jobs import CreateJob

MAX_TEMPLATE = 300
_SCRIPT = re.compile(r"\.(?:py|ipynb|sh|r|jl|js|pl|rb)\Z", re.IGNORECASE)


def template_of(request: CreateJob) -> str:
    """Return what makes jobs comparable: as it was given, else the script and the names of the parameters."""
    if request.template:
        return request.template
    if isinstance(request.command, str):
        try:
            words = shlex.split(request.command, comments=True)
        except ValueError:
            words = request.command.split()
    else:
        words = request.command
    program = next((word for word in words if _SCRIPT.search(word)), words[0] if words else "")
    return f"{program} ({', '.join(sorted(request.parameters))})"[:MAX_TEMPLATE]
