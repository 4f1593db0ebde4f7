"""What is told of a job while it goes on: its log's length, what it uses, how far a transfer is."""

from __future__ import annotations

import json
from typing import Any

import pytest

from acai_jupyter.agent.telling import Telling, Transfer
from acai_server.engine.progress import MAX_SAMPLES, TOLD_SAMPLES, Progressing
from tests.unit.test_monitor import Watch, stage

SAMPLE = [1.0, 0.9, 1024, 0, 0.0]


class Clock:
    def __init__(self) -> None:
        self.seconds = 0.0

    def __call__(self) -> float:
        return self.seconds


def test_what_a_live_job_uses_and_prints_is_told_and_written_down_now_and_then() -> None:
    with stage() as user:
        watch = Watch(user)
        number = user.submit()
        user.schedule()
        user.say(number, state="running")
        watch.look()
        user.say(number, b"hello\n", sample=SAMPLE)
        user.say(number, transfer=["running", 5, 10])
        watch.look()
        assert "progressed" not in user.events(number)
        watch.seconds += 1
        watch.look()
        watch.look()
        assert user.events(number).count("progressed") == 1
        attempt = user.job(number).attempts[0]
        assert attempt.usage is not None
        assert attempt.usage.samples == [tuple(SAMPLE)]
        assert attempt.transfer is not None
        assert (attempt.transfer.done_bytes, attempt.transfer.total_bytes) == (5, 10)
        assert attempt.log_bytes == 6


def test_what_a_cell_displays_is_known_while_it_runs_and_stays_when_there_is_no_record() -> None:
    with stage() as user:
        watch = Watch(user)
        number = user.submit()
        user.schedule()
        user.say(number, b"before ", state="running")
        user.say(number, displays=[2, 100])
        user.say(number, displays=["two", None])  # what is odd changes nothing
        watch.look()
        assert user.engine.log(user.project, number, 0).displays == 2
        watch.seconds += 1
        watch.look()
        assert user.job(number).has_displays
        user.end(number, 1)
        user.settle()
        assert user.job(number).has_displays
        assert user.engine.log(user.project, number, 0).displays == 0  # nothing more will come


def test_what_an_agent_had_told_stays_when_it_leaves_no_record() -> None:
    with stage() as user:
        watch = Watch(user)
        number = user.submit()
        user.schedule()
        user.say(number, state="running", sample=SAMPLE)
        watch.look()
        watch.seconds += 2
        watch.look()
        user.end(number, 1)
        user.settle()
        usage = user.job(number).attempts[0].usage
        assert usage is not None
        assert usage.samples == [tuple(SAMPLE)]


@pytest.mark.parametrize(
    "said",
    [
        {"sample": [1, 2]},
        {"sample": [float("nan"), 0, 0, 0, 0]},
        {"sample": [1, -1, 0, 0, 0]},
        {"sample": "x"},
        {"transfer": ["nowhere", 1, 2]},
        {"transfer": ["running", 1]},
        {"transfer": ["running", 1, 2**70]},
        {"state": "running"},
    ],
)
def test_what_is_no_word_of_progress_is_not_told(said: dict[str, Any]) -> None:
    progress = Progressing(0.0)
    progress.hear(said)
    assert not progress.is_due(0, 100.0)


def test_the_longer_a_job_runs_the_rarer_it_is_told_of_and_what_is_kept_stays_small() -> None:
    progress = Progressing(0.0)
    assert not progress.is_due(10, 0.9)
    assert progress.is_due(10, 1.0)
    for second in range(2000):
        progress.hear({"sample": [second, 0, 0, 0, 0]})
    assert len(progress._samples) < MAX_SAMPLES
    assert TOLD_SAMPLES < MAX_SAMPLES


def test_a_transfer_is_told_each_second_and_one_that_is_over_sooner_is_not(tmp_path: Any) -> None:
    clock, told = Clock(), list[tuple[int, int]]()
    transfer = Transfer(lambda done, total: told.append((done, total)), clock)
    transfer.expect(100)
    transfer.advance(10)
    assert told == []
    for _ in range(4):
        clock.seconds += 0.5
        transfer.advance(10)
    transfer.advance(-20)
    clock.seconds += 1
    transfer.advance(1)
    assert told == [(30, 100), (50, 100), (31, 100)]
    with (tmp_path / "out").open("wb") as out:
        telling = Telling("key", clock, out.fileno())
        telling.sample((1.0, 0.5, 10, 0, 0.0))
        of_upload = telling.transfer("uploading")
        of_upload.expect(7)
        clock.seconds += 1
        of_upload.advance(7)
    lines = [line.split(b" ", 2) for line in (tmp_path / "out").read_bytes().splitlines()]
    assert [json.loads(line[2]) for line in lines] == [
        {"sample": [1.0, 0.5, 10, 0, 0.0]},
        {"transfer": ["uploading", 7, 7]},
    ]
