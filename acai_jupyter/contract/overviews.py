"""A project's jobs at a glance."""

from __future__ import annotations

import msgspec

from acai_jupyter.contract.jobs import Job
from acai_jupyter.contract.states import JobState


class Overview(msgspec.Struct, frozen=True):
    """The jobs that hold a machine, those that wait, and those that ended last; of each only some are told in full."""

    running: list[Job]
    """The newest first."""
    waiting: list[Job]
    """In the order in which their users' queues are served."""
    recent: list[Job]
    """What ended last comes first."""
    states: dict[JobState, int]
    """How many jobs are in each state, of those that have not ended."""
