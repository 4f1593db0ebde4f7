"""What searching a database owes: what a plain evaluation finds, in pages, whatever else goes on and whoever asks."""

from __future__ import annotations

from contextlib import suppress
from datetime import UTC, datetime
from typing import TYPE_CHECKING

import msgspec
import pytest
from hypothesis import HealthCheck, given, reject, settings
from hypothesis import strategies as st

from acai_jupyter.contract import decoding
from acai_jupyter.contract.errors import AcaiError, BadQuery, BadRequest
from acai_jupyter.contract.metadata import FindThings, ThingChange
from acai_jupyter.contract.query.binding import bind
from acai_jupyter.contract.query.builtin import SubjectKind, ValueType
from acai_jupyter.contract.query.conditions import Condition
from acai_jupyter.contract.query.parser import parse
from acai_jupyter.contract.specs import encode_path
from acai_server.db.search import Cursor
from acai_server.metadata.cursors import Mark, encode
from acai_server.objects.memory import MemoryObjectStore
from acai_server.testing import libraries, queries
from acai_server.testing.lakes import SIGNER, LakeUser, hash_of
from acai_server.testing.libraries import Library, library
from acai_server.testing.queries import KEYS, LIST, NOON, NUMBERS, PATTERNS, TIMES, Key

if TYPE_CHECKING:
    from random import Random

    from acai_jupyter.contract.query.tree import Query
    from acai_server.db.database import Database
    from acai_server.testing.queries import Thing

SHARED = settings(
    max_examples=60, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow]
)
WAYS = (0, 3, 1000)
"""Where few things end: nothing is few, some ways are narrow, all are."""
HOSTILE = ["'", "' OR 1=1 --", "\0", "\ud800", "%", "?", "%s", '"', "');DROP TABLE job;--", "\\", "\n", "NULL", "nan"]


def _texts(*texts: str) -> st.SearchStrategy[str]:
    return st.sampled_from([*texts, "", "nobody's"])


def _numbers(*numbers: float) -> st.SearchStrategy[float]:
    return st.sampled_from([*numbers, 0.5, -1e300])


_WHEN = st.sampled_from([*TIMES, datetime(301, 1, 1, tzinfo=UTC), datetime(9999, 12, 31, tzinfo=UTC)])
_WHO = Key("creator", _texts("you", "ana"))
_MADE = Key("created_at", _WHEN, ValueType.TIME)
_FREE = [key for key in KEYS if key.name in ("accuracy", "model", "mixed")]
OF_JOBS = [
    Key("number", _numbers(1, 2, 30, 61), ValueType.NUMBER),
    Key("state", _texts("queued", "killed")),
    Key("name", _texts("sweep", "é B", "bert")),
    Key("ended_at", _WHEN, ValueType.TIME),
    Key("vcpu", _numbers(1), ValueType.NUMBER),
    Key("exit_code", _numbers(0), ValueType.NUMBER),
    Key("attempts", _numbers(0), ValueType.NUMBER),
    Key("input", _texts("a", "a:1", "a:2", "a:latest", "b", "b:1"), ValueType.REFERENCE),
    Key("output", _texts("out0", "out0:1", "out1:latest", "out1:x"), ValueType.REFERENCE),
    _WHO,
    _MADE,
    LIST,
]
OF_SETS = [
    Key("name", _texts("a", "B", "bert")),
    Key("version", _numbers(1, 3, 13, 14), ValueType.NUMBER),
    Key("latest", st.booleans(), ValueType.BOOLEAN),
    Key("file_count", _numbers(0, 1, 2, 3), ValueType.NUMBER),
    Key("size_bytes", _numbers(30), ValueType.NUMBER),
    Key("made_by", _texts("job", "upload", "creation")),
    Key("job", _numbers(1, 7), ValueType.NUMBER),
    _WHO,
    _MADE,
    LIST,
]
OF_FILES = [
    Key("path", _texts("/a", "/B", "/d/é@b", "/d/c")),
    Key("version", _numbers(1, 2, 3), ValueType.NUMBER),
    Key("latest", st.booleans(), ValueType.BOOLEAN),
    Key("size_bytes", _numbers(0, 1, 2, 3), ValueType.NUMBER),
    Key("storage", _texts("frequent")),
    Key("sha256", _texts("e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855")),
    _WHO,
    LIST,
]


def files(made: Library) -> list[Thing]:
    """Fill a project with versions of files, one of them deleted; returns the others, the oldest first."""
    user = LakeUser(made.database, MemoryObjectStore(SIGNER))
    found: list[Thing] = []
    for at in range(16):
        path, body = ("/a", "/B", "/d/é@b", "/d/c")[at % 4], b"x" * (at // 4)
        user.put({path: body})
        name = f"{encode_path(path)}:{at // 4 + 1}"
        values = {"accuracy": NUMBERS[at % 7], "model": ("BERT", "bert", "")[at % 3], "mixed": [1.0, True, "x"][at % 3]}
        found.append(
            {
                "thing": name,
                "path": path,
                "version": float(at // 4 + 1),
                "latest": at >= 13 or at == 8,
                "size_bytes": float(len(body)),
                "storage": "frequent",
                "sha256": hash_of(body),
                "creator": "you",
                "tags": ["a"] if at % 2 else [],
                **values,
            }
        )
    return found


class SearchSuite:
    """Derive from this with a fixture `database` that gives an empty one with all tables."""

    @pytest.fixture
    def database(self) -> Database:
        raise NotImplementedError

    @pytest.fixture
    def made(self, database: Database) -> Library:
        return library(database)

    # -- agreement with a plain evaluation

    def test_every_query_about_what_users_gave_finds_what_a_plain_evaluation_finds(self, made: Library) -> None:
        self._agree(made, "job", libraries.jobs(made), [*KEYS, OF_JOBS[0], LIST])

    def test_every_query_about_jobs_finds_what_a_plain_evaluation_finds(self, made: Library) -> None:
        self._agree(made, "job", libraries.jobs(made), [*OF_JOBS, *_FREE])

    def test_every_query_about_file_sets_finds_what_a_plain_evaluation_finds(self, made: Library) -> None:
        self._agree(made, "file_set", libraries.file_sets(made), [*OF_SETS, *_FREE])

    def test_every_query_about_files_finds_what_a_plain_evaluation_finds(self, made: Library) -> None:
        things = files(made)
        made.change_all(
            *(
                ThingChange(
                    thing["thing"],
                    set={key: thing[key] for key in ("accuracy", "model", "mixed")},
                    add_labels=thing["tags"],
                )
                for thing in things
            )
        )
        LakeUser(made.database, MemoryObjectStore(SIGNER)).remove("/a:4")
        self._agree(made, "file", [thing for thing in things if thing["thing"] != "/a:4"], [*OF_FILES, *_FREE])

    def _agree(self, made: Library, kind: str, things: list[Thing], keys: list[Key]) -> None:
        @SHARED
        @given(queries.queries(keys), st.randoms(use_true_random=False), st.integers(1, 70), st.sampled_from(WAYS))
        def check(query: Query, chance: Random, size: int, few: int) -> None:
            text = queries.written(query, chance)
            wanted = [thing["thing"] for thing in queries.answer(query, things)]
            assert self._pages(made, SubjectKind(kind), text, size, few)[: query.limit] == wanted

        check()

    def _pages(self, made: Library, kind: SubjectKind, text: str, size: int, few: int) -> list[str]:
        """Search in pages of a size, past the service, which would take one way only."""
        query = bind(parse(text, NOON), kind, NOON, text)
        with made.database.reading() as work:
            rows, after = work.search.find(made.project, kind, query, None, size, few=few)
            while after is not None:
                more, after = work.search.find(made.project, kind, query, after, size, few=few)
                assert more
                rows += more
            names = work.subjects.names(kind, rows)
        return [names[row] for row in rows]

    def test_every_expression_means_the_same_to_every_engine(self, made: Library) -> None:
        letters = st.sampled_from("aAbBz09_ \n\té😀-]^.\\")
        words = st.lists(st.text(letters, max_size=6), min_size=1, max_size=8)

        @SHARED
        @given(patterns(), words)
        def check(pattern: str, texts: list[str]) -> None:
            changes = [ThingChange(str(made.submit()), set={"word": text}) for text in texts]
            made.change_all(*changes)
            wanted = [c.thing for c in reversed(changes) if queries.found(pattern, str(c.set["word"]))]
            query = f"word ~ {queries.written_value(pattern)} and number >= {changes[0].thing}"
            assert made.things("job", query, limit=1000) == wanted

        check()

    # -- pages

    def test_pages_miss_and_repeat_nothing_while_things_come_and_go(self, made: Library) -> None:
        stay = [str(made.submit()) for _ in range(12)]
        made.change_all(*(ThingChange(job, set={"loss": float(at % 3), "kept": True}) for at, job in enumerate(stay)))
        for query in ("has(loss) order by loss", "order by loss desc", "kept = true", "order by created_at"):
            seen: list[str] = []
            after, at = "", 0
            while True:
                page = made.find("job", query, limit=2, after=after)
                seen += [row.thing for row in page.rows]
                if page.next is None:
                    break
                after, at = page.next, at + 1
                other = made.submit()
                made.change(other, loss=float(at % 3), kept=True)
                if at % 2:
                    made.change_all(ThingChange(str(other), delete=["loss", "kept"]))
            assert len(seen) == len(set(seen)), query
            assert set(stay) <= set(seen), query
            assert [job for job in seen if job in stay] == made.things(
                "job", f"({self._where(query)}) and number <= 12 {self._order(query)}"
            ), query

    def _where(self, query: str) -> str:
        return query.partition("order by")[0].strip() or "number > 0"

    def _order(self, query: str) -> str:
        return "".join(query.partition("order by")[1:])

    @pytest.mark.parametrize(
        "values",
        [[2**63], [2**64 - 1] * 2, ["\0"], ["a", "b", "c", "d"], [1, 2, 3, 4], [NOON], [], [float("inf"), "", 1]],
    )
    def test_a_forged_cursor_finds_something_or_is_refused(self, made: Library, values: list[object]) -> None:
        libraries.jobs(made)
        for query, known in (("", 0), ("order by model", 1), ("has(mixed) order by mixed desc", 1), ("model ~ 'B'", 1)):
            asked = FindThings(SubjectKind.JOB, query)
            for way, segment in ((-1, 0), (0, -1), (2**62, 2**62), (0, 0), (-1, 99)):
                after = encode(Mark(NOON, 0, Cursor(known, way, segment, values)), asked)
                with suppress(BadRequest):
                    made.service.find(made.project, msgspec.structs.replace(asked, after=after))

    # -- whatever is sent

    def test_no_text_is_more_than_a_text_wherever_it_is_sent(self, made: Library) -> None:
        job = str(made.submit())
        made.change_all(ThingChange(job, set={"a": 1}, add_labels=["x"]))

        @SHARED
        @given(st.sampled_from(HOSTILE) | st.text(max_size=12))
        def check(text: str) -> None:
            quoted = text.replace("'", "''")
            asked = [
                FindThings(SubjectKind.JOB, text),
                FindThings(SubjectKind.JOB, f"'{quoted}' in tags"),
                FindThings(SubjectKind.JOB, f"a ~ '{quoted}'"),
                FindThings(SubjectKind.JOB, f"state = '{quoted}' or name in ('{quoted}') or input = '{quoted}'"),
                FindThings(SubjectKind.JOB, f'"{text}" = 1 order by "{text}"'),
                FindThings(SubjectKind.FILE, f"path = '{quoted}' or path ~ '{quoted}'"),
                FindThings(SubjectKind.JOB, conditions=[Condition("a", value=text)]),
                FindThings(SubjectKind.JOB, conditions=[Condition("state", value=text)]),
                FindThings(SubjectKind.JOB, conditions=[Condition("a", range=[text, text], regex=text)]),
                FindThings(SubjectKind.JOB, after=text),
            ]
            with suppress(msgspec.ValidationError):
                asked.append(decoding.convert({"kind": "job", "columns": [text]}, FindThings))
            for request in asked:
                with suppress(AcaiError):
                    made.service.find(made.project, request)
            with suppress(AcaiError):
                made.service.get(made.project, text)
            made.service.keys(made.project, SubjectKind.JOB, text, 10)

        check()
        assert made.things("job", "a = 1 and 'x' in tags") == [job]

    def test_whatever_text_is_kept_is_found_by_it_and_by_nothing_else(self, made: Library) -> None:
        job = made.submit()

        @SHARED
        @given(st.sampled_from(HOSTILE) | st.text(max_size=20), st.text(max_size=3))
        def check(text: str, other: str) -> None:
            try:
                made.change(job, word=text)
            except AcaiError:
                reject()
            assert made.things("job", f"word = {queries.written_value(text)}") == [str(job)]
            with suppress(BadQuery):
                found = made.things("job", f"word = {queries.written_value(other)}")
                assert bool(found) == (text == other)

        check()


def patterns() -> st.SearchStrategy[str]:
    """Expressions of the subset."""
    atoms = ["a", "B", ".", "[a-c]", "[^a]", r"[\w-]", r"\d", r"\W", r"\S", "é", "[é-ü😀]", r"\.", "[]^]", r"\n", "0"]
    atom = st.sampled_from(atoms)
    repeated = st.tuples(atom, st.sampled_from(["", "*", "+", "?", "{2}", "{0,2}", "{1,}", "*?"])).map("".join)
    sequence = st.lists(repeated, max_size=3).map("".join)
    group = st.lists(sequence, min_size=1, max_size=3).map(lambda found: f"({'|'.join(found)})")
    whole = st.tuples(st.sampled_from(["", "^"]), sequence, st.one_of(st.just(""), group), st.sampled_from(["", "$"]))
    return st.tuples(st.sampled_from(["", "(?i)"]), whole.map("".join)).map("".join) | st.sampled_from(PATTERNS)
