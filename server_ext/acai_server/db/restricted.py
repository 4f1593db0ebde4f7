"""What is behind restrictions: file set versions, jobs, upload sessions. Restrictions go down the provenance graph.

A version of a restricted name, or one that holds files of a restricted folder, is behind the restriction by itself;
what was made of it is too, unless that was lifted. A job is when it was given such a version or writes there, and an
upload session when its files became such a version. So what somebody may not see is a few rows to look up.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from acai_server.db import batches

if TYPE_CHECKING:
    from collections.abc import Iterable

    from sqlalchemy.orm import Session

    from acai_jupyter.contract.ids import FileSetVersionId, JobId, ProjectId, SessionId
    from acai_server.db.sight import Opened

_LIFTED = """EXISTS (SELECT 1 FROM lift l JOIN file_set_version w ON w.file_set_id = l.file_set_id
    WHERE w.id = {} AND l.ended_at IS NULL AND (l.number IS NULL OR l.number = w.number))"""
_PUT = "INSERT INTO restricted_version (file_set_version_id, restriction_id, is_own, is_lifted) "
_ONCE = " ON CONFLICT DO NOTHING"

_OWN = f"{_PUT} VALUES (?, ?, TRUE, FALSE){_ONCE}"
_OF_NAME = f"""{_PUT}
    SELECT v.id, r.id, TRUE, FALSE FROM restriction r JOIN file_set n ON n.project_id = r.project_id AND n.name = r.name
    JOIN file_set_version v ON v.file_set_id = n.id WHERE r.kind = 'file_set' AND {{}}{_ONCE}"""
_INHERIT = f"""{_PUT}
    SELECT DISTINCT o.file_set_version_id, q.restriction_id, FALSE, FALSE FROM action_output o
    JOIN action_input i ON i.action_id = o.action_id
    JOIN restricted_version q ON q.file_set_version_id = i.file_set_version_id AND NOT q.is_lifted
    WHERE o.file_set_version_id = ? AND NOT {_LIFTED.format("o.file_set_version_id")}{_ONCE}"""
_MARK_LIFTED = f"""
    UPDATE restricted_version SET is_lifted = {_LIFTED.format("restricted_version.file_set_version_id")}
    WHERE restriction_id = ? AND is_own AND EXISTS (SELECT 1 FROM restriction r
    WHERE r.id = restricted_version.restriction_id AND r.kind = 'folder')"""
_SPREAD = f"""{_PUT}
    SELECT reached.id, ?, FALSE, FALSE FROM (
    WITH RECURSIVE walk(id) AS (
        SELECT q.file_set_version_id FROM restricted_version q
        WHERE q.restriction_id = ? AND q.is_own AND NOT q.is_lifted UNION
        SELECT o.file_set_version_id FROM walk JOIN action_input i ON i.file_set_version_id = walk.id
        JOIN action_output o ON o.action_id = i.action_id WHERE NOT {_LIFTED.format("o.file_set_version_id")})
    SELECT id FROM walk) reached WHERE TRUE{_ONCE}"""

_JOBS = "INSERT INTO restricted_job (job_id, restriction_id) "
_GIVEN = f"""{_JOBS}
    SELECT DISTINCT i.job_id, q.restriction_id FROM job_input i
    JOIN restricted_version q ON q.file_set_version_id = i.file_set_version_id AND NOT q.is_lifted
    WHERE {{}}{_ONCE}"""
_WRITES = f"""{_JOBS}
    SELECT ?, r.id FROM restriction r WHERE r.project_id = ? AND ((r.kind = 'file_set' AND r.name = ?)
    OR (r.kind = 'folder' AND substr(CAST(? AS TEXT), 1, length(r.name)) = r.name)){_ONCE}"""
_MADE = f"""{_JOBS}
    SELECT DISTINCT j.id, q.restriction_id FROM restricted_version q
    JOIN job j ON j.output_version_id = q.file_set_version_id OR j.partial_version_id = q.file_set_version_id
    WHERE q.restriction_id = ? AND q.is_own{_ONCE}"""

_SESSIONS = "INSERT INTO restricted_session (session_id, restriction_id) "
_OF_JOB = f"""{_SESSIONS}
    SELECT DISTINCT s.id, q.restriction_id FROM upload_session s JOIN restricted_version q
    ON q.file_set_version_id = ? AND NOT q.is_lifted WHERE s.job_id = ?{_ONCE}"""
_OF_JOBS = f"""{_SESSIONS}
    SELECT DISTINCT s.id, q.restriction_id FROM restricted_version q
    JOIN job j ON j.output_version_id = q.file_set_version_id OR j.partial_version_id = q.file_set_version_id
    JOIN upload_session s ON s.job_id = j.id WHERE q.restriction_id = ? AND NOT q.is_lifted{_ONCE}"""
_OF_UPLOAD = f"""{_SESSIONS}
    SELECT s.id, r.id FROM upload_session s JOIN restriction r ON r.project_id = s.project_id
    AND r.kind = 'file_set' AND r.name = s.file_set WHERE {{}}{_ONCE}"""
_OPEN_JOBS = "SELECT id, request FROM job WHERE project_id = ? AND ended_at IS NULL"
_OF_PATHS = """
    SELECT DISTINCT f.path FROM restricted_session q JOIN file_version v ON v.session_id = q.session_id
    JOIN file f ON f.id = v.file_id WHERE f.project_id = ? AND f.path IN"""
_TABLES = ("restricted_version", "restricted_job", "restricted_session")


@dataclass(frozen=True)
class Borders:
    """The restrictions of a project, as who makes things has to know them."""

    folders: dict[int, str]


class RestrictedRecords:
    """What is behind the restrictions of a project. All of it is decided by what is there, whoever looks."""

    def __init__(self, session: Session) -> None:
        self._session = session
        self._borders: dict[ProjectId, Borders | None] = session.info.setdefault("acai_borders", {})

    def borders(self, project: ProjectId) -> Borders | None:
        """Return the restrictions of a project; None when there are none, as nearly everywhere."""
        if project not in self._borders:
            sql = "SELECT id, kind, name FROM restriction WHERE project_id = ?"
            rows = batches.select(self._session, sql, project)
            folders = {row: name for row, kind, name in rows if kind == "folder"}
            self._borders[project] = Borders(folders) if rows else None
        return self._borders[project]

    # -- as things are made

    def made(self, version: FileSetVersionId, folders: Iterable[int]) -> None:
        """Put a new version behind the restriction of its name, and of folders that it has files of."""
        batches.changed(self._session, _OF_NAME.format("v.id = ?"), version)
        own = [(version, restriction) for restriction in folders]
        batches.change(self._session, _OWN, own)
        batches.change(self._session, f"{_MARK_LIFTED} AND file_set_version_id = ?", [(one[1], one[0]) for one in own])

    def inherit(self, version: FileSetVersionId, job: JobId | None) -> None:
        """Put a new version behind what it was made of, and the files that a job wrote too."""
        batches.changed(self._session, _INHERIT, version)
        if job is not None:
            batches.changed(self._session, _OF_JOB, version, job)

    def uploaded(self, session: SessionId) -> None:
        """Put the files of a session behind the restriction of the file set that they are uploaded as."""
        batches.changed(self._session, _OF_UPLOAD.format("s.id = ?"), session)

    def submitted(self, project: ProjectId, job: JobId, output: str | None, folder: str | None) -> None:
        """Put a new job behind what it is given, and behind where it writes."""
        batches.changed(self._session, _GIVEN.format("i.job_id = ?"), job)
        if output is not None:
            batches.changed(self._session, _WRITES, job, project, output, _below(output, folder))

    # -- as restrictions change

    def begin(self, restriction: int, own: Iterable[FileSetVersionId]) -> None:
        """Put what is there behind a new restriction; `own` are the versions with files of its folder."""
        batches.changed(self._session, _OF_NAME.format("r.id = ?"), restriction)
        batches.change(self._session, _OWN, [(version, restriction) for version in own])
        self._borders.clear()

    def spread(self, project: ProjectId, restriction: int) -> None:
        """Find anew what is behind a restriction because of what it was made of."""
        for sql in (
            "DELETE FROM restricted_version WHERE restriction_id = ? AND NOT is_own",
            "DELETE FROM restricted_job WHERE restriction_id = ?",
            "DELETE FROM restricted_session WHERE restriction_id = ?",
            _MARK_LIFTED,
        ):
            batches.changed(self._session, sql, restriction)
        batches.changed(self._session, _SPREAD, restriction, restriction)
        for sql in (_GIVEN.format("q.restriction_id = ?"), _MADE, _OF_JOBS, _OF_UPLOAD.format("r.id = ?")):
            batches.changed(self._session, sql, restriction)
        for job, output, folder in self._open_jobs(project):
            batches.changed(self._session, _WRITES, job, project, output, folder)

    def _open_jobs(self, project: ProjectId) -> list[tuple[int, str, str]]:
        from acai_server.db.rows import as_json

        rows = [(job, as_json(request)) for job, request in batches.select(self._session, _OPEN_JOBS, project)]
        return [
            (job, request["output"], _below(request["output"], request.get("output_root")))
            for job, request in rows
            if request.get("output")
        ]

    def end(self, restriction: int) -> None:
        """Let nothing be behind a restriction any more."""
        for table in _TABLES:
            batches.changed(self._session, f"DELETE FROM {table} WHERE restriction_id = ?", restriction)
        self._borders.clear()

    # -- as it is told

    def hidden_jobs(self, restrictions: tuple[int, ...]) -> tuple[int, int]:
        """Return a count and a sum that change when other jobs are behind these restrictions."""
        marks = ", ".join("?" * len(restrictions))
        sql = f"SELECT count(*), coalesce(sum(job_id), 0) FROM restricted_job WHERE restriction_id IN ({marks})"
        count, numbers = batches.select(self._session, sql, *restrictions)[0]
        return int(count), int(numbers)

    def behind(self, version: FileSetVersionId) -> set[int]:
        """Return the restrictions that a file set version is behind."""
        sql = "SELECT restriction_id FROM restricted_version WHERE NOT is_lifted AND file_set_version_id = ?"
        return {row[0] for row in batches.select(self._session, sql, version)}

    def among(self, project: ProjectId, opened: Opened) -> list[str]:
        """Return what of all that was looked into is restricted, as people write it."""
        sets = (
            "SELECT DISTINCT file_set_version_id FROM restricted_version WHERE NOT is_lifted AND file_set_version_id IN"
        )
        jobs = "SELECT DISTINCT job_id FROM restricted_job WHERE job_id IN"
        behind = {row for (row,) in batches.select_in(self._session, sets, opened.sets)}
        found = [f"file set {opened.sets[row]}" for row in sorted(behind)]
        found += [f"job {opened.jobs[row]}" for (row,) in batches.select_in(self._session, jobs, opened.jobs)]
        borders = self.borders(project)
        below = tuple(borders.folders.values()) if borders is not None else ()
        paths = {path for path in opened.paths if path.startswith(below)} if below else set()
        paths |= {row[0] for row in batches.select_in(self._session, _OF_PATHS, opened.paths, project)}
        return [*found, *(f"file {path}" for path in sorted(paths))]


def _below(output: str, folder: str | None) -> str:
    """Below which folder the outputs of a job are kept."""
    return (folder or f"/{output}").rstrip("/") + "/"
