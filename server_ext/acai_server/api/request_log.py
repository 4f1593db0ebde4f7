"""What is logged of each request to ACAI: never the query of its address, which may hold a signature or a token."""

from __future__ import annotations

import logging
from typing import TYPE_CHECKING, Any

from jupyter_server.prometheus.log_functions import prometheus_log_method

from acai_server.api.base import BaseHandler
from acai_server.logs import REQUESTS, without_secrets

if TYPE_CHECKING:
    from collections.abc import Callable

    from tornado.web import RequestHandler

_REFUSED, _FAILED = 400, 500
"""From these states on."""


def logged(
    before: Callable[[RequestHandler], None], *, counts: bool, as_json: bool
) -> Callable[[RequestHandler], None]:
    """Return a function that logs requests to ACAI, and leaves all others to the function that was there `before`.

    It also keeps Jupyter's own count of requests, if that `counts`.
    """
    write = _write_json if as_json else _write_text

    def log(handler: RequestHandler) -> None:
        if not isinstance(handler, BaseHandler):
            before(handler)
            return
        write(handler)
        if counts:
            prometheus_log_method(handler)  # type: ignore[no-untyped-call]  # as it is in Jupyter

    return log


def _write_json(handler: BaseHandler) -> None:
    said = _said(handler)
    status = said["status"]
    REQUESTS.log(_level(status, logging.INFO), "%s %s", said["route"] or "no route", status, extra={"acai": said})


def _write_text(handler: BaseHandler) -> None:
    """Write a line as Jupyter does: requests that succeeded only when debugging."""
    said = _said(handler)
    handler.log.log(
        _level(said["status"], logging.DEBUG),
        "%s %s %s (%s@%s) %.2fms",
        said["status"],
        said["method"],
        without_secrets(handler.shown_path),
        said["user"],
        said["address"],
        1000 * said["seconds"],
    )


def _level(status: int, succeeded: int) -> int:
    return logging.ERROR if status >= _FAILED else logging.WARNING if status >= _REFUSED else succeeded


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
