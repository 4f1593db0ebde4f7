"""`doctor` with a real server, without one, and with one whose store was taken away."""

from __future__ import annotations

import json
import shutil
from pathlib import Path
from typing import TYPE_CHECKING, Any

import acai_jupyter

if TYPE_CHECKING:
    from tests.integration.places import Place

PACKAGE = Path(acai_jupyter.__file__).parent


def _found(place: Place, status: int, **variables: str) -> dict[str, Any]:
    done = place.acai("doctor", "--json", **variables)
    assert done.returncode == status, (done.stdout, done.stderr)
    return {check["name"]: check for check in json.loads(done.stdout)["checks"] if check["finding"] != "warning"}


def test_all_that_works_is_told_with_exit_status_0(place: Place) -> None:
    place.start()
    found = _found(place, 0)
    assert set(found) >= {"environment", "connection", "database", "object store", "disk", "runner", "contents"}
    assert {check["finding"] for check in found.values()} == {"ok"}
    assert found["browser extension"]["finding"] == "ok"
    assert "shares the store's disk" in found["contents"]["said"]
    text = place.acai("doctor").stdout
    assert all(line.split()[0] in ("ok", "warning") for line in text.splitlines()[:-1])


def test_without_a_server_the_rest_is_looked_at_and_the_way_to_one_is_said(place: Place) -> None:
    found = _found(place, 1)
    assert found["environment"]["finding"] == "ok"
    assert found["server"]["finding"] == "failed"
    assert "Start JupyterLab" in found["server"]["said"]


def test_another_version_is_told_with_where_to_upgrade(place: Place, tmp_path: Path) -> None:
    place.start()
    older = tmp_path / "older" / "acai_jupyter"
    shutil.copytree(PACKAGE, older, ignore=shutil.ignore_patterns("__pycache__"))
    (older / "_version.py").write_text('__version__ = "0.0.9"\n')
    found = _found(place, 1, PYTHONPATH=str(older.parent))
    assert found["environment"]["said"].startswith("acai_jupyter 0.0.9, ")
    assert found["server"]["finding"] == "failed"
    assert "this Python has 0.0.9. Upgrade acai-jupyter in this environment." in found["server"]["said"]


def test_a_store_that_was_taken_away_is_named(place: Place) -> None:
    place.start()
    assert _found(place, 0)
    objects = place.data / "objects"
    shutil.rmtree(objects)
    objects.write_text("in its place")
    found = _found(place, 1)
    assert found["object store"]["finding"] == "failed"
    assert found["database"]["finding"] == "ok"


def test_python_gets_the_same_as_values(place: Place) -> None:
    from acai_jupyter.client.checkups import look

    found = look(place.start().client())
    assert {check.finding.value for check in found.checks} <= {"ok", "warning"}
    assert found.probe_url == ""
