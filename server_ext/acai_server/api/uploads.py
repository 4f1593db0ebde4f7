"""Upload sessions over HTTP."""

from __future__ import annotations

from typing import TYPE_CHECKING

from acai_jupyter.contract import endpoints
from acai_jupyter.contract.uploads import CommitUpload, CreateTargets, CreateUpload, TargetList, Upload, UploadResult

if TYPE_CHECKING:
    from acai_server.api.call import Call, Operations


def create_upload(call: Call) -> Upload:
    """Start a session."""
    return call.services.lake.uploads.create(call.project, call.user, call.sent(CreateUpload))


def create_targets(call: Call) -> TargetList:
    """Hand out places to send to."""
    wanted = call.sent(CreateTargets).objects
    return TargetList(call.services.lake.uploads.targets(call.project, call.params["upload"], wanted))


def commit_upload(call: Call) -> UploadResult:
    """Give the files their versions."""
    return call.services.lake.uploads.commit(call.project, call.params["upload"], call.sent(CommitUpload))


OPERATIONS: Operations = {
    endpoints.CREATE_UPLOAD: create_upload,
    endpoints.CREATE_TARGETS: create_targets,
    endpoints.COMMIT_UPLOAD: commit_upload,
}
