"""Signing in by somebody whom a server trusts: an issuer of OpenID Connect in a browser, or the hub of JupyterHub.

The browser may be on another machine than this program: the issuer gives a code, which one types in there (RFC 8628).
"""

from __future__ import annotations

import os
import time
from typing import TYPE_CHECKING, Any
from urllib.parse import urlencode, urlsplit

import msgspec

from acai_jupyter.client.connection import Connection
from acai_jupyter.client.http import Client
from acai_jupyter.contract import decoding, sign_in
from acai_jupyter.contract.errors import BadRequest, NotSignedIn, ServerUnreachable
from acai_jupyter.transfer.connections import Connections
from acai_jupyter.transfer.errors import Refused, TransferError

if TYPE_CHECKING:
    from collections.abc import Callable

    from acai_jupyter.contract.accounts import IssuedToken

HUB_TOKEN = "JUPYTERHUB_API_TOKEN"  # noqa: S105 (the name of a variable)
SECONDS = 20.0
_GRANT = "urn:ietf:params:oauth:grant-type:device_code"
_SLOWER_SECONDS = 5.0
_NO_REFUSAL = ("authorization_pending", "slow_down")


def by_hub(url: str, project: str | None) -> IssuedToken:
    """Sign in as the user whose server of JupyterHub this runs in."""
    token = os.environ.get(HUB_TOKEN)
    if not token:
        raise BadRequest(f"This does not run in a server of JupyterHub: {HUB_TOKEN} is not set.")
    return _client(url).ask(sign_in.SIGN_IN, sign_in.SignIn(hub_token=token, project=project))


def by_browser(url: str, project: str | None, show: Callable[[str], None]) -> IssuedToken:
    """Sign in at the issuer that a server trusts; `show` gets the sentence that says where, and with which code."""
    client = _client(url)
    ways = client.ask(sign_in.GET_SIGN_IN)
    if not ways.issuer:
        raise BadRequest(f"At {url} nobody signs in by a browser; ask whoever operates it for a token.")
    with Connections(SECONDS, SECONDS) as connections:
        issuer = _Issuer(connections, ways.issuer, ways.client_id)
        token = issuer.id_token(ways.scope, show)
    return client.ask(sign_in.SIGN_IN, sign_in.SignIn(id_token=token, project=project))


def _client(url: str) -> Client:
    return Client(Connection(url, ""))


class _Issuer:
    """One conversation with an issuer."""

    def __init__(self, connections: Connections, url: str, client_id: str) -> None:
        self._connections = connections
        self._client_id = client_id
        self._name = urlsplit(url).netloc
        _, found = self._asked("GET", f"{url.rstrip('/')}/.well-known/openid-configuration", {})
        self._device = str(found.get("device_authorization_endpoint") or "")
        self._token = str(found.get("token_endpoint") or "")
        if found.get("issuer") != url or not (_is_safe(self._device) and _is_safe(self._token)):
            raise BadRequest(f"{self._name} gives no codes for programs (RFC 8628); ask for a token of ACAI instead.")

    def id_token(self, scope: str, show: Callable[[str], None]) -> str:
        """Ask for a code, say it, and wait until it was typed in."""
        status, found = self._asked("POST", self._device, {"client_id": self._client_id, "scope": scope})
        if status >= 400 or not {"device_code", "user_code", "verification_uri"} <= set(found):  # noqa: PLR2004 (HTTP's own border)
            raise NotSignedIn(f"{self._name} gives no code to {self._client_id}: {_reason(found)}.")
        show(f"Open {found['verification_uri']} and enter {found['user_code']}")
        until = time.monotonic() + float(found.get("expires_in", 600))
        pause = float(found.get("interval", 5))
        while time.monotonic() < until:
            time.sleep(pause)
            given = {"grant_type": _GRANT, "device_code": found["device_code"], "client_id": self._client_id}
            _, answer = self._asked("POST", self._token, given)
            if answer.get("id_token"):
                return str(answer["id_token"])
            if answer.get("error") not in _NO_REFUSAL:
                raise NotSignedIn(f"{self._name} did not let you in: {_reason(answer)}. Run the same line again.")
            pause += _SLOWER_SECONDS if answer["error"] == "slow_down" else 0.0
        raise NotSignedIn("Nobody entered the code in time. Run the same line again for another.")

    def _asked(self, method: str, url: str, form: dict[str, str]) -> tuple[int, dict[str, Any]]:
        data = urlencode(form).encode()
        headers = {"Accept": "application/json"}
        if method == "POST":
            headers |= {"Content-Type": "application/x-www-form-urlencoded", "Content-Length": str(len(data))}
        try:
            with self._connections.request(method, url, headers, [memoryview(data)]) as answer:
                return answer.status, _document(answer.read())
        except Refused as error:
            return error.status, _document(error.answer)
        except TransferError as error:
            raise ServerUnreachable(where=f" at {self._name}") from error


def _document(body: bytes) -> dict[str, Any]:
    try:
        found = decoding.plain_json(body)
    except msgspec.DecodeError:
        return {}
    return found if isinstance(found, dict) else {}


def _reason(found: dict[str, Any]) -> str:
    return str(found.get("error_description") or found.get("error") or "it does not say why").rstrip(".")


def _is_safe(url: str) -> bool:
    """Whether nobody on the way can read what is asked there."""
    parts = urlsplit(url)
    is_here = parts.scheme == "http" and parts.hostname in ("localhost", "127.0.0.1", "::1")
    return parts.scheme == "https" or is_here
