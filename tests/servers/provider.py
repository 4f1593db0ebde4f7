"""A provider of OpenID Connect from PyPI (`oidc-provider-mock`, on Authlib): discovery, keys, consent and codes."""

from __future__ import annotations

import json
from contextlib import contextmanager
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any
from urllib.parse import parse_qs, urlencode, urlsplit

import urllib3

from tests.integration.places import BIN
from tests.servers.process import ServerMissing, free_ports, running

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

REDIRECT = "http://127.0.0.1/signed-in"
FORM = {"Content-Type": "application/x-www-form-urlencoded"}


@dataclass(frozen=True)
class Provider:
    """Where it is. Users sign in with their subject alone; clients need no registration."""

    url: str

    def set_user(self, subject: str, **claims: Any) -> None:
        """Make a user."""
        self._ask("PUT", f"/users/{subject}", json.dumps(claims), {"Content-Type": "application/json"})

    def tokens(self, subject: str, client: str) -> dict[str, Any]:
        """Sign a user in as a browser and a client do; returns what the client gets."""
        asked = {"response_type": "code", "client_id": client, "redirect_uri": REDIRECT}
        query = urlencode(asked | {"scope": "openid profile email", "state": "s", "nonce": "n"})
        answer = self._ask("POST", f"/oauth2/authorize?{query}", urlencode({"sub": subject}), FORM)
        code = parse_qs(urlsplit(answer.headers["Location"]).query)["code"][0]
        form = {"grant_type": "authorization_code", "code": code, "redirect_uri": REDIRECT}
        basic = urllib3.make_headers(basic_auth=f"{client}:any")
        found: dict[str, Any] = self._ask("POST", "/oauth2/token", urlencode(form), FORM | dict(basic)).json()
        return found

    def _ask(self, method: str, path: str, body: str, headers: dict[str, str]) -> urllib3.BaseHTTPResponse:
        with urllib3.PoolManager(timeout=60, retries=False) as http:
            answer = http.request(method, self.url + path, body=body, headers=headers, redirect=False)
        assert answer.status < 400, answer.data
        return answer


@contextmanager
def provider(folder: Path) -> Iterator[Provider]:
    """Run one on loopback."""
    program = BIN / "oidc-provider-mock"
    if not program.exists():
        raise ServerMissing("oidc-provider-mock is not installed")
    (port,) = free_ports(1)
    url = f"http://localhost:{port}"

    def answers() -> bool:
        try:
            with urllib3.PoolManager(timeout=5, retries=False) as http:
                return http.request("GET", f"{url}/.well-known/openid-configuration").status == 200
        except urllib3.exceptions.HTTPError:
            return False

    with running([str(program), "--port", str(port)], answers, log=folder / "provider.log"):
        yield Provider(url)
