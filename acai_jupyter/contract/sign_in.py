"""Signing in by what somebody else says of who one is: an OpenID Connect issuer, or the hub of JupyterHub."""

from __future__ import annotations

from typing import Annotated

import msgspec

from acai_jupyter.contract.accounts import IssuedToken
from acai_jupyter.contract.routes import Access, Endpoint

Shown = Annotated[str, msgspec.Meta(min_length=1, max_length=16_384)]


class SignInWays(msgspec.Struct, frozen=True):
    """How one can sign in here without a token of ACAI's. An empty `issuer`: not by OpenID Connect."""

    issuer: str
    client_id: str
    scope: str
    """What to ask the issuer for."""
    jupyterhub: bool


class SignIn(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """An ID token of the issuer, or the token of one's own server of JupyterHub; and which project to open."""

    id_token: Shown | None = None
    hub_token: Shown | None = None
    project: Annotated[str, msgspec.Meta(max_length=128)] | None = None
    """Without it, the one that one is in; of several the first by name."""


GET_SIGN_IN = Endpoint(
    "get_sign_in",
    "GET",
    "/v1/sign-in",
    "How one can sign in here without a token of ACAI's.",
    SignInWays,
    access=Access.NOTHING,
)
SIGN_IN = Endpoint(
    "sign_in",
    "POST",
    "/v1/sign-in",
    "Get a token of ACAI's for what an issuer or a hub says of who you are.",
    IssuedToken,
    body=SignIn,
    access=Access.NOTHING,
    status=201,
    max_bytes=64 * 1024,
    is_audited=True,
)
ALL: tuple[Endpoint[object], ...] = (GET_SIGN_IN, SIGN_IN)  # type: ignore[assignment]
