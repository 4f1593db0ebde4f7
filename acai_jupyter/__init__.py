"""ACAI for Jupyter: `%load_ext acai_jupyter`, or `import acai_jupyter as acai`.

Everything is imported at first use, so that importing this costs a kernel nothing.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from acai_jupyter._version import __version__
    from acai_jupyter.commands.python import fileset, job, provenance, put, status, submit
    from acai_jupyter.contract.errors import AcaiError
    from acai_jupyter.in_job import parameters, tag

__all__ = [
    "AcaiError",
    "__version__",
    "fileset",
    "job",
    "parameters",
    "provenance",
    "put",
    "status",
    "submit",
    "tag",
]

_HOMES = {
    "AcaiError": "acai_jupyter.contract.errors",
    "__version__": "acai_jupyter._version",
    "parameters": "acai_jupyter.in_job",
    "tag": "acai_jupyter.in_job",
}


def __getattr__(name: str) -> Any:
    if name not in __all__:
        raise AttributeError(f"module 'acai_jupyter' has no attribute '{name}'")
    return getattr(import_module(_HOMES.get(name, "acai_jupyter.commands.python")), name)


def __dir__() -> list[str]:
    return sorted(__all__)


def load_ipython_extension(ipython: Any) -> None:
    """Give a notebook `%acai` and `%%acai`."""
    from acai_jupyter.magics.magics import AcaiMagics

    ipython.register_magics(AcaiMagics)
