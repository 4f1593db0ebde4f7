"""What the lake owes to a project's rules: what they keep, what they do not, and that nothing else goes."""

from __future__ import annotations

from datetime import datetime, timedelta
from functools import partial
from typing import TYPE_CHECKING

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from acai_jupyter.contract.errors import BadRequest
from acai_jupyter.contract.filesets import Retention
from acai_jupyter.contract.query.builtin import SubjectKind
from acai_server.lake.commits import CODE_FOLDER
from acai_server.lake.retention import Outdated
from acai_server.metadata.things import find_thing
from acai_server.testing.keeping import (
    alias,
    alive,
    begin_job,
    end_job,
    get,
    make,
    me,
    remove,
    together,
    told,
    undo,
    versions,
)
from acai_server.testing.lakes import check_lake
from acai_server.testing.uploads import LakeSuite

if TYPE_CHECKING:
    from collections.abc import Sequence

    from acai_server.testing.lakes import LakeUser


def keep(user: LakeUser, last: int | None = None, days: float | None = None, *, files: bool = False) -> None:
    """Give the project rules."""
    rules = Retention(last, days, files)
    assert user.lake.retention.set(*me(user), rules) == user.lake.retention.get(user.member.project_id) == rules


def follow(user: LakeUser) -> Outdated:
    """Bury what the rules do not keep, which is what was announced."""
    announced = user.lake.retention.outdated(user.member.project_id)
    done = user.lake.retention.bury_outdated(*me(user))
    assert done == announced
    assert user.lake.retention.outdated(user.member.project_id) == Outdated()
    return done


def label(user: LakeUser, thing: str) -> None:
    """Give a thing a label."""
    with user.database.writing() as work:
        found = find_thing(work, user.member.project_id, thing)
        work.attributes.add_labels(user.member.project_id, found.kind, [(found.id, "keep")])


def age(user: LakeUser, thing: str, days: float) -> None:
    """Make a thing so much older."""
    with user.database.writing() as work:
        found = find_thing(work, user.member.project_id, thing)
        now = work.clock.now()
    with user.database.connect() as connection:
        kind = "file_set_version" if found.kind is SubjectKind.FILE_SET else "upload_session"
        column = "created_at" if found.kind is SubjectKind.FILE_SET else "ended_at"
        at: datetime | str = now - timedelta(days=days)
        if user.database.name == "sqlite":
            at = f"{at:%Y-%m-%d %H:%M:%S.%f}"
        row = found.id
        if kind == "upload_session":
            query = _marked(user, "SELECT session_id FROM file_version WHERE id = ?")
            row = connection.exec_driver_sql(query, (row,)).scalar_one()
        sql = f"UPDATE {kind} SET {column} = ? WHERE id = ?"  # noqa: S608 (names of ours)
        connection.exec_driver_sql(_marked(user, sql), (at, row))
        connection.commit()


def _marked(user: LakeUser, sql: str) -> str:
    return sql.replace("?", "%s") if user.database.name == "postgresql" else sql


def there(user: LakeUser, path: str) -> list[int]:
    """Return the numbers of a file's versions that are not deleted."""
    return [one.version for one in user.versions(path) if one.deleted_at is None]


class RetentionSuite(LakeSuite):
    """Rules."""

    def test_without_rules_all_stays(self, user: LakeUser) -> None:
        for body in "123":
            make(user, "s", a=body)
        age(user, "s:1", 10_000)
        assert user.lake.retention.get(user.member.project_id) == Retention()
        assert follow(user) == Outdated()
        assert alive(user, "s") == [3, 2, 1]

    def test_rules_are_kept_for_each_project_and_empty_ones_end_them(self, user: LakeUser) -> None:
        other = user.in_a_new_project()
        keep(user, 3, 0.5, files=True)
        keep(user, last=2)
        keep(user, last=2)
        assert other.lake.retention.get(other.member.project_id) == Retention()
        keep(user)
        assert [event.subject for event in told(user, "retention_changed")] == ["retention"] * 3
        with user.database.connect() as connection:
            sql = f"SELECT count(*) FROM retention WHERE project_id = {user.member.project_id}"  # noqa: S608
            assert connection.exec_driver_sql(sql).scalar_one() == 0

    @pytest.mark.parametrize("rules", [Retention(files=True), Retention(keep_last=2**63), Retention(keep_days=1e300)])
    def test_rules_that_cannot_be_meant_are_refused(self, user: LakeUser, rules: Retention) -> None:
        keep(user, last=2)
        with pytest.raises(BadRequest):
            user.lake.retention.set(*me(user), rules)
        assert user.lake.retention.get(user.member.project_id) == Retention(2)

    def test_the_newest_versions_of_each_name_stay(self, user: LakeUser) -> None:
        for name, count in (("s", 4), ("t", 2), ("u", 1)):
            for number in range(count):
                make(user, name, a=f"{name}{number}")
        keep(user, last=2)
        assert follow(user).file_sets == ["s:1", "s:2"]
        assert [alive(user, name) for name in "stu"] == [[4, 3], [2, 1], [1]]
        assert [(one.subject, one.details["count"]) for one in told(user, "file_sets_removed")] == [("2 file sets", 2)]
        remove(user, "s:3")
        make(user, "s", a="again")
        assert follow(user) == Outdated()
        assert alive(user, "s") == [5, 4]

    def test_young_versions_stay_and_so_does_the_newest(self, user: LakeUser) -> None:
        for number in range(4):
            make(user, "s", a=str(number))
        for number, days in ((1, 40), (2, 29.9), (3, 30.1), (4, 100)):
            age(user, f"s:{number}", days)
        keep(user, days=30)
        assert follow(user).file_sets == ["s:1", "s:3"]
        assert alive(user, "s") == [4, 2]
        keep(user, days=1_000_000)
        assert follow(user) == Outdated()

    def test_what_one_of_the_rules_keeps_stays(self, user: LakeUser) -> None:
        for number in range(5):
            make(user, "s", a=str(number))
        for number in (1, 3, 4):
            age(user, f"s:{number}", 40)
        keep(user, 2, 30)
        assert follow(user).file_sets == ["s:1", "s:3"]
        assert alive(user, "s") == [5, 4, 2]

    def test_what_has_an_alias_or_a_label_or_is_used_stays(self, user: LakeUser) -> None:
        for number in range(6):
            make(user, "s", a=str(number))
        alias(user, "s:1", "paper")
        alias(user, "s:2", "old")
        alias(user, "s:6", "old")
        label(user, "s:3")
        job = begin_job(user, "s:4")
        keep(user, last=1)
        assert follow(user).file_sets == ["s:2", "s:5"]
        end_job(user, job)
        assert follow(user).file_sets == ["s:4"]
        assert alive(user, "s") == [6, 3, 1]

    def test_what_the_rules_do_not_keep_comes_back_like_what_a_person_deleted(self, user: LakeUser) -> None:
        for number in range(3):
            make(user, "s", a=str(number))
        keep(user, last=1, files=True)
        done = follow(user)
        assert (done.file_sets, done.file_versions, done.size_bytes) == (["s:1", "s:2"], 2, 2)
        assert done.examples == ["/a:1", "/a:2"]
        assert undo(user, "s:1").file_versions == 1
        assert user.read("@s:1") == {"/a": b"0"}
        check_lake(user)

    def test_sets_of_programs_stay(self, user: LakeUser) -> None:
        for body in (b"1", b"2"):
            user.put({f"{CODE_FOLDER}x/x.py": body}, file_set="x", only_changed=True)
        keep(user, last=1, files=True)
        assert follow(user) == Outdated()
        assert alive(user, "x") == [2, 1]

    def test_files_follow_the_rules_only_when_that_is_said(self, user: LakeUser) -> None:
        for body in (b"1", b"2", b"3"):
            user.put({"/a": body})
        keep(user, last=1)
        assert follow(user) == Outdated()
        keep(user, last=2, files=True)
        done = follow(user)
        assert (done.file_versions, done.size_bytes, done.examples) == (1, 1, ["/a:1"])
        assert there(user, "/a") == [2, 3]

    def test_files_that_a_set_holds_or_that_have_a_label_or_are_young_or_the_newest_stay(self, user: LakeUser) -> None:
        for number in range(6):
            user.put({"/a": b"%d" % number}, file_set="held" if number == 1 else None)
            user.put({"/b": b"%d" % number})
        make(user, "held", c="1")
        label(user, "/a:3")
        for number in (1, 2, 3, 4, 6):
            age(user, f"/a:{number}", 40)
            age(user, f"/b:{number}", 40)
        keep(user, days=30, files=True)
        assert follow(user).file_versions == 2 + 4
        assert (there(user, "/a"), there(user, "/b")) == ([2, 3, 5, 6], [5, 6])
        assert user.read("@held:1") == {"/a": b"1"}
        check_lake(user)

    def test_files_of_sets_that_the_rules_do_not_keep_follow_them(self, user: LakeUser) -> None:
        for number in range(3):
            make(user, "s", a=str(number), b="b")
        keep(user, last=1, files=True)
        assert follow(user).file_versions == 2
        assert (there(user, "/a"), there(user, "/b")) == ([3], [1])

    def test_what_is_pending_is_nobodys_version_yet(self, user: LakeUser) -> None:
        user.put({"/a": b"1"})
        upload = user.prepare({"/a": b"2"})
        keep(user, last=1, files=True)
        assert follow(user) == Outdated()
        user.commit(upload)
        assert follow(user).examples == ["/a:1"]

    def test_more_than_a_page_of_files_and_sets_goes(self, user: LakeUser) -> None:
        paths = [f"/{number:05}" for number in range(21_000)]
        user.put(dict.fromkeys(paths, b"1"))
        user.put(dict.fromkeys(paths[500:], b"2"))
        keep(user, last=1, files=True)
        assert follow(user).file_versions == 20_500
        assert there(user, "/00499") == [1]
        assert there(user, "/00500") == [2]

    def test_nothing_goes_that_gets_an_alias_at_the_same_moment(self, user: LakeUser) -> None:
        for number in range(6):
            make(user, "s", a=str(number))
        keep(user, last=1)
        for ref in ("s:5", "s:4", "s:3"):
            named = partial(alias, user.elsewhere(), ref, "x")
            together(named, partial(user.lake.retention.bury_outdated, user.member.project_id))
            assert all(one.deleted_at is None for one in versions(user, "s") if one.aliases)
            undo(user, "s")

    def test_any_rules_keep_what_a_plain_reading_of_them_keeps(self, user: LakeUser) -> None:
        @settings(max_examples=8)
        @given(st.data())
        def check(data: st.DataObject) -> None:
            check_rules(user.in_a_new_project(), data)

        check()


def check_rules(user: LakeUser, data: st.DataObject) -> None:
    """Draw some versions and rules, and follow the rules."""
    count = data.draw(st.integers(1, 6))
    ages = data.draw(st.lists(st.sampled_from((0.5, 10.5, 20.5)), min_size=count, max_size=count))
    for number, old in enumerate(ages, 1):
        make(user, "s", a=str(number))
        age(user, f"s:{number}", old)
    buried = data.draw(st.sets(st.integers(1, count)))
    for number in buried:
        remove(user, f"s:{number}")
    left = [number for number in range(1, count + 1) if number not in buried]
    aliased = data.draw(st.sets(st.sampled_from(left))) if left else set()
    for number in aliased:
        alias(user, f"s:{number}", f"x{number}")
    last = data.draw(st.none() | st.integers(1, 4))
    days = data.draw(st.none() | st.sampled_from((0.0, 1.0, 15.0)))
    keep(user, last, days)
    follow(user)
    assert alive(user, "s")[::-1] == kept(left, ages, aliased, last, days)
    if left:
        assert get(user, "s").version == left[-1]


def kept(
    numbers: Sequence[int], ages: Sequence[float], aliased: set[int], last: int | None, days: float | None
) -> list[int]:
    """Return which versions stay, read plainly."""
    if last is None and days is None:
        return list(numbers)
    newest = numbers[-max(last or 1, 1) :]
    young = [number for number in numbers if days is not None and ages[number - 1] <= days]
    return sorted({*newest, *young, *aliased})
