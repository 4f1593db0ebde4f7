"""What the graph owes to those who ask it, whatever the database; networkx says what is right."""

from __future__ import annotations

from datetime import timedelta
from typing import TYPE_CHECKING, Any

import networkx as nx
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from acai_jupyter.contract.drawings import MAX_DRAWN, DrawGraph
from acai_jupyter.contract.errors import Conflict, FileSetNotFound, JobNotFound
from acai_jupyter.contract.lineage import LineageDirection
from acai_jupyter.contract.provenance import COUNTED, MAX_INPUTS, Graph
from acai_jupyter.contract.queries import AffectedQuery, ClosureQuery, ProjectGraphQuery
from acai_jupyter.contract.specs import parse_set
from acai_jupyter.contract.states import ActionKind, InputRole
from acai_server.provenance.exploring import Drawings
from acai_server.testing.graphs import GraphMaker, reached

if TYPE_CHECKING:
    from acai_jupyter.contract.ids import FileSetVersionId
    from acai_server.db.database import Database

BACK, FORWARD = LineageDirection.BACK, LineageDirection.FORWARD
NAMES = ["a", "b", "c", "d"]

Plan = list[tuple[str, list[int]]]
"""For each set its name, and how many sets before it those are that it is made of."""

plans: st.SearchStrategy[Plan] = st.lists(
    st.tuples(st.sampled_from(NAMES), st.lists(st.integers(1, 8), max_size=3)), min_size=1, max_size=14
)


def planned(database: Database, plan: Plan, number: int) -> tuple[GraphMaker, list[str]]:
    """Make the sets of a plan in a project of their own."""
    maker = GraphMaker(database, f"p{number}")
    refs: list[str] = []
    for name, before in plan:
        refs.append(maker.make(name, list(dict.fromkeys(refs[-step] for step in before if step <= len(refs)))))
    return maker, refs


def whole(graph: Graph) -> None:
    """Check what every answer promises."""
    nodes = {node.ref for node in graph.nodes}
    assert len(nodes) == len(graph.nodes)
    for action in graph.actions:
        assert {one.file_set for one in action.inputs if one.role is InputRole.DATA} <= nodes
        assert set(action.outputs) <= nodes


class GraphSuite:
    """Derive from this with a fixture `database` that gives an empty one with all tables."""

    @pytest.fixture
    def database(self) -> Database:
        raise NotImplementedError

    @pytest.fixture
    def maker(self, database: Database) -> GraphMaker:
        return GraphMaker(database)

    # -- against networkx

    def test_any_graph_answers_as_networkx_does(self, database: Database) -> None:
        count = iter(range(1_000_000))

        @settings(max_examples=12, deadline=None, suppress_health_check=list(HealthCheck))
        @given(plan=plans, depth=st.one_of(st.none(), st.integers(0, 5)), chosen=st.integers(0, 1000))
        def check(plan: Plan, depth: int | None, chosen: int) -> None:
            maker, refs = planned(database, plan, next(count))
            ref = refs[chosen % len(refs)]
            for direction in (BACK, FORWARD):
                closed = maker.closure(ref, direction, depth)
                right = reached(maker.graph, ref, direction, depth)
                assert closed.refs == right
                if depth is None:
                    assert closed.edges == set(maker.graph.subgraph(right).edges)
                assert closed.sets[0].ref == ref
            check_neighbourhood(maker, ref, depth or 1)
            check_paths(maker, refs[0], ref)
            check_components(maker)
            affected = maker.provenance.affected(maker.project, ref, AffectedQuery())
            assert {one.ref for one in affected.sets} == reached(maker.graph, ref, FORWARD) - {ref}
            near = maker.provenance.affected(maker.project, ref, AffectedQuery(depth=depth or 1))
            assert {one.ref for one in near.sets} == reached(maker.graph, ref, FORWARD, depth or 1) - {ref}

        check()

    def test_a_long_chain_is_followed_to_its_end(self, maker: GraphMaker) -> None:
        last = chain(maker, 3000)
        closed = maker.closure("chain:3000", BACK)
        assert [one.version for one in closed.sets] == list(range(3000, 0, -1))
        assert (len(closed.edges), closed.end and closed.end.is_cut) == (2999, False)
        some = maker.closure("chain:3000", BACK, depth=100)
        assert [one.version for one in some.sets] == list(range(3000, 2899, -1))
        assert len(maker.closure("chain:1", FORWARD).sets) == last

    def test_a_graph_of_diamonds_is_not_walked_once_for_each_way(self, maker: GraphMaker) -> None:
        top = maker.make("top")
        for _ in range(40):
            sides = [maker.make("left", [top]), maker.make("right", [top])]
            top = maker.make("top", sides)
        found = maker.provenance.paths(maker.project, "top:1", top, 3)
        assert found.count == 2**40
        assert (len(found.nodes), len(found.paths), {len(way) for way in found.paths}) == (121, 3, {81})
        assert len(maker.closure(top, BACK, depth=79).sets) == 120

    # -- limits

    def test_an_answer_says_when_it_was_cut_and_what_is_near_comes_first(self, maker: GraphMaker) -> None:
        chain(maker, 50)
        cut = maker.closure("chain:50", BACK, limit=10)
        assert [one.version for one in cut.sets] == list(range(50, 40, -1))
        assert cut.end is not None
        assert (cut.end.sets, cut.end.is_cut) == (10, True)
        assert len(cut.edges) == 9
        graph = maker.around("chain:25", back=100, forward=100, limit=11)
        whole(graph)
        assert graph.is_cut
        assert sorted(node.file_set.version for node in graph.nodes) == list(range(20, 31))
        ends = {node.file_set.version: (node.more_back, node.more_forward) for node in graph.nodes}
        assert (ends[20], ends[25], ends[30]) == ((1, 0), (0, 0), (0, 1))
        assert not maker.around("chain:25", back=100, forward=100, limit=50).is_cut

    def test_what_was_used_often_is_shown_in_pages(self, maker: GraphMaker) -> None:
        maker.make("hub")
        load(maker, [("use", ["hub:1"])] * (COUNTED + 50))
        graph = maker.around("hub:1", limit=5)
        assert (len(graph.nodes), graph.is_cut, graph.nodes[0].more_forward) == (5, True, COUNTED - 4)
        assert [node.file_set.version for node in graph.nodes[1:]] == [COUNTED + n for n in (47, 48, 49, 50)]
        seen, before = list[int](), None
        while True:
            page = maker.provenance.uses(maker.project, "hub:1", before, 400)
            whole(page)
            seen += [int(action.id.removeprefix("use:")) for action in page.actions]
            before = page.next
            if before is None:
                break
            assert before == page.actions[-1].id, "no number of a row, which tells how much others do"
        assert (len(seen), seen) == (COUNTED + 50, sorted(seen, reverse=True))

    def test_of_an_action_with_very_many_inputs_some_are_listed(self, maker: GraphMaker) -> None:
        parts = [maker.make(f"part{number}") for number in range(MAX_INPUTS + 7)]
        maker.make("sum", parts)
        (action,) = maker.around("sum:1", forward=0).actions
        assert ([one.file_set for one in action.inputs], action.more_inputs) == (parts[:MAX_INPUTS], 7)
        assert len(maker.closure("sum:1", BACK).sets) == MAX_INPUTS + 8

    # -- what it is made of

    def test_nothing_is_made_of_itself_nor_of_what_came_after_it(self, maker: GraphMaker) -> None:
        first, second = maker.make("a"), maker.make("b")
        for early, late in ((first, second), (first, first)):
            made, used = maker.versions[early], maker.versions[late]
            with pytest.raises(Conflict, match="cannot be made of itself"), maker.database.writing() as work:
                work.actions.add(
                    *(maker.project, maker.user, ActionKind.CREATION),
                    *([(used, InputRole.DATA)], made, work.clock.now()),
                )
            loaded = [(ActionKind.CREATION, [used], made)]
            with pytest.raises(Conflict, match="cannot be made of itself"), maker.database.writing() as work:
                work.actions.load(maker.project, maker.user, loaded, work.clock.now())
        assert maker.closure("a:1", BACK).edges == set()

    def test_what_is_recorded_in_bulk_is_as_if_it_was_recorded_one_by_one(self, database: Database) -> None:
        plan: list[tuple[str, list[str]]] = [("a", []), ("b", ["a:1"]), ("c", ["a:1", "b:1"]), ("b", ["c:1"])]
        single, bulk = GraphMaker(database, "single"), GraphMaker(database, "bulk")
        for name, inputs in plan:
            single.make(name, inputs)
        load(bulk, plan)
        for ref in ("a:1", "b:2"):
            for direction in (BACK, FORWARD):
                assert single.closure(ref, direction).edges == bulk.closure(ref, direction).edges
        links = [
            [one.links for one in who.provenance.project(who.project, ProjectGraphQuery()).components]
            for who in (single, bulk)
        ]
        assert links[0] == links[1]
        assert [(one.source, one.target) for one in links[0][0]] == [("a", "b"), ("a", "c"), ("b", "c"), ("c", "b")]

    def test_deleted_sets_are_tombstones_in_every_answer(self, maker: GraphMaker) -> None:
        maker.make("a")
        maker.make("b", ["a:1"])
        maker.make("c", ["b:1"])
        with maker.database.writing() as work:
            found = work.file_sets.find(maker.project, parse_set("b:1"))
            work.file_sets.mark(found.file_set_id, [found.id], work.clock.now() - timedelta(days=1))
        gone = {one.ref: one.deleted_at is not None for one in maker.closure("c:1", BACK).sets}
        assert gone == {"c:1": False, "b:1": True, "a:1": False}
        assert maker.around("b:1").nodes[0].file_set.deleted_at is not None
        page = maker.provenance.project(maker.project, ProjectGraphQuery())
        assert sorted(node.ref for node in page.components[0].nodes) == ["a:1", "b:1", "c:1"]
        assert maker.provenance.paths(maker.project, "c:1", "a:1", 5).paths == [["a:1", "b:1", "c:1"]]

    def test_projects_do_not_see_each_other(self, database: Database) -> None:
        mine, theirs = GraphMaker(database, "mine", "ana"), GraphMaker(database, "theirs", "bo")
        for maker in (mine, theirs):
            maker.make("a")
            maker.make("b", ["a:1"])
        theirs.make("secret", ["b:1"])
        assert mine.closure("a:1", FORWARD).refs == {"a:1", "b:1"}
        assert {one.creator for one in mine.closure("b:1", BACK).actions} == {"ana"}
        assert [node.ref for node in mine.around("b:1", forward=5).nodes] == ["b:1", "a:1"]
        (component,) = mine.provenance.project(mine.project, ProjectGraphQuery()).components
        assert {node.ref for node in component.nodes} == {"a:1", "b:1"}
        asked: list[Any] = [
            lambda: mine.around("secret:1"),
            lambda: mine.closure("secret:1", BACK),
            lambda: mine.provenance.paths(mine.project, "a:1", "secret:1", 1),
            lambda: mine.provenance.affected(mine.project, "secret", AffectedQuery()),
            lambda: mine.provenance.why_different(mine.project, "a:1", "secret:1", 5),
            lambda: mine.provenance.uses(mine.project, "secret:1", None, 5),
        ]
        for ask in asked:
            with pytest.raises(FileSetNotFound):
                ask()
        with pytest.raises(JobNotFound):
            mine.around("1")
        with database.reading() as work:
            action = work.graph.made_by([theirs.versions["b:1"]])[theirs.versions["b:1"]]
            assert work.graph.actions(mine.project, [action]) == {}
            assert work.closures.sets(mine.project, [theirs.versions["b:1"]]) == b""
            assert work.closures.actions(mine.project, [action]) == b""

    def test_a_page_of_components_begins_where_the_last_ended(self, maker: GraphMaker) -> None:
        for number in range(7):
            maker.make(f"alone{number}")
        maker.make("old")
        maker.make("new", ["old:1"])
        maker.make("alone3")
        pages, before = list[list[list[str]]](), None
        while True:
            page = maker.provenance.project(maker.project, ProjectGraphQuery(before, 3))
            pages.append([sorted(node.ref for node in one.nodes) for one in page.components])
            before = page.next
            if before is None:
                break
        assert pages == [
            [["alone3:2"], ["new:1", "old:1"], ["alone6:1"]],
            [["alone5:1"], ["alone4:1"], ["alone2:1"]],
            [["alone1:1"], ["alone0:1"]],
        ]

    def test_every_name_of_a_project_is_on_one_of_the_drawings_of_its_pages(self, maker: GraphMaker) -> None:
        counts = {"first": MAX_DRAWN // 2, "large": MAX_DRAWN - 20, "wide": MAX_DRAWN + 5, "last": 30}
        for name, count in counts.items():
            load(maker, [(f"{name}{number}", [f"{name}0:1"] if number else []) for number in range(count)])
        drawings, pages, before = Drawings(maker.database), list[tuple[set[str], int, bool]](), None
        while True:
            drawing = drawings.draw(maker.project, DrawGraph("", before=before))
            names = {one.thing.rstrip(":1234567890") for one in drawing.nodes}
            pages.append((names, len(drawing.nodes), drawing.is_cut))
            before = drawing.next
            if before is None:
                break
        assert pages == [
            ({"last"}, 30, False),
            ({"wide"}, MAX_DRAWN, True),
            ({"large"}, MAX_DRAWN - 20, False),
            ({"first"}, MAX_DRAWN // 2, False),
        ]

    def test_what_is_not_there_is_said_before_anything_is_sent(self, maker: GraphMaker) -> None:
        with pytest.raises(FileSetNotFound):
            maker.provenance.closure(maker.project, "nothing:1", ClosureQuery())


def chain(maker: GraphMaker, length: int) -> int:
    """Make each version of a name of the one before."""
    load(maker, [("chain", [f"chain:{number}"] if number else []) for number in range(length)])
    return length


def load(maker: GraphMaker, plan: list[tuple[str, list[str]]]) -> None:
    """Make many sets, and record their actions in bulk."""
    actions: list[tuple[ActionKind, list[FileSetVersionId], FileSetVersionId]] = []
    with maker.database.writing() as work:
        now = work.clock.now()
        for name, inputs in plan:
            made = work.file_sets.add(
                maker.project, maker.user, name, InputRole.DATA, root=b"", file_count=1, size_bytes=2, now=now
            )
            maker.versions[made.public.ref] = made.id
            used = [maker.versions[one] for one in inputs]
            actions.append((ActionKind.CREATION if used else ActionKind.UPLOAD, used, made.id))
        work.actions.load(maker.project, maker.user, actions, now)


def check_neighbourhood(maker: GraphMaker, ref: str, steps: int) -> None:
    """All that is so near is in it, and of the rest is said how much there is."""
    graph = maker.around(ref, back=steps, forward=steps, limit=2000)
    whole(graph)
    near = reached(maker.graph, ref, BACK, steps) | reached(maker.graph, ref, FORWARD, steps)
    assert near <= {node.ref for node in graph.nodes}
    made = {one for action in graph.actions for one in action.outputs}
    for node in graph.nodes:
        assert node.more_back == (node.ref not in made)
        used = sum(any(one.file_set == node.ref for one in action.inputs) for action in graph.actions)
        assert node.more_forward == maker.graph.out_degree(node.ref) - used


def check_paths(maker: GraphMaker, source: str, target: str) -> None:
    """All simple paths are counted, and those that are listed are among them, the shortest first."""
    found = maker.provenance.paths(maker.project, target, source, 5)
    right = [] if source == target else list(nx.all_simple_paths(maker.graph, source, target))
    if source == target:
        assert found.paths == [[source]]
        return
    assert found.count == len(right)
    assert len(found.paths) == min(5, len(right))
    assert all(way in right for way in found.paths)
    assert [len(way) for way in found.paths] == sorted(map(len, right))[:5]
    assert {node.ref for node in found.nodes} == {ref for way in right for ref in way}


def check_components(maker: GraphMaker) -> None:
    """Names hang together when any of their versions do."""
    names = nx.Graph()
    names.add_nodes_from(ref.partition(":")[0] for ref in maker.graph)
    names.add_edges_from((a.partition(":")[0], b.partition(":")[0]) for a, b in maker.graph.edges)
    page = maker.provenance.project(maker.project, ProjectGraphQuery())
    found = {frozenset(node.file_set.name for node in one.nodes) for one in page.components}
    assert found == {frozenset(one) for one in nx.connected_components(names)}
