"""What is made of manifests laid over each other, and how they differ: held against plain dictionaries."""

from __future__ import annotations

import hashlib
import re
from itertools import islice
from typing import TYPE_CHECKING, Any

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from acai_jupyter.contract.errors import BadRequest
from acai_jupyter.contract.filesets import DifferenceKind
from acai_server.lake import comparing, patterns
from acai_server.lake.composing import gather
from acai_server.lake.counting import Count
from acai_server.lake.flows import FIRST, Chunks, Flow, Range, Tree, among, listed
from acai_server.lake.joining import Difference, Filtered, Union, united
from acai_server.lake.manifests import Builder

if TYPE_CHECKING:
    from collections.abc import Iterable

    from acai_server.lake.manifests import Leaf

Content = dict[str, "Leaf"]
MANY = 40_000


class Store:
    """Where manifests are kept; counts what is read."""

    def __init__(self) -> None:
        self.bodies: dict[bytes, bytes] = {}
        self.amounts: dict[bytes, tuple[int, int]] = {}
        self.reads = 0
        self.chunks = Chunks(self._load, lambda chunks: {chunk: self._load(chunk) for chunk in chunks})

    def _load(self, chunk: bytes) -> bytes:
        self.reads += 1
        return self.bodies[chunk]

    def build(self, leaves: Iterable[Leaf]) -> bytes:
        builder = Builder(self.bodies.__setitem__)
        given = list(leaves)
        for leaf in given:
            builder.add(leaf)
        root = builder.root()
        self.amounts[root] = (len(given), sum(leaf[2] for leaf in given))
        return root


def leaf(number: int, version: int = 1) -> Leaf:
    return f"/{number:05}", version, number + version, hashlib.sha256(b"%d:%d" % (number, version)).digest()


def content(numbers: Iterable[int], version: int = 1) -> Content:
    return {one[0]: one for one in (leaf(number, version) for number in sorted(numbers))}


class Made:
    """A content, and the flow that should give it."""

    def __init__(self, expected: Content, flow: Any) -> None:
        self.expected = dict(sorted(expected.items()))
        self.flow = flow

    def flowing(self, store: Store, within: Range) -> Flow:
        flow: Flow = self.flow(store, within)
        return flow


def passes(path: str) -> bool:
    return int(path[1:]) % 3 != 0


def kept(one: Content) -> Made:
    return Made(one, lambda store, within: Tree(store.chunks, store.build(one.values()), within))


def at_hand(one: Content) -> Made:
    return Made(one, lambda _, within: listed(list(one.values()), within))


def laid_over(one: Made, other: Made) -> Made:
    return Made(one.expected | other.expected, lambda *how: Union(one.flowing(*how), other.flowing(*how)))


def without(one: Made, other: Made) -> Made:
    left = {path: found for path, found in one.expected.items() if path not in other.expected}
    return Made(left, lambda *how: Difference(one.flowing(*how), other.flowing(*how)))


def chosen(one: Made) -> Made:
    left = {path: found for path, found in one.expected.items() if passes(path)}
    return Made(left, lambda *how: Filtered(one.flowing(*how), passes))


def narrowed(one: Made, within: Range) -> Made:
    left = {path: found for path, found in one.expected.items() if within.start <= path < within.end}
    return Made(left, lambda store, outer: one.flowing(store, within.within(outer)))


STRETCH = st.tuples(st.integers(0, 8).map(lambda n: n * 500), st.sampled_from([1, 40, 400, 3000]), st.integers(1, 3))
STRETCHES = st.lists(STRETCH, min_size=1, max_size=3).map(
    lambda found: {number for start, length, step in found for number in range(start, start + length, step)}
)
CONTENTS = st.builds(content, STRETCHES, st.integers(1, 2))
RANGES = st.tuples(st.integers(0, 5000), st.integers(0, 5000)).map(
    lambda ends: Range(f"/{ends[0]:05}", f"/{ends[1]:05}")
)
MADE: st.SearchStrategy[Made] = st.recursive(
    CONTENTS.map(kept) | CONTENTS.map(kept) | st.builds(at_hand, CONTENTS),
    lambda inner: (
        st.builds(laid_over, inner, inner)
        | st.builds(without, inner, inner)
        | st.builds(chosen, inner)
        | st.builds(narrowed, inner, RANGES)
    ),
    max_leaves=6,
)


@settings(deadline=None)
@given(MADE, st.integers(0, 5000))
def test_what_flows_is_what_dictionaries_say(made: Made, start: int) -> None:
    store = Store()
    assert list(made.flowing(store, Range()).leaves()) == list(made.expected.values())
    after = f"/{start:05}"
    found = list(islice(made.flowing(store, Range(after + FIRST)).leaves(), 5))
    assert found == [one for path, one in made.expected.items() if path > after][:5]


@settings(deadline=None)
@given(MADE)
def test_what_is_gathered_has_the_one_shape_of_its_content_and_is_counted(made: Made) -> None:
    store = Store()
    builder, count = Builder(store.bodies.__setitem__), Count()
    gather(made.flowing(store, Range()), builder, count)
    assert builder.root() == Store().build(made.expected.values())
    amount = count.amount(store.chunks, store.amounts)
    assert amount == (len(made.expected), sum(one[2] for one in made.expected.values()))


@settings(deadline=None)
@given(CONTENTS, st.lists(st.integers(0, 6000), max_size=30))
def test_paths_are_found_where_they_are(one: Content, numbers: list[int]) -> None:
    store = Store()
    paths = sorted({f"/{number:05}" for number in numbers})
    found = among(Tree(store.chunks, store.build(one.values())), paths)
    assert found == {path: one[path] for path in paths if path in one}


@settings(deadline=None)
@given(MADE, MADE)
@example(kept(content(range(300))), kept(content(range(300))))
def test_two_flows_differ_as_their_dictionaries_do(before: Made, after: Made) -> None:
    store = Store()
    found = list(comparing.changes(before.flowing(store, Range()), after.flowing(store, Range())))
    old, new = before.expected, after.expected
    assert found == [
        (old.get(path), new.get(path)) for path in sorted(old.keys() | new.keys()) if old.get(path) != new.get(path)
    ]


# -- what it costs


def many() -> list[Leaf]:
    return [leaf(number) for number in range(MANY)]


def test_one_file_laid_over_many_reads_and_writes_a_few_chunks() -> None:
    store = Store()
    root = store.build(many())
    store.reads, known = 0, set(store.bodies)
    builder, count = Builder(store.bodies.__setitem__), Count()
    gather(Union(Tree(store.chunks, root), listed([leaf(777, 2)], Range())), builder, count)
    new = builder.root()
    assert count.amount(store.chunks, store.amounts) == (MANY, sum(one[2] for one in many()) + 1)
    assert store.reads < 40
    assert len(set(store.bodies) - known) <= 4
    store.reads = 0
    assert list(comparing.changes(Tree(store.chunks, root), Tree(store.chunks, new))) == [(leaf(777), leaf(777, 2))]
    assert store.reads < 40


def test_sets_side_by_side_become_one_without_being_read() -> None:
    store = Store()
    half = MANY // 2
    roots = [store.build(many()[:half]), store.build(many()[half:])]
    store.reads = 0
    builder, count = Builder(store.bodies.__setitem__), Count()
    gather(united([Tree(store.chunks, root) for root in roots]), builder, count)
    assert count.amount(store.chunks, store.amounts)[0] == MANY
    assert builder.root() == Store().build(many())
    assert store.reads < 60


def test_a_page_in_the_middle_reads_a_few_chunks_of_each() -> None:
    store = Store()
    even, odd, third = (store.build(many()[start::step]) for start, step in ((0, 2), (1, 2), (0, 3)))
    within = Range(leaf(MANY // 2)[0] + FIRST)
    store.reads = 0
    halves = Union(Tree(store.chunks, even, within), Tree(store.chunks, odd, within))
    page = list(islice(Difference(halves, Tree(store.chunks, third, within)).leaves(), 20))
    assert page == [one for one in many()[MANY // 2 + 1 :] if int(one[0][1:]) % 3][:20]
    assert store.reads < 100


# -- differences


def compared(
    before: Content, after: Content, start: int = 0, limit: int = 10_000
) -> tuple[comparing.Summary, Any, bool]:
    old, new = (sorted(one.values()) for one in (before, after))
    return comparing.compare(
        lambda: comparing.changes(listed(old, Range()), listed(new, Range())), start=start, limit=limit
    )


def told(found: Any) -> list[tuple[str, str | None, str | None]]:
    return [(one.kind.value, one.before and one.before.path, one.after and one.after.path) for one in found]


SMALL = st.dictionaries(st.sampled_from("abcdefgh"), st.tuples(st.integers(1, 2), st.integers(0, 3)), max_size=8).map(
    lambda found: {f"/{name}": (f"/{name}", version, 1, bytes([body] * 32)) for name, (version, body) in found.items()}
)


@given(SMALL, SMALL, st.integers(0, 5), st.integers(0, 5))
def test_a_comparison_is_what_plain_dictionaries_say(old: Content, new: Content, start: int, limit: int) -> None:
    gone = [one for path, one in sorted(old.items()) if path not in new]
    wanted: list[tuple[str, str | None, str | None]] = []
    for path in sorted(new):
        if path not in old:
            origin = next((one for one in gone if one[3] == new[path][3]), None)
            if origin is not None:
                gone.remove(origin)
            wanted.append(("added" if origin is None else "renamed", origin and origin[0], path))
        elif old[path][3] != new[path][3]:
            wanted.append(("changed", path, path))
    wanted += [("removed", one[0], None) for one in gone]
    wanted.sort(key=lambda one: one[2] or one[1] or "")
    summary, found, more = compared(old, new)
    assert (told(found), more) == (wanted, False)
    kinds = [kind for kind, _, _ in wanted]
    counts = (summary.added, summary.removed, summary.changed, summary.renamed)
    assert counts == tuple(kinds.count(kind) for kind in ("added", "removed", "changed", "renamed"))
    same = [path for path in old.keys() & new.keys() if old[path][3] == new[path][3]]
    assert summary.renumbered == sum(old[path][1] != new[path][1] for path in same)
    _, page, more = compared(old, new, start, limit)
    assert (told(page), more) == (wanted[start : start + limit], len(wanted) > start + limit)


@pytest.mark.parametrize("count", [comparing.HELD, comparing.MOST_UNMATCHED // 2 + 1])
def test_what_is_too_much_to_hold_is_gone_through_twice(count: int) -> None:
    old = {f"/a/{n:06}": (f"/a/{n:06}", 1, 1, b"%032d" % n) for n in range(count)}
    new = {f"/b/{n:06}": (f"/b/{n:06}", 1, 1, b"%032d" % n) for n in range(count)}
    summary, page, more = compared(old, new, start=count - 1, limit=1)
    if count == comparing.HELD:
        assert (summary.renamed, summary.added, summary.removed) == (count, 0, 0)
        assert (page[0].kind, more) == (DifferenceKind.RENAMED, False)
    else:
        assert (summary.renamed, summary.added, summary.removed) == (0, count, count)
        assert (page[0].kind, more) == (DifferenceKind.REMOVED, True)


# -- patterns


def fits(pattern: str, path: str) -> bool:
    within, test = patterns.choose(patterns.check(pattern))
    return within.start <= path < within.end and (test is None or test(path))


@pytest.mark.parametrize(
    ("pattern", "yes", "no"),
    [
        ("/a", ["/a"], ["/ab", "/a/b"]),
        ("/a/", ["/a/b", "/a/b/c"], ["/a", "/ab"]),
        ("/a/*", ["/a/b", "/a/.b"], ["/a", "/a/b/c", "/b/a"]),
        ("/a/*/", ["/a/b/c", "/a/b/c/d"], ["/a/b"]),
        ("/*.png", ["/x.png", "/.png"], ["/a/x.png", "/x.pngs", "/x_png"]),
        ("/**/*.png", ["/x.png", "/a/x.png", "/a/b/x.png"], ["/x.jpg"]),
        ("/a/**", ["/a/b", "/a/b/c"], ["/a", "/ab"]),
        ("/a**", ["/a", "/ab", "/a/b"], ["/b"]),
        ("/a**/b", ["/a/b", "/ax/b", "/a/x/b"], ["/ab", "/a"]),
        ("/a**/", ["/a/b", "/ax/b"], ["/ab", "/a"]),
        ("/**/", ["/a", "/a/b"], []),
        ("/?", ["/a", "/é", "/😀"], ["/ab", "/"]),
        ("/[ab]c", ["/ac", "/bc"], ["/cc", "/c"]),
        ("/[!ab]c", ["/cc"], ["/ac", "//c"]),
        ("/[a-c]", ["/b"], ["/d", "/-"]),
        ("/[]-]", ["/]", "/-"], ["/a"]),
        ("/[a-]", ["/a", "/-"], ["/b"]),
        ("/[*][?][[]", ["/*?["], ["/abc"]),
        ("/a[+-9]b", ["/a,b", "/a1b", "/a.b"], ["/a/b"]),
        ("/a.(b)|c$^\\d{2} &~#", ["/a.(b)|c$^\\d{2} &~#"], ["/aXb"]),
        ("/a.(b)|c+?", ["/a.(b)|c+x"], ["/a.(b)|cc"]),
        ("/Cafe\u0301*", ["/Caf\u00e91"], ["/Cafe1"]),
    ],
)
def test_patterns_fit_these_paths_and_not_those(pattern: str, yes: list[str], no: list[str]) -> None:
    assert [path for path in (*yes, *no) if fits(pattern, path)] == yes


@given(st.text("ab/*?", max_size=8), st.text("ab/", max_size=8))
def test_a_pattern_means_what_the_naive_reading_says(pattern: str, path: str) -> None:
    parts = [
        {"**/": "(.*/)?", "**": ".*", "*": "[^/]*", "?": "[^/]"}.get(token, token)
        for token in re.findall(r"(?<=/)\*\*/|\*\*|.", "/" + pattern + ("**" if f"/{pattern}".endswith("/") else ""))
    ]
    wanted = re.fullmatch("".join(parts), "/" + path) is not None and not path.endswith("/")
    if not path.endswith("/"):
        assert fits("/" + pattern, "/" + path) == wanted


@pytest.mark.parametrize(
    ("pattern", "reason"),
    [
        ("*.png", "start with '/'"),
        ("", "start with '/'"),
        ("/" + "a" * 1024, "1,025 characters"),
        ("/" + "*a" * 33, "32 wildcards"),
        ("/[ab", "no end"),
        ("/[a/b]", "no end"),
        ("/[]", "no character"),
        ("/[!]", "no character"),
        ("/[b-a]", "backwards"),
        ("/a\nb", "no path has"),
        ("/a\0", "no path has"),
        ("/\ud800", "no path has"),
    ],
)
def test_a_pattern_that_means_nothing_is_refused(pattern: str, reason: str) -> None:
    with pytest.raises(BadRequest, match=reason):
        patterns.check(pattern)


@pytest.mark.parametrize("part", ["*a", "**a", "?*", "[!b]*", "**/*", "*" * 4])
def test_no_pattern_is_slow(part: str) -> None:
    pattern = f"/{part * (patterns.MAX_WILDCARDS // 4)}b"
    for number in range(200):
        assert not fits(pattern, f"/{'a' * 900}/{number}")
