"""`provenance`: what came from what."""

from __future__ import annotations

from typing import TYPE_CHECKING

from acai_jupyter.client import lineages
from acai_jupyter.commands.results import Result
from acai_jupyter.commands.trees import Branch, action_line, graph_lines, set_line
from acai_jupyter.commands.units import files_of
from acai_jupyter.contract import endpoints
from acai_jupyter.contract.errors import BadRequest
from acai_jupyter.contract.foreign import one_line
from acai_jupyter.contract.lineage import ExportFormat, LineageDirection
from acai_jupyter.contract.specs import encode_path

if TYPE_CHECKING:
    from argparse import Namespace

    from acai_jupyter.client.http import Client
    from acai_jupyter.contract.lineage import Affected, Component, FileOrigin, Paths, ProjectGraph

MOST_STEPS = 100
"""Of a neighbourhood; farther goes a lineage in another format than text."""


def provenance(client: Client, arguments: Namespace) -> Result:
    """Answer one of the questions to the graph."""
    spec = arguments.spec
    if spec is None:
        return _project(client, arguments)
    if _is_file(spec):
        return _file(client, arguments)
    if arguments.to is not None:
        return _paths(client, arguments)
    if arguments.affected:
        return _affected(client, arguments)
    if arguments.format != "text":
        return _written(client, arguments)
    back, forward = steps(arguments)
    graph = lineages.neighbourhood(client, spec, back=back, forward=forward)
    return Result("\n".join(graph_lines(graph)), graph, "provenance")


def is_neighbourhood(arguments: Namespace) -> bool:
    """Whether it is asked what is around a set or a job."""
    of_one = arguments.spec is not None and not _is_file(arguments.spec)
    return of_one and arguments.to is None and not arguments.affected and arguments.format == "text"


def steps(arguments: Namespace) -> tuple[int, int]:
    """So many steps back and forward: one each way, unless said otherwise."""
    far = min(arguments.depth or 1, MOST_STEPS)
    both = arguments.back == arguments.forward
    return (far if both or arguments.back else 0, far if both or arguments.forward else 0)


def _is_file(spec: str) -> bool:
    return spec.startswith("/") and not spec.startswith("/@")


def _project(client: Client, arguments: Namespace) -> Result:
    if arguments.to is not None or arguments.affected or arguments.format != "text":
        option = f"--format {arguments.format}" if arguments.format != "text" else "--affected"
        option = option if arguments.to is None else f"--to {arguments.to}"
        raise BadRequest(f"Of what? Name a file set, as in: acai provenance model:2 {option}")
    page = client.call(endpoints.GET_PROJECT_GRAPH)
    return Result("\n".join(_project_lines(page)), page, "project-graph")


def _project_lines(page: ProjectGraph) -> list[str]:
    if not page.components:
        return ["No file set yet. Make one: acai put ./data /data --as data"]
    lines = [line for component in page.components for line in _component_lines(component)]
    return [*lines, "… and older ones"] if page.next is not None else lines


def _component_lines(component: Component) -> list[str]:
    """Each name with the names it was made of."""
    made_of: dict[str, list[str]] = {}
    for link in component.links:
        made_of.setdefault(link.target, []).append(link.source)
    lines = []
    for node in component.nodes:
        sources = made_of.get(node.file_set.name, [])
        lines.append(set_line(node.file_set) + (f" · from {', '.join(sources)}" if sources else ""))
    more = component.name_count - len(component.nodes)
    return [*lines, f"… {more:,} more"] if more else lines


def _file(client: Client, arguments: Namespace) -> Result:
    if arguments.to is not None or arguments.affected or arguments.format != "text":
        raise BadRequest(f"'{arguments.spec}' is a file. Paths, effects and formats are of file sets.")
    found = client.call(endpoints.GET_FILE_ORIGIN, query={"spec": arguments.spec})
    return Result("\n".join(_origin_lines(found)), found, "file-origin")


def _origin_lines(found: FileOrigin) -> list[str]:
    through = [f"in {ref}" for ref in found.through]
    if found.action is None:
        last = Branch(f"uploaded by {one_line(found.creator)} · {found.created_at.astimezone():%Y-%m-%d %H:%M}")
    else:
        inputs = [Branch(f"{one.role.value} {one.file_set}") for one in found.action.inputs]
        last = Branch(action_line(found.action), inputs)
    for text in reversed(through):
        last = Branch(text, [last])
    return list(Branch(f"{one_line(encode_path(found.path))}:{found.version}", [last]).lines())


def _paths(client: Client, arguments: Namespace) -> Result:
    query = {"to": lineages.set_of(client, arguments.to)}
    found = client.call(endpoints.GET_PATHS, query=query, ref=lineages.set_of(client, arguments.spec))
    return Result("\n".join(_path_lines(found)), found, "paths", failed=not found.paths)


def _path_lines(found: Paths) -> list[str]:
    if not found.paths:
        return [f"No way leads from {found.source} to {found.target}."]
    made_by = {ref: action for action in found.actions for ref in action.outputs}
    lines = []
    for way in found.paths:
        words = [way[0]]
        for ref in way[1:]:
            action = made_by.get(ref)
            words += [f"job {action.job.number}" if action and action.job else "creation", ref]
        lines.append(" → ".join(words))
    more = found.count - len(found.paths)
    return [*lines, f"… {more:,} more"] if more > 0 else lines


def _affected(client: Client, arguments: Namespace) -> Result:
    query = {} if arguments.depth is None else {"depth": arguments.depth}
    found = client.call(endpoints.GET_AFFECTED, query=query, ref=lineages.set_of(client, arguments.spec))
    return Result("\n".join(_affected_lines(found)), found, "affected")


def _affected_lines(found: Affected) -> list[str]:
    if not found.set_count and not found.job_count:
        return [f"Nothing was made of {found.focus}."]
    least = "at least " if found.is_cut else ""
    lines = [f"{found.focus} went into {least}{_many(found.set_count, 'set')} and {_many(found.job_count, 'job')}"]
    newest = set(found.newest)
    lines += [f"{one.ref} · {files_of(one.file_count)}{' · newest' if one.ref in newest else ''}" for one in found.sets]
    lines += [f"job {one.number} · {one.state.value}" for one in found.jobs]
    return lines


def _many(number: int, what: str) -> str:
    return f"{number:,} {what}{'' if number == 1 else 's'}"


def _written(client: Client, arguments: Namespace) -> Result:
    if arguments.back and arguments.forward:
        raise BadRequest("A lineage is written in one direction: --back or --forward.")
    direction = LineageDirection.FORWARD if arguments.forward else LineageDirection.BACK
    text = lineages.export(client, arguments.spec, ExportFormat(arguments.format), direction, arguments.depth)
    return Result(text.rstrip("\n"), {"format": arguments.format, "text": text}, "lineage")
