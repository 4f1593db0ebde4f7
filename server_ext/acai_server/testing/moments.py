"""What file sets made of sources owe when others are at work: one moment, versions without gaps, nothing lost."""

from __future__ import annotations

from contextlib import contextmanager
from itertools import count
from typing import TYPE_CHECKING

import pytest
from sqlalchemy import event

from acai_jupyter.contract.errors import Conflict, FileNotFound, FileSetNotFound
from acai_jupyter.contract.filesets import AsOf, Matching, RemoveFileSets
from acai_jupyter.contract.states import InputRole
from acai_server.lake.composing import TRIES
from acai_server.lake.filesets import add_version
from acai_server.testing.composers import content, create, inputs, recorded, resolve
from acai_server.testing.databases import at_once
from acai_server.testing.lakes import check_lake, engine_of, meanwhile
from acai_server.testing.uploads import LakeSuite

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from sqlalchemy.engine import Connection

    from acai_server.db.database import Database
    from acai_server.testing.lakes import LakeUser

AT_ONCE = 8


@contextmanager
def overtaking(database: Database, act: Callable[[int], object]) -> Iterator[None]:
    """Let something happen before each transaction that writes begins, except its own."""
    engine, numbers, acting = engine_of(database), count(1), False

    def connect(connection: Connection) -> None:
        nonlocal acting
        if not acting and connection.get_execution_options().get("acai_writes"):
            acting = True
            act(next(numbers))
            acting = False

    event.listen(engine, "engine_connect", connect)
    try:
        yield
    finally:
        event.remove(engine, "engine_connect", connect)


class MomentSuite(LakeSuite):
    """Which moment a set is of, and who comes first."""

    def test_pages_are_of_one_moment(self, user: LakeUser) -> None:
        before = {f"/d/{number}": b"1" for number in range(6)}
        user.put(before, file_set="A")
        wanted = content(user, "/d/", "@A")
        first = resolve(user, "/d/", "@A", limit=2)
        user.put({"/d/3": b"2", "/d/9": b"new"}, file_set="A")
        user.put({"/d/5": b"2"})
        user.put({"/d/4": b"2"})
        user.remove("/d/4:2")
        assert content(user, *first.pinned) == wanted
        assert content(user, "/d/") != wanted
        assert first.pinned == [AsOf("/d/", 1), "@A:1"]

    def test_a_file_that_was_deleted_since_is_in_no_new_set(self, user: LakeUser) -> None:
        user.put({"/d/1": b"1", "/d/2": b"2"})
        pinned = resolve(user, "/d").pinned
        user.remove("/d/2")
        assert content(user, *pinned) == {"/d/1": 1, "/d/2": 1}
        with pytest.raises(FileNotFound, match="It was deleted; bring it back with acai rm --undo /d/2:1"):
            create(user, "s", *pinned)
        user.remove("/d/2", undo=True)
        assert create(user, "s", *pinned).file_set.file_count == 2

    def test_an_alias_is_the_version_it_stands_for(self, user: LakeUser) -> None:
        user.put({"/x": b"1"}, file_set="train")
        user.put({"/x": b"2"}, file_set="train")
        user.lake.aliases.set(user.member.project_id, user.member.user_id, "train:1", "paper")
        page = resolve(user, "@train:paper")
        assert (page.pinned, page.made_from) == (["@train:1"], ["train:1"])
        assert create(user, "s", "/x@train:paper").made_from == ["train:1"]

    def test_what_the_system_made_is_a_source_and_no_name_for_others(self, user: LakeUser) -> None:
        user.put({"/x": b"1"}, file_set="s")
        with user.database.writing() as work:
            me = user.member.project_id, user.member.user_id
            add_version(work, *me, "code", InputRole.CODE, user.entries("@s"))
        before = recorded(user)
        with pytest.raises(Conflict, match="'code' is taken by a set of role code"):
            create(user, "code", "@s")
        assert recorded(user) == before
        assert create(user, "t", "@code").made_from == ["code:1"]

    def test_sets_that_are_updated_at_once_lose_nothing(self, user: LakeUser) -> None:
        user.put({f"/f/{number}": b"%d" % number for number in range(AT_ONCE)})
        user.put({"/x": b"1"}, file_set="A")
        at_once(AT_ONCE, lambda number: create(user.elsewhere(), "A", "@A", f"/f/{number}"))
        assert content(user, "@A") == {"/x": 1} | {f"/f/{number}": 1 for number in range(AT_ONCE)}
        for number in range(2, AT_ONCE + 2):
            assert inputs(user, f"A:{number}")[1] == [f"A:{number - 1}"]
            assert len(content(user, f"@A:{number}")) == number
        check_lake(user)

    def test_names_that_are_made_at_once_count_from_one(self, user: LakeUser) -> None:
        user.put({f"/f/{number}": b"%d" % number for number in range(AT_ONCE)})
        made = at_once(AT_ONCE, lambda number: create(user.elsewhere(), "fresh", f"/f/{number}"))
        assert sorted(one.file_set.version for one in made) == list(range(1, AT_ONCE + 1))

    def test_the_latest_that_moves_meanwhile_is_looked_up_again(self, user: LakeUser) -> None:
        user.put({"/x": b"1", "/f": b"f"}, file_set="A")
        with meanwhile(user.database, lambda: user.put({"/y": b"new"}, file_set="A")):
            made = create(user, "B", "@A", "/f")
        assert (made.made_from, content(user, "@B")) == (["A:2"], {"/f": 1, "/y": 1})

    def test_who_is_overtaken_again_and_again_looks_it_up_while_others_wait(self, user: LakeUser) -> None:
        user.put({"/x": b"0"}, file_set="A")
        with overtaking(user.database, lambda number: user.put({"/x": b"%d" % number}, file_set="A")):
            made = create(user, "B", "@A")
        assert made.made_from == [f"A:{1 + TRIES + 1}"]

    @pytest.mark.parametrize("source", ["/d/x", "/d/", "/"])
    def test_a_file_that_changes_meanwhile_is_looked_up_again(self, user: LakeUser, source: str) -> None:
        user.put({"/d/x": b"1"})
        with meanwhile(user.database, lambda: user.put({"/d/x": b"2"})):
            create(user, "B", source)
        assert content(user, "@B") == {"/d/x": 2}

    @pytest.mark.parametrize("source", ["/d/x:2", "/d/x", "/d/"])
    def test_a_file_that_is_deleted_meanwhile_is_in_no_set(self, user: LakeUser, source: str) -> None:
        user.put({"/d/x": b"1"})
        user.put({"/d/x": b"2"})
        before = recorded(user)[:3]
        with meanwhile(user.database, lambda: user.remove("/d/x:2")):
            if ":" in source:
                with pytest.raises(FileNotFound, match="It was deleted; bring it back"):
                    create(user, "B", source)
                assert recorded(user)[:3] == before
            else:
                create(user, "B", source)
                assert content(user, "@B") == {"/d/x": 1}
        check_lake(user)

    def test_a_set_that_is_deleted_meanwhile_is_no_source(self, user: LakeUser) -> None:
        user.put({"/x": b"1"}, file_set="A")
        me = user.member.project_id, user.member.user_id
        gone = lambda: user.lake.keeping.change(*me, "A", RemoveFileSets())  # noqa: E731
        with meanwhile(user.database, gone), pytest.raises(FileSetNotFound):
            create(user, "B", "@A:1")

    def test_other_commits_meanwhile_do_not_matter(self, user: LakeUser) -> None:
        user.put({"/d/x": b"1", "/e": b"1"}, file_set="A")
        with meanwhile(user.database, lambda: user.put({"/other": b"2"})):
            create(user, "B", "/d/", "/e:1", "@A")
        assert content(user, "@B") == {"/d/x": 1, "/e": 1}

    def test_what_is_large_is_stored_ahead(self, user: LakeUser) -> None:
        files = {f"/big/{number:05}": b"1" for number in range(9000)}
        user.put(files)
        made = create(user, "B", Matching(["/"], "/**/*[02468]"))
        assert made.file_set.file_count == 4500
        assert list(content(user, "@B")) == [path for path in files if int(path[-1]) % 2 == 0]

    def test_a_note_and_what_has_not_changed(self, user: LakeUser) -> None:
        user.put({"/x": b"1"})
        made = create(user, "s", "/x", note="*first*")
        assert (made.file_set.note, made.is_new, made.file_set.ref) == ("*first*", True, "s:1")
        before = recorded(user)
        again = create(user, "s", "/x:1", note="other", if_changed=True)
        assert (again.file_set, again.is_new) == (made.file_set, False)
        assert recorded(user) == before
        assert create(user, "s", "/x").file_set.ref == "s:2"
