"""Every route of the API, once: the server binds functions to these, the client calls them, OpenAPI is made of them."""

from __future__ import annotations

from enum import StrEnum
from typing import Any, Generic, TypeVar

import msgspec

from acai_jupyter.contract import events, filesets, jobs, projects, provenance, queries, uploads

BASE = "/acai/api"
PROJECT = "/v1/projects/{project}"

ResponseT = TypeVar("ResponseT")


class Access(StrEnum):
    """What a caller needs."""

    READ = "read"
    """A role that reads."""
    WRITE = "write"
    """A role that writes and runs."""
    SIGNATURE = "signature"
    """A valid signature in the URL, and nothing else."""


class Endpoint(msgspec.Struct, Generic[ResponseT], frozen=True):
    """One verb on one route."""

    name: str
    method: str
    path: str
    summary: str
    response: type[ResponseT]
    body: type[msgspec.Struct] | None = None
    query: type[msgspec.Struct] = queries.NoQuery
    access: Access = Access.READ
    status: int = 200
    max_bytes: int = 1024 * 1024
    stream: bool = False
    """Speaks something else than JSON: bytes, or a WebSocket."""


GET_STATUS = Endpoint("get_status", "GET", "/v1/status", "What this server is and who you are to it.", projects.Status)
GET_OPENAPI = Endpoint("get_openapi", "GET", "/openapi.json", "This document.", dict[str, Any])

LIST_EVENTS = Endpoint(
    "list_events",
    "GET",
    f"{PROJECT}/events",
    "What changed after an event's number.",
    events.EventPage,
    query=queries.EventQuery,
)
STREAM_EVENTS = Endpoint(
    "stream_events",
    "GET",
    f"{PROJECT}/events/stream",
    "A WebSocket that sends pages of events as they happen.",
    events.EventPage,
    query=queries.EventQuery,
    stream=True,
)

CREATE_UPLOAD = Endpoint(
    "create_upload",
    "POST",
    f"{PROJECT}/uploads",
    "Start an upload session.",
    uploads.Upload,
    body=uploads.CreateUpload,
    access=Access.WRITE,
    status=201,
    max_bytes=64 * 1024 * 1024,
)
CREATE_TARGETS = Endpoint(
    "create_targets",
    "POST",
    f"{PROJECT}/uploads/{{upload}}/targets",
    "Get the places to send an upload session's objects to.",
    uploads.TargetList,
    body=uploads.CreateTargets,
    access=Access.WRITE,
    status=201,
)
COMMIT_UPLOAD = Endpoint(
    "commit_upload",
    "POST",
    f"{PROJECT}/uploads/{{upload}}/commit",
    "Give the files of an upload session their versions.",
    uploads.UploadResult,
    body=uploads.CommitUpload,
    access=Access.WRITE,
    max_bytes=64 * 1024 * 1024,
)
PUT_OBJECT = Endpoint(
    "put_object",
    "PUT",
    "/v1/objects/{key}",
    "Send the bytes of an object to a signed URL.",
    dict[str, Any],
    query=queries.ObjectQuery,
    access=Access.SIGNATURE,
    stream=True,
)
GET_OBJECT = Endpoint(
    "get_object",
    "GET",
    "/v1/objects/{key}",
    "Fetch an object, or with a Range header a part of it, from a signed URL.",
    dict[str, Any],
    query=queries.ObjectQuery,
    access=Access.SIGNATURE,
    stream=True,
)

LIST_FILE_SETS = Endpoint(
    "list_file_sets",
    "GET",
    f"{PROJECT}/filesets",
    "The newest version of every file set.",
    filesets.FileSetPage,
    query=queries.FileSetQuery,
)
GET_FILE_SET = Endpoint(
    "get_file_set", "GET", f"{PROJECT}/filesets/{{ref}}", "One version of a file set.", filesets.FileSet
)
LIST_ENTRIES = Endpoint(
    "list_entries",
    "GET",
    f"{PROJECT}/filesets/{{ref}}/entries",
    "The file versions in a file set.",
    filesets.EntryPage,
    query=queries.EntryQuery,
)

CREATE_JOB = Endpoint(
    "create_job",
    "POST",
    f"{PROJECT}/jobs",
    "Submit a job.",
    jobs.Job,
    body=jobs.CreateJob,
    access=Access.WRITE,
    status=201,
)
LIST_JOBS = Endpoint(
    "list_jobs", "GET", f"{PROJECT}/jobs", "Jobs, the newest first.", jobs.JobPage, query=queries.JobQuery
)
GET_JOB = Endpoint("get_job", "GET", f"{PROJECT}/jobs/{{job}}", "One job with its attempts.", jobs.Job)
GET_LOG = Endpoint(
    "get_log", "GET", f"{PROJECT}/jobs/{{job}}/log", "A stretch of a job's log.", jobs.LogPage, query=queries.LogQuery
)

GET_ORIGIN = Endpoint(
    "get_origin",
    "GET",
    f"{PROJECT}/provenance/{{ref}}/back",
    "One step back: the action that made a file set version, and what went into it.",
    provenance.Graph,
)

ALL: tuple[Endpoint[Any], ...] = tuple(value for value in list(globals().values()) if isinstance(value, Endpoint))
