"""An issuer of OpenID Connect: discovery, keys, codes for programs, ID tokens signed by RSA keys of its own."""

from __future__ import annotations

import json
import threading
import time
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import TYPE_CHECKING, Any
from urllib.parse import parse_qs

import jwt
from cryptography.hazmat.primitives.asymmetric import rsa

if TYPE_CHECKING:
    from collections.abc import Iterator

CLIENT = "acai"


def key() -> rsa.RSAPrivateKey:
    return rsa.generate_private_key(public_exponent=65537, key_size=2048)


@dataclass
class Issuer:
    """What it answers; `user` is who types the code in, after having been asked for so often as `pending` says."""

    url: str = ""
    user: str = "ann"
    pending: int = 1
    keys: dict[str, rsa.RSAPrivateKey] = field(default_factory=lambda: {"first": key()})
    codes: dict[str, int] = field(default_factory=dict)
    asked: list[str] = field(default_factory=list)

    def token(self, *, kid: str = "first", signed_by: Any = None, algorithm: str = "RS256", **claims: Any) -> str:
        """Return an ID token; claims that are None are left out."""
        now = int(time.time())
        said = {
            "iss": self.url,
            "aud": CLIENT,
            "sub": f"id-of-{self.user}",
            "iat": now,
            "exp": now + 300,
            "preferred_username": self.user,
        } | claims
        said = {name: value for name, value in said.items() if value is not None}
        by: Any = None if algorithm == "none" else signed_by or self.keys[kid]
        return jwt.encode(said, by, algorithm=algorithm, headers={"kid": kid})

    def answer(self, path: str, form: dict[str, str]) -> tuple[int, dict[str, Any]]:
        self.asked.append(path)
        if path == "/.well-known/openid-configuration":
            names = {"device_authorization_endpoint": "/device", "token_endpoint": "/token", "jwks_uri": "/keys"}
            return 200, {"issuer": self.url} | {name: self.url + at for name, at in names.items()}
        if path == "/keys":
            return 200, {"keys": [self._published(kid, one) for kid, one in self.keys.items()]}
        if path == "/device" and form.get("client_id") == CLIENT:
            code = f"device-{len(self.codes)}"
            self.codes[code] = self.pending
            found = {"device_code": code, "user_code": "WDJB-MJHT", "verification_uri": f"{self.url}/enter"}
            return 200, found | {"expires_in": 60, "interval": 0.05}
        if path == "/token" and form.get("device_code") in self.codes:
            self.codes[form["device_code"]] -= 1
            if self.codes[form["device_code"]] >= 0:
                return 400, {"error": "authorization_pending"}
            return (200, {"id_token": self.token()}) if self.user else (400, {"error": "access_denied"})
        return 404, {"error": "invalid_request"}

    def _published(self, kid: str, one: rsa.RSAPrivateKey) -> dict[str, Any]:
        found: dict[str, Any] = jwt.algorithms.RSAAlgorithm.to_jwk(one.public_key(), as_dict=True)
        return found | {"kid": kid, "use": "sig", "alg": "RS256"}


@contextmanager
def issuer() -> Iterator[Issuer]:
    """Serve one on loopback."""
    served = Issuer()

    class Handler(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            self._answer({})

        def do_POST(self) -> None:
            sent = self.rfile.read(int(self.headers["Content-Length"])).decode()
            self._answer({name: values[0] for name, values in parse_qs(sent).items()})

        def _answer(self, form: dict[str, str]) -> None:
            status, found = served.answer(self.path, form)
            body = json.dumps(found).encode()
            self.send_response(status)
            self.send_header("Content-Type", "application/json")
            self.send_header("Content-Length", str(len(body)))
            self.end_headers()
            self.wfile.write(body)

        def log_request(self, code: object = "-", size: object = "-") -> None:
            del code, size

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    served.url = f"http://127.0.0.1:{server.server_address[1]}"
    thread = threading.Thread(target=server.serve_forever, daemon=True)
    thread.start()
    try:
        yield served
    finally:
        server.shutdown()
        server.server_close()
        thread.join()
