"""What a model says of runs that it has not seen: exact where runs follow a law, honest where they do not."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from acai_server.provisioner import designs, models
from acai_server.provisioner.experience import Experience
from acai_server.provisioner.observations import Observation, Space

if TYPE_CHECKING:
    from collections.abc import Mapping

EPOCHS, CPUS = (1, 2, 3, 5), (0.5, 1.0, 2.0)
GRID = [{"epoch": float(epoch), "vcpu": cpu} for epoch in EPOCHS for cpu in CPUS]
Law = "Callable[[Mapping[str, Any]], float]"


def power(values: Mapping[str, Any]) -> float:
    return float(3 * values["epoch"] ** 0.9 * values["vcpu"] ** -0.6)


def amdahl(values: Mapping[str, Any]) -> float:
    return float(4 + values["epoch"] * (1 + 6 / values["vcpu"]))


def observed(law: Any, values: list[dict[str, Any]], noise: float = 0.0, seed: int = 0) -> list[Observation]:
    generator = np.random.default_rng(seed)
    return [Observation(one, law(one) * math.exp(generator.normal(0, noise))) for one in values]


def fitted(runs: list[Observation]) -> models.RuntimeModel:
    model = models.fit(runs)
    assert model is not None
    return model


def said(model: models.RuntimeModel, **values: Any) -> float:
    return float(model.predict([values]).seconds[0])


ABSURD = fitted(observed(amdahl, GRID * 2, noise=0.1))


@pytest.mark.parametrize("law", [power, amdahl])
def test_a_law_is_found_and_goes_on_outside(law: Any) -> None:
    model = fitted(observed(law, GRID))
    assert said(model, epoch=3, vcpu=1) == pytest.approx(law({"epoch": 3, "vcpu": 1}), rel=0.02)
    assert said(model, epoch=100, vcpu=2) == pytest.approx(law({"epoch": 100, "vcpu": 2}), rel=0.1)


def test_exponents_of_the_originals_form_are_those_of_the_law() -> None:
    from acai_server.provisioner.curves import Linear, LogLinear

    runs = observed(power, GRID)
    space = Space.of(runs)
    curve = LogLinear().fit(
        space, space.points([run.values for run in runs]), np.log([run.seconds for run in runs]), np.ones(len(runs))
    )
    assert isinstance(curve, Linear)
    assert curve.coefficients == pytest.approx([math.log(3), 0.9, -0.6], abs=1e-4)


def test_one_wild_run_hardly_changes_anything() -> None:
    runs = observed(amdahl, GRID * 2, noise=0.02)
    wild = [Observation(runs[0].values, runs[0].seconds * 50), *runs[1:]]
    values = {"epoch": 10.0, "vcpu": 2.0}
    assert said(fitted(wild), **values) == pytest.approx(said(fitted(runs), **values), rel=0.15)


@given(st.integers(0, 50), st.sampled_from([0.05, 0.2]))
@settings(max_examples=10, deadline=None)
def test_more_cpu_is_slower_by_a_quarter_of_the_noise_at_most(seed: int, noise: float) -> None:
    model = fitted(observed(amdahl, GRID * 2, noise=noise, seed=seed))
    for epoch in (1, 3, 50):
        times = model.predict([{"epoch": epoch, "vcpu": half / 2} for half in range(1, 17)]).seconds
        assert (np.diff(np.log(times)) < max(0.03, noise / 4)).all()


@given(st.integers(0, 50))
@settings(max_examples=10, deadline=None)
def test_intervals_hold_the_middle_and_widen_with_the_distance(seed: int) -> None:
    model = fitted(observed(amdahl, GRID * 2, noise=0.1, seed=seed))
    found = model.predict([{"epoch": epoch, "vcpu": 1.0} for epoch in (3, 10, 100, 1000)])
    assert ((found.low < found.seconds) & (found.seconds < found.high)).all()
    widths = found.high / found.low
    assert (np.diff(widths) > 0).all()
    assert found.beyond[0] == 0
    assert (np.diff(found.beyond) > 0).all()


@given(st.floats(0.5, 0.94), st.floats(0.01, 0.05))
@settings(max_examples=10, deadline=None)
def test_more_is_held_by_a_wider_interval(coverage: float, more: float) -> None:
    model = fitted(observed(amdahl, GRID * 3, noise=0.1))
    narrow, wide = (model.predict(GRID, one) for one in (coverage, coverage + more))
    assert (narrow.high <= wide.high).all()
    assert (narrow.low >= wide.low).all()


def test_eighty_in_a_hundred_runs_are_held() -> None:
    held = []
    for seed in range(8):
        model = fitted(observed(amdahl, GRID * 5, noise=0.15, seed=seed))
        unseen = observed(amdahl, GRID * 5, noise=0.15, seed=1000 + seed)
        found = model.predict([run.values for run in unseen])
        taken = np.array([run.seconds for run in unseen])
        held += list((found.low <= taken) & (taken <= found.high))
    assert 0.74 < np.mean(held) < 0.9


def test_what_was_always_the_same_is_no_feature_until_it_is_asked_for() -> None:
    runs = observed(power, [{"epoch": epoch, "vcpu": 1.0} for epoch in (1, 2, 4, 8)] * 3, noise=0.02)
    model = fitted(runs)
    near, far = model.predict([{"epoch": 4, "vcpu": 1.0}, {"epoch": 4, "vcpu": 8.0}]).beyond
    assert near == 0
    assert far == pytest.approx(math.log(8))


def test_words_make_it_faster_or_slower_and_unknown_ones_are_far() -> None:
    factor = {"adam": 1.0, "sgd": 2.0}
    values = [{"epoch": epoch, "optimiser": word} for epoch in (1.0, 2.0, 4.0) for word in factor] * 3
    runs = observed(lambda one: one["epoch"] * factor[one["optimiser"]], values, noise=0.02)
    model = fitted(runs)
    assert said(model, epoch=2, optimiser="sgd") == pytest.approx(4, rel=0.1)
    assert model.predict([{"epoch": 2.0, "optimiser": "lion"}]).beyond[0] >= 1


def test_a_run_that_was_ended_is_a_lower_bound() -> None:
    runs = observed(amdahl, GRID * 2, noise=0.02)
    slow = {"epoch": 40.0, "vcpu": 1.0}
    short = fitted([*runs, Observation(slow, 10.0, is_bound=True)])
    assert said(short, **slow) == pytest.approx(amdahl(slow), rel=0.15)
    longer = fitted([*runs, *[Observation(slow, 2000.0, is_bound=True)] * 5])
    assert said(longer, **slow) > 1.2 * amdahl(slow)


def test_too_few_runs_make_no_model() -> None:
    assert models.fit([]) is None
    assert models.fit(observed(power, GRID[:2])) is None
    assert models.fit([Observation(one, math.nan) for one in GRID]) is None
    assert models.fit([Observation(one, -1.0) for one in GRID]) is None


def test_an_interval_that_is_too_wide_to_decide_by_is_marked() -> None:
    runs = observed(power, [{"epoch": epoch, "vcpu": 1.0} for epoch in (1, 2)] * 2, noise=0.5)
    found = fitted(runs).predict([{"epoch": 1e6, "vcpu": 8.0}])
    assert found.is_vague.all()
    assert not fitted(observed(amdahl, GRID * 3, noise=0.02)).predict(GRID).is_vague.any()


@given(st.floats(-1e300, 1e300), st.floats(1e-300, 1e300))
@settings(max_examples=30, deadline=None)
def test_absurd_values_have_finite_answers_that_are_no_surer_than_others(epoch: float, vcpu: float) -> None:
    found = ABSURD.predict([{"epoch": epoch, "vcpu": vcpu}])
    assert np.isfinite([found.seconds[0], found.low[0], found.high[0]]).all()
    assert found.low[0] <= found.seconds[0] <= found.high[0]
    near = ABSURD.predict([{"epoch": 2.0, "vcpu": 1.0}])
    assert found.high[0] / found.low[0] >= 0.99 * near.high[0] / near.low[0]
    if epoch <= 0 or max(epoch, 1 / epoch, vcpu, 1 / vcpu) > 1e30:
        assert found.is_vague.all()


def test_a_plan_goes_on_beside_runs_with_values_that_have_no_logarithm() -> None:
    some = [Observation({"epoch": epoch, "vcpu": 1.0}, 5.0 + abs(epoch)) for epoch in (-1.0, 0.0, 1.0)]
    place = designs.Choice(GRID, GRID).next(some, np.ones(len(GRID)))
    assert place is not None
    assert GRID[place] != some[-1].values


def test_the_same_runs_make_the_same_model() -> None:
    runs = observed(amdahl, GRID * 30, noise=0.1)
    one, other = fitted(runs).predict(GRID), fitted(runs).predict(GRID)
    assert (one.high == other.high).all()


@pytest.mark.parametrize("zero", [0.0, -1.0])
def test_numbers_that_are_not_above_zero_are_features_too(zero: float) -> None:
    values = [{"momentum": one, "epoch": epoch} for one in (zero, 0.5, 0.9) for epoch in (1.0, 2.0, 4.0)] * 2
    model = fitted(observed(lambda one: one["epoch"], values, noise=0.02))
    assert said(model, momentum=zero, epoch=4.0) == pytest.approx(4, rel=0.1)


# -- experience of others


def test_a_few_runs_are_enough_where_others_are_alike() -> None:
    machines = [{"cores": float(cores), "kind": kind} for cores in (8, 16, 32, 64) for kind in ("a", "b")]

    def law(level: float) -> Any:
        return lambda one: level * (1 + 40 / one["cores"]) * (2.0 if one["kind"] == "b" else 1.0)

    sources = {f"task {level}": fitted(observed(law(level), machines * 2, 0.02, int(level))) for level in (1.0, 5.0)}
    space = Space.of([Observation(one, 1.0) for one in machines])
    runs = observed(law(30.0), [machines[0], machines[3]])
    found = Experience(sources, runs, space).predict(machines)
    alone = Experience({}, runs, space).predict(machines)
    taken = np.array([law(30.0)(one) for one in machines])
    assert np.median(np.abs(found.seconds / taken - 1)) < 0.15
    assert np.median(np.abs(alone.seconds / taken - 1)) > np.median(np.abs(found.seconds / taken - 1))
    assert (found.high / found.low).mean() < (alone.high / alone.low).mean()


# -- plans


def test_a_plan_begins_small_repeats_nothing_and_ends() -> None:
    choice = designs.Choice(GRID, GRID)
    some: list[Observation] = []
    while (place := choice.next(some, np.ones(len(GRID)))) is not None:
        some.append(Observation(GRID[place], amdahl(GRID[place])))
    assert some[0].values == {"epoch": 1.0, "vcpu": 2.0}
    assert len(some) == len(GRID)
    assert len({tuple(run.values.items()) for run in some}) == len(GRID)


def test_a_plan_is_settled_when_what_matters_is_known() -> None:
    choice = designs.Choice(GRID, [{"epoch": 4.0, "vcpu": 1.0}])
    assert not choice.verdict(observed(amdahl, GRID[:3]))
    assert choice.verdict(observed(amdahl, GRID * 2, noise=0.02)) == "the interval is narrow enough"
    assert not choice.verdict(observed(amdahl, GRID[:6], noise=1.0))


def test_a_plan_of_a_program_that_scatters_ends_before_all_is_run() -> None:
    grid = [{"epoch": epoch, "vcpu": vcpu} for epoch in (1.0, 2.0, 3.0, 4.0, 6.0, 8.0) for vcpu in (0.5, 1.0, 2.0, 4.0)]
    choice, told = designs.Choice(grid, grid), dict(enumerate(observed(amdahl, grid, noise=0.5)))
    some: list[Observation] = []
    while not choice.verdict(some):
        place = choice.next(some, np.ones(len(grid)))
        assert place is not None
        some.append(told[place])
    assert "hardly narrow" in choice.verdict(some)
    assert len(grid) / 2 <= len(some) < len(grid)


@pytest.mark.parametrize(
    "values",
    [
        [-(2**63) - 1, -(2**63), 1, 2, 3, 4],
        [-1e18, 1, 2, 3, 4, 5],
        [-1e40, -1, 0, 1e-9, 1, 1e40],
        [0, 1e-300, 1, 2, 3, 4],
    ],
    ids=["whole numbers", "one", "far apart", "near 0"],
)
def test_numbers_so_far_apart_that_small_ones_are_rounded_away_can_be_fitted(values: list[float]) -> None:
    runs = [Observation({"a": value}, 10.0 + place) for place, value in enumerate(values)]
    assert np.isfinite(Space.of(runs).points([run.values for run in runs]).logs).all()
    assert np.isfinite(fitted(runs).predict([run.values for run in runs]).seconds).all()
