"""Keys of objects: which are valid, and which upload session or job of which database owns an object.

New keys contain the identity of the database, so that two databases never give the same key to two objects. Keys that
version 0.1 made do not: their rows have no folder, and `upload_folder` and `job_folder` without an identity name them.
"""

from __future__ import annotations

import re
import secrets
from typing import NamedTuple

from acai_jupyter.contract.errors import BadRequest, ObjectNotFound
from acai_jupyter.contract.ids import ObjectKey, ProjectId

_KEY = re.compile(r"[a-z0-9][a-z0-9._-]*(?:/[a-z0-9][a-z0-9._-]*)*\Z")
_NEW_KEY = re.compile(r"[a-z0-9_/]+\Z")
_OF_PROJECT = re.compile(r"p[1-9][0-9]*/(?:objects|jobs)/")
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


class UploadOwner(NamedTuple):
    """The upload session that a key names, and the session's folder in it."""

    upload: str
    folder: str


class JobOwner(NamedTuple):
    """The job that a key names, the job's folder in it, and the slot of an attempt."""

    number: int
    folder: str
    slot: str


def new_identity() -> str:
    """Return an identity for a database. It begins with a letter that no hash and no number begins with."""
    return f"i{secrets.token_hex(8)}"


def upload_folder(upload: str, identity: str = "") -> str:
    """Return the folder of an upload session below its project's prefix."""
    return "/".join(filter(None, ("objects", identity, upload[:2], upload)))


def job_folder(number: int, identity: str = "", salt: str = "") -> str:
    """Return the folder of a job below its project's prefix.

    The salt keeps two copies of one database apart, each of which has a next job of the same number.
    """
    return "/".join(filter(None, ("jobs", identity, f"{number}_{salt}" if salt else str(number))))


def project_prefix(project: ProjectId) -> str:
    """Return what the keys of all of a project's objects begin with."""
    return f"p{project}/"


def folder_prefix(project: ProjectId, folder: str) -> str:
    """Return what the keys of all objects of an upload session or of a job begin with."""
    return f"p{project}/{folder}/"


def owner_of(key: ObjectKey) -> UploadOwner | JobOwner | None:
    """Return the upload session or job that a key names, whether or not there is one."""
    match key.split("/"):
        case [_, "objects", prefix, upload, _]:
            return UploadOwner(upload, f"objects/{prefix}/{upload}")
        case [_, "objects", identity, prefix, upload, _]:
            return UploadOwner(upload, f"objects/{identity}/{prefix}/{upload}")
        case [_, "jobs", number, _, slot, *_] if number.isdecimal():
            return JobOwner(int(number), f"jobs/{number}", slot)
        case [_, "jobs", identity, job, _, slot, *_]:
            number = job.partition("_")[0]
            return JobOwner(int(number), f"jobs/{identity}/{job}", slot) if number.isdecimal() else None
    return None


def is_content_key(key: ObjectKey) -> bool:
    """Whether an object is one of a project, of whichever database: not a mark, and not of another program."""
    return _OF_PROJECT.match(key) is not None


def _is_possible(key: str) -> bool:
    if len(key) <= MAX_SEGMENT and "." not in key:  # as all new ones: a launch document names a hundred
        return True
    segments = key.split("/")
    return ".." not in key and not any(len(one) > MAX_SEGMENT or one.endswith(_UNFINISHED) for one in segments)
