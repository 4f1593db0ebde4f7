"""Moving bytes between files and file: URLs: packed, verified, and visible only when whole."""

from __future__ import annotations

import hashlib
import io
from typing import TYPE_CHECKING

import pytest
from hypothesis import given
from hypothesis import strategies as st

from acai_jupyter.transfer.hashing import BUFFER, hash_file, hash_stream
from acai_jupyter.transfer.packs import write_pack
from acai_jupyter.transfer.retrying import Retrying
from acai_jupyter.transfer.targets import TransferError, fetch, read, send

if TYPE_CHECKING:
    from pathlib import Path

BODY = bytes(range(256)) * 10


def sha256(body: bytes) -> str:
    return hashlib.sha256(body).hexdigest()


@given(st.binary())
def test_a_stream_is_hashed_from_where_it_stands(body: bytes) -> None:
    stream = io.BytesIO(b"x" + body)
    stream.read(1)
    assert hash_stream(stream) == sha256(body)


def test_a_file_larger_than_a_buffer_is_hashed_whole(tmp_path: Path) -> None:
    (tmp_path / "x").write_bytes(b"a" * (BUFFER + 1))
    assert hash_file(str(tmp_path / "x")) == sha256(b"a" * (BUFFER + 1))


@pytest.mark.parametrize("sizes", [[], [0], [1], [0, 5, 0, 7], [BUFFER + 3, 1, BUFFER]])
def test_a_pack_has_every_file_at_its_place(tmp_path: Path, sizes: list[int]) -> None:
    bodies = {f"n{number}": bytes([number]) * size for number, size in enumerate(sizes)}
    for name, body in bodies.items():
        (tmp_path / name).write_bytes(body)
    out = io.BytesIO()
    pack = write_pack(((name, str(tmp_path / name)) for name in bodies), out)
    whole = out.getvalue()
    assert (whole, pack.size_bytes, pack.sha256) == (b"".join(bodies.values()), len(whole), sha256(whole))
    assert {f.name: whole[f.offset : f.offset + f.size_bytes] for f in pack.files} == bodies
    assert [f.sha256 for f in pack.files] == [sha256(body) for body in bodies.values()]


def test_what_is_sent_is_read(tmp_path: Path) -> None:
    target = tmp_path / "a folder" / "\u00e4%20x"
    send(target.as_uri(), io.BytesIO(BODY), len(BODY))
    assert (target.read_bytes(), read(target.as_uri())) == (BODY, BODY)
    assert list(target.parent.iterdir()) == [target]


def test_a_range_is_fetched_and_verified(tmp_path: Path) -> None:
    (tmp_path / "object").write_bytes(BODY)
    target = tmp_path / "deep" / "er" / "x"
    fetch((tmp_path / "object").as_uri(), 100, 50, sha256(BODY[100:150]), str(target))
    assert target.read_bytes() == BODY[100:150]


def test_nothing_can_be_fetched_too(tmp_path: Path) -> None:
    fetch((tmp_path / "missing").as_uri(), 0, 0, sha256(b""), str(tmp_path / "x"))
    assert (tmp_path / "x").read_bytes() == b""


@pytest.mark.parametrize(
    ("offset", "size", "said"), [(0, 50, "not those that were recorded"), (len(BODY) - 10, 50, "40 bytes too few")]
)
def test_bytes_that_are_not_those_recorded_leave_nothing(tmp_path: Path, offset: int, size: int, said: str) -> None:
    (tmp_path / "object").write_bytes(BODY)
    (tmp_path / "out").mkdir()
    with pytest.raises(TransferError, match=said):
        fetch((tmp_path / "object").as_uri(), offset, size, sha256(b"other"), str(tmp_path / "out" / "x"))
    assert list((tmp_path / "out").iterdir()) == []


def test_a_failed_fetch_leaves_the_file_that_was_there(tmp_path: Path) -> None:
    (tmp_path / "x").write_bytes(b"old")
    with pytest.raises(TransferError, match="cannot be read"):
        fetch((tmp_path / "missing").as_uri(), 0, 1, sha256(b""), str(tmp_path / "x"))
    assert (tmp_path / "x").read_bytes() == b"old"


def test_a_store_that_cannot_be_written_is_said_to_be_so(tmp_path: Path) -> None:
    (tmp_path / "x").write_bytes(b"a file")
    with pytest.raises(TransferError, match="cannot be written"):
        send((tmp_path / "x" / "below").as_uri(), io.BytesIO(BODY), len(BODY))


def test_fewer_bytes_than_announced_are_not_kept(tmp_path: Path) -> None:
    with pytest.raises(TransferError):
        send((tmp_path / "x").as_uri(), io.BytesIO(BODY), len(BODY) + 1)
    assert list(tmp_path.iterdir()) == []


def test_a_server_that_is_not_there_is_said_to_be_so() -> None:
    with pytest.raises(TransferError, match="does not answer"):
        read("http://127.0.0.1:1/object", Retrying(sleep=lambda _: None))
