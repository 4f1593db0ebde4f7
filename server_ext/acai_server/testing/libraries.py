"""Projects with things to find in them, as the suites about attributes fill and ask them."""

from __future__ import annotations

from datetime import datetime, timedelta
from typing import TYPE_CHECKING, Any, NamedTuple

from acai_jupyter.contract.filesets import Entry, EntryPage
from acai_jupyter.contract.ids import FileSetVersionId, JobNumber, Sha256
from acai_jupyter.contract.jobs import CreateJob
from acai_jupyter.contract.metadata import ChangeMetadata, FindThings, ThingChange, Time
from acai_jupyter.contract.query.builtin import SubjectKind
from acai_jupyter.contract.specs import parse_set
from acai_jupyter.contract.states import ActionKind, InputRole, JobState
from acai_server.metadata.service import Attributes
from acai_server.testing.databases import enter
from acai_server.testing.queries import LABELS, NOON, NUMBERS, TEXTS, TIMES, Ref

if TYPE_CHECKING:
    from acai_jupyter.contract.ids import ProjectId
    from acai_jupyter.contract.metadata import FoundPage
    from acai_server.db.database import Database
    from acai_server.db.work import Work
    from acai_server.testing.queries import Thing

MADE_BY = [None, ActionKind.UPLOAD, ActionKind.JOB]


class Files:
    """Stands for the lake: one set with one file."""

    def entries(self, project: ProjectId, spec: str, after: str, limit: int) -> EntryPage:
        del project, after, limit
        return EntryPage([Entry("/a@b", 1, 3, Sha256("00"))] if spec == "/a%40b@set" else [])


class Library(NamedTuple):
    """A database with a project in it."""

    database: Database
    project: Any
    user: Any

    @property
    def service(self) -> Attributes:
        return Attributes(self.database, Files())

    def submit(
        self,
        parameters: dict[str, Any] | None = None,
        name: str = "",
        inputs: list[str] | None = None,
        at: datetime | None = None,
    ) -> JobNumber:
        request = CreateJob(command=["true"], name=name, parameters=parameters or {})
        with self.database.writing() as work:
            data = [(self._version(work, ref), InputRole.DATA) for ref in inputs or []]
            return work.jobs.create(self.project, self.user, request, data, at or work.clock.now()).number

    def end(self, job: JobNumber, state: JobState, at: datetime) -> None:
        with self.database.writing() as work:
            work.jobs.advance(work.jobs.find(self.project, job).id, state, "", at)

    def make_set(
        self,
        name: str,
        job: JobNumber | None = None,
        made_by: ActionKind = ActionKind.JOB,
        at: datetime | None = None,
        file_count: int = 2,
    ) -> str:
        with self.database.writing() as work:
            made = work.file_sets.add(
                self.project,
                self.user,
                name,
                InputRole.DATA,
                root=b"",
                file_count=file_count,
                size_bytes=30,
                now=at or work.clock.now(),
            )
            maker = None if job is None else work.jobs.find(self.project, job).id
            if maker is not None:
                work.jobs.set_output(maker, made.id)
                work.actions.add_output(maker, made.id)
            elif made_by is not ActionKind.JOB:
                work.actions.add(self.project, self.user, made_by, [], made.id, work.clock.now())
        return made.public.ref

    def bury(self, ref: str, at: datetime | None = NOON) -> None:
        """Delete a version of a file set, or with no time bring it back."""
        with self.database.writing() as work:
            found = work.file_sets.find(self.project, parse_set(ref), or_deleted=True)
            work.file_sets.mark(found.file_set_id, [found.id], at)

    def alias(self, ref: str, alias: str) -> None:
        with self.database.writing() as work:
            found = work.file_sets.find(self.project, parse_set(ref))
            work.aliases.add(found.file_set_id, alias, found.public.version, self.user, work.clock.now())

    def _version(self, work: Work, ref: str) -> FileSetVersionId:
        return work.file_sets.find(self.project, parse_set(ref)).id

    def change(self, thing: object, /, **values: Any) -> list[str]:
        return self.change_all(ThingChange(str(thing), set=values))

    def change_all(self, *changes: ThingChange) -> list[str]:
        return self.service.change(self.project, self.user, ChangeMetadata(list(changes))).things

    def find(self, kind: str, query: str, **options: Any) -> FoundPage:
        return self.service.find(self.project, FindThings(SubjectKind(kind), query, **options))

    def things(self, kind: str, query: str, **options: Any) -> list[str]:
        return [row.thing for row in self.find(kind, query, **options).rows]


def library(database: Database, project: str = "default", user: str = "you") -> Library:
    """Enter a project."""
    member = enter(database, project, user)
    return Library(database, member.project_id, member.user_id)


def jobs(made: Library) -> list[Thing]:
    """Fill a project with jobs that have a bit of everything; returns them as they are, the oldest first."""
    refs = [made.make_set(name) for name in ("a", "a", "b")]
    known = [Ref("a", 1, is_latest=False), Ref("a", 2, is_latest=True), Ref("b", 1, is_latest=True)]
    people = [made, library(made.database, user="ana")]
    found: list[Thing] = []
    for at in range(60):
        lr = [None, 0.1, "high", True][at % 4]
        inputs = [place for place in range(3) if at >> place & 1]
        name = ["", "sweep", "é B", "bert"][at % 4]
        who, when = people[at % 2], TIMES[at % 3]
        job = who.submit({} if lr is None else {"lr": lr}, name, [refs[place] for place in inputs], when)
        output = [Ref(f"out{at % 6}", at // 6 + 1, is_latest=at >= 54)] if at % 6 < 2 else []
        if output:
            made.make_set(output[0].name, job)
        ended = NOON + timedelta(minutes=at % 7) if at % 3 == 0 else None
        if ended is not None:
            made.end(job, JobState.KILLED, ended)
        built_in: Thing = {
            "number": float(job),
            "state": "queued" if ended is None else "killed",
            "vcpu": 1.0,
            "attempts": 0.0,
        }
        built_in |= {"name": name or None, "creator": ("you", "ana")[at % 2], "created_at": when, "ended_at": ended}
        built_in |= {"input": [known[place] for place in inputs], "output": output, "params.lr": lr}
        found.append({"thing": str(job), **built_in, **_given(at)})
    _give(made, found)
    return found


def file_sets(made: Library) -> list[Thing]:
    """Fill a project with versions of file sets, some of them deleted; returns the others, the oldest first."""
    found: list[Thing] = []
    people = [made, library(made.database, user="ana")]
    for at in range(45):
        name, maker = ("a", "B", "bert")[at % 3], MADE_BY[at // 3 % 3]
        job = made.submit() if maker is ActionKind.JOB else None
        who, when = people[at % 2], TIMES[at % 2]
        ref = who.make_set(name, job, maker or ActionKind.JOB, when, at % 4)
        built_in: Thing = {"name": name, "version": float(ref.rpartition(":")[2]), "latest": False, "created_at": when}
        built_in |= {"creator": ("you", "ana")[at % 2], "file_count": float(at % 4), "size_bytes": 30.0}
        built_in |= {"made_by": maker and maker.value, "job": job and float(job)}
        found.append({"thing": ref, **built_in, **_given(at)})
    _give(made, found)
    gone = ("a:15", "B:3", "B:4", "bert:15", "bert:14")
    for ref in gone:
        made.bury(ref)
    for thing in found:
        thing["latest"] = thing["thing"] in ("a:14", "B:15", "bert:13")
    return [thing for thing in found if thing["thing"] not in gone]


def _given(at: int) -> Thing:
    """What users gave the thing with this place."""
    return {
        "accuracy": NUMBERS[at % len(NUMBERS)] if at % 3 else None,
        "model": TEXTS[at % len(TEXTS)] if at % 5 else None,
        "mixed": [None, "BERT", 0.5, True, False, NOON, TIMES[1], 3.0, "", -1.5][at % 10],
        "limit": float(at % 4) if at % 2 else None,
        "tags": [label for place, label in enumerate(LABELS) if at >> place & 1],
    }


def _give(made: Library, things: list[Thing]) -> None:
    changes = []
    for thing in things:
        given = {key: thing[key] for key in ("accuracy", "model", "mixed", "limit") if thing[key] is not None}
        values = {key: Time(value) if isinstance(value, datetime) else value for key, value in given.items()}
        changes.append(ThingChange(thing["thing"], set=values, add_labels=thing["tags"]))
    made.change_all(*changes)
