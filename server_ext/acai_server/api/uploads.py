"""Upload sessions over HTTP."""

from __future__ import annotations

from typing import TYPE_CHECKING

from acai_jupyter.contract import endpoints
from acai_jupyter.contract.queries import UploadQuery
from acai_jupyter.contract.uploads import (
    AddObjects,
    Arrived,
    CommitUpload,
    CreateTargets,
    CreateUpload,
    Staged,
    StageFiles,
    TargetList,
    Upload,
    UploadList,
    UploadResult,
)

if TYPE_CHECKING:
    from acai_server.api.call import Call, Operations


def create_upload(call: Call) -> Upload:
    """Start a session."""
    return call.services.lake.uploads.create(call.project, call.user, call.sent(CreateUpload))


def list_uploads(call: Call) -> UploadList:
    """List the caller's sessions."""
    return call.services.lake.uploads.of_user(call.project, call.user, call.queried(UploadQuery))


def get_upload(call: Call) -> Upload:
    """Return one session."""
    return call.services.lake.uploads.get(call.project, call.user, call.params["upload"])


def stage_files(call: Call) -> Staged:
    """Stage a page of names."""
    page = call.sent(StageFiles)
    uploads, session = call.services.lake.uploads, (call.project, call.user, call.params["upload"])
    if page.anew:
        uploads.stage_anew(*session)
    return Staged(uploads.stage(*session, page.files, page.removed))


def create_targets(call: Call) -> TargetList:
    """Hand out places to send to."""
    wanted = call.sent(CreateTargets).objects
    return TargetList(call.services.lake.uploads.targets(call.project, call.user, call.params["upload"], wanted))


def add_objects(call: Call) -> Arrived:
    """Record what has arrived."""
    sent = call.sent(AddObjects).objects
    return Arrived(call.services.lake.uploads.add(call.project, call.user, call.params["upload"], sent))


def commit_upload(call: Call) -> UploadResult:
    """Give the files their versions."""
    sent = call.sent(CommitUpload).objects
    return call.services.lake.uploads.commit(call.project, call.user, call.params["upload"], sent)


def abort_upload(call: Call) -> Upload:
    """Give a session up."""
    return call.services.lake.uploads.abort(call.project, call.user, call.params["upload"])


OPERATIONS: Operations = {
    endpoints.CREATE_UPLOAD: create_upload,
    endpoints.LIST_UPLOADS: list_uploads,
    endpoints.GET_UPLOAD: get_upload,
    endpoints.STAGE_FILES: stage_files,
    endpoints.CREATE_TARGETS: create_targets,
    endpoints.ADD_OBJECTS: add_objects,
    endpoints.COMMIT_UPLOAD: commit_upload,
    endpoints.ABORT_UPLOAD: abort_upload,
}
