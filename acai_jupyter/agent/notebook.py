"""Runs a whole notebook by papermill, in a kernel of the same Python: what it prints is the log, and it is an output.

The executed notebook is written as it goes, so it is there whatever becomes of the run. papermill and ipykernel are the
environment's own.
"""

import json
import logging
import os
import re
import sys
from contextlib import suppress
from typing import Any

from acai_jupyter.agent.displays import Displays

SUFFIX = ".ipynb"
_KERNEL = "python3"
_SAVE_SECONDS = 5
_FAILED = 1
_TAGS = re.compile("\x1e\\[ACAI_TAG(?:_NUM)?\\] [^\n]*\n")


def run(path: str, displays_path: str, executed: str, parameters: str) -> int:
    """Run a notebook's file; the exit status is 1 when a cell raised something."""
    _stay_in(os.path.dirname(displays_path))
    try:
        import papermill
        from papermill.engines import NBClientEngine, papermill_engines
        from papermill.exceptions import PapermillExecutionError
    except ImportError as error:
        sys.stderr.write("a notebook runs by papermill with ipykernel, which this Python has not: %s\n" % error)
        return _FAILED
    displays = Displays(displays_path)

    class Engine(NBClientEngine):  # type: ignore[misc]  # it is not typed
        """Shows what each cell displayed, when it has ended."""

        @classmethod
        def execute_managed_notebook(cls, nb_man: Any, kernel_name: str, **known: Any) -> None:
            """See papermill."""
            completed = nb_man.cell_complete

            def complete(cell: Any, **known: Any) -> None:
                _tidy(cell)
                completed(cell, **known)
                _show(cell, displays)

            nb_man.cell_complete = complete
            super().execute_managed_notebook(nb_man, kernel_name, **known)

    papermill_engines.register("acai", Engine)
    logging.getLogger("papermill").setLevel(logging.ERROR)
    try:
        papermill.execute_notebook(
            _plain(path),
            _plain(executed),
            json.loads(parameters),
            engine_name="acai",
            kernel_name=_KERNEL,
            language="python",
            progress_bar=False,
            stdout_file=sys.stdout,
            stderr_file=sys.stdout,
            autosave_cell_every=_SAVE_SECONDS,
            extra_arguments=["--IPKernelApp.log_level=50"],  # what it says itself is not the notebook's
        )
    except PapermillExecutionError as error:
        sys.stdout.flush()
        sys.stderr.write("\n".join([*error.traceback, "%s failed in its cell [%s]" % (path, error.exec_count), ""]))
        return _FAILED
    except Exception as error:  # noqa: BLE001 (a kernel that cannot begin, or that died)
        sys.stdout.flush()
        sys.stderr.write("%s could not be run to its end: %s: %s\n" % (path, type(error).__name__, error))
        return _FAILED
    return 0


def _stay_in(folder: str) -> None:
    """Keep what Jupyter and IPython write beside notebooks out of the user's home, which there may be none of."""
    for variable, name in (("JUPYTER_RUNTIME_DIR", "runtime"), ("IPYTHONDIR", "ipython")):
        os.environ[variable] = os.path.join(os.path.abspath(folder), name)
        with suppress(OSError):
            os.makedirs(os.environ[variable], mode=0o700, exist_ok=True)
    os.environ["JUPYTER_PREFER_ENV_PATH"] = "1"  # a kernel of the same name that the user has is of another Python
    os.environ["PYDEVD_DISABLE_FILE_VALIDATION"] = "1"  # else the kernel warns of what nobody here debugs


def _plain(path: str) -> str:
    """Braces in a path stand for themselves."""
    return path.replace("{", "{{").replace("}", "}}")


def _tidy(cell: Any) -> None:
    """Take the lines of tags, which are for the log, out of what a cell printed."""
    kept = []
    for output in cell.get("outputs", ()):
        if output["output_type"] == "stream":
            before = output["text"]
            output["text"] = _TAGS.sub("", before)
            if before and not output["text"]:
                continue
        kept.append(output)
    if "outputs" in cell:
        cell["outputs"] = kept


def _show(cell: Any, displays: Displays) -> None:
    for output in cell.get("outputs", ()):
        if output["output_type"] in ("display_data", "execute_result"):
            displays.publish(dict(output["data"]), dict(output["metadata"]))
