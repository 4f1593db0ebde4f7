"""What is typed at `tag` and `find`, and how values are shown."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import Any

import msgspec
import pytest

from acai_jupyter.commands import verbs
from acai_jupyter.commands.job_sentences import line, lines
from acai_jupyter.commands.metadata import annotation, conditions_of, request, shown, thing_change, value_of
from acai_jupyter.commands.tables import Table, table
from acai_jupyter.commands.units import columns
from acai_jupyter.contract.errors import BadQuery, BadRequest
from acai_jupyter.contract.foreign import one_line
from acai_jupyter.contract.ids import JobNumber
from acai_jupyter.contract.jobs import Attempt, Job, Resources
from acai_jupyter.contract.metadata import Found, FoundPage, ThingChange, Time
from acai_jupyter.contract.query.builtin import SubjectKind
from acai_jupyter.contract.query.conditions import Condition
from acai_jupyter.contract.states import JobState

NOON = Time(datetime(2026, 11, 1, 12, tzinfo=UTC))


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("0.98", 0.98),
        ("-3", -3),
        ("1e3", 1000.0),
        (".5", 0.5),
        ("true", True),
        ("True", "True"),
        ("'007'", "007"),
        ("'it''s'", "it's"),
        ("''", ""),
        ("candidate", "candidate"),
        ("'nan'", "nan"),
        ("nano", "nano"),
        ("1_000", "1_000"),
        ("2026-11-01T12:00:00Z", NOON),
        ("2026-13-01", "2026-13-01"),
        ("a=b", "a=b"),
    ],
)
def test_a_value_is_read_as_the_language_writes_it(text: str, value: Any) -> None:
    assert value_of(text) == value
    assert type(value_of(text)) is type(value)


def test_labels_and_deletions_are_read_among_values() -> None:
    arguments = verbs.parse("acai", ["tag", "--json", "model:2", "a=1", "-old", "+new", "b=", "-h-2", "--history"])
    assert (arguments.json, arguments.history) == (True, True)
    assert thing_change("model:2", [*arguments.words, *arguments.args]) == ThingChange(
        "model:2", {"a": 1}, ["b"], ["new"], ["old", "h-2"]
    )


@pytest.mark.parametrize("word", ["a b=1", "1a=1", "a\n=1", f"{'k' * 129}=1", "a b="])
def test_a_key_that_could_not_be_one_is_named(word: str) -> None:
    with pytest.raises(BadRequest, match="is no key: one starts with a letter"):
        thing_change("1", [word])


@pytest.mark.parametrize("word", ["loss=1e999", "loss=-1e999", "loss=nan", "loss=-Inf", "loss=infinity"])
def test_a_number_that_is_none_is_named(word: str) -> None:
    with pytest.raises(BadRequest, match="no number that things can be found by"):
        thing_change("1", [word])


@pytest.mark.parametrize("word", ["a", "=1", "+", "-", ""])
def test_a_word_that_is_no_change_is_refused(word: str) -> None:
    with pytest.raises(BadRequest, match="none of KEY=VALUE"):
        thing_change("1", [word])


@pytest.mark.parametrize(
    ("key", "value", "text"),
    [
        ("accuracy", 0.123456789, "0.123457"),
        ("n", 3, "3"),
        ("size_bytes", 1536, "1.5 KB"),
        ("run_seconds", 200, "3 min 20 s"),
        ("cost_usd", 0.03, "$0.03"),
        ("ready", False, "false"),
        ("tags", ["a", "b"], "a, b"),
        ("x", None, ""),
    ],
)
def test_values_are_shown_in_units_for_people(key: str, value: Any, text: str) -> None:
    assert shown(key, value) == text


EVIL = "a\033[31mb\rc\nd\u202ee<i>"
SEEN = "a\\x1b[31mb\\rc\\nd\\u202ee<i>"


def test_what_others_wrote_stays_on_its_line_and_obeys_nothing() -> None:
    assert one_line(EVIL) == SEEN
    assert one_line("é 日本 👩‍👩‍👧 a\u202fb \\") == "é 日本 👩‍👩‍👧 a\u202fb \\"
    assert shown("x", EVIL) == SEEN
    assert shown("tags", ["a", EVIL]) == f"a, {SEEN}"
    assert columns([["a", EVIL], ["b", "c"]], "<<").splitlines() == [f"a  {SEEN}", "b  c"]


def test_a_job_is_shown_in_one_line_and_one_for_each_miss() -> None:
    attempt = Attempt(1, "process", 1, 1024, [], tag_misses=[EVIL, "y"])
    asked: dict[str, Any] = {"command": ["x"], "inputs": [], "code": None, "output": None, "parameters": {}}
    stood: dict[str, Any] = {"resources": Resources(), "created_at": NOON.time, "attempts": [attempt]}
    job = Job(JobNumber(7), "", "ana", JobState.FAILED, EVIL, **asked, **stood, attributes={"x": EVIL})
    assert lines(job).splitlines() == [f"job 7 failed ({SEEN}) · x {SEEN}", SEEN, "y"]


def test_a_line_names_so_many_attributes_of_a_job_and_counts_the_others() -> None:
    asked: dict[str, Any] = {"command": "true", "inputs": [], "code": None, "output": None, "parameters": {}}
    stood: dict[str, Any] = {"resources": Resources(), "created_at": datetime(2026, 1, 1, tzinfo=UTC), "attempts": []}
    many: dict[str, Any] = {f"k{number}": number for number in range(20_000)}
    job = Job(JobNumber(7), "", "ana", JobState.FINISHED, "", **asked, **stood, attributes=many)
    assert line(job).endswith(" · k8 8 · k9 9 · and 19,990 more")
    few: dict[str, Any] = {f"k{number}": number for number in range(10)}
    assert line(msgspec.structs.replace(job, attributes=few)).endswith(" · k8 8 · k9 9")


def test_a_table_of_what_others_wrote_has_a_line_for_each_thing() -> None:
    found = Table(FoundPage(SubjectKind.FILE_SET, ["x"], [Found("a:1", [EVIL]), Found("b:1", ["y"])]))
    assert [line.split() for line in repr(found).splitlines()[1:]] == [["a:1", SEEN], ["b:1", "y"]]
    html = found._repr_html_()
    assert f">{SEEN.replace('<i>', '&lt;i&gt;')}</td>" in html
    assert "\033" not in html


def test_a_syntax_error_is_said_before_anything_is_sent() -> None:
    with pytest.raises(BadQuery):
        request(SubjectKind.JOB, "accuracy >")


def test_a_column_that_is_no_key_is_refused_before_anything_is_sent() -> None:
    with pytest.raises(BadRequest, match="'a b' is no key"):
        request(SubjectKind.JOB, "", ["a b"])


def test_what_is_told_is_asked_for_or_spoken_of_or_usual() -> None:
    assert request(SubjectKind.JOB, "a = 1 order by b", ["c"]).columns == ["c"]
    assert request(SubjectKind.JOB, "a = 1 order by b").columns == ["a", "b"]
    assert "created_at" in request(SubjectKind.JOB, "limit 3").columns


def test_the_original_list_of_conditions_is_read_or_refused() -> None:
    given: list[dict[str, Any]] = [
        {"key": "model", "value": "BERT"},
        {"key": "precision", "range": [0.5, None], "best": "max"},
    ]
    assert conditions_of(given) == [
        Condition("model", value="BERT"),
        Condition("precision", range=[0.5, None], best="max"),
    ]
    wrong: list[dict[str, Any]] = [
        {"value": 1},
        {"key": "a b"},
        {"key": "a", "max": True},
        {"key": "a", "range": [1]},
        {"key": 1},
    ]
    for one in wrong:
        with pytest.raises(
            BadRequest, match=r"'a b' is no key|condition 2 is {.*}, and one is {'key': …} with 'value'"
        ):
            conditions_of([given[0], one])


PAGE = FoundPage(
    SubjectKind.JOB,
    ["accuracy", "cost_usd", "ended_at", "at", "ready", "tags", "job"],
    [
        Found("7", [0.5, None, None, NOON, True, ["x", "<y>"], "a text"]),
        Found("3", [None, None, None, None, None, [], None]),
    ],
)


def test_columns_of_a_frame_have_types_whatever_is_missing() -> None:
    frame = table(PAGE)
    assert list(frame.columns) == ["job", "accuracy", "cost_usd", "ended_at", "at", "ready", "tags"]
    assert frame["job"].tolist() == [7, 3]
    kinds = [str(kind) for kind in frame.dtypes]
    assert kinds[1:3] == ["float64", "float64"]
    assert all(kind.startswith("datetime64") and kind.endswith("UTC]") for kind in kinds[3:5])
    assert kinds[5] == "boolean"
    assert frame[frame["ready"]]["job"].tolist() == [7]
    empty = table(FoundPage(SubjectKind.JOB, ["cost_usd", "created_at"], []))
    assert [str(kind).partition("[")[0] for kind in empty.dtypes] == ["float64", "float64", "datetime64"]


def test_a_table_without_pandas_gives_rows_and_columns_and_shows_itself() -> None:
    found = Table(PAGE)
    assert (len(found), found["job"], found[1]["job"], [row["accuracy"] for row in found]) == (
        2,
        [7, 3],
        3,
        [0.5, None],
    )
    with pytest.raises(KeyError):
        found["loss"]
    lines = repr(found).splitlines()
    assert lines[0].split() == found.columns
    assert [line.split()[0] for line in lines[1:]] == ["7", "3"]
    html = found._repr_html_()
    assert html.count("<tr>") == 3
    assert "2 jobs" in html
    assert "x, &lt;y&gt;" in html
    many = Table(FoundPage(SubjectKind.FILE, ["a"], [Found(f"/{number}:1", [number]) for number in range(100)]))
    assert len(repr(many).splitlines()) == 62
    assert repr(many).endswith("100 rows, of which the first 60 are shown")
    assert "100 files" in many._repr_html_()


def test_what_was_found_is_a_table_with_plain_values() -> None:
    page = FoundPage(
        SubjectKind.JOB, ["a", "at", "tags"], [Found("7", [0.5, NOON, ["x"]]), Found("3", [None, None, []])]
    )
    frame = table(page)
    assert list(frame.columns) == ["job", "a", "at", "tags"]
    assert frame["job"].tolist() == [7, 3]
    assert frame["at"][0] == NOON.time
    assert table(FoundPage(SubjectKind.FILE_SET, ["a"], [])).columns.tolist() == ["file_set", "a"]


def test_plain_python_values_become_attributes() -> None:
    numpy = pytest.importorskip("numpy")
    found = annotation({"a": numpy.float64(0.5), "b": numpy.int64(3), "at": NOON.time}, ["x"], [], ["old"])
    assert found == ThingChange("", {"a": 0.5, "b": 3, "at": NOON}, ["old"], ["x"], [])


@pytest.mark.parametrize(
    ("values", "add"),
    [
        ({"a b": 1}, []),
        ({"a\n": 1}, []),
        ({"a": [1]}, []),
        ({"a": None}, []),
        ({"a": float("nan")}, []),
        ({"a": float("inf")}, []),
        ({}, [""]),
    ],
)
def test_what_could_not_be_an_attribute_is_refused_here(values: dict[str, Any], add: list[str]) -> None:
    with pytest.raises(BadRequest):
        annotation(values, add, [], [])
