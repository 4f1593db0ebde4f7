"""What is logged of each request where the log is lines of JSON. Not its address: that may hold a signature."""

from __future__ import annotations

import logging
from typing import TYPE_CHECKING, Any

from jupyter_server.prometheus.log_functions import prometheus_log_method

from acai_server.api.base import BaseHandler
from acai_server.logs import REQUESTS

if TYPE_CHECKING:
    from collections.abc import Callable

    from tornado.web import RequestHandler

_REFUSED, _FAILED = 400, 500
"""From these states on."""


def logged(before: Callable[[RequestHandler], None], *, counts: bool) -> Callable[[RequestHandler], None]:
    """Return what logs a request of ours by itself, and leaves those of others to who did it before.

    It also keeps Jupyter's own count of requests, if that `counts`.
    """

    def log(handler: RequestHandler) -> None:
        if not isinstance(handler, BaseHandler):
            before(handler)
            return
        said = _said(handler)
        status = said["status"]
        level = logging.ERROR if status >= _FAILED else logging.WARNING if status >= _REFUSED else logging.INFO
        REQUESTS.log(level, "%s %s", said["route"] or "no route", status, extra={"acai": said})
        if counts:
            prometheus_log_method(handler)  # type: ignore[no-untyped-call]  # as it is in Jupyter

    return log


def _said(handler: BaseHandler) -> dict[str, Any]:
    endpoint = handler.endpoints.get(handler.request.method or "")
    member = getattr(handler, "member", None)
    return {
        "request_id": handler.request_id,
        "user": "" if member is None else member.name,
        "project": "" if member is None or member.role is None else member.project,
        "route": "" if endpoint is None else endpoint.name,
        "method": handler.request.method,
        "status": handler.get_status(),
        "seconds": round(handler.request.request_time(), 6),
        "address": handler.request.remote_ip,
    }
