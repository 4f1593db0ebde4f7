"""Keys of objects: who may name what under which prefix."""

from __future__ import annotations

import re

from acai_jupyter.contract.errors import BadRequest, ObjectNotFound
from acai_jupyter.contract.ids import ObjectKey, ProjectId

_KEY = re.compile(r"[a-z0-9][a-z0-9._-]*(?:/[a-z0-9][a-z0-9._-]*)*\Z")
_NEW_KEY = re.compile(r"[a-z0-9_/]+\Z")
_UNFINISHED = (".part", ".parts")
"""What a folder store names things that are not objects yet."""
MAX_KEY = 256
MAX_SEGMENT = 240
"""File systems take 255 bytes; the rest is for what is put behind the name while it is written."""


def checked(key: str) -> ObjectKey:
    """Return a key that is safe as a path and as an S3 key, or say that there is nothing."""
    if len(key) > MAX_KEY or not _KEY.match(key) or not _is_possible(key):
        raise ObjectNotFound(key=ascii(key[:80])[1:-1])
    return ObjectKey(key)


def checked_new(key: str) -> ObjectKey:
    """Return a key that an object may get now: of signs that every store lists in one order, '/' before all others.

    Objects that were kept under keys with '.' or '-' can be read, listed and deleted.
    """
    if not _NEW_KEY.match(checked(key)):
        raise BadRequest(reason=f"a new object's key has only a-z, 0-9, '_' and '/', unlike '{key}'")
    return ObjectKey(key)


def upload_prefix(project: ProjectId, upload: str) -> str:
    """Return what the keys of all of an upload session's objects begin with; their numbers follow."""
    return f"p{project}/objects/{upload[:2]}/{upload}/"


def attempt_key(project: ProjectId, job: int, attempt: int, what: str) -> ObjectKey:
    """Return the key of what belongs to an attempt: its launch document, log, pack and result."""
    return ObjectKey(f"p{project}/jobs/{job}/{attempt}/{what}")


def project_prefix(project: ProjectId) -> str:
    """Return what the keys of all of a project's objects begin with."""
    return f"p{project}/"


def upload_of(key: ObjectKey) -> str | None:
    """Return the upload session that an object's key names, if it does."""
    match key.split("/"):
        case [_, "objects", _, upload, _]:
            return upload
    return None


def job_of(key: ObjectKey) -> tuple[int, str] | None:
    """Return the number of the job that an object's key names and what of an attempt it is, if it does."""
    match key.split("/"):
        case [_, "jobs", number, _, what, *_] if number.isdecimal():
            return int(number), what
    return None


def _is_possible(key: str) -> bool:
    if len(key) <= MAX_SEGMENT and "." not in key:  # as all new ones: a launch document names a hundred
        return True
    segments = key.split("/")
    return ".." not in key and not any(len(one) > MAX_SEGMENT or one.endswith(_UNFINISHED) for one in segments)


def job_prefix(project: ProjectId, job: int) -> str:
    """Return what the keys of all that belongs to a job's attempts begin with."""
    return f"p{project}/jobs/{job}/"
