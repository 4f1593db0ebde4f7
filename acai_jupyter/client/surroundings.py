"""What a job is submitted from, as far as its result may depend on it: Python, platform, packages."""

from __future__ import annotations

import platform
import sys
from typing import Any

from acai_jupyter._version import __version__
from acai_jupyter.agent.environment import seen


def of_here() -> dict[str, Any]:
    """Return what a program runs with that is run by this interpreter.

    The agent reads what a program really ran with in the same way, so the two can be compared.
    """
    found = seen([sys.executable], {}, "/")
    return {
        "acai": __version__,
        "python": platform.python_version(),
        "implementation": platform.python_implementation(),
        "platform": found["platform"],
        "interpreter": sys.executable,
        "packages": found.get("packages", {}),
    }


def of_elsewhere() -> dict[str, Any]:
    """Return what can be said when a program brings its own interpreter: who submitted it."""
    return {
        "acai": __version__,
        "submitted_from": {"python": platform.python_version(), "platform": platform.platform()},
    }
