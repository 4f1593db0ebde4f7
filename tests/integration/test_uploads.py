"""Uploads that go on where they stopped: the same line again, in whatever state the one before was left."""

from __future__ import annotations

import hashlib
import json
import os
import signal
import time
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any
from urllib.parse import quote

import pytest

from acai_jupyter.client.sessions import Plan
from acai_jupyter.client.uploads import found_file
from acai_jupyter.client.uploads import put as upload
from acai_jupyter.contract.errors import AcaiError, BadRequest
from acai_jupyter.contract.uploads import MAX_PAGE
from tests.integration.lakes import FOLDERS, S3, Lake, add_user, lake
from tests.integration.places import Place, Server, fetch, until
from tests.servers.proxy import Order, Proxy, Trouble, proxied

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from acai_jupyter.contract.uploads import UploadResult
    from tests.servers.seaweedfs import Seaweedfs

UPLOADS = "/v1/projects/default/uploads"
MIB = 1024**2


def write(lake: Lake, folder: str, files: Mapping[str, str | bytes]) -> None:
    for name, content in files.items():
        lake.place.write(f"{folder}/{name}", content)


def put(lake: Lake, *words: str) -> UploadResult:
    result: UploadResult = lake.typed("put", *words).value
    return result


def held(lake: Lake, file_set: str) -> dict[str, int]:
    """The paths of a set, each with its version."""
    entries = lake.server.get(f"/v1/projects/default/filesets/{file_set}/entries")["entries"]
    return {entry["path"]: entry["version"] for entry in entries}


# -- the same again


def test_the_same_again_makes_nothing_and_sends_nothing(any_lake: Lake) -> None:
    write(any_lake, "same", {"a": "a" * 100, "b": "b" * 200})
    first = put(any_lake, "same", "/same", "--as", "same")
    assert (first.new_files, first.sent_bytes, first.file_set) == (2, 300, "same:1")
    before = any_lake.stored()
    again = put(any_lake, "same", "/same", "--as", "same")
    assert (again.new_files, again.unchanged_files, again.sent_bytes, again.file_set) == (0, 2, 0, "same:1")
    assert any_lake.stored() == before
    assert any_lake.pending() == []


def test_only_what_changed_gets_a_version_and_is_sent(any_lake: Lake) -> None:
    write(any_lake, "changed", {"a": "a" * 100, "b": "b" * 200, "c": "c" * 300})
    put(any_lake, "changed", "/changed", "--as", "changed")
    write(any_lake, "changed", {"b": "B" * 250, "d": "d"})
    again = put(any_lake, "changed", "/changed", "--as", "changed")
    assert (again.new_files, again.unchanged_files, again.sent_bytes) == (2, 2, 251)
    assert held(any_lake, "changed:2") == {"/changed/a": 1, "/changed/b": 2, "/changed/c": 1, "/changed/d": 1}
    assert held(any_lake, "changed:1") == {"/changed/a": 1, "/changed/b": 1, "/changed/c": 1}


def test_a_change_that_leaves_size_and_time_alone_is_still_seen_by_its_place(any_lake: Lake) -> None:
    """As an editor does that writes another file and renames it, with the times of the first."""
    write(any_lake, "sly", {"a": "before"})
    put(any_lake, "sly", "/sly")
    path = any_lake.place.work / "sly" / "a"
    state = path.stat()
    other = path.with_name("other")
    other.write_text("behind")
    os.utime(other, ns=(state.st_atime_ns, state.st_mtime_ns))
    other.replace(path)
    assert put(any_lake, "sly", "/sly").new_files == 1
    assert any_lake.cat("/sly/a") == b"behind"


def test_a_change_in_place_whose_time_was_set_back_is_still_seen(any_lake: Lake) -> None:
    write(any_lake, "slyer", {"a": "before"})
    path = any_lake.place.work / "slyer" / "a"
    os.utime(path, ns=(1, 1))
    until(lambda: time.time_ns() - path.stat().st_ctime_ns > 10**8, "the file is not new any more")
    put(any_lake, "slyer", "/slyer")
    path.write_text("behind")
    os.utime(path, ns=(1, 1))
    assert put(any_lake, "slyer", "/slyer").new_files == 1
    assert any_lake.cat("/slyer/a") == b"behind"


def test_two_that_put_the_same_line_at_once_do_not_meet_in_one_session(any_lake: Lake) -> None:
    write(any_lake, "both", {f"{number:04}": f"{number}" * 50 for number in range(3000)})
    with ThreadPoolExecutor(2) as pool:
        results = list(pool.map(lambda _: put(any_lake, "both", "/both", "--as", "both"), range(2)))
    assert len({result.id for result in results}) == 2
    assert all(result.new_files + result.unchanged_files == 3000 for result in results)
    assert set(held(any_lake, results[0].file_set or "").values()) == {1}
    assert any_lake.pending() == []


def test_a_large_file_that_changed_and_kept_its_size_is_sent_once(any_lake: Lake) -> None:
    size = 20 * MIB
    write(any_lake, "large", {"x": os.urandom(size)})
    assert put(any_lake, "large", "/large").sent_bytes == size
    content = os.urandom(size)
    write(any_lake, "large", {"x": content})
    again = put(any_lake, "large", "/large")
    assert (again.new_files, again.sent_bytes) == (1, size)
    assert any_lake.cat("/large/x") == content
    assert put(any_lake, "large", "/elsewhere").sent_bytes == 0


def test_a_file_that_was_only_touched_gets_no_version(any_lake: Lake) -> None:
    write(any_lake, "touched", {"a": "a"})
    put(any_lake, "touched", "/touched", "--as", "touched")
    os.utime(any_lake.place.work / "touched" / "a", ns=(1, 1))
    again = put(any_lake, "touched", "/touched", "--as", "touched")
    assert (again.new_files, again.sent_bytes, again.file_set) == (0, 0, "touched:1")


def test_what_was_renamed_is_not_sent_again_and_it_is_said(any_lake: Lake) -> None:
    write(any_lake, "renamed", {"a": "a" * 1000, "b": "b" * 1000})
    put(any_lake, "renamed", "/renamed", "--as", "renamed")
    (any_lake.place.work / "renamed").rename(any_lake.place.work / "moved")
    before = any_lake.stored()
    said = any_lake.typed("put", "moved", "/moved")
    assert "nothing had to be sent" in said.text
    assert (said.value.new_files, said.value.sent_bytes) == (2, 0)
    assert any_lake.stored() == before
    assert any_lake.cat("/moved/b") == b"b" * 1000


def test_a_file_that_went_back_is_a_version_and_is_not_sent(any_lake: Lake) -> None:
    for text in ("first", "second", "first"):
        write(any_lake, "back", {"a": text})
        result = put(any_lake, "back", "/back")
    assert (result.new_files, result.sent_bytes) == (1, 0)
    assert any_lake.cat("/back/a:3") == b"first"


def test_the_set_has_no_more_what_was_removed_and_the_project_has(any_lake: Lake) -> None:
    write(any_lake, "removed", {"a": "a", "b": "b", "sub/c": "c"})
    put(any_lake, "removed", "/removed", "--as", "removed")
    (any_lake.place.work / "removed" / "sub" / "c").unlink()
    again = put(any_lake, "removed", "/removed", "--as", "removed")
    assert (again.new_files, again.unchanged_files, again.file_set) == (0, 2, "removed:2")
    assert held(any_lake, "removed:2") == {"/removed/a": 1, "/removed/b": 1}
    assert any_lake.cat("/removed/sub/c") == b"c"


def test_nothing_left_to_put_is_said(any_lake: Lake) -> None:
    write(any_lake, "emptied", {"a": "a"})
    put(any_lake, "emptied", "/emptied")
    (any_lake.place.work / "emptied" / "a").unlink()
    with pytest.raises(BadRequest, match="there are no files"):
        put(any_lake, "emptied", "/emptied")
    write(any_lake, "emptied", {"a": "again"})
    assert put(any_lake, "emptied", "/emptied").new_files == 1


def test_what_another_made_of_a_path_is_seen_by_the_same_line(any_lake: Lake) -> None:
    write(any_lake, "shared", {"a": "mine", "b": "b"})
    put(any_lake, "shared", "/shared", "--as", "shared")
    any_lake.place.write("theirs", "theirs")
    put(any_lake, "theirs", "/shared/a")
    again = put(any_lake, "shared", "/shared", "--as", "shared")
    assert (again.new_files, again.unchanged_files, again.sent_bytes) == (1, 1, 0)
    assert any_lake.cat("/shared/a") == b"mine"
    assert held(any_lake, again.file_set or "") == {"/shared/a": 3, "/shared/b": 1}


def test_a_version_that_was_removed_since_is_made_again_by_the_same_line(any_lake: Lake) -> None:
    write(any_lake, "restored", {"a": "a", "b": "b"})
    put(any_lake, "restored", "/restored")
    any_lake.typed("rm", "/restored/a")
    again = put(any_lake, "restored", "/restored")
    assert (again.new_files, again.unchanged_files, again.sent_bytes) == (1, 1, 0)
    assert any_lake.cat("/restored/a:2") == b"a"


def test_another_machine_sends_nothing(any_lake: Lake, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    write(any_lake, "machines", {f"{number}": f"content {number}" for number in range(50)})
    put(any_lake, "machines", "/machines", "--as", "machines")
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))  # which remembers nothing
    again = put(any_lake, "machines", "/machines", "--as", "machines")
    assert (again.new_files, again.unchanged_files, again.sent_bytes) == (0, 50, 0)
    assert again.file_set == "machines:1"


def test_a_machine_that_cannot_remember_uploads_all_the_same(
    any_lake: Lake, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    write(any_lake, "forgetful", {"a": "a"})
    (tmp_path / "file").write_text("")
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "file"))
    assert put(any_lake, "forgetful", "/forgetful").new_files == 1
    again = put(any_lake, "forgetful", "/forgetful")
    assert (again.new_files, again.unchanged_files) == (0, 1)


def test_what_was_removed_is_seen_without_the_list_of_what_was_there(any_lake: Lake, own_home: Path) -> None:
    write(any_lake, "listless", {"a": "a", "b": "b"})
    put(any_lake, "listless", "/listless", "--as", "listless")
    for path in (own_home / ".cache" / "acai" / "uploads").glob("*.files"):
        path.write_bytes(path.read_bytes()[:-1])
    (any_lake.place.work / "listless" / "b").unlink()
    put(any_lake, "listless", "/listless", "--as", "listless")
    assert held(any_lake, "listless:2") == {"/listless/a": 1}


def test_a_memory_that_was_damaged_is_no_memory(any_lake: Lake, own_home: Path) -> None:
    write(any_lake, "damaged", {"a": "a", "b": "b"})
    put(any_lake, "damaged", "/damaged")
    for path in (own_home / ".cache" / "acai" / "uploads").iterdir():
        path.write_bytes(b"\x00\x00\x00\xff" + path.read_bytes()[: path.stat().st_size // 2])
    write(any_lake, "damaged", {"b": "B"})
    again = put(any_lake, "damaged", "/damaged")
    assert (again.new_files, again.unchanged_files) == (1, 1)
    assert any_lake.cat("/damaged/b") == b"B"


# -- several sources


def test_two_sources_go_under_one_place_in_one_upload(any_lake: Lake) -> None:
    write(any_lake, "one", {"z": "z", "both/a": "a"})
    write(any_lake, "two", {"b": "b", "both/c": "c"})
    any_lake.place.write("three.txt", "three")
    result = put(any_lake, "one", "two", "three.txt", "/sources/", "--as", "sources")
    assert result.new_files == 5
    paths = ("b", "both/a", "both/c", "three.txt", "z")
    assert held(any_lake, "sources:1") == {f"/sources/{path}": 1 for path in paths}
    write(any_lake, "two", {"b": "B"})
    again = put(any_lake, "one", "two", "three.txt", "/sources/", "--as", "sources")
    assert (again.new_files, again.unchanged_files) == (1, 4)


def test_two_sources_that_meet_are_refused_and_nothing_is_recorded(any_lake: Lake) -> None:
    write(any_lake, "left", {"a": "1", "same": "left"})
    write(any_lake, "right", {"same": "right", "z": "1"})
    with pytest.raises(BadRequest, match="left/same and right/same would both be /meet/same"):
        put(any_lake, "left", "right", "/meet", "--as", "meet")
    with pytest.raises(AcaiError):
        any_lake.typed("ls", "/meet")


def test_a_file_and_a_folder_by_one_name_are_two_paths(any_lake: Lake) -> None:
    any_lake.place.write("name", "file")
    write(any_lake, "folder", {"below": "below"})
    put(any_lake, "name", "/clash/name")
    put(any_lake, "folder", "/clash/name")
    assert any_lake.cat("/clash/name") == b"file"
    assert any_lake.cat("/clash/name/below") == b"below"


# -- files that change meanwhile


@contextmanager
def behind(lake: Lake) -> Iterator[Proxy]:
    """Let all that the lake's client says pass a proxy."""
    with proxied(lake.server.root) as proxy:
        lake.url = proxy.url
        try:
            yield proxy
        finally:
            lake.url = ""


def test_a_file_that_changes_between_two_looks_is_refused_or_told_as_it_was(any_lake: Lake) -> None:
    """It is read once: what is recorded are bytes that were in it, whatever becomes of it meanwhile."""
    write(any_lake, "moving", {"a": "before"})
    with behind(any_lake) as proxy, any_lake.place.shell("put", "moving", "/moving", **at(proxy, any_lake)) as shell:
        order = proxy.misbehave(Trouble.HELD, "POST", "/commit", times=1)
        assert order.met.wait(120)
        write(any_lake, "moving", {"a": "after, and longer"})
        order.let_go.set()
        _, err = shell.communicate(timeout=120)
        assert shell.returncode == 0, err
    assert any_lake.cat("/moving/a") == b"before"
    assert put(any_lake, "moving", "/moving").new_files == 1
    assert any_lake.cat("/moving/a") == b"after, and longer"


def at(proxy: Proxy, lake: Lake) -> dict[str, str]:
    return {"ACAI_URL": proxy.url, "ACAI_TOKEN": lake.server.token}


# -- interrupted


def interrupt(lake: Lake, proxy: Proxy, words: tuple[str, ...], number: int, order: Order) -> None:
    """Interrupt a line when a request of it has stalled."""
    with lake.place.shell(*words, **at(proxy, lake)) as shell:
        assert order.met.wait(120)
        shell.send_signal(number)
        if number == signal.SIGINT:
            proxy.behave()
        _, err = shell.communicate(timeout=120)
    proxy.behave()
    assert "Traceback" not in err, err
    assert shell.returncode == (130 if number == signal.SIGINT else -number)


def folder_of(path: Path, count: int, size: int) -> dict[str, bytes]:
    """Write files whose contents nobody has."""
    contents = {f"{number:02}": os.urandom(size) for number in range(count)}
    path.mkdir()
    for name, content in contents.items():
        (path / name).write_bytes(content)
    return contents


@pytest.mark.parametrize(
    ("number", "word"),
    [
        (signal.SIGINT, "/objects"),
        (signal.SIGKILL, "/files"),
        (signal.SIGKILL, "/objects"),
        (signal.SIGKILL, "/commit"),
    ],
    ids=["interrupted", "killed while staging", "killed while telling", "killed while committing"],
)
def test_a_line_that_was_broken_off_goes_on_and_sends_only_what_is_missing(
    any_lake: Lake, tmp_path: Path, number: signal.Signals, word: str
) -> None:
    contents = folder_of(tmp_path / "source", 12, 6 * MIB)
    name = f"broken-{number.name}-{word.strip('/')}"
    words = ("put", str(tmp_path / "source"), f"/{name}", "--as", name)
    with behind(any_lake) as proxy:
        interrupt(any_lake, proxy, words, number, proxy.misbehave(Trouble.STALLED, "POST", word))
        (pending,) = any_lake.pending()
        assert pending["label"] == f"{tmp_path / 'source'} → /{name}"
        before = any_lake.stored_bytes()
        done = json.loads(any_lake.shell(*words, "--json"))
    assert done["id"] == pending["id"]
    assert (done["new_files"], done["sent_bytes"]) == (12, 72 * MIB)
    if word == "/commit":
        assert any_lake.stored_bytes() - before <= 36 * MIB  # all but the last pack was told of
    assert any_lake.pending() == []
    assert held(any_lake, f"{name}:1") == {f"/{name}/{index:02}": 1 for index in range(12)}
    assert all(any_lake.cat(f"/{name}/{path}") == content for path, content in contents.items())


def broken_off(lake: Lake, words: tuple[str, ...], word: str = "/commit") -> None:
    with behind(lake) as proxy:
        interrupt(lake, proxy, words, signal.SIGKILL, proxy.misbehave(Trouble.STALLED, "POST", word))


def test_what_was_removed_after_a_line_broke_off_is_not_in_it_when_it_goes_on(any_lake: Lake) -> None:
    write(any_lake, "shrinks", {"a": "a", "b": "b", "c": "c"})
    words = ("put", "shrinks", "/shrinks", "--as", "shrinks")
    broken_off(any_lake, words)
    (any_lake.place.work / "shrinks" / "b").unlink()
    done = any_lake.shell(*words)
    assert done.startswith("2 files, 2 B")
    assert held(any_lake, "shrinks:1") == {"/shrinks/a": 1, "/shrinks/c": 1}
    with pytest.raises(AcaiError):
        any_lake.cat("/shrinks/b")


def test_what_was_removed_before_a_line_broke_off_is_not_in_it_when_it_goes_on(any_lake: Lake) -> None:
    write(any_lake, "shrank", {"a": "a", "b": "b", "c": "c"})
    words = ("put", "shrank", "/shrank", "--as", "shrank")
    any_lake.shell(*words)
    (any_lake.place.work / "shrank" / "b").unlink()
    write(any_lake, "shrank", {"c": "C"})
    broken_off(any_lake, words, "/files")
    any_lake.shell(*words)
    assert held(any_lake, "shrank:2") == {"/shrank/a": 1, "/shrank/c": 2}


def test_what_changed_after_a_line_broke_off_is_as_it_is_when_it_goes_on(any_lake: Lake) -> None:
    write(any_lake, "edits", {"a": "a", "b": "before"})
    words = ("put", "edits", "/edits", "--as", "edits")
    broken_off(any_lake, words)
    write(any_lake, "edits", {"b": "after"})
    any_lake.shell(*words)
    assert any_lake.cat("/edits/b@edits:1") == b"after"
    assert len(any_lake.typed("versions", "/edits/b").value.versions) == 1


def test_a_commit_whose_answer_was_lost_is_not_made_twice(any_lake: Lake) -> None:
    write(any_lake, "lost", {"a": "a", "b": "b"})
    words = ("put", "lost", "/lost", "--as", "lost")
    with behind(any_lake) as proxy:
        proxy.misbehave(Trouble.ANSWER_LOST, "POST", "/commit", times=1)
        failed = any_lake.place.acai(*words, **at(proxy, any_lake))
        assert failed.returncode in (0, 5), failed.stderr
    again = any_lake.shell(*words)
    assert "lost:1" in again
    assert held(any_lake, "lost:1") == {"/lost/a": 1, "/lost/b": 1}
    assert len(any_lake.typed("versions", "/lost/a").value.versions) == 1


def test_a_pending_upload_is_listed_and_aborting_it_deletes_what_was_sent(any_lake: Lake) -> None:
    before = any_lake.stored()
    write(any_lake, "given-up", {"a": "a" * 5000})
    words = ("put", "given-up", "/given-up")
    broken_off(any_lake, words)
    listed = any_lake.shell("uploads")
    assert "given-up → /given-up" in listed
    assert "1 file" in listed
    (pending,) = any_lake.pending()
    said = any_lake.shell("uploads", "--abort", pending["id"])
    assert said == f"upload {pending['id'][:8]} aborted · what it had sent is deleted\n"
    assert any_lake.shell("uploads") == "no pending uploads\n"
    assert any_lake.stored() == before
    assert "1 file" in any_lake.shell(*words)
    assert any_lake.cat("/given-up/a") == b"a" * 5000


def test_a_server_that_is_killed_and_comes_back_goes_on_with_the_same_upload(
    request: pytest.FixtureRequest, tmp_path: Path
) -> None:
    with lake("direct", tmp_path, request) as found:
        content = {f"{number}": os.urandom(MIB) for number in range(20)}
        write(found, "source", content)
        words = ("put", "source", "/source", "--as", "source")
        broken_off(found, words)
        (pending,) = found.pending()
        found.server.kill()
        found.server = found.place.start()
        result = json.loads(found.shell(*words, "--json"))
        assert (result["id"], result["sent_bytes"]) == (pending["id"], 20 * MIB)
        assert found.cat("/source/7") == content["7"]


# -- large files, in parts

PART = 64 * MIB


def test_a_large_file_to_s3_goes_on_with_the_parts_that_arrived(
    request: pytest.FixtureRequest, s3_server: Seaweedfs, tmp_path: Path
) -> None:
    with proxied(s3_server.url) as s3, lake("s3", tmp_path, request, s3.url) as found:
        size = 4 * PART + 10 * MIB
        path = found.place.write("large.bin", os.urandom(MIB) * (size // MIB))
        words = ("put", "large.bin", "/large.bin")
        order = s3.misbehave(Trouble.STALLED, "PUT", "partNumber=", spared=2)
        with found.place.shell(*words) as shell:
            assert order.met.wait(120)
            until(lambda: len(answered(s3)) >= 2, "two parts having arrived")
            shell.send_signal(signal.SIGINT)
            s3.behave()
            shell.communicate(timeout=120)
        assert shell.returncode == 130
        (pending,) = found.pending()
        s3.requests.clear()
        result = json.loads(found.shell(*words, "--json"))
        assert (result["id"], result["sent_bytes"]) == (pending["id"], size)
        assert s3.sent_bytes("partNumber=") <= size - 2 * PART
        assert hash_of(found.cat("/large.bin")) == hash_of(path.read_bytes())


def answered(s3: Proxy) -> list[str]:
    return [path for method, path in s3.answered if method == "PUT" and "partNumber=" in path]


def hash_of(content: bytes) -> str:
    return hashlib.sha256(content).hexdigest()


@pytest.mark.parametrize("kind", [*FOLDERS[1:], *S3])
def test_a_large_file_whose_sender_was_killed_goes_on_with_the_parts_that_arrived(
    request: pytest.FixtureRequest, tmp_path: Path, kind: str
) -> None:
    with lake(kind, tmp_path, request) as found:
        size = 7 * PART
        path = found.place.write("large.bin", os.urandom(MIB) * (size // MIB))
        with found.place.shell("put", "large.bin", "/large.bin") as shell:
            until(lambda: remembered(found), "a part having arrived")
            shell.kill()
        (pending,) = found.pending()
        there = remembered(found)
        assert 1 <= len(there) < 7
        result = json.loads(found.shell("put", "large.bin", "/large.bin", "--json"))
        assert (result["id"], result["sent_bytes"]) == (pending["id"], size)
        assert hash_of(found.cat("/large.bin")) == hash_of(path.read_bytes())


def remembered(lake: Lake) -> dict[str, Any]:
    """The parts that the sender knows to have arrived."""
    for state in (lake.place.home / "cache" / "acai" / "uploads").glob("*.json"):
        found = json.loads(state.read_bytes())["large"]
        if found:
            return next(iter(found.values()))[3]  # type: ignore[no-any-return]
    return {}


def test_a_large_file_that_was_changed_meanwhile_is_sent_anew(request: pytest.FixtureRequest, tmp_path: Path) -> None:
    with lake("signed", tmp_path, request) as found:
        path = found.place.write("large.bin", os.urandom(MIB) * 200)
        with found.place.shell("put", "large.bin", "/large.bin") as shell:
            until(lambda: remembered(found), "a part having arrived")
            shell.kill()
        content = os.urandom(MIB) * 200
        path.write_bytes(content)
        found.shell("put", "large.bin", "/large.bin")
        assert hash_of(found.cat("/large.bin")) == hash_of(content)


# -- what a client should not do


def announced(content: bytes) -> dict[str, Any]:
    return {"size_bytes": len(content), "sha256": hash_of(content)}


def session(server: Server, files: list[dict[str, Any]], **more: Any) -> str:
    answer = server.ask("POST", UPLOADS, {"files": files, **more})
    assert answer.status == 201, answer.body
    return str(answer.json["id"])


BAD_PATHS = [
    *("a", "", "/", "/a/", "/a//b", "/../etc/passwd", "/a/../b", "/a/./b", "/..", "/a\0b", "/a\nb", "/a\x1b[2J"),
    *("/a\x7f", "/a\x85b", "/e\u0301", "/" + "x" * 1024, "/" + "\u00e9" * 512, "/a\ud800"),
]


@pytest.mark.parametrize("path", BAD_PATHS, ids=ascii)
def test_a_path_that_cannot_be_is_refused_everywhere(server: Server, path: str) -> None:
    file = {"path": path, **announced(b"x")}
    good = session(server, [])
    asked = [
        server.ask("POST", UPLOADS, {"files": [file]}),
        server.ask("POST", f"{UPLOADS}/{good}/files", {"files": [file]}),
        server.ask("POST", f"{UPLOADS}/{good}/files", {"removed": [path]}),
        server.ask("POST", "/v1/projects/default/files/remove", {"spec": path}),
    ]
    if path not in ("/", "/a/"):  # which are folders
        asked.append(server.ask("POST", "/v1/projects/default/files/fetch", {"spec": path}))
    if path != "" and "\ud800" not in path:
        spelled = quote(path)
        asked.append(server.ask("GET", f"/v1/projects/default/versions?path={spelled}"))
        if path not in ("/", "/a/", "a"):
            asked.append(server.ask("GET", f"/v1/projects/default/files?spec={spelled}"))
            asked.append(server.ask("GET", f"/v1/projects/default/folder?path={spelled}"))
    for number, answer in enumerate(asked):
        assert answer.status == 400, (number, answer.body)
        assert answer.code in ("bad_path", "bad_spec", "bad_request")
        assert "\n" not in answer.error["message"]
    assert server.ask("DELETE", f"{UPLOADS}/{good}").status == 200


@pytest.mark.parametrize("route", ["versions?path=", "folder?path=", "files?spec="])
def test_bytes_that_are_no_text_are_no_path(server: Server, route: str) -> None:
    answer = server.ask("GET", f"/v1/projects/default/{route}/a%ff%fe")
    assert answer.status == 400
    assert answer.error["message"]


def test_a_page_with_a_name_twice_is_refused(server: Server) -> None:
    file = {"path": "/twice", **announced(b"x")}
    answer = server.ask("POST", UPLOADS, {"files": [file, file]})
    assert (answer.status, answer.code) == (400, "bad_request")
    assert "'/twice' is in it twice" in answer.error["message"]


def test_pages_that_are_too_large_are_refused(server: Server) -> None:
    made = session(server, [])
    files = [{"path": f"/f{number}", **announced(b"x")} for number in range(MAX_PAGE + 1)]
    blob = {"offset": 0, **announced(b"x")}
    sent = {"number": 1, "blobs": [blob] * 100_001, **announced(b"x")}
    for route, body in (
        ("", {"files": files}),
        (f"/{made}/files", {"files": files}),
        (f"/{made}/files", {"removed": [file["path"] for file in files]}),
        (f"/{made}/targets", {"objects": [{"number": 1, **announced(b"x")}] * 1001}),
        (f"/{made}/targets", {"objects": []}),
        (f"/{made}/objects", {"objects": [sent]}),
        (f"/{made}/targets", {"objects": [{"number": 0, **announced(b"x")}]}),
        (f"/{made}/targets", {"objects": [{"number": 1, "size_bytes": 2**60}]}),
        (f"/{made}/targets", {"objects": [{"number": 1, "size_bytes": 10, "part_bytes": 1}]}),
    ):
        answer = server.ask("POST", f"{UPLOADS}{route}", body)
        assert (answer.status, answer.code) == (400, "bad_request"), route
    assert server.ask("POST", f"{UPLOADS}/{made}/files", b"[" + b" " * 65 * MIB).status == 413
    answer = server.ask("POST", "/v1/projects/default/files/fetch", {"spec": "/", "limit": 20_001})
    assert (answer.status, answer.code) == (413, "too_many_rows")


def test_sizes_that_are_wrong_are_refused(server: Server) -> None:
    for size in (-1, 2**51, 1.5, "1", None, True):
        answer = server.ask("POST", UPLOADS, {"files": [{"path": "/x", "size_bytes": size, "sha256": "0" * 64}]})
        assert (answer.status, answer.code) == (400, "bad_request"), size
    for sha256 in ("", "0" * 63, "0" * 65, "G" * 64, "A" * 64, 1, None):
        answer = server.ask("POST", UPLOADS, {"files": [{"path": "/x", "size_bytes": 1, "sha256": sha256}]})
        assert (answer.status, answer.code) == (400, "bad_request"), sha256


def test_a_blob_outside_its_object_is_refused(server: Server) -> None:
    content = b"content"
    made = session(server, [{"path": "/outside", **announced(content)}])
    target = server.ask("POST", f"{UPLOADS}/{made}/targets", {"objects": [{"number": 1, **announced(content)}]})
    assert fetch("PUT", target.json["targets"][0]["url"], content).status == 200
    for offset, size in ((1, 7), (0, 8), (7, 1), (2**49, 1)):
        blob = {"offset": offset, "size_bytes": size, "sha256": hash_of(content)}
        told = {"objects": [{"number": 1, "blobs": [blob], **announced(content)}]}
        answer = server.ask("POST", f"{UPLOADS}/{made}/objects", told)
        assert (answer.status, answer.code) == (400, "bad_request")
    for number, other in ((2, content), (1, b"another")):
        blob = {"offset": 0, **announced(other)}
        told = {"objects": [{"number": number, "blobs": [blob], **announced(other)}]}
        assert server.ask("POST", f"{UPLOADS}/{made}/objects", told).status == 400
    assert server.ask("POST", f"{UPLOADS}/{made}/commit", {}).status == 409


@pytest.mark.parametrize("proof", ["", "wrong", "\u00e9" * 64, "0" * 64, "x" * 100_000])
def test_a_wrong_proof_opens_no_folder(server: Server, proof: str) -> None:
    answer = server.ask("POST", UPLOADS, {"files": [], "proof": proof})
    assert answer.status == 201
    assert answer.json["folder"] is None
    server.place.write("read", "read")
    assert server.place.acai("put", "read", "/read").returncode == 0
    fetched = server.ask("POST", "/v1/projects/default/files/fetch", {"spec": "/read", "proof": proof})
    assert all(url.startswith("http") for url in fetched.json["objects"])


def test_the_right_proof_opens_a_folder_until_there_is_a_second_user(place: Place) -> None:
    server = place.start()
    store = server.get("/v1/status")["store"]
    proof = Path(store["proof_file"]).read_text()
    assert Path(store["proof_file"]).stat().st_mode & 0o077 == 0
    made = server.ask("POST", UPLOADS, {"files": [{"path": "/x", **announced(b"x")}], "proof": proof}).json
    assert made["folder"].startswith(str(place.data / "objects"))
    add_user(place)
    assert server.get("/v1/status")["store"]["proof_file"] is None
    assert server.ask("POST", UPLOADS, {"files": [], "proof": proof}).json["folder"] is None


def second_user(server: Server, project: str = "default") -> str:
    """Let a user into a project; returns their token."""
    if project != "default":
        made = server.ask("POST", "/v1/projects", {"name": project, "admin": "b"})
    else:
        made = server.ask("POST", "/v1/projects/default/users", {"name": "b"})
    return str(made.json["issued"]["secret"])


@pytest.mark.parametrize("name", ["default", "other"], ids=["another user", "another project"])
def test_the_session_of_another_is_as_good_as_none(place: Place, name: str) -> None:
    server = place.start()
    made = session(server, [{"path": "/mine", **announced(b"mine")}])
    token = second_user(server, name)
    uploads = f"/v1/projects/{name}/uploads"
    headers = {"Authorization": f"Bearer {token}"}
    blob = {"offset": 0, **announced(b"mine")}
    told = {"objects": [{"number": 1, "blobs": [blob], **announced(b"mine")}]}
    for method, route, body in (
        ("GET", "", None),
        ("DELETE", "", None),
        ("POST", "/files", {"files": [{"path": "/theirs", **announced(b"x")}]}),
        ("POST", "/targets", {"objects": [{"number": 1, **announced(b"mine")}]}),
        ("POST", "/objects", told),
        ("POST", "/commit", {}),
    ):
        answer = server.ask(method, f"{uploads}/{made}{route}", body, headers=headers, token=None)
        assert (answer.status, answer.code) == (404, "upload_not_found"), route
    assert server.ask("GET", uploads, headers=headers, token=None).json["uploads"] == []
    based = server.ask("POST", uploads, {"base": made, "only_changed": True}, headers=headers, token=None)
    assert (based.status, based.code) == (404, "upload_not_found")
    assert server.get(f"{UPLOADS}/{made}")["state"] == "pending"


def test_what_another_sent_and_nobody_checked_is_sent_again(place: Place) -> None:
    server = place.start()
    token = second_user(server)
    place.write("common", "the same content")
    assert place.acai("put", "common", "/common").returncode == 0
    file = {"path": "/theirs", **announced(b"the same content")}
    made = server.ask("POST", UPLOADS, {"files": [file]}, headers={"Authorization": f"Bearer {token}"}, token=None)
    assert made.json["missing"] == [0]


def test_bytes_under_a_hash_that_is_not_theirs_are_fetched_only_as_an_error(place: Place, tmp_path: Path) -> None:
    server = place.start()
    found = Lake(server, "direct")
    place.write("good.txt", "good")
    found.typed("put", "good.txt", "/liar/good.txt")
    lie, content = announced(b"claimed!"), b"content!"
    made = session(server, [{"path": "/liar/wrong.txt", **lie}])
    target = server.ask("POST", f"{UPLOADS}/{made}/targets", {"objects": [{"number": 1, **announced(content)}]})
    assert fetch("PUT", target.json["targets"][0]["url"], content).status == 200
    told = {"objects": [{"number": 1, "blobs": [{"offset": 0, **lie}], **announced(content)}]}
    assert server.ask("POST", f"{UPLOADS}/{made}/commit", told).status == 200
    with pytest.raises(AcaiError, match=r"wrong\.txt"):
        found.cat("/liar/wrong.txt")
    with pytest.raises(AcaiError, match=r"The stored bytes of '/liar/wrong\.txt:1'.* are damaged"):
        found.typed("get", "/liar/wrong.txt", str(tmp_path / "out"))
    assert not (tmp_path / "out").exists()
    assert found.cat("/liar/good.txt") == b"good"
    place.write("wrong.txt", "claimed!")
    assert [child.name for child in found.typed("ls", "/liar").value.children] == ["good.txt", "wrong.txt"]
    server.end()


def test_a_committed_session_can_be_asked_and_not_changed(server: Server) -> None:
    place = server.place
    place.write("done", "done")
    assert place.acai("put", "done", "/done").returncode == 0
    (committed,) = [one for one in server.get(f"{UPLOADS}?state=committed")["uploads"] if "/done" in one["label"]]
    path = f"{UPLOADS}/{committed['id']}"
    first = server.ask("POST", f"{path}/commit", {}).json
    assert server.ask("POST", f"{path}/commit", {}).json == first
    for method, route, body in (
        ("DELETE", "", None),
        ("POST", "/files", {"files": [{"path": "/late", **announced(b"x")}]}),
        ("POST", "/targets", {"objects": [{"number": 9, **announced(b"x")}]}),
        ("POST", "/objects", {"objects": []}),
    ):
        assert server.ask(method, f"{path}{route}", body).code == "conflict", route


def test_an_aborted_session_takes_no_number_and_can_be_aborted_again(server: Server) -> None:
    made = session(server, [{"path": "/aborted", **announced(b"x")}])
    assert server.ask("DELETE", f"{UPLOADS}/{made}").json["state"] == "aborted"
    assert server.ask("DELETE", f"{UPLOADS}/{made}").json["state"] == "aborted"
    assert server.ask("POST", f"{UPLOADS}/{made}/commit", {}).code == "conflict"
    server.place.write("aborted", "x")
    assert server.place.acai("put", "aborted", "/aborted").returncode == 0
    assert [one["version"] for one in server.get("/v1/projects/default/versions?path=/aborted")["versions"]] == [1]


def test_fifty_clients_at_one_path_make_fifty_versions(any_lake: Lake) -> None:
    sources = [any_lake.place.write(f"fifty/{number}", f"content {number}") for number in range(50)]

    def one(source: Path) -> int:
        plan = Plan(only_changed=False)
        return upload(any_lake.client(), [found_file(str(source), "/fifty")], plan).new_files

    with ThreadPoolExecutor(50) as pool:
        assert list(pool.map(one, sources)) == [1] * 50
    versions = any_lake.typed("versions", "/fifty").value.versions
    assert [version.version for version in versions] == list(range(50, 0, -1))
    assert {any_lake.cat(f"/fifty:{number}") for number in range(1, 51)} == {s.read_bytes() for s in sources}
