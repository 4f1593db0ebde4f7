"""Whole logs as files: the bytes as they were printed."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, ClassVar

from acai_jupyter.contract import endpoints
from acai_jupyter.contract.queries import AttemptQuery
from acai_server.api.streams import StreamHandler

if TYPE_CHECKING:
    from collections.abc import Iterator

    from acai_server.api.call import Call


class JobLogHandler(StreamHandler):
    """Sends an attempt's log; of one that lives, what there is until now."""

    endpoints: ClassVar[dict[str, Any]] = {"GET": endpoints.DOWNLOAD_LOG}

    def content_type(self, query: Any) -> str:
        """Text, of which programs only should have printed UTF-8."""
        del query
        return "text/plain; charset=utf-8"

    def pieces(self, call: Call) -> Iterator[bytes]:
        """Give the log."""
        query = call.queried(AttemptQuery)
        return call.services.engine.log_stream(call.project, call.job, query.attempt, query.offset, query.node)
