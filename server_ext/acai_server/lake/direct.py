"""The direct path: clients that share the store's disk move bytes without HTTP. Proved, never believed."""

from __future__ import annotations

import hmac
import secrets
from typing import TYPE_CHECKING

from acai_jupyter import trees

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path


class DirectPath:
    """Who can tell what the proof file says could read the store's folder anyway.

    `allowed` says whether it may be used at all: it gives the rights of the server's own user, so only while that is
    the one user there is.
    """

    def __init__(
        self, folder: Path, proof_file: Path, write: Callable[[Path, str], None], *, allowed: Callable[[], bool]
    ) -> None:
        self._folder = folder
        self._file = proof_file
        self._allowed = allowed
        self._proof = secrets.token_hex(32)
        write(proof_file, self._proof)

    @property
    def proof_file(self) -> str | None:
        """The file to read, if it is any use."""
        return str(self._file) if self._allowed() else None

    def proved(self, proof: str) -> bool:
        """Whether this is what the file says."""
        return hmac.compare_digest(proof.encode(), self._proof.encode()) and self._allowed()

    def folder(self, prefix: str) -> str:
        """Return where the objects below a prefix are files."""
        return str(self._folder / prefix)

    def drop(self, prefix: str, *, only_unfinished: bool) -> None:
        """Delete the files below a prefix, or only those that somebody who was killed had begun to write."""
        folder = self._folder / prefix
        if not only_unfinished:
            trees.remove(str(folder))
            return
        for path in folder.glob(".*.part"):
            path.unlink(missing_ok=True)
