"""What every way to submit a job takes, on a line: options, and how their values are read."""

from __future__ import annotations

import argparse
import math
import os
import re
from typing import TYPE_CHECKING, Any, TypeAlias, TypeVar

if TYPE_CHECKING:
    from collections.abc import Callable

T = TypeVar("T")
Options: TypeAlias = "argparse.ArgumentParser | argparse._ArgumentGroup"  # noqa: SLF001 (it has no other name)
"""What takes options: a line, or a group of what belongs together on it."""
_GPU_TYPE = re.compile(r"[A-Za-z0-9]([A-Za-z0-9_.-]{0,61}[A-Za-z0-9])?\Z|\Z")
_WHOLE = re.compile(r"[+-]?(0|[1-9]\d{0,17})\Z")
_BROKEN = re.compile(r"[+-]?(\d+\.\d*|\.\d+|\d+(?=[eE]))([eE][+-]?\d+)?\Z")
_SWEPT = re.compile(r"""\s*(?:(?P<quoted>'[^']*'|"[^"]*")|(?P<plain>[^,'"]*?))\s*(?=,|\Z)""")
_VARIABLE = re.compile(r"[A-Za-z_][A-Za-z0-9_]*\Z")


class _Words(argparse.Action):
    """Several words at once, and again. Which of them came last is remembered: it may be meant for something else."""

    def __call__(
        self, parser: argparse.ArgumentParser, namespace: argparse.Namespace, values: Any, option: str | None = None
    ) -> None:
        """Take some."""
        del parser, option
        setattr(namespace, self.dest, [*getattr(namespace, self.dest), *values])
        if len(values) > 1:
            namespace.last_word = values[-1]


def take_script(arguments: argparse.Namespace) -> None:
    """Find the script of a line like `--input digits train.py`, where it stands among the inputs."""
    word = getattr(arguments, "last_word", None)
    if arguments.script is not None or word is None:
        return
    is_script = word.endswith((".py", ".ipynb")) or not arguments.args
    if is_script and os.path.isfile(word):  # noqa: PTH113 (imported with each line)
        at = len(arguments.input) - 1 - arguments.input[::-1].index(word)
        arguments.input = [*arguments.input[:at], *arguments.input[at + 1 :]]
        arguments.script = word


def add_to(parser: argparse.ArgumentParser) -> None:
    """Add the options, in groups."""
    add_data(parser.add_argument_group("data"))
    _add_values(parser.add_argument_group("values"))
    _add_machine(parser.add_argument_group("machine"))
    _add_life(parser.add_argument_group("how it runs"))


def add_data(parser: Options) -> None:
    """Add what goes in and what comes out."""
    parser.add_argument(
        "--input", action=_Words, nargs="+", default=[], metavar="SPEC",
        help="file sets, folders or files, like digits:3 or /dir/@digits; can be repeated",
    )  # fmt: skip
    parser.add_argument("--output", metavar="NAME", help="the file set that the outputs become")
    parser.add_argument(
        "--output-folder", default="output", metavar="FOLDER", help="where the program leaves them (default output)"
    )
    parser.add_argument(
        "--output-root", metavar="FOLDER", help="where they are kept in the project (default: /NAME of the output)"
    )
    parser.add_argument("--code", metavar="FOLDER", help="a folder or zip with the program's files")
    parser.add_argument(
        "--include", action="append", default=[], metavar="GLOB",
        help="send it with --code although it would be left out; can be repeated",
    )  # fmt: skip


def _add_values(parser: Options) -> None:
    many: dict[str, Any] = {"action": "append", "default": []}
    parser.add_argument("-p", type=parameter, metavar="NAME=VALUE", help="a parameter; can be repeated", **many)
    parser.add_argument(
        "--sweep", type=swept, metavar="NAME=V1,V2", help="a job for each value, and each combination", **many
    )  # fmt: skip
    parser.add_argument(
        "--env-var", type=variable, metavar="NAME=VALUE", help="an environment variable; can be repeated", **many
    )  # fmt: skip
    parser.add_argument("--env-file", metavar="FILE", help="a file with a NAME=VALUE on each line", **many)
    parser.add_argument(
        "--secret", type=secret, metavar="NAME", help="a variable with a secret; or NAME=SECRET", **many
    )  # fmt: skip
    parser.add_argument("--tag", metavar="K=V", help="an attribute, or +LABEL; can be repeated", **many)
    parser.add_argument("--name", default="", metavar="TEXT", help="what to call the job")
    parser.add_argument("--description", default="", metavar="TEXT", help="what people should know of it")


def _add_machine(parser: Options) -> None:
    parser.add_argument("--cpu", type=amount, default=1.0, metavar="N", help="vCPU (default 1)")
    parser.add_argument(
        "--memory", type=memory, metavar="SIZE", help="memory, like 512Mi (default: as earlier runs used, else 1Gi)"
    )
    parser.add_argument(
        "--max-memory", type=memory, metavar="SIZE", help="how much it may get when it ran out of memory"
    )
    parser.add_argument("--gpu", type=GPUS, default=0, metavar="N", help="GPUs (default 0)")
    add_gpu_type(parser)
    parser.add_argument("--profile", metavar="NAME", help="whose runs this is one of (default: by script or cell)")
    add_bounds(parser)
    parser.add_argument(
        "--nodes", type=NODES, default=1, metavar="N", help="machines that it runs on together (default 1)"
    )
    parser.add_argument("--image", metavar="NAME", help="a container image, where jobs run in containers")
    parser.add_argument("--env", metavar="FILE", help="requirements.txt of an environment of its own, built by uv")


def add_gpu_type(parser: Options) -> None:
    """Add of which type GPUs are to be."""
    told = "of which type, where the price book has several"
    parser.add_argument("--gpu-type", type=gpu_type, default="", metavar="NAME", help=told)


def gpu_type(text: str) -> str:
    """Read the type of GPUs."""
    if not _GPU_TYPE.match(text):
        raise argparse.ArgumentTypeError(f"'{text}' is no type of GPUs: letters and digits, and inside . _ and -")
    return text


def add_bounds(parser: Options) -> None:
    """Add what a machine is chosen by."""
    parser.add_argument("--max-time", type=time_limit, metavar="T", help="the cheapest machine within so long")
    parser.add_argument("--max-cost", type=amount, metavar="USD", help="the fastest machine within so many dollars")
    parser.add_argument(
        "--confidence",
        type=confidence,
        metavar="C",
        help="how sure to keep within them, like 0.9 (default: the middle)",
    )


def confidence(text: str) -> float:
    """Read a probability."""
    number = amount(text)
    if not 0.5 <= number < 1:  # noqa: PLR2004 (less is no confidence)
        raise argparse.ArgumentTypeError(f"'{text}' is not from 0.5 to 0.999")
    return min(number, 0.999)


def part(text: str) -> float:
    """Read a share of something that is neither nothing nor all."""
    number = amount(text)
    if number >= 1:
        raise argparse.ArgumentTypeError(f"'{text}' is not between 0 and 1")
    return number


def _add_life(parser: Options) -> None:
    parser.add_argument("--time-limit", type=time_limit, metavar="T", help="end it after so long: 30s, 20m, 1h30m")
    parser.add_argument(
        "--retries", type=RETRIES, default=2, metavar="N", help="how often it is tried again (default 2)"
    )
    parser.add_argument("--retry-failed", action="store_true", help="also when it was the program that failed")
    parser.add_argument(
        "--priority", type=PRIORITY, default=0, metavar="N", help="higher comes first among your own jobs"
    )
    parser.add_argument("--cached", action="store_true", help="take the result of an identical earlier job")
    parser.add_argument("--keep-partial", action="store_true", help="keep what a program that fails has left")
    parser.add_argument("--plan", action="store_true", help="only say what would happen, how long and for how much")
    parser.add_argument("--detach", action="store_true", help="do not wait for its end")


def add_cell(parser: argparse.ArgumentParser) -> None:
    """Add what only a cell takes."""
    group = parser.add_argument_group("this cell")
    group.add_argument("--handle", metavar="NAME", help="the variable to have the job in; it is in _ too")
    group.add_argument("--shell", action="store_true", help="the cell is a script for sh")
    group.add_argument(
        "--script", nargs="+", metavar="FILE", help="run a script in place of the cell, which is empty; its args follow"
    )
    many: dict[str, Any] = {"action": "append", "default": [], "metavar": "VARS"}
    group.add_argument("--send", help="variables for the cell, like df,config; can be repeated", **many)
    group.add_argument("--receive", help="variables of the cell to bring back; can be repeated", **many)
    add_received(group)


def add_received(parser: Options) -> None:
    """Add what is said about variables that come back."""
    parser.add_argument("--trust", action="store_true", help="read pickles that this kernel's own job did not write")
    parser.add_argument(
        "--variables-limit", type=memory, metavar="SIZE", help="how large variables may be together (default 1Gi)"
    )


def parameter(text: str) -> tuple[str, str | int | float]:
    """Read NAME=VALUE; a value that is written as a number is one."""
    name, value = variable(text)
    return name, _as_number(value)


def swept(text: str) -> tuple[str, list[str | int | float]]:
    """Read NAME=V1,V2…; a value in quotes is a text, whatever is in it."""
    name, rest = variable(text)
    found: list[str | int | float] = []
    at = 0
    while at <= len(rest):
        one = _SWEPT.match(rest, at)
        if one is None or (not one["plain"] and one["quoted"] is None):
            raise argparse.ArgumentTypeError(f"'{text}' is not NAME=VALUE,VALUE; quote a value with commas or quotes")
        found.append(_as_number(one["plain"]) if one["quoted"] is None else one["quoted"][1:-1])
        at = one.end() + 1  # behind the comma, or behind the end
    return name, found


def _as_number(value: str) -> str | int | float:
    if _WHOLE.match(value):
        return int(value)
    return float(value) if _BROKEN.match(value) and math.isfinite(float(value)) else value


def bare_or_named(text: str) -> tuple[str, str | int | float]:
    """Read NAME=VALUE, or a value alone, whose name is then empty."""
    name, equals, value = text.partition("=")
    return (name, _as_number(value)) if equals and is_variable(name) else ("", _as_number(text))


def variable(text: str) -> tuple[str, str]:
    """Read NAME=VALUE."""
    name, equals, value = text.partition("=")
    if not equals or not is_variable(name):
        raise argparse.ArgumentTypeError(f"'{text}' is not NAME=VALUE")
    return name, value


def is_variable(name: str) -> bool:
    """Whether environment variables and parameters can be called so."""
    return _VARIABLE.match(name) is not None


def secret(text: str) -> tuple[str, str]:
    """Read NAME, or NAME=SECRET where the secret is called otherwise than the variable."""
    name, equals, reference = text.partition("=")
    if not is_variable(name) or (equals and not reference):
        raise argparse.ArgumentTypeError(f"'{text}' is neither NAME nor NAME=SECRET")
    return name, reference or name


def memory(text: str) -> int:
    """Read a size."""
    from acai_jupyter.commands.units import parse_size

    return _read(parse_size, text)


def time_limit(text: str) -> float:
    """Read how long something may take."""
    from acai_jupyter.commands.units import parse_duration

    return _read(parse_duration, text)


def amount(text: str) -> float:
    """Read a number above 0."""
    try:
        number = float(text)
    except ValueError:
        number = 0.0
    if not 0 < number < math.inf:
        raise argparse.ArgumentTypeError(f"'{text}' is not a number above 0")
    return number


def between(low: int, high: int) -> Callable[[str], int]:
    """Return what reads a whole number from `low` to `high`."""

    def read(text: str) -> int:
        if not _WHOLE.match(text) or not low <= int(text) <= high:
            wanted = f"a whole number from {low} to {high}" if low < high else f"{low}, which is all there is so far"
            raise argparse.ArgumentTypeError(f"'{text}' is not {wanted}")
        return int(text)

    return read


def _read(how: Callable[[str], T], text: str) -> T:
    try:
        return how(text)
    except ValueError as error:
        raise argparse.ArgumentTypeError(str(error)) from error


GPUS = between(0, 1024)
NODES = between(1, 256)
RANK = between(0, 255)
RETRIES = between(0, 20)
PRIORITY = between(-100, 100)
