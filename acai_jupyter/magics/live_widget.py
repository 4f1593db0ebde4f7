"""The live view of jobs, for front ends that know widgets and not our extension.

What is live when it is shown has a view among its forms; what has ended has its card. Loading ipywidgets takes longer
than a small job. So of what a cell watches a view is made aside, and only when it goes on for a moment. See
docs/decisions.
"""

from __future__ import annotations

import sys
import threading
from contextlib import suppress
from contextvars import copy_context
from importlib.util import find_spec
from typing import TYPE_CHECKING, Any

from acai_jupyter.contract.errors import AcaiError
from acai_jupyter.contract.states import END_STATES, JobState

if TYPE_CHECKING:
    from collections.abc import Callable

    from acai_jupyter.commands.results import Result

WIDGET = "application/vnd.jupyter.widget-view+json"
MOMENT_SECONDS = 1.0
OURS = "application/vnd.acai.{}+json"
SHOWN = (("results", "Result"), ("job_objects", "Job"), ("sweep_objects", "Sweep"))
"""What can have such a view, by the names of modules that are imported with their first use."""


def register(ipython: Any) -> None:
    """Let an IPython show what is live with its view."""
    bundles = ipython.display_formatter.mimebundle_formatter
    for home, name in SHOWN:
        bundles.for_type_by_name(f"acai_jupyter.commands.{home}", name, forms_of)


def forms_of(shown: Any) -> dict[str, Any]:
    """Return all forms of something, the live view among them where it is live and somebody can use that."""
    forms: dict[str, Any] = shown._repr_mimebundle_()
    if is_wanted() and _has_widgets() and _is_live(forms):
        with suppress(AcaiError):  # what it shows without it stays
            return forms | _referred(_view_of(forms))
    return forms


class LiveWidget:
    """A view of a job or a sweep. `add` is called, in another thread, with what shows it when it is there."""

    def __init__(self, result: Result, add: Callable[[Any], object], seconds: float = MOMENT_SECONDS) -> None:
        self._result = result
        self._add = add
        self._lock = threading.Lock()
        self._is_over = False
        self._view: Any = None
        self._timer = threading.Timer(seconds, copy_context().run, (self._make,))
        self._timer.daemon = True

    def start(self) -> None:
        """Begin to wait."""
        if _has_widgets():
            self._timer.start()

    def end(self, result: Result) -> Any:
        """Return what shows how it ended: with the view, if there is one."""
        self._timer.cancel()
        with self._lock:
            self._is_over = True
            return result if self._view is None else WithWidget(result, self._view)

    def _make(self) -> None:
        with suppress(AcaiError):
            import ipywidgets  # noqa: F401 (while nobody waits for it)

            with self._lock:
                if not self._is_over:
                    self._view = _view_of(self._result._repr_mimebundle_())
                    self._add(WithWidget(self._result, self._view))


class WithWidget:
    """A result in all its forms, a live view among them."""

    def __init__(self, result: Result, view: Any) -> None:
        self._result = result
        self._view = view

    def __repr__(self) -> str:
        return repr(self._result)

    def _repr_mimebundle_(self, **kwargs: Any) -> dict[str, Any]:
        return self._result._repr_mimebundle_(**kwargs) | _referred(self._view)


def is_wanted() -> bool:
    """Whether somebody looks whose front end may know widgets and not our extension: any of a kernel but JupyterLab.

    JupyterLab says with each cell which ones were deleted; the wheel that this is from brings it the other half.
    nbconvert and papermill, where nobody sits, say that nobody can be asked for input.
    """
    kernel = getattr(_shell(), "kernel", None)
    if "ipykernel" not in sys.modules or kernel is None:
        return False
    asked = kernel.get_parent() or {}
    return "deletedCells" not in asked.get("metadata", {}) and asked.get("content", {}).get("allow_stdin") is not False


def _shell() -> Any:
    from IPython.core.getipython import get_ipython

    return get_ipython()


def _has_widgets() -> bool:
    return find_spec("ipywidgets") is not None


def _is_live(forms: dict[str, Any]) -> bool:
    """Whether what these forms show may still change. To a table of jobs others can come."""
    if (job := forms.get(OURS.format("job"))) is not None:
        return _goes_on(job["job"])
    if (sweep := forms.get(OURS.format("sweep"))) is not None:
        rows = sweep["table"]["rows"]
        return sweep["count"] > len(rows) or any(map(_goes_on, rows))
    from acai_jupyter.commands.metadata import OF_JOBS

    jobs = forms.get(OURS.format("jobs"))
    return jobs is not None and tuple(jobs["request"]["columns"]) == OF_JOBS


def _goes_on(job: dict[str, Any]) -> bool:
    return JobState(job["state"]) not in END_STATES


def _view_of(forms: dict[str, Any]) -> Any:
    from acai_jupyter import widgets

    if (job := forms.get(OURS.format("job"))) is not None:
        return widgets.JobView(job["number"], project=job["project"])
    if (sweep := forms.get(OURS.format("sweep"))) is not None:
        return widgets.SweepView(sweep["table"]["tag"], project=sweep["project"])
    jobs = forms[OURS.format("jobs")]
    return widgets.JobsTable(jobs["request"]["query"], project=jobs["project"])


def _referred(view: Any) -> dict[str, Any]:
    """Refer to a view, as front ends know it."""
    return {WIDGET: {"version_major": 2, "version_minor": 0, "model_id": view.model_id}}
