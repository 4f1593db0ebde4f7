"""File sets that are made, named, deleted and brought back, against a plain model, checked at every step."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from hypothesis import HealthCheck, settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, invariant, rule, run_state_machine_as_test

from acai_jupyter.contract.errors import Conflict, FileNotFound, FileSetNotFound
from acai_server.testing.keeping import (
    alias,
    alive,
    get,
    history,
    listed,
    remove,
    searched,
    standing,
    tried,
    unalias,
    undo,
    versions,
)
from acai_server.testing.lakes import check_lake

if TYPE_CHECKING:
    from acai_server.testing.lakes import LakeUser

NAMES = ("s", "t")
ALIASES = ("x", "y")
PATHS = ("/a", "/b", "/c")
FILES = st.dictionaries(st.sampled_from(PATHS), st.sampled_from((b"1", b"2")), min_size=1)
NAME, NUMBER = st.sampled_from(NAMES), st.integers(1, 4)
TEXT = st.builds(lambda name, number: name if number is None else f"{name}:{number}", NAME, st.none() | NUMBER)
FileVersion = tuple[str, int]


@dataclass
class Version:
    """A version of a set: what it holds."""

    files: set[FileVersion]
    is_deleted: bool = False


@dataclass
class Name:
    """A name: its versions, what its aliases are, and what was done with them."""

    versions: list[Version] = field(default_factory=list)
    aliases: dict[str, int] = field(default_factory=dict)
    history: list[tuple[str, int | None]] = field(default_factory=list)

    def latest(self) -> int:
        """Return the newest version that is not deleted, or 0."""
        return max((number for number, one in enumerate(self.versions, 1) if not one.is_deleted), default=0)


class KeepingMachine(RuleBasedStateMachine):
    """What two users do in one project, done to the lake and to the model."""

    def __init__(self, user: LakeUser) -> None:
        super().__init__()
        self.user = user.in_a_new_project()
        self.her = self.user.beside("her")
        self.names = {name: Name() for name in NAMES}
        self.files: dict[FileVersion, bool] = {}
        """Whether each version of a file is deleted."""

    # -- acts

    @rule(name=NAME, files=FILES)
    def make(self, name: str, files: dict[str, bytes]) -> None:
        """Make the next version of a name."""
        made = self.user.put(files, file_set=name)
        new = {(path, sum(known == path for known, _ in self.files) + 1) for path in files}
        self.files |= dict.fromkeys(new, False)
        self.names[name].versions.append(Version(new))
        assert made.file_set == f"{name}:{len(self.names[name].versions)}"

    @rule(name=NAME, number=st.none() | NUMBER, word=st.sampled_from(ALIASES))
    def set_alias(self, name: str, number: int | None, word: str) -> None:
        """Let an alias stand for a version."""
        of = self.names[name]
        wanted = of.latest() if number is None else number
        there = 0 < wanted <= len(of.versions) and not of.versions[wanted - 1].is_deleted
        done = tried(lambda: alias(self.her, name if number is None else f"{name}:{number}", word))
        assert isinstance(done, FileSetNotFound) is not there
        if there and of.aliases.get(word) != wanted:
            of.aliases[word] = wanted
            of.history.append((word, wanted))

    @rule(name=NAME, word=st.sampled_from(ALIASES))
    def take_alias_away(self, name: str, word: str) -> None:
        """Let an alias stand for nothing."""
        of = self.names[name]
        done = tried(lambda: unalias(self.user, name, word))
        assert isinstance(done, FileSetNotFound) is (word not in of.aliases)
        if word in of.aliases:
            del of.aliases[word]
            of.history.append((word, None))

    @rule(text=TEXT, files=st.booleans())
    def remove_sets(self, text: str, files: bool) -> None:
        """Delete a version or a name."""
        chosen = self._chosen(text)
        if not chosen:
            assert isinstance(tried(lambda: remove(self.user, text, files=files)), FileSetNotFound)
            return
        aliased = set(self.names[text[0]].aliases.values())
        if any(number in aliased for number, one in chosen.items() if not one.is_deleted):
            assert isinstance(tried(lambda: remove(self.user, text, files=files)), Conflict)
            return
        going = [number for number, one in chosen.items() if not one.is_deleted]
        for one in chosen.values():
            one.is_deleted = True
        lost = self._unneeded(set().union(*(one.files for one in chosen.values()))) if files else set()
        self.files |= dict.fromkeys(lost, True)
        done = remove(self.user, text, files=files)
        assert sorted(done.file_sets) == [f"{text[0]}:{number}" for number in going]
        assert done.file_versions == len(lost)

    @rule(text=TEXT)
    def bring_back(self, text: str) -> None:
        """Take a deletion back."""
        chosen = self._chosen(text)
        if not chosen:
            assert isinstance(tried(lambda: undo(self.her, text)), FileSetNotFound)
            return
        coming = {number: one for number, one in chosen.items() if one.is_deleted}
        lost = {one for version in coming.values() for one in version.files if self.files[one]}
        for one in coming.values():
            one.is_deleted = False
        self.files |= dict.fromkeys(lost, False)
        done = undo(self.her, text)
        assert sorted(done.file_sets) == [f"{text[0]}:{number}" for number in coming]
        assert done.file_versions == len(lost)

    @rule(path=st.sampled_from(PATHS), number=NUMBER, back=st.booleans())
    def remove_file(self, path: str, number: int, back: bool) -> None:
        """Delete a file version, or take that back."""
        done = tried(lambda: self.user.remove(f"{path}:{number}", undo=back))
        if (path, number) not in self.files:
            assert isinstance(done, FileNotFound)
        elif not back and (path, number) in self._held() and not self.files[path, number]:
            assert isinstance(done, Conflict)
        else:
            assert done == ([number] if self.files[path, number] is back else [])
            self.files[path, number] = not back

    # -- what is true at any time

    @invariant()
    def names_are_those_of_the_model(self) -> None:
        """Listings, latest, aliases, searches."""
        latest = {name: of.latest() for name, of in self.names.items() if of.latest()}
        refs = [f"{name}:{number}" for name, number in latest.items()]
        assert [one.ref for one in listed(self.user)] == searched(self.user, "latest = true") == refs
        for name, of in self.names.items():
            if not of.versions:
                continue
            numbers = [number for number, one in enumerate(of.versions, 1) if not one.is_deleted]
            assert alive(self.user, name) == numbers[::-1]
            assert standing(self.user, name) == dict(sorted(of.aliases.items()))
            for one in versions(self.user, name):
                assert one.aliases == sorted(word for word, number in of.aliases.items() if number == one.version)
            for word in ("latest", *ALIASES):
                wanted = of.latest() if word == "latest" else of.aliases.get(word, 0)
                found = tried(lambda name=name, word=word: get(self.her, f"{name}:{word}").version)  # type: ignore[misc]
                assert (found == wanted) if wanted else isinstance(found, FileSetNotFound)

    @invariant()
    def files_are_those_of_the_model(self) -> None:
        """Tombstones."""
        for path in PATHS:
            known = {number: is_deleted for (of, number), is_deleted in self.files.items() if of == path}
            if known:
                found = {one.version: one.deleted_at is not None for one in self.user.versions(path)}
                assert found == known, path

    def teardown(self) -> None:
        """Look at everything once."""
        check_lake(self.her)
        for name, of in self.names.items():
            if of.versions:
                assert history(self.her, name) == of.history
            for number, one in enumerate(of.versions, 1):
                if not one.is_deleted:
                    assert set(self.her.named(f"@{name}:{number}").items()) == one.files

    # -- how the model moves

    def _chosen(self, text: str) -> dict[int, Version]:
        name, _, number = text.partition(":")
        every = dict(enumerate(self.names[name].versions, 1))
        return {n: one for n, one in every.items() if number in ("", str(n))}

    def _held(self) -> set[FileVersion]:
        sets = [one.files for of in self.names.values() for one in of.versions if not one.is_deleted]
        return set().union(*sets)

    def _unneeded(self, wanted: set[FileVersion]) -> set[FileVersion]:
        """Those that are there, that no set holds and that are not the newest of their path."""
        there = {one for one, is_deleted in self.files.items() if not is_deleted}
        newest = {(path, max((n for of, n in there if of == path), default=0)) for path in PATHS}
        return (wanted & there) - self._held() - newest


def check_keeping(user: LakeUser, max_examples: int, steps: int = 25) -> None:
    """Try any acts in projects of their own, so many times."""
    how = settings(
        max_examples=max_examples,
        stateful_step_count=steps,
        suppress_health_check=list(HealthCheck),
        print_blob=True,
    )
    machine: Any = lambda: KeepingMachine(user)  # noqa: E731 (it stands for the class, which takes nothing)
    run_state_machine_as_test(machine, settings=how)
