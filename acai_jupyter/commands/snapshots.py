"""What a notebook keeps of a job for our own views: which job it is, and how it stood. Small, however much there is."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import msgspec

if TYPE_CHECKING:
    from collections.abc import Mapping

    from acai_jupyter.client.http import Client
    from acai_jupyter.contract.jobs import Attempt, Job, Usage
    from acai_jupyter.contract.metadata import FindThings, FoundPage

WIDEST = 300
"""So many characters of a command or a description are shown."""
ATTEMPTS = 3
"""So many of the last attempts are kept."""
SAMPLES = 60
"""So many samples of what an attempt used are kept."""
THINGS = 20
"""So many attributes, parameters, labels and warnings are kept."""
ROWS = 100
"""So many rows of a table are kept."""
_WIDE = 200


def project_of(client: Client) -> str:
    """Return the name of the project that a client works in."""
    return client.connection.project or client.status.project


def of_job(job: Job, project: str = "", *, log_is_below: bool = False) -> dict[str, Any]:
    """Return which job it is and how it stands. `log_is_below` says that the cell shows its log itself.

    A number counts within a project of one server; by the time of its making a view knows that it found the same job.
    """
    kept = msgspec.structs.replace(
        job,
        command=_short(job.command),
        description=job.description[:WIDEST],
        attributes=_some(job.attributes),
        parameters=_some(job.parameters),
        inputs=job.inputs[:THINGS],
        tags=job.tags[:THINGS],
        attempts=_attempts(job.attempts),
    )
    identity = {"project": project, "number": job.number, "created_at": job.created_at, "log_is_below": log_is_below}
    found: dict[str, Any] = msgspec.to_builtins({**identity, "job": kept})
    return found


def of_jobs(asked: FindThings, page: FoundPage, project: str) -> dict[str, Any]:
    """Return what was asked, so that it can be asked again, and what was found."""
    kept = msgspec.structs.replace(page, rows=page.rows[:ROWS])
    found: dict[str, Any] = msgspec.to_builtins({"project": project, "request": asked, "page": kept})
    return found


def _attempts(attempts: list[Attempt]) -> list[Attempt]:
    """The last ones; what was used only of the very last."""
    earlier = [msgspec.structs.replace(one, usage=None) for one in attempts[-ATTEMPTS:-1]]
    return [_attempt(one) for one in [*earlier, *attempts[-1:]]]


def _attempt(attempt: Attempt) -> Attempt:
    return msgspec.structs.replace(
        attempt,
        environment={},
        held=attempt.held[:THINGS],
        warnings=[one[:_WIDE] for one in attempt.warnings[:THINGS]],
        tag_misses=[one[:_WIDE] for one in attempt.tag_misses[:THINGS]],
        usage=_usage(attempt.usage),
    )


def _usage(usage: Usage | None) -> Usage | None:
    if usage is None or len(usage.samples) <= SAMPLES:
        return usage
    step = -(-len(usage.samples) // SAMPLES)
    return msgspec.structs.replace(usage, samples=usage.samples[::step])


def _short(command: str | list[str]) -> str | list[str]:
    if isinstance(command, str):
        return command[:WIDEST]
    return [word[:WIDEST] for word in command[:THINGS]]


def _some(values: Mapping[str, Any]) -> dict[str, Any]:
    first = list(values.items())[:THINGS]
    return {key: value[:_WIDE] if isinstance(value, str) else value for key, value in first}
