"""What attempts that did not end well left for the next one to go on from."""

from __future__ import annotations

from typing import TYPE_CHECKING

import msgspec

from acai_jupyter.contract.errors import AcaiError, ObjectNotFound
from acai_jupyter.contract.jobs import CHECKPOINT_FOLDER
from acai_jupyter.contract.launch import InputFile, ResultRecord
from acai_server.engine.attempts import slot_key
from acai_server.engine.results import read_result

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from acai_server.db.jobs import StoredAttempt, StoredJob
    from acai_server.objects.protocol import ObjectStore


class Checkpoints:
    """Finds the newest checkpoint of a job. All of a gang get what all of it left; of a path, that of the first."""

    def __init__(self, objects: ObjectStore, signing: ObjectStore, *, direct: bool) -> None:
        self._objects = objects
        self._signing = signing
        self._direct = direct

    def files(self, job: StoredJob, attempt: StoredAttempt, numbered: Callable[[str], int]) -> Iterator[InputFile]:
        """Give the files for an attempt; `numbered` returns the number of an object's URL."""
        for earlier in range(attempt.number - 1, 0, -1):
            known: set[str] = set()
            for rank in range(job.request.nodes):
                for file in self._left(job, earlier, rank, numbered):
                    if file.path not in known:
                        known.add(file.path)
                        yield file
            if known:
                return

    def _left(self, job: StoredJob, attempt: int, rank: int, numbered: Callable[[str], int]) -> Iterator[InputFile]:
        try:
            result: ResultRecord = read_result(self._objects, job, attempt, rank)
        except (ObjectNotFound, AcaiError, msgspec.MsgspecError):  # it left none; a program can write anything there
            return
        for one in result.checkpoint:
            key = slot_key(job, attempt, "pack", one.pack, rank=rank)
            number = numbered(self._signing.sign_get(key, direct=self._direct))
            path = f"{CHECKPOINT_FOLDER}/{one.path}"
            yield InputFile(path, number, one.offset, one.size_bytes, one.sha256, is_code=True)
