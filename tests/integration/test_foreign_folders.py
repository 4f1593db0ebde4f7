"""JupyterLab opened in a foreign folder: nothing of it runs, and no token leaves."""

from __future__ import annotations

import json
import os
import pty
import subprocess
from typing import TYPE_CHECKING

import nbformat
import pytest

from acai_jupyter.contract.endpoints import BASE
from tests.integration.places import BIN, Place, Server
from tests.servers import answers

if TYPE_CHECKING:
    from collections.abc import Iterator

    from tests.servers.seaweedfs import Seaweedfs

SECRETS = {"ACAI_TOKEN": "acai_of-another-server", "JUPYTERHUB_API_TOKEN": "token-of-the-hub"}
KUBECONFIG = """
current-context: c
contexts: [{name: c, context: {cluster: c, user: u}}]
clusters: [{name: c, cluster: {server: "http://127.0.0.1:9"}}]
users: [{name: u, user: {exec: {command: sh, args: ["-c", "env > STOLEN"]}}}]
"""
EVERYTHING = """
object_store = "memory"
data_folder = "DATA"
price_book = "/etc/passwd"
runner = "memory"
quota = 1000
project = "theirs"
"""


@pytest.fixture
def listener() -> Iterator[answers.Service]:
    """A server of an attacker, which writes down what it hears."""
    with answers.service(answers.Answer(200, b"{}", {"Content-Type": "application/json"})) as service:
        yield service


def use(server: Server) -> dict[str, object]:
    """Do what a page does when it opens, and more; returns the status."""
    found: dict[str, object] = server.get("/v1/status")
    for path in ("/v1/projects/default/jobs", "/v1/checkup"):
        server.ask("GET", path)
    return found


def test_a_kubeconfig_of_the_folder_runs_no_program(place: Place, s3_server: Seaweedfs) -> None:
    stolen = place.home / "stolen"
    place.write("kube.yaml", KUBECONFIG.replace("STOLEN", str(stolen)))
    bucket = f's3_bucket = "{s3_server.make_bucket()}"\ns3_endpoint_url = "{s3_server.url}"\n'
    cluster = 'runner = "kubernetes"\nkubeconfig = "kube.yaml"\nendpoint_url_for_jobs = "http://h"\n'
    file = place.write("acai.toml", f'object_store = "s3"\n{bucket}{cluster}')
    server = place.start(**SECRETS, **s3_server.environment)  # without a store, the server would not get to the cluster
    status = use(server)
    assert status["backends"] == {
        "database": "sqlite",
        "object_store": "filesystem",
        "runner": "process",
        "event_bus": "memory",
    }
    assert not stolen.exists()
    notices = status["notices"]
    assert isinstance(notices, list)
    assert len(notices) == 1
    for said in (str(file), "kubeconfig", "runner", f"`acai trust {file}`"):
        assert said in notices[0]
    assert server.log.count(notices[0]) == 1
    assert notices[0] in place.acai("status").stdout
    assert f"acai trust {file}" in place.acai("doctor").stdout
    server.end()
    assert place.acai("trust", "--yes").returncode == 0
    trusting = place.start(**SECRETS, **s3_server.environment)
    trusting.status()
    assert stolen.exists(), "the program does run once the file is trusted"
    trusting.kill()


def test_no_token_goes_to_an_address_of_the_folder(place: Place, listener: answers.Service) -> None:
    config = place.home / "config" / "acai" / "config.toml"
    config.parent.mkdir(parents=True)
    config.write_text('token = "acai_of-the-users-file"\n')
    place.write("acai.toml", f'url = "{listener.url}"\n')
    server = place.start(**SECRETS)
    assert use(server)["mode"] == "serving"
    assert place.acai("jobs").returncode == 0
    assert listener.heard == []


def test_a_trusted_address_gets_its_own_token_and_no_other(place: Place, listener: answers.Service) -> None:
    for text, authorization in ((f'url = "{listener.url}"\n', ""), ('token = "acai_theirs"\n', "acai_theirs")):
        file = place.work / "acai.toml"
        place.write("acai.toml", (file.read_text() if file.exists() else "") + text)
        assert place.acai("trust", "--yes").returncode == 0
        server = place.start(**SECRETS)
        server.status()
        assert {one.headers.get("Authorization", "").strip() for one in listener.heard} == {
            f"Bearer {authorization}".strip()
        }
        heard = json.dumps([(one.path, one.headers, one.body.decode()) for one in listener.heard])
        for secret in SECRETS.values():
            assert secret not in heard
        server.end()
        listener.heard.clear()


def test_what_else_the_folder_sets_is_ignored(place: Place) -> None:
    place.write("acai.toml", EVERYTHING.replace("DATA", str(place.home / "theirs")))
    server = place.start()
    status = use(server)
    assert (status["project"], status["data_folder"]) == ("theirs", str(place.data)), "a name is harmless"
    assert not (place.home / "theirs").exists()
    assert place.acai("submit", "--", "true").returncode == 0


def test_a_server_of_the_hub_signs_in_at_the_users_own_address_alone(place: Place, listener: answers.Service) -> None:
    with answers.service(answers.Answer(307, headers={"Location": f"{listener.url}{BASE}/v1/sign-in"})) as own:
        config = place.home / "config" / "acai" / "config.toml"
        config.parent.mkdir(parents=True)
        config.write_text(f'url = "{own.url}"\n')
        place.write("acai.toml", f'url = "{listener.url}"\n')
        server = place.start(JUPYTERHUB_API_TOKEN=SECRETS["JUPYTERHUB_API_TOKEN"])
        server.status()
        assert SECRETS["JUPYTERHUB_API_TOKEN"].encode() in own.heard[0].body
        assert listener.heard == [], "and it follows no redirection"


def test_no_redirection_takes_a_token_elsewhere(place: Place, listener: answers.Service) -> None:
    with answers.service(answers.Answer(307, headers={"Location": f"{listener.url}/"})) as own:
        server = place.start(ACAI_URL=own.url, ACAI_TOKEN="acai_own")
        server.status()
        server.ask("POST", "/v1/projects/default/jobs", {"command": ["true"]})
        with pytest.raises(Exception, match="Handshake status"), server.stream():
            pass
        assert place.acai("status", ACAI_URL=own.url, ACAI_TOKEN="acai_own").returncode == 5
        assert {one.headers["Authorization"] for one in own.heard} == {"Bearer acai_own"}
        assert listener.heard == []


def test_an_attached_server_names_the_file_too(place: Place) -> None:
    far, here = place.start(), Place(place.home / "here")
    try:
        file = here.write("acai.toml", "quota = 1000\n")
        near = here.start(ACAI_URL=far.root, ACAI_TOKEN=far.token)
        assert near.status().json["notices"][0].startswith(f"{file} sets quota, which is ignored")
        assert "notices" not in far.status().json or far.status().json["notices"] == []
    finally:
        here.close()


def test_a_kept_token_goes_to_no_other_address(place: Place, listener: answers.Service) -> None:
    server = place.start()
    kept = place.write("token", server.token)
    assert place.acai("login", server.root, "--file", str(kept)).returncode == 0
    for project in ([], ["--project", "default"]):
        place.acai("status", *project, ACAI_URL=listener.url)
    assert listener.heard
    assert {one.headers["Authorization"].strip() for one in listener.heard} == {"Bearer"}
    assert place.acai("status", ACAI_URL=f"{server.root.upper().replace('HTTP', 'http')}/").returncode == 0


# -- acai trust


def test_a_file_is_trusted_by_who_has_seen_it(place: Place) -> None:
    file = place.write(
        "acai.toml", 'quota = 2\ntoken = "acai_x"\nprice_book = "p.json"\ndatabase = "postgresql://a:b@c/d"\n'
    )
    place.write("p.json", "{}")
    refused = place.acai("trust")
    assert (refused.returncode, "There is no terminal to ask at" in refused.stderr) == (2, True)
    assert place.acai("trust", "--list").stdout == "No settings file is trusted.\n"
    done = place.acai("trust", "--yes")
    assert done.returncode == 0, done.stderr
    for said in (
        f"{file} sets:",
        "quota = 2",
        "token = (hidden)",
        "a:…@c/d",
        "ends when",
        "p.json",
        "Start the Jupyter",
    ):
        assert said in done.stdout
    (entry,) = json.loads(place.acai("trust", "--list", "--json").stdout)
    assert (entry["path"], list(entry["files"])) == (str(file), ["p.json"])
    assert "unchanged" in place.acai("trust", "--list").stdout
    file.write_text("quota = 3\n")
    assert "changed or gone" in place.acai("trust", "--list").stdout
    assert place.acai("trust", ".", "--revoke").returncode == 0
    assert place.acai("trust", "--revoke").returncode == 3


@pytest.mark.parametrize(
    ("name", "content", "status", "said"),
    [
        ("other.toml", "quota = 2", 2, "from acai.toml, not from 'other.toml'"),
        ("acai.toml", "quota = ", 2, "is not TOML"),
        ("acai.toml", None, 3, "There is no"),
    ],
)
def test_what_cannot_be_trusted_is_said(place: Place, name: str, content: str | None, status: int, said: str) -> None:
    if content is not None:
        place.write(name, content)
    refused = place.acai("trust", name, "--yes")
    assert (refused.returncode, said in refused.stderr) == (status, True), refused.stderr


@pytest.mark.parametrize(("answer", "status"), [(b"y\n", 0), (b"\n", 1), (b"n\n", 1)])
def test_a_terminal_asks_after_it_has_shown_the_file(place: Place, answer: bytes, status: int) -> None:
    place.write("acai.toml", 'runner = "kubernetes\\u001b[2J"\n')
    ours, theirs = pty.openpty()
    try:
        with subprocess.Popen(
            [str(BIN / "acai"), "trust"],
            env=place.environment,
            cwd=place.work,
            stdin=theirs,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
        ) as process:
            os.write(ours, answer)
            _, shown = process.communicate(timeout=200)
    finally:
        os.close(ours)
        os.close(theirs)
    assert process.returncode == status
    assert rb"runner = 'kubernetes\x1b[2J'" in shown
    assert shown.endswith(b"Trust this file? [y/N] ")
    assert bool(json.loads(place.acai("trust", "--list", "--json").stdout)) is (status == 0)


def test_a_notebook_of_the_folder_trusts_nothing_by_itself(place: Place) -> None:
    place.write("acai.toml", 'runner = "kubernetes"\n')
    for line, said in (
        ("%acai trust --yes", "A notebook cannot say --yes"),
        ("%acai trust", "There is no terminal to ask at"),
        ("import acai_jupyter; acai_jupyter.trust(yes=True)", "A notebook cannot say --yes"),
    ):
        book = nbformat.v4.new_notebook(cells=[nbformat.v4.new_code_cell(f"%load_ext acai_jupyter\n{line}")])
        place.write("theirs.ipynb", nbformat.writes(book))
        command = [str(BIN / "jupyter-nbconvert"), "--to", "notebook", "--execute", "--allow-errors", "--stdout"]
        done = subprocess.run(
            [*command, "theirs.ipynb"],
            env=place.environment,
            cwd=place.work,
            capture_output=True,
            text=True,
            check=True,
        )
        assert said in done.stdout
    assert json.loads(place.acai("trust", "--list", "--json").stdout) == []
