"""The verbs as Python calls: typed, and printing nothing. Here those of files and jobs."""

from __future__ import annotations

from argparse import Namespace
from os import PathLike, fspath
from typing import TYPE_CHECKING, Any, Literal, overload

from acai_jupyter.client import checkups, downloads, searches
from acai_jupyter.client.http import Client
from acai_jupyter.commands import files, functions, given, job_options, python_help, running, shells, verbs
from acai_jupyter.commands import jobs as submitting
from acai_jupyter.commands import metadata as metadata_verbs
from acai_jupyter.commands import put as putting
from acai_jupyter.commands import uploads as begun
from acai_jupyter.commands.job_objects import Job
from acai_jupyter.commands.plans import Plan
from acai_jupyter.commands.sweep_objects import Sweep
from acai_jupyter.contract import endpoints
from acai_jupyter.contract.errors import BadRequest
from acai_jupyter.contract.files import RemoveFiles
from acai_jupyter.contract.foreign import one_line
from acai_jupyter.contract.query.builtin import SubjectKind
from acai_jupyter.contract.specs import parse_input

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
    from typing import Unpack

    from acai_jupyter.client.downloads import Fetched
    from acai_jupyter.commands.objects import FileSet
    from acai_jupyter.commands.put import DryRun
    from acai_jupyter.contract.checkups import Checkup
    from acai_jupyter.contract.files import FolderPage, Removed, VersionPage
    from acai_jupyter.contract.jobs import MissReport
    from acai_jupyter.contract.projects import Status
    from acai_jupyter.contract.uploads import Upload, UploadList, UploadResult


def status(*, project: str | None = None) -> Status:
    """Return what this is connected to."""
    return Client(project=project).status


def doctor(*, project: str | None = None) -> Checkup:
    """Return what works and what does not, of this environment, the connection and the server."""
    return checkups.look(project=project)


def completion(shell: Literal["bash", "zsh", "fish"], *, project: str | None = None) -> str:
    """Return the script that lets TAB complete `acai` in a shell."""
    del project  # of which it does not speak
    if shell not in shells.SCRIPTS:
        raise BadRequest(f"shell is one of {', '.join(shells.SCRIPTS)}, not {one_line(repr(shell))}.")
    return shells.SCRIPTS[shell]


@overload
def put(
    *sources: str | PathLike[str],
    dest: str,
    as_: str | None = None,
    dry_run: Literal[False] = False,
    exclude: Sequence[str] = (),
    include: Sequence[str] = (),
    storage: str = "frequent",
    project: str | None = None,
) -> UploadResult: ...


@overload
def put(
    *sources: str | PathLike[str],
    dest: str,
    as_: str | None = None,
    dry_run: Literal[True],
    exclude: Sequence[str] = (),
    include: Sequence[str] = (),
    storage: str = "frequent",
    project: str | None = None,
) -> DryRun: ...


def put(
    *sources: str | PathLike[str],
    dest: str,
    as_: str | None = None,
    dry_run: bool = False,
    exclude: Sequence[str] = (),
    include: Sequence[str] = (),
    storage: str = "frequent",
    project: str | None = None,
) -> UploadResult | DryRun:
    """Upload files and folders; with a name, make a file set of them. With `dry_run` return what would go."""
    arguments = Namespace(
        sources=[fspath(source) for source in sources],
        dest=dest,
        file_set=as_,
        exclude=given.patterns(exclude),
        include=given.patterns(include),
        storage=storage,
        dry_run=dry_run,
        no_progress=True,
    )
    result: UploadResult | DryRun = putting.put(Client(project=project), arguments).value
    return result


def get(spec: str, dest: str | PathLike[str], *, force: bool = False, project: str | None = None) -> Fetched:
    """Fetch what a spec names below a folder, or one file to a path."""
    return downloads.get(Client(project=project), str(parse_input(spec)), fspath(dest), force=force)


def ls(spec: str = "/", *, project: str | None = None) -> FolderPage:
    """Return a folder's children."""
    return files.list_folder(Client(project=project), spec)


def cat(spec: str, *, project: str | None = None) -> bytes:
    """Return a file's content."""
    return b"".join(downloads.read(Client(project=project), spec))


def versions(path: str, *, project: str | None = None) -> VersionPage:
    """Return the versions of a file, the newest first."""
    return files.list_versions(Client(project=project), path)


def rm(spec: str, *, undo: bool = False, project: str | None = None) -> Removed:
    """Delete a version of a file, or all of them; or bring them back."""
    return Client(project=project).call(endpoints.REMOVE_FILES, RemoveFiles(spec, undo=undo))


def uploads(abort: str | None = None, *, project: str | None = None) -> UploadList | Upload:
    """Return uploads that were begun and not ended, or give one up and return that."""
    found: UploadList | Upload = begun.uploads(Client(project=project), Namespace(abort=abort)).value
    return found


@overload
def submit(
    script: str | PathLike[str] | None = None,
    *,
    command: str | Sequence[object] | None = None,
    args: Sequence[object] = (),
    plan: Literal[False] = False,
    project: str | None = None,
    **options: Unpack[given.JobOptions],
) -> Job: ...


@overload
def submit(
    script: str | PathLike[str] | None = None,
    *,
    command: str | Sequence[object] | None = None,
    args: Sequence[object] = (),
    plan: Literal[True],
    project: str | None = None,
    **options: Unpack[given.JobOptions],
) -> Plan: ...


def submit(  # noqa: PLR0913 (the options of the verb)
    script: str | PathLike[str] | None = None,
    *,
    command: str | Sequence[object] | None = None,
    args: Sequence[object] = (),
    input: str | FileSet | Sequence[str | FileSet] = (),  # noqa: A002 (the same name as on the command line)
    output: str | FileSet | None = None,
    output_folder: str = "output",
    output_root: str | None = None,
    code: str | PathLike[str] | None = None,
    include: Sequence[str] = (),
    parameters: Mapping[str, str | float | bool] | None = None,
    env_var: Mapping[str, str] | None = None,
    env_file: str | PathLike[str] | Sequence[str | PathLike[str]] = (),
    secret: Mapping[str, str] | Sequence[str] = (),
    tag: Mapping[str, Any] | Sequence[str] = (),
    name: str = "",
    description: str = "",
    cpu: float = 1.0,
    memory: str | int | None = None,
    max_memory: str | int | None = None,
    gpu: int = 0,
    gpu_type: str = "",
    profile: str | None = None,
    max_time: str | float | None = None,
    max_cost: float | None = None,
    confidence: float | None = None,
    nodes: int = 1,
    image: str | None = None,
    env: str | PathLike[str] | None = None,
    time_limit: str | float | None = None,
    retries: int = 2,
    retry_failed: bool = False,
    priority: int = 0,
    cached: bool = False,
    keep_partial: bool = False,
    plan: bool = False,
    project: str | None = None,
) -> Job | Plan:
    """Submit a script, a notebook or a command as a job, and return at once; with `plan` only say what would happen.

    A command that is a text is run by `sh -c`. Labels stand among tags as on the line: `tag=["stage=draft", "+new"]`.
    """
    arguments = Namespace(
        in_python=True,
        script=None if script is None else fspath(script),
        command=given.command(script, command, args),
        args=[str(argument) for argument in args],
        input=given.inputs(input),
        output=given.output(output),
        output_folder=output_folder,
        output_root=output_root,
        code=None if code is None else fspath(code),
        include=given.patterns(include),
        p=given.parameters(parameters),
        env_var=list((env_var or {}).items()),
        env_file=[fspath(one) for one in given.several(env_file)],
        secret=given.secrets(secret),
        tag=given.tags(tag),
        name=name,
        description=description,
        cpu=given.number("cpu", job_options.amount, cpu),
        memory=None if memory is None else given.size(memory),
        max_memory=None if max_memory is None else given.size(max_memory),
        gpu=given.number("gpu", job_options.GPUS, gpu),
        gpu_type=given.gpu_type(gpu_type),
        profile=profile,
        max_time=None if max_time is None else given.seconds(max_time),
        max_cost=None if max_cost is None else given.number("max_cost", job_options.amount, max_cost),
        confidence=None if confidence is None else given.number("confidence", job_options.confidence, confidence),
        nodes=given.number("nodes", job_options.NODES, nodes),
        image=image,
        env=None if env is None else fspath(env),
        time_limit=None if time_limit is None else given.seconds(time_limit),
        retries=given.number("retries", job_options.RETRIES, retries),
        retry_failed=retry_failed,
        sweep=[],
        plan=plan,
        priority=given.number("priority", job_options.PRIORITY, priority),
        cached=cached,
        keep_partial=keep_partial,
    )
    client = Client(project=project)
    made = submitting.submit(client, arguments).value
    return Plan(made) if plan else Job(client, made.number, made)


def run(
    function: Callable[..., Any],
    /,
    *args: Any,
    kwargs: Mapping[str, Any] | None = None,
    variables_limit: str | int | None = None,
    project: str | None = None,
    **options: Unpack[given.JobOptions],
) -> Job:
    """Run a function with arguments as a job, and return at once; `job.result()` or `await job` is what it returns.

    Its source goes along with what it names: functions of the same notebook or module, imports, values. Options are
    those of `submit`.
    """
    limit = None if variables_limit is None else given.size(variables_limit)
    arguments = verbs.parse("acai", ["submit"])
    known = {"in_python": True, "receive": [functions.RETURNED], "variables_limit": limit, **given.options(options)}
    for name, value in known.items():
        setattr(arguments, name, value)
    called, client = functions.call(function, args, kwargs or {}), Client(project=project)
    arguments.name = arguments.name or called.name
    made = running.submit_function(client, arguments, called)
    return Job(client, made.number, made)


def sweep(
    script: str | PathLike[str] | None = None,
    values: Mapping[str, Iterable[Any]] | None = None,
    *,
    command: str | Sequence[object] | None = None,
    args: Sequence[object] = (),
    project: str | None = None,
    **options: Unpack[given.JobOptions],
) -> Sweep:
    """Submit a job for each combination of values, all or none, and return at once. The options are those of `submit`.

    `acai.sweep("train.py", {"lr": [0.1, 0.01], "depth": [2, 4]}, input="digits", output="model")` makes four jobs.
    """
    arguments = verbs.parse("acai", ["submit"])
    program = {"script": None if script is None else fspath(script), "command": given.command(script, command, args)}
    known = {"in_python": True, **program, "args": [str(one) for one in args], "sweep": given.swept(values)}
    for name, value in {**known, **given.options(options)}.items():
        setattr(arguments, name, value)
    client = Client(project=project)
    made = submitting.submit(client, arguments).value
    return Sweep(client, made.tag, made)


def sweep_of(tag: str, *, project: str | None = None) -> Sweep:
    """Return the jobs that bear a tag as a sweep: one of yesterday, or any jobs that were given a label."""
    client = Client(project=project)
    return Sweep(client, tag, client.call(endpoints.GET_SWEEP, sweep=tag))


def attach(
    number: int, *, trust: bool = False, variables_limit: str | int | None = None, project: str | None = None
) -> dict[str, Any]:
    """Wait until a job has finished, and return the variables that it brings back."""
    return job(number, project=project).received(trust=trust, variables_limit=variables_limit)


def job(number: int, *, project: str | None = None) -> Job:
    """Return one job."""
    client = Client(project=project)
    return Job(client, number, client.call(endpoints.GET_JOB, job=number))


def jobs(query: str = "", *, limit: int = 100, project: str | None = None) -> list[Job]:
    """Return the jobs that a query is true of, or without one the newest; at most so many."""
    client = Client(project=project)
    if not query:
        return [Job(client, one.number, one) for one in searches.newest_jobs(client, limit)]
    page = searches.find(client, metadata_verbs.request(SubjectKind.JOB, query), most=limit)
    return [Job(client, int(row.thing)) for row in page.rows]


@overload
def logs(
    number: int | Job,
    *,
    follow: Literal[False] = False,
    attempt: int | None = None,
    node: int = 0,
    project: str | None = None,
) -> str: ...


@overload
def logs(
    number: int | Job,
    *,
    follow: Literal[True],
    attempt: int | None = None,
    node: int = 0,
    project: str | None = None,
) -> Iterator[str]: ...


def logs(
    number: int | Job,
    *,
    follow: bool = False,
    attempt: int | None = None,
    node: int = 0,
    project: str | None = None,
) -> str | Iterator[str]:
    """Return what a job has printed until now, on one of its nodes; with `follow` its lines as they come."""
    job = _jobs([number], project)[0]
    return job.follow(attempt, node=node) if follow else job.logs(attempt, node=node)


def wait(*numbers: int | Job, project: str | None = None) -> list[Job]:
    """Return jobs when all of them have ended, however they did."""
    return [one.wait() for one in _jobs(numbers, project)]


def kill(*numbers: int | Job, project: str | None = None) -> list[Job]:
    """Ask for the end of jobs; `wait` tells when that is so."""
    return [one.kill() for one in _jobs(numbers, project)]


@overload
def why(number: int | Job, *, miss: Literal[False] = False, project: str | None = None) -> str: ...


@overload
def why(number: int | Job, *, miss: Literal[True], project: str | None = None) -> MissReport: ...


def why(number: int | Job, *, miss: bool = False, project: str | None = None) -> str | MissReport:
    """Say why a job waits, what it does, or how it ended; with `miss` why no earlier result answered it."""
    job = _jobs([number], project)[0]
    return job.why_miss() if miss else job.why()


def remove_job(*numbers: int | Job, undo: bool = False, project: str | None = None) -> list[Job]:
    """Delete jobs that have ended, or bring them back."""
    return [one.remove(undo=undo) for one in _jobs(numbers, project)]


def _jobs(jobs: Sequence[int | Job], project: str | None) -> list[Job]:
    client = Client(project=project)
    return [one if isinstance(one, Job) else Job(client, one) for one in jobs]


python_help.documented(globals())
