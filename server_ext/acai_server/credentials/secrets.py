"""How tokens look, and what is kept of them."""

from __future__ import annotations

import hashlib
import secrets

PREFIX = "acai_"
"""By which scanners know our tokens."""


def new_token() -> str:
    """Return a token that nobody can guess."""
    return PREFIX + secrets.token_urlsafe(32)


def token_hash(token: str) -> bytes:
    """Return what is kept of a token. It is random and long, so one round of SHA-256 is enough.

    What is looked up is the hash: how long that takes tells nothing of how much of a guess was right.
    """
    return hashlib.sha256(token.encode()).digest()
