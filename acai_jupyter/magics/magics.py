"""The two magics. An error of ours is one red line; a bug keeps its traceback."""

from __future__ import annotations

import shlex
import sys
from typing import Any

from IPython.core.error import UsageError
from IPython.core.magic import Magics, line_cell_magic, magics_class, no_var_expand
from IPython.display import display

from acai_jupyter.commands import verbs
from acai_jupyter.contract.errors import AcaiError, JobFailed


@magics_class
class AcaiMagics(Magics):
    """`%acai VERB …` and `%%acai run …`."""

    @no_var_expand
    @line_cell_magic
    def acai(self, line: str, cell: str | None = None) -> Any:
        """Do a verb; `%acai --help` lists them. `%%acai run` runs the cell as a job."""
        try:
            return self._line(_words(line)) if cell is None else self._cell(_words(line), cell)
        except JobFailed:
            raise
        except AcaiError as error:
            raise UsageError(error.message) from error
        except SystemExit:  # argparse has shown its help
            return None

    def _line(self, words: list[str]) -> Any:
        arguments = verbs.parse("%acai", words or ["--help"])
        result = verbs.run(arguments)
        if arguments.json:
            return result.plain()
        if result.text:
            display(result)
        return None

    def _cell(self, words: list[str], cell: str) -> None:
        if words[:1] != ["run"]:
            raise UsageError("%%acai is followed by run and its options: %%acai run --input digits --output model")
        arguments = verbs.cell_parser().parse_args(words[1:])
        from acai_jupyter.client.http import Client
        from acai_jupyter.commands.jobs import run_cell

        result = run_cell(Client(project=arguments.project), arguments, cell, _show)
        display(result)
        if result.failed:
            raise JobFailedInCell(result.text)


class JobFailedInCell(JobFailed):
    """The cell's job did not finish; the program's own words are above. Shown as one line, and Run All stops."""

    def _render_traceback_(self) -> list[str]:
        return [self.message]


def _show(text: str) -> None:
    sys.stdout.write(text)
    sys.stdout.flush()


def _words(line: str) -> list[str]:
    try:
        return shlex.split(line)
    except ValueError as error:
        raise UsageError(f"The line cannot be split into words: {error}.") from error
