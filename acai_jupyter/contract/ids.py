"""Typed ids: a job's number cannot be passed where a file set's id is meant."""

from __future__ import annotations

from typing import NewType

ProjectId = NewType("ProjectId", int)
UserId = NewType("UserId", int)
TokenId = NewType("TokenId", int)
FileVersionId = NewType("FileVersionId", int)
FileSetVersionId = NewType("FileSetVersionId", int)
ActionId = NewType("ActionId", int)
AttemptId = NewType("AttemptId", int)
JobId = NewType("JobId", int)
"""The row of a job, unique in the database. People see `JobNumber`."""
JobNumber = NewType("JobNumber", int)
"""What people type: counts within a project."""
SessionId = NewType("SessionId", int)
"""The row of an upload session. People see `UploadId`."""
UploadId = NewType("UploadId", str)
Sha256 = NewType("Sha256", str)
"""64 lower-case hexadecimal digits."""
ObjectKey = NewType("ObjectKey", str)
