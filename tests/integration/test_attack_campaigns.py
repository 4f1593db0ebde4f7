"""Each attack campaign once, with a fixed seed. `make attack` repeats them for as long as one likes."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from tests.attack.campaign import Run
from tests.attack.catalogue import CAMPAIGNS, STORES
from tests.servers.process import ServerMissing

if TYPE_CHECKING:
    from pathlib import Path

WITH_TESTS_OF_THEIR_OWN = {"kills", "lives", "fuzz"}
"""`test_kills.py`, `test_lives.py` and `test_fuzzed.py` are their short forms on the default backend."""
SHORT = [
    pytest.param(name, "", marks=[pytest.mark.s3] if name == "store-faults" else [])
    for name in CAMPAIGNS
    if name not in WITH_TESTS_OF_THEIR_OWN
]
TEAM = pytest.param("kills", "team", marks=[pytest.mark.s3, pytest.mark.postgres])


def test_a_campaign_runs_on_each_of_its_backends_unless_one_is_named() -> None:
    assert CAMPAIGNS["kills"].backends_for(None) == STORES
    assert CAMPAIGNS["kills"].backends_for("team") == ("team",)
    assert CAMPAIGNS["fuzz"].backends_for("team") == ("folder",)
    assert CAMPAIGNS["access"].backends_for(None) == CAMPAIGNS["access"].backends_for("s3") == ("",)


@pytest.mark.timeout(600)
@pytest.mark.parametrize(("name", "backend"), [*SHORT, TEAM])
def test_a_campaign_finds_nothing(tmp_path: Path, name: str, backend: str) -> None:
    run = Run(tmp_path / "home", "suite", backend=backend)
    try:
        CAMPAIGNS[name].attack(run)
    except ServerMissing as missing:
        pytest.skip(str(missing))
    assert run.violations == []
    assert sum(run.figures.values()) > 0
