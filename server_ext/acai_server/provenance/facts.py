"""What a job's result depends on beside its inputs, by names for people."""

from __future__ import annotations

import shlex
from dataclasses import dataclass
from itertools import takewhile
from typing import TYPE_CHECKING, Any

import msgspec

from acai_jupyter.contract.lineage import Cause

if TYPE_CHECKING:
    from collections.abc import Iterator

    from acai_jupyter.contract.ids import ProjectId
    from acai_jupyter.contract.lineage import Scalar
    from acai_server.db.work import Work

COMMAND = "command"


@dataclass(frozen=True)
class Facts:
    """Of one job: its command, and all that is one value."""

    command: str | list[str]
    values: dict[str, Scalar | None]

    def differing(self, after: Facts, distance: int, of: tuple[str, str]) -> Iterator[Cause]:
        """Tell in what a later job differs: the command and parameters first, then what is rather its surroundings."""
        if self.command != after.command:
            yield Cause(distance, COMMAND, *_commands(self.command, after.command), of=of)
        for name in dict.fromkeys([*self.values, *after.values]):
            was, now = self.values.get(name), after.values.get(name)
            if was != now:
                yield Cause(distance, name, was, now, of=of)


def facts_of(work: Work, project: ProjectId, number: int) -> Facts:
    """Read what is kept of a job. Where the agent told what the program ran with, that counts."""
    kept = work.shown_jobs.request(project, number)
    request, ran = kept.request, kept.environment or kept.request.captured
    values: dict[str, Scalar | None] = {f"parameter {name}": value for name, value in request.parameters.items()}
    values |= {
        "image": request.image,
        "output folder": request.output_folder,
        "run as a cell": request.as_cell,
        "GPUs": request.resources.gpus,
        "type of GPUs": request.resources.gpu_type or None,
        "python": _text(ran.get("python")),
        "platform": _text(ran.get("platform")),
    }
    groups: tuple[tuple[str, Any], ...] = (
        ("environment variable", request.environment),
        ("secret", request.secrets),
        ("package", ran.get("packages")),
    )
    for kind, named in groups:
        if isinstance(named, dict):
            values |= {f"{kind} {name}": _text(value) for name, value in named.items()}
    return Facts(request.command, values)


def _text(value: Any) -> str | None:
    return value if value is None or isinstance(value, str) else msgspec.json.encode(value).decode()


def _commands(before: str | list[str], after: str | list[str]) -> tuple[str, str]:
    """What two lists begin with, as the interpreter, is left out up to its last word; a shell's line is told whole."""
    if isinstance(before, str) or isinstance(after, str):
        return (
            before if isinstance(before, str) else shlex.join(before),
            after if isinstance(after, str) else shlex.join(after),
        )
    same = sum(1 for _ in takewhile(lambda pair: pair[0] == pair[1], zip(before, after, strict=False)))
    return shlex.join(before[max(same - 1, 0) :]), shlex.join(after[max(same - 1, 0) :])
