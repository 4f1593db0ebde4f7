"""A signed URL does one thing, for a while, and nothing else."""

from __future__ import annotations

from typing import Any
from urllib.parse import parse_qs, urlsplit

import msgspec
import pytest

from acai_jupyter.contract.errors import NotAllowed
from acai_jupyter.contract.ids import ObjectKey
from acai_jupyter.contract.queries import ObjectQuery
from acai_server.objects.signing import UrlSigner

KEY = ObjectKey("p1/objects/ab/abcd")
ADDRESS = "http://127.0.0.1:8888/base"
HASH = "0" * 64


def signer(secret: bytes = b"secret", now: float = 1000.0) -> UrlSigner:
    return UrlSigner(secret, lambda: ADDRESS, lambda: now, valid_seconds=60)


def query(url: str) -> ObjectQuery:
    values = {name: found[0] for name, found in parse_qs(urlsplit(url).query).items()}
    return msgspec.convert(values, ObjectQuery, strict=False)


def test_a_url_says_where_the_server_is_now() -> None:
    assert signer().url("GET", KEY).startswith(f"{ADDRESS}/acai/api/v1/objects/{KEY}?")


@pytest.mark.parametrize("now", [1000.0, 1059.0, 1060.0])
def test_a_url_is_good_for_its_time(now: float) -> None:
    signer(now=now).check("GET", KEY, query(signer().url("GET", KEY)))


def test_an_expired_url_is_refused_with_the_way_out() -> None:
    with pytest.raises(NotAllowed, match="expired; ask for a new one"):
        signer(now=1061.0).check("GET", KEY, query(signer().url("GET", KEY)))


@pytest.mark.parametrize("method", ["PUT", "DELETE", "HEAD", "get", ""])
def test_another_method_is_refused(method: str) -> None:
    with pytest.raises(NotAllowed, match="not valid"):
        signer().check(method, KEY, query(signer().url("GET", KEY)))


@pytest.mark.parametrize("key", ["p1/objects/ab/abce", "p2/objects/ab/abcd", "", f"{KEY}\n", f"{KEY}/x"])
def test_another_key_is_refused(key: str) -> None:
    with pytest.raises(NotAllowed, match="not valid"):
        signer().check("GET", key, query(signer().url("GET", KEY)))


@pytest.mark.parametrize(
    "changed",
    [
        {"expires": 9999},
        {"size": 11},
        {"size": None},
        {"sha256": "1" * 64},
        {"sha256": None},
        {"signature": ""},
        {"signature": "0" * 64},
        {"signature": "\u00e4"},
    ],
)
def test_what_was_altered_is_refused(changed: dict[str, Any]) -> None:
    signed = query(signer().url("PUT", KEY, size_bytes=10, sha256=HASH))
    signer().check("PUT", KEY, signed)
    with pytest.raises(NotAllowed, match="not valid"):
        signer().check("PUT", KEY, msgspec.structs.replace(signed, **changed))


def test_another_servers_signature_is_refused() -> None:
    with pytest.raises(NotAllowed, match="not valid"):
        signer(b"other").check("GET", KEY, query(signer().url("GET", KEY)))
