"""What a profiling does next: both designs, their bounds, and what they make of runs that went wrong."""

from __future__ import annotations

import math
from dataclasses import replace
from typing import Any

import pytest

from acai_jupyter.contract.ids import JobNumber
from acai_jupyter.contract.jobs import MIB
from acai_jupyter.contract.profilings import Design
from acai_jupyter.contract.projects import Machine
from acai_jupyter.contract.states import JobState
from acai_server.provisioner import models
from acai_server.provisioner.campaigns import ENDING_SECONDS, Campaign, Candidate, Move, Try, rates
from acai_server.provisioner.observations import Observation

CPUS, MEMORIES, EPOCHS = (0.5, 1.0, 2.0), (512 * MIB, 1024 * MIB), (1, 2, 4, 8)
USD_PER_CPU_SECOND = 0.001
INPUT_BYTES = 1000 * MIB
MACHINE = Machine(cpus=2, memory_bytes=4096 * MIB)


def taken(one: Candidate) -> float:
    share = 1.0 if one.input_bytes is None else one.input_bytes / INPUT_BYTES
    return 2 + share * int(one.parameters["epoch"]) * (1 + 9 / one.vcpu)


def campaign(design: Design, **known: Any) -> Campaign:
    kinds = known.pop("kinds", [(None, False)])
    shares = [(cpu, memory) for cpu in CPUS for memory in MEMORIES]
    candidates = [Candidate({"epoch": epoch}, *share, *kind) for epoch in EPOCHS for share in shares for kind in kinds]
    hourly = [3600 * USD_PER_CPU_SECOND * one.vcpu for one in candidates]
    return Campaign(design, candidates, rates(candidates, hourly), MACHINE, **known)


class Played:
    """A campaign whose runs take what they take; `lost` are candidates whose runs fail."""

    def __init__(self, of: Campaign, lost: frozenset[int] = frozenset()) -> None:
        self.of = of
        self.lost = lost
        self.tries: list[Try] = []
        self.seconds = 0.0
        self.most_at_once = 0.0
        self.last = Move()

    def run(self) -> Played:
        """Let each run end before the next move, and the longest decide how time goes by."""
        while not self.last.is_over:
            self.last = self.of.move(self.tries, self.known(), self.seconds)
            assert all(start.limit_seconds is None or start.limit_seconds >= 1 for start in self.last.starts)
            started = [self.of.candidates[one.candidate] for one in self.last.starts]
            self.most_at_once = max(self.most_at_once, sum(one.vcpu for one in started))
            assert started or self.last.is_over
            self.tries += [self._ended(start.candidate, start.limit_seconds) for start in self.last.starts]
            self.seconds += max((taken(one) for one in started), default=0.0)
        return self

    @property
    def spent(self) -> float:
        return sum(one.spent_usd for one in self.tries)

    def _ended(self, place: int, limit: float | None) -> Try:
        one = self.of.candidates[place]
        seconds = min(taken(one), math.inf if limit is None else limit + ENDING_SECONDS)
        state = JobState.FAILED if place in self.lost or seconds < taken(one) else JobState.FINISHED
        number = JobNumber(len(self.tries) + 1)
        return Try(place, number, state, seconds * float(self.of.usd_per_second[place]), held=True)

    def known(self) -> list[Observation]:
        done = [self.of.candidates[one.candidate] for one in self.tries if one.state is JobState.FINISHED]
        return [Observation(one.values, taken(one)) for one in done]


def test_a_full_design_makes_nineteen_in_twenty_runs_and_never_more_at_once_than_there_is_room_for() -> None:
    played = Played(campaign(Design.FULL)).run()
    assert len({one.candidate for one in played.tries}) == len(played.tries) >= 23
    assert played.most_at_once <= MACHINE.cpus
    assert "of 24 runs are in" in played.last.sentence


def test_stragglers_of_a_full_design_are_ended() -> None:
    of = campaign(Design.FULL)
    done = [Try(place, JobNumber(place + 1), JobState.FINISHED) for place in range(23)]
    move = of.move([*done, Try(23, JobNumber(24), JobState.RUNNING)], [], 10.0)
    assert (move.is_over, move.has_failed) == (True, False)
    assert move.sentence == "23 of 24 runs are in; the 1 that still went on was ended"
    assert not of.move(done[:22], [], 10.0).is_over


def test_an_adaptive_design_makes_fewer_runs_for_less() -> None:
    full, adaptive = Played(campaign(Design.FULL)).run(), Played(campaign(Design.ADAPTIVE)).run()
    assert len(adaptive.tries) <= len(full.tries) / 2
    assert adaptive.spent < full.spent / 2
    assert "narrow enough" in adaptive.last.sentence


def test_an_adaptive_design_makes_one_run_at_a_time() -> None:
    of = campaign(Design.ADAPTIVE)
    assert len(of.move([], [], 0.0).starts) == 1
    assert of.move([Try(0, JobNumber(1), JobState.RUNNING)], [], 1.0) == Move()


@pytest.mark.parametrize("design", Design)
@pytest.mark.parametrize("most", [0.1, 0.5, 2.0])
def test_no_more_is_spent_than_is_allowed(design: Design, most: float) -> None:
    played = Played(campaign(design, max_usd=most)).run()
    assert played.spent <= most + 1e-9
    bounded = Played(campaign(design, max_seconds=300.0)).run()
    assert bounded.seconds <= 300.0 + max(taken(one) for one in bounded.of.candidates)


def test_a_bound_that_is_reached_while_runs_go_on_ends_them() -> None:
    of = campaign(Design.FULL, max_usd=0.5)
    move = of.move([Try(0, JobNumber(1), JobState.RUNNING, spent_usd=0.5)], [], 1.0)
    assert (move.is_over, move.has_failed) == (True, True)
    assert move.sentence.startswith("it was ended as --max-cost was reached; 0 finished")


@pytest.mark.parametrize("design", Design)
def test_when_the_first_runs_all_fail_no_more_are_made(design: Design) -> None:
    played = Played(campaign(design), lost=frozenset(range(24))).run()
    assert len(played.tries) <= 6
    assert (played.last.has_failed, played.last.culprit) == (True, played.tries[-1].job)


def test_what_failed_is_left_out_and_the_others_are_learned_from() -> None:
    played = Played(campaign(Design.FULL), lost=frozenset(range(20, 24))).run()
    assert (len(played.tries), played.last.has_failed) == (24, False)
    assert played.last.sentence == "20 of 24 runs are in; the others have failed"


def test_less_memory_than_was_too_little_is_not_tried() -> None:
    of = campaign(Design.FULL)
    large = next(place for place, one in enumerate(of.candidates) if one.memory_bytes == 1024 * MIB)
    lost = Try(large, JobNumber(1), JobState.FAILED, ran_out_of_memory=True)
    good = Try(23, JobNumber(2), JobState.FINISHED)
    started = {start.candidate for start in of.move([lost, good], [], 1.0).starts}
    assert started
    assert all(of.candidates[place].parameters != of.candidates[large].parameters for place in started)


def test_a_run_whose_share_was_not_held_is_made_once_more() -> None:
    of = campaign(Design.FULL)
    tries = [Try(place, JobNumber(place + 1), JobState.FINISHED, held=place > 0) for place in range(24)]
    assert of.move(tries, [], 1.0).is_over  # 23 of 24 were held
    three = [replace(one, held=one.candidate > 2) for one in tries]
    assert {start.candidate for start in of.move(three, [], 1.0).starts} == {0, 1, 2}
    again = [*three, *(Try(place, JobNumber(30 + place), JobState.FINISHED) for place in range(3))]
    assert of.move(again, [], 1.0).is_over
    nowhere = [replace(one, held=False) for one in tries]  # a machine that holds nothing is not asked again
    assert of.move(nowhere, [], 1.0).is_over


def test_what_earlier_runs_have_taught_is_not_run_again() -> None:
    of = campaign(Design.ADAPTIVE)
    known = [Observation(one.values, taken(one)) for one in of.candidates]
    move = of.move([], known, 0.0)
    assert (move.is_over, move.has_failed) == (True, False)
    assert move.sentence.startswith("0 of 24 possible runs were made")


SAMPLED: list[tuple[int, bool]] = [(INPUT_BYTES // 20, True), (INPUT_BYTES, False)]


def test_runs_on_a_sample_come_first_and_it_ends_when_the_whole_input_is_known() -> None:
    whole, sampled = (Played(campaign(Design.ADAPTIVE, kinds=kinds)).run() for kinds in (SAMPLED[1:], SAMPLED))
    made = [sampled.of.candidates[one.candidate] for one in sampled.tries]
    assert made[0].is_sample
    assert not all(one.is_sample for one in made)
    assert sampled.spent < 0.7 * whole.spent
    assert "narrow enough" in sampled.last.sentence
    model = models.fit(sampled.known())
    assert model is not None
    asked = [one for one in sampled.of.candidates if not one.is_sample]
    said = model.predict([one.values for one in asked]).seconds
    assert said == pytest.approx([taken(one) for one in asked], rel=0.25)


def test_what_a_sample_has_no_room_for_the_whole_has_none_for() -> None:
    of = campaign(Design.ADAPTIVE, kinds=SAMPLED)
    sample = next(place for place, one in enumerate(of.candidates) if one.memory_bytes == 1024 * MIB and one.is_sample)
    lost = Try(sample, JobNumber(1), JobState.FAILED, ran_out_of_memory=True)
    parameters = of.candidates[sample].parameters
    assert all(of.candidates[place].parameters == parameters for place in of._hopeless([lost]))
    assert {of.candidates[place].is_sample for place in of._hopeless([lost])} == {True, False}
    on_all = replace(lost, candidate=sample + 1)
    assert {of.candidates[place].is_sample for place in of._hopeless([on_all])} == {False}
