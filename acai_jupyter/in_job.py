"""What a program inside a job can use. Standard library only, Python 3.8: the agent carries a copy of it."""

import os
import sys
from typing import Dict

from acai_jupyter.contract.loglines import tag_lines

_PREFIX = "ACAI_PARAM_"


def tag(key: str, value: object) -> None:
    """Attach an attribute to this job and to its output file set, by a line in the log."""
    sys.stdout.write(tag_lines(key, value))
    sys.stdout.flush()


def parameters() -> Dict[str, str]:
    """Return the job's parameters by name, in lower case."""
    return {name[len(_PREFIX) :].lower(): value for name, value in os.environ.items() if name.startswith(_PREFIX)}
