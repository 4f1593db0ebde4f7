"""`status`: what one is connected to."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from acai_jupyter.commands import budgets, markup
from acai_jupyter.commands.results import Result
from acai_jupyter.commands.units import size

if TYPE_CHECKING:
    from argparse import Namespace

    from acai_jupyter.client.http import Client
    from acai_jupyter.contract.projects import Status

_PLACES = {"process": "on this machine", "kubernetes": "on the cluster"}


def status(client: Client, arguments: Namespace) -> Result:
    """Say version, project, user, data folder and where jobs run."""
    del arguments
    found = client.status
    parts, below = _parts(found), [*found.notices, *budgets.lines(found.left)]

    def html() -> str:
        return markup.block("status", markup.title(" · ".join(parts)), *map(markup.below, below))

    return Result("\n".join([" · ".join(parts), *below]), found, "status", html=html)


def _parts(found: Status) -> list[str]:
    machine = f"{found.machine.cpus:g} CPU, {size(found.machine.memory_bytes)}"
    return [
        f"ACAI {found.version}",
        f"project {found.project}",
        f"user {found.user.name} ({found.user.role.value})",
        f"data in {_short(found.data_folder)}" if found.data_folder else f"data in {found.backends.object_store}",
        f"jobs run {_PLACES.get(found.backends.runner, f'on {found.backends.runner}')} ({machine})",
    ]


def _short(folder: str) -> str:
    home = str(Path.home())
    return f"~{folder.removeprefix(home)}" if folder.startswith(f"{home}/") else folder
