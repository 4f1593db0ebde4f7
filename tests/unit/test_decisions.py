"""On runs that others measured, models are as good as the tables of the documentation say."""

from __future__ import annotations

import pytest

from benchmarks.decisions import predicting, runs


def test_the_chosen_model_explains_what_the_originals_does_not() -> None:
    found = {row.what: row for row in predicting.explained()}
    limited = [row for row in found.values() if row.limit is not None]
    assert len(limited) == 2
    assert all(row.kept for row in limited), limited


@pytest.mark.parametrize("share", [0.3, 0.6])
def test_intervals_hold_four_in_five_runs_of_each_workload(share: float) -> None:
    tasks = [[one.run for one in task] for task in runs.scout_tasks().values()]
    held, _ = predicting.held(tasks, share)
    assert 0.75 <= held <= 0.85
