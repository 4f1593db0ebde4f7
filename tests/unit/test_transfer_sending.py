"""Sending objects, and large files as parts: tried again, stopped by the first failure, resumed."""

from __future__ import annotations

import hashlib
import io
import os
from typing import TYPE_CHECKING

import pytest

from acai_jupyter.transfer.connections import Connections
from acai_jupyter.transfer.errors import Changed, DiskFull, Refused, TransferError, Unreachable
from acai_jupyter.transfer.retrying import Retrying
from acai_jupyter.transfer.sending import Part, send, send_parts
from tests.disks import small_disk
from tests.servers.store import Fault, Store, running_store

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from pathlib import Path
    from typing import BinaryIO

BODY = os.urandom(1 << 20) * 3 + b"and some more"
AT_ONCE = Retrying(tries=3, sleep=lambda _: None)
PART_BYTES = 1_000_000


@pytest.fixture
def store() -> Iterator[Store]:
    with running_store() as running:
        yield running


def etag(body: bytes) -> str:
    return f'"{hashlib.md5(body).hexdigest()}"'


def test_what_is_sent_is_kept_and_its_etag_known(store: Store) -> None:
    told: list[int] = []
    headers = {"X-Storage": "archive"}
    assert send(store.url + "x", io.BytesIO(BODY), len(BODY), headers, told.append) == etag(BODY)
    assert (store.objects["/x"], sum(told)) == (BODY, len(BODY))
    assert (store.headers[0]["X-Storage"], store.headers[0]["Content-Length"]) == ("archive", str(len(BODY)))


def test_nothing_can_be_sent(store: Store) -> None:
    send(store.url + "x", io.BytesIO(), 0)
    assert store.objects["/x"] == b""


@pytest.mark.parametrize("fault", [Fault.UNAVAILABLE, Fault.TOO_MANY, Fault.CLOSED, Fault.LEAVES])
@pytest.mark.parametrize("open_source", [None, lambda: io.BytesIO(BODY)])
def test_a_store_that_stumbles_is_sent_all_of_it_again(
    store: Store, fault: Fault, open_source: Callable[[], BinaryIO] | None
) -> None:
    store.faults.extend([fault, fault])
    told: list[int] = []
    stream = io.BytesIO(b"skipped" + BODY)
    stream.seek(len("skipped"))
    send(store.url + "x", open_source or stream, len(BODY), None, told.append, retrying=AT_ONCE)
    assert (store.objects["/x"], sum(told)) == (BODY, len(BODY))


def test_a_source_that_cannot_be_read_twice_is_sent_once(store: Store) -> None:
    class Pipe(io.BytesIO):
        def seekable(self) -> bool:
            return False

    store.faults.append(Fault.UNAVAILABLE)
    with pytest.raises(Refused):
        send(store.url + "x", Pipe(BODY), len(BODY), retrying=AT_ONCE)
    assert len(store.requests) == 1


def test_a_store_that_refuses_is_not_asked_again(store: Store) -> None:
    store.faults.append(Fault.FORBIDDEN)
    with pytest.raises(Refused, match="the store answered 403") as caught:
        send(store.url + "x", io.BytesIO(BODY), len(BODY), retrying=AT_ONCE)
    assert (caught.value.status, caught.value.answer) == (403, b'{"reason": "as the test wants"}')


def test_a_store_that_stays_away_is_given_up(store: Store) -> None:
    store.faults.extend([Fault.CLOSED] * 3)
    told: list[int] = []
    with pytest.raises(Unreachable, match="the store does not answer"):
        send(store.url + "x", io.BytesIO(BODY), len(BODY), None, told.append, retrying=AT_ONCE)
    assert (sum(told), len(store.requests)) == (0, 3)


def test_a_store_that_says_no_before_the_end_is_heard_or_known_to_be_gone(store: Store) -> None:
    store.faults_at["/x"] = Fault.FULL
    body = BODY * 8
    with pytest.raises(TransferError) as caught:
        send(store.url + "x", io.BytesIO(body), len(body), retrying=AT_ONCE)
    assert caught.value.status == 507 or isinstance(caught.value, Unreachable)  # the kernel may drop what was said


def test_fewer_bytes_than_announced_are_not_kept(store: Store) -> None:
    with pytest.raises(Changed, match="7 bytes of those announced are missing"):
        send(store.url + "x", io.BytesIO(BODY), len(BODY) + 7, retrying=AT_ONCE)
    assert store.objects == {}


def test_a_source_that_cannot_be_opened_is_no_fault_of_the_store(store: Store, tmp_path: Path) -> None:
    with pytest.raises(TransferError, match="the source cannot be read: No such file"):
        send(store.url + "x", lambda: (tmp_path / "missing").open("rb"), 1, retrying=AT_ONCE)
    assert store.requests == []


def test_many_objects_go_over_one_connection(store: Store) -> None:
    with Connections() as connections:
        for number in range(5):
            send(f"{store.url}{number}", io.BytesIO(BODY), len(BODY), connections=connections)
    assert (len(store.objects), store.connections) == (5, 1)


def test_a_full_store_on_this_disk_is_said_to_be_so(tmp_path: Path) -> None:
    with small_disk(tmp_path) as disk:
        with pytest.raises(DiskFull, match="the store's folder cannot be written: the disk is full"):
            send((disk / "new" / "x").as_uri(), io.BytesIO(BODY), len(BODY))
        assert list((disk / "new").iterdir()) == []


# -- parts


def parts_of(store: Store, path: Path, content: bytes = BODY) -> list[Part]:
    path.write_bytes(content)
    return [
        Part(number, offset, min(PART_BYTES, len(content) - offset), f"{store.url}{number}", {})
        for number, offset in enumerate(range(0, len(content), PART_BYTES), 1)
    ]


def piece(part: Part, content: bytes = BODY) -> bytes:
    return content[part.offset : part.offset + part.size_bytes]


def test_parts_arrive_and_all_hashes_are_known(store: Store, tmp_path: Path) -> None:
    parts = parts_of(store, tmp_path / "x")
    kept: dict[int, str] = {}
    told: list[int] = []
    sent = send_parts(parts, str(tmp_path / "x"), kept.__setitem__, told.append)
    assert b"".join(store.objects[f"/{part.number}"] for part in parts) == BODY
    assert sent.etags == kept == {part.number: etag(piece(part)) for part in parts}
    assert sent.sha256 == hashlib.sha256(BODY).hexdigest()
    assert sent.part_sha256 == {part.number: hashlib.sha256(piece(part)).hexdigest() for part in parts}
    assert (sum(told), store.connections <= 4) == (len(BODY), True)


def test_parts_that_are_there_are_not_sent_but_hashed(store: Store, tmp_path: Path) -> None:
    first, *others = parts_of(store, tmp_path / "x")
    sent = send_parts([first._replace(etag="kept"), *others], str(tmp_path / "x"))
    assert (sent.etags[1], sent.sha256) == ("kept", hashlib.sha256(BODY).hexdigest())
    assert sorted(path for _, path, _ in store.requests) == [f"/{part.number}" for part in others]


def test_hashing_can_be_left_out(store: Store, tmp_path: Path) -> None:
    sent = send_parts(parts_of(store, tmp_path / "x"), str(tmp_path / "x"), hashing=False)
    assert (sent.sha256, sent.part_sha256, len(sent.etags)) == ("", {}, 4)


@pytest.mark.parametrize("threads", [1, 4])
def test_parts_are_tried_again(store: Store, tmp_path: Path, threads: int) -> None:
    store.faults.extend([Fault.UNAVAILABLE, Fault.CLOSED])
    told: list[int] = []
    parts = parts_of(store, tmp_path / "x")
    send_parts(parts, str(tmp_path / "x"), None, told.append, threads=threads, retrying=AT_ONCE)
    assert b"".join(store.objects[f"/{part.number}"] for part in parts) == BODY
    assert sum(told) == len(BODY)


def test_the_first_failure_ends_it_and_the_same_line_again_sends_the_rest(store: Store, tmp_path: Path) -> None:
    parts = parts_of(store, tmp_path / "x")
    store.faults_at["/3"] = Fault.FORBIDDEN
    kept: dict[int, str] = {}
    with pytest.raises(Refused, match="403"):
        send_parts(parts, str(tmp_path / "x"), kept.__setitem__, threads=1)
    assert sorted(kept) == [1, 2]
    store.faults_at.clear()
    store.requests.clear()
    resumed = [part._replace(etag=kept.get(part.number, "")) for part in parts]
    sent = send_parts(resumed, str(tmp_path / "x"))
    assert (sorted(path for _, path, _ in store.requests), sorted(sent.etags)) == (["/3", "/4"], [1, 2, 3, 4])


def test_a_journal_that_cannot_be_written_ends_it(store: Store, tmp_path: Path) -> None:
    def fail(number: int, etag: str) -> None:
        raise OSError(f"no journal for {number} {etag}")

    with pytest.raises(OSError, match="no journal for 1"):
        send_parts(parts_of(store, tmp_path / "x"), str(tmp_path / "x"), fail, threads=1)
    assert sorted(store.objects) == ["/1"]


def test_a_file_of_another_size_than_its_parts_is_not_sent(store: Store, tmp_path: Path) -> None:
    parts = parts_of(store, tmp_path / "x")
    (tmp_path / "x").write_bytes(BODY + b"more")
    with pytest.raises(Changed, match="not as large as when it was cut"):
        send_parts(parts, str(tmp_path / "x"))
    assert store.requests == []


def test_a_file_that_changes_while_it_is_sent_is_named(store: Store, tmp_path: Path) -> None:
    parts = parts_of(store, tmp_path / "x")

    def meddle(number: int, _: str) -> None:
        if number == len(parts):
            (tmp_path / "x").write_bytes(BODY[::-1] + b"more")

    with pytest.raises(Changed, match=r"x' (changed|became shorter) while it was read"):
        send_parts(parts, str(tmp_path / "x"), meddle, threads=1)
