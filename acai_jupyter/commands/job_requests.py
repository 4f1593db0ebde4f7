"""What is asked of the server for a job, from the options of a line: checked here as far as it can be said better."""

from __future__ import annotations

import math
from argparse import ArgumentTypeError
from pathlib import Path
from typing import TYPE_CHECKING, Any

import msgspec

from acai_jupyter.client.filesets import spec_of
from acai_jupyter.commands.job_checks import called, check, once
from acai_jupyter.commands.job_options import variable
from acai_jupyter.commands.metadata import thing_change
from acai_jupyter.commands.missing import no_path
from acai_jupyter.commands.units import size
from acai_jupyter.commands.variables import names
from acai_jupyter.contract.errors import BadRequest, NotFound
from acai_jupyter.contract.foreign import one_line
from acai_jupyter.contract.jobs import MIB, CreateJob, Resources
from acai_jupyter.contract.metadata import ThingChange

if TYPE_CHECKING:
    from argparse import Namespace

    from acai_jupyter.commands.programs import Program
    from acai_jupyter.contract.jobs import ResourceLimits

PLACEHOLDER = "-"
MEMORY_BYTES = 1024 * MIB
"""What a job has of which nobody knows what it needs."""


def wanted(arguments: Namespace, limits: ResourceLimits) -> CreateJob:
    """Return all that is asked for but the program, so that nothing is sent before it is known to be right."""
    change = arguments.tag if isinstance(arguments.tag, ThingChange) else thing_change("", arguments.tag)
    if change.delete or change.remove_labels:
        raise BadRequest("--tag sets: KEY=VALUE or +LABEL; a new job has nothing to take away.")
    fields: dict[str, Any] = {
        "command": PLACEHOLDER,
        "name": arguments.name,
        "description": arguments.description,
        "inputs": [spec_of(spec) for spec in arguments.input],
        "output": arguments.output,
        "output_folder": arguments.output_folder,
        "output_root": arguments.output_root,
        "parameters": once(arguments, "parameters", arguments.p),
        "attributes": change.set,
        "tags": change.add_labels,
        "environment": _environment(arguments),
        "secrets": once(arguments, "secrets", arguments.secret),
        "resources": _resources(arguments, limits),
        "memory_as_used": arguments.memory is None,
        "image": arguments.image,
        "nodes": arguments.nodes,
        "time_limit_seconds": arguments.time_limit,
        "retries": arguments.retries,
        "retry_failed": arguments.retry_failed,
        "priority": arguments.priority,
        "keep_partial": arguments.keep_partial,
        "cached": arguments.cached,
        "template": arguments.profile or "",
        "receive": names(getattr(arguments, "receive", [])),
    }
    check(arguments, fields)
    return CreateJob(**fields)


def with_program(request: CreateJob, program: Program) -> CreateJob:
    """Return the whole of it."""
    code = program.code
    return msgspec.structs.replace(
        request,
        command=program.command,
        as_cell=program.as_cell,
        code=None if code is None else code.file_set,
        code_root="/" if code is None else code.root,
        variables=None if program.variables is None else program.variables.file_set,
        variables_root="/" if program.variables is None else program.variables.root,
        environment={**program.environment, **request.environment},
        lock=program.lock,
        keep_partial=request.keep_partial or program.keep_partial,
        template=request.template or program.template,
        captured=program.captured,
    )


def _environment(arguments: Namespace) -> dict[str, str]:
    """Variables of files, and over them those of the line."""
    found: dict[str, str] = {}
    for file in arguments.env_file:
        found |= _read_variables(file)
    return found | once(arguments, "environment", arguments.env_var)


def _read_variables(file: str) -> dict[str, str]:
    try:
        lines = Path(file).read_text(encoding="utf-8-sig").splitlines()
    except (FileNotFoundError, NotADirectoryError) as error:
        raise NotFound(no_path("file", file)) from error
    except (OSError, ValueError) as error:
        raise BadRequest(f"{one_line(file)} cannot be read as a text.") from error
    found: dict[str, str] = {}
    for number, line in enumerate(lines, start=1):
        written = line.strip().removeprefix("export ").lstrip()
        if written and not written.startswith("#"):
            try:
                name, value = variable(written)
            except ArgumentTypeError as error:
                raise BadRequest(f"{one_line(file)}, line {number}, is not NAME=VALUE.") from error
            found[name] = _unquoted(value)
    return found


def _unquoted(value: str) -> str:
    is_quoted = len(value) > 1 and value[0] == value[-1] and value[0] in "'\""
    return value[1:-1] if is_quoted else value


def _resources(arguments: Namespace, limits: ResourceLimits) -> Resources:
    low, high, step = limits.min_vcpu, limits.max_vcpu, limits.vcpu_step
    if not low <= arguments.cpu <= high or not math.isclose(round(arguments.cpu / step) * step, arguments.cpu):
        had = f"{low:g} to {high:g} vCPU, in steps of {step:g}"
        raise BadRequest(f"{called(arguments, 'cpu')} {arguments.cpu:g} cannot be had: a job has {had}.")
    if arguments.gpu > limits.max_gpus:
        raise BadRequest(
            f"{called(arguments, 'gpu')} {arguments.gpu} cannot be had: a job has at most {limits.max_gpus}."
        )
    option, other = called(arguments, "memory"), called(arguments, "max_memory")
    memory = _memory(option, MEMORY_BYTES if arguments.memory is None else arguments.memory, limits)
    most = None if arguments.max_memory is None else _memory(other, arguments.max_memory, limits)
    if most is not None and most < memory:
        raise BadRequest(f"{other} {size(most)} is less than {option} {size(memory)}, which it has from the start.")
    return Resources(arguments.cpu, memory, arguments.gpu, most, arguments.gpu_type)


def _memory(option: str, given: int, limits: ResourceLimits) -> int:
    """Return the next size that can be had."""
    step = limits.memory_step_bytes
    rounded = -(-given // step) * step
    if not limits.min_memory_bytes <= rounded <= limits.max_memory_bytes:
        had = f"{size(limits.min_memory_bytes)} to {size(limits.max_memory_bytes)} of memory"
        hint = "; a number without a unit is bytes, write it like 512Mi or 4Gi" if given < MIB else ""
        raise BadRequest(f"{option} {size(given)} cannot be had: a job has {had}{hint}.")
    return rounded
