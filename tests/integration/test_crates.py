"""`export` and `verify`: a result with its lineage in a zip that others can read, and that cannot be changed unseen."""

from __future__ import annotations

import json
import zipfile
from typing import TYPE_CHECKING, Any

import pytest
from rocrate.rocrate import ROCrate

from acai_jupyter.commands.crate_entities import METADATA
from tests.integration.places import Place

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from pathlib import Path

PROGRAM = """
import os, pathlib
text = pathlib.Path("raw/a b.txt").read_text() * int(os.environ["ACAI_PARAM_TIMES"])
pathlib.Path("output/out").mkdir()
pathlib.Path("output/out/ä 1.txt").write_text(text)
pathlib.Path("output/empty").write_text("")
"""
Zip = dict[str, bytes]


@pytest.fixture(scope="module")
def place(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Place]:
    """One place for all: making a result takes longer than looking at it."""
    made = Place(tmp_path_factory.mktemp("crates"))
    yield made
    made.close()


@pytest.fixture(scope="module")
def exported(place: Place) -> bytes:
    """Return the crate of what a job made of what was uploaded."""
    place.start()
    place.write("raw/a b.txt", "hello\n")
    place.write("program.py", PROGRAM)
    for words in (
        ("put", "raw", "/raw", "--as", "raw"),
        ("submit", "program.py", "--input", "raw", "--output", "made", "-p", "times=3", "--name", "three <times>"),
        ("wait", "1"),
        ("export", "@made:1", "crate.zip"),
    ):
        done = place.acai(*words)
        assert done.returncode == 0, (done.stdout, done.stderr)
    assert "the lineage of made:1: 1 job · check it: acai verify crate.zip" in done.stdout
    return (place.work / "crate.zip").read_bytes()


@pytest.fixture
def crate(place: Place, exported: bytes) -> Path:
    """Return the file that it is in."""
    path = place.work / "crate.zip"
    path.write_bytes(exported)
    return path


def _read(path: Path) -> Zip:
    with zipfile.ZipFile(path) as archive:
        return {name: archive.read(name) for name in archive.namelist()}


def _write(path: Path, content: Zip) -> None:
    with zipfile.ZipFile(path, "w") as archive:
        for name, data in content.items():
            archive.writestr(name, data)


def test_files_code_and_what_it_takes_to_run_it_again_are_in_it(crate: Path, place: Place) -> None:
    content = _read(crate)
    assert content["files/made/out/ä 1.txt"] == b"hello\n" * 3
    assert content["files/made/empty"] == b""
    assert any(name.startswith("code/") and data == PROGRAM.encode() for name, data in content.items())
    request = json.loads(content["lineage/job-1.json"])
    assert (request["request"]["parameters"], request["inputs"]) == ({"times": 3}, ["raw:1"])
    assert {node["file_set"]["name"] for node in json.loads(content["lineage/graph.json"])["nodes"]} == {"raw", "made"}
    assert place.acai("verify", "crate.zip").stdout.endswith("all as they were\n")


def test_other_tools_read_it_with_what_made_it_from_what(crate: Path, tmp_path: Path) -> None:
    with zipfile.ZipFile(crate) as archive:
        archive.extractall(tmp_path / "crate")
    found = ROCrate(tmp_path / "crate")
    assert found.name == "@made:1"
    files = {entity.id for entity in found.data_entities if entity.type == "File"}
    assert "files/made/out/%C3%A4%201.txt" in files
    action = found.dereference("#job-1")
    assert action["name"] == "job 1 three <times>"
    assert [one.id for one in action["result"]] == ["#made%3A1"]
    assert "#raw%3A1" in [one.id for one in action["object"]]
    assert action["instrument"]["name"].endswith("program.py")
    assert found.dereference("#job-1-times")["value"] == 3
    graph = json.loads(_read(crate)[METADATA])["@graph"]
    known = {entity["@id"] for entity in graph}
    referred = {one for entity in graph for one in _references(entity) if not one.startswith("http")}
    assert referred <= known


def _references(value: Any) -> list[str]:
    """The ids that an entity speaks of, its own apart."""
    if isinstance(value, dict):
        inner = [one for key, part in value.items() if key != "@id" for one in _references(part)]
        return inner + ([value["@id"]] if list(value) == ["@id"] else [])
    return [one for part in value for one in _references(part)] if isinstance(value, list) else []


def test_the_same_set_gives_the_same_bytes_and_a_file_that_is_there_is_kept(crate: Path, place: Place) -> None:
    before = crate.read_bytes()
    refused = place.acai("export", "@made:1", "crate.zip")
    assert (refused.returncode, refused.stderr) == (6, "crate.zip is there already. Replace it with --force.\n")
    assert place.acai("export", "@made:1", "crate.zip", "--force").returncode == 0
    assert crate.read_bytes() == before
    assert [path.name for path in crate.parent.iterdir() if path.name.startswith(".crate")] == []


def _changed(content: Zip) -> None:
    content["files/made/out/ä 1.txt"] = b"jello\n" * 3


def _longer(content: Zip) -> None:
    content["files/made/out/ä 1.txt"] += b"more"


def _missing(content: Zip) -> None:
    del content["lineage/job-1.json"]


def _added(content: Zip) -> None:
    content["files/../../evil"] = b"x"


def _undescribed(content: Zip) -> None:
    described = json.loads(content[METADATA])
    described["@graph"] = [one for one in described["@graph"] if not str(one["@id"]).startswith("files/")]
    content[METADATA] = json.dumps(described).encode()


@pytest.mark.parametrize(
    ("change", "said"),
    [
        (_changed, "changed: files/made/out/ä 1.txt"),
        (_longer, "changed: files/made/out/ä 1.txt"),
        (_missing, "missing: lineage/job-1.json"),
        (_added, "not described: files/../../evil"),
        (_undescribed, "not described: files/made/empty"),
    ],
)
def test_whatever_is_changed_in_it_is_found(
    crate: Path, place: Place, change: Callable[[Zip], None], said: str
) -> None:
    content = _read(crate)
    change(content)
    _write(crate, content)
    done = place.acai("verify", "crate.zip")
    assert done.returncode == 1
    assert f"  {said}\n" in done.stdout


@pytest.mark.parametrize(
    ("content", "status", "said"),
    [
        (b"no zip", 2, "is no zip that can be read"),
        ({"a": b"a"}, 2, f"It is no crate: it has no {METADATA}"),
        ({METADATA: b"{"}, 2, "cannot be understood"),
        ({METADATA: b'{"@graph": 1}'}, 2, "cannot be understood"),
        ({METADATA: b"[" * 100_000}, 2, "cannot be understood"),
        (None, 3, "No file ./none.zip"),
    ],
)
def test_what_is_no_crate_is_said_to_be_none(place: Place, content: Any, status: int, said: str) -> None:
    path = place.work / "none.zip"
    path.unlink(missing_ok=True)
    if isinstance(content, dict):
        _write(path, content)
    elif content is not None:
        path.write_bytes(content)
    done = place.acai("verify", "none.zip")
    assert done.returncode == status
    assert said in done.stderr


def test_only_sets_are_exported_and_into_folders_that_are_there(crate: Path, place: Place) -> None:
    assert crate.exists()
    crate.unlink()
    assert "is no file set" in place.acai("export", "/p", "crate.zip").stderr
    assert place.acai("export", "@nothing", "crate.zip").returncode == 3
    assert "No folder" in place.acai("export", "@nothing", "none/crate.zip").stderr
