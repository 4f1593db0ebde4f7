"""ID tokens of one issuer of OpenID Connect, found by its discovery document and checked by its keys."""

from __future__ import annotations

import threading
import time
from typing import TYPE_CHECKING, Any

import jwt

from acai_jupyter.contract.errors import NotSignedIn, SettingsBroken, Unavailable
from acai_server.identities.asking import OK, ask
from acai_server.settings import is_private

if TYPE_CHECKING:
    from collections.abc import Callable

    from acai_server.identities.protocol import Identity

ALGORITHMS = ("RS256", "RS384", "RS512", "PS256", "PS384", "PS512", "ES256", "ES384", "ES512", "EdDSA")
"""Signatures by a key pair. With a shared secret whoever checks could sign, so these are no proof."""
LEEWAY_SECONDS = 60
KEPT_SECONDS = 300.0
"""So long keys are used before the issuer is asked again: what it has withdrawn opens nothing after that."""
SOONEST_SECONDS = 10.0
"""A key that is not known may be new; it is asked for no more often than this."""


class OidcIdentity:
    """The issuer has to call the user by `claim`. Keys are asked for at the first token."""

    def __init__(self, issuer: str, client_id: str, claim: str, now: Callable[[], float] = time.monotonic) -> None:
        self._issuer = issuer
        self._client_id = client_id
        self._claim = claim
        self._now = now
        self._lock = threading.Lock()
        self._keys: dict[str, jwt.PyJWK] = {}
        self._asked_at: float | None = None

    def whose(self, shown: str) -> str:
        """See the protocol: its signature, issuer, audience and times have to be right, and the claim a text."""
        try:
            claims: dict[str, Any] = jwt.decode(
                shown,
                self._key(jwt.get_unverified_header(shown)),
                algorithms=ALGORITHMS,
                audience=self._client_id,
                issuer=self._issuer,
                leeway=LEEWAY_SECONDS,
                options={"require": ["exp", "iat", "iss", "aud", "sub"]},
            )
        except jwt.PyJWTError as error:
            raise NotSignedIn("The ID token is not valid here: sign in again, acai login --browser.") from error
        if claims.get("azp", self._client_id) != self._client_id:
            raise NotSignedIn("The ID token was given to another program than ACAI.")
        if self._claim == "email" and claims.get("email_verified") is not True:
            raise NotSignedIn("The issuer does not say that the e-mail address is verified.")
        name = claims.get(self._claim)
        if not isinstance(name, str) or not name:
            raise NotSignedIn(f"The ID token has no '{self._claim}', by which users are called here.")
        return name

    def _key(self, header: dict[str, Any]) -> jwt.PyJWK:
        wanted = str(header.get("kid", ""))
        with self._lock:
            age = KEPT_SECONDS if self._asked_at is None else self._now() - self._asked_at
            if age >= KEPT_SECONDS or (wanted not in self._keys and age >= SOONEST_SECONDS):
                self._keys, self._asked_at = _keys(self._issuer), self._now()
            found = self._keys.get(wanted) or (next(iter(self._keys.values())) if len(self._keys) == 1 else None)
        if found is None or found.algorithm_name != header.get("alg"):
            raise jwt.InvalidKeyError
        return found


def _keys(issuer: str) -> dict[str, jwt.PyJWK]:
    """Return the issuer's keys by their ids, without those that are for other things."""
    status, found = ask(f"{issuer.rstrip('/')}/.well-known/openid-configuration")
    if status != OK or found.get("issuer") != issuer:
        reason = f"what {issuer} publishes is of another issuer; oidc_issuer has to be as it calls itself"
        raise SettingsBroken(reason=reason)
    address = str(found.get("jwks_uri"))
    if not is_private(address):
        raise SettingsBroken(reason=f"the keys of {issuer} are at no https address")
    status, published = ask(address)
    if status != OK:
        raise Unavailable(reason=f"the keys of {issuer} cannot be had ({status})")
    keys: dict[str, jwt.PyJWK] = {}
    for one in published.get("keys", []):
        if one.get("use", "sig") == "sig" and one.get("kty") != "oct":
            try:
                keys[str(one.get("kid", ""))] = jwt.PyJWK.from_dict(one)
            except jwt.PyJWTError:  # of a kind that is not known here; others may be
                continue
    return keys


if TYPE_CHECKING:
    _proof: type[Identity] = OidcIdentity
