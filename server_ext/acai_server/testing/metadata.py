"""What the metadata of a database owes to those who set it and search in it."""

from __future__ import annotations

import hashlib
from datetime import UTC, datetime, timedelta, timezone
from typing import TYPE_CHECKING, Any

import pytest

from acai_jupyter.contract.errors import (
    BadAttribute,
    BadQuery,
    BadRequest,
    BadSpec,
    FileNotFound,
    FileSetNotFound,
    JobNotFound,
    Outdated,
    SearchTooLong,
)
from acai_jupyter.contract.metadata import ThingChange, Time
from acai_jupyter.contract.query.binding import bind
from acai_jupyter.contract.query.builtin import SubjectKind
from acai_jupyter.contract.query.conditions import Condition
from acai_jupyter.contract.query.parser import parse
from acai_jupyter.contract.states import JobState
from acai_server.objects.memory import MemoryObjectStore
from acai_server.testing import libraries
from acai_server.testing.databases import at_once
from acai_server.testing.lakes import SIGNER, LakeUser
from acai_server.testing.libraries import library
from acai_server.testing.queries import NOON

if TYPE_CHECKING:
    from acai_server.db.database import Database
    from acai_server.testing.libraries import Library


class MetadataSuite:
    """Derive from this with a fixture `database` that gives an empty one with all tables."""

    @pytest.fixture
    def database(self) -> Database:
        raise NotImplementedError

    @pytest.fixture
    def made(self, database: Database) -> Library:
        return library(database)

    # -- reading and changing

    def test_values_of_every_type_come_back(self, made: Library) -> None:
        job = made.submit()
        values = {"t": "it's\n😀", "n": 0.1, "w": 3, "b": False, "at": Time(NOON), "long": "é" * 500}
        assert made.change(job, **values) == [str(job)]
        known = made.service.get(made.project, str(job))
        assert known.attributes == values
        assert type(known.attributes["w"]) is int
        assert type(known.attributes["b"]) is bool

    def test_setting_replaces_and_deleting_deletes_and_the_others_stay(self, made: Library) -> None:
        job = made.submit()
        made.change(job, a=1, b="x", c=True)
        made.change_all(ThingChange(str(job), set={"a": "now a text"}, delete=["c", "never-there"]))
        assert made.service.get(made.project, str(job)).attributes == {"a": "now a text", "b": "x"}
        assert made.things("job", "a = 1 or has(c)") == []

    def test_labels_are_added_once_and_removed(self, made: Library) -> None:
        job = str(made.submit())
        made.change_all(ThingChange(job, add_labels=["b", "a", "a"]))
        assert made.change_all(ThingChange(job, add_labels=["a"], remove_labels=["c"])) == []
        assert made.service.get(made.project, job).tags == ["a", "b"]
        made.change_all(ThingChange(job, add_labels=["c"], remove_labels=["a"]))
        assert made.service.get(made.project, job).tags == ["b", "c"]

    def test_who_changed_what_is_kept_the_newest_first(self, made: Library) -> None:
        other = library(made.database, user="ana")
        job = made.submit()
        made.change(job, stage="draft", ready=False)
        made.change(job, stage="draft")
        other.change_all(ThingChange(str(job), set={"stage": "final"}, delete=["ready"], add_labels=["good"]))
        page = made.service.changes(made.project, str(job), None, 10)
        assert [(one.user, one.set, one.deleted, one.added_labels) for one in page.changes] == [
            ("ana", {"stage": "final"}, ["ready"], ["good"]),
            ("you", {"stage": "draft", "ready": False}, [], []),
        ]
        first = made.service.changes(made.project, str(job), None, 1)
        assert made.service.changes(made.project, str(job), first.next, 1).changes == page.changes[1:]

    def test_a_change_is_told_in_one_event(self, made: Library) -> None:
        jobs = [str(made.submit()) for _ in range(3)]
        made.change_all(*(ThingChange(job, set={"a": 1}) for job in jobs))
        made.change(jobs[0], a=1)
        with made.database.reading() as work:
            told = [e for e in work.events.after(made.project, 0, 100).events if e.kind == "metadata_changed"]
        assert [(event.subject, event.details) for event in told] == [("3 things", {"things": jobs})]

    def test_one_wrong_change_lets_none_happen(self, made: Library) -> None:
        job = str(made.submit())
        with pytest.raises(JobNotFound):
            made.change_all(ThingChange(job, set={"a": 1}), ThingChange("99", set={"a": 1}))
        with pytest.raises(BadAttribute):
            made.change_all(ThingChange(job, set={"a": 1, "b": "x" * 501}))
        assert made.service.get(made.project, job).attributes == {}

    @pytest.mark.parametrize("key", ["state", "created_at", "params.lr", "tags", "template"])
    def test_what_the_system_gives_cannot_be_set(self, made: Library, key: str) -> None:
        job = made.submit()
        with pytest.raises(BadAttribute, match=key):
            made.change(job, **{key: "x"})
        with pytest.raises(BadAttribute, match=key):
            made.change_all(ThingChange(str(job), delete=[key]))

    @pytest.mark.parametrize(
        "value",
        [
            "a\0b",
            "a\ud800",
            "x" * 501,
            float("nan"),
            float("inf"),
            10**400,
            Time(NOON.replace(tzinfo=None)),
            Time(datetime.max.replace(tzinfo=UTC)),
            Time(datetime.min.replace(tzinfo=timezone(timedelta(hours=23)))),
        ],
    )
    def test_a_value_that_could_not_be_found_is_refused(self, made: Library, value: Any) -> None:
        with pytest.raises(BadAttribute):
            made.change(made.submit(), a=value)

    @pytest.mark.parametrize("label", ["+a", "-a", " a", "a\n", "\0"])
    def test_a_label_that_could_not_be_typed_is_refused(self, made: Library, label: str) -> None:
        with pytest.raises(BadAttribute):
            made.change_all(ThingChange(str(made.submit()), add_labels=[label]))

    def test_the_same_thing_twice_in_one_request_is_refused(self, made: Library) -> None:
        made.make_set("model")
        with pytest.raises(BadRequest, match="twice"):
            made.change_all(ThingChange("model"), ThingChange("model:1"))

    def test_things_that_are_not_there_are_named(self, made: Library) -> None:
        made.make_set("model")
        for thing, error in (("7", JobNotFound), ("modell", FileSetNotFound), ("/no", FileNotFound), ("/d/", BadSpec)):
            with pytest.raises(error):
                made.service.get(made.project, thing)
        with pytest.raises(FileSetNotFound, match="Did you mean model"):
            made.change("modell", a=1)

    def test_many_writers_of_one_thing_and_of_new_keys_lose_nothing(self, made: Library) -> None:
        job = made.submit()
        at_once(8, lambda number: made.change(job, **{f"key{number}": number, "shared": number}))
        known = made.service.get(made.project, str(job)).attributes
        assert {f"key{number}": number for number in range(8)}.items() <= known.items()
        assert len(made.service.changes(made.project, str(job), None, 100).changes) == 8

    @pytest.mark.parametrize("before", [None, "draft", 3, True, Time(NOON)])
    def test_what_is_as_expected_is_written(self, made: Library, before: Any) -> None:
        job = str(made.submit())
        if before is not None:
            made.change(job, stage=before)
        wanted = ThingChange(job, set={"stage": "final"}, add_labels=["good"], expect={"stage": before})
        assert made.change_all(wanted) == [job]
        assert made.service.get(made.project, job).attributes == {"stage": "final"}
        newest = made.service.changes(made.project, job, None, 1).changes[0]
        assert (newest.set, newest.added_labels) == ({"stage": "final"}, ["good"])
        assert made.change_all(ThingChange(job, set={"stage": "final"}, expect={"stage": "final"})) == []
        assert made.change_all(ThingChange(job, delete=["stage"], expect={"stage": "final"})) == [job]
        assert made.service.changes(made.project, job, None, 1).changes[0].deleted == ["stage"]
        assert made.service.get(made.project, job).attributes == {}
        assert made.change_all(ThingChange(job, delete=["stage"], expect={"stage": None})) == []

    @pytest.mark.parametrize("expected", [None, "draft", 1, False])
    def test_over_what_is_not_expected_nothing_is_written_and_it_is_said(self, made: Library, expected: Any) -> None:
        other = library(made.database, user="ana")
        job = str(made.submit())
        made.change(job, stage="draft", note="ours")
        other.change(job, stage="final")
        for change in (
            ThingChange(job, set={"stage": "kept", "n": 1}, add_labels=["a"], expect={"stage": expected}),
            ThingChange(job, delete=["stage", "note"], expect={"stage": expected, "note": "ours"}),
        ):
            with pytest.raises(Outdated, match=f"'stage' of job {job} was not changed: ana set it to 'final'") as told:
                made.change_all(change)
            assert (told.value.details["by"], told.value.details["found"]) == ("ana", "final")
        known = made.service.get(made.project, job)
        assert (known.attributes, known.tags) == ({"stage": "final", "note": "ours"}, [])
        other.change_all(ThingChange(job, delete=["stage"]))
        with pytest.raises(Outdated, match="ana took it away"):
            made.change_all(ThingChange(job, set={"stage": "kept"}, expect={"stage": "final"}))

    def test_what_is_not_changed_cannot_be_expected(self, made: Library) -> None:
        job = str(made.submit())
        with pytest.raises(BadAttribute, match="not changed"):
            made.change_all(ThingChange(job, set={"a": 1}, expect={"b": None}))
        with pytest.raises(BadAttribute, match="NUL"):
            made.change_all(ThingChange(job, set={"a": 1}, expect={"a": "x\0"}))

    @pytest.mark.parametrize(("before", "after"), [(None, True), ("draft", True), (3, True), ("draft", False)])
    def test_of_many_who_expect_the_same_one_writes(self, made: Library, before: Any, *, after: bool) -> None:
        job = str(made.submit())
        if before is not None:
            made.change(job, stage=before)

        def write(number: int) -> str:
            stage: dict[str, Any] = {"stage": number + 100} if after else {}
            deleted = [] if after else ["stage"]
            change = ThingChange(job, set={f"k{number}": 1} | stage, delete=deleted, expect={"stage": before})
            try:
                made.change_all(change)
            except Outdated as error:
                return str(error.details["found"])
            return "written"

        told = at_once(8, write)
        known = made.service.get(made.project, job).attributes
        writer = told.index("written")
        assert known == {f"k{writer}": 1} | ({"stage": 100 + writer} if after else {})
        others = told[:writer] + told[writer + 1 :]
        assert set(others) == {str(known.get("stage"))}

    def test_counting_by_what_is_expected_counts_each(self, made: Library) -> None:
        """Whoever is told reads again and writes again: nothing of what anybody did is lost."""
        job = str(made.submit())
        made.change(job, n=0)

        def count(_: int) -> None:
            while True:
                n = made.service.get(made.project, job).attributes["n"]
                assert isinstance(n, int)
                try:
                    made.change_all(ThingChange(job, set={"n": n + 1}, expect={"n": n}))
                except Outdated:
                    continue
                return

        at_once(6, count)
        assert made.service.get(made.project, job).attributes == {"n": 6}

    def test_changes_of_many_at_once_keep_their_places(self, made: Library) -> None:
        job = str(made.submit())
        places: list[dict[int, str]] = []

        def look() -> dict[int, str]:
            return {one.number: repr(one.set) for one in made.service.changes(made.project, job, None, 100).changes}

        def write(which: int) -> None:
            for number in range(10):
                made.change(job, **{f"k{which}": number})
                places.append(look())

        at_once(6, write)
        last = look()
        assert sorted(last) == list(range(1, 61))
        for seen in places:
            assert seen.items() <= last.items()

    def test_projects_know_nothing_of_each_other(self, made: Library) -> None:
        other = library(made.database, "other", "ana")
        for one in (made, other):
            one.change(one.submit(), model="BERT")
        other.change(other.submit(), model="BERT", hidden=1)
        assert made.things("job", "model = 'BERT'") == ["1"]
        assert other.things("job", "model = 'BERT'") == ["2", "1"]
        assert "hidden" not in [one.key for one in made.service.keys(made.project, SubjectKind.JOB, "", 1000).keys]

    # -- keys

    def test_completion_offers_built_in_used_and_well_known_keys(self, made: Library) -> None:
        made.change(made.submit({"lr": 0.1}), accuracy=0.5, stage="x", odd_one=True)
        found = {one.key: (one.source, one.type and one.type.value) for one in self._keys(made, "")}
        assert found["state"] == ("built_in", "text")
        assert found["tags"] == ("built_in", "list")
        assert found["accuracy"] == ("used", "number")
        assert found["odd_one"] == ("used", "boolean")
        assert found["params.lr"] == ("used", "number")
        assert found["training_loss"] == ("well_known", None)
        assert [one.key for one in self._keys(made, "acc")] == ["accuracy"]
        assert [one.key for one in self._keys(made, "%")] == []

    def _keys(self, made: Library, prefix: str) -> list[Any]:
        return made.service.keys(made.project, SubjectKind.JOB, prefix, 1000).keys

    # -- finding

    def test_the_example_of_the_original_is_one_line(self, made: Library) -> None:
        ana = library(made.database, user="ana")
        for maker, model, precision in ((ana, "BERT", 0.6), (ana, "BERT", 0.4), (ana, "GPT", 0.9), (made, "BERT", 0.9)):
            maker.change(maker.make_set("net", maker.submit()), model=model, precision=precision)
        ana.change(ana.make_set("by-hand"), model="BERT", precision=0.9)
        query = (
            "created_at >= today() and made_by = 'job' and creator = 'ana' and model = 'BERT' and precision > 0.5 "
            "order by precision desc limit 10"
        )
        page = made.find("file_set", query, columns=["precision", "job"])
        assert [(row.thing, row.values) for row in page.rows] == [("net:1", [0.6, 1])]

    def test_built_in_keys_of_file_sets(self, made: Library) -> None:
        made.make_set("a")
        made.make_set("a", made.submit())
        assert made.things("file_set", "name = 'a' and version = 1") == ["a:1"]
        assert made.things("file_set", "latest = true") == ["a:2"]
        assert made.things("file_set", "file_count = 2 and size_bytes between 30 and 31 and has(job)") == ["a:2"]
        assert made.things("file_set", "made_by = 'job' and job = 1") == ["a:2"]
        assert made.things("file_set", "name ~ '^a$' order by version") == ["a:1", "a:2"]
        assert made.things("job", "output = 'a' and output = 'a:2' and output = 'a:latest' and output ~ '^a:'") == ["1"]
        assert made.things("job", "output = 'a:1' or output = 'b' or output != 'a:2' or 'b' in output") == []

    def test_built_in_keys_of_jobs(self, made: Library) -> None:
        for number in range(3):
            made.submit({"lr": 0.1 * number}, name=f"sweep-{number}")
        with made.database.writing() as work:
            work.jobs.advance(work.jobs.find(made.project, 2).id, JobState.KILLED, "", work.clock.now())
        assert made.things("job", "state = 'killed' and has(ended_at)") == ["2"]
        assert made.things("job", "name = 'sweep-1' and vcpu = 1 and memory_bytes = 1073741824") == ["2"]
        assert made.things("job", "params.lr > 0.05 order by params.lr desc limit 1") == ["3"]
        assert made.things("job", "not has(exit_code) and not cost_usd > 0 and attempts = 0 order by name") == list(
            "123"
        )
        assert made.things("job", "order by ended_at desc, number desc") == ["2", "3", "1"]
        assert made.things("job", "created_at > now() - 1h and created_at < '2999-01-01'") == ["3", "2", "1"]
        page = made.find("job", "number = 2", columns=["params.lr", "input", "output", "tags", "nothing"])
        assert page.rows[0].values == [0.1, None, None, [], None]

    def test_files_are_found_when_their_session_is_committed_and_not_when_deleted(self, made: Library) -> None:
        user = LakeUser(made.database, MemoryObjectStore(SIGNER))
        user.put({"/a@b": b"one", "/dir/c": b"12345"})
        user.put({"/a@b": b"two!"})
        pending = user.prepare({"/a@b": b"three", "/new": b"n"})
        assert made.things("file", "order by path, version") == ["/a%40b:1", "/a%40b:2", "/dir/c:1"]
        with pytest.raises(FileNotFound):
            made.change("/new", a=1)
        made.change("/a%40b", lang="en")
        assert made.service.get(made.project, "/a%40b@set").thing == "/a%40b:1"
        assert made.things("file", "path = '/a@b' and lang = 'en' and latest = true") == ["/a%40b:2"]
        assert made.things("file", "size_bytes >= 4 order by size_bytes desc") == ["/dir/c:1", "/a%40b:2"]
        sha256 = hashlib.sha256(b"one").hexdigest()
        query = f"sha256 = '{sha256}' and storage = 'frequent' and creator = 'you' and created_at > now() - 1h"
        assert made.things("file", query) == ["/a%40b:1"]
        user.remove("/a%40b:2")
        assert made.things("file", "has(lang)") == []
        assert made.things("file", "path ~ '@' and latest = true") == ["/a%40b:1"]
        user.remove("/a%40b:2", undo=True)
        user.commit(pending)
        assert made.things("file", "lang = 'en'") == ["/a%40b:2"]
        assert made.things("file", "latest = true order by path") == ["/a%40b:3", "/dir/c:1", "/new:1"]

    def test_jobs_are_found_by_what_went_into_them(self, made: Library) -> None:
        refs = [made.make_set(name) for name in ("a", "a", "b")]
        for inputs in (refs[:1], refs[1:], []):
            made.submit(inputs=inputs)
        made.alias("a:1", "paper")
        for query, wanted in {
            "input = 'a'": "21",
            "input = 'a:1'": "1",
            "input = 'a:latest'": "2",
            "input = 'a:paper'": "1",
            "input = 'b:paper' or input = 'a:missing'": "",
            "'b' in input": "2",
            "input in ('a:1', 'b:1')": "21",
            "input != 'a:1'": "2",
            "not input = 'a:1'": "32",
            "input ~ '^b:'": "2",
            "not has(input)": "3",
            "input = 'a:x' or input = 'c'": "",
        }.items():
            assert made.things("job", query) == list(wanted), query
        assert made.find("job", "number = 2", columns=["input"]).rows[0].values == [["a:2", "b:1"]]

    def test_a_query_about_file_sets_looks_at_them_and_not_at_the_job_that_made_them(self, made: Library) -> None:
        maker, other = made.submit({"model": "BERT"}), made.submit()
        of_job, of_set = made.make_set("of-job", maker), made.make_set("of-set", other)
        made.change(maker, model="BERT", precision=0.9)
        made.change(of_set, model="BERT", precision=0.9)
        query = "created_at >= today() and creator = 'you' and model = 'BERT' and precision > 0.5"
        assert made.things("file_set", query) == [of_set]
        made_by = made.find("job", f"{query} and params.model = 'BERT'", columns=["output"]).rows
        assert [row.values for row in made_by] == [[of_job]]

    def test_what_is_deleted_is_not_found_and_comes_back_with_its_attributes(self, made: Library) -> None:
        made.make_set("a")
        made.make_set("a")
        made.change("a:2", stage="old")
        made.change_all(ThingChange("a:2", add_labels=["x"]))
        made.bury("a:2")
        assert made.things("file_set", "has(stage) or 'x' in tags or name = 'a' and latest = false") == []
        assert made.things("file_set", "latest = true") == ["a:1"]
        for act in (lambda: made.service.get(made.project, "a:2"), lambda: made.change("a:2", stage="new")):
            with pytest.raises(FileSetNotFound):
                act()
        made.bury("a:2", None)
        assert made.things("file_set", "stage = 'old' and 'x' in tags and latest = true") == ["a:2"]

    def test_times_before_the_year_1000_have_their_place(self, made: Library) -> None:
        job = made.submit()
        made.change(job, born=Time(datetime(300, 1, 1, tzinfo=UTC)))
        assert made.things("job", "created_at > 0301-01-01 and born < 0301-01-01 and born > 0001-01-01") == ["1"]
        assert made.service.get(made.project, str(job)).attributes["born"] == Time(datetime(300, 1, 1, tzinfo=UTC))

    def test_relative_times_move_by_the_calendar(self, made: Library) -> None:
        job = made.submit(at=datetime.now(UTC) - timedelta(days=40))
        assert made.things("job", "created_at < today() - 1mo and created_at > today() - 2mo") == [str(job)]
        assert made.things("job", "created_at > now() - 1y and not created_at > now() - 5w") == [str(job)]

    def test_what_is_missing_is_equal_in_an_order_and_the_newest_comes_first(self, made: Library) -> None:
        for name in ("b", "a", "c"):
            made.submit(name=name)
        assert made.things("job", "order by ended_at") == ["3", "2", "1"]
        assert made.things("job", "order by ended_at desc, exit_code, name") == ["2", "1", "3"]

    def test_today_begins_at_the_midnight_of_who_asks(self, made: Library) -> None:
        made.submit()
        hour = datetime.now(UTC).hour
        east = timedelta(hours=23 - hour).total_seconds()
        assert made.things("job", "created_at >= today()", utc_offset_seconds=int(east)) == ["1"]
        assert made.things("job", "created_at >= today() + 1d", utc_offset_seconds=int(east)) == []

    def test_pages_go_on_where_they_ended_and_a_limit_is_that_of_all(self, made: Library) -> None:
        libraries.jobs(made)
        for query in ("order by accuracy desc", "order by mixed", "has(model) order by model desc", "accuracy >= 0"):
            whole = made.things("job", f"{query} limit 17", limit=1000)
            found: list[str] = []
            after = ""
            while True:
                page = made.find("job", f"{query} limit 17", limit=5, after=after)
                found += [row.thing for row in page.rows]
                if page.next is None:
                    break
                after = page.next
            assert found == whole
            assert len(found) == 17

    @pytest.mark.parametrize("after", ["x", "AAAA", "=", "é", "kwE="])
    def test_a_cursor_that_is_none_is_refused(self, made: Library, after: str) -> None:
        with pytest.raises(BadRequest):
            made.find("job", "", after=after)

    def test_a_cursor_of_another_search_is_refused(self, made: Library) -> None:
        libraries.jobs(made)
        following = made.find("job", "", limit=5).next
        with pytest.raises(BadRequest, match="another search"):
            made.find("job", "has(model)", limit=5, after=following)

    def test_the_list_of_conditions_of_the_original_finds_the_same(self, made: Library) -> None:
        libraries.jobs(made)
        conditions = [
            Condition("accuracy", range=[0.1, 1.0]),
            Condition("model", regex="E"),
            Condition("params.lr", value=0.1),
        ]
        query = "accuracy between 0.1 and 1 and model ~ 'E' and params.lr = 0.1"
        found = made.find("job", "", conditions=conditions)
        assert [row.thing for row in found.rows] == made.things("job", query) != []
        best = made.find("job", "", conditions=[Condition("accuracy", best="max", range=[None, 0.9])])
        assert [row.thing for row in best.rows] == made.things("job", "accuracy <= 0.9 order by accuracy desc limit 1")
        with pytest.raises(BadRequest, match="at once"):
            made.find("job", "a = 1", conditions=conditions)

    @pytest.mark.parametrize(
        ("query", "column", "reason"),
        [
            ("vcpu = 'many'", 1, "vcpu is a number; compare it with a number"),
            ("state ~ 'x' and created_at ~ '2026'", 17, "'~' is for texts"),
            ("created_at > 'yesterday'", 1, "compare it with a time"),
            ("tags = 'x'", 1, "'x' in tags"),
            ("'x' in state", 1, "state is not a list"),
            ("has(a) order by tags", 17, "has no order"),
            ("input < 'a'", 1, "neither is the greater"),
        ],
    )
    def test_what_means_nothing_on_a_kind_is_said_with_its_place(
        self, made: Library, query: str, column: int, reason: str
    ) -> None:
        with pytest.raises(BadQuery) as refused:
            made.find("job", query)
        assert refused.value.details["column"] == column
        assert reason in refused.value.message
        assert refused.value.message.endswith("\n  " + " " * (column - 1) + "^")

    def test_a_search_that_takes_too_long_is_ended_and_the_next_is_not(self, made: Library) -> None:
        libraries.jobs(made)
        slow = " or ".join(f"note ~ 'x{{{n % 90 + 1}}}(a|b|c)*d{{90}}'" for n in range(200))
        made.change_all(*(ThingChange(str(n), set={"note": "xabc" * 125}) for n in range(1, 61)))
        query = bind(parse(slow, NOON), SubjectKind.JOB, NOON)
        with pytest.raises(SearchTooLong, match="Narrow it"), made.database.reading() as work:
            work.search.find(made.project, SubjectKind.JOB, query, None, 10, seconds=0)
        assert len(made.things("job", "has(note)")) == 60

    def test_the_largest_query_is_answered(self, made: Library) -> None:
        made.change(made.submit(), a=499)
        values = ", ".join(map(str, range(500)))
        assert made.things("job", f"a in ({values})") == ["1"]
        deep = "not (" * 25 + "a = 1" + ")" * 25
        assert made.things("job", deep) == ["1"]
        assert made.things("job", " or ".join(["a = 499"] * 200)) == ["1"]
