"""Walking manifests for what lives, and collections as a service: one at a time, by themselves, to their ends."""

from __future__ import annotations

import threading
from contextlib import closing
from datetime import timedelta
from typing import TYPE_CHECKING

import pytest
from hypothesis import given
from hypothesis import strategies as st

from acai_jupyter.contract.filesets import Entry
from acai_jupyter.contract.garbage import CollectGarbage, CollectionState, GarbageKind
from acai_jupyter.contract.ids import Sha256
from acai_server.clock import Clock
from acai_server.db import schema
from acai_server.db.database import Database
from acai_server.lake import manifests, marking
from acai_server.lake.collecting import EXAMPLES, Report, Terms
from acai_server.lake.garbage import REMEMBERED, GarbageCollector
from acai_server.objects.memory import MemoryObjectStore
from acai_server.testing.collecting import GRACE, Days, chunks_of, collect, collections_of, remove_set, sizes
from acai_server.testing.dying import Held
from acai_server.testing.lakes import SIGNER, LakeUser, claim_store, hash_of

if TYPE_CHECKING:
    from collections.abc import Iterator

    from acai_server.lake.garbage import Collections

Files = dict[str, bytes]


class Chunks:
    """Pieces of manifests; says which were read."""

    def __init__(self) -> None:
        self.bodies: dict[bytes, bytes] = {}
        self.read: list[bytes] = []

    def add(self, files: Files) -> bytes:
        entries = [Entry(path, 1, len(body), Sha256(hash_of(body))) for path, body in sorted(files.items())]
        return manifests.build(entries, self.bodies.__setitem__)

    def load(self, hashes: list[bytes]) -> dict[bytes, bytes]:
        self.read += hashes
        return {chunk: self.bodies[chunk] for chunk in hashes if chunk in self.bodies}

    def below(self, root: bytes) -> set[bytes]:
        """All pieces of a manifest, the plain way."""
        _, branches = manifests.opened(self.bodies[root])
        return {root, *(piece for _, chunk in branches for piece in self.below(chunk))}


def files_of(numbers: set[int]) -> Files:
    """Many files for each number, so that there is something to share."""
    return {f"/{number}/{n}": b"%d %d" % (number, n) for number in numbers for n in range(60)}


SOME_SETS = st.lists(st.sets(st.integers(0, 6)), min_size=1, max_size=5)


@given(sets=SOME_SETS)
def test_all_pieces_of_some_manifests_are_marked(sets: list[set[int]]) -> None:
    chunks, seen = Chunks(), set[bytes]()
    for numbers in sets:
        root = chunks.add(files_of(numbers))
        new = marking.mark(root, chunks.load, seen)
        assert len(new) == len(set(new))
        assert chunks.below(root) <= seen
    assert seen == set(chunks.bodies)


def test_the_lowest_pieces_are_not_read_to_be_marked() -> None:
    chunks = Chunks()
    root = chunks.add(files_of(set(range(100))))
    seen: set[bytes] = set()
    marking.mark(root, chunks.load, seen)
    assert len(chunks.read) < len(seen) / 5
    chunks.read.clear()
    assert marking.mark(root, chunks.load, seen) == []
    assert chunks.read == []


def test_a_list_that_is_gone_has_nothing_below_it() -> None:
    chunks, seen = Chunks(), set[bytes]()
    assert marking.mark(b"gone", chunks.load, seen) == [b"gone"]


@given(sets=SOME_SETS, wanted=st.sets(st.integers(0, 6)))
def test_what_manifests_hold_is_taken_out(sets: list[set[int]], wanted: set[int]) -> None:
    chunks, seen = Chunks(), set[bytes]()
    hashes = {bytes.fromhex(hash_of(body)) for body in files_of(wanted).values()}
    for numbers in sets:
        marking.take_out(chunks.add(files_of(numbers)), chunks.load, seen, hashes)
    left = files_of(wanted.difference(*sets))
    assert hashes == {bytes.fromhex(hash_of(body)) for body in left.values()}


@given(sets=SOME_SETS, wanted=st.sets(st.integers(0, 6), max_size=2))
def test_which_manifests_hold_any_of_some_contents_is_known(sets: list[set[int]], wanted: set[int]) -> None:
    chunks, clean = Chunks(), set[bytes]()
    hashes = {bytes.fromhex(hash_of(b"%d 30" % number)) for number in wanted}
    for numbers in sets:
        assert marking.holds(chunks.add(files_of(numbers)), chunks.load, clean, hashes) is bool(wanted & numbers)


def test_a_report_adds_up_and_keeps_a_few_examples() -> None:
    report = Report()
    report.add(GarbageKind.LEFTOVERS, 0, 0, ["nothing"])
    for number in range(EXAMPLES + 2):
        assert report.lacks_examples(GarbageKind.LEFTOVERS) is (number < EXAMPLES)
        report.add(GarbageKind.LEFTOVERS, 1, 10, [f"{number}"])
    report.add(GarbageKind.DELETED_FILES, 1, 1)
    first, second = report.garbage()
    assert (first.kind, second.count, second.size_bytes) == (GarbageKind.DELETED_FILES, 7, 70)
    assert second.examples == ["0", "1", "2", "3", "4"]


# -- the service


@pytest.fixture
def days() -> Days:
    return Days()


@pytest.fixture
def user(days: Days) -> Iterator[LakeUser]:
    with closing(Database("sqlite://", Clock(days.now))) as database:
        schema.migrate(database)
        yield LakeUser(database, MemoryObjectStore(SIGNER))


def loop(user: LakeUser, collections: Collections, interval_seconds: float, first: float = 0.0) -> GarbageCollector:
    database = user.database
    return GarbageCollector(database, collections, interval_seconds=interval_seconds, first_after_seconds=first)


def make_garbage(user: LakeUser, days: Days) -> None:
    user.put({"/x": b"one"})
    user.remove("/x")
    days.go_on(GRACE)


def test_the_server_collects_in_all_projects_by_itself(user: LakeUser, days: Days) -> None:
    other = user.in_a_new_project()
    for one in (user, other):
        make_garbage(one, days)
    assert loop(user, collections_of(user), 1000).step() is False
    assert (sizes(user), sizes(other)) == ({}, {})


def test_it_does_so_again_and_again_until_it_is_ended(user: LakeUser, days: Days) -> None:
    held = Held(user)
    collector = loop(user, collections_of(held.user), 0.01)
    collector.start()
    assert held.reached.wait(120)
    held.reached.clear()
    make_garbage(user, days)
    held.go_on.set()
    assert held.reached.wait(120)
    for _ in range(2):
        collector.stop()
    assert sizes(user) == {}


@pytest.mark.parametrize(("interval", "first"), [(0.0, 0.0), (1000.0, 500.0)])
def test_it_does_nothing_when_it_is_not_to_or_not_yet(
    user: LakeUser, days: Days, interval: float, first: float
) -> None:
    make_garbage(user, days)
    collector = loop(user, collections_of(user), interval, first)
    collector.start()
    collector.stop()
    assert len(sizes(user)) == 1


def test_a_collection_is_ended_between_two_steps_when_the_server_ends(user: LakeUser, days: Days) -> None:
    make_garbage(user, days)
    held = Held(user)
    collections = collections_of(held.user)
    begun = collections.begin(user.member.project_id, None, CollectGarbage())
    assert held.reached.wait(120)
    stopping = threading.Thread(target=collections.stop)
    stopping.start()
    held.go_on.set()
    stopping.join(120)
    assert collections.get(user.member.project_id, begun.id).state is not CollectionState.RUNNING
    after = collections.begin(user.member.project_id, None, CollectGarbage())
    collections.stop()
    ended = collections.get(user.member.project_id, after.id)
    assert (ended.state, ended.reason) == (CollectionState.FAILED, "the server was stopped")


def test_so_many_collections_are_remembered_and_not_more(user: LakeUser) -> None:
    collections = collections_of(user)
    ids = [
        collections.collect(user.member.project_id, request=CollectGarbage(dry_run=True)).id
        for _ in range(REMEMBERED + 2)
    ]
    assert collections.get(user.member.project_id, ids[-1]).state is CollectionState.FINISHED
    with pytest.raises(Exception, match="There is no collection"):
        collections.get(user.member.project_id, ids[0])


def test_where_a_list_is_damaged_nothing_is_freed(user: LakeUser, days: Days) -> None:
    user.put({f"/{number:03}": b"%d" % number for number in range(200)}, file_set="s")
    user.put({"/x": b"one"})
    user.remove("/x")
    user.put({"/y": b"two"}, file_set="gone")
    remove_set(user, "gone")
    days.go_on(timedelta(days=31))
    with user.database.reading() as work:
        root = work.sweeping.set_roots(user.member.project_id)
    lost = next(chunk for chunk in chunks_of(user) if chunk not in root)
    with user.database.writing() as work:
        work.sweeping.drop_chunks(user.member.project_id, [lost], days.now())
    done = collections_of(user, Terms(grace=GRACE)).collect(user.member.project_id)
    assert done.state is CollectionState.FAILED
    assert "piece of the list of a file set is missing" in done.reason
    assert len(sizes(user)) == 3


def test_a_pack_that_is_gone_from_the_store_is_as_good_as_wrong(user: LakeUser, days: Days) -> None:
    user.put({"/x": b"mostly dead", "/y": b"two"})
    user.remove("/x")
    days.go_on(GRACE)
    user.objects.delete_all(list(user.objects.keys("")))
    with pytest.raises(AssertionError, match="it lacks the mark of this database"):
        collect(user, Terms(grace=GRACE, dead_bytes=1))
    with user.database.reading() as work:
        assert not work.blobs.any_wrong(user.member.project_id)
    claim_store(user)
    collect(user, Terms(grace=GRACE, dead_bytes=1))
    with user.database.reading() as work:
        assert work.blobs.any_wrong(user.member.project_id)
    assert user.put({"/y": b"two"}).sent_bytes == 3
    assert user.read() == {"/y": b"two"}


def test_nothing_is_found_in_an_empty_project(user: LakeUser) -> None:
    assert collect(user) == collect(user, dry_run=True) == {}
