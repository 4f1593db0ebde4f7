"""Views of jobs as widgets: over plain models, renewed by events, gone with what they show."""

from __future__ import annotations

import re
import threading
from contextlib import suppress
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest

import acai_jupyter as acai
from acai_jupyter.client.http import Client
from acai_jupyter.contract import endpoints
from acai_jupyter.contract.events import Event
from acai_jupyter.contract.jobs import CreateJob
from acai_jupyter.contract.sweeps import CreateSweep
from acai_jupyter.widgets.following import Follower, follower
from acai_jupyter.widgets.job_model import JobModel
from acai_jupyter.widgets.list_models import JobsModel, SweepModel
from acai_jupyter.widgets.log_tail import TAIL_LINES
from tests.integration.places import Server, until
from tests.integration.test_following import WAITS, ended, is_running, submit


@pytest.fixture
def here(server: Server, monkeypatch: pytest.MonkeyPatch) -> Server:
    """A server that this process finds as its user's."""
    for name, value in server.place.environment.items():
        monkeypatch.setenv(name, value)
    return server


def test_a_live_job_is_renewed_by_events_and_the_following_ends_with_it(here: Server, tmp_path: Path) -> None:
    number = submit(here, f"print('here'); wait_for({str(tmp_path / 'gate')!r})")
    model, changed = JobModel(here.client(), number), threading.Event()
    model.on_change = changed.set
    following = Follower(model.client)
    following.add(model)
    until(lambda: model.job.state == "running", "its being seen to run")
    (tmp_path / "gate").touch()
    until(lambda: not model.is_live, "its end")
    assert model.line.startswith(f"job {number} · finished")
    assert "acai-job" in model.html
    assert "here" in model.log()
    assert changed.is_set()
    until(lambda: not following.is_following, "the end of the following")


class Broken:
    """A view that cannot take anything."""

    is_live = True

    def refresh(self) -> None:
        raise TypeError("it is broken")

    def hear(self, event: Event) -> None:
        raise AssertionError(event)  # it is told nothing any more


def test_a_view_that_breaks_stops_no_other_and_one_that_comes_late_misses_no_end(
    here: Server, tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    number = submit(here, f"wait_for({str(tmp_path / 'gate')!r})")
    first, late = JobModel(here.client(), number), JobModel(here.client(), number)
    jobs = JobsModel(here.client())
    following = Follower(first.client)
    for model in (Broken(), first, jobs):
        following.add(model)
    (tmp_path / "gate").touch()
    until(lambda: not first.is_live, "its end")
    assert late.is_live
    following.add(late)
    assert not late.is_live
    assert "it is broken" in caplog.text
    following.remove(jobs)
    until(lambda: not following.is_following, "the end of the following")


def test_what_cannot_be_done_is_said_and_nothing_else_changes(here: Server) -> None:
    model = JobModel(here.client(), ended(here, ""))
    model.kill()
    assert "nothing to end" in model.error
    assert model.job.state == "finished"
    again = model.run_again()
    assert again is not None
    assert acai.job(again).wait().state == "finished"


def test_a_list_follows_its_query(here: Server) -> None:
    number = ended(here, "", tags=["of-a-list"])
    model = JobsModel(here.client(), "'of-a-list' in tags")
    assert f">{number}</td>" in model.html
    before = model.html
    model.choose("accuracy >")
    assert model.error
    assert model.html == before


class Asked(Client):
    """Remembers what it was asked."""

    queries: list[tuple[str, Any]]

    def call(self, endpoint: Any, body: Any = None, /, *, query: Any = None, **known: Any) -> Any:
        self.queries = [*getattr(self, "queries", []), (endpoint.name, query)]
        return super().call(endpoint, body, query=query, **known)


def test_of_a_log_only_what_is_new_is_read_and_of_a_long_one_only_the_end(here: Server, tmp_path: Path) -> None:
    first, second = tmp_path / "first", tmp_path / "second"
    program = f"print('x' * 99, end='\\n' * 3, flush=True); wait_for({str(first)!r})\n"
    program += "for n in range(20_000): print('line', n)\n"
    program += f"print('[ACAI_TAG] job a:1', flush=True); wait_for({str(second)!r}); print('last')"
    number = submit(here, program)
    until(lambda: is_running(here, number), "its first line")
    client = Asked(here.client().connection)
    model = JobModel(client, number)
    assert "xxx" in model.log()
    first.touch()
    until(lambda: "line 19999" in model.log(), "its last line but one")
    model.refresh()
    read = [query["offset"] for name, query in client.queries if name == "get_log"]
    assert read == sorted(read)
    second.touch()
    acai.job(number).wait()
    model.refresh()
    assert model.log().count("line") <= TAIL_LINES
    assert model.log("LAST").count("<mark") == 1
    assert "ACAI_TAG" not in model.log()
    count = len(client.queries)
    model.log()
    assert len(client.queries) == count  # all of it is here
    late = JobModel(client, number)
    late.log()
    assert client.queries[-1][1]["offset"] > 100_000
    assert "before this are left out" in late.log()


def test_the_log_of_an_answered_job_is_that_of_the_earlier_one(here: Server) -> None:
    ended(here, "print('of the first')", template="answers")
    same = ended(here, "print('of the first')", template="answers", cached=True)
    assert JobModel(here.client(), same).job.answered_by is not None
    assert "of the first" in JobModel(here.client(), same).log()


def test_progress_is_taken_from_events_without_asking(here: Server, tmp_path: Path) -> None:
    number = submit(here, f"wait_for({str(tmp_path / 'gate')!r})")
    client = Asked(here.client().connection)
    model = JobModel(client, number)
    until(lambda: acai.job(number).state == "running", "its being seen to run")
    model.refresh()
    asked = len(client.queries)
    sample = (1000.0, 0.5, 2**20, 0, 0.0)
    details = {"attempt": 1, "log_bytes": 7, "samples": [sample, (1001.0, *sample[1:])], "transfer": None}
    model.hear(Event(1, "job_progressed", f"job {number}", datetime.now(UTC), details))
    assert len(client.queries) == asked
    assert model.job.attempts[-1].log_bytes == 7
    assert "memory 1 MB of" in model.html
    assert "so far" in model.html
    model.hear(Event(2, "job_progressed", f"job {number}", datetime.now(UTC), {**details, "attempt": 2}))
    assert len(client.queries) == asked + 1  # of another attempt all has to be asked for
    (tmp_path / "gate").touch()


def test_a_sweep_is_renewed_by_events_until_its_last_job_has_ended(here: Server, tmp_path: Path) -> None:
    gate = tmp_path / "gate"
    request = CreateJob(["python", "-c", f"{WAITS}\nwait_for({str(gate)!r})"])
    sweep = here.client().call(endpoints.CREATE_SWEEP, CreateSweep(request, {"rate": [0.1, 0.2]}))
    model = SweepModel(here.client(), sweep.tag)
    following = Follower(model.client)
    following.add(model)
    assert model.is_live
    assert model.share == 0
    gate.touch()
    until(lambda: not model.is_live, "its end")
    assert "2 finished" in model.html
    assert "rate" in model.html
    assert model.share == 1
    until(lambda: not following.is_following, "the end of the following")


def sockets() -> int:
    """How many this process has open."""
    found = 0
    for descriptor in Path("/proc/self/fd").iterdir():
        with suppress(OSError):
            found += str(descriptor.readlink()).startswith("socket:")
    return found


def test_a_hundred_views_of_what_has_ended_cost_neither_a_thread_nor_a_connection(here: Server) -> None:
    pytest.importorskip("ipywidgets")
    number = ended(here, "")
    acai.widgets.JobView(number).close()
    before, threads = sockets(), threading.active_count()
    views = [acai.widgets.JobView(number) for _ in range(100)]
    views.append(acai.widgets.JobsTable(f"number = {number}"))
    assert sockets() <= before  # connections of earlier tests may end meanwhile
    assert threading.active_count() <= threads
    assert not follower(views[0].model.client).is_following
    for view in views:
        view.close()


def test_a_table_that_further_jobs_can_come_to_follows(here: Server) -> None:
    pytest.importorskip("ipywidgets")
    number = ended(here, "")
    table = acai.widgets.JobsTable(f"number = {number}")
    followed = follower(table.model.client)
    assert not followed.is_following
    table.children[0].value = "state = 'queued'"
    assert followed.is_following
    table.close()
    until(lambda: not followed.is_following, "the end of the following")


def test_the_widgets_show_what_the_models_say(here: Server) -> None:
    pytest.importorskip("ipywidgets")
    number = ended(here, "print('\\x1b[31mred\\x1b[0m <b>')")
    view = acai.widgets.JobView(number)
    card, buttons, _, below = view.children
    assert f"job {number} · finished" in card.value
    assert 'aria-label="states"' in card.value
    assert [button.description for button in buttons.children] == ["log", "provenance", "run again", "kill"]
    assert buttons.children[3].layout.display == "none"
    buttons.children[0].click()
    words, log = below.children
    assert re.search(r'<span style="color: #\w+">red</span> &lt;b&gt;', log.value)
    words.value = "no such word"
    assert "0 of the last 1 lines" in log.value
    buttons.children[1].click()
    assert "<img" in below.children[0].value
    buttons.children[2].click()
    assert below.children[0].model.job.number == number + 1
    table = acai.widgets.JobsTable(f"number = {number}")
    assert f">{number}</td>" in table.children[2].value
    table.close()
    view.close()
    until(lambda: not follower(table.model.client).is_following, "the end of the following")
