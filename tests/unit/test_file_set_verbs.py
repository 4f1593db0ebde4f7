"""What is typed and shown at `fileset`, `diff` and `gc`, what operators write down, and how lines are completed."""

from __future__ import annotations

import re
import threading
from datetime import UTC, datetime, timedelta
from functools import reduce
from typing import TYPE_CHECKING, Any, cast

import pytest

from acai_jupyter.client.connection import Connection
from acai_jupyter.client.filesets import ref_of, spec_of
from acai_jupyter.commands import markup, verbs
from acai_jupyter.commands.completing import Completions, complete, split
from acai_jupyter.commands.diff import by_kind, line_of, summary
from acai_jupyter.commands.filesets import named, retention, show, sources_of
from acai_jupyter.commands.filesets import rm as remove
from acai_jupyter.commands.gc import KINDS, html_of, text_of
from acai_jupyter.commands.objects import Files, FileSet, files_of, written
from acai_jupyter.contract.errors import AcaiError, BadRequest, BadSpec, ServerUnreachable
from acai_jupyter.contract.filesets import (
    MAX_NESTING,
    MAX_SOURCES,
    AsOf,
    Comparison,
    Difference,
    DifferenceKind,
    Entry,
    FileSetPage,
    Matching,
    RemovedFileSets,
    Resolved,
    Retention,
    VersionsPage,
    Without,
)
from acai_jupyter.contract.filesets import FileSet as Version
from acai_jupyter.contract.garbage import Collection, CollectionState, Garbage, GarbageKind
from acai_jupyter.contract.ids import Sha256
from acai_jupyter.contract.metadata import KeyList, KnownKey
from acai_jupyter.contract.provenance import Graph
from acai_server.lake.sources import Sources

if TYPE_CHECKING:
    from collections.abc import Callable

    from acai_jupyter.client.http import Client
    from acai_jupyter.contract import endpoints

NOON = datetime(2026, 11, 1, 12, tzinfo=UTC)


class Fake:
    """A client whose answers are given, by the name of the endpoint; what is not given may not be asked."""

    def __init__(self, place: str = "here", **answers: Any) -> None:
        self.connection = Connection(place, "", "default")
        self.answers = answers
        self.asked: list[tuple[str, Any]] = []

    def call(self, endpoint: endpoints.Endpoint[Any], body: Any = None, /, *, query: Any = None, **params: Any) -> Any:
        self.asked.append((endpoint.name, body or query or params))
        return self.answers[endpoint.name]


def fake(place: str = "here", **answers: Any) -> Client:
    return cast("Client", Fake(place, **answers))


def entry(path: str, version: int = 1, sha256: str = "0" * 64) -> Entry:
    return Entry(path, version, 1536, Sha256(sha256))


def version(name: str = "train", number: int = 3, **other: Any) -> Version:
    return Version(name, number, 2, 3072, datetime.now(UTC) - timedelta(minutes=2), "ana", **other)


# -- what is typed


@pytest.mark.parametrize(
    ("text", "spec"),
    [
        ("train", "@train"),
        ("train:3", "@train:3"),
        ("train:paper", "@train:paper"),
        ("@train:latest", "@train"),
        ("/@train", "@train"),
        ("/p:2", "/p:2"),
        ("/dir/", "/dir/"),
        ("/", "/"),
        ("/dir/@train:3", "/dir/@train:3"),
        ("/a%40b", "/a%40b"),
    ],
)
def test_a_set_needs_no_at_sign_on_a_line(text: str, spec: str) -> None:
    assert spec_of(text) == spec


@pytest.mark.parametrize("text", ["img/a.png", "./digits", "3", "", "a b", "/p:x", "/p:2@a", "@a:0", "@latest", "a@b"])
def test_what_is_no_spec_is_refused_with_a_sentence(text: str) -> None:
    with pytest.raises(BadRequest) as error:
        spec_of(text)
    assert error.value.message.endswith(".")


def test_a_path_without_a_slash_is_told_to_have_one() -> None:
    with pytest.raises(BadSpec, match="the path of a file starts with '/'"):
        spec_of("img/a.png")


@pytest.mark.parametrize("text", ["train:3", "@train:3", "/@train:3"])
def test_a_version_can_be_written_as_the_spec_of_its_set(text: str) -> None:
    assert ref_of(text) == "train:3"


def test_words_become_sources() -> None:
    assert sources_of(["train", "/p:2"]) == ["@train", "/p:2"]
    assert sources_of(["train"], ["/bad/", "other:1"]) == [Without(["@train"], ["/bad/", "@other:1"])]


def test_a_verb_of_two_words_is_read() -> None:
    line = [
        "fileset",
        "create",
        "train",
        "@a",
        "/b",
        "--without",
        "/c/",
        "--without",
        "d",
        "--note",
        "*n*",
        "--if-changed",
    ]
    found = verbs.parse("acai", line)
    assert (found.verb, found.name, found.specs) == ("fileset create", "train", ["@a", "/b"])
    assert (found.without, found.note, found.if_changed, found.dry_run) == (["/c/", "d"], "*n*", True, False)


@pytest.mark.parametrize(
    "line",
    [
        "fileset",
        "fileset create a",
        "fileset nothing",
        "fileset rm",
        "fileset show a b",
        "diff a",
        "gc now",
        "fileset retention --keep-last 0",
        "fileset retention --keep-days nan",
        "fileset retention --keep-days -1",
    ],
)
def test_a_mistake_names_the_help(line: str) -> None:
    with pytest.raises(BadRequest, match="--help"):
        verbs.parse("acai", line.split())


@pytest.mark.parametrize("line", ["--off --keep-last 3", "--files", "--files --off"])
def test_rules_that_contradict_each_other_are_refused_before_anything_is_asked(line: str) -> None:
    with pytest.raises(BadRequest):
        retention(fake(), verbs.parse("acai", ["fileset", "retention", *line.split()]))


# -- what is shown


def test_a_note_is_shown_without_what_a_terminal_would_obey() -> None:
    client = fake(
        get_file_set=version(note="# Title\n\x1b[31mred\tx", aliases=["paper"]),
        get_origin=Graph("train:3", [], []),
        resolve_sources=Resolved([entry("/a"), entry("/b@c", 12)], ["@train:3"], ["train:3"]),
    )
    text = show(client, verbs.parse("acai", ["fileset", "show", "train"])).text
    assert text.splitlines() == [
        "train:3 · 2 files, 3 KB",
        "made 2 min ago by ana",
        "aliases paper",
        "note",
        "  # Title",
        "  \\x1b[31mred        x",
        "files",
        "  /a:1       1.5 KB",
        "  /b%40c:12  1.5 KB",
    ]


def test_deleting_says_until_when_it_can_be_taken_back() -> None:
    arguments = verbs.parse("acai", ["fileset", "rm", "train:2"])
    text = remove(fake(remove_file_sets=RemovedFileSets(["train:2"], 3, NOON)), arguments).text
    assert text.startswith("train:2 deleted · 3 file versions deleted · can be brought back until 2026-1")
    assert text.endswith(": acai fileset rm --undo train:2")
    undo = verbs.parse("acai", ["fileset", "rm", "train", "--undo"])
    assert remove(fake(remove_file_sets=RemovedFileSets(["a:1", "a:2"], 0)), undo).text == "a:1 and a:2 are back"
    assert remove(fake(remove_file_sets=RemovedFileSets([], 0)), undo).text == "nothing of train was deleted"


def test_rules_are_told_in_sentences() -> None:
    shown = verbs.parse("acai", ["fileset", "retention"])
    assert retention(fake(get_retention=Retention()), shown).text.startswith("All versions are kept.")
    changed = verbs.parse("acai", ["fileset", "retention", "--keep-last", "5", "--keep-days", "30"])
    client = Fake(set_retention=Retention(5, 30))
    said = retention(cast("Client", client), changed).text
    assert said.startswith("Kept: the newest 5 of each set and what is younger than 30 days.")
    assert client.asked == [("set_retention", Retention(5, 30))]


def test_long_lists_of_names_are_cut() -> None:
    assert named(["a"]) == "a"
    assert named(["a", "b", "c"]) == "a, b and c"
    assert named([f"s{n}" for n in range(13)]).endswith("s9 and 3 more")


def comparison(*differences: Difference, **counts: int) -> Comparison:
    numbers = dict.fromkeys([*DifferenceKind, "renumbered"], 0) | counts
    return Comparison(**numbers, differences=list(differences), pinned_before=[], pinned_after=[])


def test_differences_are_listed_by_kind_and_long_ones_cut() -> None:
    page = comparison(
        Difference(DifferenceKind.RENAMED, entry("/a"), entry("/b:c")),
        Difference(DifferenceKind.ADDED, None, entry("/n/1")),
        Difference(DifferenceKind.ADDED, None, entry("/n/2")),
        Difference(DifferenceKind.REMOVED, entry("/x"), None),
        Difference(DifferenceKind.CHANGED, entry("/y"), entry("/y", 2)),
        added=5000,
        removed=1,
        changed=1,
        renamed=1,
    )
    assert by_kind(page, "all of it", most=1) == [
        "5,000 files added",
        "  + /n/1",
        "  … 4,999 more: all of it",
        "1 file removed",
        "  - /x",
        "1 file changed",
        "  ~ /y",
        "1 file renamed",
        "  /a → /b%3Ac",
    ]
    assert summary(page) == "5,000 added, 1 removed, 1 changed, 1 renamed"
    assert summary(comparison()) == "no difference"
    assert line_of(page.differences[3]) == "- /x"


def collection(*garbage: Garbage, state: CollectionState = CollectionState.FINISHED, **other: Any) -> Collection:
    return Collection("7", state, other.pop("is_dry_run", False), NOON, "done", list(garbage), **other)


def test_garbage_is_a_table_with_its_total() -> None:
    found = [Garbage(GarbageKind.PACKS, 12, 2048), Garbage(GarbageKind.COPIES, 0, 0), Garbage(GarbageKind.MOVED, 1, 3)]
    lines = text_of(collection(*found, is_dry_run=True)).splitlines()
    assert lines[0].split()[:4] == ["packs", "12", "2", "KB"]
    assert lines[1].startswith("moved packs   1   3 B  what lived was moved")
    assert lines[2] == "2 KB would be freed · free it: acai gc"
    assert text_of(collection(*found)).endswith("\n2 KB freed")
    table = html_of(collection(*found))
    assert table.count("<tr>") == len(lines)
    assert "2 KB freed" in table
    assert html_of(collection()) == markup.printed("nothing to free")
    assert text_of(collection()) == "nothing to free"


def test_a_collection_that_failed_says_why() -> None:
    text = text_of(collection(state=CollectionState.FAILED, reason="No object was deleted: the store is away."))
    assert text.startswith("The collection failed. No object was deleted: the store is away. What was freed")


def test_every_kind_of_garbage_has_its_sentence() -> None:
    assert set(KINDS) == set(GarbageKind)


# -- what operators write down


def files(*sources: Any) -> Files:
    return Files(fake(), list(sources))


def test_operators_only_write_down_what_is_wanted() -> None:
    client = fake()
    train, extra = FileSet(client, version()), FileSet(client, version("extra", 1))
    assert (train | extra).sources == ["@train:3", "@extra:1"]
    assert (train | "/p").sources == ["@train:3", "/p"]
    assert ("other" | train).sources == ["@other", "@train:3"]
    assert (train - "extra:2").sources == [Without(["@train:3"], ["@extra:2"])]
    assert ("/dir/" - train).sources == [Without(["/dir/"], ["@train:3"])]
    assert train["/img/*.png"].sources == [Matching(["@train:3"], "/img/*.png")]
    chained = (train | extra)["/x/"] - "c"
    assert chained.sources == [Without([Matching(["@train:3", "@extra:1"], "/x/")], ["@c"])]
    assert repr(chained) == "Files(((@train:3 | @extra:1)['/x/'] - @c))"
    assert cast("Fake", client).asked == []


def test_what_follows_one_after_the_other_does_not_stand_inside_each_other() -> None:
    chosen = files("@a")
    for number in range(100):
        chosen = (chosen - f"@s{number}") if number else chosen - "@s0"
    assert chosen.sources == [Without(["@a"], [f"@s{n}" for n in range(100)])]
    assert len(repr(chosen)) < 200


def test_sources_are_written_as_in_python() -> None:
    assert written(["@a", Without(["/b"], ["@c", "/d"]), AsOf("/e/", 7)]) == "@a | (/b - (@c | /d)) | /e/"


@pytest.mark.parametrize("wrong", [3, None, ["@a"], b"@a"])
def test_other_operands_are_a_type_error(wrong: Any) -> None:
    operations: list[Callable[[Files], object]] = [
        lambda a: a | wrong,
        lambda a: wrong | a,
        lambda a: a - wrong,
        lambda a: wrong - a,
        lambda a: a[wrong],
        lambda a: a.diff(wrong),
        lambda a: files_of(fake(), [a, wrong]),
    ]
    for operation in operations:
        with pytest.raises(TypeError):
            operation(files("@a"))


def test_a_text_that_is_no_spec_is_told_at_once() -> None:
    with pytest.raises(BadSpec):
        files("@a") | "no such/thing"


@pytest.mark.timeout(10)
@pytest.mark.parametrize("kind", [list, iter])
def test_more_sources_than_a_request_can_have_are_refused_before_it_is_sent(kind: Callable[[Any], Any]) -> None:
    with pytest.raises(BadRequest, match=r"there are more than 100,000 sources; name folders or sets instead\.$"):
        files_of(fake(), kind([f"/digits/{number}.txt" for number in range(10**6)]))
    assert len(files_of(fake(), [f"/digits/{number}.txt" for number in range(MAX_SOURCES)]).sources) == MAX_SOURCES
    with pytest.raises(BadRequest, match="more than 100,000 sources"):
        reduce(lambda doubled, _: doubled | doubled, range(60), files("@a"))


def test_files_are_chosen_from_files_as_deep_as_a_request_can_say_it() -> None:
    chosen = files("@a")
    for _ in range(MAX_NESTING - 1):
        chosen = chosen["/x/"] | "b"
    assert Sources(chosen.sources).specs
    deeper: list[Callable[[], Files]] = [
        lambda: chosen["/x/"],
        lambda: chosen - "c",
        lambda: "c" - chosen,
        lambda: files("@c") - chosen,
    ]
    for line in deeper:
        with pytest.raises(BadRequest, match=r"sources stand in each other more than 20 deep\.$"):
            line()
    less = files("@a") - "b"
    for _ in range(300):
        less = less - "c"
    assert Sources(less.sources).specs


def test_files_of_two_projects_do_not_go_together() -> None:
    with pytest.raises(BadRequest, match="different projects"):
        Files(fake("there"), ["@a"]) | files("@a")


def test_what_was_found_first_holds_from_then_on() -> None:
    page = Resolved([entry("/a")], ["@a:7"], ["a:7"], None, 1, 1536)
    client = Fake(resolve_sources=page)
    found = Files(cast("Client", client), ["@a"])
    assert repr(found) == "Files(@a)"
    assert len(found) == 1
    assert (found.sources, found.made_from, found.size_bytes) == (["@a:7"], ["a:7"], 1536)
    assert [one.path for one in found] == ["/a"]
    assert [asked.sources for _, asked in client.asked] == [["@a"], ["@a:7"]]
    assert repr(found) == "Files(@a:7) · 1 file, 1.5 KB"


def test_a_path_that_no_file_can_have_is_not_there_and_nobody_is_asked() -> None:
    train = FileSet(fake(), version())
    assert all(path not in train for path in ("", "/", "x", "/dir/", "/../x", 7, None))


def test_sets_are_equal_when_they_are_the_same_version() -> None:
    one, same, other = (FileSet(fake(), version(number=number)) for number in (3, 3, 4))
    assert one == same
    assert one != other
    assert len({one, same, other}) == 2


def test_a_set_shows_itself_in_one_line_and_as_a_table_in_the_colours_of_the_notebook() -> None:
    client = fake(resolve_sources=Resolved([entry("/<b>")], ["@train:3"], ["train:3"]))
    train = FileSet(client, version(aliases=["paper"]))
    assert repr(train) == "train:3 · 2 files, 3 KB · made 2 min ago by ana · aliases paper"
    html = train._repr_html_() or ""
    assert re.findall(r"<td[^>]*>(.*?)</td>", html) == ["/&lt;b&gt;", "1", "1.5 KB"]
    assert "text-align: right" in html
    assert "… 1 more" in html
    assert set(re.findall(r"color: (\w+)", html)) == {"var"}


# -- how lines go on


@pytest.mark.parametrize(
    ("text", "line"),
    [
        ("", ([], "")),
        ("file", ([], "file")),
        ("find jobs ", (["find", "jobs"], "")),
        ('find jobs "a > 1 and l', (["find", "jobs"], '"a > 1 and l')),
        ("put 'a b' x", (["put", "a b"], "x")),
        ("put it's x", (["put"], "it's x")),
    ],
)
def test_a_line_is_split_where_it_is_not_ended_yet(text: str, line: tuple[list[str], str]) -> None:
    assert tuple(split(text)) == line


def known(**answers: Any) -> Callable[[], Client]:
    sets = [version(name) for name in ("test", "train", "tune")]
    given = {
        "list_file_sets": FileSetPage(sets),
        "list_file_set_versions": VersionsPage([version(number=3, aliases=["paper"]), version(number=1)]),
        "list_keys": KeyList([KnownKey("accuracy", "well_known")]),
    }
    return lambda: fake(**given | answers)


@pytest.mark.parametrize(
    ("text", "begun", "found"),
    [
        ("files", "files", ["fileset"]),
        ("fileset sh", "sh", ["show"]),
        ("fileset show tr", "tr", ["train"]),
        ("fileset show train:", "train:", ["train:latest", "train:paper", "train:3", "train:1"]),
        ("fileset show train:p", "train:p", ["train:paper"]),
        ("fileset create new /img/@te", "/img/@te", ["/img/@test"]),
        ("fileset create new --without t", "t", ["test", "train", "tune"]),
        ("fileset create new --note t", "", []),
        ("fileset rm --u", "--u", ["--undo"]),
        ("tag train:3 acc", "acc", ["accuracy="]),
        ("tag train:3 stage=x ", "", ["accuracy="]),
        ("tag jobs --where 'a = 1' acc", "acc", ["accuracy="]),
        ("tag train:3 accuracy=", "", []),
        ("tag train:3 +acc", "", []),
        ('find jobs "a > 1 ord', "ord", ["order by"]),
        ("find jobs \"a = 'x' ", "", ["and", "or", "order by", "limit"]),
        ('find jobs "has(a) order by a l', "l", ["limit"]),
        ('find jobs "a > 1 and acc', "acc", ["accuracy"]),
        ("jobs 'a > 1 or", "or", ["or", "order by"]),
        ("get @tr", "@tr", ["@train"]),
        ("get @train no-such-pa", "no-such-pa", []),
        ("diff train tu", "tu", ["tune"]),
        ("--json --project a fileset show tr", "tr", ["train"]),
        ("ls /tr", "", []),
        ("status --project t", "", []),
        ("put --storage a", "a", ["archive"]),
        ("find filesets a", "a", ["accuracy"]),
        ('find filesets "model = 1 and acc', "acc", ["accuracy"]),
        ("find filesets \"model = 'acc", "", []),
        ("find filesets --columns loss,acc", "acc", ["accuracy"]),
        ("jobs acc", "acc", ["accuracy"]),
        ("tag filesets --where 'acc", "acc", ["accuracy"]),
        ("tag train:3 --where acc", "", []),
        ("find --columns acc", "", []),
        ("nothing ", "", []),
    ],
)
def test_a_line_goes_on_with_what_fits(text: str, begun: str, found: list[str]) -> None:
    assert complete(text, known()) == Completions(begun, tuple(found))


@pytest.mark.parametrize(
    ("text", "begun", "found"),
    [
        ("", "", ["run", "profile"]),
        ("run --input tr", "tr", ["train"]),
        ("run --input train --ou", "--ou", ["--output", "--output-folder", "--output-root"]),
        ("profile --des", "--des", ["--design"]),
        ("status ", "", []),
    ],
)
def test_the_line_of_a_cell_goes_on_with_what_fits(text: str, begun: str, found: list[str]) -> None:
    assert complete(text, known(), of_cell=True) == Completions(begun, tuple(found))


@pytest.mark.parametrize(
    ("line", "kind"),
    [("7", "job"), ("/a.csv:2", "file"), ("train", "file_set"), ("jobs --where 'a = 1'", "job"), ("--json 7", "job")],
)
def test_keys_that_can_be_set_are_those_of_the_thing(line: str, kind: str) -> None:
    client = Fake(list_keys=KeyList([KnownKey(key, "used") for key in ("accuracy", "created_at", "tags", "params.x")]))
    assert complete(f"tag {line} ", lambda: cast("Client", client)).found == ("accuracy=",)
    assert client.asked == [("list_keys", {"kind": kind, "prefix": "", "limit": 1000})]


def test_an_error_completes_nothing() -> None:
    def unreachable() -> Client:
        raise ServerUnreachable(where="")

    assert complete("fileset show t", unreachable) == Completions()
    assert complete("fileset show t", fake) == Completions()


def test_a_server_that_takes_its_time_is_not_waited_for_and_not_asked_again() -> None:
    gate, asked = threading.Event(), []

    def slow() -> Client:
        asked.append(threading.current_thread())
        gate.wait(120)
        raise AcaiError

    assert complete("fileset show t", slow) == Completions()
    assert complete("fileset show t", slow) == Completions()
    assert len(asked) == 1
    gate.set()
    asked[0].join(120)
    assert complete("fileset show tr", known()).found == ("train",)
