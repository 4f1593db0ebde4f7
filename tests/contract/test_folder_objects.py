"""What only the folder store owes: files that survive a power cut, and nothing of a process that died."""

from __future__ import annotations

import errno
import hashlib
import io
import os
import signal
import subprocess
import sys
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from acai_jupyter.contract.errors import Conflict, StoreFull
from acai_jupyter.contract.ids import ObjectKey
from acai_server.objects.filesystem import FilesystemObjectStore
from acai_server.objects.parts import MIN_PART_BYTES
from acai_server.objects.signing import UrlSigner
from acai_server.testing.objects import BODY, OLD, put
from acai_server.testing.parts import FIRST, KEY, LAST, SECOND, begun, put_part

if TYPE_CHECKING:
    from collections.abc import Callable

PUT_AND_STALL = """
import sys, threading
from pathlib import Path
from acai_server.objects.filesystem import FilesystemObjectStore

class Stalled:
    def __init__(self):
        self.left = 3
    def read(self, size):
        self.left -= 1
        if self.left:
            return b"x" * min(size, 1000)
        print("here", flush=True)
        threading.Event().wait()

FilesystemObjectStore(Path(sys.argv[1]), None).put("p1/x", Stalled(), size_bytes=5000)
"""


def store_in(folder: Path) -> FilesystemObjectStore:
    return FilesystemObjectStore(folder / "objects", UrlSigner(b"secret", lambda: "http://127.0.0.1:1", lambda: 0.0))


@pytest.fixture
def store(tmp_path: Path) -> FilesystemObjectStore:
    return store_in(tmp_path)


@pytest.fixture
def flushed(monkeypatch: pytest.MonkeyPatch) -> list[Path]:
    """Return the files and folders that were flushed, by the names they had then."""
    seen: list[Path] = []
    flush = os.fsync

    def fsync(descriptor: int) -> None:
        seen.append(Path(f"/proc/self/fd/{descriptor}").readlink())
        flush(descriptor)

    monkeypatch.setattr(os, "fsync", fsync)
    return seen


def files(folder: Path) -> list[str]:
    return sorted(path.relative_to(folder).as_posix() for path in folder.rglob("*") if path.is_file())


def test_a_folder_lists_nothing_outside_itself(tmp_path: Path, store: FilesystemObjectStore) -> None:
    (tmp_path / "secret").write_text("of somebody else")
    put(store, "p1/x")
    assert [list(store.keys(prefix)) for prefix in ("../", "../s", "p1/../../", "/")] == [[], [], [], []]


def test_a_link_to_a_folder_leads_to_no_objects(tmp_path: Path, store: FilesystemObjectStore) -> None:
    put(store, "p1/x")
    (tmp_path / "outside").mkdir()
    (tmp_path / "outside" / "x.1.part").write_text("the user's own")
    (tmp_path / "objects" / "p1" / "link").symlink_to(tmp_path / "outside")
    (tmp_path / "objects" / "loop").symlink_to("..")
    assert list(store.keys("")) == ["p1/x"]
    assert store.drop_leftovers(datetime.now(UTC) + timedelta(days=1), lambda _: True) == 0
    assert (tmp_path / "outside" / "x.1.part").exists()


@pytest.mark.parametrize("key", OLD)
def test_an_object_under_an_older_key_is_still_an_object(
    tmp_path: Path, store: FilesystemObjectStore, key: str
) -> None:
    place = tmp_path / "objects" / key
    place.parent.mkdir(parents=True)
    place.write_bytes(BODY)
    assert (store.get(ObjectKey(key)), store.size(ObjectKey(key)), list(store.keys("p1/"))) == (BODY, len(BODY), [key])
    assert store.sign_get(ObjectKey(key), direct=True) == place.as_uri()
    store.delete_all([ObjectKey(key)])
    assert list(store.keys("")) == []


def test_keys_of_all_signs_come_in_their_order_older_ones_included(
    tmp_path: Path, store: FilesystemObjectStore
) -> None:
    keys = sorted(["p1/a-1", "p1/a.1", "p1/a/1", "p1/a/1-/x", "p1/a_1", "p1/a0", "p1-/x", "p1.x"])
    for key in keys:
        (tmp_path / "objects" / key).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / "objects" / key).write_bytes(b"x")
    assert list(store.keys("")) == keys
    assert list(store.keys("p1/a")) == [key for key in keys if key.startswith("p1/a")]


def test_a_put_flushes_the_bytes_then_the_names_of_file_and_new_folders(
    tmp_path: Path, store: FilesystemObjectStore, flushed: list[Path]
) -> None:
    put(store, "p1/objects/x")
    objects = tmp_path / "objects"
    *folders, body, names = flushed
    assert folders == [tmp_path, objects, objects / "p1"]
    assert (body.parent, body.name.startswith("x.")) == (objects / "p1" / "objects", True)
    assert names == objects / "p1" / "objects"


def test_a_part_and_the_whole_are_flushed_with_their_names(
    tmp_path: Path, store: FilesystemObjectStore, flushed: list[Path]
) -> None:
    parts_id, sent = begun(store, FIRST, LAST)
    folder = tmp_path / "objects" / f"{KEY}.parts" / parts_id
    assert flushed.count(folder) == len(sent)
    flushed.clear()
    store.end_parts(KEY, parts_id, sent)
    assert [path.parent.name for path in flushed] == [parts_id, f"{Path(KEY).name}.parts", "p1"]


def test_a_process_that_died_in_a_put_leaves_nothing_visible_and_what_it_left_is_found(
    tmp_path: Path, store: FilesystemObjectStore
) -> None:
    process = subprocess.Popen([sys.executable, "-c", PUT_AND_STALL, str(tmp_path / "objects")], stdout=subprocess.PIPE)
    with process:
        assert process.stdout is not None
        assert process.stdout.readline() == b"here\n"
        process.send_signal(signal.SIGKILL)
    (left,) = files(tmp_path / "objects")
    assert left.endswith(".part")
    assert list(store.keys("")) == []
    now = datetime.now(UTC)
    assert store.drop_leftovers(now - timedelta(days=1), lambda _: True) == 0
    assert store.drop_leftovers(now + timedelta(days=1), lambda _: True) == 1
    assert files(tmp_path / "objects") == []


def test_an_end_leaves_no_parts_on_the_disk(tmp_path: Path, store: FilesystemObjectStore) -> None:
    parts_id, sent = begun(store, FIRST, SECOND, LAST)
    store.end_parts(KEY, parts_id, sent)
    assert [path.name for path in (tmp_path / "objects" / "p1" / "objects").iterdir()] == ["large"]


def first_part_extended_by_a_half(folder: Path, _: Path) -> None:
    grow(folder, b"2" * 1000)


def first_part_extended_by_too_much(folder: Path, _: Path) -> None:
    grow(folder, SECOND * 3)


def whole_not_in_its_place(folder: Path, _: Path) -> None:
    joined(folder)


def parts_removed(folder: Path, _: Path) -> None:
    joined(folder)
    remove_parts(folder)


def whole_in_its_place(folder: Path, target: Path) -> None:
    whole = joined(folder)
    remove_parts(folder)
    whole.rename(target)


STEPS = (
    first_part_extended_by_a_half,
    first_part_extended_by_too_much,
    whole_not_in_its_place,
    parts_removed,
    whole_in_its_place,
)


def grow(folder: Path, body: bytes) -> Path:
    """Do what an end does first, and be cut off there."""
    (first,) = folder.glob("1-*")
    growing = first.rename(folder / f"growing-{first.name}")
    with growing.open("ab") as file:
        file.write(body)
    return growing


def joined(folder: Path) -> Path:
    names = sorted(path.name.split("-") for path in folder.iterdir())
    sent = [(int(number), etag) for number, _, etag in names]
    whole = grow(folder, SECOND + LAST)
    return whole.rename(folder / ("whole-" + hashlib.sha256(repr(sent).encode()).hexdigest()))


def remove_parts(folder: Path) -> None:
    for path in folder.glob("[23]-*"):
        path.unlink()


@pytest.mark.parametrize("cut_off", STEPS)
def test_an_end_that_was_cut_off_anywhere_can_be_done_again(
    tmp_path: Path, store: FilesystemObjectStore, cut_off: Callable[[Path, Path], None]
) -> None:
    parts_id, sent = begun(store, FIRST, SECOND, LAST)
    target = tmp_path / "objects" / KEY
    cut_off(tmp_path / "objects" / f"{KEY}.parts" / parts_id, target)
    for _ in range(2):
        store_in(tmp_path).end_parts(KEY, parts_id, sent)
        assert store.get(KEY) == FIRST + SECOND + LAST
    assert files(tmp_path / "objects") == [KEY]


def test_parts_are_known_while_an_end_is_under_way(tmp_path: Path, store: FilesystemObjectStore) -> None:
    parts_id, sent = begun(store, FIRST, LAST)
    before = store.parts(KEY, parts_id)
    grow(tmp_path / "objects" / f"{KEY}.parts" / parts_id, b"half")
    assert store.parts(KEY, parts_id) == before
    assert put_part(store, parts_id, 1, FIRST) == sent[0]
    assert store.parts(KEY, parts_id) == before


def test_a_foreign_file_among_the_parts_is_no_part(tmp_path: Path, store: FilesystemObjectStore) -> None:
    parts_id, sent = begun(store, FIRST, LAST)
    folder = tmp_path / "objects" / f"{KEY}.parts" / parts_id
    for name in ("README", "1-2-3", "x-1-" + "0" * 64, "1-5-" + "0" * 64 + ".12345678.part"):
        (folder / name).write_bytes(b"foreign")
    assert [(part.number, part.etag) for part in store.parts(KEY, parts_id)] == sent
    store.end_parts(KEY, parts_id, sent)
    assert store.get(KEY) == FIRST + LAST


def test_where_the_kernel_cannot_copy_parts_are_joined_all_the_same(
    store: FilesystemObjectStore, monkeypatch: pytest.MonkeyPatch
) -> None:
    def cannot(*_: int) -> int:
        raise OSError(errno.EXDEV, "not here")

    monkeypatch.setattr(os, "copy_file_range", cannot)
    parts_id, sent = begun(store, FIRST, SECOND, LAST)
    store.end_parts(KEY, parts_id, sent)
    assert store.get(KEY) == FIRST + SECOND + LAST


@pytest.mark.parametrize("call", ["fsync", "copy_file_range"])
def test_a_full_disk_is_said_and_nothing_becomes_visible(
    store: FilesystemObjectStore, monkeypatch: pytest.MonkeyPatch, call: str
) -> None:
    parts_id, sent = begun(store, FIRST, LAST)

    def full(*_: object) -> int:
        raise OSError(errno.ENOSPC, "No space left on device")

    with monkeypatch.context() as patch:
        patch.setattr(os, call, full)
        with pytest.raises(StoreFull, match="no space left for the object store's folder"):
            store.end_parts(KEY, parts_id, sent)
    assert list(store.keys("")) == []
    store.end_parts(KEY, parts_id, sent)
    assert store.get(KEY) == FIRST + LAST


def test_a_full_disk_in_a_put_is_said_and_leaves_nothing(tmp_path: Path, store: FilesystemObjectStore) -> None:
    resource = pytest.importorskip("resource")
    before = resource.getrlimit(resource.RLIMIT_FSIZE)
    ignored = signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
    try:
        resource.setrlimit(resource.RLIMIT_FSIZE, (100_000, before[1]))
        with pytest.raises(StoreFull):
            store.put(ObjectKey("p1/x"), io.BytesIO(BODY * 500), size_bytes=len(BODY) * 500)
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, before)
        signal.signal(signal.SIGXFSZ, ignored)
    assert files(tmp_path / "objects") == []


def test_a_part_that_lost_bytes_on_the_disk_is_not_joined(tmp_path: Path, store: FilesystemObjectStore) -> None:
    parts_id, sent = begun(store, FIRST, SECOND)
    (second,) = (tmp_path / "objects" / f"{KEY}.parts" / parts_id).glob("2-*")
    os.truncate(second, MIN_PART_BYTES)
    with pytest.raises(Conflict, match="has not arrived"):
        store.end_parts(KEY, parts_id, sent)
    assert [part.number for part in store.parts(KEY, parts_id)] == [1]
    put_part(store, parts_id, 2, SECOND)
    store.end_parts(KEY, parts_id, sent)
    assert store.get(KEY) == FIRST + SECOND
