"""Takes jobs in: what is wrong with one is said before it has a number."""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING, Any

import msgspec

from acai_jupyter.contract.errors import Conflict, FileSetNotFound, JobRefused
from acai_jupyter.contract.jobs import Job
from acai_jupyter.contract.query.builtin import SubjectKind
from acai_jupyter.contract.specs import parse_set
from acai_jupyter.contract.states import InputRole, JobState
from acai_jupyter.contract.templates import template_of
from acai_server.db.filesets import StoredFileSet
from acai_server.engine import inputs, memo, misses, requests
from acai_server.engine.inputs import Beside, InputReader

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from acai_jupyter.contract.ids import JobNumber, ProjectId, UserId
    from acai_jupyter.contract.jobs import CreateJob, MissReport, ResourceLimits
    from acai_server.db.database import Database
    from acai_server.db.jobs import Inputs, StoredJob
    from acai_server.db.work import Work
    from acai_server.engine.inputs import Given
    from acai_server.engine.protocols import FileSetStore, MemoryNeeds, Merged
    from acai_server.runners.protocol import Runner

_NOTHING = Beside()
TRIES = 10
"""So often the inputs may change while they are looked up."""


@dataclass(frozen=True)
class Submitter:
    """Who submits, where, and under which name of their own: empty when they gave none."""

    project: ProjectId
    user: UserId
    submission: str = ""


@dataclass(frozen=True)
class _Found:
    """What requests were found to mean, and for each of them the hash of all that its result depends on."""

    given: Given
    wanted: list[tuple[CreateJob, bytes]]

    @property
    def merged(self) -> Merged | None:
        """What is still to become a set."""
        data = self.given.data
        return None if isinstance(data, StoredFileSet) else data


class Registry:
    """Gives a job its number and keeps it."""

    def __init__(
        self,
        database: Database,
        file_sets: FileSetStore,
        runner: Runner,
        limits: ResourceLimits | None = None,
        afford: Callable[[Work, ProjectId, UserId, Sequence[CreateJob]], None] = lambda *_: None,
        memory: MemoryNeeds | None = None,
        gpu_type: Callable[[int, str], str] = lambda _, named: named,
    ) -> None:
        """Know what jobs stand on. `afford` refuses what costs more than is left, `gpu_type` GPUs that are not."""
        self._gpu_type = gpu_type
        self._afford = afford
        self._memory = memory
        self._database = database
        self._file_sets = file_sets
        self._runner = runner
        self._limits = limits

    def submit(self, project: ProjectId, user: UserId, request: CreateJob, submission: str = "") -> Job:
        """Write a queued job with its inputs resolved to versions, or one that an earlier result answers.

        Where the same `submission` of this user was taken in before, return what came of that.
        """
        by = Submitter(project, user, submission)
        return self._known(by) or self._submit(by, [request], _label_none)[0]

    def submit_sweep(self, project: ProjectId, user: UserId, wanted: Sequence[CreateJob], submission: str = "") -> str:
        """Write jobs that differ in their parameters only, all or none; returns the tag that all of them bear."""
        by = Submitter(project, user, submission)
        first = self._known(by) or self._submit(by, wanted, sweep_tag)[0]
        return sweep_tag(first.number)

    def submit_if(
        self, project: ProjectId, user: UserId, request: CreateJob, tag: str, still: Callable[[Work], bool]
    ) -> Job | None:
        """Write a job that bears a tag, if something still holds when nobody else writes."""
        jobs = self._submit(Submitter(project, user), [request], lambda _: tag, still)
        return jobs[0] if jobs else None

    def fitted(self, work: Work, project: ProjectId, wanted: Sequence[CreateJob]) -> Sequence[CreateJob]:
        """Return requests with the type of their GPUs and, if they want as much memory as earlier jobs used, that."""
        first = wanted[0]
        named = self._gpu_type(first.resources.gpus, first.resources.gpu_type)
        share = msgspec.structs.replace(first.resources, gpu_type=named)
        if not first.memory_as_used and share == first.resources:
            return wanted
        if self._memory is not None and first.memory_as_used:
            wanted = [msgspec.structs.replace(one, resources=share) for one in wanted]
            template, most = template_of(first), self._runner.machine().memory_bytes
            share = self._memory.share(work, project, template, wanted, most)
        return [msgspec.structs.replace(one, resources=share, memory_as_used=False) for one in wanted]

    def look(
        self, work: Work, project: ProjectId, wanted: Sequence[CreateJob], beside: Beside = _NOTHING
    ) -> tuple[Given, list[StoredJob | None]]:
        """Refuse what `submit` would; else return what the jobs are given, and for each what earlier job answers it."""
        self._check(project, wanted, has_code=beside.code is not None)
        found = self._look_up(work, project, wanted, beside)
        answering = partial(_answering, work, self._file_sets, project)
        earlier = [answering(key) if request.cached else None for request, key in found.wanted]
        return found.given, earlier

    def _check(self, project: ProjectId, wanted: Sequence[CreateJob], *, has_code: bool = False) -> None:
        for request in wanted:
            requests.check(request, has_code=has_code)
        self._check_room(project, wanted[0])

    def _known(self, by: Submitter) -> Job | None:
        """The first job of this submission, if it was taken in before."""
        if not by.submission:
            return None
        with self._database.reading() as work:
            return _submitted(work, by)

    def _submit(
        self,
        by: Submitter,
        wanted: Sequence[CreateJob],
        label: Callable[[JobNumber], str],
        still: Callable[[Work], bool] = lambda _: True,
    ) -> list[Job]:
        """Write jobs that are given the same, which is looked up once; none when it is not so `still`.

        What was submitted before comes back as its first job.
        """
        project = by.project
        self._check(project, wanted)
        for _ in range(TRIES):
            with self._database.reading() as work:
                fitted = self.fitted(work, project, wanted)
                found = self._look_up(work, project, fitted)
                self._afford(work, project, by.user, fitted)
            if found.merged is not None:
                found.merged.keep_many()
            with self._database.writing() as work:
                work.uploads.lock_project(project)
                if by.submission and (job := _submitted(work, by)) is not None:
                    return [job]
                if not still(work):
                    return []
                if _stands(work, project, found.given):
                    return _take_all(work, by, found, label, file_sets=self._file_sets)
        raise Conflict(reason="its inputs change again and again while they are looked up; name their versions")

    def _look_up(
        self, work: Work, project: ProjectId, wanted: Sequence[CreateJob], beside: Beside = _NOTHING
    ) -> _Found:
        reader = InputReader(self._database, self._file_sets, work, project)
        given = reader.look_up(wanted[0], beside)
        data, code, variables = ("" if one is None else reader.content(one) for one in given.each())
        if beside.code is not None:
            code = memo.content_of(beside.code.entries(""))
        if beside.variables is not None:
            variables = memo.content_of(beside.variables.entries(""))
        parts = [memo.parts(request, data=data, code=code, variables=variables) for request in wanted]
        return _Found(given, [(request, memo.memo_of(each)) for request, each in zip(wanted, parts, strict=True)])

    def _check_room(self, project: ProjectId, request: CreateJob) -> None:
        """Refuse what no machine can hold, now or with the memory that it may get later; and secrets of others."""
        share = request.resources
        if self._limits is not None:
            requests.check_share(share, self._limits)
        largest = msgspec.structs.replace(share, memory_bytes=share.max_memory_bytes or share.memory_bytes)
        secrets = request.secrets.values()
        owner = self._name_of(project) if secrets else ""
        for wanted in (share, largest):
            refusal = self._runner.refuses(
                wanted, nodes=request.nodes, image=request.image, secrets=secrets, project=owner
            )
            if refusal:
                raise JobRefused(reason=refusal)

    def _name_of(self, project: ProjectId) -> str:
        with self._database.reading() as work:
            return work.projects.name_of(project)

    def explain_miss(self, project: ProjectId, number: int) -> MissReport:
        """Say why no earlier result answered a job."""
        with self._database.reading() as work:
            reader = InputReader(self._database, self._file_sets, work, project)
            return misses.explain(work, reader, work.jobs.find(project, number))


def sweep_tag(number: JobNumber) -> str:
    """Return the tag of a sweep: it is named after its first job, so no two have the same."""
    return f"sweep-{number}"


def _label_none(number: JobNumber) -> str:
    del number
    return ""


def _submitted(work: Work, by: Submitter) -> Job | None:
    number = work.jobs.submitted(by.project, by.user, by.submission)
    return None if number is None else work.shown_jobs.find(by.project, number)


def _take_all(
    work: Work, by: Submitter, found: _Found, label: Callable[[JobNumber], str], *, file_sets: FileSetStore
) -> list[Job]:
    """Give jobs their numbers. The project is locked, and what was looked up stands."""
    jobs: list[Job] = []
    project, user = by.project, by.user
    sets: list[tuple[StoredFileSet, InputRole]] | None = None
    name = work.jobs.user_name(user)
    for request, key in found.wanted:
        number = work.jobs.next_number(project)
        known = {"number": number, "memo": key, "submission": None if jobs else by.submission or None}
        labels = [text for text in (label(jobs[0].number if jobs else number),) if text]
        earlier = _answering(work, file_sets, project, key) if request.cached else None
        if earlier is not None:
            job = _create(work, user, request, earlier.inputs, labels, project=project, **known)
            _answer(work, job, earlier)
            jobs.append(work.shown_jobs.find(project, number))
            continue
        if sets is None:  # an implicit set is made once, and named after the first job that needs it
            sets = inputs.keep(work, user, number, found.given)
        job = _create(work, user, request, _used(sets), labels, project=project, **known)
        jobs.append(_shown(job, sets, name, labels))
    return jobs


def _create(
    work: Work, user: UserId, request: CreateJob, used: Inputs, labels: list[str], *, project: ProjectId, **known: Any
) -> StoredJob:
    now, template = work.clock.now(), template_of(request)
    job = work.jobs.create(project, user, request, used, now, template=template, **known)
    work.attributes.write(project, SubjectKind.JOB, [(job.id, key, v) for key, v in request.attributes.items()])
    work.attributes.add_labels(project, SubjectKind.JOB, [(job.id, label) for label in [*request.tags, *labels]])
    work.events.record(project, "job_queued", f"job {job.number}", state=JobState.QUEUED.value)
    return job


def _used(sets: list[tuple[StoredFileSet, InputRole]]) -> Inputs:
    return [(stored.id, role) for stored, role in sets]


def _shown(job: StoredJob, sets: list[tuple[StoredFileSet, InputRole]], user: str, labels: list[str]) -> Job:
    """A job as people see it that was just written: nothing has to be read again while others wait to write."""
    request = job.request
    return Job(
        number=job.number,
        name=request.name,
        user=user,
        state=job.state,
        reason="",
        command=request.command,
        inputs=[stored.public.ref for stored, role in sets if role is InputRole.DATA],
        code=_ref(sets, InputRole.CODE),
        variables=_ref(sets, InputRole.VARIABLES),
        receive=request.receive,
        output=None,
        parameters=request.parameters,
        resources=request.resources,
        nodes=request.nodes,
        created_at=job.created_at,
        attempts=[],
        attributes=dict(sorted(request.attributes.items())),
        tags=sorted({*request.tags, *labels}),
        description=request.description,
        priority=request.priority,
    )


def _ref(sets: list[tuple[StoredFileSet, InputRole]], wanted: InputRole) -> str | None:
    return next((stored.public.ref for stored, role in sets if role is wanted), None)


def _stands(work: Work, project: ProjectId, given: Given) -> bool:
    """Whether what was looked up still stands, now that the project is locked; sets that were deleted are refused."""
    for one in given.each():
        if isinstance(one, StoredFileSet):
            if work.file_sets.find(project, parse_set(one.public.ref)).id != one.id:
                raise FileSetNotFound(name=one.public.ref, hint="")
        elif one is not None and not one.stands(work):
            return False
    return True


def _answering(work: Work, file_sets: FileSetStore, project: ProjectId, key: bytes) -> StoredJob | None:
    """Return the earlier job that is the same, if its output can be read."""
    earlier = work.jobs.newest_with(project, key)
    return None if earlier is None or misses.unusable_output(work, file_sets, earlier) else earlier


def _answer(work: Work, job: StoredJob, earlier: StoredJob) -> None:
    reason = f"answered by job {earlier.number}, which was the same"
    work.jobs.answer(job, earlier, reason, work.clock.now())
    told = {"state": JobState.FINISHED.value, "answered_by": earlier.number}
    work.events.record(job.project_id, "job_finished", f"job {job.number}", **told)
