"""Signing in with a provider of OpenID Connect that others have written."""

from __future__ import annotations

from contextlib import closing
from dataclasses import dataclass
from typing import TYPE_CHECKING

import pytest

from tests.integration.places import Answer, Place, Server
from tests.servers.hub import hub
from tests.servers.process import ServerMissing
from tests.servers.provider import Provider, provider

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

CLIENT = "acai"


@dataclass(frozen=True)
class Trusting:
    """A server that trusts the provider, with Ann in the project `lab`."""

    server: Server
    provider: Provider

    def sign_in(self, id_token: str) -> Answer:
        return self.server.ask("POST", "/v1/sign-in", {"id_token": id_token}, token=None)


@pytest.fixture(scope="module")
def trusting(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Trusting]:
    home = tmp_path_factory.mktemp("home")
    try:
        with provider(tmp_path_factory.mktemp("provider")) as served, closing(Place(home)) as place:
            served.set_user("id-of-ann", preferred_username="ann", email="ann@example.org")
            served.set_user("id-of-bob", preferred_username="bob")
            server = place.start(ACAI_USER="root", ACAI_OIDC_ISSUER=served.url, ACAI_OIDC_CLIENT_ID=CLIENT)
            assert server.ask("POST", "/v1/projects", {"name": "lab"}).status == 201
            made = server.ask("POST", "/v1/projects/lab/users", {"name": "ann", "role": "viewer"})
            assert made.status == 201
            yield Trusting(server, served)
    except ServerMissing as missing:
        pytest.skip(str(missing))


def test_a_user_of_the_provider_gets_a_token_of_their_projects(trusting: Trusting) -> None:
    answer = trusting.sign_in(trusting.provider.tokens("id-of-ann", CLIENT)["id_token"])
    assert answer.status == 201, answer.body
    headers = {"Authorization": f"Bearer {answer.json['secret']}"}
    status = trusting.server.ask("GET", "/v1/projects/lab/status", token=None, headers=headers)
    assert (status.status, status.json["user"]["name"], status.json["user"]["role"]) == (200, "ann", "viewer")
    assert trusting.server.ask("GET", "/v1/projects/default/status", token=None, headers=headers).status == 404


def test_a_user_without_a_project_gets_no_token(trusting: Trusting) -> None:
    answer = trusting.sign_in(trusting.provider.tokens("id-of-bob", CLIENT)["id_token"])
    assert (answer.status, answer.code) == (403, "not_allowed")


def test_only_id_tokens_for_this_client_are_accepted(trusting: Trusting) -> None:
    mine = trusting.provider.tokens("id-of-ann", CLIENT)
    head, claims, signature = mine["id_token"].split(".")
    bob = trusting.provider.tokens("id-of-bob", CLIENT)["id_token"].split(".")
    wrong = {
        "of another client": trusting.provider.tokens("id-of-ann", "another")["id_token"],
        "the access token": mine["access_token"],
        "without a signature": f"{head}.{claims}.",
        "the signature of another token": f"{head}.{claims}.{bob[2]}",
        "claims of another token": f"{head}.{bob[1]}.{signature}",
    }
    for what, token in wrong.items():
        answer = trusting.sign_in(token)
        assert (answer.status, answer.code) == (401, "not_signed_in"), what


def test_an_id_token_is_no_token_of_the_api(trusting: Trusting) -> None:
    token = trusting.provider.tokens("id-of-ann", CLIENT)["id_token"]
    answer = trusting.server.ask("GET", "/v1/status", token=None, headers={"Authorization": f"Bearer {token}"})
    assert answer.code == "not_signed_in"


def test_a_user_of_a_real_hub_signs_in_with_the_token_of_their_server_alone(place: Place, tmp_path: Path) -> None:
    """The imitation in `test_sign_ins.py` answers as this hub does."""
    (tmp_path / "hub").mkdir()
    try:
        with hub(tmp_path / "hub") as served:
            server = place.start(ACAI_USER="root", ACAI_JUPYTERHUB_API_URL=served.api_url)
            for user in ("ann", "bob"):
                made = server.ask("POST", "/v1/projects/default/users", {"name": user, "role": "viewer"})
                assert made.status == 201
            scopes = ("access:servers!server=ann/", "read:users:name!user=ann")
            answer = server.ask("POST", "/v1/sign-in", {"hub_token": served.token("ann", *scopes)}, token=None)
            assert (answer.status, answer.json["token"]["user"]) == (201, "ann")
            for token in (served.token("bob", "read:users:name!user=bob"), "0" * 32):
                refused = server.ask("POST", "/v1/sign-in", {"hub_token": token}, token=None)
                assert refused.code == "not_signed_in", refused.body
    except ServerMissing as missing:
        pytest.skip(str(missing))
