"""What a tab keeps of an hour in which 20 jobs run: the memory that the page uses after all garbage was collected.

Unless it is a real hour, the jobs print and tag in some minutes what they would in an hour. Of how they go on, as many
events are recorded as there would be, by what the server itself uses for it: it tells of a job once a second at most.
"""

from __future__ import annotations

import threading
import time
from typing import TYPE_CHECKING, Any

from acai_jupyter.contract import endpoints
from acai_jupyter.contract.ids import AttemptId, JobId
from acai_jupyter.contract.jobs import CreateJob, KillJobs, Resources
from acai_server.db import batches
from acai_server.db.rows import as_json
from acai_server.engine.progress import FIRST_SECONDS, LONGEST_SECONDS, Progressing
from benchmarks.chromium import fresh_page, jupyterlab
from benchmarks.panels.past import client_of, database_of
from benchmarks.report import Row

if TYPE_CHECKING:
    from playwright.sync_api import Browser, Page

    from acai_jupyter.client.http import Client
    from acai_server.db.database import Database
    from tests.browser.page import LabPage

JOBS = 20
HOUR_SECONDS = 3600.0
SHORT_SECONDS = 180.0
GROWN_MB = 10.0
_SETTLE_MS = 15_000
_SMALL = Resources(0.05, 128 * 1024**2)
_ROOM = f"""quota = {JOBS}
min_vcpu = 0.05
vcpu_step = 0.05
min_memory_mib = 128
memory_step_mib = 128
control_groups = false
"""
"""So small that all of them run on a machine with two cores, not limited by control groups."""
_PROGRAM = """
import time
import acai_jupyter
for step in range(3600):
    print(f"step {{step}}: loss {{1 / (step + 1):.6f}}, which is less than before and goes on like that", flush=True)
    if step % 10 == 0:
        acai_jupyter.tag("loss", 1 / (step + 1))
    time.sleep({pause})
time.sleep(3600)
"""
_LIVE = """
    SELECT a.id, a.job_id, a.seen FROM attempt a JOIN job j ON j.id = a.job_id
    WHERE j.state = 'running' ORDER BY a.id"""


def measure(browser: Browser, *, is_real: bool) -> list[Row]:
    """Measure it in a page with panel, table, and a job with its log; and in an empty JupyterLab meanwhile."""
    seconds = HOUR_SECONDS if is_real else SHORT_SECONDS
    with jupyterlab(config=_ROOM) as lab, jupyterlab(without="acai-jupyter") as other:
        page, empty = fresh_page(browser, lab), fresh_page(browser, other)
        client = client_of(lab)
        program = _PROGRAM.format(pause=seconds / 3600)
        jobs = [client.call(endpoints.CREATE_JOB, _small(program, number)).number for number in range(JOBS)]
        _look(page, client)
        page.page.wait_for_timeout(_SETTLE_MS)
        begun, empty_begun, heard = _used_mb(page.page), _used_mb(empty.page), len(page.events)
        with database_of(lab) as database:
            _pass(page.page, database, seconds, is_real=is_real)
        ended, empty_ended, heard = _used_mb(page.page), _used_mb(empty.page), len(page.events) - heard
        client.call(endpoints.KILL_JOBS, KillJobs(list(jobs)))
    said = f"an hour of {JOBS} running jobs" + ("" if is_real else f", in {seconds:.0f} s")
    return [
        Row(f"{said}: events heard by the page", heard, ""),
        Row(f"{said}: memory in use at first", begun, "MB"),
        Row(f"{said}: memory in use grows by", ended - begun, "MB", GROWN_MB),
        Row("an empty JupyterLab meanwhile: memory in use grows by", empty_ended - empty_begun, "MB"),
    ]


def _small(program: str, number: int) -> CreateJob:
    return CreateJob(["python", "-c", program], name=f"training-{number}", resources=_SMALL)


def _look(page: LabPage, client: Client) -> None:
    """Open all that shows jobs, once they run; a job's tab is in front."""
    deadline = time.monotonic() + 120
    while sum(1 for job in client.call(endpoints.LIST_JOBS).jobs if job.state == "running") < JOBS:
        assert time.monotonic() < deadline, "the jobs do not run"
        page.page.wait_for_timeout(500)
    page.open_panel()
    page.choose("View", "ACAI Jobs")
    page.page.get_by_role("grid", name="jobs").get_by_role("button", name="1", exact=True).click()
    page.page.get_by_role("log", name="Log of job 1").wait_for()


def _pass(page: Page, database: Database, seconds: float, *, is_real: bool) -> None:
    """Let the time pass; half of it with the table in front."""
    over = threading.Event()
    telling = threading.Thread(target=_tell, args=(database, seconds, over))
    if not is_real:
        telling.start()
    page.wait_for_timeout(500 * seconds)
    page.get_by_role("tab", name="Jobs", exact=True).click()
    page.wait_for_timeout(500 * seconds)
    over.set()
    if not is_real:
        telling.join()


def _tell(database: Database, seconds: float, over: threading.Event) -> None:
    """Tell of each job as often as in an hour, less what the server tells meanwhile."""
    times = _tellings(HOUR_SECONDS) - _tellings(seconds)
    progress: dict[int, Progressing] = {}
    due = time.perf_counter()
    for number in range(times):
        due += seconds / times
        if over.wait(max(0.0, due - time.perf_counter())):
            return
        with database.writing() as work:
            for attempt_id, job_id, seen in batches.select(work._session, _LIVE):  # noqa: SLF001 (the monitor has it in memory)
                told = progress.setdefault(attempt_id, Progressing(0.0))
                told.hear({"sample": [float(5 * number), 0.5 + number % 7 / 10, 2**24 + 4096 * number, 0, 0.0]})
                attempt = work.attempts.by_id(AttemptId(attempt_id))
                told.tell(work, work.jobs.by_id(JobId(job_id)), attempt, _log_bytes(seen), 0.0)


def _log_bytes(seen: Any) -> int:
    return int((as_json(seen) or {}).get("log_bytes", 0))


def _tellings(seconds: float) -> int:
    """How often is told of a job that runs for so long and always has something new."""
    count, now = 0, 0.0
    while now < seconds:
        now += min(LONGEST_SECONDS, max(FIRST_SECONDS, now / 60))
        count += 1
    return count


def _used_mb(page: Page) -> float:
    session = page.context.new_cdp_session(page)
    for _ in range(3):
        session.send("HeapProfiler.collectGarbage")
    used = session.send("Runtime.getHeapUsage")["usedSize"]
    session.detach()
    return float(used) / 1e6
