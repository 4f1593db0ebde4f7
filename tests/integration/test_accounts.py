"""Projects, users and tokens from a shell and a notebook; a token is kept where nobody else reads it."""

from __future__ import annotations

import json
import os
import pty
import subprocess
import tomllib
from contextlib import closing, suppress
from typing import TYPE_CHECKING

import pytest

import acai_jupyter as acai
from acai_jupyter.contract.errors import NotSignedIn
from tests.integration.faces import Notebook, Shell, ipython
from tests.integration.places import BIN, TOKEN, Place

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from tests.integration.faces import Face


@pytest.fixture(scope="module")
def home(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Place]:
    with closing(Place(tmp_path_factory.mktemp("home"))) as place:
        place.start()
        yield place


@pytest.fixture(params=["shell", "notebook"])
def face(
    request: pytest.FixtureRequest,
    home: Place,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> Iterator[Face]:
    if request.param == "shell":
        yield Shell(home)
        return
    with ipython(home, monkeypatch) as shell:
        yield Notebook(shell, capsys)


@pytest.fixture
def colleague(tmp_path: Path) -> Iterator[Place]:
    """Another person's home, in which no server runs."""
    with closing(Place(tmp_path / "theirs")) as place:
        yield place


def test_a_project_with_users_and_tokens_from_its_making_to_its_end(home: Place, face: Face) -> None:
    name = f"lab-{type(face).__name__}"
    assert name in face.said(f"project create {name}")
    assert [one["name"] for one in face.data("project list")["projects"]].count(name) == 1
    said = face.said(f"user create ann --project {name} --quota 2 --days 30 --file ann.token")
    assert f"ann (member) is in project {name} now" in said
    assert "acai_" not in said
    assert "jobs on this machine are refused" in said
    theirs = home.work / "ann.token"
    assert theirs.stat().st_mode & 0o777 == 0o600
    assert face.said(f"user role ann viewer --project {name}").strip() == "ann (viewer), quota 2"
    assert face.said(f"user quota ann default --project {name}").strip() == "ann (viewer), quota default"
    users = face.data(f"user list --project {name}")["users"]
    assert [(one["name"], one["role"]) for one in users] == [("ann", "viewer"), (users[1]["name"], "admin")]
    headers = {"Authorization": f"Bearer {theirs.read_text().strip()}"}
    status = home.servers[0].ask("GET", "/v1/status", token=None, headers=headers)
    assert (status.status, status.json["project"], status.json["user"]["role"]) == (200, name, "viewer")
    tokens = face.said(f"token list --user ann --project {name}")
    assert "first" in tokens
    assert "used just now" in tokens
    face.said(f"token revoke first --user ann --project {name}")
    assert home.servers[0].ask("GET", "/v1/status", token=None, headers=headers).status == 401
    face.said(f"token create second --user ann --scope read --project {name} --file ann.token")
    face.said(f"user rm ann --project {name}")
    face.said(f"user role ann admin --project {name}", 3)


def test_ones_own_tokens_are_made_replaced_and_ended(home: Place, face: Face) -> None:
    name = f"ci-{type(face).__name__}"
    file = home.work / "ci.token"
    assert "never expires" in face.said(f"token create {name} --scope read --file ci.token")
    first = file.read_text()
    face.said(f"token create {name} --file ci.token", 6)
    assert file.read_text() == first
    face.said(f"token rotate {name} --file ci.token")
    assert file.read_text() != first
    assert name in face.said("token list")
    assert name in face.said(f"token revoke {name}")
    assert name not in face.said("token list")
    face.said(f"token revoke {name}", 3)
    face.said("token create 'a b' --file ci.token", 2)


def test_a_shell_shows_a_token_once_when_it_is_not_to_be_in_a_file(home: Place) -> None:
    shell = Shell(home)
    made = shell.data("token create shown")
    assert made["secret"].startswith("acai_")
    assert made["secret"] not in shell.said("token list")
    said = shell.said("token rotate shown")
    assert "shown this once:\nacai_" in said
    assert made["secret"] not in said


@pytest.mark.parametrize("line", ["token create nb", "token create nb --json", "user create nb", "token rotate nb"])
def test_a_notebook_does_not_keep_a_token(
    home: Place, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], line: str
) -> None:
    with ipython(home, monkeypatch) as shell:
        assert "--file FILE" in Notebook(shell, capsys).said(line, 2)


def test_who_logs_in_goes_on_in_every_shell_with_other_settings_as_they_were(home: Place, colleague: Place) -> None:
    shell, root = Shell(home), home.servers[0].root
    for project in ("one", "two"):
        shell.said(f"project create {project}")
        shell.said(f"user create bob --project {project} --role admin --file {colleague.work}/{project}.token")
    config = colleague.home / "config" / "acai" / "config.toml"
    config.parent.mkdir(parents=True)
    config.write_text('variables_limit = "4Gi"\ntoken = "acai_old"\n')
    theirs = Shell(colleague)
    said = theirs.said(f"login {root} --file one.token")
    assert f"signed in at {root} · project one · user bob (admin)" in said
    kept = tomllib.loads(config.read_text())
    token = (colleague.work / "one.token").read_text().strip()
    assert kept == {"url": root, "token": token, "project": "one", "variables_limit": "4Gi"}
    assert config.stat().st_mode & 0o777 == 0o600
    assert theirs.data("status")["project"] == "one"
    theirs.said("status --project two", 3)
    theirs.said(f"login {root} --file two.token")
    assert theirs.data("status")["project"] == "two"
    assert theirs.data("status --project one")["project"] == "one"  # both are kept
    assert [one["name"] for one in theirs.data("project list")["projects"]] == ["two"]
    theirs.said("project create three", 4)
    for project in ("one", "two"):
        shell.said(f"user rm bob --project {project}")
    theirs.said("status", 4)


def test_an_attached_jupyterlab_opens_each_project_by_the_token_that_was_kept_for_it(
    home: Place, colleague: Place
) -> None:
    shell, root = Shell(home), home.servers[0].root
    for project in ("blue", "green", "red"):
        shell.said(f"project create {project}")
        shell.said(f"user create eve --project {project} --file {colleague.work}/{project}.token")
        Shell(colleague).said(f"login {root} --file {project}.token")
    lab = colleague.start()
    assert lab.get("/v1/status")["project"] == "red"
    shell.said("user rm eve --project green")
    assert [one["name"] for one in lab.get("/v1/projects")["projects"]] == ["blue", "red"]
    assert [one["name"] for one in lab.get("/v1/projects?limit=1")["projects"]][:1] == ["blue"]
    assert [one["name"] for one in lab.get("/v1/projects?after=blue")["projects"]] == ["red"]
    found = lab.get("/v1/projects/blue/status")
    assert (found["project"], found["user"]["role"], found["mode"]) == ("blue", "member", "attached")
    with lab.stream(project="blue") as stream:
        assert "events" in json.loads(stream.recv())
    assert lab.ask("GET", "/v1/projects/green/status").status in (401, 404)
    assert lab.ask("GET", "/v1/projects/lab/status").code == "project_not_found"
    own = {"Authorization": f"Bearer {(colleague.work / 'red.token').read_text().strip()}"}
    said = lab.ask("GET", "/v1/projects", headers=own).json["projects"]
    assert [one["name"] for one in said] == ["red"]  # who brings a token of their own has no part in those
    assert lab.ask("GET", "/v1/projects/blue/status", headers=own).status == 404


def test_a_token_that_is_asked_for_is_not_shown(home: Place, colleague: Place) -> None:
    secret = Shell(home).data("token create typed --all-projects")["secret"]
    terminal, theirs = pty.openpty()
    with subprocess.Popen(
        [str(BIN / "acai"), "login", home.servers[0].root],
        env=colleague.environment,
        cwd=colleague.work,
        stdin=theirs,
        stdout=theirs,
        stderr=theirs,
        start_new_session=True,  # else it asks at the terminal of whoever runs the tests
    ) as process:
        os.close(theirs)
        shown = b""
        with os.fdopen(terminal, "r+b", buffering=0) as screen:
            while not shown.endswith(b": "):
                shown += screen.read(1)
            screen.write(f"{secret}\n".encode())
            with suppress(OSError):  # as Linux says that the other end is closed
                while piece := screen.read(1000):
                    shown += piece
    assert process.returncode == 0, shown
    assert b"signed in at" in shown
    assert secret.encode() not in shown
    assert colleague.acai("project", "list").returncode == 0


def test_a_token_that_is_not_valid_is_not_kept(home: Place, colleague: Place) -> None:
    colleague.write("wrong.token", "acai_wrong\n")
    theirs = Shell(colleague)
    theirs.said(f"login {home.servers[0].root} --file wrong.token", 4)
    theirs.said(f"login {home.servers[0].root}", 2)  # there is nobody to ask
    theirs.said(f"login {home.servers[0].root} --file nothing-there", 3)
    theirs.said("login somewhere --file wrong.token", 2)
    assert not (colleague.home / "config").exists()


def test_a_token_that_is_kept_for_one_server_is_not_shown_to_another(home: Place, colleague: Place) -> None:
    shell, root = Shell(home), home.servers[0].root
    shell.said(f"token create kept --file {colleague.work}/kept.token")
    theirs = Shell(colleague)
    theirs.said(f"login {root} --file kept.token")
    elsewhere = colleague.acai("status", ACAI_URL=root.replace("127.0.0.1", "localhost"))
    assert (elsewhere.returncode, "valid token" in elsewhere.stderr) == (4, True)


def test_python_has_the_same_calls(home: Place, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    for variable, value in home.environment.items():
        monkeypatch.setenv(variable, value)
    acai.create_project("of-python")
    made = acai.create_user("carl", role="viewer", quota=1, project="of-python")
    assert next((one.name, one.quota) for one in acai.users(project="of-python")) == ("carl", 1)
    assert acai.set_quota("carl", None, project="of-python").quota is None
    assert acai.set_role("carl", "member", project="of-python").role == "member"
    file = tmp_path / "token"
    file.write_text(made.issued.secret)
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path / "config"))
    status = acai.login(home.servers[0].root, file=file)
    assert (status.project, status.user.name) == ("of-python", "carl")
    issued = acai.create_token("mine", scope="read", days=2)
    assert [one.name for one in acai.tokens()] == ["first", "mine"]
    assert acai.rotate_token("mine").secret != issued.secret
    assert acai.revoke_token("first").name == "first"
    with pytest.raises(NotSignedIn):
        acai.status()
    monkeypatch.setenv("XDG_CONFIG_HOME", home.environment["XDG_CONFIG_HOME"])
    assert [one.name for one in acai.projects()].count("of-python") == 1
    assert acai.remove_user("carl", project="of-python").name == "carl"


def test_an_operator_makes_a_token_for_an_admin_who_has_lost_theirs(home: Place) -> None:
    Shell(home).said("project create lost --admin olga --file olga.token")
    Shell(home).said("token list --project lost", 3)  # it is hers alone

    def at_the_database(*words: str) -> subprocess.CompletedProcess[str]:
        command = [str(BIN / "acai-server"), "token", *words]
        return subprocess.run(command, env=home.environment, capture_output=True, text=True, check=False, timeout=120)

    made = at_the_database("lost", "olga")
    assert made.returncode == 0, made.stderr
    headers = {"Authorization": f"Bearer {made.stdout.strip()}"}
    removed = home.servers[0].ask("GET", "/v1/projects/lost/tokens", token=None, headers=headers)
    assert [one["name"] for one in removed.json["tokens"]] == ["first", "replaced"]
    refused = at_the_database("lost", "nobody")
    assert (refused.returncode, refused.stderr) == (3, "There is no user 'nobody' in this project.\n")


def test_a_list_longer_than_a_page_is_shown_whole(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    many = 1100
    with closing(Place(tmp_path / "crowded")) as place:
        server = place.start()
        numbers = f"WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < {many}) "
        now = "2026-01-01 00:00:00.000000"
        place.sql(
            f"{numbers} INSERT INTO user_account (name, is_global_admin, created_at) "
            f"SELECT printf('user-%04d', i), 0, '{now}' FROM n"
        )
        place.sql(
            "INSERT INTO membership (project_id, user_id, role) "
            "SELECT 1, id, 'viewer' FROM user_account WHERE name LIKE 'user-%'"
        )
        place.sql(
            f"{numbers} INSERT INTO token (user_id, project_id, name, hash, scope, all_projects, created_at) "
            f"SELECT 1, 1, printf('token-%04d', i), CAST(printf('%032d', i) AS BLOB), 'read', 0, '{now}' FROM n"
        )
        place.sql(f"{numbers} INSERT INTO user_group (project_id, name) SELECT 1, printf('group-%04d', i) FROM n")
        first = server.get("/v1/projects/default/users")
        assert (len(first["users"]), first["next"]) == (1000, first["users"][-1]["name"])
        for variable, value in place.environment.items():
            monkeypatch.setenv(variable, value)
        names = [f"{many - 1:04d}", f"{many:04d}"]
        for kind in ("user", "token", "group"):
            done = place.acai(kind, "list")
            assert done.returncode == 0, done.stderr
            found = [row.split()[0] for row in done.stdout.splitlines()]
            listed = [one for one in found if one.startswith(f"{kind}-")]
            assert (len(listed), listed[-2:]) == (many, [f"{kind}-{name}" for name in names])
        assert (len(acai.users()), len(acai.tokens()), len(acai.groups())) == (many + 1, many + 1, many)
        server.end()


def test_no_token_is_in_a_log(home: Place) -> None:
    shell = Shell(home)
    secret = shell.data("token create logged --all-projects --scope admin")["secret"]
    server = home.servers[0]
    for path in ("/v1/status", "/v1/nothing", "/v1/projects/default/jobs/0"):
        server.ask("GET", path, token=None, headers={"Authorization": f"Bearer {secret}"})
    shell.said("token revoke logged")
    server.ask("GET", "/v1/status", token=None, headers={"Authorization": f"Bearer {secret}"})
    assert secret not in server.log
    assert TOKEN not in server.log
