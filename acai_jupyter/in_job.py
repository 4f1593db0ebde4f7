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


def input_path(path: str = "/") -> str:
    """Return where an input file or folder of the job is on this machine: `/digits/0001.png` for one of a set."""
    return os.path.join(os.environ.get("ACAI_WORK", ""), *path.strip("/").split("/")) or "."  # noqa: PTH118


def checkpoint_path(name: str = "") -> str:
    """Return where to keep what a further attempt of this job is to go on from; it finds it there, if there is one."""
    path = os.path.join(os.environ.get("ACAI_CHECKPOINT", ".checkpoint"), *name.strip("/").split("/"))  # noqa: PTH118
    os.makedirs(os.path.dirname(path) if name else path, exist_ok=True)  # noqa: PTH103, PTH120
    return path


def output_path(name: str = "") -> str:
    """Return where to write an output of the job; the folders above it are made."""
    folder = os.environ.get("ACAI_OUTPUT_FOLDER", "output")
    path = os.path.join(os.environ.get("ACAI_WORK", ""), folder, *name.strip("/").split("/"))  # noqa: PTH118
    os.makedirs(os.path.dirname(path) if name else path, exist_ok=True)  # noqa: PTH103, PTH120
    return path
