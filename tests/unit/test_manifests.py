"""Manifests: one shape for one content, and little to write for a little change."""

from __future__ import annotations

import hashlib
from functools import cache
from itertools import islice
from typing import TYPE_CHECKING, NamedTuple

import msgspec
import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from acai_jupyter.contract.filesets import Entry
from acai_jupyter.contract.ids import Sha256
from acai_server.lake import manifests

if TYPE_CHECKING:
    from collections.abc import Iterable

MANY = 20_000


def entry(number: int, version: int = 1) -> Entry:
    name = hashlib.sha256(b"%d" % number).hexdigest()
    return Entry(f"/images/{name[:2]}/{name}.png", version, number, Sha256(name))


class Manifest(NamedTuple):
    """A manifest as it is kept: the root, and all chunks ever stored."""

    root: bytes
    chunks: dict[bytes, bytes]


def build(entries: Iterable[Entry]) -> Manifest:
    chunks: dict[bytes, bytes] = {}
    return Manifest(manifests.build(entries, chunks.__setitem__), chunks)


def edit(manifest: Manifest, changes: dict[str, Entry | None]) -> Manifest:
    """The edited manifest, with only the chunks that the edit stored."""
    chunks: dict[bytes, bytes] = {}
    return Manifest(manifests.edit(manifest.root, changes, manifest.chunks.__getitem__, chunks.__setitem__), chunks)


@cache
def many() -> tuple[Entry, ...]:
    return tuple(sorted((entry(number) for number in range(MANY)), key=lambda one: one.path))


@cache
def manifest_of_many() -> Manifest:
    return build(many())


def read(manifest: Manifest, after: str = "") -> list[Entry]:
    return list(manifests.entries(manifest.root, manifest.chunks.__getitem__, after))


ENTRIES = st.sets(st.integers(0, 10**6), max_size=600).map(
    lambda numbers: sorted(map(entry, numbers), key=lambda one: one.path)
)


@given(ENTRIES, st.text(max_size=3))
def test_what_is_built_is_read_by_path(entries: list[Entry], start: str) -> None:
    manifest = build(entries)
    assert read(manifest) == entries
    after = entries[len(entries) // 2].path if entries else start
    assert read(manifest, after) == [one for one in entries if one.path > after]
    assert read(manifest, f"/images/{start}") == [one for one in entries if one.path > f"/images/{start}"]


@given(ENTRIES, st.integers(0, 10**6))
def test_its_shape_tells_nothing_of_how_it_came_to_be(entries: list[Entry], number: int) -> None:
    other = entry(number)
    without = [one for one in entries if one.path != other.path]
    there_and_back = sorted([*without, other], key=lambda one: one.path)
    there_and_back.remove(other)
    assert build(there_and_back) == build(without)
    assert build(iter(without)).chunks == build(without).chunks


@pytest.mark.parametrize("field", ["version", "size_bytes", "sha256"])
def test_every_field_of_an_entry_counts(field: str) -> None:
    one, other = entry(1), entry(2)
    changed = msgspec.structs.replace(one, **{field: getattr(msgspec.structs.replace(other, version=2), field)})
    assert build([one]).root != build([changed]).root


@pytest.mark.parametrize("place", [0, 1, MANY // 2, MANY - 1])
@pytest.mark.parametrize("change", ["another version", "one less", "one more"])
def test_a_change_of_one_entry_writes_little(place: int, change: str) -> None:
    changed = list(many())
    if change == "another version":
        changed[place] = msgspec.structs.replace(changed[place], version=2, sha256=entry(MANY + 1).sha256)
    elif change == "one less":
        del changed[place]
    else:
        changed.insert(place, msgspec.structs.replace(changed[place], path=f"{changed[place].path[:-1]}A"))
    new = build(changed)
    fresh = new.chunks.keys() - manifest_of_many().chunks.keys()
    assert 2 <= len(fresh) <= 6
    assert sum(len(new.chunks[key]) for key in fresh) < 200_000
    assert read(new) == changed


def test_a_page_loads_few_chunks() -> None:
    loaded: list[bytes] = []

    def load(key: bytes) -> bytes:
        loaded.append(key)
        return manifest_of_many().chunks[key]

    middle = many()[MANY // 2]
    page = list(islice(manifests.entries(manifest_of_many().root, load, middle.path), 10))
    assert page == list(many()[MANY // 2 + 1 : MANY // 2 + 11])
    assert len(loaded) <= 6


def test_chunks_are_neither_tiny_nor_huge() -> None:
    chunks = manifest_of_many().chunks
    assert MANY / manifests.AVERAGE / 2 < len(chunks) < MANY / manifests.AVERAGE * 2
    assert all(len(body) < 200_000 for body in chunks.values())


def test_an_empty_set_has_a_root() -> None:
    assert read(build([])) == []


EDITS = st.dictionaries(st.integers(0, 3000), st.sampled_from(["out", "new", "other"]), max_size=80)


@given(st.sets(st.integers(0, 3000), max_size=1500), EDITS)
@example(set(range(1500)), dict.fromkeys(range(1500), "out"))
@example(set(range(1500)), dict.fromkeys(range(1400), "out"))
@example(set(), dict.fromkeys(range(500), "new"))
def test_an_edited_manifest_is_the_one_that_would_be_built(numbers: set[int], changes: dict[int, str]) -> None:
    before = {one.path: one for one in map(entry, numbers)}
    wanted: dict[str, Entry | None] = {}
    for number, change in changes.items():
        other = entry(number, 2)
        wanted[other.path] = None if change == "out" else other
    after = {path: one for path, one in (before | wanted).items() if one is not None}
    old = build(before[path] for path in sorted(before))
    new = build(after[path] for path in sorted(after))
    edited = edit(old, wanted)
    assert edited.root == new.root
    assert new.chunks.keys() <= old.chunks.keys() | edited.chunks.keys()


def test_an_edit_writes_as_little_as_it_can() -> None:
    old = manifest_of_many()
    changed = msgspec.structs.replace(many()[777], version=2)
    edited = edit(old, {changed.path: changed})
    assert len(edited.chunks) <= 4
    assert sum(map(len, edited.chunks.values())) < 16 * 1024


@given(ENTRIES, st.integers(0, 10**6))
def test_a_path_is_found_where_it_is(entries: list[Entry], number: int) -> None:
    manifest = build(entries)
    for wanted in (entry(number), *entries[:3], *entries[-3:]):
        found = manifests.find(manifest.root, manifest.chunks.__getitem__, wanted.path)
        assert found == (wanted if wanted in entries else None)
