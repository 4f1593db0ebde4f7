"""Following a job: its log as it comes, until it has ended."""

from __future__ import annotations

from typing import TYPE_CHECKING

from acai_jupyter.contract import endpoints
from acai_jupyter.contract.states import END_STATES

if TYPE_CHECKING:
    from collections.abc import Iterator

    from acai_jupyter.client.http import Client
    from acai_jupyter.contract.jobs import Job

WAIT_SECONDS = 20


def follow_log(client: Client, number: int) -> Iterator[str]:
    """Yield the log piece by piece; ends when the job has ended and all of it was given."""
    offset = 0
    while True:
        query = {"offset": offset, "wait_seconds": WAIT_SECONDS}
        page = client.call(endpoints.GET_LOG, query=query, job=number)
        if page.text:
            yield page.text
        if page.ended:
            return
        offset = page.next_offset


def wait(client: Client, number: int) -> Job:
    """Return the job when it has ended, woken by events."""
    last = client.call(endpoints.LIST_EVENTS).last
    while True:
        job = client.call(endpoints.GET_JOB, job=number)
        if job.state in END_STATES:
            return job
        page = client.call(endpoints.LIST_EVENTS, query={"since": last, "wait_seconds": WAIT_SECONDS})
        last = page.last
