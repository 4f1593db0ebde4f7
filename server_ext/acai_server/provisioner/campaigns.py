"""What a profiling does next, from what its runs have come to. Pure: runs, money and time come in, decisions go out."""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np

from acai_jupyter.contract.jobs import MIB
from acai_jupyter.contract.profilings import Design
from acai_jupyter.contract.states import END_STATES, JobState
from acai_server.provisioner import designs
from acai_server.provisioner.observations import Observation, value_of
from acai_server.provisioner.sentences import PARAMETER

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from acai_jupyter.contract.ids import JobNumber
    from acai_jupyter.contract.profiles import ParameterValue
    from acai_jupyter.contract.projects import Machine
    from acai_server.provisioner.observations import Array, Value

ENOUGH = 0.95
"""A full design is over when so many of its runs are in."""
GIVEN_UP = 3
"""When the first so many runs have failed, all would."""
LEAST_RUNS = 4
"""Fewer teach nothing."""
TRIES = 2
"""So often a run is made whose share of the machine was not held."""
ENDING_SECONDS = 12.0
"""So long a program may go on when its time is over, which is billed too."""
LEAST_SECONDS = 1.0
"""A run that may take less than this is not begun."""
HELD = "CPU at most"


@dataclass(frozen=True)
class Candidate:
    """A run that may be made."""

    parameters: Mapping[str, ParameterValue]
    vcpu: float
    memory_bytes: int
    input_bytes: int | None = None
    """Of how much input, where it can be some of it or all."""
    is_sample: bool = False

    @property
    def values(self) -> dict[str, Value]:
        """What a model sees of it."""
        given = {f"{PARAMETER}{name}": value_of(one) for name, one in self.parameters.items()}
        inputs = {} if self.input_bytes is None else {"input_mb": self.input_bytes / MIB}
        return {**given, "vcpu": self.vcpu, "memory_gib": self.memory_bytes / MIB / 1024, **inputs}


@dataclass(frozen=True)
class Try:
    """A run of a candidate that was begun. `spent_usd` is what it has cost until now, `most_usd` what it can cost."""

    candidate: int
    job: JobNumber
    state: JobState
    spent_usd: float = 0.0
    most_usd: float = 0.0
    held: bool = False
    """Whether its share of CPU was enforced."""
    ran_out_of_memory: bool = False

    @property
    def is_over(self) -> bool:
        """Whether nothing more comes of it."""
        return self.state in END_STATES


@dataclass(frozen=True)
class Start:
    """Begin a run, which may take so long."""

    candidate: int
    limit_seconds: float | None


@dataclass(frozen=True)
class Move:
    """What to do now: begin runs, or end all that goes on. With neither, wait."""

    starts: tuple[Start, ...] = ()
    sentence: str = ""
    """Said when it is over."""
    is_over: bool = False
    has_failed: bool = False
    culprit: JobNumber | None = None
    """The job whose log tells why all have failed."""


@dataclass(frozen=True)
class Campaign:
    """One profiling: what can be run, at which price, where, and within which bounds."""

    design: Design
    candidates: Sequence[Candidate]
    usd_per_second: Array
    machine: Machine
    max_usd: float | None = None
    max_seconds: float | None = None

    def move(self, tries: Sequence[Try], known: Sequence[Observation], elapsed_seconds: float) -> Move:
        """Say what to do, after so long; what is known is in the order of its ends."""
        bound = self._reached(tries, elapsed_seconds)
        if bound:
            return self._over(tries, f"it was ended as {bound}")
        failed = [one for one in tries if one.is_over and one.state is not JobState.FINISHED]
        if len(failed) >= GIVEN_UP and len(failed) == len(tries):
            told = f"the first {len(failed)} runs have all failed"
            return Move(sentence=told, is_over=True, has_failed=True, culprit=failed[-1].job)
        if self.design is Design.FULL:
            return self._full(tries, elapsed_seconds)
        return self._adaptive(tries, known, elapsed_seconds)

    def at_once(self) -> int:
        """Say how many of the smallest the machine gives their full share at the same time."""
        smallest = min(self.candidates, key=lambda one: (one.vcpu, one.memory_bytes))
        rooms = self.machine.cpus // smallest.vcpu, self.machine.memory_bytes // smallest.memory_bytes
        return max(1, 1 if self.design is Design.ADAPTIVE else min(len(self.candidates), *map(int, rooms)))

    def _full(self, tries: Sequence[Try], elapsed: float) -> Move:
        done, count = self._done(tries), len(self.candidates)
        if len(done) >= math.ceil(ENOUGH * count):
            left = len([one for one in tries if not one.is_over])
            ended = f"; the {left} that still went on {'was' if left == 1 else 'were'} ended" if left else ""
            return self._over(tries, f"{len(done)} of {count} runs are in{ended}")
        live = [one for one in tries if not one.is_over]
        begun = {one.candidate for one in tries if not self._is_again(one, tries)}
        left_over = [place for place in range(count) if place not in begun and place not in self._hopeless(tries)]
        if not live and not left_over:
            return self._over(tries, f"{len(done)} of {count} runs are in; the others have failed")
        starts: list[Start] = []
        room = self._room(live)
        for place in left_over:
            one = self.candidates[place]
            if not (one.vcpu <= room[0] + 1e-9 and one.memory_bytes <= room[1]):
                continue
            room = room[0] - one.vcpu, room[1] - one.memory_bytes
            starts.append(Start(place, None))
            if not tries:  # what it is given is looked up by the first, and the others get the same
                break
        return self._bounded(starts, tries, elapsed)

    def _adaptive(self, tries: Sequence[Try], known: Sequence[Observation], elapsed: float) -> Move:
        if any(not one.is_over for one in tries):
            return Move()
        lost = self._hopeless(tries) | {one.candidate for one in tries if one.state is not JobState.FINISHED}
        usable = [place for place in range(len(self.candidates)) if place not in lost]
        made = len(tries)
        if not usable:
            return self._over(tries, f"all {made} runs that were made have failed")
        left = [place for place in usable if place not in self._done(tries)]
        values = [self._varied(self.candidates[place]) for place in left]
        interests = [self._varied(one) for one in self.candidates if not one.is_sample]
        choice, runs = designs.Choice(values, interests, self._thrift), self._seen(known)
        said = f"{made} of {len(self.candidates)} possible runs were made"
        verdict = choice.verdict(runs)
        if verdict:
            return self._over(tries, f"{said}; {verdict}", known=runs)
        place = choice.next(runs, self.usd_per_second[left])
        if place is None:
            return self._over(tries, said, known=runs)
        return self._bounded([Start(left[place], None)], tries, elapsed, known=runs)

    def _bounded(
        self, starts: Sequence[Start], tries: Sequence[Try], elapsed: float, known: Sequence[Observation] = ()
    ) -> Move:
        """Let runs take only as long as the bounds allow; without room for any, it is over."""
        limited: list[Start] = []
        left_usd = math.inf if self.max_usd is None else self.max_usd - sum(self._at_most(one) for one in tries)
        left_seconds = math.inf if self.max_seconds is None else self.max_seconds - elapsed
        for number, start in enumerate(starts):
            share = left_usd / (len(starts) - number)
            by_cost = share / self.usd_per_second[start.candidate] if self.usd_per_second[start.candidate] else math.inf
            limit = min(by_cost, left_seconds) - ENDING_SECONDS
            if limit < LEAST_SECONDS:
                continue
            limited.append(Start(start.candidate, None if math.isinf(limit) else float(limit)))
            left_usd = left_usd - share if math.isfinite(share) else left_usd
        if starts and not limited and all(one.is_over for one in tries):
            bound = "--max-cost" if left_seconds - ENDING_SECONDS >= LEAST_SECONDS else "--max-time"
            return self._over(tries, f"it was ended as {bound} leaves no room for a further run", known=known)
        return Move(tuple(limited))

    def _at_most(self, one: Try) -> float:
        return one.spent_usd if one.is_over else max(one.spent_usd, one.most_usd)

    def _reached(self, tries: Sequence[Try], elapsed: float) -> str:
        spent = sum(one.spent_usd for one in tries)
        if self.max_usd is not None and spent >= self.max_usd:
            return "--max-cost was reached"
        if self.max_seconds is not None and elapsed >= self.max_seconds:
            return "--max-time was reached"
        return ""

    def _over(self, tries: Sequence[Try], sentence: str, known: Sequence[Observation] = ()) -> Move:
        whole = sum(one.state is JobState.FINISHED for one in tries)
        whole = max(whole, sum(not one.is_bound for one in known))
        culprit = next((one.job for one in reversed(tries) if one.state is JobState.FAILED), None)
        if whole < LEAST_RUNS:
            few = f"{sentence}; {whole} finished, and {LEAST_RUNS} are the least to learn from"
            return Move(sentence=few, is_over=True, has_failed=True, culprit=culprit)
        return Move(sentence=sentence, is_over=True)

    def _done(self, tries: Sequence[Try]) -> set[int]:
        return {one.candidate for one in tries if one.state is JobState.FINISHED and not self._is_again(one, tries)}

    def _is_again(self, one: Try, tries: Sequence[Try]) -> bool:
        """Whether a run is to be made again: its share was not held, though others' were, and that only once."""
        if one.held or one.state is not JobState.FINISHED or not any(other.held for other in tries):
            return False
        return sum(other.candidate == one.candidate for other in tries) < TRIES

    def _hopeless(self, tries: Sequence[Try]) -> set[int]:
        """Candidates with no more memory than was too little for another with the same values."""
        found: set[int] = set()
        for one in tries:
            if one.ran_out_of_memory and one.is_over and one.state is not JobState.FINISHED:
                was = self.candidates[one.candidate]
                found |= {
                    place
                    for place, other in enumerate(self.candidates)
                    if other.parameters == was.parameters
                    and other.memory_bytes <= was.memory_bytes
                    and (was.is_sample or not other.is_sample)
                }
        return found

    def _room(self, live: Sequence[Try]) -> tuple[float, int]:
        held = [self.candidates[one.candidate] for one in live]
        cpus = self.machine.cpus - sum(one.vcpu for one in held)
        return cpus, self.machine.memory_bytes - sum(one.memory_bytes for one in held)

    @property
    def _thrift(self) -> float:
        """A sample is there to spare money: then what is learned is weighed by the dollar."""
        return 1.0 if any(one.is_sample for one in self.candidates) else designs.THRIFT

    @cached_property
    def _keys(self) -> list[str]:
        """What the candidates differ in."""
        all_values = [one.values for one in self.candidates]
        return [key for key in all_values[0] if len({str(one[key]) for one in all_values}) > 1] or ["vcpu"]

    def _varied(self, one: Candidate) -> dict[str, Value]:
        return {key: one.values[key] for key in self._keys}

    def _seen(self, known: Sequence[Observation]) -> list[Observation]:
        """Earlier runs as far as they are like the candidates: other values are further knowledge, other names none."""
        fixed = {key: value for key, value in self.candidates[0].values.items() if key not in self._keys}
        return [
            Observation({key: run.values[key] for key in self._keys}, run.seconds, run.weight, run.is_bound)
            for run in known
            if all(key in run.values for key in self._keys)
            and all(run.values.get(key) == value for key, value in fixed.items() if key.startswith(PARAMETER))
        ]


def rates(candidates: Sequence[Candidate], usd_per_hour: Sequence[float]) -> Array:
    """Return what each costs by the second."""
    assert len(candidates) == len(usd_per_hour)
    return np.array(usd_per_hour) / 3600
