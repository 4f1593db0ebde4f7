"""`submit`, `%%acai run`, `job`, `logs`, `wait`: jobs."""

from __future__ import annotations

import os
import re
import sys
import tempfile
from pathlib import Path
from typing import TYPE_CHECKING

import msgspec

from acai_jupyter.client.follow import follow_log, wait
from acai_jupyter.client.uploads import LocalFile
from acai_jupyter.client.uploads import put as upload
from acai_jupyter.commands.results import Result
from acai_jupyter.commands.units import duration, money, size
from acai_jupyter.contract import endpoints
from acai_jupyter.contract.errors import BadRequest, NotFound
from acai_jupyter.contract.jobs import CreateJob, Job, Resources
from acai_jupyter.contract.states import JobState

if TYPE_CHECKING:
    from argparse import Namespace
    from collections.abc import Callable, Iterable, Iterator

    from acai_jupyter.client.http import Client

CODE_FOLDER = "/.code"
MEMORY_STEP = 256 * 1024**2
_TAG = "[ACAI_TAG"
_LIMITS = {"cpu": "a job has 0.5 to 8 vCPU, in steps of 0.5", "memory": "a job has 512 MB to 8 GB of memory"}


def submit(client: Client, arguments: Namespace) -> Result:
    """Submit a script as a job, and return at once."""
    script = Path(arguments.script)
    if not script.is_file():
        raise NotFound(f"No script {script}.")
    code = _keep_code(client, script, script.name, script.stem)
    command = [python(), "-u", script.name, *arguments.args]
    job = client.call(endpoints.CREATE_JOB, _request(arguments, command, code))
    hint = f"log: acai logs {job.number}"
    return Result(f"job {job.number} {job.state.value} · {hint}", job, "job")


def run_cell(client: Client, arguments: Namespace, cell: str, show: Callable[[str], None]) -> Result:
    """Run the text of a cell as a job, showing its log as it comes."""
    _refuse_ipython(cell)
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "cell.py"
        path.write_text(cell)
        code = _keep_code(client, path, "cell.py", _notebook())
    job = client.call(endpoints.CREATE_JOB, _request(arguments, [python(), "-u", "cell.py"], code))
    for piece in without_tags(follow_log(client, job.number)):
        show(piece)
    return ended(wait(client, job.number))


def job(client: Client, arguments: Namespace) -> Result:
    """Show one job."""
    return ended(client.call(endpoints.GET_JOB, job=arguments.number), failed=False)


def logs(client: Client, arguments: Namespace) -> Result:
    """Show a job's log; with `-f` as it comes."""
    if arguments.follow:
        for piece in follow_log(client, arguments.number):
            sys.stdout.write(piece)
            sys.stdout.flush()
        return Result("", None, "log")
    text, offset = "", 0
    while True:
        page = client.call(endpoints.GET_LOG, query={"offset": offset}, job=arguments.number)
        text += page.text
        if page.ended or not page.text:
            return Result(text.removesuffix("\n"), text, "log")
        offset = page.next_offset


def wait_for(client: Client, arguments: Namespace) -> Result:
    """Wait for a job to end; it failed unless it finished."""
    return ended(wait(client, arguments.number))


def ended(job: Job, *, failed: bool = True) -> Result:
    """Say in one line how a job ended, or where it stands."""
    parts = [f"job {job.number}", job.state.value + (f" ({job.reason})" if job.reason else "")]
    last = job.attempts[-1] if job.attempts else None
    if last is not None and last.billed_seconds is not None and last.cost_usd is not None:
        parts += [duration(last.billed_seconds), money(last.cost_usd)]
    if job.output or job.inputs:
        parts.append(f"{', '.join(job.inputs) or 'no input'} → {job.output or 'no output'}")
    parts += [
        f"{key} {value:g}" if isinstance(value, float) else f"{key} {value}" for key, value in job.attributes.items()
    ]
    bad = failed and job.state is not JobState.FINISHED
    return Result(" · ".join(parts), job, "job", failed=bad)


def without_tags(pieces: Iterable[str]) -> Iterator[str]:
    """Leave out the lines that attach attributes: they are shown where the job is. The log itself keeps them."""
    held = ""
    for piece in pieces:
        *lines, held = (held + piece).splitlines(keepends=True) or [""]
        if held.endswith("\n") or not held.startswith(_TAG[: len(held)]):
            lines, held = [*lines, held], ""
        text = "".join(line for line in lines if not line.startswith(_TAG))
        if text:
            yield text
    if held and not held.startswith(_TAG):
        yield held


def python() -> str:
    """The interpreter of the kernel or shell: a local job uses the same."""
    return sys.executable


def _request(arguments: Namespace, command: list[str], code: str) -> CreateJob:
    return CreateJob(
        command=command,
        name=arguments.name or "",
        inputs=arguments.input,
        code=code,
        code_root=f"{CODE_FOLDER}/{_slug(code)}",
        output=arguments.output,
        parameters=dict(arguments.p),
        resources=_resources(arguments),
    )


def _resources(arguments: Namespace) -> Resources:
    memory = -(-arguments.memory // MEMORY_STEP) * MEMORY_STEP  # what is not a multiple is rounded up to the next
    try:
        return msgspec.convert({"vcpu": arguments.cpu, "memory_bytes": memory}, Resources)
    except msgspec.ValidationError as error:
        wrong = "cpu" if "vcpu" in str(error) else "memory"
        given = f"{arguments.cpu:g}" if wrong == "cpu" else size(arguments.memory)
        raise BadRequest(f"--{wrong} {given} cannot be had: {_LIMITS[wrong]}.") from error


def _notebook() -> str:
    """The name of the notebook that this kernel belongs to, where the server says so."""
    return Path(os.environ.get("JPY_SESSION_NAME", "cell")).stem


def _keep_code(client: Client, source: Path, name: str, owner: str) -> str:
    """Keep a program as a file set of its own; the same text again is the same version."""
    slug = re.sub(r"[^a-z0-9]+", "-", owner.lower()).strip("-") or "program"
    result = upload(client, [LocalFile(source, f"{CODE_FOLDER}/code.{slug}/{name}")], file_set=f"code.{slug}")
    assert result.file_set is not None
    return result.file_set


def _slug(code: str) -> str:
    return code.partition(":")[0]


def _refuse_ipython(cell: str) -> None:
    """A cell in a job is plain Python; say which line is not, and what to do."""
    try:
        compile(cell, "cell", "exec", dont_inherit=True, flags=_TOP_LEVEL_AWAIT)
    except SyntaxError as error:
        line = cell.splitlines()[(error.lineno or 1) - 1].strip() if cell.strip() else ""
        if _OF_IPYTHON.match(line):
            raise BadRequest(
                f"Line {error.lineno} '{line[:60]}' is IPython's, and a cell in a job is plain Python. "
                "Run a command with the module subprocess, and keep what is the notebook's own in another cell."
            ) from error
        raise BadRequest(f"Line {error.lineno} is not Python: {error.msg}.") from error


_TOP_LEVEL_AWAIT = 0x2000
_OF_IPYTHON = re.compile(r"([\w., ()]+=)?\s*[!%]")
