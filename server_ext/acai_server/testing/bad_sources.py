"""What is wrong with sources, and that nothing is made of them."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

import pytest

from acai_jupyter.contract.errors import AcaiError, BadRequest, BadSpec, FileNotFound, FileSetNotFound
from acai_jupyter.contract.filesets import MAX_NESTING, MAX_SOURCES, AsOf, Matching, Source, Without
from acai_server.lake.meanings import MAX_PARTS
from acai_server.testing.composers import compare, content, create, recorded, resolve
from acai_server.testing.uploads import LakeSuite

if TYPE_CHECKING:
    from acai_server.testing.lakes import LakeUser


def nested(depth: int) -> Source:
    """Return a source this deep."""
    return Without([nested(depth - 1)], ["/y"]) if depth else "/x"


BAD: dict[str, tuple[list[Source], type[AcaiError], str]] = {
    "nothing": ([], BadRequest, "there are no sources"),
    "nothing inside": ([Matching([], "/*")], BadRequest, "there are no sources"),
    "a file that is not there": (["/x", "/y1"], FileNotFound, "There is no file '/y1'. Did you mean /y?"),
    "a version that is not there": (["/x:7"], FileNotFound, "There is no file '/x:7'. The latest is '/x:2'."),
    "a folder that is not there": (["/dir/"], FileNotFound, "There is no folder '/dir/'."),
    "a folder that is not in a set": (["/d/@train"], FileNotFound, "There is no folder '/d/'. It is not in file set"),
    "a pattern": (["/d/*.txt"], FileNotFound, "'/d/*.txt'. Patterns belong to Python: files["),
    "a pattern of a set": (["/d?/@train"], FileNotFound, 'train:1. Patterns belong to Python: files["/d?/"].'),
    "a set that is not there": (["@trian"], FileSetNotFound, "Did you mean train"),
    "a version of a set that is not there": (["@train:9"], FileSetNotFound, "latest is 'train:1'"),
    "a file that the set does not have": (
        ["/yz@train"],
        FileNotFound,
        "It is not in file set train:1. Did you mean /y?",
    ),
    "a folder that the set does not have": (["/d/@train"], FileNotFound, "It is not in file set train:1"),
    "two versions of a file": (["/x:1", "/x:2"], BadRequest, "by '/x:1' and by '/x:2'; leave"),
    "two versions, one in a set": (["/x", "/x@train"], BadRequest, "two versions of one file"),
    "two versions inside": ([Matching(["/x", "/x:1"], "/*")], BadRequest, "two versions of one file"),
    "a set's bare name": (["/x", "train:1"], BadSpec, "a file set is written '@train:1'"),
    "a relative path": (["data/x"], BadSpec, "it starts with '/'"),
    "a long spec": (["/" + "a" * 5000], BadSpec, "it has 5,001 characters"),
    "a bad pattern": ([Matching(["/"], "*.png")], BadRequest, "does not start with '/'"),
    "nothing left": ([Without(["@train"], ["@train"])], BadRequest, "these sources have no files"),
    "nothing that fits": ([Matching(["@train"], "/q*")], BadRequest, "these sources have no files"),
    "a million specs": (["/x"] * (MAX_SOURCES + 1), BadRequest, "more than 100,000 sources"),
    "as many inside": ([Matching(["/x"] * MAX_SOURCES, "/*")], BadRequest, "more than 100,000 sources"),
    "too deep": ([nested(MAX_NESTING)], BadRequest, "more than 20 deep"),
    "too many parts": (["@train", *(Matching(["/x"], f"/{n}*") for n in range(MAX_PARTS))], BadRequest, "1,000 sets"),
    "many folders that are not there": ([f"/f{n}/" for n in range(9999)], FileNotFound, "There is no folder '/f0/'"),
    "too many sets": ([f"@train:{n}" for n in range(1, MAX_PARTS + 2)], BadRequest, "1,000 sets"),
    "a file as of a commit": ([AsOf("/x", 1)], BadSpec, "folders of the project only"),
    "a set as of a commit": ([AsOf("/d/@train", 1)], BadSpec, "folders of the project only"),
}


class BadSourceSuite(LakeSuite):
    """What is wrong makes nothing, and is named."""

    @pytest.fixture
    def stocked(self, user: LakeUser) -> LakeUser:
        user.put({"/x": b"1", "/y": b"1"}, file_set="train")
        user.put({"/x": b"2"})
        return user

    @pytest.mark.parametrize("case", BAD)
    def test_nothing_is_made_of_bad_sources(self, stocked: LakeUser, case: str) -> None:
        sources, kind, words = BAD[case]
        before = recorded(stocked)
        with pytest.raises(kind, match=re.escape(words)):
            create(stocked, "made", *sources)
        assert recorded(stocked) == before
        if "no files" in words:
            assert resolve(stocked, *sources).entries == []
            assert compare(stocked, sources, sources).differences == []
            return
        for ask in (lambda: resolve(stocked, *sources), lambda: compare(stocked, ["/x"], sources)):
            with pytest.raises(kind):
                ask()

    @pytest.mark.parametrize(
        ("name", "words"),
        [
            ("a:b", "a name starts with a letter"),
            ("1a", "a name starts with a letter"),
            ("", "a name starts with a letter"),
            ("latest", "'latest' is reserved"),
            ("a" * 129, "128"),
            ("a" * 1_000_000, "128"),
        ],
    )
    def test_a_bad_name_is_refused(self, stocked: LakeUser, name: str, words: str) -> None:
        before = recorded(stocked)
        with pytest.raises(BadSpec, match=words) as caught:
            create(stocked, name, "/x")
        assert len(caught.value.message) < 400
        assert recorded(stocked) == before

    def test_the_same_version_may_be_named_twice(self, stocked: LakeUser) -> None:
        assert content(stocked, "/x:2", "/x", "/x") == {"/x": 2}
        assert content(stocked, "/x:1", "/x@train", "/x@train:1") == {"/x": 1}

    def test_a_file_is_replaced_by_taking_it_away_first(self, stocked: LakeUser) -> None:
        assert content(stocked, Without(["/x:1", "/y"], ["/x"]), "/x:2") == {"/x": 2, "/y": 1}

    def test_a_later_set_or_folder_wins_over_a_file(self, stocked: LakeUser) -> None:
        assert content(stocked, "/x:2", "@train") == {"/x": 1, "/y": 1}
        assert content(stocked, "/x:1", "/") == {"/x": 2, "/y": 1}

    def test_a_hundred_thousand_sources_are_few_enough(self, stocked: LakeUser) -> None:
        assert content(stocked, *(["/x:1"] * (MAX_SOURCES - 1)), "/x@train") == {"/x": 1}
