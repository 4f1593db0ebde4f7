"""`uploads`: upload sessions that were begun and not ended."""

from __future__ import annotations

from typing import TYPE_CHECKING

from acai_jupyter.client import pages
from acai_jupyter.commands.listings import Listing
from acai_jupyter.commands.results import Result
from acai_jupyter.commands.units import ago, files_of, size
from acai_jupyter.contract import endpoints

if TYPE_CHECKING:
    from argparse import Namespace

    from acai_jupyter.client.http import Client


def uploads(client: Client, arguments: Namespace) -> Result:
    """List what is pending, or abort one."""
    if arguments.abort is not None:
        gone = client.call(endpoints.ABORT_UPLOAD, upload=arguments.abort)
        return Result(f"upload {gone.id[:8]} aborted · what it had sent is deleted", gone, "upload")
    found = pages.whole(client, endpoints.LIST_UPLOADS, "uploads", "before")
    rows = [
        [one.id, one.label, files_of(one.staged_files), size(one.sent_bytes), ago(one.touched_at)]
        for one in found.uploads
    ]
    if not rows:
        return Result("no pending uploads", found, "uploads")
    hint = "Continue one by the same put line again; give one up by acai uploads --abort ID."
    listed = Listing(rows, "<<>><", ("id", "what", "files", "sent", "last"), rest=hint)
    return Result(listed.text, found, "uploads", html=listed.html)
