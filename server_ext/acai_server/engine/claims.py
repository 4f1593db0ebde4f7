"""Who claims which path of the working folder: two inputs, or code and an input, must not differ about one.

Each source is a list of files by path that can be entered anywhere, so a small one is looked up in a large one, and a
million files are never held at once.
"""

from __future__ import annotations

from dataclasses import dataclass
from itertools import combinations
from typing import TYPE_CHECKING

from acai_jupyter.contract.errors import JobRefused

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping

    from acai_jupyter.contract.filesets import Entry

STEPS = 200
"""So many entries are passed over one by one; what is farther away is looked up."""


@dataclass(frozen=True)
class Source:
    """Files that a job gets: those of a set, or of a folder of it, which stand without `folder` in the working folder.

    `entries` gives all of the set after a path, by path.
    """

    name: str
    count: int
    entries: Callable[[str], Iterator[Entry]]
    folder: str = "/"

    def after(self, path: str) -> Iterator[tuple[str, str]]:
        """Iterate over paths in the working folder, with hashes, after one of them (all after '')."""
        for entry in self.entries(f"{self.folder}{path}"):
            if not entry.path.startswith(self.folder):
                return
            yield entry.path[len(self.folder) :], entry.sha256


class Cursor:
    """Looks paths up in a source; cheapest when they come in order."""

    def __init__(self, source: Source) -> None:
        self._source = source
        self._rest: Iterator[tuple[str, str]] = iter(())
        self._next: tuple[str, str] | None = None
        self._passed = ""
        self._begun = False

    def first(self, path: str) -> tuple[str, str] | None:
        """Return the first file at this path or behind it."""
        if not self._begun or path <= self._passed:
            self._enter(path)
        for _ in range(STEPS):
            if self._next is None or self._next[0] >= path:
                return self._next
            self._step()
        self._enter(path)
        return self._next

    def _enter(self, path: str) -> None:
        self._begun = True
        self._passed = before = f"{path[:-1]}{chr(ord(path[-1]) - 1)}\U0010ffff"  # behind which nothing is before it
        self._rest = self._source.after(before)
        self._next = next(self._rest, None)
        while self._next is not None and self._next[0] < path:
            self._step()

    def _step(self) -> None:
        assert self._next is not None
        self._passed = self._next[0]
        self._next = next(self._rest, None)


class Nesting:
    """Refuses a file that is a folder too, in one list of paths that come in order."""

    def __init__(self, name: str) -> None:
        self._name = name
        self._above: list[str] = []

    def take(self, path: str) -> str:
        """Return the next path, when no earlier one stands where it needs a folder."""
        while self._above and path >= f"{self._above[-1]}0":  # which comes next to '/': nothing below can follow
            self._above.pop()
        for above in self._above:
            if path.startswith(f"{above}/"):
                raise JobRefused(reason=f"'{above.lstrip('/')}' of {self._name} is a file and a folder")
        self._above.append(path)
        return path


def check(sources: list[Source], kept_free: Mapping[str, str]) -> None:
    """Refuse sources that differ about a path, or that claim one of the folders that are for something else."""
    for source in sources:
        for folder, purpose in kept_free.items():
            _check_folder(source, folder, purpose)
    for one, other in combinations(sources, 2):
        few, many = sorted((one, other), key=lambda source: source.count)
        _check_pair(few, many)


def _check_pair(few: Source, many: Source) -> None:
    same, inside, above = Cursor(many), Cursor(many), Cursor(many)
    known_parents: set[str] = set()
    for path, sha256 in few.after(""):
        found = same.first(path)
        if found is not None and found[0] == path:
            if found[1] != sha256:
                raise differs(few.name, many.name, path)
            continue
        below = inside.first(f"{path}/")
        if below is not None and below[0].startswith(f"{path}/"):
            raise _is_both(many, few, path)
        for parent in _parents(path):
            if parent in known_parents:
                break
            known_parents.add(parent)
            found = above.first(parent)
            if found is not None and found[0] == parent:
                raise _is_both(few, many, parent)


def _parents(path: str) -> Iterator[str]:
    while "/" in path:
        path = path.rpartition("/")[0]
        yield path


def _check_folder(source: Source, folder: str, purpose: str) -> None:
    cursor = Cursor(source)
    for place in (folder, *_parents(folder)):
        found = cursor.first(place)
        if found is not None and found[0] == place:
            raise JobRefused(reason=f"'{place}' of {source.name} is a file where the folder of {purpose} is to be")
    found = cursor.first(f"{folder}/")
    if found is not None and found[0].startswith(f"{folder}/"):
        raise JobRefused(reason=f"'{found[0]}' of {source.name} lies in {folder}/, which is for {purpose}")


def differs(one: str, other: str, path: str) -> JobRefused:
    """Return the refusal of two sources that claim a path."""
    first, second = sorted((one, other))
    return JobRefused(reason=f"both {first} and {second} have a '{path.removeprefix('/')}', and they differ")


def _is_both(folder: Source, file: Source, path: str) -> JobRefused:
    return JobRefused(reason=f"'{path}' is a folder in {folder.name} and a file in {file.name}")
