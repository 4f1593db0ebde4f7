"""`jupyter acai` serves the API of ACAI and nothing of Jupyter's: no kernels, files, terminals, pages or tokens."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
import yaml

from acai_jupyter.contract.endpoints import BASE
from tests.integration.places import TOKEN, Place, fetch
from tests.servers.process import free_ports

if TYPE_CHECKING:
    from collections.abc import Iterator

    from tests.integration.places import Server

DEPLOY = Path(__file__).parents[2] / "docs" / "operators" / "deploy"
JUPYTERS = (
    "/api",
    "/api/status",
    "/api/me",
    "/api/kernels",
    "/api/kernelspecs",
    "/api/sessions",
    "/api/contents",
    "/api/contents/a.txt",
    "/api/config/notebook",
    "/api/events/subscribe",
    "/api/nbconvert",
    "/api/security/csp-report",
    "/api/shutdown",
    "/api/spec.yaml",
    "/api/terminals",
    "/terminals/websocket/1",
    "/files/a.txt",
    "/view/a.txt",
    "/nbconvert/html/a.ipynb",
    "/kernelspecs/python3/logo-64x64.png",
    "/login",
    "/logout",
    "/lab",
    "/lab/api/settings",
    "/tree",
    "/metrics",
    "/static/logo/logo.png",
    "/static/base/images/favicon.ico",
    "/favicon.ico",
    "/robots.txt",
    "/",
)
HANDLERS = """
import json, sys
from acai_server.app import AcaiApp, become_standalone

become_standalone()
server = AcaiApp.initialize_server(argv=sys.argv[1:])
rules = [rule for router in server.web_app.default_router.rules for rule in router.target.rules]
print(json.dumps({
    "handlers": [[rule.target.__module__, rule.target.__name__, rule.matcher.regex.pattern] for rule in rules],
    "extensions": sorted(server.extension_manager.extensions),
    "token": server.identity_provider.token,
    "url": server.public_url,
}))
"""


@pytest.fixture(scope="module")
def alone(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Server]:
    """A server whose operator has configured the machine's JupyterLab too."""
    place = Place(tmp_path_factory.mktemp("home"))
    place.write("a.txt", "text")
    configured(place)
    try:
        yield place.start(program="acai", JUPYTER_TOKEN="the-token-of-the-environment")
    finally:
        place.close()


def configured(place: Place) -> Path:
    """What an operator's JupyterLab on the same machine may be configured with."""
    path = place.home / "jupyter" / "jupyter_server_config.py"
    path.parent.mkdir(exist_ok=True)
    path.write_text(
        "c.ServerApp.jpserver_extensions = {'jupyterlab': True, 'jupyter_server_terminals': True}\n"
        "c.ServerApp.extra_services = ['jupyter_server.services.kernels.handlers']\n"
        "c.ServerApp.identity_provider_class = 'jupyter_server.auth.identity.PasswordIdentityProvider'\n"
        "c.ServerApp.authenticate_prometheus = False\n"
        "c.ServerApp.allow_unauthenticated_access = True\n"
        "c.ServerApp.token = 'the-token-of-the-file'\n"
    )
    return path


@pytest.mark.parametrize("path", JUPYTERS)
def test_nothing_of_jupyter_is_reachable_with_any_credential(alone: Server, path: str) -> None:
    for token in (TOKEN, "the-token-of-the-environment", "the-token-of-the-file", alone.token, ""):
        for address in (f"{alone.root}{path}", f"{alone.root}{path}?token={token}"):
            for method in ("GET", "POST", "DELETE"):
                answer = fetch(method, address, headers={"Authorization": f"token {token}"})
                assert (answer.status, answer.code) == (404, "not_found"), (method, address)
                assert "set-cookie" not in answer.headers


@pytest.mark.parametrize("token", [TOKEN, "the-token-of-the-environment", "the-token-of-the-file", ""])
def test_no_token_of_jupyters_opens_the_api(alone: Server, token: str) -> None:
    address = f"{alone.root}{BASE}/v1/status"
    for headers in ({}, {"Authorization": f"token {token}"}, {"Authorization": f"Bearer {token}"}):
        for found in (address, f"{address}?token={token}"):
            answer = fetch("GET", found, headers=headers)
            assert (answer.status, answer.code) == (401, "not_signed_in")


def test_the_token_of_the_data_folder_opens_the_api_and_the_log_names_its_file(alone: Server) -> None:
    answer = fetch("GET", f"{alone.root}{BASE}/v1/status", headers={"Authorization": f"Bearer {alone.token}"})
    assert answer.status == 200
    assert fetch("GET", f"{alone.root}{BASE}/v1/health").status == 200
    assert str(alone.place.data / "token") in alone.log
    assert "token=" not in alone.log


def test_every_handler_of_the_web_application_is_acais_before_one_that_answers_all_paths(place: Place) -> None:
    configured(place)
    said = subprocess.run(
        [sys.executable, "-c", HANDLERS, f"--IdentityProvider.token={TOKEN}", "--ServerApp.port=0", "--allow-root"],
        env=place.environment | {"JUPYTER_TOKEN": "another"},
        cwd=place.work,
        capture_output=True,
        text=True,
        check=True,
    )
    found = json.loads(said.stdout.splitlines()[-1])
    assert found["extensions"] == ["acai_server"]
    assert found["token"] == ""
    assert "token" not in found["url"]
    names = [name for _, name, _ in found["handlers"]]
    reachable = found["handlers"][: names.index("NothingHandler") + 1]
    assert len(reachable) > 50
    assert all(module.startswith("acai_server.api") for module, _, _ in reachable)
    assert reachable[-1][2] == ".*$"
    shadowed = {module for module, _, _ in found["handlers"][len(reachable) :]}
    assert not any(word in module for module in shadowed for word in ("services", "nbconvert", "login", "terminals"))


def test_the_command_and_the_probes_of_the_manifest_work_and_its_log_opens_nothing(place: Place) -> None:
    manifest = yaml.safe_load_all((DEPLOY / "kustomize" / "base" / "server.yaml").read_text())
    found = next(one for one in manifest if one["kind"] == "Deployment")
    container = found["spec"]["template"]["spec"]["containers"][0]
    jupyter, program, address, port = container["command"]
    assert (jupyter, program, address) == ("jupyter", "acai", "--ServerApp.ip=0.0.0.0")
    (free,) = free_ports(1)
    server = place.spawn(port.replace("8888", str(free)), program=program)
    server.wait_until_it_answers()
    for probe in ("readinessProbe", "livenessProbe"):
        assert fetch("GET", server.root + container[probe]["httpGet"]["path"]).status == 200
    assert str(place.data / "token") in server.log
    assert server.token not in server.log
    assert "token=" not in server.log


def test_a_jupyter_server_attaches_to_it_and_shells_find_it(place: Place) -> None:
    alone = place.start(program="acai")
    attached = place.start()
    assert attached.status().json["mode"] == "attached"
    made = attached.ask("POST", "/v1/projects/default/jobs", {"command": ["true"]})
    assert made.status == 201
    assert len(alone.get("/v1/projects/default/jobs")["jobs"]) == 1
    found = place.acai("status")
    assert found.returncode == 0, found.stderr
    with attached.stream("?since=0") as stream:
        assert "job" in stream.recv()


def test_a_server_below_a_base_url_answers_nothing_beside_it(place: Place) -> None:
    server = place.start(program="acai", base_url="/a@b/")
    assert server.status().status == 200
    host = server.root.removesuffix("/a@b").removesuffix("/a%40b")
    for path in ("/", "/api/kernels", f"{BASE}/v1/status", "/nothing"):
        answer = fetch("GET", host + path, headers={"Authorization": f"Bearer {server.token}"})
        assert (answer.status, answer.code) == (404, "not_found")
