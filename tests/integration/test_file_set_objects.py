"""File sets as Python objects before a real server: operators against plain dictionaries, and what people do."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any, NamedTuple

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

import acai_jupyter as acai
from acai_jupyter.commands.differences import Diff
from acai_jupyter.commands.objects import Files, FileSet
from acai_jupyter.contract import endpoints
from acai_jupyter.contract.errors import AcaiError, BadRequest, BadSpec, Conflict, FileNotFound, FileSetNotFound
from acai_jupyter.contract.specs import encode_path

if TYPE_CHECKING:
    from pathlib import Path

    from acai_jupyter.client.http import Client
    from acai_jupyter.contract.filesets import Source
    from tests.integration.places import Server

Content = dict[str, int]
"""Paths, and the version that stands under each."""

NAMES = ["a.txt", "b.txt", "d/a.txt", "d/e/f.txt", "[x].txt", "*", "what?", "a ", "ä", "@b:c%", "dd.txt"]
OTHERS = ["z/1.txt", "z/2.txt"]


class Lake(NamedTuple):
    """A client, and what was put: by set version, and the project's latest."""

    client: Client
    sets: dict[str, Content]
    latest: Content


def put(server: Server, folder: str, texts: dict[str, str], dest: str = "/h") -> None:
    for path, text in texts.items():
        server.place.write(f"{folder}/{path}", text)
    done = server.place.acai("put", folder, dest, "--as", folder)
    assert done.returncode == 0, done.stderr


@pytest.fixture(scope="module")
def lake(server: Server) -> Lake:
    """The sets s:1, s:2, where every third file is another, and r:1 with some of the same and some others."""
    put(server, "s", {path: f"one {path}" for path in NAMES})
    put(server, "s", {path: f"two {path}" for path in NAMES[::3]})
    put(server, "r", {path: f"three {path}" for path in NAMES[1::3] + OTHERS})
    first = {f"/h/{path}": 1 for path in NAMES}
    second = first | {f"/h/{path}": 2 for path in NAMES[::3]}
    third = {f"/h/{path}": 2 for path in NAMES[1::3]} | {f"/h/{path}": 1 for path in OTHERS}
    return Lake(server.client(), {"s:1": first, "s:2": second, "r:1": third}, second | third)


@pytest.fixture
def here(lake: Lake, server: Server, monkeypatch: pytest.MonkeyPatch) -> Lake:
    """The user of the server: what `import acai_jupyter` finds without being told."""
    for name, value in server.place.environment.items():
        monkeypatch.setenv(name, value)
    monkeypatch.chdir(server.place.work)
    return lake


def file_set(lake: Lake, ref: str) -> FileSet:
    return FileSet(lake.client, lake.client.call(endpoints.GET_FILE_SET, ref=ref))


# -- operators


class Leaf(NamedTuple):
    """An operand that is written, and what it is."""

    written: str
    is_object: bool

    def content(self, lake: Lake) -> Content:
        spec = self.written.removeprefix("@")
        if spec in ("s", "r"):
            return lake.sets["s:2" if spec == "s" else "r:1"]
        if spec in lake.sets:
            return lake.sets[spec]
        if "@" in spec:
            path, _, ref = spec.partition("@")
            return {one: version for one, version in lake.sets[ref].items() if one.startswith(path)}
        if spec.endswith("/"):
            return {one: version for one, version in lake.latest.items() if one.startswith(spec)}
        path, _, number = spec.partition(":")
        return {path: int(number) if number else lake.latest[path]}

    def operand(self, lake: Lake) -> Files | str:
        return file_set(lake, self.written.removeprefix("@")) if self.is_object else self.written


class Tree(NamedTuple):
    """An operation on what stands below it."""

    operator: str
    left: Any
    right: Any


PATTERNS = [
    "/h/*",
    "/h/**",
    "/**/a.txt",
    "/h/d/",
    "/h/?.txt",
    "/h/[ab].txt",
    "/h/[!a]*",
    "/h/[[]x].txt",
    "/h/[*]",
    "/h/b.txt",
]
SET_TEXTS = ["s", "@s:1", "s:2", "@r"]
OTHER_TEXTS = ["/h/d/", "/h/d/@s:1", "/h/a.txt", "/h/a.txt:1", "/h/z/1.txt:1", "/"]
leaves = st.one_of(
    st.builds(Leaf, st.sampled_from(SET_TEXTS), st.just(value=True)),
    st.builds(Leaf, st.sampled_from(SET_TEXTS + OTHER_TEXTS), st.just(value=False)),
)
trees = st.recursive(
    leaves,
    lambda below: st.one_of(
        st.builds(Tree, st.sampled_from("|-"), below, below),
        st.builds(Tree, st.just("["), below, st.sampled_from(PATTERNS)),
    ),
    max_leaves=6,
)


def content(tree: Any, lake: Lake) -> Content:
    """What an expression is, by plain dictionaries."""
    if isinstance(tree, Leaf):
        return tree.content(lake)
    left = content(tree.left, lake)
    if tree.operator == "[":
        return {path: version for path, version in left.items() if fits(path, tree.right)}
    right = content(tree.right, lake)
    if tree.operator == "|":
        return left | right
    return {path: version for path, version in left.items() if path not in right}


def fits(path: str, pattern: str) -> bool:
    """Patterns, once more and plainly."""
    if pattern.endswith("/"):
        return path.startswith(pattern)
    tokens = {"**/": "(?:.*/)?", "**": ".*", "*": "[^/]*", "?": "[^/]"}
    parts = re.findall(r"\*\*/|\*\*|\*|\?|\[!?[^\]]+\]|.", pattern)
    classes = (
        f"[{'^/' if p[1] == '!' else ''}{re.escape(p.strip('[]!') or '[')}]" if len(p) > 2 else None for p in parts
    )
    expression = "".join(tokens.get(p) or c or re.escape(p) for p, c in zip(parts, classes, strict=True))
    return re.fullmatch(expression, path) is not None


def files(tree: Any, lake: Lake) -> Files:
    """What an expression is, by the operators."""
    found = operand(tree, lake)
    return found if isinstance(found, Files) else Files(lake.client, [found if found[0] in "/@" else f"@{found}"])


def operand(tree: Any, lake: Lake) -> Files | str:
    if isinstance(tree, Leaf):
        return tree.operand(lake)
    left: Any = operand(tree.left, lake)
    if tree.operator == "[":
        return files(tree.left, lake)[tree.right]
    right: Any = operand(tree.right, lake)
    if isinstance(left, str) and isinstance(right, str):
        left = files(tree.left, lake)
    found: Files = left | right if tree.operator == "|" else left - right
    return found


shared = settings(
    max_examples=60, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow]
)


@given(tree=trees)
@shared
def test_operators_are_those_of_plain_dictionaries(lake: Lake, tree: Any) -> None:
    wanted = content(tree, lake)
    found = files(tree, lake)
    assert {one.path: one.version for one in found} == wanted
    assert [one.path for one in found] == sorted(wanted)
    assert len(found) == len(wanted)
    assert found.size_bytes == sum(one.size_bytes for one in found)
    assert {path for path in lake.latest if path in found} == set(wanted)


@given(before=trees, after=trees)
@shared
def test_a_difference_is_that_of_plain_dictionaries(lake: Lake, before: Any, after: Any) -> None:
    old, new = files(before, lake), files(after, lake)
    was, now = ({one.path: one.sha256 for one in side} for side in (old, new))
    found = old.diff(new)
    # Contents of different paths are different here, but for a path's versions: nothing can be renamed.
    assert {one.path for one in found.added} == now.keys() - was.keys()
    assert {one.path for one in found.removed} == was.keys() - now.keys()
    assert {one.path for one, _ in found.changed} == {
        path for path in was.keys() & now.keys() if was[path] != now[path]
    }
    assert found.renamed == []
    assert len(found) == sum(found.counts.values()) == len(list(found))
    assert bool(found) == (was != now)


# -- what people do


def test_a_set_is_had_by_number_alias_and_latest(here: Lake) -> None:
    assert here
    train = acai.create_file_set("train", ["s:1", "/h/z/1.txt"], note="a **note**")
    assert (train.ref, train.name, train.version, len(train), train.note) == ("train:1", "train", 1, 12, "a **note**")
    assert train.file_count == len(list(train))
    assert train.size_bytes == sum(one.size_bytes for one in train)
    assert acai.alias(train, "paper").aliases == ["paper"]
    newer = acai.create_file_set("train", train - "/h/a.txt@s")
    assert acai.fileset("train:latest") == acai.fileset("@train") == acai.fileset("train:2") == newer != train
    assert acai.fileset("train:paper") == train
    assert acai.alias("train", "paper") == newer
    assert [change.version for change in acai.aliases("train").changes] == [2, 1]
    assert acai.alias("train", "paper", remove=True).aliases == {}
    assert [one.ref for one in acai.filesets("train")] == ["train:2", "train:1"]
    assert newer in acai.filesets()
    assert acai.note(train, "other").note == "other"
    assert acai.remove_file_set(newer).file_sets == ["train:2"]
    assert acai.fileset("train") == train
    assert acai.filesets("train")[0].deleted_at is not None
    assert acai.remove_file_set("train:2", undo=True).file_sets == ["train:2"]


def test_files_become_a_set_and_the_same_again_does_not(here: Lake) -> None:
    chosen = (acai.fileset("s:1") | "r")["/h/d/"] - "/h/d/e/f.txt"
    made = chosen.create("chosen", note="few")
    assert [one.path for one in made] == ["/h/d/a.txt"]
    assert chosen.create("chosen", if_changed=True) == made
    assert chosen.create("chosen").version == 2
    planned = acai.create_file_set("chosen", [made, "/h/z/"], dry_run=True)
    assert [one.path for one in planned] == ["/h/d/a.txt", "/h/z/1.txt", "/h/z/2.txt"]
    assert acai.fileset("chosen").version == 2
    assert {one.file_set for one in acai.provenance("chosen:1").actions[0].inputs} == {"s:1", "r:1"}
    assert here.sets["r:1"].keys() >= {one.path for one in planned} - {"/h/d/a.txt"}


def test_what_was_found_first_holds_although_the_set_goes_on(here: Lake) -> None:
    acai.create_file_set("moving", "/h/a.txt")
    lazy = acai.fileset("s:1")["/h/z/"] | "moving"
    assert [one.path for one in lazy] == ["/h/a.txt"]
    acai.create_file_set("moving", ["/h/a.txt", "/h/b.txt"])
    assert [one.path for one in lazy] == ["/h/a.txt"]
    assert len(lazy) == 1
    assert lazy.made_from == ["s:1", "moving:1"]
    assert len(acai.fileset("s:1")["/h/z/"] | "moving") == 2
    assert here


def test_an_entry_is_there_in_its_version_only(here: Lake) -> None:
    old, new = acai.fileset("s:1"), acai.fileset("s:2")
    changed = next(one for one in old if one.path == "/h/a.txt")
    assert changed in old
    assert changed not in new
    assert changed in (new | old)
    assert "/h/a.txt" in new
    assert "/h/a.txt" not in new - "/h/a.txt"
    assert "/h/no" not in new
    assert all(path in new for path in here.sets["s:2"])


def test_a_set_is_fetched_once_and_never_over_another_file(here: Lake, tmp_path: Path) -> None:
    old, new = acai.fileset("s:1"), acai.fileset("s:2")
    fetched = old.get(tmp_path)
    assert (fetched.files, fetched.unchanged_files) == (len(NAMES), 0)
    assert (tmp_path / "h/a.txt").read_text() == "one a.txt"
    assert old.get(tmp_path).unchanged_files == len(NAMES)
    with pytest.raises(Conflict, match="--force"):
        new.get(tmp_path)
    assert (tmp_path / "h/a.txt").read_text() == "one a.txt"
    assert new.get(tmp_path, force=True).files == len(NAMES[::3])
    assert (tmp_path / "h/a.txt").read_text() == "two a.txt"
    assert here


def test_a_difference_reads_well(here: Lake, server: Server) -> None:
    put(server, "moved", {"new-name.txt": "one b.txt"}, "/moved")
    found = acai.diff("/h/b.txt:1", acai.fileset("moved") | "/h/a.txt")
    assert isinstance(found, Diff)
    assert [(one.path, other.path) for one, other in found.renamed] == [("/h/b.txt", "/moved/new-name.txt")]
    assert found.counts == {"added": 1, "removed": 0, "changed": 0, "renamed": 1}
    assert repr(found).splitlines() == [
        "/h/b.txt:1 → @moved:1 | /h/a.txt",
        "1 file added",
        "  + /h/a.txt",
        "1 file renamed",
        "  /h/b.txt → /moved/new-name.txt",
    ]
    html = found._repr_html_()
    assert "1 added, 1 renamed" in html
    assert "<script" not in html
    assert set(found._repr_mimebundle_()) == {"text/plain", "text/html", "application/vnd.acai.comparison+json"}
    same = acai.fileset("s:1").diff("s:1")
    assert not same
    assert repr(same) == "s:1 → s:1: no difference"
    assert here


def test_objects_show_themselves(here: Lake) -> None:
    train = acai.fileset("s:1")
    assert re.fullmatch(r"s:1 · 11 files, \d+ B · made .* by .*", repr(train))
    bundle = train._repr_mimebundle_()
    assert set(bundle) == {"text/plain", "text/html", "application/vnd.acai.file-set+json"}
    assert bundle["application/vnd.acai.file-set+json"]["name"] == "s"
    assert "… 1 more" in bundle["text/html"]
    files = train | "r"
    assert repr(files) == "Files(@s:1 | @r)"
    assert "13 files" in (files._repr_html_() or "")
    assert repr(files).startswith("Files(@s:1 | @r:1) · 13 files")
    assert (train | "no-such-set")._repr_html_() is None
    assert here


@pytest.mark.parametrize(
    ("line", "error", "words"),
    [
        (lambda: acai.fileset("no-such-set"), FileSetNotFound, "no-such-set"),
        (lambda: acai.fileset("s:9"), FileSetNotFound, "s:2"),
        (lambda: acai.fileset("a b"), BadSpec, "letter"),
        (lambda: acai.fileset("/h/"), BadSpec, "letter"),
        (lambda: len(acai.fileset("s") | "no-such-set"), FileSetNotFound, "no-such-set"),
        (lambda: list(acai.fileset("s") - "/no/file"), FileNotFound, "/no/file"),
        (lambda: list(acai.fileset("s")["*.png"]), BadRequest, "does not start with '/'"),
        (lambda: list(acai.fileset("s")["/h/[a"]), BadRequest, "no end"),
        (lambda: acai.fileset("s").diff("s:9"), FileSetNotFound, "s:2"),
        (lambda: acai.create_file_set("bad", []), BadRequest, "no sources"),
        (lambda: acai.create_file_set("bad", acai.fileset("s") - "s"), BadRequest, "no files"),
        (lambda: acai.create_file_set("bad:1", "s"), BadSpec, "letter"),
        (lambda: acai.create_file_set("bad", "s", note="x" * 10_001), BadRequest, "at most 10,000 characters"),
        (lambda: acai.alias("s:1", "latest"), AcaiError, "latest"),
        (lambda: acai.alias("s:9", "x"), FileSetNotFound, "s:2"),
        (lambda: acai.remove_file_set("s:9"), FileSetNotFound, "s:2"),
    ],
)
def test_what_cannot_be_is_told_in_a_sentence_and_makes_nothing(
    here: Lake, line: Any, error: type[AcaiError], words: str
) -> None:
    with pytest.raises(error, match=re.escape(words)) as told:
        line()
    assert told.value.message.rstrip().endswith((".", "?"))
    with pytest.raises(FileSetNotFound):
        acai.fileset("bad")
    assert here


def test_garbage_is_collected_from_python(here: Lake) -> None:
    assert acai.gc(dry_run=True).is_dry_run
    assert acai.gc().state == "finished"
    assert len(acai.fileset("s:1")) == len(NAMES)
    assert here


def test_a_path_stands_in_a_spec_as_it_is_encoded(here: Lake) -> None:
    odd = "/h/@b:c%"
    source: Source = encode_path(odd)
    assert [one.path for one in Files(here.client, [source])] == [odd]
    assert odd in acai.fileset("s")
    assert [one.path for one in acai.fileset("s")[odd]] == [odd]
