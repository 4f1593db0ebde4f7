"""What the runs of a template tell: their model, and what it says in billed seconds and dollars of runs to come."""

from __future__ import annotations

import math
import statistics
import threading
from collections import OrderedDict
from dataclasses import dataclass, replace
from functools import cached_property
from typing import TYPE_CHECKING, Any

import msgspec
import numpy as np

from acai_jupyter.contract.errors import BadRequest, ProfileNotFound
from acai_jupyter.contract.foreign import one_line
from acai_jupyter.contract.jobs import MIB, Resources
from acai_jupyter.contract.profiles import Prediction
from acai_server.db import sight
from acai_server.provisioner import models, versions
from acai_server.provisioner.experience import Experience
from acai_server.provisioner.observations import Number, Observation, Space, is_number, value_of
from acai_server.provisioner.outside import Outside
from acai_server.provisioner.sentences import LARGEST, PARAMETER, called, shown

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from acai_jupyter.contract.ids import JobNumber, ProjectId
    from acai_jupyter.contract.profiles import Configuration, LogLinear, ParameterValue
    from acai_server.db.runs import StoredRun
    from acai_server.db.work import Work
    from acai_server.provisioner.models import RuntimeModel
    from acai_server.provisioner.observations import Array, Value
    from acai_server.provisioner.prices import Prices

MOST_RUNS = 1000
"""So many of the last runs are learned from."""
LEAST_RUNS = 4
OF_OTHER_CODE = 0.5
"""How much a run of other code counts."""
FEW_RUNS = 10
"""So many runs may tell less by themselves than with the shape of another template."""
MOST_TEMPLATES = 100
MOST_LENDERS = 5
"""So many of the newest with the same parameters are looked at."""
SAME_SHAPE = 0.01
"""A template that says these runs no better than that they are all the same is nobody to learn from."""
KEPT_MODELS = 200
MEMORY_HEADROOM = 1.2
FARTHER = 1000
"""A run that would help is named so many times beyond what was run, and no farther."""
SHOWN = 6


@dataclass(frozen=True)
class Knowledge:
    """The model of a template, and the runs that it knows, the newest first."""

    template: str
    runs: list[StoredRun]
    model: RuntimeModel
    overhead_seconds: float
    """What is billed beside the program's own time: transfers."""
    prices: Prices
    lender: str = ""
    """The template whose experience this one leans on, as long as its own runs tell less; the model is the lender's."""
    lent: Experience | None = None
    leans_on: Knowledge | None = None
    """What the lender knew."""
    too_little_bytes: int = 0
    """So much memory was not enough for a run."""

    @property
    def newest(self) -> JobNumber:
        """The newest job that the model knows of."""
        return max(run.number for run in self.runs)

    @cached_property
    def written(self) -> bytes:
        """What it was made of."""
        return versions.written(self)

    @cached_property
    def version(self) -> str:
        """What it is called, by what it was made of."""
        return versions.name_of(self.written)

    @cached_property
    def usual(self) -> StoredRun:
        """The newest run that finished, if possible on the whole input."""
        return next((run for run in self.runs if run.is_whole and not run.is_sample), self.runs[0])

    @property
    def told_by(self) -> list[StoredRun]:
        """The runs that it is made of, those of its lender too."""
        return [*self.runs, *([] if self.leans_on is None else self.leans_on.told_by)]

    @property
    def whole(self) -> list[Observation]:
        """The runs that ended by themselves, as the model sees them."""
        return [_observation(run, self.runs[0].code, self.prices) for run in self.runs if run.is_whole]

    def log_linear(self) -> LogLinear | None:
        """Fit the original's form to its own runs, with features as people call them; None when they are too few."""
        from acai_server.provisioner.log_linear import fitted

        told = self.whole
        if len(told) < LEAST_RUNS:
            return None
        found = fitted(told)
        return msgspec.structs.replace(found, exponents={called(name): one for name, one in found.exponents.items()})

    def knows(self, parameters: Mapping[str, ParameterValue]) -> bool:
        """Whether the model can say anything of a run with these."""
        try:
            self.check(parameters)
        except BadRequest:
            return False
        return True

    @property
    def varied(self) -> bool:
        """Whether runs differed in anything."""
        return bool(self.model.space.numbers or self.model.space.words)

    @property
    def typical_error(self) -> float:
        """How far off it typically is on runs that were left out, as a factor's logarithm."""
        return self.model.scores.get(self.model.near_form, math.inf) if self.lent is None else self.lent.typical_error()

    @property
    def tells_of_machines(self) -> bool:
        """Whether runs were made on different ones."""
        return bool(self.model.space.fewer)

    def least_memory_bytes(self) -> int:
        """Return how much memory runs need, as far as was measured, with some room; more than what was too little."""
        peaks = [run.max_memory_bytes for run in self.runs if run.max_memory_bytes]
        measured = int(MEMORY_HEADROOM * float(np.quantile(peaks, 0.9))) if peaks else 0
        return max(measured, self.too_little_bytes + 1)

    @property
    def hints(self) -> list[str]:
        """The parameters in which runs differed, in the order in which the newest had them."""
        space = self.model.space
        names = [*(one.name for one in space.numbers), *(one.name for one in space.words)]
        varied = {name.removeprefix(PARAMETER) for name in names if name.startswith(PARAMETER)}
        return [name for name in self.usual.parameters if name in varied]

    def check(
        self, parameters: Mapping[str, ParameterValue], others: Mapping[str, ParameterValue] | None = None
    ) -> dict[str, ParameterValue]:
        """Refuse values that the runs say nothing of; return them with those that were always the same.

        What is not among them is looked for in `others`, before it is asked for.
        """
        known = {name.removeprefix(PARAMETER) for name in self._names() if name.startswith(PARAMETER)}
        unknown = next((name for name in parameters if name not in known), None)
        if unknown is not None:
            has = ", ".join(sorted(known)) or "no parameter"
            raise BadRequest(f"{self.template} has {has}; there is no {one_line(unknown)}.")
        constants = self.model.space.constants
        whole = {name.removeprefix(PARAMETER): value for name, value in constants.items() if name.startswith(PARAMETER)}
        last = self.runs[0].parameters
        whole = {name: last.get(name, value) for name, value in whole.items()}
        whole |= {name: value for name, value in (others or {}).items() if name in known} | dict(parameters)
        missing = next((name for name in sorted(known) if name not in whole), None)
        if missing is not None:
            raise BadRequest(f"{self.template} was run with {missing} {self._tried(missing)}; say which.")
        numbers = [one.name for one in self.model.space.numbers]
        numbers += [name for name, value in constants.items() if is_number(value)]
        for name in (one.removeprefix(PARAMETER) for one in numbers if one.startswith(PARAMETER)):
            if not is_number(whole[name]):
                raise BadRequest(f"{name} was run at {self._tried(name)}; you gave {_given(whole[name])}.")
        return whole

    def predict(
        self, configurations: Sequence[Configuration], coverage: float = models.COVERAGE, nodes: int = 1
    ) -> list[Prediction]:
        """Say what runs will take and cost, on so many machines each."""
        values = [self.values(one.parameters, one.resources) for one in configurations]
        said = self.model.predict(values, coverage) if self.lent is None else self.lent.predict(values, coverage)
        outside = Outside(self.model.space)
        times = [(one + self.overhead_seconds).tolist() for one in (said.seconds, said.low, said.high)]
        told = zip(configurations, values, *times, said.beyond.tolist(), said.is_vague.tolist(), strict=True)
        return [
            self._prediction(one.resources, nodes, taken, outside.of(each) if beyond > 0 else [], is_vague=is_vague)
            for one, each, *taken, beyond, is_vague in told
        ]

    def advice(self, configuration: Configuration) -> str:
        """Name the run that would help most to know a far one: half-way to it."""
        values = self.values(configuration.parameters, configuration.resources)
        steps = []
        for number in self.model.space.numbers:
            asked = values[number.name]
            if isinstance(asked, str) or number.low <= asked <= number.high:
                continue
            half = self._rounded(number.name, _half_way(asked, number))
            steps.append(f"{called(number.name)} {half:g}")
        if not steps:
            return "It is too uncertain to decide by; one more run like it would help most."
        return f"It is too uncertain to decide by; a run at {', '.join(steps)} would help most."

    def _rounded(self, name: str, value: float) -> float:
        """A value that can be run: a whole number where only such were."""
        given = [run.parameters.get(name.removeprefix(PARAMETER), 0.5) for run in self.runs]
        are_whole = all(isinstance(one, int) for one in given)
        return float(round(value)) if are_whole or abs(value) >= 10 else float(f"{value:.2g}")  # noqa: PLR2004 (digits that count)

    def values(self, parameters: Mapping[str, ParameterValue], share: Resources) -> dict[str, Value]:
        """Return a configuration as the model takes it; its inputs are those of the newest run that had all of them."""
        last = self.usual
        return _values(parameters, share, last, _kind(self.prices, share))

    def _prediction(
        self, share: Resources, nodes: int, taken: Sequence[float], outside: list[str], *, is_vague: bool
    ) -> Prediction:
        seconds, low, high = taken
        machine = share.vcpu, share.memory_bytes
        rate = nodes * self.prices.cost_usd(*machine, 1.0, gpus=share.gpus, gpu_type=share.gpu_type)
        return Prediction(share, seconds, low, high, rate * seconds, rate * low, rate * high, outside, is_vague)

    def _names(self) -> list[str]:
        space = self.model.space
        return [*(one.name for one in space.numbers), *(one.name for one in space.words), *space.constants]

    def _tried(self, name: str) -> str:
        tried = sorted({shown(run.parameters[name]) for run in self.runs if name in run.parameters}, key=_by_size)
        more = f" and {len(tried) - SHOWN} more" if len(tried) > SHOWN else ""
        return f"{', '.join(tried[:SHOWN])}{more}"


class Library:
    """The models of all templates: each is fitted when it is asked for and there are runs that it does not know."""

    def __init__(self, prices: Prices) -> None:
        self._prices = prices
        self._kept: OrderedDict[tuple[ProjectId, str, bool, tuple[int, ...]], tuple[Any, Knowledge | None]]
        self._kept = OrderedDict()
        self._lock = threading.Lock()

    def find(self, work: Work, project: ProjectId, template: str) -> Knowledge | None:
        """Return what is known of a template, if need be with the help of another's runs; None when that is nothing."""
        return self._found(work, project, template, may_borrow=True)

    def _found(self, work: Work, project: ProjectId, template: str, *, may_borrow: bool) -> Knowledge | None:
        newest: Any = work.runs.newest(project, template)
        if newest is None:
            return None
        unseen = sight.unseen()
        if unseen:  # a run, also of a lender, may have become restricted
            newest = newest, work.restricted.hidden_jobs(unseen)
        key = project, template, may_borrow, unseen
        with self._lock:
            kept = self._kept.get(key)
        if kept is None or kept[0] != newest:
            runs = work.runs.of(project, template, MOST_RUNS)
            known = learn(template, runs, self._prices)
            if may_borrow:
                known = self._better(work, project, template, runs, known)
            if known is not None:
                known = replace(known, too_little_bytes=work.runs.too_little_bytes(project, template))
            kept = newest, known
            with self._lock:
                self._kept[key] = kept
                self._kept.move_to_end(key)
                while len(self._kept) > KEPT_MODELS:
                    self._kept.popitem(last=False)
        return kept[1]

    def _better(
        self, work: Work, project: ProjectId, template: str, runs: Sequence[StoredRun], own: Knowledge | None
    ) -> Knowledge | None:
        """What a few runs tell by themselves, or as long as that is less, with the shape of the most similar other."""
        whole = [run for run in runs if run.is_whole and run.run_seconds > 0]
        if not 0 < len(whole) <= FEW_RUNS:
            return own
        names = set(whole[0].parameters)
        others = work.runs.with_parameters(project, names, LEAST_RUNS, MOST_TEMPLATES)
        near = [one for one in others if one != template][:MOST_LENDERS]
        known = [self._found(work, project, one, may_borrow=False) for one in near]
        lent = lend(template, runs, self._prices, [one for one in known if one is not None and one.varied])
        if lent is None or own is None:
            return lent or own
        return lent if own.varied and lent.typical_error < own.typical_error else own

    def get(self, work: Work, project: ProjectId, template: str) -> Knowledge:
        """Return what is known of a template, or say why that is nothing."""
        found = self.find(work, project, template)
        if found is not None:
            return found
        runs = len(work.runs.of(project, template, LEAST_RUNS))
        name = ascii(template[:80])[1:-1]
        if runs:
            few = f"{runs} run{'s' if runs > 1 else ''}"
            raise BadRequest(
                f"{name} has {few} to learn from, and {LEAST_RUNS} are the least; run it with other values."
            )
        raise ProfileNotFound(template=name)


def learn(template: str, runs: list[StoredRun], prices: Prices) -> Knowledge | None:
    """Fit a model to runs; None when they are too few."""
    usable = [run for run in runs if run.run_seconds > 0]
    whole = [run for run in usable if run.is_whole]
    if len(whole) < LEAST_RUNS:
        return None
    model = models.fit(observed(usable, prices))
    if model is None:
        return None
    return Knowledge(template, usable, model, _overhead(usable), prices)


def lend(template: str, runs: Sequence[StoredRun], prices: Prices, others: Sequence[Knowledge]) -> Knowledge | None:
    """Let a few runs lean on the most similar of others; None when there is none with the same features."""
    told = [one for one in observed(runs, prices) if not one.is_bound]
    usable = [one for one in others if _is_like(one, told)]
    if not told or not usable:
        return None
    own_logs = np.log([run.seconds for run in told])
    apart = {one.template: _apart(one, told, own_logs) for one in usable}
    lender = min(usable, key=lambda one: (apart[one.template], -len(one.runs)))
    if apart[lender.template] > float(np.std(own_logs)) + SAME_SHAPE:
        return None
    space = Space.of([*told, *lender.whole])
    lent = Experience({lender.template: lender.model}, told, space)
    own = [run for run in runs if run.run_seconds > 0]
    return Knowledge(template, own, lender.model, _overhead(own), prices, lender.template, lent, lender)


def _apart(other: Knowledge, told: Sequence[Observation], own_logs: Array) -> float:
    """How much the shape of another's times differs from that of these runs, whatever their level."""
    said = other.model.log_seconds(other.model.space.points([run.values for run in told]))
    return round(float(np.std(own_logs - said)), 3)


def _is_like(other: Knowledge, told: Sequence[Observation]) -> bool:
    """Whether another's model can be asked about these runs."""
    numbers = {one.name for one in other.model.space.numbers}
    return all(not isinstance(run.values.get(name, ""), str) for run in told for name in numbers)


def _overhead(runs: Sequence[StoredRun]) -> float:
    whole = [max(0.0, run.billed_seconds - run.run_seconds) for run in runs if run.is_whole]
    return statistics.median(whole) if whole else 0.0


def observed(runs: Sequence[StoredRun], prices: Prices) -> list[Observation]:
    """Return runs as a model sees them, the newest first."""
    usable = [run for run in runs if run.run_seconds > 0]
    return [_observation(run, usable[0].code, prices) for run in usable]


def _observation(run: StoredRun, code: int | None, prices: Prices) -> Observation:
    weight = 1.0 if run.code == code else OF_OTHER_CODE
    share = shared(run)
    values = _values(run.parameters, share, run, _kind(prices, share, run.price_book))
    return Observation(values, run.run_seconds, weight, is_bound=not run.is_whole)


def shared(run: StoredRun) -> Resources:
    """Return what a run had of a machine."""
    return Resources(run.vcpu, run.memory_bytes, run.gpus, gpu_type=run.gpu_type)


def _kind(prices: Prices, share: Resources, version: int | None = None) -> dict[str, Value]:
    """Of which family a machine is, and of which type its GPUs are, as far as the price book tells them apart."""
    family = prices.family(share.vcpu, share.memory_bytes, share.gpus, share.gpu_type, version)
    found: dict[str, Value] = {"machine": family} if family else {}
    if len(prices.gpu_types) > 1:
        found["gpu_type"] = share.gpu_type or "none"
    return found


def _values(
    parameters: Mapping[str, Any], share: Resources, inputs: StoredRun, kind: Mapping[str, Value]
) -> dict[str, Value]:
    given = {f"{PARAMETER}{name}": value_of(one) for name, one in parameters.items()}
    has = {"vcpu": share.vcpu, "memory_gib": share.memory_bytes / MIB / 1024, "gpus": float(share.gpus)}
    return {**given, **has, **kind, "input_mb": inputs.input_bytes / MIB, "input_files": float(inputs.input_files)}


def _given(value: object) -> str:
    if isinstance(value, int) and abs(value) > LARGEST:
        return "a number that is too large"
    return one_line(repr(value)[:60])


def _half_way(asked: float, number: Number) -> float:
    """Half-way to what is asked for, as far as somebody would run it; itself where there is no way in logarithms."""
    edge = number.high if asked > number.high else number.low
    if edge <= 0:
        return (asked + edge) / 2
    if asked <= 0:
        return asked
    return min(max(math.sqrt(asked) * math.sqrt(edge), edge / FARTHER), edge * FARTHER)


def _by_size(text: str) -> tuple[float, str]:
    try:
        return float(text), text
    except ValueError:
        return math.inf, text
