"""Fetching many files out of one object: in few requests, verified, tried again, visible only when whole."""

from __future__ import annotations

import hashlib
import os
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from hypothesis import given
from hypothesis import strategies as st

from acai_jupyter.transfer.connections import Connections
from acai_jupyter.transfer.errors import (
    DiskFull,
    Refused,
    Stopped,
    TransferError,
    Unreachable,
    WrongBytes,
)
from acai_jupyter.transfer.fetching import (
    GAP_BYTES,
    GROUP_BYTES,
    Wanted,
    Watching,
    fetch_bytes,
    fetch_files,
    groups,
)
from acai_jupyter.transfer.retrying import Retrying
from tests.disks import small_disk
from tests.servers.store import Fault, Store, running_store

if TYPE_CHECKING:
    from collections.abc import Iterator

PACK = os.urandom(200_000)
AT_ONCE = Retrying(tries=3, sleep=lambda _: None)
LARGE = os.urandom(1 << 20) * (GROUP_BYTES // (1 << 20)) + b"and some more"


@pytest.fixture
def store() -> Iterator[Store]:
    with running_store() as running:
        running.objects["/pack"] = PACK
        yield running


def wanted(folder: Path, name: str, offset: int, size: int, content: bytes = PACK) -> Wanted:
    return Wanted(str(folder / name), offset, size, hashlib.sha256(content[offset : offset + size]).hexdigest())


def three(folder: Path) -> list[Wanted]:
    return [wanted(folder, "b", 50, 100), wanted(folder, "a", 0, 50), wanted(folder, "deep/c", 150, 1000)]


def assert_there(files: list[Wanted], content: bytes = PACK) -> None:
    for one in files:
        assert Path(one.path).read_bytes() == content[one.offset : one.offset + one.size_bytes]


def all_files(folder: Path) -> list[str]:
    return sorted(path.relative_to(folder).as_posix() for path in folder.rglob("*") if path.is_file())


def test_neighbours_come_in_one_request(tmp_path: Path, store: Store) -> None:
    fetch_files(store.url + "pack", three(tmp_path))
    assert_there(three(tmp_path))
    assert store.requests == [("GET", "/pack", "bytes=0-1149")]
    assert all_files(tmp_path) == ["a", "b", "deep/c"]


def test_files_that_are_far_apart_come_by_themselves_over_one_connection(tmp_path: Path, store: Store) -> None:
    far = [wanted(tmp_path, "a", 10, 10), wanted(tmp_path, "b", 20 + GAP_BYTES + 1, 10)]
    fetch_files(store.url + "pack", far)
    assert_there(far)
    assert [place for _, _, place in store.requests] == ["bytes=10-19", "bytes=65557-65566"]
    assert store.connections == 1


def test_a_store_on_this_disk_is_read_without_a_server(tmp_path: Path) -> None:
    pack = tmp_path / "a store" / "ä%20pack"
    pack.parent.mkdir()
    pack.write_bytes(PACK)
    fetch_files(pack.as_uri(), three(tmp_path / "out"))
    assert_there(three(tmp_path / "out"))


@pytest.mark.parametrize("local", [True, False])
def test_a_large_file_comes_whole(tmp_path: Path, store: Store, local: bool) -> None:
    content = b"before" + LARGE + b"after"
    (tmp_path / "object").write_bytes(content)
    store.objects["/large"] = content
    large = wanted(tmp_path / "out", "x", 6, len(LARGE), content)
    told: list[int] = []
    url = (tmp_path / "object").as_uri() if local else store.url + "large"
    fetch_files(url, [large], Watching(on_bytes=told.append))
    assert_there([large], content)
    assert (sum(told), all_files(tmp_path / "out")) == (len(LARGE), ["x"])


def test_an_empty_file_needs_no_request(tmp_path: Path, store: Store) -> None:
    fetch_files(store.url + "missing", [wanted(tmp_path, "empty", 0, 0)])
    assert (all_files(tmp_path), store.requests) == (["empty"], [])


def test_the_same_bytes_can_be_wanted_twice(tmp_path: Path, store: Store) -> None:
    twice = [wanted(tmp_path, "a", 7, 9), wanted(tmp_path, "b", 7, 9), wanted(tmp_path, "c", 9, 3)]
    fetch_files(store.url + "pack", twice)
    assert_there(twice)


@pytest.mark.parametrize(
    "fault", [Fault.UNAVAILABLE, Fault.TOO_MANY, Fault.CLOSED, Fault.TRUNCATED, Fault.WRONG, Fault.LEAVES]
)
def test_a_store_that_stumbles_twice_is_asked_again(tmp_path: Path, store: Store, fault: Fault) -> None:
    store.faults.extend([fault, fault])
    fetch_files(store.url + "pack", three(tmp_path), retrying=AT_ONCE)
    assert_there(three(tmp_path))
    assert all_files(tmp_path) == ["a", "b", "deep/c"]


def test_a_store_that_is_silent_is_asked_again(tmp_path: Path, store: Store) -> None:
    store.faults.append(Fault.STALLED)
    with Connections(timeout_seconds=0.1) as impatient:
        fetch_files(store.url + "pack", three(tmp_path), connections=impatient, retrying=AT_ONCE)
    assert_there(three(tmp_path))


def test_only_what_is_missing_is_asked_for_again(tmp_path: Path, store: Store) -> None:
    store.faults.append(Fault.TRUNCATED)
    fetch_files(store.url + "pack", three(tmp_path), retrying=AT_ONCE)
    assert [place for _, _, place in store.requests] == ["bytes=0-1149", "bytes=150-1149"]


def test_a_large_file_goes_on_where_it_was_cut(tmp_path: Path, store: Store) -> None:
    store.objects["/large"] = LARGE
    store.faults.append(Fault.TRUNCATED)
    large = wanted(tmp_path, "x", 0, len(LARGE), LARGE)
    fetch_files(store.url + "large", [large], retrying=AT_ONCE)
    assert_there([large], LARGE)
    assert store.requests[1][2] == f"bytes={len(LARGE) // 2}-{len(LARGE) - 1}"


def test_a_large_file_that_came_wrong_is_brought_anew(tmp_path: Path, store: Store) -> None:
    store.objects["/large"] = LARGE
    store.faults.append(Fault.WRONG)
    told: list[int] = []
    large = wanted(tmp_path, "x", 0, len(LARGE), LARGE)
    fetch_files(store.url + "large", [large], Watching(on_bytes=told.append), retrying=AT_ONCE)
    assert_there([large], LARGE)
    assert (sum(told), len(store.requests)) == (len(LARGE), 2)


def test_a_store_that_knows_no_ranges_serves_too(tmp_path: Path, store: Store) -> None:
    store.faults.append(Fault.NO_RANGES)
    files = [wanted(tmp_path, "a", 100_000, 50)]
    fetch_files(store.url + "pack", files)
    assert_there(files)


@pytest.mark.parametrize(
    ("fault", "error", "said", "tries"),
    [
        (Fault.UNAVAILABLE, Refused, "the store answered 503", 3),
        (Fault.CLOSED, Unreachable, "does not answer", 3),
        (Fault.WRONG, WrongBytes, "not those that were recorded", 3),
        (Fault.FORBIDDEN, Refused, "the store answered 403", 1),
    ],
)
def test_a_store_that_stays_so_is_given_up_and_the_file_named(
    tmp_path: Path, store: Store, fault: Fault, error: type[TransferError], said: str, tries: int
) -> None:
    store.faults_at["/pack"] = fault
    slept: list[float] = []
    with pytest.raises(error, match=f"'.*/[abc]' could not be transferred: .*{said}"):
        fetch_files(store.url + "pack", three(tmp_path), retrying=Retrying(tries=3, sleep=slept.append))
    assert (len(store.requests), len(slept)) == (tries, tries - 1)


def test_what_a_store_says_when_it_refuses_is_kept(tmp_path: Path, store: Store) -> None:
    store.faults.append(Fault.FORBIDDEN)
    with pytest.raises(TransferError) as caught:
        fetch_files(store.url + "pack", three(tmp_path))
    assert (caught.value.status, caught.value.answer) == (403, b'{"reason": "as the test wants"}')


def test_an_address_is_never_told(tmp_path: Path) -> None:
    with pytest.raises(TransferError) as caught:
        fetch_files("http://127.0.0.1:1/pack?signature=secret and more", three(tmp_path), retrying=AT_ONCE)
    assert "secret" not in str(caught.value)


def test_wrong_bytes_leave_the_file_that_was_there(tmp_path: Path) -> None:
    (tmp_path / "pack").write_bytes(b"x" * len(PACK))
    (tmp_path / "out").mkdir()
    (tmp_path / "out" / "a").write_bytes(b"old")
    with pytest.raises(WrongBytes, match=r"'.*/a'"):
        fetch_files((tmp_path / "pack").as_uri(), [wanted(tmp_path / "out", "a", 0, 50)])
    assert (all_files(tmp_path / "out"), (tmp_path / "out" / "a").read_bytes()) == (["a"], b"old")


@pytest.mark.parametrize("size", [len(PACK) + 1, GROUP_BYTES + 1])
def test_a_store_s_file_that_is_too_short_is_not_waited_for(tmp_path: Path, size: int) -> None:
    (tmp_path / "pack").write_bytes(PACK)
    with pytest.raises(TransferError, match=f"'.*/x' .* {size - len(PACK)} bytes too few"):
        fetch_files((tmp_path / "pack").as_uri(), [Wanted(str(tmp_path / "out" / "x"), 0, size, "")])
    assert all_files(tmp_path) == ["pack"]


def test_it_ends_between_two_files_when_asked_to(tmp_path: Path, store: Store) -> None:
    done: list[Wanted] = []
    with pytest.raises(Stopped, match="fetching was stopped"):
        fetch_files(store.url + "pack", three(tmp_path), Watching(on_file=done.append, stop=lambda: bool(done)))
    assert ([one.path for one in done], all_files(tmp_path)) == ([str(tmp_path / "a")], ["a"])


@pytest.mark.parametrize("local", [True, False])
def test_it_ends_inside_a_large_file_and_leaves_nothing(tmp_path: Path, store: Store, local: bool) -> None:
    store.objects["/large"] = LARGE
    (tmp_path / "object").write_bytes(LARGE)
    url = (tmp_path / "object").as_uri() if local else store.url + "large"
    told: list[int] = []
    with pytest.raises(Stopped):
        fetch_files(
            url,
            [wanted(tmp_path / "out", "x", 0, len(LARGE), LARGE)],
            Watching(on_bytes=told.append, stop=lambda: bool(told)),
        )
    assert all_files(tmp_path / "out") == []


def test_a_folder_in_a_file_s_place_is_named(tmp_path: Path, store: Store) -> None:
    (tmp_path / "a").mkdir()
    with pytest.raises(TransferError, match=r"'.*/a' cannot be written"):
        fetch_files(store.url + "pack", three(tmp_path))
    assert all_files(tmp_path) == []


def test_a_full_disk_is_named_and_leaves_only_whole_files(tmp_path: Path) -> None:
    content = os.urandom(3 << 20)
    (tmp_path / "pack").write_bytes(content)
    with small_disk(tmp_path) as disk:
        files = [wanted(disk, f"f{number}", number * 400_000, 400_000, content) for number in range(4)]
        with pytest.raises(DiskFull, match=r"f2' cannot be written: the disk is full"):
            fetch_files((tmp_path / "pack").as_uri(), files)
        assert all_files(disk) == ["f0", "f1"]
        assert_there(files[:2], content)


@pytest.mark.parametrize("fault", [Fault.NONE, Fault.TRUNCATED, Fault.CLOSED, Fault.UNAVAILABLE, Fault.NO_RANGES])
def test_bytes_can_be_had_from_the_middle(store: Store, fault: Fault) -> None:
    store.faults.append(fault)
    assert fetch_bytes(store.url + "pack", 1000, 5000, retrying=AT_ONCE) == PACK[1000:6000]


def test_bytes_of_a_store_on_this_disk_can_be_had(tmp_path: Path) -> None:
    (tmp_path / "pack").write_bytes(PACK)
    url = (tmp_path / "pack").as_uri()
    assert (fetch_bytes(url, 7, 9), fetch_bytes(url, 0, 0)) == (PACK[7:16], b"")


def test_bytes_beyond_the_end_are_an_error(tmp_path: Path) -> None:
    (tmp_path / "pack").write_bytes(b"0123456789")
    with pytest.raises(TransferError, match="5 bytes too few"):
        fetch_bytes((tmp_path / "pack").as_uri(), 5, 10)


def test_a_connection_is_used_again_until_the_store_leaves(store: Store) -> None:
    with Connections() as connections:
        for _ in range(3):
            fetch_bytes(store.url + "pack", 0, 10, connections)
        assert store.connections == 1
        store.faults.append(Fault.LEAVES)
        fetch_bytes(store.url + "pack", 0, 10, connections)
        store.left.wait()
        assert fetch_bytes(store.url + "pack", 0, 10, connections, Retrying(tries=1)) == PACK[:10]
        assert store.connections == 2


def test_a_proxy_of_this_machine_is_used(store: Store, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("http_proxy", store.url.replace("://", "://a:b@"))
    monkeypatch.delenv("no_proxy", raising=False)
    store.objects["http://store.invalid/pack?x=1"] = PACK
    assert fetch_bytes("http://store.invalid/pack?x=1", 3, 5, retrying=AT_ONCE) == PACK[3:8]
    assert (store.headers[0]["Host"], store.headers[0]["Proxy-Authorization"]) == ("store.invalid", "Basic YTpi")


@given(st.lists(st.tuples(st.integers(0, 40_000_000), st.integers(0, 20_000_000)), max_size=30))
def test_groups_hold_all_and_are_small_or_one(places: list[tuple[int, int]]) -> None:
    files = [Wanted(str(number), offset, size, "") for number, (offset, size) in enumerate(places)]
    found = list(groups(files))
    assert sorted(one for group in found for one in group) == sorted(files)
    for group in found:
        span = max(one.offset + one.size_bytes for one in group) - min(one.offset for one in group)
        assert len(group) == 1 or span <= GROUP_BYTES
