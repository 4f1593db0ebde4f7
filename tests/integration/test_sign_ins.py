"""People who come with the word of an issuer or a hub: which token they get, and who gets none."""

from __future__ import annotations

import json
from contextlib import closing
from dataclasses import dataclass
from typing import TYPE_CHECKING

import pytest

from tests.integration.places import Answer, Place, Server, until
from tests.servers import answers
from tests.servers.issuer import CLIENT, Issuer, issuer

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

ROUTE = "/v1/sign-in"
HUB_TOKEN = "0123456789abcdef0123456789abcdef"
OF_ANN = {"kind": "user", "name": "ann", "scopes": ["access:servers!server=ann/", "read:users:name!user=ann"]}


@dataclass(frozen=True)
class Trusting:
    """A server that trusts an issuer and a hub, with Ann in two of its projects."""

    server: Server
    issuer: Issuer

    def sign_in(self, **shown: str) -> Answer:
        return self.server.ask("POST", ROUTE, shown, token=None)


@pytest.fixture(scope="module")
def trusting(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Trusting]:
    hub_says = answers.Answer(200, json.dumps(OF_ANN).encode())
    with (
        closing(Place(tmp_path_factory.mktemp("home"))) as place,
        issuer() as served,
        answers.service(hub_says) as hub,
    ):
        server = place.start(
            ACAI_USER="root",
            ACAI_OIDC_ISSUER=served.url,
            ACAI_OIDC_CLIENT_ID=CLIENT,
            ACAI_JUPYTERHUB_API_URL=f"{hub.url}/hub/api",
            ACAI_SIGN_IN_DAYS="2",
        )
        for project in ("lab", "plant"):
            assert server.ask("POST", "/v1/projects", {"name": project}).status == 201
            made = server.ask("POST", f"/v1/projects/{project}/users", {"name": "ann", "role": "viewer"})
            assert made.status == 201
        yield Trusting(server, served)


@pytest.fixture
def colleague(tmp_path: Path) -> Iterator[Place]:
    with closing(Place(tmp_path / "colleague")) as place:
        yield place


def test_anybody_is_told_how_to_sign_in(trusting: Trusting) -> None:
    told = trusting.server.ask("GET", ROUTE, token=None)
    assert (told.status, told.json) == (
        200,
        {"issuer": trusting.issuer.url, "client_id": CLIENT, "scope": "openid profile email", "jupyterhub": True},
    )
    assert trusting.server.ask("PUT", ROUTE, token=None).code == "method_not_allowed"


def test_who_is_vouched_for_gets_a_token_of_their_projects_which_is_written_down(trusting: Trusting) -> None:
    given = trusting.sign_in(id_token=trusting.issuer.token())
    assert given.status == 201, given.body
    token = given.json["token"]
    assert (token["user"], token["project"], token["all_projects"]) == ("ann", "lab", True)
    assert token["expires_at"] > token["created_at"]
    headers = {"Authorization": f"Bearer {given.json['secret']}"}
    for project, status in (("lab", 200), ("plant", 200), ("default", 404)):
        found = trusting.server.ask("GET", f"/v1/projects/{project}/status", token=None, headers=headers)
        assert (found.status, status == 404 or found.json["user"]["role"] == "viewer") == (status, True)
    entries = trusting.server.get("/v1/projects/lab/audit?action=sign_in")["entries"]
    assert [(one["user"], one["project"], one["status"]) for one in entries] == [("ann", "lab", 201)]


def test_who_is_in_no_project_or_not_vouched_for_gets_none(trusting: Trusting) -> None:
    sign_in, token = trusting.sign_in, trusting.issuer.token
    nobody = sign_in(id_token=token(preferred_username="bob"))
    assert (nobody.status, nobody.code) == (403, "not_allowed")
    assert "acai user create bob" in nobody.error["message"]
    operator = sign_in(id_token=token(preferred_username="root"))
    assert (operator.status, operator.code) == (403, "not_allowed"), "no issuer makes anybody the server's operator"
    assert sign_in(id_token=token(), project="default").code == "project_not_found"
    assert sign_in(id_token=token(aud="other")).code == "not_signed_in"
    assert sign_in(id_token=token(preferred_username="a b")).code == "bad_request"
    for body in ({}, {"id_token": token(), "hub_token": HUB_TOKEN}, {"id_token": ""}):
        assert sign_in(**body).code == "bad_request"
    status = trusting.server.ask("GET", "/v1/status", token=None, headers={"Authorization": f"Bearer {token()}"})
    assert status.code == "not_signed_in", "an ID token opens nothing but the way to a token"


def test_a_shell_signs_in_by_a_code_that_is_entered_in_a_browser(trusting: Trusting, colleague: Place) -> None:
    done = colleague.acai("login", trusting.server.root, "--browser", "--project", "plant")
    assert done.returncode == 0, done.stderr
    assert f"Open {trusting.issuer.url}/enter and enter WDJB-MJHT" in done.stderr
    assert "project plant · user ann (viewer)" in done.stdout
    assert json.loads(colleague.acai("status", "--json").stdout)["project"] == "plant"
    trusting.issuer.user = ""
    try:
        refused = colleague.acai("login", trusting.server.root, "--browser")
    finally:
        trusting.issuer.user = "ann"
    assert refused.returncode == 4
    assert "did not let you in: access_denied" in refused.stderr


def test_a_jupyterlab_of_a_hub_is_attached_as_its_user_and_renews_its_token(
    trusting: Trusting, colleague: Place
) -> None:
    root = trusting.server.root
    theirs = colleague.start(ACAI_URL=root, JUPYTERHUB_API_TOKEN=HUB_TOKEN)
    status = theirs.status()
    assert (status.json["mode"], status.json["user"]["name"], status.json["project"]) == ("attached", "ann", "lab")
    in_shell = colleague.acai("status", "--json", ACAI_URL=root)
    assert json.loads(in_shell.stdout)["user"]["name"] == "ann", "kernels and shells find the same token"
    listed = "/v1/projects/lab/users/ann/tokens"
    for token in trusting.server.get(listed)["tokens"]:
        if token["name"] != "first":
            assert trusting.server.ask("DELETE", f"{listed}/{token['name']}").status == 200
    until(lambda: theirs.status().status == 200, "a new token")
    assert theirs.status().json["user"]["name"] == "ann"
    done = colleague.acai("login", root, "--hub", JUPYTERHUB_API_TOKEN=HUB_TOKEN)
    assert (done.returncode, "user ann (viewer)" in done.stdout) == (0, True), done.stderr
    assert "JUPYTERHUB_API_TOKEN is not set" in colleague.acai("login", root, "--hub").stderr
    assert HUB_TOKEN not in theirs.log + trusting.server.log


def test_where_nobody_vouches_a_token_is_asked_for(place: Place) -> None:
    server = place.start()
    told = server.ask("GET", ROUTE, token=None).json
    assert told == {"issuer": "", "client_id": "", "scope": "", "jupyterhub": False}
    refused = server.ask("POST", ROUTE, {"hub_token": HUB_TOKEN}, token=None)
    assert (refused.code, "ask whoever operates" in refused.error["message"]) == ("bad_request", True)
    done = place.acai("login", server.root, "--browser")
    assert (done.returncode, "nobody signs in by a browser" in done.stderr) == (2, True)
