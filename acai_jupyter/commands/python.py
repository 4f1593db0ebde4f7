"""The verbs as Python calls: typed, and printing nothing."""

from __future__ import annotations

from argparse import Namespace
from os import PathLike, fspath
from typing import TYPE_CHECKING

from acai_jupyter.client.http import Client
from acai_jupyter.commands import jobs
from acai_jupyter.commands import provenance as origins
from acai_jupyter.commands import put as uploads
from acai_jupyter.commands.units import parse_size
from acai_jupyter.contract import endpoints

if TYPE_CHECKING:
    from collections.abc import Sequence

    from acai_jupyter.contract.filesets import FileSet
    from acai_jupyter.contract.jobs import Job
    from acai_jupyter.contract.projects import Status
    from acai_jupyter.contract.provenance import Graph
    from acai_jupyter.contract.uploads import UploadResult


def status() -> Status:
    """Return what this is connected to."""
    return Client().status


def put(*sources: str | PathLike[str], dest: str, file_set: str | None = None) -> UploadResult:
    """Upload files and folders; with a name, make a file set of them."""
    arguments = Namespace(sources=[fspath(source) for source in sources], dest=dest, file_set=file_set)
    result: UploadResult = uploads.put(Client(), arguments).value
    return result


def submit(  # noqa: PLR0913 (the options of the verb)
    script: str | PathLike[str],
    *,
    input: str | Sequence[str] = (),  # noqa: A002 (the same name as on the command line)
    output: str | None = None,
    cpu: float = 1.0,
    memory: str = "1Gi",
    args: Sequence[object] = (),
    name: str = "",
    parameters: dict[str, str | int | float] | None = None,
) -> Job:
    """Submit a script as a job, and return at once."""
    arguments = Namespace(
        script=fspath(script),
        args=[str(argument) for argument in args],
        input=[input] if isinstance(input, str) else list(input),
        output=output,
        cpu=cpu,
        memory=parse_size(memory),
        name=name,
        p=list((parameters or {}).items()),
    )
    result: Job = jobs.submit(Client(), arguments).value
    return result


def job(number: int) -> Job:
    """Return a job as it is now."""
    return Client().call(endpoints.GET_JOB, job=number)


def fileset(ref: str) -> FileSet:
    """Return one version of a file set."""
    return Client().call(endpoints.GET_FILE_SET, ref=ref)


def provenance(ref: str) -> Graph:
    """Return one step back from a file set."""
    result: Graph = origins.provenance(Client(), Namespace(spec=ref)).value
    return result
