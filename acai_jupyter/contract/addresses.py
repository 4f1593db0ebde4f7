"""Addresses of servers: when two of them name the same one, so that a token of the one may be sent to the other."""

from __future__ import annotations

from urllib.parse import urlsplit

_PORTS = {"http": 80, "https": 443}


def canonical(url: str) -> str:
    """Return an address in the one form that all its spellings share: scheme, host, port and base path.

    `http` and `https` differ, and so do two names of one machine: a token is bound to the name that it was given for.
    """
    try:
        parts = urlsplit(url.strip())
        port = parts.port or _PORTS.get(parts.scheme)
    except ValueError:
        return url
    return f"{parts.scheme}://{(parts.hostname or '').lower()}:{port}{parts.path.rstrip('/')}"


def is_same_server(one: str, other: str) -> bool:
    """Whether two addresses lead to the same server."""
    return canonical(one) == canonical(other)
