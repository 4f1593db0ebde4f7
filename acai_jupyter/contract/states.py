"""The states of things, each with its allowed transitions in one table beside it."""

from __future__ import annotations

from enum import StrEnum


class JobState(StrEnum):
    """Where a job is in its life."""

    QUEUED = "queued"
    """Waits for its turn, its quota or a machine."""
    LAUNCHING = "launching"
    """Holds its place; the runner is starting the agent."""
    DOWNLOADING = "downloading"
    """The agent fetches code and inputs; billing has begun."""
    RUNNING = "running"
    """The program runs."""
    UPLOADING = "uploading"
    """The program ended; its outputs are being kept."""
    FINISHED = "finished"
    """The program succeeded and its outputs are recorded."""
    FAILED = "failed"
    """The program's own fault; tried again only when that was asked for, or when it may have more memory."""
    KILLED = "killed"
    """Somebody asked for it."""
    CRASHED = "crashed"
    """The machine's fault; tried again while retries remain."""


_LIVE = (JobState.LAUNCHING, JobState.DOWNLOADING, JobState.RUNNING, JobState.UPLOADING)
_BAD_ENDS = (JobState.FAILED, JobState.KILLED, JobState.CRASHED)

LIVE_STATES = frozenset(_LIVE)
"""The states in which a job holds a machine and counts against the quota."""

END_STATES = frozenset((JobState.FINISHED, *_BAD_ENDS))

JOB_TRANSITIONS: dict[JobState, frozenset[JobState]] = {
    JobState.QUEUED: frozenset((JobState.LAUNCHING, JobState.KILLED, JobState.FAILED)),
    JobState.LAUNCHING: frozenset((JobState.DOWNLOADING, JobState.RUNNING, JobState.UPLOADING, *_BAD_ENDS)),
    JobState.DOWNLOADING: frozenset((JobState.RUNNING, JobState.UPLOADING, *_BAD_ENDS)),
    JobState.RUNNING: frozenset((JobState.UPLOADING, *_BAD_ENDS)),
    JobState.UPLOADING: frozenset((JobState.FINISHED, *_BAD_ENDS)),
    JobState.FINISHED: frozenset(),
    JobState.FAILED: frozenset((JobState.QUEUED,)),
    JobState.KILLED: frozenset(),
    JobState.CRASHED: frozenset((JobState.QUEUED,)),
}


class UploadState(StrEnum):
    """Where an upload session is."""

    PENDING = "pending"
    """Names are staged, bytes may be arriving; nothing is visible."""
    COMMITTED = "committed"
    """All its files have their versions."""
    ABORTED = "aborted"
    """Given up; it took no version number."""


class Role(StrEnum):
    """What a user may do in a project."""

    VIEWER = "viewer"
    """Reads."""
    MEMBER = "member"
    """Reads, writes and runs."""
    ADMIN = "admin"
    """All of it, and rules the project."""


class Scope(StrEnum):
    """What a token may be used for, of what its user may do."""

    READ = "read"
    """Reading."""
    WRITE = "write"
    """Reading, writing and running."""
    ADMIN = "admin"
    """All of it: ruling a project too, and making further tokens."""


class InputRole(StrEnum):
    """In which role a file set went into an action."""

    DATA = "data"
    CODE = "code"
    VARIABLES = "variables"


class ActionKind(StrEnum):
    """What made a file set version."""

    UPLOAD = "upload"
    CREATION = "creation"
    JOB = "job"


class StorageClass(StrEnum):
    """How soon and how often bytes will be read, which decides what keeping them costs."""

    FREQUENT = "frequent"
    """At any time."""
    INFREQUENT = "infrequent"
    """Now and then; kept for less, read for more."""
    ARCHIVE = "archive"
    """Hardly ever, but at once when it is."""
