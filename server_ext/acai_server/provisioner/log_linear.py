"""The original's model: ordinary least squares on logarithms, whose coefficients read as exponents."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

import numpy as np

from acai_jupyter.contract.profiles import LogLinear
from acai_server.provisioner.observations import Space

if TYPE_CHECKING:
    from collections.abc import Sequence

    from acai_server.provisioner.observations import Array, Observation


def fitted(runs: Sequence[Observation]) -> LogLinear:
    """Fit it with statsmodels to runs that ended by themselves; what cannot be told from the others is left out."""
    from statsmodels.regression.linear_model import WLS  # the whole of statsmodels takes a second and a half longer

    space = Space.of(runs)
    points = space.points([run.values for run in runs])
    columns: dict[tuple[str, bool], Array] = {
        (one.name, False): column for one, column in zip(space.numbers, points.logs.T, strict=True)
    }
    for place, one in enumerate(space.words):
        columns |= {
            (word, True): (points.codes[:, place] == at).astype(float) for at, word in enumerate(one.seen) if at
        }
    columns = _independent(columns, len(runs))
    weights = np.array([run.weight for run in runs])
    design = np.stack([np.ones(len(runs)), *columns.values()], 1)
    told = WLS(np.log([run.seconds for run in runs]), design, weights).fit()
    found = dict(zip(columns, (float(one) for one in told.params[1:]), strict=True))
    with np.errstate(invalid="ignore", divide="ignore"):  # where all took the same there is nothing to explain
        explained = float(told.rsquared)
    return LogLinear(
        math.exp(float(told.params[0])),
        {name: one for (name, is_word), one in found.items() if not is_word},
        {name: math.exp(one) for (name, is_word), one in found.items() if is_word},
        explained if math.isfinite(explained) else 0.0,
    )


def _independent(columns: dict[tuple[str, bool], Array], count: int) -> dict[tuple[str, bool], Array]:
    """Leave out each that is made of those before it, as the number of files may be of their bytes."""
    kept: dict[tuple[str, bool], Array] = {}
    held = [np.ones(count)]
    for key, column in columns.items():
        if np.linalg.matrix_rank(np.stack([*held, column], 1)) > len(held):
            held.append(column)
            kept[key] = column
    return kept
