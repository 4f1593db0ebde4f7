"""Rows of one project on their way into a database that has others: with new ids, and users who are there already."""

from __future__ import annotations

import hashlib
from typing import TYPE_CHECKING, Any

from acai_jupyter.contract.errors import BadRequest
from acai_jupyter.contract.ids import ObjectKey
from acai_jupyter.contract.query.builtin import SubjectKind
from acai_server.db.dumps import SUBJECTS, numbered, references
from acai_server.objects.keys import JobOwner, UploadOwner, job_folder, owner_of, upload_folder

if TYPE_CHECKING:
    from acai_jupyter.contract.ids import ProjectId
    from acai_server.db.dumps import Column, DumpRecords

Row = tuple[Any, ...]


class Renumbering:
    """Gives rows new ids, table by table, what is referred to first. Each table is given all of its rows in order."""

    def __init__(self, dumps: DumpRecords, old: int, new: ProjectId, *, identity: str) -> None:
        self._dumps = dumps
        self._project = old, int(new)
        self._identity = identity
        self._new: dict[str, dict[int, int]] = {"project": {old: int(new)}}
        self._kinds: dict[int, SubjectKind] = {}
        """What kind of things a key of attributes is for, by its old id."""

    def know(self, name: str, old: int, new: int) -> None:
        """Note that a row is there already, under another id."""
        self._new.setdefault(name, {})[old] = new

    def renumbered(self, name: str, columns: list[Column], rows: list[Row]) -> list[Row]:
        """Return rows as they are to be written."""
        key = numbered(name)
        if key is not None:
            at = [column.name for column in columns].index(key)
            ids = self._dumps.free_ids(name, len(rows))
            self._new.setdefault(name, {}).update(zip((row[at] for row in rows), ids, strict=True))
        names = [column.name for column in columns]
        return [self._renumbered(name, dict(zip(names, row, strict=True)), key) for row in rows]

    def _renumbered(self, name: str, row: dict[str, Any], key: str | None) -> Row:
        old = dict(row)
        if key is not None:
            row[key] = self._new[name][old[key]]
        for column, to in references(name).items():
            row[column] = None if to == "token" else self._at(to, old[column])
        if "subject_id" in row:
            row["subject_id"] = self._at(SUBJECTS[self._kind(old)], old["subject_id"])
        if name == "attribute_key":
            self._kinds[old["id"]] = SubjectKind(old["subject_kind"])
        if name == "upload_session":
            row["key"] = self._upload(old["key"])
            row["object_folder"] = upload_folder(row["key"], self._identity)
        if name == "job":
            row["object_folder"] = self._job_folder(old["object_folder"] or job_folder(old["number"]))
        if name == "object":
            row["key"] = self.object_key(old["key"])
        return tuple(row.values())

    def _at(self, name: str, old: int | None) -> int | None:
        if old is None:
            return None
        try:
            return self._new[name][old]
        except (KeyError, TypeError):
            reason = f"a record refers to number {old!r:.40} of '{name}', which is not in the export. Export again"
            raise BadRequest(f"The project cannot be imported: {reason}.") from None

    def _kind(self, row: dict[str, Any]) -> SubjectKind:
        return SubjectKind(row["subject_kind"]) if "subject_kind" in row else self._kinds[row["key_id"]]

    def object_key(self, key: str) -> str:
        """Return under which key an object is kept: the project is in it, and the upload that brought it."""
        _, _, rest = key.partition("/")
        owner = owner_of(ObjectKey(key))
        if isinstance(owner, UploadOwner):
            rest = rest.replace(owner.folder, upload_folder(self._upload(owner.upload), self._identity), 1)
        elif isinstance(owner, JobOwner):
            rest = rest.replace(owner.folder, self._job_folder(owner.folder), 1)
        return f"p{self._project[1]}/{rest}"

    def _job_folder(self, old: str) -> str:
        """Put this database's identity into a job's folder, which keeps its last name."""
        return f"jobs/{self._identity}/{old.rpartition('/')[2]}"

    def _upload(self, key: str) -> str:
        """An upload's name is the only one of its server, and the project may be here twice."""
        return hashlib.sha256(f"{self._project[1]}:{key}".encode()).hexdigest()[:32]
