"""A server with a certificate of its own, and one that believes what a proxy says of who asks."""

from __future__ import annotations

import ipaddress
import json
from contextlib import suppress
from datetime import UTC, datetime, timedelta
from typing import TYPE_CHECKING, Any

import pytest
import urllib3
from cryptography import x509
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.x509.oid import NameOID

from tests.integration.places import until
from tests.servers.process import free_ports

if TYPE_CHECKING:
    from pathlib import Path

    from tests.integration.places import Place, Server

READY = "/acai/api/v1/ready"
AUDIT = "/acai/api/v1/projects/default/audit"


def certificate(folder: Path) -> tuple[Path, Path]:
    """Make a key and a certificate that it signs itself, for 127.0.0.1."""
    key = ec.generate_private_key(ec.SECP256R1())
    name = x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, "acai")])
    now = datetime.now(UTC)
    here = x509.SubjectAlternativeName([x509.IPAddress(ipaddress.ip_address("127.0.0.1"))])
    made = (
        x509.CertificateBuilder()
        .subject_name(name)
        .issuer_name(name)
        .public_key(key.public_key())
        .serial_number(x509.random_serial_number())
        .not_valid_before(now - timedelta(hours=1))
        .not_valid_after(now + timedelta(days=1))
        .add_extension(here, critical=False)
        .add_extension(x509.BasicConstraints(ca=True, path_length=0), critical=True)
        .sign(key, hashes.SHA256())
    )
    files = folder / "acai.pem", folder / "acai.key"
    files[0].write_bytes(made.public_bytes(serialization.Encoding.PEM))
    plain = serialization.NoEncryption()
    files[1].write_bytes(key.private_bytes(serialization.Encoding.PEM, serialization.PrivateFormat.PKCS8, plain))
    return files


def asked(root: str, trusted: Path, path: str, **headers: str) -> Any:
    with urllib3.PoolManager(ca_certs=str(trusted), retries=False, timeout=120) as http:
        return http.request("GET", root + path, headers=headers)


def answers(server: Server, root: str, trusted: Path) -> bool:
    assert server.process.poll() is None, server.log
    with suppress(urllib3.exceptions.HTTPError):
        return bool(asked(root, trusted, READY).status == 200)
    return False


def test_a_server_with_its_own_certificate_is_used_by_shells_that_trust_it_and_by_no_others(place: Place) -> None:
    trusted, key = certificate(place.home)
    (port,) = free_ports(1)
    options = (f"--ServerApp.certfile={trusted}", f"--ServerApp.keyfile={key}", f"--ServerApp.port={port}")
    server = place.spawn(*options, "--ServerApp.trust_xheaders=True", program="acai")
    root = f"https://127.0.0.1:{port}"
    until(lambda: answers(server, root, trusted), "the server answering by TLS")
    place.write("a.txt", "a")
    for line in ("status --json", "put a.txt /a.txt", "cat /a.txt"):
        done = place.acai(*line.split(), SSL_CERT_FILE=str(trusted))
        assert done.returncode == 0, done.stderr
    assert done.stdout == "a"
    refused = place.acai("status")
    assert (refused.returncode, f"The certificate of {root} is not trusted here: self" in refused.stderr) == (5, True)
    assert "SSL_CERT_FILE" in refused.stderr
    with pytest.raises(urllib3.exceptions.HTTPError):
        urllib3.request("GET", f"http://127.0.0.1:{port}{READY}", retries=False, timeout=120)
    _look_at_who_asks(place, root, trusted)


def _look_at_who_asks(place: Place, root: str, trusted: Path) -> None:
    """A proxy's word counts where it was said that it does; whoever else could say it is the proxy's to keep away."""
    users = "/acai/api/v1/projects/default/users"
    headers = {"Authorization": f"Bearer {(place.data / 'token').read_text()}"}
    with urllib3.PoolManager(ca_certs=str(trusted), retries=False, timeout=120) as http:
        body = json.dumps({"name": "through-proxy", "role": "viewer"}).encode()
        by_proxy = {**headers, "X-Forwarded-For": "203.0.113.7", "X-Forwarded-Proto": "https"}
        made = http.request("POST", root + users, body=body, headers=by_proxy)
    assert made.status == 201, made.data
    entries = asked(root, trusted, f"{AUDIT}?action=create_user", **headers).json()["entries"]
    assert [entry["address"] for entry in entries] == ["203.0.113.7"]


def test_without_that_word_nobody_comes_from_where_they_say(place: Place) -> None:
    server = place.start()
    users = "/v1/projects/default/users"
    said = {"X-Forwarded-For": "203.0.113.7", "X-Real-Ip": "203.0.113.8", "X-Forwarded-Proto": "https"}
    assert server.ask("POST", users, {"name": "ann"}, headers=said).status == 201
    entries = server.get("/v1/projects/default/audit?action=create_user")["entries"]
    assert [entry["address"] for entry in entries] == ["127.0.0.1"]
