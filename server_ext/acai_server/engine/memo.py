"""What a job's result depends on, as a hash: two jobs that agree in all of it are the same job.

In it: the content of code, inputs and sent variables with their places in the working folder, which variables are to
be received, the command, parameters, environment variables, the names of secrets, the image, the lock of its
environment, whether there are GPUs, the output's name and folders, and the Python and packages that it was submitted
from or that its lock names. Not in it: resources, limits, priority, names and labels.
"""

from __future__ import annotations

import hashlib
from typing import TYPE_CHECKING, Any

import msgspec

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from acai_jupyter.contract.filesets import Entry
    from acai_jupyter.contract.jobs import CreateJob

FEW_FILES = 1000
"""Sets of so few files count by their content alone; of larger ones the numbers of the file versions count too."""
_NAMES = {
    "output": "output set",
    "output_root": "folder of the outputs in the project",
    "output_folder": "output folder",
    "as_cell": "run as a cell",
    "code_root": "folder of the code",
    "variables_root": "folder of the variables",
    "receive": "variables to receive",
}


def content_of(entries: Iterable[Entry]) -> str:
    """Return what stands for files: their paths and hashes."""
    digest = hashlib.sha256()
    for entry in entries:
        digest.update(f"{entry.path}\0{entry.sha256}\n".encode())
    return digest.hexdigest()


def content_of_many(file_count: int, root: bytes, entries: Iterator[Entry]) -> str:
    """Return what stands for files of which there is a list."""
    return content_of(entries) if file_count <= FEW_FILES else root.hex()


def parts(request: CreateJob, *, data: str = "", code: str = "", variables: str = "") -> dict[str, Any]:
    """Return all that the result depends on, by names for people."""
    captured = request.captured
    found: dict[str, Any] = {
        "input": data,
        "code": code,
        "variables": variables,
        "command": request.command,
        "image": request.image,
        "lock of the environment": None if request.lock is None else request.lock.key,
        "gpus": request.resources.gpus > 0,
        "python": captured.get("python"),
        **{_NAMES[name]: getattr(request, name) for name in _NAMES},
    }
    groups: tuple[tuple[str, Any], ...] = (
        ("parameter", request.parameters),
        ("environment variable", request.environment),
        ("secret", request.secrets),
        ("package", captured.get("packages")),
    )
    for kind, values in groups:
        if isinstance(values, dict):
            found |= {f"{kind} {name}": value for name, value in values.items()}
    return found


def memo_of(found: dict[str, Any]) -> bytes:
    """Return the hash."""
    return hashlib.sha256(msgspec.json.encode(sorted(found.items()))).digest()
