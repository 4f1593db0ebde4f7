"""Views for dashboards and front ends without our extension: `acai.widgets.JobView(17)`. They need ipywidgets."""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from acai_jupyter.widgets.job_view import JobView
    from acai_jupyter.widgets.jobs_table import JobsTable
    from acai_jupyter.widgets.sweep_view import SweepView

__all__ = ["JobView", "JobsTable", "SweepView"]
_HOMES = {"JobView": "job_view", "JobsTable": "jobs_table", "SweepView": "sweep_view"}


def __getattr__(name: str) -> Any:
    if name not in __all__:
        raise AttributeError(f"module 'acai_jupyter.widgets' has no attribute '{name}'")
    try:
        return getattr(import_module(f"acai_jupyter.widgets.{_HOMES[name]}"), name)
    except ModuleNotFoundError as error:
        if error.name != "ipywidgets":
            raise
        raise ImportError("The views of acai.widgets need ipywidgets: pip install 'acai-jupyter[widgets]'") from error
