"""How long a client waits before it repeats a request that was refused with 429."""

from __future__ import annotations

import pytest

from acai_jupyter.client.http import pause


@pytest.mark.parametrize(("asked", "least"), [(0.0, 0.25), (0.01, 0.25), (3.0, 3.0)])
def test_pauses_are_at_least_what_was_asked_for_and_differ(asked: float, least: float) -> None:
    pauses = [pause(asked) for _ in range(100)]
    assert min(pauses) >= least
    assert max(pauses) <= 2 * least
    assert len(set(pauses)) > 50
