"""Two pages on one kernel that run a cell at the same moment, in a real kernel, with a real server and real jobs."""

from __future__ import annotations

import re
from datetime import UTC, datetime, timedelta
from typing import TYPE_CHECKING

import pytest
from jupyter_client.blocking.client import BlockingKernelClient
from jupyter_client.manager import start_new_kernel

from acai_jupyter.magics.presses import SAME_MOMENT

if TYPE_CHECKING:
    from collections.abc import Iterator

    from tests.integration.places import Server

JOBS = "/v1/projects/default/jobs"
CELL = "%%acai run --memory 512Mi {options}\nprint('made', 6 * 7)"


class Page:
    """One of several pages on a kernel: each has a session of its own."""

    def __init__(self, connection_file: str) -> None:
        self._client = BlockingKernelClient(connection_file=connection_file)
        self._client.load_connection_file()
        self._client.start_channels()
        self._client.wait_for_ready(timeout=60)

    def send(self, code: str, cell: str, *, late: timedelta = timedelta()) -> str:
        """Ask for a run, as JupyterLab does; `late` is how much later its clock says it is."""
        content = {"code": code, "silent": False, "user_expressions": {}, "allow_stdin": False}
        request = self._client.session.msg("execute_request", content, metadata={"cellId": cell})
        request["header"]["date"] = datetime.now(UTC) + late
        self._client.shell_channel.send(request)
        return str(request["header"]["msg_id"])

    def shown(self, request: str) -> str:
        """Wait until it is done; return what it showed as text."""
        texts: list[str] = []
        while True:
            message = self._client.get_iopub_msg(timeout=100)
            if message["parent_header"].get("msg_id") != request:
                continue
            content = message["content"]
            texts += [content.get("text", ""), content.get("data", {}).get("text/plain", ""), content.get("evalue", "")]
            if message["msg_type"] == "status" and content["execution_state"] == "idle":
                return "\n".join(texts)

    def close(self) -> None:
        self._client.stop_channels()


@pytest.fixture
def pages(server: Server) -> Iterator[tuple[Page, Page]]:
    """Two pages on a kernel of the server's user, which knows the magics."""
    manager, client = start_new_kernel(kernel_name="python3", env=server.place.environment, cwd=str(server.place.work))
    client.stop_channels()
    first, second = Page(manager.connection_file), Page(manager.connection_file)
    first.shown(first.send("%load_ext acai_jupyter", "first"))
    yield first, second
    first.close()
    second.close()
    manager.shutdown_kernel(now=True)


def joins(shown: str) -> bool:
    """Whether it is said that the job is somebody else's."""
    return "same moment" in shown


def count(server: Server) -> int:
    return len(server.get(JOBS)["jobs"])


def test_two_who_run_a_cell_at_the_same_moment_have_one_job(server: Server, pages: tuple[Page, Page]) -> None:
    first, second = pages
    before = count(server)
    asked = [(page, page.send(CELL.format(options=""), "a")) for page in pages]
    shown = sorted((page.shown(request) for page, request in asked), key=joins)  # whose comes first is not said
    assert count(server) == before + 1
    assert [joins(one) for one in shown] == [False, True]
    assert re.search(r"Job \d+ is of somebody who ran this cell at the same moment\.", shown[1])
    for one in shown:
        assert "made 42" in one
        assert re.search(r"job \d+ · finished", one)
    again = second.shown(second.send(CELL.format(options=""), "a", late=SAME_MOMENT))
    assert not joins(again), "that was later"
    assert count(server) == before + 2
    assert "made 42" in first.shown(first.send(CELL.format(options=""), "a", late=2 * SAME_MOMENT))
    assert "made 42" in first.shown(first.send(CELL.format(options=""), "a", late=2 * SAME_MOMENT))
    assert count(server) == before + 4, "who presses twice has two"


def test_other_cells_and_other_lines_are_other_jobs(server: Server, pages: tuple[Page, Page]) -> None:
    first, second = pages
    before = count(server)
    for page, cell, options in ((first, "a", ""), (second, "b", ""), (second, "a", "--name other")):
        page.shown(page.send(CELL.format(options=options), cell))
    assert count(server) == before + 3


def test_a_job_that_nobody_waits_for_and_a_sweep_are_not_begun_twice_either(
    server: Server, pages: tuple[Page, Page]
) -> None:
    first, second = pages
    before = count(server)
    for cell, options, said in (
        ("a", "--detach", r"Job \d+ is of somebody"),
        ("b", "--sweep x=1,2", r"Sweep [\w-]+ is of somebody"),
        ("c", "--sweep x=1,2 --detach", r"Sweep [\w-]+ is of somebody"),
    ):
        asked = [(page, page.send(CELL.format(options=options), cell)) for page in (first, second)]
        shown = sorted((page.shown(request) for page, request in asked), key=joins)
        assert [joins(one) for one in shown] == [False, True]
        assert re.search(said, shown[1])
    assert count(server) == before + 5
