"""The grammar of file specs, set references and paths.

A spec names file versions: ``/p`` ``/p:2`` ``/dir/`` ``/p@Set`` ``/p@Set:3`` ``/dir/@Set:3`` ``@Set``
``/@Set``.
A set reference names one file set version: ``Set``, ``Set:3``, ``Set:latest``, ``Set:alias``.
Inside a path ``@``, ``:`` and ``%`` are percent-encoded, so that every spec reads in exactly one way.
"""

from __future__ import annotations

import re
import unicodedata

import msgspec

from acai_jupyter.contract.errors import BadName, BadPath, BadSpec

LATEST = "latest"
MAX_PATH_BYTES = 1024
MAX_NAME = 128
_NAME = re.compile(r"[A-Za-z][A-Za-z0-9._-]*\Z")
_NUMBER = re.compile(r"[1-9][0-9]{0,8}\Z")
_ESCAPE = re.compile(rb"%([0-9A-Fa-f]{2})")
_BARE_PERCENT = re.compile(r"%(?![0-9A-Fa-f]{2})")
_PLAIN_PATH = re.compile(r"(?:/(?!\.{1,2}(?:/|\Z))[ -.0-~]+)+\Z")  # most paths; a tenth of the time of a closer look
_CONTROL = re.compile(r"[\0-\x1f\x7f-\x9f]")


class SetRef(msgspec.Struct, frozen=True):
    """One version of a named file set: by number, by alias, or the latest."""

    name: str
    version: int | str = LATEST

    def __str__(self) -> str:
        return self.name if self.version == LATEST else f"{self.name}:{self.version}"


class Spec(msgspec.Struct, frozen=True):
    """One parsed file spec. `path` is '/' with a set for the whole of it, and ends in '/' for a folder."""

    path: str
    version: int | None = None
    file_set: SetRef | None = None

    @property
    def is_folder(self) -> bool:
        """Whether it names all files below a folder."""
        return self.path.endswith("/")

    def __str__(self) -> str:
        text = "" if self.path == "/" and self.file_set else encode_path(self.path)
        if self.file_set is not None:
            return f"{text}@{self.file_set}"
        return text if self.version is None else f"{text}:{self.version}"


def check_name(name: str) -> str:
    """Return a valid file set name, or say what is wrong with it."""
    if name == LATEST:
        raise BadName(spec=name, reason="'latest' is reserved for the newest version")
    if len(name) > MAX_NAME:
        raise BadName(spec=f"{name[:40]}…", reason=f"a name has at most {MAX_NAME} characters")
    if not _NAME.match(name):
        raise BadName(spec=name, reason="a name starts with a letter and has letters, digits, '.', '_' and '-' only")
    return name


def parse_set(text: str) -> SetRef:
    """Read ``name``, ``name:3`` or ``name:alias``."""
    name, colon, version = text.partition(":")
    check_name(name)
    if not colon:
        return SetRef(name)
    if _NUMBER.match(version):
        return SetRef(name, int(version))
    if not _NAME.match(version):
        raise BadSpec(spec=text, reason="after ':' comes a version number, an alias or 'latest'")
    return SetRef(name, version)


def parse_spec(text: str) -> Spec:
    """Read one file spec; a bare name is not one (see `parse_input`)."""
    location, at, set_text = text.partition("@")
    if at:
        if ":" in location:
            raise BadSpec(spec=text, reason="before '@' a ':' of a name is written %3A; a version comes after the set")
        path = _decode(location, text) if location else "/"
        folder = path.endswith("/")
        path = "/" if path == "/" else normal_path(path.rstrip("/")) + ("/" if folder else "")
        return Spec(path, file_set=_set_of(text, set_text))
    if not text.startswith("/"):
        raise BadSpec(spec=text, reason="it starts with '/' for a file or '@' for a file set")
    location, colon, version = text.partition(":")
    if colon and not _NUMBER.match(version):
        raise BadSpec(spec=text, reason="after ':' comes a version number; write a ':' of a name as %3A")
    path = _decode(location, text)
    if path.endswith("/") and not colon:
        return Spec("/" if path == "/" else normal_path(path.rstrip("/")) + "/")
    path = normal_path(path)
    return Spec(path, version=int(version) if colon else None)


def _set_of(spec: str, text: str) -> SetRef:
    """Read the set of a spec. Behind a path, the '@' that was taken for its beginning may be one of a name."""
    try:
        return parse_set(text)
    except BadSpec as error:
        if not spec.startswith("/") or spec.startswith("/@"):
            raise
        raise BadSpec(spec=spec, reason=f"{error.details['reason']}; write a '@' of a name as %40") from error


def parse_input(text: str) -> Spec:
    """Read what ``--input`` takes: any spec, or a set's bare name."""
    return parse_spec(text if text[:1] in "/@" else f"@{text}")


def encode_path(path: str) -> str:
    """Write a path so that it stands unchanged in a spec."""
    return path.replace("%", "%25").replace("@", "%40").replace(":", "%3A")


def _decode(location: str, spec: str) -> str:
    if _BARE_PERCENT.search(location):
        raise BadSpec(spec=spec, reason="'%' is written %25")
    raw = _ESCAPE.sub(lambda match: bytes([int(match[1], 16)]), location.encode())
    try:
        return raw.decode()
    except UnicodeDecodeError as error:
        raise BadSpec(spec=spec, reason="its percent-encoded bytes are not UTF-8") from error


def normal_path(path: str) -> str:
    """Return the path if it is in its one normal form, or say why it is not."""
    reason = _path_fault(path)
    if reason:
        raise BadPath(path=ascii(path[:80])[1:-1], reason=reason)
    return path


def _path_fault(path: str) -> str | None:
    if len(path) <= MAX_PATH_BYTES and _PLAIN_PATH.match(path):
        return None
    try:
        size = len(path.encode())
    except UnicodeEncodeError:
        return "it is not valid Unicode"
    parts = path.split("/")[1:]
    faults = (
        (not path.startswith("/"), "it does not start with '/'"),
        (size > MAX_PATH_BYTES, f"it is longer than {MAX_PATH_BYTES} bytes"),
        ("" in parts, "it has an empty part or ends in '/'"),
        ("." in parts or ".." in parts, "'.' and '..' are not allowed in it"),
        (_CONTROL.search(path) is not None, "it has a control character"),
        ("\U0010ffff" in path, "U+10FFFF stands behind all names and cannot be in one"),
        (not unicodedata.is_normalized("NFC", path), "it is not in Unicode's normal form NFC"),
    )
    return next((reason for bad, reason in faults if bad), None)
