"""What a doctor finds: each trouble has its sentence, and none of them keeps the others from being looked at."""

from __future__ import annotations

import json
import threading
from datetime import UTC, datetime, timedelta
from typing import TYPE_CHECKING

import pytest

from acai_jupyter.client import checkups
from acai_jupyter.contract.checkups import Check, Checkup, Finding
from acai_server.checkup import browser, clocks, store
from acai_server.checkup.service import Checkups, Ground, in_short
from acai_server.clock import Clock
from acai_server.db import schema
from acai_server.db.database import Database
from acai_server.objects.filesystem import FilesystemObjectStore
from acai_server.objects.signing import UrlSigner
from acai_server.runners.gangs import Gangs
from acai_server.runners.process import ProcessRunner, ProcessSettings

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from pathlib import Path

    from acai_server.checkup.service import Look

ROOMY = 1024**5
"""More than any disk of a test has."""


class Clinic:
    """All that a server stands on, below one folder."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.database = Database(f"sqlite:///{folder / 'acai.db'}", Clock())
        schema.migrate(self.database)
        signer = UrlSigner(b"key", lambda: "http://127.0.0.1:1", lambda: 0.0)
        self.objects = FilesystemObjectStore(folder / "objects", signer)
        self.agent = folder / "agent.pyz"

    def look(
        self,
        *,
        reserved_memory_bytes: int = 0,
        reserved_disk_bytes: int = 0,
        notices: tuple[str, ...] = (),
        others: tuple[Look, ...] = (),
        patience_seconds: float = 20.0,
    ) -> dict[str, Check]:
        machine = ProcessSettings(reserved_memory_bytes=reserved_memory_bytes, control_groups=False)
        runner = Gangs(ProcessRunner(self.folder / "attempts", self.agent, machine))
        ground = Ground(
            self.database,
            self.objects,
            runner,
            self.folder,
            reserved_disk_bytes=reserved_disk_bytes,
            notices=lambda: notices,
            others=others,
        )
        try:
            found = Checkups(ground, patience_seconds=patience_seconds).look()
        finally:
            runner.close()
        return {check.name: check for check in found.checks}


@pytest.fixture
def clinic(tmp_path: Path) -> Iterator[Clinic]:
    made = Clinic(tmp_path)
    yield made
    made.database.close()


def test_what_works_is_said_with_its_measure(clinic: Clinic) -> None:
    found = clinic.look()
    assert list(found) == ["database", "object store", "disk", "runner"]
    assert [found[name].finding for name in ("database", "object store", "runner")] == [Finding.OK] * 3
    assert found["database"].said.startswith("SQLite 3.")
    assert "keeps, gives back, lists and deletes, whole and in parts" in found["object store"].said
    assert not [key for key in clinic.objects.keys("") if key != store.PROBE], "nothing is left behind"
    assert "CPU" in found["runner"].said


def test_a_store_that_cannot_be_written_has_failed_and_the_rest_is_looked_at(clinic: Clinic) -> None:
    (clinic.folder / "objects").write_text("a file where the folder should be")
    found = clinic.look()
    assert found["object store"].finding is Finding.FAILED
    assert found["object store"].said
    assert found["database"].finding is Finding.OK


def test_a_full_disk_is_said_before_jobs_are_ended_for_it(clinic: Clinic) -> None:
    check = clinic.look(reserved_disk_bytes=ROOMY)["disk"]
    assert check.finding is Finding.FAILED
    assert "make room (acai gc)" in check.said


def test_a_machine_too_small_for_the_usual_job_is_said(clinic: Clinic) -> None:
    check = clinic.look(reserved_memory_bytes=ROOMY)["runner"]
    assert check.finding is Finding.FAILED
    assert "takes no job of the usual size" in check.said


def test_what_never_answers_is_given_up_and_what_breaks_is_said(clinic: Clinic) -> None:
    never = threading.Event()

    def silent() -> Check:
        never.wait()
        return Check("silent", Finding.OK, "")

    def broken() -> Check:
        raise ZeroDivisionError

    found = clinic.look(others=(("silent", silent), ("broken", broken)), patience_seconds=2.0)
    never.set()
    assert "does not answer within 2 s" in found["silent"].said
    assert "the server's log says why" in found["broken"].said
    assert found["silent"].finding is found["broken"].finding is Finding.FAILED


def test_what_the_server_noticed_at_its_start_is_told(clinic: Clinic) -> None:
    assert clinic.look(notices=("This machine's clock is behind.",))["notice"].finding is Finding.WARNING


NOON = datetime(2026, 11, 19, 12, tzinfo=UTC)


@pytest.mark.parametrize(
    ("seconds", "finding", "said"),
    [
        (0, Finding.OK, "the same time"),
        (-4, Finding.OK, "the same time"),
        (30, Finding.WARNING, "30 s ahead of this machine's"),
        (-30, Finding.WARNING, "30 s behind this machine's"),
        (-1000, Finding.FAILED, "1000 s behind this machine's; set both by NTP"),
    ],
)
def test_clocks_that_do_not_agree_are_said_with_by_how_much(seconds: float, finding: Finding, said: str) -> None:
    check = clocks.look("store", lambda: NOON + timedelta(seconds=seconds), lambda: NOON)
    assert (check.name, check.finding) == ("clock of the store", finding)
    assert said in check.said


def test_an_answer_that_took_long_makes_no_clock_wrong() -> None:
    moments = iter((NOON, NOON + timedelta(seconds=60)))
    assert clocks.look("store", lambda: NOON + timedelta(seconds=30), lambda: next(moments)).finding is Finding.OK


def test_who_does_not_operate_the_server_is_told_what_works_and_nothing_of_what_it_is() -> None:
    said = "PostgreSQL 16.1 at db.example.org"
    found = in_short(Checkup([Check(name, Finding.FAILED, said) for name in ("database", "disk", "notice")], "url"))
    assert [(check.name, check.finding) for check in found.checks] == [("database", Finding.FAILED)]
    assert "does not work; tell whoever operates the server" in found.checks[0].said
    assert found.probe_url == "url"


def _installed(folder: Path, version: str) -> None:
    package = folder / "labextensions" / browser.EXTENSION / "package.json"
    package.parent.mkdir(parents=True)
    package.write_text(json.dumps({"version": version}))


def _disabled(folder: Path, words: object) -> None:
    (folder / "labconfig").mkdir(parents=True)
    (folder / "labconfig" / "page_config.json").write_text(json.dumps({"disabledExtensions": words}))


def _nothing(folder: Path) -> None:
    del folder


@pytest.mark.parametrize(
    ("prepare", "finding", "said"),
    [
        (_nothing, Finding.FAILED, "not installed where JupyterLab looks"),
        (lambda folder: _installed(folder, "1.2.3"), Finding.OK, "1.2.3"),
        (lambda folder: _installed(folder, "1.2.2"), Finding.FAILED, "It is 1.2.2 and the server 1.2.3"),
    ],
)
def test_the_browser_extension_is_found_and_compared(
    tmp_path: Path, prepare: Callable[[Path], None], finding: Finding, said: str
) -> None:
    prepare(tmp_path)
    check = browser.look("1.2.3", [str(tmp_path)], [str(tmp_path)])
    assert check.finding is finding
    assert said in check.said


@pytest.mark.parametrize("words", [{"acai-jupyter": True}, ["acai-jupyter"], {"acai-jupyter:panel": True}])
def test_an_extension_that_was_disabled_is_said_to_be_so(tmp_path: Path, words: object) -> None:
    _installed(tmp_path, "1")
    _disabled(tmp_path, words)
    assert "jupyter labextension enable" in browser.look("1", [str(tmp_path)], [str(tmp_path)]).said


def test_extensions_of_others_that_were_disabled_do_not_matter(tmp_path: Path) -> None:
    _installed(tmp_path, "1")
    _disabled(tmp_path, {"acai-jupyter-not": True, "acai-jupyter": False})
    assert browser.look("1", [str(tmp_path)], [str(tmp_path)]).finding is Finding.OK


def test_a_library_that_is_not_there_is_named_with_what_it_is_for() -> None:
    (check,) = checkups.extras({"no_such_library": "nothing of it: pip install it"})
    assert check.finding is Finding.WARNING
    assert check.said == "no_such_library is not installed; nothing of it: pip install it"
