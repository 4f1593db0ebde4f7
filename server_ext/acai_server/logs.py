"""The log of a server, as text or as lines of JSON, without tokens, signatures and passwords.

ACAI logs no token and no signed URL. This module also removes them from what libraries log and from tracebacks.
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
_OF_ACAI = (
    re.compile(r"\bacai(?:_|%5f)[A-Za-z0-9_-]{16,}", re.IGNORECASE),
    re.compile(r"(?<=[?&])signature=[^&\s\"'<>]+", re.IGNORECASE),
    re.compile(r"(?<=[?&])[\w%-]+=[0-9a-f]{64}\b"),  # the same where the parameter's name is percent-encoded
)
"""What ACAI itself issues."""
_SECRETS = (  # strangers write what these search: each takes time linear in the length of the text
    *_OF_ACAI,
    re.compile(
        r"(?<![A-Za-z0-9_-])eyJ[A-Za-z0-9_-]+\.[A-Za-z0-9_-]+(?:\.[A-Za-z0-9_-]*)?"
    ),  # what an identity provider signs
    re.compile(r"(?<=://)[^/@\s\"']+(?=@)"),  # who, and with which password, in an address
    re.compile(
        r"(?<=[?&])(?=[\w%.-]*(?:token|signature|credential|secret|password|passwd|auth|code|state|key|xsrf))[\w%.-]+="
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


class CleanText(logging.Formatter):
    """Formats as another formatter does and removes secrets from the result, tracebacks included."""

    def __init__(self, inner: logging.Formatter, *, with_jupyter: bool) -> None:
        super().__init__()
        self._inner = inner
        self._with_jupyter = with_jupyter

    def format(self, record: logging.LogRecord) -> str:
        """Format a record."""
        text = self._inner.format(record)
        if self._with_jupyter or record.name.startswith("acai_server"):
            return without_secrets(text)
        for secret in _OF_ACAI:
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


def write_text(loggers: Iterable[logging.Logger], *, with_jupyter: bool) -> None:
    """Remove secrets from the text that these loggers, those of ACAI and those of libraries write.

    Jupyter announces its own token when it starts, because its user needs the URL: that line is cleaned only
    `with_jupyter`, where there is no such token.
    """
    jupyters = {id(handler): handler for logger in loggers for handler in logger.handlers}
    root = logging.getLogger()
    for handler in (*jupyters.values(), *root.handlers):
        if not isinstance(handler.formatter, CleanText):
            inner = handler.formatter or logging.Formatter()
            handler.setFormatter(CleanText(inner, with_jupyter=with_jupyter))
    if logging.lastResort is not None:  # what libraries say while the root logger has no handler
        logging.lastResort.setFormatter(CleanText(logging.Formatter(), with_jupyter=True))


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
