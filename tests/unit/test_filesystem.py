"""What the file system decides by itself: names, how far to read ahead, and which drafts are not wanted."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import fsspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from acai_jupyter.contract.errors import BadPath, BadSpec
from acai_jupyter.contract.specs import encode_path
from acai_jupyter.filesystem import AcaiFileSystem
from acai_jupyter.filesystem.addresses import address, parent, strip, url
from acai_jupyter.filesystem.reading import FIRST_AHEAD_BYTES, JUMP_BYTES, GrowingReadAhead
from acai_jupyter.filesystem.writing import Draft

MIB = 1024**2
NAMES = st.text(st.characters(exclude_categories=["C"], exclude_characters="/"), min_size=1, max_size=8)


@pytest.mark.parametrize(
    ("text", "path", "spec"),
    [
        ("acai:///data/train.json", "/data/train.json", "/data/train.json"),
        ("acai:///data/train.json:2", "/data/train.json:2", "/data/train.json:2"),
        ("acai:///data/train.json@HotpotQA", "/data/train.json@HotpotQA", "/data/train.json@HotpotQA"),
        ("acai:///data/train.json@HotpotQA:1", "/data/train.json@HotpotQA:1", "/data/train.json@HotpotQA:1"),
        ("acai:///img/@train:3", "/img@train:3", "/img@train:3"),
        ("acai:///@train", "/@train", "@train"),
        ("acai://@train", "/@train", "@train"),
        ("acai:///", "/", "/"),
        ("acai://", "/", "/"),
        ("acai:///img/", "/img", "/img"),
        ("img/1.png", "/img/1.png", "/img/1.png"),
        ("acai:///img%402x.png", "/img%402x.png", "/img%402x.png"),
        ("acai:///img/@train:3/sub/1.png", "/img@train:3/sub/1.png", "/img/sub/1.png@train:3"),
        ("acai:///@train/1.png", "/@train/1.png", "/1.png@train"),
        ("acai://other/data/x@s", "//other/data/x@s", "/data/x@s"),
        ("acai://other", "//other/", "/"),
    ],
)
def test_a_url_is_a_spec_and_perhaps_a_project(text: str, path: str, spec: str) -> None:
    assert strip(text) == path
    assert strip(path) == path
    assert str(address(text).spec) == spec
    assert address(text).project == ("other" if "other" in text else None)
    assert strip(url(path)) == path


@pytest.mark.parametrize(
    ("path", "above"),
    [
        ("/a/b.png", "/a"),
        ("/a", "/"),
        ("/", "/"),
        ("/a/b.png@train:3", "/a@train:3"),
        ("/a@train", "/@train"),
        ("/a@train/b/c.png", "/a@train/b"),
        ("/a@train/b", "/a@train"),
        ("//other/a/b", "//other/a"),
    ],
)
def test_the_folder_of_what_is_in_a_set_is_in_the_set(path: str, above: str) -> None:
    assert parent(path) == above


@given(st.lists(NAMES.filter(lambda name: name not in (".", "..")), min_size=1, max_size=4))
def test_every_path_that_can_be_in_a_project_has_a_url(names: list[str]) -> None:
    path = "/" + "/".join(names)
    try:
        found = address(url(encode_path(path)))
    except BadPath:  # not in Unicode's composed form, or too long
        return
    assert found.spec.path == path


def test_a_slash_too_many_is_no_project() -> None:
    with pytest.raises(BadPath, match="empty part"):
        strip("acai:////data/x")


def test_what_is_no_spec_is_refused() -> None:
    with pytest.raises(BadSpec):
        address("acai:///data/x:latest")


def test_lists_of_urls_are_stripped_one_by_one() -> None:
    assert AcaiFileSystem._strip_protocol(["acai:///a", Path("/b")]) == ["/a", "/b"]


def test_a_file_system_can_be_asked_for_by_its_name() -> None:
    assert isinstance(fsspec.filesystem("acai"), AcaiFileSystem)
    fs, path = fsspec.core.url_to_fs("acai:///a/b@set:3")
    assert (type(fs), path) == (AcaiFileSystem, "/a/b@set:3")


def test_nothing_of_it_is_loaded_before_it_is_used() -> None:
    program = "import sys, fsspec, acai_jupyter; assert not any('filesystem' in n for n in sys.modules if 'acai' in n)"
    subprocess.run([sys.executable, "-c", program], check=True)
    program = "import sys, acai_jupyter; assert 'fsspec' not in sys.modules"
    subprocess.run([sys.executable, "-c", program], check=True)


# -- reading ahead


class Recorded:
    """Content that remembers what was fetched of it."""

    def __init__(self, size_bytes: int) -> None:
        self.content = bytes(number % 251 for number in range(min(size_bytes, 1000))) * (size_bytes // 1000 + 1)
        self.content = self.content[:size_bytes]
        self.fetched: list[tuple[int, int]] = []

    def fetch(self, start: int, end: int) -> bytes:
        self.fetched.append((start, end))
        return self.content[start:end]

    def cache(self, block_bytes: int = 8 * MIB) -> GrowingReadAhead:
        return GrowingReadAhead(block_bytes, self.fetch, len(self.content))


@given(
    st.integers(0, 3 * FIRST_AHEAD_BYTES),
    st.sampled_from([1000, FIRST_AHEAD_BYTES, 8 * MIB]),
    st.lists(st.tuples(st.integers(0, 3 * FIRST_AHEAD_BYTES), st.integers(0, FIRST_AHEAD_BYTES)), max_size=8),
)
def test_whatever_is_read_in_whatever_order_is_the_content(size: int, block: int, reads: list[tuple[int, int]]) -> None:
    recorded = Recorded(size)
    cache = recorded.cache(block)
    for start, length in reads:
        assert cache._fetch(start, start + length) == recorded.content[start : start + length]


def test_reading_from_front_to_back_fetches_each_byte_once_and_ever_more_at_a_time() -> None:
    recorded = Recorded(20 * MIB)
    cache = recorded.cache()
    for start in range(0, 20 * MIB, 64 * 1024):
        cache._fetch(start, start + 64 * 1024)
    assert [start for start, _ in recorded.fetched[1:]] == [end for _, end in recorded.fetched[:-1]]
    assert recorded.fetched[-1][1] == 20 * MIB
    assert len(recorded.fetched) < 10


def test_a_small_step_back_fetches_nothing() -> None:
    recorded = Recorded(4 * MIB)
    cache = recorded.cache()
    for start in range(0, 2 * MIB, 10_000):
        cache._fetch(start, start + 8192)
        before = len(recorded.fetched)
        cache._fetch(start + 10, start + 20)
        assert len(recorded.fetched) == before


def test_a_jump_fetches_what_was_asked_for_and_little_more() -> None:
    recorded = Recorded(20 * MIB)
    cache = recorded.cache()
    cache._fetch(20 * MIB - 8, 20 * MIB)
    cache._fetch(3 * MIB, 3 * MIB + 10)
    cache._fetch(9 * MIB, 10 * MIB)
    assert [end - start for start, end in recorded.fetched] == [8, JUMP_BYTES, MIB]


# -- drafts


def test_a_draft_is_a_file_until_it_is_thrown_away() -> None:
    draft = Draft("/x", autocommit=False)
    draft.write(b"content")
    draft.close()
    assert draft.is_wanted
    assert Path(draft.source).read_bytes() == b"content"
    draft.discard()
    assert not Path(draft.source).exists()


def test_a_draft_that_is_closed_by_an_exception_is_not_wanted_and_the_exception_says_so() -> None:
    draft = Draft("/x", autocommit=False)

    def write() -> None:
        try:
            raise ValueError("half of it is written")
        finally:
            draft.close()

    with pytest.raises(ValueError, match="half") as raised:
        write()
    assert raised.value.__notes__ == ["/x was being written and was not committed."]
    assert not draft.is_wanted
    assert not Path(draft.source).exists()


def test_a_draft_that_is_opened_and_closed_while_another_exception_is_handled_is_wanted() -> None:
    try:
        int("this is why a report is written")
    except ValueError:
        draft = Draft("/report", autocommit=False)
        draft.close()
    assert draft.is_wanted
    draft.discard()
