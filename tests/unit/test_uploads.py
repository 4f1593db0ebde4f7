"""Upload sessions and the numbers they give, over what is kept in memory."""

from __future__ import annotations

from contextlib import closing
from typing import TYPE_CHECKING

import pytest

from acai_server.clock import Clock
from acai_server.db import schema
from acai_server.db.database import Database
from acai_server.objects.memory import MemoryObjectStore
from acai_server.testing.lake_model import check_sessions
from acai_server.testing.lakes import SIGNER, LakeUser
from acai_server.testing.uploads import SessionSuite
from acai_server.testing.versions import VersionSuite

if TYPE_CHECKING:
    from collections.abc import Iterator


@pytest.fixture(scope="module")
def lake() -> Iterator[LakeUser]:
    with closing(Database("sqlite://", Clock())) as database:
        schema.migrate(database)
        yield LakeUser(database, MemoryObjectStore(SIGNER))


class TestSessions(SessionSuite, VersionSuite):
    @pytest.fixture
    def user(self, lake: LakeUser) -> LakeUser:
        return lake.in_a_new_project()


def test_any_acts_of_several_users_do_what_a_simple_model_says(lake: LakeUser) -> None:
    check_sessions(lake, max_examples=20)
