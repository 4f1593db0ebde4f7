"""`status`: what one is connected to."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from acai_jupyter.commands.results import Result
from acai_jupyter.commands.units import size

if TYPE_CHECKING:
    from argparse import Namespace

    from acai_jupyter.client.http import Client
    from acai_jupyter.contract.projects import Status

_PLACES = {"process": "on this machine"}


def status(client: Client, arguments: Namespace) -> Result:
    """Say version, project, user, data folder and where jobs run."""
    del arguments
    found = client.status
    return Result("\n".join([_line(found), *found.notices]), found, "status")


def _line(found: Status) -> str:
    machine = f"{found.machine.cpus:g} CPU, {size(found.machine.memory_bytes)}"
    parts = [
        f"ACAI {found.version}",
        f"project {found.project}",
        f"user {found.user.name} ({found.user.role.value})",
        f"data in {_short(found.data_folder)}" if found.data_folder else f"data in {found.backends.object_store}",
        f"jobs run {_PLACES.get(found.backends.runner, f'on {found.backends.runner}')} ({machine})",
    ]
    return " · ".join(parts)


def _short(folder: str) -> str:
    home = str(Path.home())
    return f"~{folder.removeprefix(home)}" if folder.startswith(f"{home}/") else folder
