"""Where `acai-server repair` looks for good copies of damaged contents."""

from __future__ import annotations

import hashlib
from typing import TYPE_CHECKING

import pytest

from acai_jupyter import trees
from acai_server.lake.integrity.sources import Folder
from tests.nested import nest

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

BODY = b"a good copy"


@pytest.fixture
def root(tmp_path: Path) -> Iterator[Path]:
    """A place for a tree; pytest could not remove a deep one by itself."""
    yield tmp_path / "root"
    assert trees.remove(str(tmp_path / "root")) is None


def origins(folder: Folder) -> list[str]:
    sha256 = hashlib.sha256(BODY).digest()
    return [one.origin for one in folder.of(sha256, len(BODY)) if one.is_sound(sha256, len(BODY))]


def test_a_copy_is_found_in_a_tree_deeper_than_recursion_and_paths(root: Path) -> None:
    nest(root, content=BODY)
    (root / "copy").write_bytes(BODY)
    (root / "link").symlink_to("copy")
    assert origins(Folder(root, {len(BODY)})) == [str(root)]


def test_a_file_that_vanishes_after_the_walk_is_no_copy(root: Path) -> None:
    root.mkdir()
    (root / "copy").write_bytes(BODY)
    folder = Folder(root, {len(BODY)})
    (root / "copy").unlink()
    assert origins(folder) == []


def test_a_folder_that_is_not_there_has_no_copies(root: Path) -> None:
    root.mkdir()
    assert origins(Folder(root / "missing", {len(BODY)})) == []
