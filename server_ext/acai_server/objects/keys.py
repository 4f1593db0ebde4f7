"""Keys of objects: who may name what under which prefix."""

from __future__ import annotations

import re
from uuid import uuid4

from acai_jupyter.contract.errors import ObjectNotFound
from acai_jupyter.contract.ids import ObjectKey, ProjectId

_KEY = re.compile(r"[a-z0-9][a-z0-9._-]*(?:/[a-z0-9][a-z0-9._-]*)*\Z")
MAX_KEY = 256


def checked(key: str) -> ObjectKey:
    """Return a key that is safe as a path and as an S3 key, or say that there is nothing."""
    if len(key) > MAX_KEY or not _KEY.match(key) or ".." in key or key.endswith(".part"):
        raise ObjectNotFound(key=ascii(key[:80])[1:-1])
    return ObjectKey(key)


def upload_key(project: ProjectId) -> ObjectKey:
    """Make a new key for an uploaded object. It tells nothing, and is never used twice."""
    name = uuid4().hex
    return ObjectKey(f"p{project}/objects/{name[:2]}/{name}")


def attempt_key(project: ProjectId, job: int, attempt: int, what: str) -> ObjectKey:
    """Return the key of what belongs to an attempt: its launch document, log, pack and result."""
    return ObjectKey(f"p{project}/jobs/{job}/{attempt}/{what}")
