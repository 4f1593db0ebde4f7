"""The table of verbs: what each is called, what it takes, what it does."""

from __future__ import annotations

import argparse
from dataclasses import dataclass
from importlib import import_module
from typing import TYPE_CHECKING, Any, NoReturn

from acai_jupyter.contract.errors import BadRequest

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from acai_jupyter.client.http import Client
    from acai_jupyter.commands.results import Result


class Parser(argparse.ArgumentParser):
    """Says what is wrong as one of our errors; who shows it decides how."""

    def error(self, message: str) -> NoReturn:
        """Refuse wrong usage."""
        raise BadRequest(f"{self.prog}: {message}. See {self.prog} --help.")


@dataclass(frozen=True)
class Verb:
    """One word that people type. `home` is the module and function that does it, imported at first use."""

    name: str
    summary: str
    home: str
    arguments: Callable[[argparse.ArgumentParser], None]

    def __call__(self, client: Client, arguments: argparse.Namespace) -> Result:
        """Do it."""
        module, _, function = self.home.partition(":")
        result: Result = getattr(import_module(f"acai_jupyter.commands.{module}"), function)(client, arguments)
        return result


def parameter(text: str) -> tuple[str, str | int | float]:
    """Read NAME=VALUE; a value that is a number becomes one."""
    name, equals, value = text.partition("=")
    if not equals or not name.isidentifier():
        raise argparse.ArgumentTypeError(f"'{text}' is not NAME=VALUE")
    for kind in (int, float):
        try:
            return name, kind(value)
        except ValueError:
            continue
    return name, value


def memory(text: str) -> int:
    """Read a size."""
    from acai_jupyter.commands.units import parse_size

    try:
        return parse_size(text)
    except ValueError as error:
        raise argparse.ArgumentTypeError(str(error)) from error


def _nothing(parser: argparse.ArgumentParser) -> None:
    del parser


def _put(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("sources", nargs="+", metavar="SRC", help="a file, or a folder whose contents go under DEST")
    parser.add_argument("dest", metavar="DEST", help="where in the project, like /digits")
    parser.add_argument("--as", dest="file_set", metavar="SET", help="make a file set of what was put")


def job_options(parser: argparse.ArgumentParser) -> None:
    """Add what every way to submit a job takes."""
    parser.add_argument("--input", action="append", default=[], metavar="SPEC", help="a file set; can be repeated")
    parser.add_argument("--output", metavar="NAME", help="the file set that output/ becomes")
    parser.add_argument("--cpu", type=float, default=1.0, metavar="N", help="vCPU, in steps of 0.5 (default 1)")
    parser.add_argument(
        "--memory", type=memory, default=1024**3, metavar="SIZE", help="memory, like 512Mi (default 1Gi)"
    )
    parser.add_argument("--name", metavar="TEXT", help="what to call the job")
    parser.add_argument(
        "-p", action="append", default=[], type=parameter, metavar="NAME=VALUE", help="a parameter; can be repeated"
    )


def _submit(parser: argparse.ArgumentParser) -> None:
    job_options(parser)
    parser.add_argument("script", metavar="SCRIPT", help="a Python script")
    parser.epilog = "What follows -- goes to the script."


def _number(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("number", type=int, metavar="N", help="the job's number")


def _logs(parser: argparse.ArgumentParser) -> None:
    _number(parser)
    parser.add_argument("-f", dest="follow", action="store_true", help="go on until the job has ended")


def _provenance(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("spec", metavar="SET", help="a file set, like model:2")


VERBS = {
    verb.name: verb
    for verb in (
        Verb("status", "What this is connected to.", "status:status", _nothing),
        Verb("put", "Put files into the project.", "put:put", _put),
        Verb("submit", "Submit a script as a job.", "jobs:submit", _submit),
        Verb("job", "Show a job.", "jobs:job", _number),
        Verb("logs", "Show a job's log.", "jobs:logs", _logs),
        Verb("wait", "Wait for a job to end.", "jobs:wait_for", _number),
        Verb("provenance", "Show what a file set was made of.", "provenance:provenance", _provenance),
    )
}


def parser(prog: str) -> Parser:
    """Return the parser of all verbs."""
    root = Parser(prog=prog, description="Versioned data, jobs and provenance.", allow_abbrev=False)
    verbs = root.add_subparsers(dest="verb", required=True, metavar="VERB", parser_class=Parser)
    for verb in VERBS.values():
        one = verbs.add_parser(verb.name, help=verb.summary, description=verb.summary, allow_abbrev=False)
        one.add_argument("--json", action="store_true", help="answer in JSON")
        one.add_argument("--project", metavar="NAME", help="another project than the usual one")
        verb.arguments(one)
    return root


def cell_parser() -> Parser:
    """Return the parser of the line after `%%acai run`."""
    one = Parser(prog="%%acai run", description="Run the cell as a job.", allow_abbrev=False)
    one.add_argument("--project", metavar="NAME", help="another project than the usual one")
    job_options(one)
    return one


def parse(prog: str, words: Sequence[str]) -> argparse.Namespace:
    """Read a line of words; what follows `--` is not ours."""
    ours, args = list(words), []
    if "--" in ours:
        border = ours.index("--")
        ours, args = ours[:border], ours[border + 1 :]
    found = parser(prog).parse_args(ours)
    if args and found.verb != "submit":
        raise BadRequest(f"{prog} {found.verb} takes nothing after --.")
    found.args = args
    return found


def run(arguments: argparse.Namespace, client: Any = None) -> Result:
    """Do what a parsed line says."""
    from acai_jupyter.client.http import Client

    return VERBS[arguments.verb](client or Client(project=arguments.project), arguments)
