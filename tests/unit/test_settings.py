"""Where settings come from, and what is said of those that are not understood."""

from __future__ import annotations

from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any, cast

import pytest
from traitlets.config import Config

from acai_jupyter.contract.errors import BadSetting
from acai_jupyter.contract.jobs import ResourceLimits
from acai_server.app import AcaiApp
from acai_server.settings import Settings, from_environment, from_file, user_config

if TYPE_CHECKING:
    from jupyter_server.serverapp import ServerApp

KNOWN = frozenset(Settings.__dataclass_fields__)


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
    with pytest.raises(BadSetting, match=r"project in .*acai\.toml"):
        read(tmp_path)
