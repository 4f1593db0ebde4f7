"""What restrictions owe to those whom they let through, and to those whom they do not: for these there is nothing."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import msgspec
import pytest

from acai_jupyter.contract.accounts import CreateUser
from acai_jupyter.contract.errors import (
    BadRequest,
    Conflict,
    FileNotFound,
    FileSetNotFound,
    GroupNotFound,
    JobNotFound,
    NotAllowed,
    RestrictionNotFound,
    TooManyKept,
    UserNotFound,
)
from acai_jupyter.contract.files import DamageReport, ReportedFile
from acai_jupyter.contract.filesets import CreateFileSet, RemoveFileSets
from acai_jupyter.contract.garbage import CollectGarbage
from acai_jupyter.contract.jobs import CreateJob, ResourceLimits
from acai_jupyter.contract.lineage import LineageDirection
from acai_jupyter.contract.metadata import ChangeMetadata, FindThings, ThingChange
from acai_jupyter.contract.prices import PriceBook
from acai_jupyter.contract.queries import (
    AffectedQuery,
    ClosureQuery,
    NeighbourhoodQuery,
    NumberedQuery,
    ProjectGraphQuery,
)
from acai_jupyter.contract.query.builtin import SubjectKind
from acai_jupyter.contract.restrictions import LiftRestrictions, Restrict, RestrictionQuery
from acai_jupyter.contract.specs import parse_set
from acai_jupyter.contract.states import InputRole, JobState, Role
from acai_jupyter.contract.uploads import NewFile, PackedBlob, SentObject
from acai_server.credentials.service import Credentials
from acai_server.db import sight
from acai_server.db.attempts import AttemptEnd
from acai_server.db.sight import seeing
from acai_server.lake import inside
from acai_server.lake.restricting import MOST
from acai_server.metadata.service import Attributes
from acai_server.objects.keys import project_prefix
from acai_server.objects.memory import MemoryObjectStore
from acai_server.provenance.service import Provenance
from acai_server.provisioner.prices import Prices
from acai_server.provisioner.service import Provisioner
from acai_server.store_owner import mark
from acai_server.testing.lakes import SIGNER, LakeUser, hash_of

if TYPE_CHECKING:
    from collections.abc import Callable

    from acai_server.db.database import Database

LOCAL = "acai_of-the-server-itself"
SECRET = b"the content of which not everybody may learn"


class Person:
    """Somebody in the project, who does things as they may see them."""

    def __init__(self, lab: Lab, name: str) -> None:
        self._lab = lab
        self.name = name
        self._user = LakeUser(lab.database, lab.objects, name)
        self.project: Any = self._user.member.project_id
        self.id: Any = self._user.member.user_id

    def do(self, work: Callable[..., Any], *arguments: Any, **named: Any) -> Any:
        people = self._lab.people
        with self._lab.database.reading() as records:
            member = records.projects.member_by_id(self.id, "default")
        assert member is not None
        return seeing(people.sight_of(member), lambda: work(*arguments, **named))  # type: ignore[arg-type]

    def put(self, name: str | None, **files: bytes) -> Any:
        named = {f"/{path.replace('__', '/')}": body for path, body in files.items()}
        return self.do(self._user.put, named, file_set=name, only_changed=True)

    def create(self, name: str, *sources: str) -> str:
        made = self.do(self._user.lake.composing.create, self.project, self.id, CreateFileSet(name, list(sources)))
        return str(made.file_set.ref)

    def run(self, output: str, *inputs: str, content: bytes = b"made", **how: Any) -> int:
        """Submit a job, which ends at once."""
        request = CreateJob(command=["true"], output=output, template="t", **how)

        def submit() -> Any:
            with self._lab.database.writing() as work:
                used = [(work.file_sets.find(self.project, parse_set(ref)).id, InputRole.DATA) for ref in inputs]
                job = work.jobs.create(self.project, self.id, request, used, work.clock.now(), template="t")
                work.events.record(self.project, "job_queued", f"job {job.number}")
                return job

        job = self.do(submit)
        self._lab.finish(self, job, output, content)
        return int(job.number)

    def sets(self) -> dict[str, int]:
        page = self.do(self._user.lake.file_sets.page, self.project, "", 100)
        return {one.name: one.version for one in page.file_sets}

    def paths(self, spec: str = "/") -> list[str]:
        return [entry.path for entry in self.do(self._user.lake.files.entries, self.project, spec, "", 100).entries]

    def lake(self, service: str, method: str, *arguments: Any) -> Any:
        return self.do(getattr(getattr(self._user.lake, service), method), self.project, *arguments)

    def find(self, kind: SubjectKind, query: str = "") -> list[str]:
        found = self.do(self._lab.metadata.find, self.project, FindThings(kind, query))
        return [one.thing for one in found.rows]

    def fetch(self, spec: str) -> Any:
        return self.do(self._user.fetch, spec)

    def prepare(self, **files: bytes) -> list[int]:
        """Begin an upload; returns the positions of what has to be sent."""
        named = {f"/{path}": body for path, body in files.items()}
        return list(self.do(self._user.begin, named).missing)

    def told(self) -> str:
        """Return all that is told of in the project, as one text."""

        def read() -> bytes:
            with self._lab.database.reading() as work:
                return msgspec.json.encode(work.events.after(self.project, 0, 1000).events)

        return bytes(self.do(read)).decode()

    def graph(self, thing: str, **how: Any) -> str:
        query = NeighbourhoodQuery(back=9, forward=9, **how)
        return msgspec.json.encode(self.do(self._lab.provenance.neighbourhood, self.project, thing, query)).decode()


class Lab:
    """A project with an admin and two members."""

    def __init__(self, database: Database) -> None:
        self.database = database
        self.objects = MemoryObjectStore(SIGNER)
        self.people = Credentials(database, LOCAL)
        me = self.people.identify(LOCAL, None)
        for name in ("ann", "bob"):
            self.people.users.create(me, CreateUser(name, Role.MEMBER))
        self.admin, self.ann, self.bob = (Person(self, name) for name in ("you", "ann", "bob"))
        self.lake = LakeUser(database, self.objects).lake
        self.metadata = Attributes(database, self.lake.files)
        self.provenance = Provenance(database, self.lake.files, self.lake.composing)

    def restrict(self, what: str, *readers: str, writers: tuple[str, ...] = ()) -> None:
        self.admin.lake("restrictions", "set", self.admin.id, Restrict(what, list(readers), list(writers)))

    def lift(self, file_set: str, reason: str = "only sums") -> None:
        self.admin.lake("restrictions", "lift", self.admin.id, LiftRestrictions(file_set, reason))

    def finish(self, person: Person, job: Any, output: str, content: bytes) -> None:
        """Do as the recorder does, for whom nothing is restricted."""
        with self.database.writing() as work:
            key, sha = f"p{person.project}/jobs/{job.id}", hash_of(content)
            sent = SentObject(1, len(content), sha, [PackedBlob(sha, 0, len(content))])
            files = [NewFile(f"/{output}/out", len(content), sha)]
            entries = inside.record(work, person.project, person.id, [(key, sent)], files, job.id)
            made = inside.add_version(work, person.project, person.id, output, InputRole.DATA, entries)
            work.actions.add_output(job.id, made.id)
            work.jobs.set_output(job.id, made.id)
            attempt = work.jobs.begin_attempt(job, "test", f"key-{job.id}", work.clock.now())
            assert attempt is not None
            work.jobs.end_attempt(attempt.id, AttemptEnd(0, 10.0 + job.id, 11.0, 0.01, 0))
            for state in (JobState.DOWNLOADING, JobState.RUNNING, JobState.UPLOADING):
                work.jobs.advance(job.id, state, "", work.clock.now())
            work.jobs.advance(job.id, JobState.FINISHED, "", work.clock.now())


class RestrictionSuite:
    """Derive from this with a fixture `database` that gives an empty one with all tables."""

    @pytest.fixture
    def database(self) -> Database:
        raise NotImplementedError

    @pytest.fixture
    def lab(self, database: Database) -> Lab:
        lab = Lab(database)
        lab.admin.put("open", open__a=b"a", open__b=b"b")
        lab.admin.put("patients", patients__one=SECRET, patients__two=b"2")
        return lab

    # -- what is restricted

    def test_a_restricted_set_is_not_there_for_others(self, lab: Lab) -> None:
        lab.restrict("@patients", "ann")
        assert lab.ann.sets() == lab.admin.sets() == {"open": 1, "patients": 1}
        assert lab.bob.sets() == {"open": 1}
        for ref in ("patients", "patients:1", "patients:latest", "patients:7"):
            with pytest.raises(FileSetNotFound) as refused:
                lab.bob.lake("file_sets", "get", ref)
            assert refused.value.message == f"There is no file set '{ref.removesuffix(':latest')}'."
        with pytest.raises(FileSetNotFound) as near:
            lab.bob.lake("file_sets", "get", "patient")
        assert "patients" not in near.value.message
        assert lab.bob.paths("/") == ["/open/a", "/open/b"]
        with pytest.raises(FileNotFound):
            lab.bob.fetch("/patients/one")
        with pytest.raises(FileSetNotFound):
            lab.bob.fetch("@patients")
        assert lab.ann.paths("/patients/@patients") == ["/patients/one", "/patients/two"]

    def test_a_restricted_folder_is_not_there_for_others(self, lab: Lab) -> None:
        lab.restrict("/patients/", "ann")
        assert lab.bob.paths() == ["/open/a", "/open/b"]
        assert [one.name for one in lab.bob.lake("files", "folder", "/", None, "", 9).children] == ["open"]
        with pytest.raises(FileNotFound) as refused:
            lab.bob.lake("files", "versions", "/patients/one", None, 9)
        assert "two" not in refused.value.message
        assert lab.bob.sets() == {"open": 1}, "a set with such files is behind it too"
        assert "/patients/one" in lab.ann.paths()
        assert lab.ann.sets() == {"open": 1, "patients": 1}

    def test_damaged_files_are_named_and_counted_only_for_those_who_may_see_them(self, lab: Lab) -> None:
        lab.restrict("/patients/", "ann")
        mark.adopt(lab.database, lab.objects)
        lab.objects.delete_all(list(lab.objects.keys(project_prefix(lab.admin.project))))
        hidden, visible = (DamageReport([ReportedFile(path, 1)]) for path in ("/patients/one", "/open/a"))
        assert lab.bob.lake("damages", "report", hidden).damaged == []
        assert lab.bob.lake("damages", "report", visible).damaged == ["/open/a:1"]
        assert lab.ann.lake("damages", "report", hidden).damaged == ["/patients/one:1"]
        said = [one.do(lab.lake.damages.check, one.project, sees_all_projects=False).said for one in (lab.bob, lab.ann)]
        assert said[0].startswith("2 damaged files: /open/a:1, /open/b:1. ")
        assert said[1].startswith("4 damaged files: /open/a:1, /open/b:1, /patients/one:1, /patients/two:1. ")

    def test_files_that_come_later_are_restricted_too(self, lab: Lab) -> None:
        lab.restrict("@patients", "ann")
        lab.restrict("/clinic", "ann")
        lab.admin.put("patients", patients__three=b"3")
        lab.admin.put("mixed", clinic__x=b"x", open__c=b"c")
        assert lab.bob.sets() == {"open": 1}
        assert lab.bob.paths() == ["/open/a", "/open/b", "/open/c"]
        assert lab.ann.sets() == {"mixed": 1, "open": 1, "patients": 2}

    def test_what_was_made_of_it_is_restricted_too(self, lab: Lab) -> None:
        lab.admin.create("before", "@patients", "@open")
        lab.restrict("@patients", "ann")
        lab.ann.create("merged", "@patients", "@open")
        lab.ann.create("subset", "/patients/one@patients")
        lab.ann.create("further", "@subset")
        job = lab.ann.run("model", "further")
        assert set(lab.ann.sets()) >= {"before", "merged", "subset", "further", "model"}
        assert lab.bob.sets() == {"open": 1}
        assert lab.bob.paths() == ["/open/a", "/open/b"]
        assert lab.bob.find(SubjectKind.JOB) == []
        assert lab.ann.find(SubjectKind.JOB) == [str(job)]

    def test_jobs_that_were_given_it_are_hidden_with_what_they_said(self, lab: Lab) -> None:
        job = lab.ann.run("model", "patients", parameters={"secret_rate": 3})
        lab.restrict("@patients", "ann")

        def jobs(person: Person) -> list[int]:
            with lab.database.reading() as work:
                return [one.number for one in person.do(work.shown_jobs.page, person.project, None, 9)]

        assert (jobs(lab.ann), jobs(lab.bob)) == ([job], [])
        with lab.database.reading() as work, pytest.raises(JobNotFound):
            lab.bob.do(work.jobs.find, lab.bob.project, job)
        keys = [one.key for one in lab.bob.do(lab.metadata.keys, lab.bob.project, SubjectKind.JOB, "params.", 9).keys]
        assert keys == []
        other = lab.bob.run("mine", "open", parameters={"rate": 1})
        assert jobs(lab.bob) == [other]

    def test_provenance_goes_round_it(self, lab: Lab) -> None:
        lab.restrict("@patients", "ann")
        lab.ann.create("merged", "@patients", "@open")
        lab.ann.run("model", "merged")
        lab.bob.run("mine", "open")
        hidden = ("patients", "merged", "model")
        one_step = NeighbourhoodQuery(back=0, forward=1, limit=10)
        around = lab.bob.do(lab.provenance.neighbourhood, lab.bob.project, "open", one_step)
        assert [action.outputs for action in around.actions] == [["mine:1"]], (
            "who made something, and when, is hidden too"
        )
        alone = lab.bob.do(lab.provenance.neighbourhood, lab.bob.project, "open", NeighbourhoodQuery(0, 0))
        assert [node.more_forward for node in alone.nodes] == [1]
        used = lab.bob.do(lab.provenance.uses, lab.bob.project, "open", None, 10)
        assert [action.outputs for action in used.actions] == [["mine:1"]]
        assert all(name in lab.ann.graph("merged") for name in hidden)
        assert not [name for name in hidden if name in lab.bob.graph("open")]
        assert "mine" in lab.bob.graph("open")
        whole = msgspec.json.encode(lab.bob.do(lab.provenance.project, lab.bob.project, ProjectGraphQuery())).decode()
        assert not [name for name in hidden if name in whole]
        affected = lab.bob.do(lab.provenance.affected, lab.bob.project, "open", AffectedQuery())
        assert not [name for name in hidden if name in msgspec.json.encode(affected).decode()]
        query = ClosureQuery(direction=LineageDirection.FORWARD)
        lines = b"".join(lab.bob.do(lambda: list(lab.provenance.closure(lab.bob.project, "open", query))))
        assert b"mine" in lines
        assert not [name for name in hidden if name.encode() in lines]
        for thing in hidden:
            with pytest.raises(FileSetNotFound):
                lab.bob.graph(thing)

    def test_searches_find_nothing_of_it(self, lab: Lab) -> None:
        change = ChangeMetadata([ThingChange("patients:1", set={"ward": "north"}), ThingChange("open:1", set={"n": 1})])
        lab.admin.do(lab.metadata.change, lab.admin.project, lab.admin.id, change)
        lab.restrict("@patients", "ann")
        assert lab.ann.find(SubjectKind.FILE_SET, "ward = 'north'") == ["patients:1"]
        assert lab.bob.find(SubjectKind.FILE_SET, "ward = 'north'") == []
        assert lab.bob.find(SubjectKind.FILE_SET, "file_count > 0") == ["open:1"]
        assert lab.bob.find(SubjectKind.FILE, "path ~ 'patients'") == []
        keys = lab.bob.do(lab.metadata.keys, lab.bob.project, SubjectKind.FILE_SET, "", 99).keys
        assert ("n" in {one.key for one in keys}, "ward" in {one.key for one in keys}) == (True, False)
        same = ChangeMetadata([ThingChange("open:1", set={"ward": "south"})])
        lab.bob.do(lab.metadata.change, lab.bob.project, lab.bob.id, same)
        assert lab.bob.find(SubjectKind.FILE_SET, "has(ward)") == ["open:1"]

    def test_events_tell_nothing_of_it(self, lab: Lab) -> None:
        lab.restrict("@patients", "ann")
        lab.ann.run("model", "patients")
        lab.admin.put("patients", patients__four=b"4")
        lab.admin.lake("aliases", "set", lab.admin.id, "patients:1", "paper")
        mine = lab.bob.run("mine", "open")
        told = lab.bob.told()
        assert f"job {mine}" in told
        assert not [word for word in ("patients", "model", "job 1", "paper") if f'"{word}' in told]
        assert "model:1" in lab.ann.told()

    def test_the_latest_version_is_the_latest_that_one_sees(self, lab: Lab) -> None:
        lab.restrict("@patients", "ann")
        lab.bob.create("report", "@open")
        lab.ann.create("report", "@patients")
        lab.admin.lake("aliases", "set", lab.admin.id, "report:2", "best")
        assert (lab.ann.sets()["report"], lab.bob.sets()["report"]) == (2, 1)
        with pytest.raises(FileSetNotFound) as refused:
            lab.bob.lake("file_sets", "get", "report:best")
        assert "report:2" not in refused.value.message
        listed = lab.bob.lake("file_sets", "versions", "report", None, 9).file_sets
        assert [one.version for one in listed] == [1]
        assert lab.bob.lake("aliases", "page", "report", None, 9).changes == []
        assert lab.bob.create("report", "/open/a") == "report:3", "a number is taken whoever sees what has it"
        assert lab.bob.sets()["report"] == 3

    def test_sending_the_same_tells_nothing(self, lab: Lab) -> None:
        LakeUser(lab.database, lab.objects).believe()
        assert lab.bob.prepare(elsewhere=SECRET) == []
        lab.restrict("@patients", "ann")
        assert lab.bob.prepare(elsewhere=SECRET) == [0]
        assert lab.ann.prepare(elsewhere=SECRET) == []
        lab.bob.put("mine", patients__one=SECRET)
        assert lab.bob.paths("@mine") == ["/patients/one"]
        assert lab.bob.lake("files", "versions", "/patients/one", None, 9).versions[0].creator == "bob"

    def test_a_url_gives_no_more_than_what_one_sees(self, lab: Lab) -> None:
        lab.admin.put("mixed", open__c=b"c" * 9, patients__nine=b"9" * 30)
        lab.restrict("/patients/", "ann")
        page = lab.bob.fetch("/open/c")
        place = page.files[0]
        assert f"first={place.offset}&last={place.offset + 8}" in page.objects[place.object]
        assert "first=" not in lab.ann.fetch("/open/c").objects[0]

    # -- who does what

    def test_who_may_read_may_not_write_and_is_told_so(self, lab: Lab) -> None:
        lab.restrict("@patients", "ann")
        lab.restrict("/patients/", "ann")
        tries: list[Callable[[], object]] = [
            lambda: lab.ann.put("patients", x=b"x"),
            lambda: lab.ann.put(None, patients__five=b"5"),
            lambda: lab.ann.create("patients", "@open"),
            lambda: lab.ann.run("patients", "open"),
            lambda: lab.ann.run("out", "open", output_root="/patients"),
            lambda: lab.ann.run("out", "open", output_root="/"),
            lambda: lab.ann.lake("aliases", "set", lab.ann.id, "patients:1", "paper"),
            lambda: lab.ann.lake("keeping", "change", lab.ann.id, "patients:1", RemoveFileSets()),
            lambda: lab.ann.lake("file_sets", "set_note", "patients:1", "note"),
            lambda: lab.ann.do(lab.lake.removals.remove, lab.ann.project, "/patients/one", undo=False),
            lambda: lab.ann.do(
                lab.lake.removals.remove_many, lab.ann.project, ["/open/a", "/patients/one"], undo=False
            ),
            lambda: lab.ann.do(
                lab.metadata.change,
                lab.ann.project,
                lab.ann.id,
                ChangeMetadata([ThingChange("patients:1", set={"a": 1})]),
            ),
        ]
        for attempt in tries:
            with pytest.raises(NotAllowed, match="You may not write"):
                attempt()
        lab.restrict("@patients", writers=("ann",))
        lab.restrict("/patients/", writers=("ann",))
        lab.ann.put("patients", patients__five=b"5")
        assert lab.ann.sets()["patients"] == 2

    def test_who_may_not_write_does_not_learn_whether_there_is_anything(self, lab: Lab) -> None:
        lab.restrict("@patients", "ann")
        lab.restrict("@not-there-yet", "ann")
        said = []
        for name in ("patients", "not-there-yet"):
            with pytest.raises(NotAllowed) as refused:
                lab.bob.create(name, "@open")
            said.append(refused.value.message.replace(name, "it"))
        assert said[0] == said[1]

    def test_groups_are_let_through(self, lab: Lab) -> None:
        groups = lab.people.groups
        groups.set(lab.admin.project, "clinic", ["bob"])
        lab.restrict("@patients", "group:clinic")
        assert ("patients" in lab.bob.sets(), "patients" in lab.ann.sets()) == (True, False)
        groups.set(lab.admin.project, "clinic", ["ann"])
        assert ("patients" in lab.bob.sets(), "patients" in lab.ann.sets()) == (False, True)
        lab.restrict("@patients", "bob", writers=("group:clinic",))
        lab.ann.put("patients", patients__six=b"6")
        groups.remove(lab.admin.project, "clinic")
        assert ("patients" in lab.bob.sets(), "patients" in lab.ann.sets()) == (True, False)
        with pytest.raises(GroupNotFound):
            groups.remove(lab.admin.project, "clinic")
        with pytest.raises(UserNotFound, match="group:clinic"):
            lab.restrict("@patients", "group:clinic")

    def test_who_left_the_project_is_not_let_through_when_they_are_back(self, lab: Lab) -> None:
        lab.restrict("@patients", "ann")
        me = lab.people.identify(LOCAL, None)
        lab.people.users.remove(me.project_id, "ann")
        lab.people.users.create(me, CreateUser("ann", Role.MEMBER))
        assert "patients" not in lab.ann.sets()

    def test_what_others_need_is_kept_and_not_named(self, lab: Lab) -> None:
        lab.restrict("@patients", "ann")
        lab.ann.create("merged", "@patients", "@open")
        lab.bob.lake("keeping", "change", lab.bob.id, "open", RemoveFileSets(files=True))
        assert "/open/a" in lab.ann.paths("@merged")
        with pytest.raises(Conflict, match="is in a file set that you do not see"):
            lab.bob.do(lab.lake.removals.remove, lab.bob.project, "/open/a", undo=False)
        with pytest.raises(NotAllowed, match="some of it is restricted"):
            lab.bob.do(lab.lake.collections.begin, lab.bob.project, lab.bob.id, CollectGarbage(dry_run=True))

    # -- lifting, and ending

    def test_what_is_lifted_is_open_with_what_was_made_of_it(self, lab: Lab) -> None:
        lab.restrict("@patients", "ann")
        lab.ann.run("sums", "patients")
        lab.ann.create("report", "@sums", "@open")
        lab.ann.run("raw", "patients")
        lab.lift("sums", "sums of a hundred at least")
        assert lab.bob.sets() == {"open": 1, "report": 1, "sums": 1}
        assert lab.bob.paths("/sums/") == ["/sums/out"]
        assert lab.bob.find(SubjectKind.JOB) == [], "what the job said stays closed"
        assert "patients" not in lab.bob.graph("sums")
        assert lab.bob.lake("file_sets", "get", "report").version == 1
        lab.ann.run("sums", "patients", content=b"more")
        assert lab.bob.sets()["sums"] == 2, "a name is lifted for all its versions"
        lifts = lab.admin.lake("restrictions", "lifts", NumberedQuery()).lifts
        assert [(one.file_set, one.reason, one.creator, one.ended_at) for one in lifts] == [
            ("sums", "sums of a hundred at least", "you", None)
        ]
        ended = lab.admin.lake("restrictions", "end_lift", "sums")
        assert ended.reason == "sums of a hundred at least"
        assert ended.ended_at is not None
        assert lab.admin.lake("restrictions", "lifts", NumberedQuery()).lifts == [ended]
        assert lab.bob.sets() == {"open": 1}
        with pytest.raises(Conflict, match="nothing is lifted of 'sums'"):
            lab.admin.lake("restrictions", "end_lift", "sums")

    def test_a_model_forgets_runs_that_become_restricted(self, lab: Lab) -> None:
        lab.restrict("@patients", "ann")
        lab.ann.create("sums", "@patients")
        lab.lift("sums")
        hidden = [lab.ann.run("raw", "sums", parameters={"epoch": epoch}) for epoch in (5, 6, 7, 8)]
        seen = [lab.bob.run("model", "open", parameters={"epoch": epoch}) for epoch in (1, 2, 3, 4)]
        prices = Prices(lab.database, PriceBook())
        provisioner = Provisioner(lab.database, prices, ResourceLimits(), tuple)

        def known(person: Person) -> list[int]:
            return sorted(run.job for run in person.do(provisioner.profile, person.project, "t").runs)

        assert known(lab.bob) == hidden + seen
        lab.admin.lake("restrictions", "end_lift", "sums")
        assert known(lab.bob) == seen
        assert known(lab.ann) == hidden + seen

    def test_one_version_can_be_lifted(self, lab: Lab) -> None:
        lab.restrict("/patients/", "ann")
        lab.ann.create("sample", "/patients/two")
        lab.ann.create("sample", "/patients/one")
        lab.admin.lake("aliases", "set", lab.admin.id, "sample:1", "small")
        lab.lift("sample:small")
        assert lab.bob.sets() == {"open": 1, "sample": 1}
        assert lab.bob.paths("@sample") == ["/patients/two"]
        assert lab.bob.paths() == ["/open/a", "/open/b"], "by its path the file stays closed"
        assert lab.admin.lake("restrictions", "end_lift", "sample:small").file_set == "sample:1"
        assert lab.bob.sets() == {"open": 1}

    def test_a_restricted_name_itself_is_not_lifted(self, lab: Lab) -> None:
        lab.restrict("@patients", "ann")
        lab.lift("patients")
        assert lab.bob.sets() == {"open": 1}

    def test_when_a_restriction_ends_all_is_as_it_was(self, lab: Lab) -> None:
        lab.restrict("@patients", "ann")
        lab.restrict("/patients/", "ann")
        lab.ann.run("model", "patients")
        lab.admin.lake("restrictions", "end", "@patients")
        assert "patients" not in lab.bob.sets()
        lab.admin.lake("restrictions", "end", "/patients")
        assert lab.bob.sets() == {"model": 1, "open": 1, "patients": 1}
        assert "/patients/one" in lab.bob.paths()
        assert lab.bob.find(SubjectKind.JOB) == ["1"]
        with pytest.raises(RestrictionNotFound):
            lab.admin.lake("restrictions", "end", "@patients")
        assert not lab.people.identify(LOCAL, None).has_restrictions

    def test_restrictions_are_listed_for_whom_they_let_through(self, lab: Lab) -> None:
        lab.restrict("@patients", "ann", writers=("bob",))
        lab.restrict("/clinic/", "ann")
        lab.ann.create("mine", "@patients")

        def listed(person: Person, file_set: str | None = None) -> list[str]:
            return [one.what for one in person.lake("restrictions", "listed", RestrictionQuery(file_set)).restrictions]

        assert listed(lab.ann) == listed(lab.admin) == ["@patients", "/clinic/"]
        assert listed(lab.bob) == ["@patients"]
        assert (listed(lab.ann, "mine"), listed(lab.ann, "open")) == (["@patients"], [])

    def test_lists_come_in_pages_that_together_have_what_one_sees(self, lab: Lab) -> None:
        whats = ["@open", "@patients", "/b/", "/a/", "/c/"]
        for what in whats:
            lab.restrict(what, *(() if what == "/b/" else ("ann",)))
        for person, seen in ((lab.admin, whats), (lab.ann, [one for one in whats if one != "/b/"]), (lab.bob, [])):
            whole = person.lake("restrictions", "listed", RestrictionQuery())
            assert (sorted(one.what for one in whole.restrictions), whole.next) == (sorted(seen), None)
            found: list[Any] = []
            after: str | None = ""
            while after is not None:
                page = person.lake("restrictions", "listed", RestrictionQuery(after=after, limit=2))
                found += page.restrictions
                after = page.next
            assert found == whole.restrictions
        derived = [lab.admin.create(f"made-{number}", "@patients") for number in range(3)]
        for name in derived:
            lab.lift(name)
        first = lab.admin.lake("restrictions", "lifts", NumberedQuery(limit=2))
        second = lab.admin.lake("restrictions", "lifts", NumberedQuery(before=first.next, limit=2))
        assert [one.file_set for one in first.lifts + second.lifts] == derived[::-1]
        assert (first.next, second.next) == (2, None)

    def test_a_project_has_so_many_restrictions_and_no_more(self, lab: Lab) -> None:
        lab.restrict("@patients", "ann")
        with lab.database.writing() as work:
            for number in range(MOST - 1):
                work.restrictions.add(lab.admin.project, "folder", f"/f{number}/", lab.admin.id, work.clock.now())
        with pytest.raises(TooManyKept, match="the project has 1000 restrictions, which is the most"):
            lab.restrict("/one-more/")
        lab.restrict("@patients", "bob")  # which is there already
        lab.admin.lake("restrictions", "end", "@patients")
        lab.restrict("/one-more/")

    def test_what_cannot_be_restricted_is_refused(self, lab: Lab) -> None:
        for what in ("", "@", "/", "//", "patients", "@patients:1", "@a/b", "/../x", "@latest"):
            with pytest.raises(BadRequest):
                lab.restrict(what, "ann")
        for name in ("a\0b", "", "group:", "group:a\0b"):
            with pytest.raises(BadRequest):
                lab.restrict("@patients", name)
        with pytest.raises(BadRequest):
            lab.people.groups.set(lab.admin.project, "clinic", ["a\0b"])
        with pytest.raises(BadRequest):
            lab.lift("open", "because\0")

    def test_one_project_knows_nothing_of_anothers(self, lab: Lab) -> None:
        lab.restrict("/open/")
        other = LakeUser(lab.database, lab.objects, "eve", "club")
        other.put({"/open/x": b"x"}, file_set="patients")
        assert other.named() == {"/open/x": 1}
        assert lab.people.sight_of(other.member) is None

    def test_who_sees_all_asks_as_before(self, lab: Lab) -> None:
        lab.restrict("@patients", "ann")
        sql = "SELECT name FROM file_set"
        assert lab.ann.do(sight.as_seen, sql, "main") is lab.admin.do(sight.as_seen, sql, "main") is sql
        assert lab.bob.do(sight.as_seen, sql, "main") != sql
        assert lab.bob.do(sight.as_seen, "UPDATE file_set SET latest = 1", "main").startswith("UPDATE")
