"""Reading and deleting files, over what is kept in memory."""

from __future__ import annotations

from contextlib import closing
from typing import TYPE_CHECKING

import pytest

from acai_server.clock import Clock
from acai_server.db import schema
from acai_server.db.database import Database
from acai_server.objects.memory import MemoryObjectStore
from acai_server.testing.files import FileSuite
from acai_server.testing.lakes import SIGNER, LakeUser

if TYPE_CHECKING:
    from collections.abc import Iterator


@pytest.fixture(scope="module")
def lake() -> Iterator[LakeUser]:
    with closing(Database("sqlite://", Clock())) as database:
        schema.migrate(database)
        yield LakeUser(database, MemoryObjectStore(SIGNER))


class TestFiles(FileSuite):
    @pytest.fixture
    def user(self, lake: LakeUser) -> LakeUser:
        return lake.in_a_new_project()
