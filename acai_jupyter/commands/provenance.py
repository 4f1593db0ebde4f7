"""`provenance`: what came from what."""

from __future__ import annotations

from typing import TYPE_CHECKING

from acai_jupyter.commands.results import Result
from acai_jupyter.commands.units import size
from acai_jupyter.contract import endpoints
from acai_jupyter.contract.states import ActionKind, InputRole

if TYPE_CHECKING:
    from argparse import Namespace

    from acai_jupyter.client.http import Client
    from acai_jupyter.contract.filesets import FileSet
    from acai_jupyter.contract.provenance import Action, Graph


def provenance(client: Client, arguments: Namespace) -> Result:
    """Go one step back from a file set."""
    graph = client.call(endpoints.GET_ORIGIN, ref=arguments.spec.removeprefix("@").removeprefix("/@"))
    return Result("\n".join(_lines(graph)), graph, "provenance")


def _lines(graph: Graph) -> list[str]:
    sets = {node.ref: node for node in graph.nodes}
    lines = [_set(sets[graph.focus])]
    for action in graph.actions:
        lines.append(f"└─ {_action(action)}")
        inputs = [item for item in action.inputs if item.role is InputRole.DATA]
        lines += [f"   └─ {_set(sets[item.file_set])}" for item in inputs]
        lines += [f"   └─ {item.role.value} {item.file_set}" for item in action.inputs if item not in inputs]
    return lines


def _set(node: FileSet) -> str:
    return f"{node.ref} · {node.file_count:,} file{'s' if node.file_count != 1 else ''}, {size(node.size_bytes)}"


def _action(action: Action) -> str:
    what = f"job {action.job}" if action.kind is ActionKind.JOB else action.kind.value
    return f"{what} · {action.creator} · {action.created_at:%Y-%m-%d %H:%M}"
