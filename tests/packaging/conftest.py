"""The wheel, built and installed once."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from tests.packaging import distributions

if TYPE_CHECKING:
    from tests.packaging.distributions import Distributions, Installation


@pytest.fixture(scope="session")
def built(tmp_path_factory: pytest.TempPathFactory) -> Distributions:
    return distributions.build(distributions.shared(tmp_path_factory.getbasetemp()))


@pytest.fixture(scope="session")
def installed(tmp_path_factory: pytest.TempPathFactory) -> Installation:
    return distributions.install(distributions.shared(tmp_path_factory.getbasetemp()))
