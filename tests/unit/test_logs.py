"""A job's log: the same bytes at the same places while it is printed and when it is kept."""

from __future__ import annotations

import io
import os
from contextlib import closing
from typing import TYPE_CHECKING, Any

import pytest

from acai_jupyter.contract.loglines import marked
from acai_jupyter.contract.queries import LogLines
from acai_server.db import schema
from acai_server.db.database import Database
from acai_server.engine.kept_logs import MEMBER_BYTES, packed
from acai_server.engine.logs import PAGE_BYTES, Logs
from acai_server.testing.lakes import engine_of
from acai_server.testing.stages import HandClock, JobUser

if TYPE_CHECKING:
    from collections.abc import Iterator

    from acai_jupyter.contract.jobs import FoundLines

ODD = "é\r50%\r100%\n\x1b[31mred\x1b[0m\n".encode() + b"\xff\xfe\0"


@pytest.fixture
def user() -> Iterator[JobUser]:
    time = HandClock()
    with closing(Database("sqlite://", time.clock)) as database:
        schema.migrate(database)
        yield JobUser(database, time)


def put(user: JobUser, number: int, what: str, body: bytes) -> None:
    key = user.key(number, len(user.job(number).attempts), what)
    user.objects.put(key, io.BytesIO(body), size_bytes=len(body))


def sent(user: JobUser, number: int, pieces: list[bytes]) -> list[dict[str, Any]]:
    """Keep pieces of a log as an agent does; returns what its record says of them."""
    told = []
    for place, piece in enumerate(pieces):
        parts = [piece[at : at + MEMBER_BYTES] for at in range(0, len(piece), MEMBER_BYTES)]
        members = [packed(part) for part in parts]
        put(user, number, f"log/{place}", b"".join(members))
        sizes = [(len(part), len(member)) for part, member in zip(parts, members, strict=True)]
        told.append({"size_bytes": len(piece), "stored_bytes": sum(map(len, members)), "members": sizes})
    return told


def started(user: JobUser, **asked: Any) -> int:
    number = user.submit(**asked)
    user.schedule()
    return number


def ended(user: JobUser, number: int, pieces: list[bytes], **told: Any) -> None:
    user.finish(number, log=sent(user, number, pieces), **told)
    user.look()


def read(user: JobUser, number: int, attempt: int | None = None) -> bytes:
    return b"".join(user.engine.log_stream(user.project, number, attempt))


def stretch(user: JobUser, number: int, offset: int) -> str:
    return user.engine.log(user.project, number, offset).text


def lines_of(user: JobUser, number: int, **asked: Any) -> FoundLines:
    return user.engine.log_lines(user.project, number, LogLines(**asked))


def test_before_it_starts_there_is_nothing_and_more_will_come(user: JobUser) -> None:
    page = user.engine.log(user.project, user.submit(), 0)
    assert (page.text, page.next_offset, page.ended) == ("", 0, False)


def test_what_the_agent_says_is_no_part_of_it_and_moves_nothing(user: JobUser) -> None:
    number = started(user)
    user.say(number, state="downloading")
    user.say(number, b"one\ntw")
    user.say(number, state="running")
    user.say(number, b"o\n")
    assert stretch(user, number, 0) == "one\ntwo\n"
    assert [stretch(user, number, at) for at in range(9)] == ["one\ntwo\n"[at:] for at in range(9)]
    assert read(user, number) == b"one\ntwo\n"


def test_a_line_marked_with_another_key_is_text(user: JobUser) -> None:
    number = started(user)
    line = marked("0" * 32, {"state": "finished"})
    user.say(number, line)
    assert read(user, number) == line


def test_live_and_kept_it_is_the_same_at_every_byte(user: JobUser) -> None:
    number = started(user)
    whole = ODD * 3
    user.say(number, state="running")
    user.say(number, whole[:7])
    user.say(number, state="running")
    user.say(number, whole[7:])
    live = [stretch(user, number, at) for at in range(len(whole) - 4)]
    assert read(user, number) == whole
    ended(user, number, [whole[:20], whole[20:]])
    assert [stretch(user, number, at) for at in range(len(whole) - 4)] == live
    assert read(user, number) == whole


def test_a_page_that_ends_inside_of_a_character_leaves_it_to_the_next(user: JobUser) -> None:
    number = started(user)
    user.say(number, b"a" * (PAGE_BYTES - 1) + "é".encode())
    first = user.engine.log(user.project, number, 0)
    assert (first.text, first.next_offset) == ("a" * (PAGE_BYTES - 1), PAGE_BYTES - 1)
    assert user.engine.log(user.project, number, first.next_offset).text == "é"


class Ears:
    """A runner that remembers from where on it was read."""

    def __init__(self, user: JobUser) -> None:
        self._runner = user.runner
        self.asked: list[int] = []

    def printed(self, attempt: str, position: int, rank: int = 0) -> bytes:
        self.asked.append(position)
        return self._runner.printed(attempt, position, rank)[: 1024**2]


def test_what_was_read_of_a_live_log_is_not_read_again(user: JobUser) -> None:
    number = started(user)
    ears = Ears(user)
    logs = Logs(user.database, user.objects, ears)  # type: ignore[arg-type]
    user.say(number, b"x" * 5_000_000)
    offset = 0
    while piece := logs.page(user.project, number, offset).text:
        offset += len(piece)
    user.say(number, b"new")
    ears.asked.clear()
    assert logs.page(user.project, number, offset).text == "new"
    assert min(ears.asked) == 5_000_000
    ears.asked.clear()
    assert logs.page(user.project, number, 2_500_000).text.startswith("x")
    assert min(ears.asked) >= 1_000_000


def test_a_large_log_is_read_by_what_is_asked_for(user: JobUser) -> None:
    number = started(user)
    pieces = [os.urandom(MEMBER_BYTES) + os.urandom(10), os.urandom(100)]
    ended(user, number, pieces)
    whole = b"".join(pieces)
    assert read(user, number) == whole
    last = user.engine.log(user.project, number, MEMBER_BYTES + 5)
    assert (last.ended, last.next_offset) == (True, len(whole))
    assert user.engine.log(user.project, number, len(whole)).ended


def test_lines_have_the_same_numbers_live_and_kept(user: JobUser) -> None:
    number = started(user)
    assert lines_of(user, number).of == 0
    user.say(number, b"one\n[ACAI_TAG] job a:1\ntw")
    assert [(one.number, one.text) for one in lines_of(user, number).lines] == [(1, "one"), (2, "tw")]
    user.say(number, state="running")
    user.say(number, b"o\nValueError\n")
    live = [lines_of(user, number, first=2), lines_of(user, number, error=True), lines_of(user, number, text="TWO")]
    assert [[(one.number, one.text) for one in found.lines] for found in live] == [
        [(2, "two"), (3, "ValueError")],
        [(3, "ValueError")],
        [(2, "two")],
    ]
    ended(user, number, [b"one\n[ACAI_TAG] job a:1\ntw", b"o\nValueError\n"])
    assert live == [
        lines_of(user, number, first=2),
        lines_of(user, number, error=True),
        lines_of(user, number, text="TWO"),
    ]


def test_where_less_was_kept_than_was_seen_lines_are_those_that_were_kept(user: JobUser) -> None:
    number = started(user)
    user.say(number, b"one\ntwo\nthree\n")
    assert lines_of(user, number).of == 3
    ended(user, number, [b"only\nthis"])
    assert [one.text for one in lines_of(user, number).lines] == ["only", "this"]


def test_each_attempt_has_lines_of_its_own(user: JobUser) -> None:
    number = started(user, retry_failed=True)
    ended(user, number, [b"first\n"], exit_code=1)
    user.time.pass_by(60)
    user.schedule()
    user.say(number, b"second\nand on")
    assert [one.text for one in lines_of(user, number, attempt=1).lines] == ["first"]
    assert [one.text for one in lines_of(user, number).lines] == ["second", "and on"]


def test_attempts_have_logs_of_their_own(user: JobUser) -> None:
    number = started(user, retry_failed=True)
    ended(user, number, [b"first\n"], exit_code=1)
    user.time.pass_by(60)
    user.schedule()
    user.say(number, b"second\n")
    assert (read(user, number), read(user, number, 1)) == (b"second\n", b"first\n")
    assert user.engine.log(user.project, number, 0).attempt == 2
    assert user.engine.log(user.project, number, 0, 1).ended


def test_the_log_of_an_agent_that_was_killed_is_taken_from_the_runner(user: JobUser) -> None:
    number = started(user, retries=0)
    user.say(number, state="running")
    user.say(number, ODD + b"\x1eACAI half a mark")
    user.end(number)
    user.look()
    assert user.states(number) == ["crashed"]
    assert user.attempt(number) not in user.runner.words
    assert read(user, number) == ODD + b"\x1eACAI half a mark"
    assert user.job(number).attempts[0].log_bytes == len(ODD) + 17


def test_where_the_runner_has_nothing_the_pieces_that_were_sent_are_found(user: JobUser) -> None:
    number = started(user, retries=0)
    sent(user, number, [b"one" * MEMBER_BYTES, b"two"])
    user.end(number)
    user.look()
    assert read(user, number) == b"one" * MEMBER_BYTES + b"two"


@pytest.mark.parametrize(("printed", "kept"), [(b"one", b"onetwo"), (b"onetwothree", b"onetwothree")])
def test_of_what_was_printed_and_what_was_sent_the_longer_one_is_kept(
    user: JobUser, printed: bytes, kept: bytes
) -> None:
    number = started(user, retries=0)
    user.say(number, printed)
    sent(user, number, [b"one", b"two"])
    user.end(number)
    user.look()
    assert read(user, number) == kept


def test_a_log_that_was_not_sent_whole_is_taken_from_the_runner_too(user: JobUser) -> None:
    number = started(user)
    user.say(number, b"all of it")
    ended(user, number, [b"all"], log_is_whole=False)
    assert read(user, number) == b"all of it"


@pytest.mark.parametrize(
    "lie", [{"size_bytes": 4}, {"stored_bytes": 9}, {"members": [[3, 9]]}, {"members": [[1 << 40, 1]]}]
)
def test_pieces_that_are_not_as_they_were_told_are_not_believed(user: JobUser, lie: dict[str, Any]) -> None:
    number = started(user)
    user.say(number, b"real")
    told = sent(user, number, [b"one"])
    user.finish(number, log=[{**told[0], **lie}])
    user.look()
    assert (user.states(number), read(user, number)) == (["finished"], b"real")


def test_a_log_from_before_pieces_were_kept_is_read_as_it_is(user: JobUser) -> None:
    number = started(user)
    ended(user, number, [])
    with engine_of(user.database).begin() as connection:
        connection.exec_driver_sql("UPDATE attempt SET log = NULL")
    key = user.key(number, 1, "log")
    user.objects.put(key, io.BytesIO(ODD), size_bytes=len(ODD))
    assert read(user, number) == ODD
    assert stretch(user, number, 3) == ODD[3:].decode(errors="replace")
