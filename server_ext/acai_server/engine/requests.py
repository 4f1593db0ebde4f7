"""What can be wrong with a request for a job, as far as it shows without looking at any data: a sentence each."""

from __future__ import annotations

import math
import re
from keyword import iskeyword
from typing import TYPE_CHECKING

from acai_jupyter.contract.errors import BadAttribute, BadPath, JobRefused
from acai_jupyter.contract.jobs import VARIABLES_FOLDER
from acai_jupyter.contract.query.builtin import is_reserved
from acai_jupyter.contract.specs import check_name, normal_path, parse_input, parse_set
from acai_server.db.attributes import can_be_kept
from acai_server.engine.ends import size

if TYPE_CHECKING:
    from collections.abc import Iterator

    from acai_jupyter.contract.jobs import CreateJob, ResourceLimits, Resources

_VARIABLE = re.compile(r"[A-Za-z_][A-Za-z0-9_]*\Z")
_KEY = re.compile(r"[A-Za-z_][A-Za-z0-9_.-]{0,127}\Z")
_GIVEN = frozenset({"ACAI_JOB", "ACAI_INPUT", "ACAI_OUTPUT", "ACAI_OUTPUT_FOLDER", "ACAI_WORK"})
MAX_SHOWN = 80
MAX_LABEL = 128


def check(request: CreateJob, *, has_code: bool = False) -> None:
    """Refuse what cannot be meant. `has_code` when its code is still with who submits."""
    _check_texts(request, has_code=has_code or request.code is not None)
    _check_names(request)
    _check_environment(request)
    _check_attributes(request)
    _check_amounts(request)


def check_share(share: Resources, limits: ResourceLimits) -> None:
    """Refuse a share of a machine that no job can have here."""
    low, high, step = limits.min_vcpu, limits.max_vcpu, limits.vcpu_step
    if not low <= share.vcpu <= high or not _is_multiple(share.vcpu, step):
        had = f"{low:g} to {high:g} vCPU, in steps of {step:g}"
        raise JobRefused(reason=f"it asks for {share.vcpu:g} vCPU; a job can have {had}")
    least, most, memory_step = limits.min_memory_bytes, limits.max_memory_bytes, limits.memory_step_bytes
    had = f"{size(least)} to {size(most)} of memory, in steps of {size(memory_step)}"
    if not least <= share.memory_bytes <= most or share.memory_bytes % memory_step:
        raise JobRefused(reason=f"it asks for {size(share.memory_bytes)} of memory; a job can have {had}")
    if share.max_memory_bytes is not None and share.max_memory_bytes > most:
        asked = f"when it ran out of memory it may get {size(share.max_memory_bytes)}"
        raise JobRefused(reason=f"{asked}; a job can have {had}")
    if share.gpus > limits.max_gpus:
        raise JobRefused(reason=f"it asks for {share.gpus} GPU; a job can have {limits.max_gpus or 'none'}")


def _is_multiple(amount: float, step: float) -> bool:
    return math.isclose(round(amount / step) * step, amount, rel_tol=1e-9)


def command_of(request: CreateJob) -> list[str]:
    """Return the command as a program gets it."""
    return ["sh", "-c", request.command] if isinstance(request.command, str) else request.command


def _check_texts(request: CreateJob, *, has_code: bool) -> None:
    if any("\0" in text for text in _texts(request)):
        raise JobRefused(reason="a NUL character cannot be passed to a program")
    if not "".join(request.command).strip():
        raise JobRefused(reason="its command is empty")
    if isinstance(request.command, str) and request.as_cell:
        raise JobRefused(reason="a cell's command is a list, whose last word is the file of the code with the cell")
    if request.as_cell and not has_code:
        raise JobRefused(reason="a cell is a file of the job's code, and it has no code")
    if not request.as_cell and (request.variables is not None or request.receive):
        raise JobRefused(reason="only a cell can be sent variables, and have some received")
    for what, text in (("name", request.name), ("template", request.template)):
        if text and not text.isprintable():
            raise JobRefused(reason=f"its {what} is not one line of text")


def _texts(request: CreateJob) -> Iterator[str]:
    yield from ([request.command] if isinstance(request.command, str) else request.command)
    yield from request.environment.values()
    yield from map(str, request.parameters.values())
    yield from (request.description, request.name, request.image or "", request.template)
    yield from request.secrets.values()
    yield from request.tags
    yield from () if request.lock is None else (request.lock.requirements, request.lock.interpreter)


def _check_names(request: CreateJob) -> None:
    """The grammar of names and paths; whether they are there is seen later."""
    for spec in request.inputs:
        parse_input(spec)
    for ref in (request.code, request.variables):
        if ref is not None:
            parse_set(ref)
    if request.output is not None:
        check_name(request.output)
    for root in (request.code_root, request.variables_root):
        if root != "/":
            normal_path(root.rstrip("/"))
    if request.output_root is not None and request.output_root != "/":
        normal_path(request.output_root.rstrip("/"))
    _check_received(request.receive)
    if request.variables is not None and request.output_folder.split("/")[0] == VARIABLES_FOLDER:
        raise JobRefused(reason=f"{VARIABLES_FOLDER}/ is for the variables that it is sent, not for its outputs")
    try:
        normal_path(f"/{request.output_folder}")
    except BadPath as error:
        shown = ascii(request.output_folder[:MAX_SHOWN])[1:-1]
        raise JobRefused(reason=f"'{shown}' cannot be a folder inside the working folder") from error


def _check_received(names: list[str]) -> None:
    odd = next((name for name in names if not name.isidentifier() or iskeyword(name)), None)
    if odd is not None:
        raise JobRefused(reason=f"'{ascii(odd[:MAX_SHOWN])[1:-1]}' cannot be the name of a variable")
    if len(set(names)) != len(names):
        raise JobRefused(reason="a variable is to be received twice")


def _check_environment(request: CreateJob) -> None:
    for name in (*request.environment, *request.secrets):
        if not _VARIABLE.match(name):
            shown = ascii(name[:MAX_SHOWN])[1:-1]
            raise JobRefused(reason=f"'{shown}' cannot be the name of an environment variable")
        if name in _GIVEN:
            raise JobRefused(reason=f"{name} is given by the system; choose another name")
    twice = next((name for name in request.secrets if name in request.environment), None)
    if twice is not None:
        raise JobRefused(reason=f"{twice} is both an environment variable and a secret")
    _check_parameters(request.parameters)


def _check_parameters(parameters: dict[str, str | int | float | bool]) -> None:
    spelled: dict[str, str] = {}
    for name, value in parameters.items():
        shown = ascii(name[:MAX_SHOWN])[1:-1]
        if not _VARIABLE.match(name):
            form = "it has letters, digits and '_', and begins with no digit"
            raise JobRefused(reason=f"'{shown}' cannot be the name of a parameter: {form}")
        if isinstance(value, float) and not math.isfinite(value):
            raise JobRefused(reason=f"the parameter {name} is no finite number; a text can say that")
        other = spelled.setdefault(name.upper(), name)
        if other != name:
            raise JobRefused(reason=f"the parameters {other} and {name} would both be ACAI_PARAM_{name.upper()}")


def _check_attributes(request: CreateJob) -> None:
    thing = "the job"
    for key, value in request.attributes.items():
        shown = ascii(key[:MAX_SHOWN])[1:-1]
        if not _KEY.match(key):
            raise BadAttribute(key=shown, thing=thing, reason="a key has letters, digits, '_', '.' and '-' only")
        if is_reserved(key):
            raise BadAttribute(key=key, thing=thing, reason="the system gives it itself; choose another name")
        if not can_be_kept(value):
            raise BadAttribute(key=key, thing=thing, reason="it is too long a text, no finite number, or has no zone")
    for label in request.tags:
        is_one = label and label == label.strip() and label.isprintable() and label[0] not in "+-"
        if not is_one or len(label) > MAX_LABEL:
            shown = ascii(label[:MAX_SHOWN])[1:-1]
            reason = f"a label is one line of at most {MAX_LABEL} characters and begins with neither + nor -"
            raise BadAttribute(key=shown, thing=thing, reason=reason)


def _check_amounts(request: CreateJob) -> None:
    share = request.resources
    if share.max_memory_bytes is not None and share.max_memory_bytes < share.memory_bytes:
        raise JobRefused(reason="the memory it may get when it ran out of it is less than what it asks for")
    if request.time_limit_seconds is not None and not math.isfinite(request.time_limit_seconds):
        raise JobRefused(reason="its time limit is not a number of seconds")
