"""What is tried again, how often, and after how long."""

from __future__ import annotations

import pytest

from acai_jupyter.transfer.errors import (
    Changed,
    DiskFull,
    Refused,
    Stopped,
    TransferError,
    Unreachable,
    WrongBytes,
)
from acai_jupyter.transfer.retrying import Retrying, may_be_retried


def refused(status: int) -> Refused:
    error = Refused("no")
    error.status = status
    return error


@pytest.mark.parametrize("error", [Unreachable("x"), WrongBytes("x"), *map(refused, (408, 429, 500, 502, 503, 504))])
def test_what_may_pass_is_tried_again(error: TransferError) -> None:
    assert may_be_retried(error)


@pytest.mark.parametrize(
    "error",
    [TransferError("x"), Changed("x"), DiskFull("x"), Stopped("x"), *map(refused, (301, 400, 403, 404, 416, 501, 507))],
)
def test_what_stays_as_it_is_ends_at_once(error: TransferError) -> None:
    slept: list[float] = []
    with pytest.raises(type(error)):
        Retrying(sleep=slept.append).call(lambda: throw(error))
    assert (may_be_retried(error), slept) == (False, [])


def throw(error: TransferError) -> None:
    raise error


def test_pauses_double_up_to_the_longest() -> None:
    slept: list[float] = []
    retrying = Retrying(tries=6, first_seconds=1, longest_seconds=4, sleep=slept.append, chance=lambda: 1.0)
    with pytest.raises(Unreachable):
        retrying.call(lambda: throw(Unreachable("x")))
    assert slept == [1, 2, 4, 4, 4]


def test_chance_takes_away_half_of_a_pause_at_most() -> None:
    assert Retrying(first_seconds=8, chance=lambda: 0.0).pause(1) == 4


def test_what_succeeds_in_the_end_is_returned() -> None:
    outcomes: list[TransferError | str] = [Unreachable("x"), WrongBytes("y"), "done"]

    def work() -> str:
        outcome = outcomes.pop(0)
        if isinstance(outcome, TransferError):
            raise outcome
        return outcome

    assert Retrying(tries=3, sleep=lambda _: None).call(work) == "done"


def test_progress_counts_anew() -> None:
    attempts = Retrying(tries=2, sleep=lambda _: None).attempts()
    for _ in range(5):
        attempts.failed(Unreachable("x"))
        attempts.progressed()
    attempts.failed(Unreachable("x"))
    with pytest.raises(Unreachable):
        attempts.failed(Unreachable("x"))


def test_an_error_about_a_file_keeps_what_the_store_said() -> None:
    error = refused(503)
    error.answer = b"slow down"
    named = error.about("a/b.txt")
    assert (type(named), named.status, named.answer) == (Refused, 503, b"slow down")
    assert str(named) == "'a/b.txt' could not be transferred: no"
