"""The verbs as Python calls: those that ask the graph of what came from what."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from acai_jupyter.client.http import Client
from acai_jupyter.client.lineages import name_of
from acai_jupyter.commands import graphs, python_help
from acai_jupyter.commands import provenance as questions
from acai_jupyter.commands.provenance_options import asked
from acai_jupyter.contract import endpoints

if TYPE_CHECKING:
    from acai_jupyter.commands.job_objects import Job
    from acai_jupyter.commands.objects import FileSet
    from acai_jupyter.contract.lineage import FileOrigin, WhyDifferent


def provenance(  # noqa: PLR0913 (they are the options of its verb)
    spec: str | int | FileSet | Job | None = None,
    *,
    back: bool = False,
    forward: bool = False,
    depth: int | None = None,
    to: str | FileSet | None = None,
    affected: bool = False,
    format: str = "text",  # noqa: A002 (as its option is called)
    project: str | None = None,
) -> Any:
    """Return what is around a file set or a job: a `Graph`, which goes further when asked.

    With `to` the ways between two sets (`Paths`), with `affected` what was made of it (`Affected`), of a file which job
    or upload wrote it (`FileOrigin`), without a spec the project by names (`ProjectGraph`), in a `format` its text.
    """
    client = Client(project=project)
    thing = None if spec is None else _name(spec)
    arguments = asked(
        thing,
        back=back,
        forward=forward,
        depth=depth,
        to=None if to is None else _name(to),
        affected=affected,
        format=format,
    )
    if not questions.is_neighbourhood(arguments):
        value = questions.provenance(client, arguments).value
        return value["text"] if format != "text" else value
    steps = questions.steps(arguments)
    return graphs.around(client, thing or "", back=steps[0], forward=steps[1])


def file_origin(spec: str, *, project: str | None = None) -> FileOrigin:
    """Return which job or upload wrote a file version, and through which sets it came."""
    return Client(project=project).call(endpoints.GET_FILE_ORIGIN, query={"spec": spec})


def why_different(
    before: str | int | FileSet | Job, after: str | int | FileSet | Job, *, depth: int = 20, project: str | None = None
) -> WhyDifferent:
    """Return in what the lineages of two sets or jobs differ, the nearest cause first."""
    query = {"before": name_of(_name(before)), "after": name_of(_name(after)), "depth": depth}
    return Client(project=project).call(endpoints.EXPLAIN_DIFFERENCE, query=query)


def _name(thing: str | int | FileSet | Job) -> str:
    return str(getattr(thing, "ref", None) or getattr(thing, "number", thing))


python_help.documented(globals())
