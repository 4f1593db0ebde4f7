"""Manifests: one shape for one content, and little to write for a little change."""

from __future__ import annotations

import hashlib
from functools import cache
from itertools import islice

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from acai_jupyter.contract.filesets import Entry
from acai_jupyter.contract.ids import Sha256
from acai_server.lake import manifests

MANY = 20_000


def entry(number: int, version: int = 1) -> Entry:
    name = hashlib.sha256(b"%d" % number).hexdigest()
    return Entry(f"/images/{name[:2]}/{name}.png", version, number, Sha256(name))


@cache
def many() -> tuple[Entry, ...]:
    return tuple(sorted((entry(number) for number in range(MANY)), key=lambda one: one.path))


@cache
def manifest_of_many() -> manifests.Manifest:
    return manifests.build(many())


def read(manifest: manifests.Manifest, after: str = "") -> list[Entry]:
    return list(manifests.entries(manifest.root, manifest.chunks.__getitem__, after))


ENTRIES = st.sets(st.integers(0, 10**6), max_size=600).map(
    lambda numbers: sorted(map(entry, numbers), key=lambda one: one.path)
)


@given(ENTRIES, st.text(max_size=3))
def test_what_is_built_is_read_by_path(entries: list[Entry], start: str) -> None:
    manifest = manifests.build(entries)
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
    assert manifests.build(there_and_back) == manifests.build(without)
    assert manifests.build(iter(without)).chunks == manifests.build(without).chunks


@pytest.mark.parametrize("field", ["version", "size_bytes", "sha256"])
def test_every_field_of_an_entry_counts(field: str) -> None:
    one, other = entry(1), entry(2)
    changed = msgspec.structs.replace(one, **{field: getattr(msgspec.structs.replace(other, version=2), field)})
    assert manifests.build([one]).root != manifests.build([changed]).root


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
    new = manifests.build(changed)
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
    assert len(loaded) <= 4


def test_chunks_are_neither_tiny_nor_huge() -> None:
    chunks = manifest_of_many().chunks
    assert MANY / manifests.AVERAGE / 2 < len(chunks) < MANY / manifests.AVERAGE * 2
    assert all(len(body) < 200_000 for body in chunks.values())


def test_an_empty_set_has_a_root() -> None:
    assert read(manifests.build([])) == []
