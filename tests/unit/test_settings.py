"""Where settings come from, and what is said of those that are not understood."""

from __future__ import annotations

import os
import shutil
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any, cast

import pytest
from traitlets.config import Config

from acai_jupyter.client import folder_trust
from acai_jupyter.contract.addresses import is_same_server
from acai_jupyter.contract.errors import BadSetting
from acai_jupyter.contract.jobs import ResourceLimits
from acai_server.app import AcaiApp
from acai_server.settings import NAMES, Settings, from_environment, from_file, user_config

if TYPE_CHECKING:
    from jupyter_server.serverapp import ServerApp

KNOWN = NAMES


@dataclass
class JupyterServer:
    """As much of a Jupyter server as reading settings needs."""

    root_dir: str
    cli_config: dict[str, Any] = field(default_factory=dict)


Values = dict[str, Any] | None


def read(folder: Path, *, command_line: Values = None, jupyter: Values = None) -> Settings:
    app = AcaiApp(config=Config({"AcaiApp": jupyter or {}}))
    app.serverapp = cast("ServerApp", JupyterServer(str(folder), {"AcaiApp": command_line or {}}))
    return app.read_settings()


def write(path: Path, text: str) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text)


def trust(path: Path) -> None:
    folder_trust.trust(folder_trust.look_at(str(path)).entry)


@pytest.mark.parametrize("value", ["nan", "inf"])
@pytest.mark.parametrize("name", ["max_vcpu", "machine_vcpu", "grace_days", "sign_in_days", "requests_per_second"])
def test_a_number_that_nobody_can_count_with_is_refused(tmp_path: Path, name: str, value: str) -> None:
    with pytest.raises(BadSetting, match=f"The setting {name} .* {value} is no number that can be counted with"):
        read(tmp_path, command_line={name: float(value)})


def test_without_any_source_there_are_the_defaults(tmp_path: Path, own_home: Path) -> None:
    settings = read(tmp_path)
    assert settings.data_folder == own_home / "data" / "acai"
    assert (settings.object_store, settings.runner, settings.quota) == ("filesystem", "process", 4)
    assert settings.user
    assert settings.limits() == ResourceLimits(), "what a client takes of a server that does not say"


def test_a_cluster_needs_a_store_that_its_pods_reach(tmp_path: Path) -> None:
    with pytest.raises(BadSetting, match="'kubernetes' needs an 's3' object_store"):
        read(tmp_path, jupyter={"runner": "kubernetes"})
    near = {"runner": "kubernetes", "object_store": "s3", "s3_endpoint_url": "http://127.0.0.1:8333"}
    with pytest.raises(BadSetting, match=r"in a pod '127\.0\.0\.1' is the pod itself"):
        read(tmp_path, jupyter=near)
    read(tmp_path, jupyter={**near, "endpoint_url_for_jobs": "http://s3.storage:8333"})
    with pytest.raises(BadSetting, match=r"endpoint_url_for_jobs.* in a pod 'localhost'"):
        read(tmp_path, jupyter={**near, "endpoint_url_for_jobs": "http://localhost:8333"})
    with pytest.raises(BadSetting, match="is not a word of at most 20"):
        read(tmp_path, jupyter={"kubernetes_instance": "No Label"})
    chosen = {"runner": "kubernetes", "object_store": "s3", "kubernetes_image": "python:3.11", "kubernetes_user": 0}
    cluster = read(tmp_path, jupyter=chosen).of_the_cluster("1a2b")
    assert (cluster.instance, cluster.image, cluster.run_as_user, cluster.template) == ("1a2b", "python:3.11", 0, {})


def test_the_first_source_that_has_a_setting_wins(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    write(user_config(), "quota = 5")
    assert read(tmp_path).quota == 5
    assert read(tmp_path, jupyter={"quota": 6}).quota == 6
    write(tmp_path / "acai.toml", "quota = 7")
    trust(tmp_path / "acai.toml")
    assert read(tmp_path, jupyter={"quota": 6}).quota == 7
    monkeypatch.setenv("ACAI_QUOTA", "8")
    assert read(tmp_path, jupyter={"quota": 6}).quota == 8
    assert read(tmp_path, jupyter={"quota": 6}, command_line={"quota": 9}).quota == 9


def test_sources_complete_each_other(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    write(user_config(), 'project = "ours"')
    monkeypatch.setenv("ACAI_DATA_FOLDER", "~/elsewhere")
    settings = read(tmp_path, command_line={"user": "her"})
    assert (settings.project, settings.data_folder, settings.user) == ("ours", Path.home() / "elsewhere", "her")


@pytest.mark.parametrize(
    ("variable", "said"),
    [
        ("ACAI_DATA_FOLDR", "ACAI_DATA_FOLDER"),
        ("ACAI_QUOTAS", "ACAI_QUOTA"),
        ("ACAI_XYZZY", "no such setting"),
    ],
)
def test_an_unknown_variable_is_named_with_the_nearest(
    monkeypatch: pytest.MonkeyPatch, variable: str, said: str
) -> None:
    monkeypatch.setenv(variable, "x")
    with pytest.raises(BadSetting, match=f"{variable} in the environment.*{said}"):
        from_environment(KNOWN)


@pytest.mark.parametrize(
    "variable", ["ACAI_URL", "ACAI_TOKEN", "ACAI_JOB", "ACAI_INPUT", "ACAI_OUTPUT", "ACAI_PARAM_X"]
)
def test_what_clients_and_jobs_are_told_is_no_error(monkeypatch: pytest.MonkeyPatch, variable: str) -> None:
    monkeypatch.setenv(variable, "x")
    from_environment(KNOWN)


def test_an_unknown_name_in_a_file_is_named_with_the_nearest_and_the_file(tmp_path: Path) -> None:
    write(tmp_path / "acai.toml", "qota = 4")
    trust(tmp_path / "acai.toml")
    with pytest.raises(BadSetting, match=r"qota in .*acai\.toml.*quota"):
        read(tmp_path)


@pytest.mark.parametrize(
    ("body", "reason"), [(b"quota = ", "it is not TOML"), (b"\xff\xfe", "it cannot be read"), (b"[quota", "not TOML")]
)
def test_a_broken_file_is_said_to_be_so(tmp_path: Path, body: bytes, reason: str) -> None:
    (tmp_path / "acai.toml").write_bytes(body)
    with pytest.raises(BadSetting, match=reason):
        from_file(tmp_path / "acai.toml", KNOWN)


def test_a_folder_in_a_files_place_is_said_to_be_so(tmp_path: Path) -> None:
    (tmp_path / "acai.toml").mkdir()
    with pytest.raises(BadSetting, match="it cannot be read"):
        from_file(tmp_path / "acai.toml", KNOWN)


@pytest.mark.parametrize("value", ["many", "0", "-3", "1.5", ""])
def test_a_value_that_makes_no_sense_is_named_with_its_place(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, value: str
) -> None:
    monkeypatch.setenv("ACAI_QUOTA", value)
    with pytest.raises(BadSetting, match="quota in the environment"):
        read(tmp_path)


def test_a_value_of_another_type_in_a_file_is_named_with_its_place(tmp_path: Path) -> None:
    write(tmp_path / "acai.toml", "project = 4")
    trust(tmp_path / "acai.toml")
    with pytest.raises(BadSetting, match=r"project in .*acai\.toml"):
        read(tmp_path)


# -- the file of a working folder


def value_for(name: str) -> str:
    """A value in TOML that differs from the default, as a hostile folder would give it."""
    default = getattr(AcaiApp(), name)
    if isinstance(default, bool):
        return "false" if default else "true"
    return str(default + 1) if isinstance(default, int | float) else "'/hostile'"


PREFERENCES = {"project"}


def test_only_settings_that_say_so_are_read_from_an_untrusted_folder() -> None:
    traits = AcaiApp().traits(config=True)
    assert {name for name in KNOWN if traits[name].metadata.get("in_working_folder")} == PREFERENCES


@pytest.mark.parametrize("name", sorted(KNOWN - PREFERENCES))
def test_a_setting_in_an_untrusted_folder_is_ignored_and_named(tmp_path: Path, name: str) -> None:
    usual = read(tmp_path)
    write(tmp_path / "acai.toml", f"{name} = {value_for(name)}\nproject = 'ours'\n")
    found = read(tmp_path)
    assert getattr(found, name) == getattr(usual, name)
    assert found.project == "ours", "a preference counts"
    assert len(found.notices) == 1
    for said in (str(tmp_path / "acai.toml"), f" sets {name}, ", "not trusted", "`acai trust"):
        assert said in found.notices[0]


@pytest.mark.parametrize("text", ["quota = ", "\0", "[quota", "= 'x'\n" * 3])
def test_a_broken_file_of_an_untrusted_folder_stops_nothing(tmp_path: Path, text: str) -> None:
    write(tmp_path / "acai.toml", text)
    assert "is not TOML" in read(tmp_path).notices[0]


def test_a_preference_with_a_wrong_value_stops_nothing(tmp_path: Path) -> None:
    write(tmp_path / "acai.toml", "project = 4")
    found = read(tmp_path)
    assert (found.project, "project in" in found.notices[0]) == ("default", True)


@pytest.mark.timeout(20)
def test_what_is_no_regular_file_is_not_waited_for(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "acai.toml")
    assert "it is not a regular file" in read(tmp_path).notices[0]
    (tmp_path / "acai.toml").unlink()
    (tmp_path / "acai.toml").symlink_to("/dev/zero")
    assert "it is not a regular file" in read(tmp_path).notices[0]
    (tmp_path / "acai.toml").unlink()
    write(tmp_path / "acai.toml", "#" * 1024**2 + "\nquota = 2")
    assert "larger than 1024 KB" in read(tmp_path).notices[0]


def test_a_notice_of_many_names_is_short_and_moves_no_cursor(tmp_path: Path) -> None:
    write(tmp_path / "acai.toml", '"\\u001b[2J" = 1\n' + "".join(f"k{number} = 1\n" for number in range(99)))
    (notice,) = read(tmp_path).notices
    assert r"\x1b[2J, k0, k1" in notice
    assert "and 92 more" in notice


def test_a_trusted_file_counts_until_it_changes(tmp_path: Path) -> None:
    write(tmp_path / "acai.toml", "quota = 7")
    trust(tmp_path / "acai.toml")
    assert (read(tmp_path).quota, read(tmp_path).notices) == (7, ())
    write(tmp_path / "acai.toml", "quota = 8")
    assert read(tmp_path).quota == 4
    assert "changed since it was trusted" in read(tmp_path).notices[0]
    write(tmp_path / "acai.toml", "quota = 7")
    assert read(tmp_path).quota == 7
    folder_trust.revoke(str(tmp_path / "acai.toml"))
    assert read(tmp_path).quota == 4


def test_a_trusted_content_in_another_folder_is_not_trusted(tmp_path: Path) -> None:
    write(tmp_path / "mine" / "acai.toml", "quota = 7")
    trust(tmp_path / "mine")
    for folder, make in (("copy", shutil.copy), ("link", os.symlink)):
        (tmp_path / folder).mkdir()
        make(tmp_path / "mine" / "acai.toml", tmp_path / folder / "acai.toml")
        assert read(tmp_path / folder).quota == 4, folder
    (tmp_path / "way").symlink_to(tmp_path / "mine")
    assert read(tmp_path / "way").quota == 7, "another way to the same folder"


def test_the_files_that_a_trusted_file_names_are_trusted_as_they_were(tmp_path: Path) -> None:
    write(tmp_path / "acai.toml", "kubeconfig = './deploy/kube.yaml'\nprice_book = 'later.json'\nproject = 'deploy'")
    write(tmp_path / "deploy" / "kube.yaml", "users: []")
    trust(tmp_path)
    assert read(tmp_path).kubeconfig == str(tmp_path / "deploy" / "kube.yaml"), "wherever the server was started"
    write(tmp_path / "deploy" / "kube.yaml", "users: [{exec: {command: ./steal}}]")
    assert read(tmp_path).kubeconfig == ""
    write(tmp_path / "deploy" / "kube.yaml", "users: []")
    assert read(tmp_path).kubeconfig
    write(tmp_path / "later.json", "{}")
    assert read(tmp_path).kubeconfig == "", "a file that was not there when it was looked at"


@pytest.mark.parametrize("text", ["", "{", "[]", "[{}]", '[{"path": 4}]', "null"])
def test_a_list_of_trusted_files_that_is_none_trusts_nothing(tmp_path: Path, text: str) -> None:
    write(tmp_path / "acai.toml", "quota = 7")
    write(user_config().with_name("trusted.json"), text)
    assert read(tmp_path).quota == 4


def test_only_its_owner_reads_and_writes_the_list(tmp_path: Path) -> None:
    write(tmp_path / "acai.toml", "quota = 7")
    trust(tmp_path)
    assert user_config().with_name("trusted.json").stat().st_mode & 0o777 == 0o600


# -- tokens are bound to their addresses

HERE, THERE = "https://acai.example.org", "https://other.example.org"


@dataclass(frozen=True)
class Given:
    """What each source says; the folder's file is a trusted one."""

    line: dict[str, str] = field(default_factory=dict)
    environment: dict[str, str] = field(default_factory=dict)
    folder: dict[str, str] = field(default_factory=dict)
    user: dict[str, str] = field(default_factory=dict)


@pytest.mark.parametrize(
    ("given", "url", "token"),
    [
        (Given(environment={"url": HERE, "token": "t"}), HERE, "t"),
        (Given(line={"url": HERE}, environment={"token": "t"}), HERE, "t"),
        (Given(line={"url": THERE}, environment={"url": HERE, "token": "t"}), THERE, ""),
        (Given(line={"url": HERE + ":443/"}, environment={"url": HERE, "token": "t"}), HERE + ":443/", "t"),
        (Given(environment={"token": "t"}, user={"url": HERE}), HERE, "t"),
        (Given(environment={"url": THERE}, user={"url": HERE, "token": "t"}), THERE, ""),
        (Given(environment={"url": THERE}, user={"token": "t"}), THERE, ""),
        (Given(environment={"url": HERE}, user={"url": HERE, "token": "t"}), HERE, "t"),
        (Given(environment={"token": "e"}, user={"url": HERE, "token": "t"}), HERE, "e"),
        (Given(folder={"url": THERE}, environment={"token": "e"}, user={"url": HERE, "token": "t"}), THERE, ""),
        (Given(folder={"url": THERE}, environment={"token": "e"}), THERE, ""),
        (Given(folder={"url": THERE, "token": "f"}, user={"url": HERE, "token": "t"}), THERE, "f"),
        (Given(folder={"token": "f"}, user={"url": HERE}), HERE, ""),
        (
            Given(folder={"url": "http://acai.example.org"}, user={"url": HERE, "token": "t"}),
            "http://acai.example.org",
            "",
        ),
    ],
)
def test_a_token_goes_to_the_address_that_it_was_given_for(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, given: Given, url: str, token: str
) -> None:
    for name, value in given.environment.items():
        monkeypatch.setenv(f"ACAI_{name.upper()}", value)
    write(user_config(), "".join(f"{name} = '{value}'\n" for name, value in given.user.items()))
    write(tmp_path / "acai.toml", "".join(f"{name} = '{value}'\n" for name, value in given.folder.items()))
    trust(tmp_path)
    found = read(tmp_path, command_line=dict(given.line))
    assert (found.url, found.token) == (url, token)
    assert found.url_is_from_folder == ("url" in given.folder)


@pytest.mark.parametrize(
    ("one", "other", "same"),
    [
        ("http://a:80/x/", "HTTP://A/x", True),
        ("http://a", "https://a", False),
        ("https://a:443", "https://a:8443", False),
        ("https://a/x", "https://a/y", False),
        ("https://a", "https://a.evil.org", False),
        ("https://a@evil.org", "https://a", False),
        ("http://[::1]:8888", "http://[::1]:8888/", True),
        ("http://a:notaport", "http://a", False),
        ("", "http://a", False),
    ],
)
def test_two_spellings_of_an_address_are_one_server(one: str, other: str, *, same: bool) -> None:
    assert is_same_server(one, other) is same
