"""Homes and servers for the integration tests. A module shares one server where its tests do not disturb each other."""

from __future__ import annotations

from contextlib import closing
from typing import TYPE_CHECKING

import pytest

from tests.integration.lakes import KINDS, Lake, lake
from tests.integration.places import Place, Server

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path


@pytest.fixture
def place(tmp_path: Path) -> Iterator[Place]:
    """A home of this test's own."""
    with closing(Place(tmp_path)) as place:
        yield place


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Server]:
    """A server that the tests of a module share, below a base URL that has to be quoted."""
    with closing(Place(tmp_path_factory.mktemp("home"))) as place:
        yield place.start(base_url="/a@b/")


@pytest.fixture(scope="module", params=KINDS)
def any_lake(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Lake]:
    """A server over each kind of store, which the tests of a module share: they keep to folders of their own."""
    with lake(request.param, tmp_path_factory.mktemp("home"), request) as found:
        yield found
