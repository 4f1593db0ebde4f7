"""The two magics. An error of ours is one red line; a bug keeps its traceback."""

from __future__ import annotations

import shlex
import sys
from typing import TYPE_CHECKING, Any

from IPython.core.error import UsageError
from IPython.core.magic import Magics, line_cell_magic, magics_class, no_var_expand

from acai_jupyter.commands import verbs
from acai_jupyter.commands.interrupts import Unwatched
from acai_jupyter.commands.terminal import visible
from acai_jupyter.contract.errors import AcaiError, JobFailed
from acai_jupyter.magics.cell_view import CellView
from acai_jupyter.magics.presses import Presses, press_of

if TYPE_CHECKING:
    from argparse import Namespace

    from acai_jupyter.client.http import Client
    from acai_jupyter.commands.results import Result
    from acai_jupyter.contract.jobs import Job
    from acai_jupyter.contract.sweeps import Sweep

FAILING = ("attach", "wait")
"""Verbs that fail their cell when the job that is watched did not finish, as `%%acai run` does."""


@magics_class
class AcaiMagics(Magics):
    """`%acai VERB …` and `%%acai run …`."""

    shell: Any

    def __init__(self, shell: Any) -> None:
        super().__init__(shell)
        self._presses = Presses()

    @no_var_expand
    @line_cell_magic
    def acai(self, line: str, cell: str | None = None) -> Any:
        """Do a verb; `%acai --help` lists them. `%%acai run` runs the cell as a job."""
        try:
            return self._line(_words(line)) if cell is None else self._cell(_words(line), cell)
        except JobFailed:
            raise
        except AcaiError as error:
            raise UsageError(visible(error.message)) from error
        except Unwatched:
            raise
        except KeyboardInterrupt as error:
            if next(iter(line.split()), "") not in verbs.INTERRUPTED:
                raise
            raise UsageError(verbs.interrupted(line.split())) from error
        except SystemExit:  # argparse has shown its help
            return None

    def _line(self, words: list[str]) -> Any:
        arguments = verbs.parse("%acai", words or ["--help"])
        arguments.view = view = CellView(self.shell.user_ns)
        result = verbs.run(arguments)
        if arguments.verb == "submit" and not arguments.plan:
            from acai_jupyter.client.http import Client

            self._hand_over(Client(project=arguments.project), result.value, handle=None)
        if arguments.verb == "profile run" and not arguments.plan:
            self._hand_over_profiling(arguments.project, result)
        if arguments.json:
            return result.plain()
        has_failed = result.failed and arguments.verb in FAILING
        if result.text and ("ipykernel" in sys.modules or not has_failed):
            view.finish(_seen(result, arguments.project))
        if has_failed:
            raise JobFailedInCell(result.text)
        return None

    def _cell(self, words: list[str], cell: str) -> None:
        if words[:1] == ["profile"]:
            self._profile(words[1:], cell)
            return
        if words[:1] != ["run"]:
            raise UsageError("%%acai is followed by run and its options: %%acai run --input digits --output model")
        arguments = verbs.parse_cell(words[1:])
        from acai_jupyter.client.http import Client
        from acai_jupyter.commands.running import run_cell
        from acai_jupyter.contract.sweeps import Sweep

        press = press_of(_asked(self.shell), "\n".join([*words, cell]))
        if (number := self._presses.repeated(press)) is not None:
            self._join(number, arguments)
            return
        client = Client(project=arguments.project)

        def begun(job: Job | Sweep) -> None:
            self._presses.begun(press, job.tag if isinstance(job, Sweep) else job.number)
            self._hand_over(client, job, handle=arguments.handle)

        view = CellView(self.shell.user_ns)
        result = run_cell(client, arguments, cell, view, begun)
        if "ipykernel" in sys.modules or not result.failed:  # the error says the same where nothing was shown before
            view.finish(result)
        if result.failed:
            raise JobFailedInCell(result.text)

    def _join(self, number: int | str, arguments: Namespace) -> None:
        """Show the job that somebody else began by this cell at the same moment."""
        called = f"Job {number}" if isinstance(number, int) else f"Sweep {number}"
        CellView(self.shell.user_ns).say(f"{called} is of somebody who ran this cell at the same moment.")
        project = [] if arguments.project is None else ["--project", arguments.project]
        if not arguments.detach:
            self._line([*project, "attach", str(number)])
        elif isinstance(number, int):
            self._line([*project, "job", str(number)])

    def _profile(self, words: list[str], cell: str) -> None:
        from acai_jupyter.client.http import Client
        from acai_jupyter.commands.running import profile_cell

        arguments = verbs.parse_profile(words)
        client = Client(project=arguments.project)
        arguments.view = view = CellView(self.shell.user_ns)
        result = profile_cell(client, arguments, cell, view)
        if not arguments.plan:
            self._hand_over_profiling(arguments.project, result)
        view.finish(result)

    def _hand_over_profiling(self, project: str | None, result: Result) -> None:
        """Let `_` stand for the runs of a profiling."""
        from acai_jupyter.client.http import Client
        from acai_jupyter.commands import sweep_objects

        self.shell.displayhook.update_user_ns(sweep_objects.Sweep(Client(project=project), result.value.tag))

    def _hand_over(self, client: Client, job: Job | Sweep, *, handle: str | None) -> None:
        """Let `_`, and a variable of the notebook, stand for a job or a sweep."""
        from acai_jupyter.commands import job_objects, sweep_objects
        from acai_jupyter.contract.sweeps import Sweep

        made: object
        if isinstance(job, Sweep):
            made = sweep_objects.Sweep(client, job.tag, job)
        else:
            made = job_objects.Job(client, job.number, job)
        self.shell.displayhook.update_user_ns(made)
        if handle is not None:
            self.shell.user_ns[handle] = made


def _seen(result: Result, project: str | None) -> Any:
    """What a notebook shows of a verb's answer: of a graph its drawing, of others themselves."""
    if result.kind not in ("provenance", "project-graph"):
        return result
    from acai_jupyter.widgets.provenance import seen

    return seen(result, project)


class JobFailedInCell(JobFailed):
    """The cell's job did not finish; the program's own words are above. Shown as one line, and Run All stops."""

    def _render_traceback_(self) -> list[str]:
        return [self.message]


def _asked(shell: Any) -> Any:
    """What the front end asked the kernel for; nothing in a terminal."""
    return getattr(shell, "parent_header", None) or getattr(shell, "get_parent", dict)()


def _words(line: str) -> list[str]:
    try:
        return shlex.split(line)
    except ValueError as error:
        raise UsageError(f"The line cannot be split into words: {error}.") from error
