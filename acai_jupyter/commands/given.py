"""What is given to `acai.submit` and `acai.run`, in the forms that Python has for it."""

from __future__ import annotations

import math
from argparse import ArgumentTypeError
from collections.abc import Mapping
from contextlib import suppress
from difflib import get_close_matches
from os import PathLike, fspath
from typing import TYPE_CHECKING, Any, TypedDict, TypeVar

from acai_jupyter.commands import job_options
from acai_jupyter.commands.metadata import annotation
from acai_jupyter.commands.objects import Files, FileSet
from acai_jupyter.commands.units import parse_duration, parse_size
from acai_jupyter.contract.errors import BadRequest
from acai_jupyter.contract.foreign import one_line

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Sequence

    from acai_jupyter.contract.metadata import ThingChange

T = TypeVar("T")


def command(script: object, command: str | Sequence[object] | None, args: Sequence[object]) -> str | list[str] | None:
    """Return the command, if there is one in the place of a script."""
    if (script is None) == (command is None):
        raise BadRequest("A job runs either a script or a command: acai.submit('train.py') or acai.submit(command=…).")
    if command is not None and args:
        raise BadRequest("args go to a script; a command has its words in it.")
    return command if command is None or isinstance(command, str) else [str(word) for word in command]


def inputs(chosen: str | FileSet | Sequence[str | FileSet]) -> list[str]:
    """Return specs."""
    several = [chosen] if isinstance(chosen, str | Files) else list(chosen)
    return [_spec(one) for one in several]


def several(one_or_more: str | PathLike[str] | Sequence[str | PathLike[str]]) -> list[str | PathLike[str]]:
    """Return them as a list."""
    return [one_or_more] if isinstance(one_or_more, str | PathLike) else list(one_or_more)


def parameters(values: Mapping[str, Any] | None) -> list[tuple[str, Any]]:
    """Return plain values: numpy's numbers become Python's; one that JSON has none for is a text, as on a line."""
    return [(name, _plain(value)) for name, value in (values or {}).items()]


def bare(values: Iterable[Any]) -> list[tuple[str, Any]]:
    """Return plain values that have no names."""
    return [("", _plain(value)) for value in values]


def _plain(value: Any) -> Any:
    with suppress(ValueError):  # an array of several is no number
        value = value.item() if hasattr(value, "item") else value
    is_odd = isinstance(value, float) and not math.isfinite(value)
    is_odd |= isinstance(value, int) and not -(2**63) <= value < 2**63
    return str(value) if is_odd else value


def swept(values: Mapping[str, Iterable[Any]] | None) -> list[tuple[str, list[Any]]]:
    """Return the values of each parameter; a column or an array is a list of them."""
    if not values:
        raise BadRequest("A sweep has values to combine: acai.sweep('train.py', {'lr': [0.1, 0.01]}).")
    found: list[tuple[str, list[Any]]] = []
    for name, given in values.items():
        if isinstance(given, str) or not hasattr(given, "__iter__"):
            raise BadRequest(f"values {name} is a list of values, not {one_line(repr(given))}.")
        found.append((name, [_plain(value) for value in given]))
    return found


def secrets(chosen: Mapping[str, str] | Sequence[str]) -> list[tuple[str, str]]:
    """Return the variables and what their secrets are called."""
    if isinstance(chosen, Mapping):
        return list(chosen.items())
    return [(name, name) for name in ([chosen] if isinstance(chosen, str) else chosen)]


def tags(chosen: Mapping[str, Any] | Sequence[str]) -> ThingChange | list[str]:
    """Return attributes with their values, or the words of a line."""
    if isinstance(chosen, Mapping):
        return annotation(dict(chosen), [], [], [])
    return [chosen] if isinstance(chosen, str) else list(chosen)


def output(chosen: str | FileSet | None) -> str | None:
    """Return the name of a file set."""
    return chosen.name if isinstance(chosen, FileSet) else chosen


def number(name: str, read: Callable[[str], T], value: object) -> T:
    """Return a number as it would be read on a line."""
    try:
        return read(str(value))
    except ArgumentTypeError as error:
        raise BadRequest(f"{name} cannot be so: {one_line(str(error))}.") from error


def size(amount: str | float) -> int:
    """Return a number of bytes."""
    try:
        return parse_size(str(amount))
    except ValueError as error:
        raise BadRequest(f"{error}.") from error


def seconds(time: str | float) -> float:
    """Return how long something may take."""
    try:
        return parse_duration(str(time))
    except ValueError as error:
        raise BadRequest(f"{error}.") from error


def gpu_type(name: str) -> str:
    """Return the type of GPUs."""
    try:
        return job_options.gpu_type(str(name))
    except ArgumentTypeError as error:
        raise BadRequest(f"{error}.") from error


class JobOptions(TypedDict, total=False):
    """What can be said of every job, as on a line."""

    input: str | FileSet | Sequence[str | FileSet]
    output: str | FileSet | None
    output_folder: str
    output_root: str | None
    code: str | PathLike[str] | None
    include: Sequence[str]
    parameters: Mapping[str, str | float | bool]
    env_var: Mapping[str, str]
    env_file: str | PathLike[str] | Sequence[str | PathLike[str]]
    secret: Mapping[str, str] | Sequence[str]
    tag: Mapping[str, Any] | Sequence[str]
    name: str
    description: str
    cpu: float
    memory: str | int | None
    max_memory: str | int | None
    gpu: int
    gpu_type: str
    profile: str | None
    max_time: str | float
    max_cost: float
    confidence: float
    nodes: int
    image: str | None
    env: str | PathLike[str] | None
    time_limit: str | float
    retries: int
    retry_failed: bool
    priority: int
    cached: bool
    keep_partial: bool


def patterns(chosen: str | Sequence[str]) -> list[str]:
    """Return patterns of names; one may stand alone."""
    return [chosen] if isinstance(chosen, str) else list(chosen)


def options(chosen: Mapping[str, Any]) -> dict[str, Any]:
    """Return options of Python as a line has them."""
    unknown = next((name for name in chosen if name not in JobOptions.__annotations__), None)
    if unknown is not None:
        near = get_close_matches(unknown, JobOptions.__annotations__, 1)
        raise TypeError(f"there is no option '{unknown}'" + (f"; did you mean '{near[0]}'?" if near else ""))
    return {_ON_LINE.get(name, name): _READ.get(name, _as_it_is)(value) for name, value in chosen.items()}


def _as_it_is(value: Any) -> Any:
    return value


def _path(value: str | PathLike[str] | None) -> str | None:
    return None if value is None else fspath(value)


def _size(value: str | int | None) -> int | None:
    return None if value is None else size(value)


def _counted(name: str, read: Callable[[str], Any]) -> Callable[[Any], Any]:
    return lambda value: number(name, read, value)


_ON_LINE = {"parameters": "p"}
_READ: dict[str, Callable[[Any], Any]] = {
    "input": inputs,
    "output": output,
    "code": _path,
    "include": patterns,
    "env": _path,
    "parameters": parameters,
    "env_var": lambda values: list(values.items()),
    "env_file": lambda files: [fspath(one) for one in several(files)],
    "secret": secrets,
    "tag": tags,
    "cpu": _counted("cpu", job_options.amount),
    "memory": _size,
    "max_memory": _size,
    "gpu": _counted("gpu", job_options.GPUS),
    "gpu_type": gpu_type,
    "nodes": _counted("nodes", job_options.NODES),
    "time_limit": seconds,
    "max_time": seconds,
    "max_cost": _counted("max_cost", job_options.amount),
    "confidence": _counted("confidence", job_options.confidence),
    "retries": _counted("retries", job_options.RETRIES),
    "priority": _counted("priority", job_options.PRIORITY),
}


def _spec(one: object) -> str:
    if isinstance(one, str):
        return one
    if isinstance(one, FileSet):
        return f"@{one.ref}"
    if isinstance(one, Files):
        raise BadRequest("Files chosen by operators are made a set first: files.create('name').")
    raise TypeError(f"an input is a spec or a file set, not a {type(one).__name__}")
