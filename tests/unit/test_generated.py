"""What is generated from the contract is kept in the repository, and must not be stale."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from labextension.contract import GENERATED

if TYPE_CHECKING:
    from pathlib import Path


@pytest.mark.parametrize("path", GENERATED, ids=lambda path: path.name)
def test_what_was_generated_from_the_contract_is_fresh(path: Path) -> None:
    assert path.read_text() == GENERATED[path](), "run `make contract`"
