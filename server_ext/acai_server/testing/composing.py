"""What file sets made of sources owe: what plain dictionaries say, and the edges to where it came from."""

from __future__ import annotations

from itertools import count
from typing import TYPE_CHECKING

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from acai_jupyter.contract.errors import BadRequest
from acai_jupyter.contract.filesets import AsOf, Entry, Matching, Source, Without
from acai_jupyter.contract.specs import SetRef, parse_spec
from acai_jupyter.contract.states import ActionKind
from acai_server.testing.bad_sources import BadSourceSuite
from acai_server.testing.composers import Content, compare, create, inputs, resolve, resolved
from acai_server.testing.moments import MomentSuite
from acai_server.testing.uploads import LakeSuite

if TYPE_CHECKING:
    from collections.abc import Callable

    from acai_server.testing.lakes import LakeUser

SHARED = settings(
    max_examples=15, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow]
)
MANY = 300


class World:
    """A project with files and sets, and the same in dictionaries."""

    SPECS = (
        *("/", "/a", "/a/", "/b/", "/m/", "/a/x", "/a/x:1", "/a/x:2", "/a/y", "/b/z:1", "/m/0100", "/m/0100:1"),
        *("@A", "@A:1", "@A:2", "/@B", "@M", "/a/@A", "/a@A:1", "/a/x@A:1", "/a/x@A:2", "/m/@M", "/m/0100@M", "@N:1"),
    )
    PATTERNS = (
        ("/a/*", lambda path: path.startswith("/a/") and "/" not in path[3:]),
        ("/**/*5", lambda path: path.endswith("5")),
        ("/m/", lambda path: path.startswith("/m/")),
        ("/m/01**", lambda path: path.startswith("/m/01")),
        ("/a/x", lambda path: path == "/a/x"),
        ("/q*", lambda _: False),
    )

    def __init__(self, user: LakeUser) -> None:
        self.user = user
        many = {f"/m/{number:04}": b"%d" % (number // 2) for number in range(MANY)}
        user.put({"/a/x": b"1", "/a/y": b"1", "/b/z": b"z"}, file_set="A")
        user.put(many, file_set="M")
        user.put({"/a/x": b"2", "/a/w/v": b"1"}, file_set="A")
        user.put({"/a/y": b"2", "/b/u": b"u"}, file_set="B")
        user.put({path: body + b"+" for path, body in list(many.items())[100:110]}, file_set="N")
        user.put({"/b/gone": b"gone", "/b/u": b"later"})
        user.remove("/b/gone")
        user.remove("/b/u:2")
        self.sets = {ref: user.named(f"@{ref}") for ref in ("A:1", "A:2", "B:1", "M:1", "N:1")}
        self.files = user.named()
        self.entries = {(path, version): entry for path, version, entry in self._entries()}

    def _entries(self) -> list[tuple[str, int, Entry]]:
        found = [
            Entry(one.path, one.version, one.size_bytes, one.sha256)
            for path in (*self.files, "/b/u")
            for one in self.user.versions(path)
        ]
        return [(entry.path, entry.version, entry) for entry in found]

    def of(self, sources: list[Source], *, taken_away: bool = False) -> Content:
        """Evaluate sources by hand. Of what is taken away versions do not matter."""
        named: Content = {}
        found: Content = {}
        for source in sources:
            one = self._of(source, taken_away=taken_away)
            if not taken_away and isinstance(source, str) and parse_spec(source).path in one:
                path, version = next(iter(one.items()))
                if named.setdefault(path, version) != version:
                    raise LookupError(path)
            found |= one
        return dict(sorted(found.items()))

    def _of(self, source: Source, *, taken_away: bool) -> Content:
        if isinstance(source, Without):
            gone = self.of(source.without, taken_away=True)
            left = self.of(source.of, taken_away=taken_away)
            return {path: version for path, version in left.items() if path not in gone}
        if isinstance(source, Matching):
            passes: Callable[[str], bool] = dict(self.PATTERNS)[source.pattern]
            chosen = self.of(source.of, taken_away=taken_away)
            return {path: version for path, version in chosen.items() if passes(path)}
        assert isinstance(source, str)
        spec = parse_spec(source)
        there = self.files if spec.file_set is None else self.sets[self.ref(spec.file_set)]
        if spec.version is not None:
            return {spec.path: spec.version}
        if spec.path in there:
            return {spec.path: there[spec.path]}
        return {path: version for path, version in there.items() if path.startswith(spec.path.rstrip("/") + "/")}

    @staticmethod
    def ref(ref: SetRef) -> str:
        """Return the version that is meant."""
        newest = {"A": 2}.get(ref.name, 1)
        return f"{ref.name}:{newest if ref.version == 'latest' else ref.version}"

    def sets_in(self, sources: list[Source]) -> list[str]:
        """Return the set versions that are mentioned, each once, in order."""
        found: dict[str, None] = {}
        for source in sources:
            if isinstance(source, str):
                spec = parse_spec(source)
                if spec.file_set is not None:
                    found[self.ref(spec.file_set)] = None
            else:
                assert not isinstance(source, AsOf)
                inner = [*source.of, *(source.without if isinstance(source, Without) else [])]
                found |= dict.fromkeys(self.sets_in(inner))
        return list(found)


LEAVES = st.sampled_from(World.SPECS)


def _nested(inner: st.SearchStrategy[Source]) -> st.SearchStrategy[Source]:
    several = st.lists(inner, min_size=1, max_size=3)
    pattern = st.sampled_from([pattern for pattern, _ in World.PATTERNS])
    return st.builds(Without, several, several) | st.builds(Matching, several, pattern)


SOURCES = st.lists(st.recursive(LEAVES, _nested, max_leaves=6), min_size=1, max_size=4)


class AlgebraSuite(LakeSuite):
    """What sources are, whatever stands in whatever."""

    def test_sources_are_what_dictionaries_say(self, user: LakeUser) -> None:
        world = World(user)
        versions = count(1)

        @SHARED
        @given(SOURCES, st.sampled_from([7, 100, 1000]))
        def check(sources: list[Source], limit: int) -> None:
            try:
                wanted = world.of(sources)
            except LookupError:
                with pytest.raises(BadRequest, match="two versions of one file are asked for"):
                    resolve(user, *sources)
                return
            entries = [world.entries[one] for one in wanted.items()]
            page = resolve(user, *sources, limit=0, counted=True)
            amount = (len(entries), sum(entry.size_bytes for entry in entries))
            assert (page.file_count, page.size_bytes) == amount
            assert resolved(user, *sources, limit=limit) == resolved(user, *page.pinned) == entries
            assert page.made_from == world.sets_in(sources)
            if not entries:
                with pytest.raises(BadRequest, match="have no files"):
                    create(user, "made", *sources)
                return
            made = create(user, "made", *sources)
            assert made.file_set.ref == f"made:{next(versions)}"
            assert (made.file_set.file_count, made.file_set.size_bytes) == amount
            assert user.entries(f"@{made.file_set.ref}") == entries
            assert inputs(user, made.file_set.ref) == (ActionKind.CREATION, page.made_from)
            again = create(user, "made", *page.pinned, if_changed=True)
            assert (again.file_set, again.is_new) == (made.file_set, False)

        check()

    def test_differences_are_what_dictionaries_say(self, user: LakeUser) -> None:
        world = World(user)

        @SHARED
        @given(SOURCES, SOURCES)
        def check(before: list[Source], after: list[Source]) -> None:
            try:
                old, new = world.of(before), world.of(after)
            except LookupError:
                return
            found = compare(user, before, after)
            both = {
                path: (world.entries[path, old[path]], world.entries[path, new[path]]) for path in old if path in new
            }
            changed = [path for path, (one, other) in both.items() if one.sha256 != other.sha256]
            assert found.changed == len(changed)
            same = sum(old[path] != new[path] for path in both) - len(changed)
            assert found.renumbered == same
            assert found.removed + found.renamed == len(old.keys() - new.keys())
            assert found.added + found.renamed == len(new.keys() - old.keys())
            assert found.next is None
            undone = dict(old)
            for one in found.differences:
                if one.before is not None:
                    assert undone.pop(one.before.path) == one.before.version
            for one in found.differences:
                if one.after is not None:
                    undone[one.after.path] = one.after.version
                if one.kind == "renamed":
                    assert one.before is not None
                    assert one.after is not None
                    assert one.before.sha256 == one.after.sha256
            kept = {path for path in both if path not in changed}
            assert undone.keys() == new.keys()
            assert all(undone[path] == new[path] for path in new if path not in kept)
            assert compare(user, found.pinned_before, found.pinned_after).differences == found.differences

        check()

    def test_differences_come_in_pages_by_path(self, user: LakeUser) -> None:
        World(user)
        every = compare(user, ["@M"], ["/m/", "@A"])
        assert (every.added, every.removed, every.changed, every.renamed) == (2, 0, 10, 0)
        paths = [one.after.path for one in every.differences if one.after]
        assert paths == sorted(paths)
        assert len(paths) == 12
        first = compare(user, ["@M"], ["/m/", "@A"], limit=9)
        rest = compare(user, first.pinned_before, first.pinned_after, start=first.next or 0, limit=9)
        assert (first.next, rest.next) == (9, None)
        assert first.differences + rest.differences == every.differences
        assert (rest.changed, rest.added) == (10, 2)

    def test_a_folder_that_moved_is_renamed(self, user: LakeUser) -> None:
        user.put({f"/old/{number}": b"%d" % number for number in range(20)}, file_set="old")
        user.put({f"/new/{number}": b"%d" % number for number in range(20)}, file_set="new")
        found = compare(user, ["@old"], ["@new"])
        assert (found.renamed, found.added, found.removed) == (20, 0, 0)
        assert {(one.kind, one.before and one.before.path[4:]) for one in found.differences} == {
            ("renamed", f"/{number}") for number in range(20)
        }


class ComposingSuite(AlgebraSuite, MomentSuite, BadSourceSuite):
    """All of it."""
