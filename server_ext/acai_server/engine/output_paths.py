"""Where the outputs of a job are recorded in its project, and which of them cannot be."""

from __future__ import annotations

from typing import TYPE_CHECKING

from acai_jupyter.contract.errors import BadPath, JobRefused
from acai_jupyter.contract.specs import MAX_PATH_BYTES, normal_path
from acai_server.engine.claims import Nesting

if TYPE_CHECKING:
    from acai_jupyter.contract.launch import OutputFile
    from acai_server.db.jobs import StoredJob

MAX_NAMED = 20
"""This many outputs that cannot be recorded are named, each in a warning of its own."""
_SHOWN = 120


def output_name(job: StoredJob) -> str:
    """Return the name of the file set that a finished job makes."""
    return job.request.output or f"job-{job.number}-output"


def partial_name(job: StoredJob) -> str:
    """Return the name of the file set with what a job left that did not finish."""
    return f"job-{job.number}-partial"


def folder(job: StoredJob, name: str) -> str:
    """Return the folder of the project in which the files of an output set are; empty for the root."""
    if name == partial_name(job) and name != job.request.output:
        return f"/{name}"
    root = job.request.output_root
    return f"/{name}" if root is None else root.rstrip("/")


def max_bytes(job: StoredJob) -> int:
    """Return how long the path of an output below the output folder may be."""
    return max(1, MAX_PATH_BYTES - len(folder(job, output_name(job)).encode()) - 1)


def recordable(outputs: list[tuple[int, OutputFile]], below: str) -> tuple[list[tuple[int, OutputFile]], list[str]]:
    """Return the outputs that can be recorded below a folder, and warnings that name the others.

    An agent leaves out what it knows cannot be recorded. Here nothing is assumed of it, and several agents may have
    left a file and a folder of one name.
    """
    kept, warnings, omitted = [], [], 0
    nesting = Nesting("the output")
    for rank, output in sorted(outputs, key=lambda one: one[1].path):
        try:
            nesting.take(normal_path(f"{below}/{output.path}"))
        except (BadPath, JobRefused) as error:
            omitted += 1
            if omitted <= MAX_NAMED:
                warnings.append(f"output {_shortened(output.path)} was not kept: {error.details['reason']}")
        else:
            kept.append((rank, output))
    if omitted > MAX_NAMED:
        warnings.append(f"{omitted - MAX_NAMED} more outputs were not kept")
    return kept, warnings


def _shortened(path: str) -> str:
    half = _SHOWN // 2
    return ascii(path if len(path) <= _SHOWN else f"{path[:half]}...{path[-half:]}")
