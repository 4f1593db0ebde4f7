"""Result records as they are found: nothing in them is believed that can be checked."""

from __future__ import annotations

from typing import TYPE_CHECKING

import msgspec

from acai_jupyter.contract import decoding
from acai_jupyter.contract.errors import BadPath, ObjectNotFound
from acai_jupyter.contract.foreign import one_line
from acai_jupyter.contract.launch import LAUNCH_VERSION, OutputFile, ResultRecord
from acai_server.engine.attempts import slot_key

if TYPE_CHECKING:
    from acai_server.db.jobs import StoredAttempt, StoredJob
    from acai_server.objects.protocol import ObjectStore

MAX_RESULT_BYTES = 512 * 1024**2
MAX_TEXT = 500


def read_result(objects: ObjectStore, job: StoredJob, attempt: StoredAttempt | int, rank: int = 0) -> ResultRecord:
    """Return the record of an agent; `ObjectNotFound`, `BadPath` or msgspec's error when none can be used.

    Its paths are those of files, but a project may refuse them (`output_paths.recordable`).
    """
    body = objects.get(slot_key(job, attempt, "result", rank=rank), 0, MAX_RESULT_BYTES)
    try:
        result = decoding.from_json(body, ResultRecord)
    except RecursionError as error:
        raise BadPath(path="result", reason="it is nested too deeply") from error
    if result.version != LAUNCH_VERSION:
        raise BadPath(path="result", reason=f"it has version {result.version}")
    for files in (result.outputs, result.checkpoint):
        _check_files(files, result)
    for number in {file.pack for file in (*result.outputs, *result.checkpoint)}:
        try:
            size = objects.size(slot_key(job, attempt, "pack", number, rank=rank))
        except ObjectNotFound as error:
            raise BadPath(path="output", reason=f"its pack {number} is not there") from error
        if size != result.packs[number].size_bytes:
            raise BadPath(path="output", reason=f"its pack {number} has another size")
    return _printable(result)


def _printable(result: ResultRecord) -> ResultRecord:
    """Escape in its texts what no database or terminal takes: a program can write a record too."""
    environment = {
        one_line(name): one_line(value)
        if isinstance(value, str)
        else {one_line(package): one_line(version) for package, version in value.items()}
        for name, value in result.environment.items()
    }
    return msgspec.structs.replace(
        result,
        reason=one_line(result.reason)[:MAX_TEXT],
        held=[one_line(text)[:MAX_TEXT] for text in result.held],
        warnings=[one_line(text)[:MAX_TEXT] for text in result.warnings],
        environment=environment,
    )


def _check_files(files: list[OutputFile], result: ResultRecord) -> None:
    paths = set()
    for file in files:
        if not {"", ".", ".."}.isdisjoint(file.path.split("/")):
            raise BadPath(path=ascii(file.path[:80]), reason="no file can have it")
        paths.add(file.path)
        if file.pack not in range(len(result.packs)):
            raise BadPath(path=file.path, reason="it lies in no pack")
        if file.offset + file.size_bytes > result.packs[file.pack].size_bytes:
            raise BadPath(path=file.path, reason="it lies outside its pack")
    if len(paths) != len(files):
        raise BadPath(path="output", reason="a path is there twice")
