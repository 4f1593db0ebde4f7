"""Asking a server of the operator's for a JSON document."""

from __future__ import annotations

from typing import Any
from urllib.parse import urlsplit

import msgspec
import urllib3

from acai_jupyter.contract import decoding
from acai_jupyter.contract.errors import Unavailable

SECONDS = 10.0
MAX_BYTES = 1024 * 1024
OK = 200


def ask(url: str, headers: dict[str, str] | None = None) -> tuple[int, dict[str, Any]]:
    """Return the status and the document; a redirection is not followed, and what is no document is an empty one."""
    try:
        with urllib3.PoolManager(timeout=SECONDS, retries=False) as http:
            answer = http.request("GET", url, headers=headers, redirect=False, preload_content=False)
            body = answer.read(MAX_BYTES)
            answer.close()
    except urllib3.exceptions.HTTPError as error:
        raise Unavailable(reason=f"{urlsplit(url).netloc}, which says who people are, does not answer") from error
    try:
        found = decoding.plain_json(body)
    except msgspec.DecodeError:
        found = {}
    return answer.status, found if isinstance(found, dict) else {}
