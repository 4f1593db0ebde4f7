"""The grammar of file specs: every form is read in one way and written back unchanged."""

from __future__ import annotations

import unicodedata
from contextlib import suppress

import pytest
from hypothesis import given
from hypothesis import strategies as st

from acai_jupyter.contract.errors import BadPath, BadSpec
from acai_jupyter.contract.specs import (
    SetRef,
    Spec,
    check_name,
    encode_path,
    normal_path,
    parse_input,
    parse_set,
    parse_spec,
)

FORMS = {
    "/p": Spec("/p"),
    "/p:2": Spec("/p", version=2),
    "/p@Set": Spec("/p", file_set=SetRef("Set")),
    "/p@Set:3": Spec("/p", file_set=SetRef("Set", 3)),
    "/p@Set:best": Spec("/p", file_set=SetRef("Set", "best")),
    "/dir/@Set:3": Spec("/dir/", file_set=SetRef("Set", 3)),
    "/a/b/@Set": Spec("/a/b/", file_set=SetRef("Set")),
    "@Set": Spec("/", file_set=SetRef("Set")),
    "/@Set": Spec("/", file_set=SetRef("Set")),
    "@Set:3": Spec("/", file_set=SetRef("Set", 3)),
    "@Set:latest": Spec("/", file_set=SetRef("Set")),
    "/img%402x.png": Spec("/img@2x.png"),
    "/img%402x.png:7": Spec("/img@2x.png", version=7),
    "/10%25%3A.txt@Set": Spec("/10%:.txt", file_set=SetRef("Set")),
    "/sp ace/\u00e4 \U0001f4a9": Spec("/sp ace/\u00e4 \U0001f4a9"),
}
NAMES = st.from_regex(r"[A-Za-z][A-Za-z0-9._-]{0,40}", fullmatch=True).filter(lambda name: name != "latest")
REFS = st.builds(SetRef, NAMES, st.one_of(st.just("latest"), st.integers(1, 999_999_999), NAMES))
PARTS = (
    st.text(st.characters(exclude_categories=("Cs", "Cc"), exclude_characters="/"), min_size=1, max_size=20)
    .map(lambda part: unicodedata.normalize("NFC", part))
    .filter(lambda part: part not in (".", ".."))
)
PATHS = (
    st.lists(PARTS, min_size=1, max_size=6)
    .map(lambda parts: "/" + "/".join(parts))
    # Parts in normal form may still compose with what comes before them.
    .filter(lambda path: unicodedata.is_normalized("NFC", path))
)
SPECS = st.one_of(
    st.builds(Spec, PATHS, st.one_of(st.none(), st.integers(1, 999_999_999))),
    st.builds(lambda path, ref: Spec(path, file_set=ref), PATHS, REFS),
    st.builds(lambda path, ref: Spec(path + "/", file_set=ref), PATHS, REFS),
    st.builds(lambda ref: Spec("/", file_set=ref), REFS),
)
HOSTILE_PATHS = {
    "": "does not start",
    "x": "does not start",
    "/": "empty part",
    "//": "empty part",
    "/a//b": "empty part",
    "/a/": "empty part",
    "/..": "not allowed",
    "/a/../b": "not allowed",
    "/a/.": "not allowed",
    "/nul\0": "control character",
    "/line\nbreak": "control character",
    "/delete\x7f": "control character",
    "/e\u0301": "NFC",
    "/\ud800": "not valid Unicode",
    "/" + "a" * 1024: "longer than 1024 bytes",
    "/" + "\u00e4" * 512: "longer than 1024 bytes",
}

NO_PATHS = ("", "p", "Set", "Set:3", "/100%", "/%zz", "/%ff")
NO_VERSIONS = ("/p:", "/p:0", "/p:01", "/p:-1", "/p:x", "/p:2:3", "/p:1\n", "/p:1@Set", "/p:x@Set:3")
NO_SETS = (
    "@",
    "/p@",
    "/p@3",
    "@Set:",
    "@Set:0",
    "@Set:3:4",
    "@Set@Set",
    "@S/x",
    "@ Set",
    "@latest",
    "@Set\n",
    "@\u00e4",
)
NO_SPECS = NO_PATHS + NO_VERSIONS + NO_SETS


@pytest.mark.parametrize(("text", "spec"), FORMS.items(), ids=FORMS)
def test_every_form_is_read(text: str, spec: Spec) -> None:
    assert parse_spec(text) == spec


@given(SPECS)
def test_what_is_written_is_read_back(spec: Spec) -> None:
    assert parse_spec(str(spec)) == spec
    assert parse_input(str(spec)) == spec


@given(REFS)
def test_a_set_reference_is_read_back(ref: SetRef) -> None:
    assert parse_set(str(ref)) == ref
    assert parse_input(str(ref)) == Spec("/", file_set=ref)


@given(st.text(max_size=60))
def test_any_text_is_a_spec_or_is_refused(text: str) -> None:
    with suppress(BadSpec, BadPath):
        spec = parse_spec(text)
        assert parse_spec(str(spec)) == spec


@given(PATHS)
def test_an_encoded_path_holds_none_of_the_signs_of_the_grammar(path: str) -> None:
    encoded = encode_path(path)
    assert not {"@", ":"} & set(encoded)
    assert parse_spec(encoded).path == path


@pytest.mark.parametrize(("path", "reason"), HOSTILE_PATHS.items(), ids=map(ascii, HOSTILE_PATHS))
def test_a_hostile_path_is_refused_with_its_fault(path: str, reason: str) -> None:
    with pytest.raises(BadPath, match=reason):
        normal_path(path)


@given(st.text(st.sampled_from("/.a~ \x1f\x7f\x9f\n\ud800\u00e9e\u0301"), max_size=12) | st.text(max_size=20))
def test_a_path_is_taken_when_every_character_and_part_of_it_may_be(path: str) -> None:
    parts = path.split("/")[1:]
    may_be = (
        path.startswith("/")
        and not {"", ".", ".."} & set(parts)
        and not {"Cc", "Cs"} & {unicodedata.category(character) for character in path}
        and unicodedata.is_normalized("NFC", path)
    )
    try:
        assert normal_path(path) == path
    except BadPath:
        assert not may_be
    else:
        assert may_be


@pytest.mark.parametrize(
    "encoded", ["/%2e%2e/x", "/a/%2E", "/a%2f%2fb", "/a%00", "/a/%2e%2e@Set", "/a/../@Set", "/%2F"]
)
def test_what_is_hostile_stays_so_when_it_is_encoded(encoded: str) -> None:
    with pytest.raises(BadPath):
        parse_spec(encoded)


@pytest.mark.parametrize("text", NO_SPECS, ids=map(ascii, NO_SPECS))
def test_what_is_no_spec_is_refused(text: str) -> None:
    with pytest.raises(BadSpec) as caught:
        parse_spec(text)
    assert caught.value.message.isprintable()


def test_what_follows_a_sign_of_a_name_is_not_taken_apart_in_what_is_said() -> None:
    with pytest.raises(BadSpec) as caught:
        parse_spec("/digits/sub/a b@c:d%e.txt")
    assert caught.value.message == (
        "'/digits/sub/a b@c:d%e.txt' is not a file spec: after ':' comes a version number, an alias or 'latest'; "
        "write a '@' of a name as %40."
    )


@pytest.mark.parametrize("name", ["latest", "", "3d", "-x", ".x", "a b", "a/b", "a:b", "a@b", "a" * 129, "a\n"])
def test_a_name_that_could_not_be_read_back_is_refused(name: str) -> None:
    with pytest.raises(BadSpec) as caught:
        check_name(name)
    assert caught.value.message.isprintable()


def test_the_longest_names_and_paths_are_taken() -> None:
    assert check_name("a" * 128) == "a" * 128
    assert normal_path("/" + "a" * 1023)
