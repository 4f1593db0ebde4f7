"""Takes jobs in: what is wrong with one is said before it has a number."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from acai_jupyter.contract.errors import JobRefused
from acai_jupyter.contract.ids import FileSetVersionId
from acai_jupyter.contract.specs import check_name, parse_input, parse_set
from acai_jupyter.contract.states import InputRole

if TYPE_CHECKING:
    from acai_jupyter.contract.ids import ProjectId, UserId
    from acai_jupyter.contract.jobs import CreateJob, Job
    from acai_server.db.database import Database
    from acai_server.db.filesets import StoredFileSet
    from acai_server.db.work import Work
    from acai_server.engine.protocols import FileSetStore
    from acai_server.runners.protocol import Runner

_VARIABLE = re.compile(r"[A-Za-z_][A-Za-z0-9_]*\Z")


class Registry:
    """Gives a job its number and keeps it."""

    def __init__(self, database: Database, file_sets: FileSetStore, runner: Runner) -> None:
        self._database = database
        self._file_sets = file_sets
        self._runner = runner

    def submit(self, project: ProjectId, user: UserId, request: CreateJob) -> Job:
        """Write a queued job with its inputs resolved to versions."""
        self._check(request)
        with self._database.writing() as work:
            sets = self._inputs(work, project, request)
            self._check_paths(work, project, request, sets)
            inputs = [(FileSetVersionId(stored.id), role) for stored, role in sets]
            job = work.jobs.create(project, user, request, inputs, work.clock.now())
            work.events.record(project, "job_queued", f"job {job.number}", state=job.state.value)
            return work.jobs.public(project, job.number)

    def _check(self, request: CreateJob) -> None:
        if request.output is not None:
            check_name(request.output)
        texts = [*request.command, *request.environment.values(), *map(str, request.parameters.values())]
        if any("\0" in text for text in texts):
            raise JobRefused(reason="a NUL character cannot be passed to a program")
        odd = next((name for name in request.environment if not _VARIABLE.match(name)), None)
        if odd is not None:
            raise JobRefused(reason=f"'{odd[:80]}' cannot be the name of an environment variable")
        machine, wanted = self._runner.machine(), request.resources
        if wanted.vcpu > machine.cpus:
            raise JobRefused(
                reason=f"it asks for {wanted.vcpu:g} vCPU and no machine here has more than {machine.cpus:g}"
            )
        if wanted.memory_bytes > machine.memory_bytes:
            gib = machine.memory_bytes / 1024**3
            raise JobRefused(reason=f"it asks for more memory than the {gib:.1f} GB that a machine here has")

    def _inputs(self, work: Work, project: ProjectId, request: CreateJob) -> list[tuple[StoredFileSet, InputRole]]:
        sets = []
        for text in request.inputs:
            spec = parse_input(text)
            if spec.file_set is None or spec.path != "/":
                raise JobRefused(reason=f"'{text[:80]}' is not a whole file set; name a set, like digits:2")
            sets.append((work.file_sets.find(project, spec.file_set), InputRole.DATA))
        if request.code is not None:
            sets.append((work.file_sets.find(project, parse_set(request.code)), InputRole.CODE))
        return sets

    def _check_paths(
        self, work: Work, project: ProjectId, request: CreateJob, sets: list[tuple[StoredFileSet, InputRole]]
    ) -> None:
        """Refuse a path of the working folder that two inputs, or code and an input, claim with different content."""
        claims: dict[str, tuple[str, str]] = {}
        for stored, role in sets:
            for entry in self._file_sets.read(work, project, stored):
                path = working_path(entry.path, request.code_root if role is InputRole.CODE else "/")
                known = claims.setdefault(path, (entry.sha256, stored.public.ref))
                if known[0] != entry.sha256:
                    raise JobRefused(reason=f"both {known[1]} and {stored.public.ref} have a '{path}', and they differ")
                if path.split("/")[0] == "output":
                    raise JobRefused(
                        reason=f"'{path}' of {stored.public.ref} lies in output/, which is for the outputs"
                    )


def working_path(path: str, root: str) -> str:
    """Return where a file of a set stands in the working folder."""
    folder = root.rstrip("/") + "/"
    return (path.removeprefix(folder) if path.startswith(folder) else path).lstrip("/")
