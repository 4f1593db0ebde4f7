"""URLs and what fsspec calls paths: a spec, after `//project` when it is not the project one is in.

    acai:///data/train.json@HotpotQA:1   /data/train.json@HotpotQA:1
    acai:///img/@train                   /img@train
    acai://other/data/train.json         //other/data/train.json

A path has no slash at its end. What is below a folder of a set has that folder's path before it, as libraries rely on:
`/img@train/1.png` is the same file as `/img/1.png@train`.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

from acai_jupyter.contract.errors import BadPath
from acai_jupyter.contract.specs import Spec, encode_path, parse_spec
from acai_jupyter.filesystem import links

if TYPE_CHECKING:
    from acai_jupyter.contract.routes import Endpoint, ResponseT

PROTOCOL = "acai"
_SCHEME = f"{PROTOCOL}://"


class Pieces(NamedTuple):
    """A path, cut: `//project`, the place in it, from `@` on the set, and from the next `/` on what is below that."""

    project: str
    location: str
    file_set: str
    below: str

    @property
    def spec(self) -> str:
        """The path as a spec."""
        return f"{self.location.rstrip('/') if self.below else self.location}{self.below}{self.file_set}"


class Address(NamedTuple):
    """What a path names, and in which project if that was said."""

    path: str
    project: str | None
    spec: Spec

    @property
    def is_version(self) -> bool:
        """Whether it names a version or a set: nothing can be written there."""
        return self.spec.version is not None or self.spec.file_set is not None

    @property
    def is_immutable(self) -> bool:
        """Whether it is about a numbered version of a set."""
        return self.spec.file_set is not None and isinstance(self.spec.file_set.version, int)

    @property
    def name(self) -> str:
        """The last part of its path."""
        return self.spec.path.rpartition("/")[2]

    @property
    def plain(self) -> str:
        """The path without version and set."""
        return f"{self._prefix}{encode_path(self.spec.path)}"

    def named(self, found: str) -> str:
        """Return the path of a file or folder that was found here, given its place in the project."""
        here = self.spec.path.rstrip("/")
        if found.rstrip("/") == here:
            return self.path
        return f"{self.path.rstrip('/')}/{encode_path(found[len(here) + 1 :])}"

    def pinned(self, found: str, version: int) -> Address:
        """Return the address of the version that a file is now."""
        spec = Spec(found, version=version)
        return Address(f"{self._prefix}{spec}", self.project, spec)

    def call(self, endpoint: Endpoint[ResponseT], *body: Any, **options: Any) -> ResponseT:
        """Call an endpoint for its project."""
        with links.told_to_python():
            return links.client(self.project).call(endpoint, *body, **options)

    @property
    def _prefix(self) -> str:
        return "" if self.project is None else f"//{self.project}"


def cut(text: str) -> Pieces:
    """Cut a URL or a path."""
    project, rest = _cut_project(text)
    location, at, named = rest.partition("@")
    named, slash, below = named.rstrip("/").partition("/")
    location = location.rstrip("/")
    return Pieces(project, location if location.startswith("/") else f"/{location}", at + named, slash + below)


def _cut_project(text: str) -> tuple[str, str]:
    rest = text.removeprefix(_SCHEME)
    is_url = rest != text
    if is_url and rest.startswith("//"):
        raise BadPath(path=ascii(rest[:80])[1:-1], reason="it has an empty part")
    if is_url and rest and not rest.startswith(("/", "@")):
        rest = f"//{rest}"
    if not rest.startswith("//"):
        return "", rest
    name, _, rest = rest[2:].partition("/")
    return f"//{name}", rest


def strip(text: str) -> str:
    """Return the path in its one form."""
    return "".join(cut(text))


def url(text: str) -> str:
    """Return the URL of a path."""
    project, *rest = cut(text)
    return f"{PROTOCOL}:{project or '//'}{''.join(rest)}"


def address(text: str) -> Address:
    """Return what a URL or a path names."""
    pieces = cut(text)
    return Address("".join(pieces), pieces.project[2:] or None, parse_spec(pieces.spec))


def parent(text: str) -> str:
    """Return the path of the folder that something is in; of a set, if it is in one."""
    project, location, file_set, below = cut(text)
    if below:
        return f"{project}{location}{file_set}{below[: below.rindex('/')]}"
    return f"{project}{location[: location.rindex('/')] or '/'}{file_set}"
