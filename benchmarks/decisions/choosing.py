"""Which machine: the cheapest under a deadline, after six runs, beside what else one could do with six runs."""

from __future__ import annotations

from dataclasses import dataclass
from statistics import NormalDist
from typing import TYPE_CHECKING

import numpy as np

from acai_server.provisioner import models, optimiser
from acai_server.provisioner.experience import Experience
from acai_server.provisioner.observations import Observation, Space
from benchmarks.decisions import runs
from benchmarks.decisions.predicting import log_linear
from benchmarks.report import Row

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping

    from acai_server.provisioner.observations import Array
    from benchmarks.decisions.runs import Measured, Tasks

PROBES = 6
CONFIDENCE = 0.9
DEADLINES = (0.25, 0.5, 0.75)
"""Quantiles of the times of all machines."""
SOURCES = 12
"""So many earlier tasks are leant on, the newest."""
Models = dict[tuple[str, ...], models.RuntimeModel]


@dataclass(frozen=True)
class Question:
    """The machines of a task, and a deadline."""

    task: list[Measured]
    sources: Mapping[str, models.RuntimeModel]
    deadline: float
    seed: int

    @property
    def seconds(self) -> Array:
        return np.array([one.seconds for one in self.task])

    @property
    def rates(self) -> Array:
        return np.array([one.usd / one.seconds for one in self.task])

    def runs(self, which: list[int]) -> list[Observation]:
        return [self.task[place].run for place in which]


def rows() -> Iterator[Row]:
    for name, tasks, before in (
        ("tf_ec2", runs.tf_ec2_tasks(), _smaller),
        ("scout", runs.scout_tasks(), _others),
    ):
        yield from _of(name, tasks, before)


def _of(name: str, tasks: Tasks, before: Callable[[Models, tuple[str, ...]], Models]) -> Iterator[Row]:
    known = {key: models.fit([one.run for one in task]) for key, task in tasks.items()}
    fitted = {key: model for key, model in known.items() if model is not None}
    questions = []
    for number, (key, task) in enumerate(sorted(tasks.items())):
        sources = {" ".join(other): model for other, model in before(fitted, key).items()}
        times = [one.seconds for one in task]
        questions += [Question(task, sources, float(np.quantile(times, at)), number) for at in DEADLINES]
    told = {
        way.__name__.strip("_").replace("_", " "): _judged(questions, way)
        for way in (_ours, _search_alone, _log_linear, _random)
    }
    over, broken = told.pop("ours")
    others = "; ".join(f"{way} {one:.3g} %, {lost:.3g} %" for way, (one, lost) in told.items())
    yield Row(f"{name}, cost above the cheapest within the deadline, median", over, "%", 10.0, beside=others)
    yield Row(f"{name}, deadline broken", broken, "%", 10.0, beside=f"{len(questions)} questions on {len(tasks)} tasks")


def _judged(questions: list[Question], way: Callable[[Question], int]) -> tuple[float, float]:
    over, broken = [], []
    for question in questions:
        place = way(question)
        costs, seconds = question.seconds * question.rates, question.seconds
        over.append(costs[place] / costs[seconds <= question.deadline].min() - 1)
        broken.append(seconds[place] > question.deadline * (1 + 1e-9))
    kept = [one for one, lost in zip(over, broken, strict=True) if not lost]
    return 100 * float(np.median(kept)), 100 * float(np.mean(broken))


def _ours(question: Question) -> int:
    return _searched(question, question.sources)


def _search_alone(question: Question) -> int:
    """A Gaussian process with expected improvement that knows of no other task, as CherryPick's."""
    return _searched(question, {})


def _searched(question: Question, sources: Mapping[str, models.RuntimeModel]) -> int:
    values = [one.values for one in question.task]
    space = Space.of([Observation(one, 1.0) for one in values])
    seen = [int(np.argmin(question.rates))]
    while True:
        said = Experience(sources, question.runs(seen), space).predict(values, 2 * CONFIDENCE - 1)
        if len(seen) >= PROBES:
            break
        seen.append(_next(question, seen, np.log(said.seconds), np.log(said.high)))
    high = said.high.copy()
    high[seen] = question.seconds[seen]
    return _chosen(question, high)


def _next(question: Question, seen: list[int], middle: Array, high: Array) -> int:
    """The machine that promises most beside the best that was run; before there is one, to be fast enough."""
    normal = NormalDist()
    spread = np.maximum((high - middle) / normal.inv_cdf(CONFIDENCE), 1e-6)
    below = np.vectorize(normal.cdf)
    rates, costs = question.rates, question.seconds * question.rates
    good = [costs[place] for place in seen if question.seconds[place] <= question.deadline]
    if good:
        at = (np.log(np.minimum(min(good) / rates, question.deadline)) - middle) / spread
        promise = min(good) * below(at) - rates * np.exp(middle + spread**2 / 2) * below(at - spread)
    else:
        promise = below((np.log(question.deadline) - middle) / spread) / (rates * np.exp(middle))
    promise[seen] = -np.inf
    return int(np.argmax(promise))


def _log_linear(question: Question) -> int:
    """The original's form on six runs of any machines."""
    seen = list(np.random.default_rng(question.seed).permutation(len(question.task))[:PROBES])
    return _chosen(question, log_linear(question.runs(seen), [one.values for one in question.task]))


def _random(question: Question) -> int:
    """The best of six machines."""
    seen = list(np.random.default_rng(question.seed).permutation(len(question.task))[:PROBES])
    high = np.full(len(question.task), np.inf)
    high[seen] = question.seconds[seen]
    return _chosen(question, high)


def _chosen(question: Question, seconds: Array) -> int:
    found = optimiser.choose(seconds, seconds * question.rates, optimiser.Bounds(max_seconds=question.deadline))
    return found.nearest if found.chosen is None else found.chosen


def _smaller(fitted: Models, key: tuple[str, ...]) -> Models:
    """Tasks on no more data than this one's."""
    others = sorted(other for other in fitted if other != key and other[0] <= key[0])
    return {other: fitted[other] for other in others[-SOURCES:]}


def _others(fitted: Models, key: tuple[str, ...]) -> Models:
    return {other: model for other, model in fitted.items() if other != key}
