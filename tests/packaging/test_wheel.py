"""What is in the wheel, and what is not."""

from __future__ import annotations

import gzip
import json
import re
from email import message_from_bytes
from typing import TYPE_CHECKING
from zipfile import ZipFile

import pytest

from tests.packaging import distributions
from tests.packaging.distributions import ROOT

if TYPE_CHECKING:
    from email.message import Message
    from pathlib import Path

    from tests.packaging.distributions import Distributions

pytestmark = pytest.mark.timeout(300)  # the first one builds and installs the wheel

MOST_IN_ALL = 700_000
BUNDLE = "share/jupyter/labextensions/acai-jupyter"


def contents(wheel: Path) -> dict[str, bytes]:
    """Return the files of a wheel by the path they are installed under, without the version in it."""
    with ZipFile(wheel) as archive:
        return {
            re.sub(r"^acai_jupyter-[^/]+\.(data/data|dist-info)/", _place, name): archive.read(name)
            for name in archive.namelist()
        }


def _place(match: re.Match[str]) -> str:
    return "" if match[1] == "data/data" else "dist-info/"


@pytest.fixture(scope="module")
def files(built: Distributions) -> dict[str, bytes]:
    return contents(built.wheel)


@pytest.fixture(scope="module")
def metadata(files: dict[str, bytes]) -> Message:
    return message_from_bytes(files["dist-info/METADATA"])


def test_the_wheel_holds_the_bundle_that_its_package_json_names(files: dict[str, bytes]) -> None:
    described = json.loads(files[f"{BUNDLE}/package.json"])
    assert described["name"] == "acai-jupyter"
    assert f"{BUNDLE}/{described['jupyterlab']['_build']['load']}" in files
    assert f"{BUNDLE}/schemas/acai-jupyter/panel.json" in files


def test_the_wheel_says_how_the_bundle_is_uninstalled(files: dict[str, bytes]) -> None:
    assert json.loads(files[f"{BUNDLE}/install.json"])["packageName"] == "acai-jupyter"


def test_the_wheel_enables_the_server_extension(files: dict[str, bytes]) -> None:
    config = json.loads(files["etc/jupyter/jupyter_server_config.d/acai_server.json"])
    assert config["ServerApp"]["jpserver_extensions"] == {"acai_server": True}


def test_the_wheel_carries_the_agent_as_a_program(files: dict[str, bytes], tmp_path: Path) -> None:
    agent = tmp_path / "agent.pyz"
    agent.write_bytes(files["acai_server/agent.pyz"])
    with ZipFile(agent) as archive:
        assert "__main__.py" in archive.namelist()


def test_the_wheel_carries_every_migration(files: dict[str, bytes]) -> None:
    versions = "server_ext/acai_server/db/migrations/versions"
    names = {f"acai_server/db/migrations/versions/{path.name}" for path in (ROOT / versions).glob("*.py")}
    assert len(names) > 1
    assert names | {"acai_server/db/migrations/env.py"} <= set(files)


def test_the_wheel_holds_no_tests_and_nothing_of_node(files: dict[str, bytes]) -> None:
    places = {"acai_jupyter", "acai_server", "share", "etc", "dist-info"}
    assert {name.split("/")[0] for name in files} == places
    assert not [name for name in files if "node_modules" in name or re.search(r"(^|/)(tests?|conftest\.py)(/|$)", name)]


def test_no_file_of_the_wheel_names_a_path_of_the_machine_that_built_it(
    built: Distributions, files: dict[str, bytes]
) -> None:
    paths = [str(built.sources).encode(), str(ROOT).encode()]
    assert not [name for name, content in files.items() if any(path in content for path in paths)]


def test_the_bundle_carries_no_source_maps(files: dict[str, bytes]) -> None:
    assert not [name for name in files if name.endswith(".map")]


def test_all_scripts_of_the_bundle_together_are_small(files: dict[str, bytes]) -> None:
    scripts = [content for name, content in files.items() if re.fullmatch(rf"{BUNDLE}/static/.*\.js", name)]
    assert len(scripts) > 10
    assert 50_000 < sum(len(gzip.compress(script)) for script in scripts) < MOST_IN_ALL


def test_the_metadata_names_the_licence(metadata: Message, files: dict[str, bytes]) -> None:
    assert metadata["License-Expression"] == "BSD-3-Clause"
    assert metadata["License-File"] == "LICENSE"
    assert files["dist-info/licenses/LICENSE"] == (ROOT / "LICENSE").read_bytes()


def test_the_metadata_names_the_extras(metadata: Message) -> None:
    installed = {"s3", "postgres", "kubernetes", "oidc", "variables", "widgets", "notebooks", "all"}
    extras = installed | {"lab", "notebook7", "collaboration", "docs", "dev"}
    assert set(metadata.get_all("Provides-Extra", [])) == extras


def test_the_version_is_that_of_package_json(metadata: Message, files: dict[str, bytes]) -> None:
    version = json.loads((ROOT / "package.json").read_text())["version"]
    assert metadata["Version"] == version
    assert f'__version__ = "{version}"'.encode() in files["acai_jupyter/_version.py"]


def test_every_requirement_of_the_package_itself_has_a_lower_bound(metadata: Message) -> None:
    required = [line for line in metadata.get_all("Requires-Dist", []) if "extra ==" not in line]
    assert required
    assert not [line for line in required if ">=" not in line]


def test_the_sources_give_the_wheel_that_the_sdist_gave(built: Distributions, tmp_path: Path) -> None:
    env = distributions.environment_for_builds()
    again = distributions.build_package(built.sources, tmp_path / "dist", "--wheel", env=env)
    assert contents(again) == contents(built.wheel)
