"""Variables on their way to a job and back: files of a set in the role variables, and a folder of a job's outputs."""

from __future__ import annotations

import hashlib
import re
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from acai_jupyter.client import downloads
from acai_jupyter.client.sessions import Plan
from acai_jupyter.client.uploads import found_file
from acai_jupyter.client.uploads import put as upload
from acai_jupyter.contract import endpoints
from acai_jupyter.contract.jobs import VARIABLES_FOLDER
from acai_jupyter.contract.plans import CodeFile
from acai_jupyter.contract.specs import Spec, parse_set

if TYPE_CHECKING:
    from pathlib import Path

    from acai_jupyter.client.http import Client
    from acai_jupyter.contract.jobs import Job

ROOT = "/.variables"
_LONGEST = 60


@dataclass(frozen=True)
class Sent:
    """Variables as they were kept; without a file set, as they would be."""

    file_set: str | None
    root: str
    """The folder of the project below which they lie."""
    files: list[CodeFile] = field(default_factory=list)
    """Only of what is not kept."""


def keep(client: Client, folder: Path, owner: str) -> Sent:
    """Keep a folder of variables; the same content again is the same version."""
    name, root = _place(owner)
    found = [found_file(str(path), f"{root}/{path.name}") for path in sorted(folder.iterdir())]
    found.sort(key=lambda file: file.path)
    result = upload(client, found, Plan(name, label=owner))
    assert result.file_set is not None
    return Sent(result.file_set, root)


def look(folder: Path, owner: str) -> Sent:
    """Return variables as they would be kept; nothing is sent."""
    files = [CodeFile(path.name, _sha256(path)) for path in sorted(folder.iterdir())]
    return Sent(None, _place(owner)[1], files)


def _place(owner: str) -> tuple[str, str]:
    """Return the name of the set, and its folder in the project."""
    slug = re.sub(r"[^a-z0-9]+", "-", owner.lower()).strip("-")[:_LONGEST].rstrip("-") or "cell"
    name = f"variables.{slug}"
    return name, f"{ROOT}/{name}"


def _sha256(path: Path) -> str:
    with path.open("rb") as stream:
        return hashlib.file_digest(stream, "sha256").hexdigest()


def spec_of(client: Client, job: Job) -> str:
    """Return where the variables are that a job has left to be received."""
    assert job.output is not None
    output = parse_set(job.output)
    root = client.call(endpoints.GET_REQUEST, job=job.number).request.output_root or f"/{output.name}"
    return str(Spec(f"{root.rstrip('/')}/{VARIABLES_FOLDER}/", file_set=output))


def size(client: Client, spec: str) -> int:
    """Return how large all of them are."""
    return sum(place.size_bytes for page in downloads.pages(client, spec) for place in page.files)


def fetch(client: Client, spec: str, folder: Path) -> None:
    """Fetch them into a folder; every byte is verified."""
    downloads.get(client, spec, str(folder))
