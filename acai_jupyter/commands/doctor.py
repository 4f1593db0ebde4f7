"""`doctor`: what works, what does not, and what to do about it."""

from __future__ import annotations

from typing import TYPE_CHECKING

from acai_jupyter.client.checkups import look
from acai_jupyter.commands.results import Result
from acai_jupyter.commands.units import columns
from acai_jupyter.contract.checkups import Finding

if TYPE_CHECKING:
    from argparse import Namespace

    from acai_jupyter.client.http import Client
    from acai_jupyter.contract.checkups import Checkup


def doctor(client: Client | None, arguments: Namespace) -> Result:
    """Look at this environment, the connection and the server; failed when something of them does not work."""
    found = look(client, arguments.project)
    failed = sum(check.finding is Finding.FAILED for check in found.checks)
    return Result(_text(found, failed), found, "checkup", failed=failed > 0)


def _text(found: Checkup, failed: int) -> str:
    rows = [[check.finding.value, check.name, check.said] for check in found.checks]
    warnings = sum(check.finding is Finding.WARNING for check in found.checks)
    told = [f"{failed} failed" if failed else "", f"{warnings} to look at" if warnings else ""]
    end = " · ".join(filter(None, told)) or "all is well"
    return f"{columns(rows, '<<<')}\n{end}"
