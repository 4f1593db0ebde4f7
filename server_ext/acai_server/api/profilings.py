"""Profilings over HTTP; what they make is watched and ended as a sweep."""

from __future__ import annotations

from typing import TYPE_CHECKING

from acai_jupyter.contract import endpoints
from acai_jupyter.contract.profilings import CreateProfiling, Profiling, ProfilingPlan

if TYPE_CHECKING:
    from acai_server.api.call import Call, Operations


def create_profiling(call: Call) -> Profiling:
    """Begin to make runs to learn from."""
    return call.services.profiler.create(call.project, call.user, call.sent(CreateProfiling))


def plan_profiling(call: Call) -> ProfilingPlan:
    """Say what that would be."""
    return call.services.profiler.plan(call.project, call.sent(CreateProfiling))


OPERATIONS: Operations = {
    endpoints.CREATE_PROFILING: create_profiling,
    endpoints.PLAN_PROFILING: plan_profiling,
}
