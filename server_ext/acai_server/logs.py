"""The log of a server as lines of JSON, each a document, with nothing in it that opens anything.

Nothing of ours logs a token or a signed URL; what else is logged, by a library or in a traceback, is cleaned here.
"""

from __future__ import annotations

import json
import logging
import re
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Iterable

HIDDEN = "[secret]"
REQUESTS = logging.getLogger("acai_server.requests")
"""A line for each request of ours that was answered."""
_SECRETS = (
    re.compile(r"\bacai_[A-Za-z0-9_-]{16,}"),
    re.compile(r"\beyJ[A-Za-z0-9_-]+\.[A-Za-z0-9_-]+(?:\.[A-Za-z0-9_-]*)?"),  # what an identity provider signs
    re.compile(r"(?<=://)[^/@\s\"']+(?=@)"),  # who, and with which password, in an address
    re.compile(
        r"(?<=[?&])[\w%.-]*(?:token|signature|credential|secret|password|passwd|auth|code|state|key|xsrf)[\w%.-]*="
        r"[^&\s\"'<>]+",
        re.IGNORECASE,
    ),
    re.compile(
        r"\b(?:authorization|cookie|x-xsrftoken)[\"']?\s*[:=]\s*[\"']?(?:(?:bearer|token|basic)\s+)?[^\s\"',}]+",
        re.IGNORECASE,
    ),
)


def without_secrets(text: str) -> str:
    """Return a text with nothing in it that looks as if it opened something."""
    for secret in _SECRETS:
        text = secret.sub(HIDDEN, text)
    return text


class JsonLines(logging.Formatter):
    """One line for each record: when, how bad, whose, what; what a record knows besides stands beside it."""

    def format(self, record: logging.LogRecord) -> str:
        """Write a record."""
        said: dict[str, Any] = {
            "at": datetime.fromtimestamp(record.created, UTC).isoformat(timespec="milliseconds"),
            "level": record.levelname.lower(),
            "logger": record.name,
            "message": without_secrets(record.getMessage()),
        }
        said |= getattr(record, "acai", {})
        if record.exc_info:
            said["error"] = without_secrets(self.formatException(record.exc_info))
        return json.dumps(said, default=str)


def write_json(loggers: Iterable[logging.Logger]) -> None:
    """Write what these loggers, and from now on all others of the process, say as lines of JSON."""
    handlers = {id(handler): handler for logger in loggers for handler in logger.handlers}
    root = logging.getLogger()
    for handler in handlers.values():
        handler.setFormatter(JsonLines())
    if not any(isinstance(handler.formatter, JsonLines) for handler in root.handlers):
        root.addHandler(next(iter(handlers.values()), None) or _to_errors())
    logging.getLogger("acai_server").setLevel(logging.INFO)
    logging.captureWarnings(capture=True)


def _to_errors() -> logging.Handler:
    handler = logging.StreamHandler()
    handler.setFormatter(JsonLines())
    return handler
