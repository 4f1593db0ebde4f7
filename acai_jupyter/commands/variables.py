"""`--send` and `--receive`: variables of a notebook on their way into a job, and a job's on their way back.

A pickle runs whatever is in it when it is read, so one is read only by the process that submitted the job which wrote
it, or by whoever says that they trust it.
"""

from __future__ import annotations

import keyword
from contextlib import contextmanager
from dataclasses import dataclass, field
from difflib import get_close_matches
from pathlib import Path
from tempfile import mkdtemp
from typing import TYPE_CHECKING, Any

from acai_jupyter import trees
from acai_jupyter.agent import variables as kept
from acai_jupyter.client import variables as moving
from acai_jupyter.client.connection import setting
from acai_jupyter.client.follow import in_silence
from acai_jupyter.client.patience import Patience
from acai_jupyter.commands.units import parse_size, size
from acai_jupyter.contract.errors import AcaiError, BadRequest, BadSetting, TooLarge
from acai_jupyter.contract.foreign import one_line
from acai_jupyter.contract.states import JobState
from acai_jupyter.transfer.values import PICKLE, CannotTravel, Lacking, TooMuch

if TYPE_CHECKING:
    from argparse import Namespace
    from collections.abc import Iterable, Iterator, Mapping, Sequence

    from acai_jupyter.agent.variables import Kept
    from acai_jupyter.client.http import Client
    from acai_jupyter.contract.jobs import Job

LIMIT = 1024**3
"""More than this is sent and received only by whoever says so."""
_submitted: set[tuple[str, int, str]] = set()


def names(given: Iterable[str]) -> list[str]:
    """Read `df,config`; several such lists are one."""
    found = [name.strip() for text in given for name in text.split(",") if name.strip()]
    odd = next((name for name in found if not name.isidentifier() or keyword.iskeyword(name)), None)
    if odd is not None:
        raise BadRequest(f"'{one_line(odd[:60])}' cannot be the name of a variable. Write them like df,config.")
    return list(dict.fromkeys(found))


def limit_of(arguments: Namespace) -> int:
    """Return how large variables may be together: as the line says, else as the user's settings do."""
    if arguments.variables_limit is not None:
        return int(arguments.variables_limit)
    chosen = setting("variables_limit")
    try:
        return LIMIT if chosen is None else parse_size(chosen)
    except ValueError as error:
        raise BadSetting(name="variables_limit", source="your configuration", reason=str(error)) from error


def submitted(job: Job) -> None:
    """Remember that this process submitted a job."""
    _submitted.add(_key(job))


@contextmanager
def packed(values: Mapping[str, Any], limit: int) -> Iterator[tuple[Path, list[Kept]]]:
    """Write variables into a folder that is gone afterwards; what cannot travel is refused, all of it at once."""
    with trees.temporary_folder("acai-variables-") as folder:
        problems: list[str] = []
        done: list[Kept] = []
        for number, (name, value) in enumerate(values.items()):
            left = limit - sum(one.size_bytes for one in done)
            try:
                done.append(kept.write_value(name, number, value, folder, left))
            except CannotTravel as error:
                problems.append(f"{name} {one_line(str(error))}")
            except TooMuch as error:
                raise TooLarge(_too_large(list(values), limit)) from error
        if problems:
            raise BadRequest(f"These cannot be sent: {'; '.join(problems)}.")
        kept.write_list(folder, done)
        yield Path(folder), done


def there(names: Sequence[str], known: Mapping[str, Any]) -> Sequence[str]:
    """Return names that there are."""
    for name in names:
        if name not in known:
            near = get_close_matches(name, known, 1)
            raise BadRequest(f"There is no variable {name} here." + (f" Did you mean {near[0]}?" if near else ""))
    return names


def _too_large(names: Sequence[str], limit: int) -> str:
    more = size(limit * 4).replace(" ", "")
    are = "is" if len(names) == 1 else "are together"
    return (
        f"{', '.join(names)} {are} more than {size(limit)}. To send it all the same say --variables-limit {more}; "
        "data that is used again is put once, and given with --input."
    )


def line(verb: str, some: Sequence[Kept]) -> str:
    """Say which variables travel, and how large they are."""
    said = (f"{one.name} ({', '.join(filter(None, [one.type, size(one.size_bytes)]))})" for one in some)
    return one_line(f"{verb} {', '.join(said)}")


@dataclass
class Received:
    """What came back, and sentences about what did not."""

    values: dict[str, Any] = field(default_factory=dict)
    kept: list[Kept] = field(default_factory=list)
    problems: list[str] = field(default_factory=list)


class NotReceived(AcaiError):
    """Some variables did not come back."""

    exit_status = 1

    def __init__(self, received: Received) -> None:
        super().__init__(f"These were not received: {'; '.join(received.problems)}.")
        self.values = received.values


def receive(client: Client, job: Job, *, trust: bool = False, limit: int = LIMIT) -> Received:
    """Bring back what a job was to leave; nothing of one that did not finish."""
    if not job.receive or job.state is not JobState.FINISHED or job.output is None:
        return Received()
    patience = Patience(client, in_silence)
    spec = patience.ask(lambda: moving.spec_of(client, job))
    found = patience.ask(lambda: moving.size(client, spec))
    if found > limit:
        said = f"{', '.join(job.receive)}: {size(found)}, which is more than {size(limit)}"
        return Received(problems=[f"{said}; %acai attach {job.number} --variables-limit {found} brings them back"])
    received = Received()
    with trees.temporary_folder("acai-variables-") as above:
        folder = patience.ask(lambda: _fetched(client, spec, above))
        for one in _list(folder):
            _take(one, folder, received, _why_not(one, job, trust=trust))
    return received


def _fetched(client: Client, spec: str, above: str) -> str:
    """Fetch them into a folder of this try's own."""
    folder = mkdtemp(dir=above)
    moving.fetch(client, spec, Path(folder))
    return folder


def _list(folder: str) -> list[Kept]:
    """What a job's program has left is its own: it may be anything."""
    try:
        return kept.read_list(folder)
    except (OSError, ValueError, KeyError, TypeError, AttributeError) as error:
        raise AcaiError(f"The list of received variables cannot be read: {one_line(str(error))}.") from error


def _take(one: Kept, folder: str, received: Received, refusal: str) -> None:
    problem = one.problem or refusal
    if not problem:
        try:
            received.values[one.name] = kept.read_value(folder, one)
            received.kept.append(one)
        except Lacking as error:
            problem = f"needs {error}, which is not installed here"
        except Exception as error:  # noqa: BLE001 (whatever the program wrote, the others are had)
            problem = f"cannot be read: {type(error).__name__}: {error}"
    if problem:
        received.problems.append(one_line(f"{one.name} {problem}"))


def _why_not(one: Kept, job: Job, *, trust: bool) -> str:
    """Return why a value is not to be read; empty when it is."""
    if trust or one.form != PICKLE:
        return ""
    how = "A pickle can run anything when it is read; if you trust it"
    again = f"{how}: %acai attach {job.number} --trust"
    if job.answered_by is not None:
        return f"is a pickle, and job {job.answered_by} wrote it, not this one. {again}"
    if _key(job) not in _submitted:
        return f"is a pickle, and this kernel did not submit job {job.number}. {again}"
    if kept.pickled_by(one) != kept.python():
        return f"is a pickle of Python {kept.pickled_by(one)}, and this is {kept.python()}. {again}"
    return ""


def _key(job: Job) -> tuple[str, int, str]:
    return job.user, job.number, job.created_at.isoformat()
