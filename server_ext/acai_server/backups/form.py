"""What the folder of a backup holds.

`backup.json` is written last, and says which folder of records belongs to it: without it there is no backup, and one
that is being made anew leaves the last one whole. Records are lines of JSON in gzip, a file for each table; the first
line says what the columns are. `objects/` holds bytes by their key, which never change.
"""

from __future__ import annotations

import gzip
import hashlib
import re
import zlib
from contextlib import contextmanager
from datetime import datetime
from itertools import islice
from typing import TYPE_CHECKING, Any

import msgspec

from acai_jupyter.contract import decoding
from acai_jupyter.contract.errors import BadRequest
from acai_server.db.dumps import PAGE, Column

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator
    from pathlib import Path

FORM = 1
NOTE = "backup.json"
OBJECTS = "objects"
_TYPES: dict[str, Any] = {
    "plain": Any,
    "time": datetime | None,
    "bytes": bytes | None,
    "json": str | None,
    "bool": bool | None,
}
_RECORDS = re.compile(r"records-[0-9a-f]{8}\Z")
_NAME = re.compile(r"[a-z][a-z0-9_]*\Z")
MAX_LINE_BYTES = 256 * 1024**2
"""A row that is longer is a forgery that would fill the memory: the largest value, a sent request, has 16 MiB."""


class RecordsNote(msgspec.Struct, frozen=True):
    """A file of records: how many, and its hash."""

    rows: int
    sha256: str


class Note(msgspec.Struct, frozen=True, kw_only=True):
    """What a backup is. `project` is the one it is of, if it is not of all; version 0.1 noted no identity."""

    form: int = FORM
    version: str
    revision: str
    made_at: datetime
    project: str | None = None
    project_id: int | None = None
    records: str
    """The folder of the records."""
    tables: dict[str, RecordsNote]
    objects: RecordsNote
    objects_bytes: int
    identity: str = ""
    """The database that was backed up."""


class KeptObject(msgspec.Struct, frozen=True, array_like=True):
    """An object that is in the backup."""

    key: str
    size_bytes: int
    sha256: str


class _Head(msgspec.Struct, frozen=True):
    table: str
    columns: list[Column]


class Writing:
    """A file of records that is being written."""

    def __init__(self, file: Any, table: str, columns: list[Column]) -> None:
        self._file = file
        self._encoder = msgspec.json.Encoder()
        self.rows = 0
        file.write(self._encoder.encode_lines([_Head(table, columns)]))

    def add(self, rows: list[Any]) -> None:
        """Write rows."""
        self._file.write(self._encoder.encode_lines(rows))
        self.rows += len(rows)


@contextmanager
def writing(folder: Path, table: str, columns: list[Column], notes: dict[str, RecordsNote]) -> Iterator[Writing]:
    """Write a file of records, and note what is in it."""
    path = folder / f"{table}.jsonl.gz"
    with gzip.open(path, "wb", compresslevel=1) as file:
        made = Writing(file, table, columns)
        yield made
    notes[table] = RecordsNote(made.rows, _hash_of(path))


def pages(folder: Path, table: str) -> Iterator[tuple[list[Column], list[tuple[Any, ...]]]]:
    """Give a table's rows as they were written, in pages, each with what its columns are."""
    path = folder / f"{table}.jsonl.gz"
    with gzip.open(path, "rb") as file:
        try:
            head = decoding.from_json(_line(file), _Head)
            _check_head(head, table)
            row: Any = tuple[tuple(_TYPES[column.kind] for column in head.columns)]  # type: ignore[misc]  # made as it runs
            decoder = decoding.json_decoder(row)
        except (msgspec.MsgspecError, ValueError, EOFError, zlib.error, OSError) as error:
            raise BadRequest(f"{path} does not begin like a table's records: {error}. Use another backup.") from error
        while page := _page(path, file, decoder):
            yield head.columns, page


def _page(path: Path, file: gzip.GzipFile, decoder: decoding.JsonDecoder[Any]) -> list[tuple[Any, ...]]:
    try:
        return [decoder.decode(line) for line in islice(iter(lambda: _line(file), b""), PAGE)]
    except (msgspec.MsgspecError, ValueError, EOFError, zlib.error, OSError) as error:
        raise BadRequest(f"{path} has a row that cannot be read: {error}. Use another backup.") from error


def _line(file: gzip.GzipFile) -> bytes:
    line = file.readline(MAX_LINE_BYTES)
    if len(line) == MAX_LINE_BYTES:
        raise ValueError(f"a line has more than {MAX_LINE_BYTES // 1024**2} MiB")
    return line


def _check_head(head: _Head, table: str) -> None:
    """Names of columns go into SQL: they have to look like names."""
    names = [column.name for column in head.columns]
    if head.table != table or len(set(names)) < len(names):
        raise ValueError(f"it names the table '{head.table[:80]}' or a column twice")
    odd = next((one for one in head.columns if not _NAME.match(one.name) or one.kind not in _TYPES), None)
    if odd is not None:
        raise ValueError(f"'{odd.name[:80]}' of the kind '{odd.kind[:80]}' is not a column")


def objects_of(folder: Path) -> Iterator[list[KeptObject]]:
    """Give the objects that are in a backup."""
    for _, rows in pages(folder, OBJECTS):
        yield [KeptObject(*row) for row in rows]


OBJECT_COLUMNS = [Column("key", "plain"), Column("size_bytes", "plain"), Column("sha256", "plain")]


def read_note(folder: Path) -> Note:
    """Read what a backup is; one that is not whole is refused."""
    try:
        note = decoding.from_json((folder / NOTE).read_bytes(), Note)
    except OSError as error:
        reason = f"{folder} holds no whole backup: {NOTE} cannot be read ({error.strerror})"
        raise BadRequest(f"{reason}. Let the backup come to its end, or name another folder.") from error
    except msgspec.MsgspecError as error:
        raise BadRequest(f"{folder / NOTE} is not what a backup says of itself: {error}.") from error
    if note.form != FORM:
        raise BadRequest(f"{folder} has the form {note.form}, and this ACAI knows {FORM}. Use the one that made it.")
    odd = next((name for name in note.tables if not _NAME.match(name)), None)
    if odd is not None or not _RECORDS.match(note.records):
        what = "folder of records" if odd is None else "table"
        raise BadRequest(f"{folder / NOTE} names a {what} that no backup has: '{(odd or note.records)[:80]}'.")
    return note


def check(folder: Path, note: Note) -> None:
    """Refuse records that are not those that were written."""
    for table, told in _files(note):
        path = folder / note.records / f"{table}.jsonl.gz"
        if not path.exists() or _hash_of(path) != told.sha256:
            raise BadRequest(f"{path} is not what was backed up. Use another backup.")


def _files(note: Note) -> Iterable[tuple[str, RecordsNote]]:
    return [*note.tables.items(), (OBJECTS, note.objects)]


def _hash_of(path: Path) -> str:
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()
