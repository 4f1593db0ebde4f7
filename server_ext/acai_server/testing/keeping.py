"""What the lake owes to who keeps file sets: aliases, notes, which version is the latest, deleting and coming back."""

from __future__ import annotations

from datetime import timedelta
from typing import TYPE_CHECKING

import pytest

from acai_jupyter.contract.errors import (
    AcaiError,
    BadRequest,
    BadSpec,
    Conflict,
    FileNotFound,
    FileSetNotFound,
    Outdated,
    TooManyKept,
)
from acai_jupyter.contract.filesets import RemovedFileSets, RemoveFileSets
from acai_jupyter.contract.jobs import CreateJob
from acai_jupyter.contract.metadata import FindThings
from acai_jupyter.contract.queries import NeighbourhoodQuery
from acai_jupyter.contract.query.builtin import SubjectKind
from acai_jupyter.contract.specs import parse_set
from acai_jupyter.contract.states import ActionKind, InputRole, JobState
from acai_server.engine.registry import Registry
from acai_server.lake import inside, keeping
from acai_server.lake.aliases import MOST
from acai_server.lake.commits import CODE_FOLDER
from acai_server.metadata.service import Attributes
from acai_server.metadata.things import find_thing
from acai_server.provenance.service import Provenance
from acai_server.testing.databases import at_once
from acai_server.testing.lakes import EVERYTHING, LakeUser, check_lake
from acai_server.testing.uploads import LakeSuite

if TYPE_CHECKING:
    from collections.abc import Callable

    from acai_jupyter.contract.events import Event
    from acai_jupyter.contract.filesets import AliasPage, FileSet
    from acai_jupyter.contract.ids import JobId, ProjectId, UserId
    from acai_server.runners.protocol import Runner

ROLES = InputRole.DATA, InputRole.CODE


# -- what people do


def me(user: LakeUser) -> tuple[ProjectId, UserId]:
    """Return a user with the project."""
    return user.member.project_id, user.member.user_id


def make(user: LakeUser, name: str, **files: str) -> str:
    """Make the next version of a set, of files at the root; returns how it is written."""
    made = user.put({f"/{path}": body.encode() for path, body in files.items()}, file_set=name, only_changed=True)
    assert made.file_set is not None
    return made.file_set


def remove(user: LakeUser, text: str, *, files: bool = False) -> RemovedFileSets:
    """Delete a version or a name."""
    return user.lake.keeping.change(*me(user), text, RemoveFileSets(files=files))


def undo(user: LakeUser, text: str) -> RemovedFileSets:
    """Bring a version or a name back."""
    return user.lake.keeping.change(*me(user), text, RemoveFileSets(undo=True))


def alias(user: LakeUser, ref: str, name: str) -> FileSet:
    """Let an alias stand for a version."""
    return user.lake.aliases.set(*me(user), ref, name)


def unalias(user: LakeUser, text: str, name: str) -> AliasPage:
    """Take an alias away."""
    return user.lake.aliases.remove(*me(user), text, name)


def get(user: LakeUser, ref: str) -> FileSet:
    """Return a version."""
    return user.lake.file_sets.get(user.member.project_id, ref)


def listed(user: LakeUser, limit: int = 2) -> list[FileSet]:
    """Return the newest version of each name, as a listing in pages says."""
    found: list[FileSet] = []
    after: str | None = ""
    while after is not None:
        page = user.lake.file_sets.page(user.member.project_id, after, limit)
        assert len(page.file_sets) <= limit
        found += page.file_sets
        after = page.next
    return found


def versions(user: LakeUser, name: str, limit: int = 2) -> list[FileSet]:
    """Return all versions of a name, the newest first, as a listing in pages says."""
    found: list[FileSet] = []
    before: int | None = EVERYTHING
    while before is not None:
        page = user.lake.file_sets.versions(user.member.project_id, name, before, limit)
        assert len(page.file_sets) <= limit
        found += page.file_sets
        before = page.next
    return found


def alive(user: LakeUser, name: str) -> list[int]:
    """Return the numbers of a name's versions that are not deleted."""
    return [one.version for one in versions(user, name) if one.deleted_at is None]


def history(user: LakeUser, name: str, limit: int = 2) -> list[tuple[str, int | None]]:
    """Return what was changed of a name's aliases, from the first on, as a listing in pages says."""
    found: list[tuple[str, int | None]] = []
    before: int | None = None
    while True:
        page = user.lake.aliases.page(user.member.project_id, name, before, limit)
        found += [(one.alias, one.version) for one in page.changes]
        before = page.next
        if before is None:
            return found[::-1]


def standing(user: LakeUser, name: str) -> dict[str, int]:
    """Return what a name's aliases are now."""
    return user.lake.aliases.page(user.member.project_id, name, None, 1).aliases


def searched(user: LakeUser, query: str, kind: SubjectKind = SubjectKind.FILE_SET) -> list[str]:
    """Return what a search finds."""
    things = Attributes(user.database, user.lake.files)
    rows = things.find(user.member.project_id, FindThings(kind, query, limit=EVERYTHING)).rows
    return sorted(one.thing for one in rows)


def told(user: LakeUser, kind: str) -> list[Event]:
    """Return the events of a kind."""
    with user.database.reading() as work:
        events = work.events.after(user.member.project_id, 0, EVERYTHING).events
    return [event for event in events if event.kind == kind]


def begin_job(user: LakeUser, *inputs: str, role: InputRole = InputRole.DATA) -> JobId:
    """Write a queued job with inputs."""
    project, owner = me(user)
    with user.database.writing() as work:
        sets = [(work.file_sets.find(project, parse_set(ref)).id, role) for ref in inputs]
        return work.jobs.create(project, owner, CreateJob(["true"]), sets, work.clock.now()).id


def end_job(user: LakeUser, job: JobId) -> None:
    """Kill a job."""
    with user.database.writing() as work:
        assert work.jobs.advance(job, JobState.KILLED, "", work.clock.now())


class AnyMachine:
    """A runner that can hold anything, and runs nothing."""

    def refuses(self, *_: object, **__: object) -> str:
        """Return that nothing stands against a job."""
        return ""


def registry(user: LakeUser) -> Registry:
    """Return what takes jobs in."""
    runner: Runner = AnyMachine()  # type: ignore[assignment]  # it is asked for its size only
    return Registry(user.database, inside, runner)


def tried(act: Callable[[], object]) -> object:
    """Return what an act returns, or the error that it is refused with."""
    try:
        return act()
    except (Conflict, FileNotFound, FileSetNotFound) as error:
        return error


def collect(user: LakeUser, ref: str) -> None:
    """Mark a deleted version as one whose manifest may be gone."""
    with user.database.writing() as work:
        stored = work.file_sets.find(user.member.project_id, parse_set(ref), or_deleted=True)
        dead = [one for one in work.sweeping.dead_sets(user.member.project_id, work.clock.now()) if one.id == stored.id]
        work.sweeping.collect_sets(dead, work.clock.now())


def together(*acts: Callable[[], object]) -> list[object]:
    """Do things at once; returns what became of each."""
    return at_once(len(acts), lambda which: tried(acts[which]))


# -- what they may expect


class AliasSuite(LakeSuite):
    """Names for versions."""

    def test_an_alias_stands_for_its_version_wherever_a_version_is_named(self, user: LakeUser) -> None:
        make(user, "train", a="1")
        make(user, "train", a="2")
        assert alias(user, "train:1", "paper").ref == "train:1"
        assert (get(user, "train:paper").version, get(user, "train").version) == (1, 2)
        assert user.read("@train:paper") == {"/a": b"1"}
        assert user.read("/a@train:paper") == {"/a": b"1"}
        assert user.children("/", "train:paper") == ["a"]
        with user.database.reading() as work:
            assert find_thing(work, user.member.project_id, "train:paper").name == "train:1"
            assert find_thing(work, user.member.project_id, "@train:paper").name == "train:1"
        job = registry(user).submit(*me(user), CreateJob(["true"], inputs=["train:paper"]))
        assert job.inputs == ["train:1"]
        alias(user, "train:2", "paper")
        assert user.read("@train:paper") == {"/a": b"2"}
        assert searched(user, "input = 'train:1'", SubjectKind.JOB) == ["1"]
        assert searched(user, "input = 'train:paper'", SubjectKind.JOB) == []

    def test_a_name_has_so_many_aliases_and_no_more(self, user: LakeUser) -> None:
        make(user, "s", a="1")
        make(user, "s", a="2")
        alias(user, "s:1", "first")
        project = user.member.project_id
        with user.database.writing() as work:
            name = work.file_sets.name(project, "s")
            assert name is not None
            for number in range(MOST - 1):
                work.aliases.add(name.id, f"a{number}", 1, user.member.user_id, work.clock.now())
        with pytest.raises(TooManyKept, match="s has 1000 aliases, which is the most"):
            alias(user, "s:1", "more")
        alias(user, "s:2", "first")  # which is there already
        unalias(user, "s", "first")
        alias(user, "s:1", "more")

    def test_changes_of_aliases_are_numbered_by_their_name(self, user: LakeUser) -> None:
        for name in ("s", "t"):
            make(user, name, a=name)
        for number in range(3):
            alias(user, "s:1", f"of-s-{number}")
            alias(user, "t:1", f"of-t-{number}")
        for name in ("s", "t"):
            page = user.lake.aliases.page(user.member.project_id, name, None, 10)
            assert [one.number for one in page.changes] == [3, 2, 1]

    def test_sets_are_shown_with_their_aliases(self, user: LakeUser) -> None:
        make(user, "s", a="1")
        make(user, "s", a="2")
        make(user, "t", a="1")
        for ref, name in (("s:1", "old"), ("s:2", "paper"), ("s:2", "best"), ("t:1", "paper")):
            alias(user, ref, name)
        assert {one.ref: one.aliases for one in listed(user)} == {"s:2": ["best", "paper"], "t:1": ["paper"]}
        assert [one.aliases for one in versions(user, "s")] == [["best", "paper"], ["old"]]
        assert get(user, "s:old").aliases == ["old"]
        assert make(user, "s", a="3") == "s:3"
        assert get(user, "s").aliases == []
        nodes = (
            Provenance(user.database, user.lake.files, user.lake.composing)
            .neighbourhood(user.member.project_id, "s:1", NeighbourhoodQuery())
            .nodes
        )
        assert [(node.ref, node.file_set.aliases) for node in nodes] == [("s:1", ["old"])]

    def test_an_alias_is_set_by_way_of_latest_or_of_another_alias(self, user: LakeUser) -> None:
        make(user, "s", a="1")
        make(user, "s", a="2")
        alias(user, "s:latest", "one")
        assert alias(user, "s:one", "two").aliases == ["one", "two"]
        assert alias(user, "s", "three").aliases == ["one", "three", "two"]
        assert standing(user, "s") == {"one": 2, "two": 2, "three": 2}

    def test_capitals_count_in_names_and_aliases(self, user: LakeUser) -> None:
        for name, body in (("train", "1"), ("Train", "2"), ("train", "3")):
            make(user, name, a=body)
        alias(user, "train:1", "paper")
        alias(user, "train:2", "Paper")
        refs = ("train:paper", "Train", "train:Paper")
        assert [user.read(f"@{ref}") for ref in refs] == [{"/a": b"1"}, {"/a": b"2"}, {"/a": b"3"}]
        with pytest.raises(FileSetNotFound, match=r"Did you mean (train|Train) \(latest: "):
            get(user, "TRAIN")

    def test_the_same_again_changes_nothing_and_writes_no_history(self, user: LakeUser) -> None:
        make(user, "s", a="1")
        for _ in range(3):
            alias(user, "s:1", "x")
        assert history(user, "s") == [("x", 1)]
        assert len(told(user, "alias_changed")) == 1

    def test_what_an_alias_stood_for_is_kept_with_who_and_when(self, user: LakeUser) -> None:
        make(user, "s", a="1")
        make(user, "s", a="2")
        her = user.beside("her")
        alias(user, "s:1", "x")
        alias(her, "s:2", "x")
        alias(user, "s:1", "y")
        page = unalias(user, "s", "x")
        assert (page.aliases, page.next) == ({"y": 1}, None)
        assert [(one.alias, one.version, one.creator) for one in page.changes] == [
            ("x", None, "you"),
            ("y", 1, "you"),
            ("x", 2, "her"),
            ("x", 1, "you"),
        ]
        assert [one.at for one in page.changes] == sorted((one.at for one in page.changes), reverse=True)
        assert history(user, "s") == [("x", 1), ("x", 2), ("y", 1), ("x", None)]
        events = [(one.subject, one.details) for one in told(user, "alias_changed")]
        assert events == [
            ("s:x", {"version": 1, "was": None, "user": "you"}),
            ("s:x", {"version": 2, "was": 1, "user": "her"}),
            ("s:y", {"version": 1, "was": None, "user": "you"}),
            ("s:x", {"version": None, "was": 2, "user": "you"}),
        ]

    def test_an_alias_that_is_not_there_is_said_with_those_that_are(self, user: LakeUser) -> None:
        make(user, "s", a="1")
        said = r"'s:nope'\. It has no aliases\. The latest is 's:1'\.$"
        with pytest.raises(FileSetNotFound, match=said):
            get(user, "s:nope")
        with pytest.raises(FileSetNotFound, match=said):
            alias(user, "s:nope", "x")
        with pytest.raises(FileSetNotFound, match=r"^s has no alias 'nope'\. It has no aliases\.$"):
            unalias(user, "s", "nope")
        alias(user, "s:1", "paper")
        with pytest.raises(FileSetNotFound, match=r"^s has no alias 'nope'\. Its aliases are 'paper' \(s:1\)\.$"):
            unalias(user, "s", "nope")
        with pytest.raises(
            FileSetNotFound, match=r"'s:nope'\. Its aliases are 'paper' \(s:1\)\. The latest is 's:1'\."
        ):
            get(user, "s:nope")
        unalias(user, "s", "paper")
        with pytest.raises(FileSetNotFound, match="It has no aliases"):
            get(user, "s:paper")
        assert history(user, "s") == [("paper", 1), ("paper", None)]

    @pytest.mark.parametrize("name", ["latest", "1", "2x", "-x", "a:b", "a/b", "", "é", "x" * 129, "a b"])
    def test_what_cannot_be_an_alias_is_refused(self, user: LakeUser, name: str) -> None:
        make(user, "s", a="1")
        for ask in (lambda: alias(user, "s:1", name), lambda: unalias(user, "s", name)):
            with pytest.raises(BadRequest, match="cannot be an alias"):
                ask()
        assert history(user, "s") == []

    @pytest.mark.parametrize(
        ("ref", "error"), [("s:2", FileSetNotFound), ("t", FileSetNotFound), ("s:0", BadSpec), ("", BadSpec)]
    )
    def test_an_alias_of_what_is_not_there_is_refused(self, user: LakeUser, ref: str, error: type[AcaiError]) -> None:
        make(user, "s", a="1")
        with pytest.raises(error):
            alias(user, ref, "x")
        assert history(user, "s") == []

    def test_aliases_and_versions_are_asked_of_a_name(self, user: LakeUser) -> None:
        make(user, "s", a="1")
        project = user.member.project_id
        for ask in (
            lambda text: user.lake.aliases.page(project, text, None, 1),
            lambda text: user.lake.file_sets.versions(project, text, None, 1),
            lambda text: unalias(user, text, "x"),
        ):
            with pytest.raises(BadRequest, match="write 's' without ':1'"):
                ask("s:1")
            with pytest.raises(FileSetNotFound, match=r"Did you mean s \(latest: s:1\)"):
                ask("ss")

    def test_many_that_set_one_alias_at_once_make_one_history_in_order(self, user: LakeUser) -> None:
        count = 10
        for number in range(1, count + 1):
            make(user, "s", a=str(number))
        at_once(count, lambda number: alias(user.beside(f"u{number}"), f"s:{number + 1}", "x"))
        seen = history(user, "s", 100)
        assert sorted(seen) == [("x", number) for number in range(1, count + 1)]
        assert standing(user, "s") == {"x": seen[-1][1]}
        told_of = [(one.details["was"], one.details["version"]) for one in told(user, "alias_changed")]
        assert told_of == list(
            zip([None, *(number for _, number in seen)], (number for _, number in seen), strict=False)
        )


class NoteSuite(LakeSuite):
    """Notes."""

    def test_a_note_stays_with_its_version(self, user: LakeUser) -> None:
        make(user, "s", a="1")
        make(user, "s", a="2")
        text = "# Ünï\n\n*cleaned* by hand"
        assert user.lake.file_sets.set_note(user.member.project_id, "s:1", text).note == text
        assert [one.note for one in versions(user, "s")] == ["", text]
        assert listed(user)[0].note == ""
        assert [one.subject for one in told(user, "file_set_changed")] == ["s:1"]
        user.lake.file_sets.set_note(user.member.project_id, "s:1", text)
        assert len(told(user, "file_set_changed")) == 1
        assert user.lake.file_sets.set_note(user.member.project_id, "s:1", "").note == ""

    def test_a_note_that_cannot_be_kept_is_refused(self, user: LakeUser) -> None:
        make(user, "s", a="1")
        with pytest.raises(BadRequest, match="NUL"):
            user.lake.file_sets.set_note(user.member.project_id, "s:1", "a\0b")
        with pytest.raises(FileSetNotFound):
            user.lake.file_sets.set_note(user.member.project_id, "s:7", "x")

    def test_a_note_is_written_only_over_the_one_that_is_expected(self, user: LakeUser) -> None:
        make(user, "s", a="1")
        project, sets = user.member.project_id, user.lake.file_sets
        assert sets.set_note(project, "s:1", "first", "").note == "first"
        with pytest.raises(Outdated, match="'note' of s:1 was not changed: somebody set it to 'first'"):
            sets.set_note(project, "s:1", "second", "")

        def write(number: int) -> bool:
            try:
                return bool(sets.set_note(project, "s:1", f"of {number}", "first"))
            except Outdated:
                return False

        written = at_once(6, write)
        assert written.count(True) == 1
        assert listed(user)[0].note == f"of {written.index(True)}"
        assert len(told(user, "file_set_changed")) == 2


class RemovalSuite(LakeSuite):
    """Tombstones, and what is the latest."""

    def test_latest_is_the_newest_version_that_is_not_deleted(self, user: LakeUser) -> None:
        for body in "123":
            make(user, "s", a=body)
        done = remove(user, "s:3")
        assert (done.file_sets, done.file_versions) == (["s:3"], 0)
        assert done.undo_until is not None
        assert get(user, "s").ref == get(user, "s:latest").ref == "s:2"
        assert [one.ref for one in listed(user)] == ["s:2"]
        assert (user.read("@s"), user.read()) == ({"/a": b"2"}, {"/a": b"3"})
        assert searched(user, "latest = true") == ["s:2"]
        assert searched(user, "name = 's'") == ["s:1", "s:2"]
        remove(user, "s:1")
        assert (get(user, "s").ref, alive(user, "s")) == ("s:2", [2])
        assert make(user, "s", a="4") == "s:4"
        assert searched(user, "latest = true") == ["s:4"]
        remove(user, "s:latest")
        assert (get(user, "s").ref, make(user, "s", a="5")) == ("s:2", "s:5")
        check_lake(user)

    def test_a_name_whose_versions_are_all_deleted_is_not_there_and_its_numbers_are_not_used_again(
        self, user: LakeUser
    ) -> None:
        for body in "12":
            make(user, "s", a=body)
        make(user, "t", a="1")
        assert remove(user, "s").file_sets == ["s:2", "s:1"]
        assert [one.ref for one in listed(user)] == ["t:1"]
        assert searched(user, "latest = true") == ["t:1"]
        for spec in ("@s", "/a@s", "@s:latest"):
            with pytest.raises(FileSetNotFound, match=r"All its versions were deleted; .* acai fileset rm --undo s"):
                user.entries(spec)
        assert [one.deleted_at is None for one in versions(user, "s")] == [False, False]
        assert make(user, "s", a="3") == "s:3"
        assert get(user, "s").ref == "s:3"
        check_lake(user)

    def test_the_content_of_a_deleted_version_makes_a_new_one(self, user: LakeUser) -> None:
        make(user, "s", a="1")
        remove(user, "s:1")
        assert make(user, "s", a="1") == "s:2"
        assert make(user, "s", a="1") == "s:2"

    def test_a_deleted_version_is_said_to_be_deleted_with_the_way_back(self, user: LakeUser) -> None:
        make(user, "s", a="1")
        make(user, "s", a="2")
        remove(user, "s:1")
        said = r"There is no file set 's:1'. It was deleted; bring it back with acai fileset rm --undo s:1\.$"
        for spec in ("@s:1", "/a@s:1"):
            with pytest.raises(FileSetNotFound, match=said):
                user.fetch(spec)
        for ask in (get, lambda user, ref: alias(user, ref, "x"), begin_job):
            with pytest.raises(FileSetNotFound, match=said):
                ask(user, "s:1")
        with pytest.raises(FileSetNotFound, match=said):
            registry(user).submit(*me(user), CreateJob(["true"], inputs=["s:1"]))
        with pytest.raises(FileSetNotFound, match="The latest is 's:2'"):
            get(user, "s:3")

    def test_deleting_again_and_bringing_back_again_change_nothing(self, user: LakeUser) -> None:
        make(user, "s", a="1")
        make(user, "s", a="2")
        assert undo(user, "s:1") == undo(user, "s") == RemovedFileSets([], 0)
        remove(user, "s:1")
        assert remove(user, "s:1") == RemovedFileSets([], 0)
        assert remove(user, "s").file_sets == ["s:2"]
        assert remove(user, "s") == RemovedFileSets([], 0)
        assert undo(user, "s").file_sets == ["s:2", "s:1"]
        assert undo(user, "s") == RemovedFileSets([], 0)
        assert [len(told(user, kind)) for kind in ("file_sets_removed", "file_sets_restored")] == [2, 1]

    @pytest.mark.parametrize(
        ("text", "error"),
        [("t", FileSetNotFound), ("s:2", FileSetNotFound), ("s:x", FileSetNotFound), ("s:0", BadSpec), ("@s", BadSpec)],
    )
    def test_what_is_not_there_cannot_be_deleted(self, user: LakeUser, text: str, error: type[AcaiError]) -> None:
        make(user, "s", a="1")
        for act in (remove, undo):
            with pytest.raises(error):
                act(user, text)
        assert alive(user, "s") == [1]

    def test_until_when_it_can_come_back_is_said(self, user: LakeUser) -> None:
        make(user, "s", a="1")
        done = remove(user, "s:1")
        deleted_at = versions(user, "s")[0].deleted_at
        assert deleted_at is not None
        assert done.undo_until == deleted_at + keeping.GRACE
        make(user, "s", a="2")
        brief = keeping.Keeping(user.database, grace=timedelta(minutes=1))
        again = brief.change(*me(user), "s:2", RemoveFileSets())
        deleted_at = versions(user, "s")[0].deleted_at
        assert deleted_at is not None
        assert again.undo_until == deleted_at + timedelta(minutes=1)

    def test_what_is_done_is_told(self, user: LakeUser) -> None:
        make(user, "s", a="1")
        make(user, "s", a="2")
        remove(user, "s:1")
        remove(user.beside("her"), "s")
        undo(user, "s")
        events = [(one.subject, one.details) for one in told(user, "file_sets_removed")]
        assert events == [
            ("s:1", {"file_sets": ["s:1"], "count": 1, "user": "you"}),
            ("s:2", {"file_sets": ["s:2"], "count": 1, "user": "her"}),
        ]
        events = [(one.subject, one.details) for one in told(user, "file_sets_restored")]
        assert events == [("s", {"file_sets": ["s:2", "s:1"], "count": 2, "user": "you"})]

    def test_what_has_an_alias_cannot_be_deleted(self, user: LakeUser) -> None:
        make(user, "s", a="1")
        make(user, "s", a="2")
        alias(user, "s:1", "paper")
        for text in ("s:1", "s", "s:paper"):
            with pytest.raises(Conflict, match=r"'s:1' has the alias 'paper'; .* acai fileset alias s paper --remove"):
                remove(user, text)
        assert alive(user, "s") == [2, 1]
        alias(user, "s:2", "paper")
        assert remove(user, "s:1").file_sets == ["s:1"]
        unalias(user, "s", "paper")
        assert remove(user, "s").file_sets == ["s:2"]

    @pytest.mark.parametrize("role", ROLES)
    def test_what_an_open_job_uses_cannot_be_deleted(self, user: LakeUser, role: InputRole) -> None:
        make(user, "s", a="1")
        make(user, "s", a="2")
        job = begin_job(user, "s:1", role=role)
        for text in ("s:1", "s"):
            with pytest.raises(Conflict, match="job 1, which has not ended, uses 's:1'"):
                remove(user, text)
        assert remove(user, "s:2").file_sets == ["s:2"]
        end_job(user, job)
        assert remove(user, "s").file_sets == ["s:1"]
        with user.database.reading() as work:
            shown = work.shown_jobs.find(user.member.project_id, 1)
        assert [*shown.inputs, shown.code] == (["s:1", None] if role is InputRole.DATA else ["s:1"])
        query = "input = 's:1'" if role is InputRole.DATA else "state = 'killed'"
        assert searched(user, query, SubjectKind.JOB) == ["1"]

    def test_a_set_of_programs_is_deleted_when_it_is_named_and_keeps_its_role(self, user: LakeUser) -> None:
        user.put({f"{CODE_FOLDER}train.py/train.py": b"1"}, file_set="train.py")
        assert (listed(user), get(user, "train.py").role) == ([], InputRole.CODE)
        remove(user, "train.py")
        with pytest.raises(FileSetNotFound, match="deleted"):
            get(user, "train.py")
        with pytest.raises(Conflict, match="taken by a set of role code"):
            make(user, "train.py", a="1")
        undo(user, "train.py")
        assert get(user, "train.py").role is InputRole.CODE

    def test_provenance_shows_what_is_deleted(self, user: LakeUser) -> None:
        make(user, "s", a="1")
        make(user, "t", a="1")
        project, owner = me(user)
        with user.database.writing() as work:
            s, t = (work.file_sets.find(project, parse_set(ref)).id for ref in ("s:1", "t:1"))
            made = work.file_sets.add(
                project, owner, "u", InputRole.DATA, root=b"", file_count=0, size_bytes=0, now=work.clock.now()
            )
            data = [(s, InputRole.DATA), (t, InputRole.DATA)]
            work.actions.add(project, owner, ActionKind.CREATION, data, made.id, work.clock.now())
        for ref in ("s:1", "u:1"):
            remove(user, ref)
        graph = Provenance(user.database, user.lake.files, user.lake.composing).neighbourhood(
            project, "u:1", NeighbourhoodQuery()
        )
        assert [(node.ref, node.file_set.deleted_at is None) for node in graph.nodes] == [
            ("u:1", False),
            ("s:1", False),
            ("t:1", True),
        ]
        with pytest.raises(FileSetNotFound):
            Provenance(user.database, user.lake.files, user.lake.composing).neighbourhood(
                project, "u:2", NeighbourhoodQuery()
            )


class NamesSuite(AliasSuite, NoteSuite, RemovalSuite):
    """All that is no matter of files."""
