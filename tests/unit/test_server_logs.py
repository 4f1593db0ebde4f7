"""Lines of the server's log: documents, with nothing in them that opens anything."""

from __future__ import annotations

import json
import logging
import sys

import pytest

from acai_server.logs import HIDDEN, JsonLines, without_secrets

TOKEN = "acai_" + "aB3-_" * 8 + "xyz"
JWT = "eyJhbGciOiJSUzI1NiJ9.eyJzdWIiOiJhbm4ifQ.c2lnbmF0dXJl"


@pytest.mark.parametrize(
    ("text", "secret"),
    [
        (f"cannot use {TOKEN}.", TOKEN),
        (f"Authorization: Bearer {TOKEN}", TOKEN),
        ("{'Authorization': 'token 0123456789abcdef'}", "0123456789abcdef"),
        ("{'Cookie': '_xsrf=2|ab|cd'}", "2|ab|cd"),
        (f"the token {JWT} has expired", JWT),
        ("http://h:1/acai/api/v1/objects/k?expires=5&signature=Zm9v-_", "Zm9v-_"),
        ("https://b.s3.amazonaws.com/k?X-Amz-Credential=AK%2F1&X-Amz-Signature=0f0f&x=1", "0f0f"),
        ("https://b.s3.amazonaws.com/k?X-Amz-Credential=AK%2F1&X-Amz-Signature=0f0f&x=1", "AK%2F1"),
        ("http://localhost:8888/lab?token=c0ffee", "c0ffee"),
        ("connecting to postgresql://acai:hunter2@db/acai failed", "hunter2"),
    ],
)
def test_what_opens_something_is_not_in_a_line(text: str, secret: str) -> None:
    cleaned = without_secrets(text)
    assert secret not in cleaned
    assert HIDDEN in cleaned


def test_the_address_inside_another_parameter_loses_its_secret_too() -> None:
    assert without_secrets("/login?next=/lab?token=c0ffee&x=1") == f"/login?next=/lab?{HIDDEN}&x=1"


@pytest.mark.timeout(60)
@pytest.mark.parametrize(
    ("start", "repeated"),
    [
        ("/acai/api/x&", "key"),
        ("/acai/api/x&", "a%"),
        ("", "&key"),
        ("", "?signature="),
        ("", "eyJ-"),
        ("", "eyJa."),
        ("", "acai_-"),
        ("", "://a"),
        ("://", "a"),
        ("", "cookie "),
        ("authorization", " "),
        ("authorization:bearer", " "),
    ],
)
def test_hostile_text_takes_linear_time(start: str, repeated: str) -> None:
    """Patterns that take quadratic time need at least twenty minutes for two million characters."""
    assert without_secrets(start + repeated * (2_000_000 // len(repeated)))


@pytest.mark.parametrize("text", ["job 7 of ann: acai_server.engine", "GET /acai/api/v1/projects/lab/jobs?limit=5 404"])
def test_what_opens_nothing_stays(text: str) -> None:
    assert without_secrets(text) == text


def test_a_line_is_a_document_with_what_the_record_knows_and_its_error() -> None:
    try:
        int(TOKEN)
    except ValueError:
        record = logging.LogRecord("acai_server", logging.ERROR, "", 0, "two\nlines of %s", ("it",), sys.exc_info())
    record.acai = {"user": "ann", "status": 500}
    line = JsonLines().format(record)
    assert "\n" not in line
    said = json.loads(line)
    assert (said["level"], said["logger"], said["message"]) == ("error", "acai_server", "two\nlines of it")
    assert (said["user"], said["status"]) == ("ann", 500)
    assert "ValueError" in said["error"]
    assert TOKEN not in line
