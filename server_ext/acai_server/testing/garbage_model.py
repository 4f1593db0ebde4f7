"""Collections among all else that people do, against a lake in plain Python: nothing living goes, in time all dead."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import timedelta
from typing import TYPE_CHECKING, Any

from hypothesis import HealthCheck, settings
from hypothesis import strategies as st
from hypothesis.stateful import (
    RuleBasedStateMachine,
    invariant,
    precondition,
    rule,
    run_state_machine_as_test,
)

from acai_jupyter.contract.errors import Conflict
from acai_jupyter.contract.filesets import CreateFileSet
from acai_jupyter.contract.ids import ObjectKey
from acai_jupyter.contract.specs import encode_path
from acai_server.lake.collecting import Terms
from acai_server.testing.collecting import (
    GRACE,
    URLS,
    chunks_of,
    collect_as_announced,
    needed_chunks,
    remove_set,
    sizes,
)
from acai_server.testing.lakes import check_lake

if TYPE_CHECKING:
    from datetime import datetime

    from acai_server.testing.collecting import Days
    from acai_server.testing.lakes import LakeUser

PATHS = ("/a", "/b/c", "/b/d", "/e")
BODIES = (b"0", b"11", b"222", b"4444", b"55555")
SETS = ("s", "t")
FILES = st.dictionaries(st.sampled_from(PATHS), st.sampled_from(BODIES), min_size=1, max_size=4)
TERMS = Terms(grace=GRACE, dead_bytes=1)


@dataclass
class Thing:
    """A version of a path, or of a set; one is lost when a collection came after its grace."""

    what: Any
    deleted_at: datetime | None = None
    is_lost: bool = False


class GarbageMachine(RuleBasedStateMachine):
    """Acts of two users in one project, done to the lake and to the model."""

    def __init__(self, user: LakeUser, days: Days) -> None:
        super().__init__()
        first = user.in_a_new_project()
        self.users = [first, first.beside("her")]
        self.days = days
        self.versions: dict[str, list[Thing]] = {path: [] for path in PATHS}
        self.sets: dict[str, list[Thing]] = {name: [] for name in SETS}
        self.pending: list[tuple[int, str, dict[str, bytes], str | None]] = []

    # -- acts

    @rule(who=st.integers(0, 1), files=FILES, file_set=st.sampled_from((None, *SETS)))
    def put(self, who: int, files: dict[str, bytes], file_set: str | None) -> None:
        """Upload files."""
        self.users[who].put(files, file_set=file_set)
        self._committed(files, file_set)

    @rule(who=st.integers(0, 1), files=FILES, file_set=st.sampled_from((None, *SETS)))
    def begin(self, who: int, files: dict[str, bytes], file_set: str | None) -> None:
        """Stage files, and send what is missing."""
        self.pending.append((who, self.users[who].prepare(files, file_set=file_set), files, file_set))

    @precondition(lambda self: self.pending)
    @rule(data=st.data(), aborts=st.booleans())
    def end(self, data: st.DataObject, aborts: bool) -> None:
        """Commit or abort what was begun."""
        who, session, files, file_set = self.pending.pop(data.draw(st.integers(0, len(self.pending) - 1)))
        if aborts:
            self.users[who].abort(session)
        else:
            self.users[who].commit(session)
            self._committed(files, file_set)

    @precondition(lambda self: any(self._living_sets()))
    @rule(data=st.data(), name=st.sampled_from(SETS))
    def create(self, data: st.DataObject, name: str) -> None:
        """Make a set of others."""
        sources = data.draw(st.lists(st.sampled_from(self._living_sets()), min_size=1, max_size=2))
        me = self.users[0].member
        request = CreateFileSet(name, [f"@{ref}" for ref in sources])
        self.users[0].lake.composing.create(me.project_id, me.user_id, request)
        made: dict[str, int] = {}
        for ref in sources:
            made |= self._set(ref).what
        self.sets[name].append(Thing(made))

    @precondition(lambda self: any(self.versions.values()))
    @rule(data=st.data(), undo=st.booleans())
    def remove(self, data: st.DataObject, undo: bool) -> None:
        """Delete a version of a file, or take that back."""
        every = [(path, number) for path, found in self.versions.items() for number in range(1, len(found) + 1)]
        path, number = data.draw(st.sampled_from(every))
        version = self.versions[path][number - 1]
        try:
            done = self.users[0].remove(f"{encode_path(path)}:{number}", undo=undo)
        except Conflict:
            held = any((path, number) in self._set(ref).what.items() for ref in self._living_sets())
            assert version.is_lost if undo else held, (path, number)
            return
        assert done == ([number] if (version.deleted_at is None) is not undo else [])
        if done:
            version.deleted_at = None if undo else self.days.now()
            version.is_lost = False

    @precondition(lambda self: any(self.sets.values()))
    @rule(data=st.data(), undo=st.booleans(), files=st.booleans())
    def remove_set(self, data: st.DataObject, undo: bool, files: bool) -> None:
        """Delete a version of a set, or take that back with the files in it."""
        every = [f"{name}:{number}" for name, found in self.sets.items() for number in range(1, len(found) + 1)]
        ref = data.draw(st.sampled_from(every))
        one = self._set(ref)
        try:
            remove_set(self.users[0], ref, undo=undo, files=files)
        except Conflict:
            assert undo, ref
            assert one.is_lost, ref
            return
        assert not (undo and one.is_lost), f"{ref} was collected"
        if (one.deleted_at is None) is not undo:
            one.deleted_at = None if undo else self.days.now()
        self._look_at_tombstones()

    @rule(step=st.sampled_from((timedelta(hours=5), timedelta(days=2), GRACE)))
    def wait(self, step: timedelta) -> None:
        """Let time pass."""
        self.days.go_on(step)

    @rule()
    def believe(self) -> None:
        """Hash all again."""
        self.users[0].believe()

    @rule()
    def collect(self) -> None:
        """Free what is dead: as much as was announced."""
        collect_as_announced(self.users[0], TERMS)
        for one in (thing for found in (*self.versions.values(), *self.sets.values()) for thing in found):
            one.is_lost |= one.deleted_at is not None and one.deleted_at <= self.days.now() - GRACE

    # -- what is true at any time

    @invariant()
    def all_that_lives_can_be_read(self) -> None:
        """Files, sets, each with its bytes."""
        user = self.users[0]
        for path, found in self.versions.items():
            for number, one in enumerate(found, 1):
                if one.deleted_at is None:
                    assert user.read(f"{encode_path(path)}:{number}") == {path: one.what}
        for ref in self._living_sets():
            assert user.named(f"@{ref}") == self._set(ref).what

    def teardown(self) -> None:
        """When all has come to its end, nothing is kept that nobody needs."""
        user = self.users[0]
        while self.pending:
            who, session, files, file_set = self.pending.pop()
            self.users[who].commit(session)
            self._committed(files, file_set)
        user.believe()
        for step in (GRACE, URLS, URLS):
            self.days.go_on(step)
            self.collect()
        self.all_that_lives_can_be_read()
        check_lake(user)
        assert set(chunks_of(user)) == needed_chunks(user)
        self._all_in_the_store_is_needed()

    def _all_in_the_store_is_needed(self) -> None:
        user = self.users[0]
        living = {one.what for found in self.versions.values() for one in found if one.deleted_at is None}
        held: dict[str, list[bytes]] = {key: [] for key in sizes(user)}
        with user.database.connect() as connection:
            sql = 'SELECT o.key, b."offset", b.size_bytes FROM object o JOIN blob b ON b.object_id = o.id'
            where = f"WHERE o.project_id = {user.member.project_id}"
            for key, offset, size in connection.exec_driver_sql(f"{sql} {where}").all():
                held[key].append(user.objects.get(key, offset, size))
        for key, bodies in held.items():
            live_bytes = sum(len(body) for body in bodies if body in living)
            assert live_bytes * 2 >= user.objects.size(ObjectKey(key)) > 0, (key, bodies, living)
        assert living <= {body for bodies in held.values() for body in bodies}

    # -- how the model moves

    def _committed(self, files: dict[str, bytes], file_set: str | None) -> None:
        for path, body in files.items():
            self.versions[path].append(Thing(body))
        if file_set is not None:
            self.sets[file_set].append(Thing({path: len(self.versions[path]) for path in files}))

    def _set(self, ref: str) -> Thing:
        name, _, number = ref.partition(":")
        return self.sets[name][int(number) - 1]

    def _living_sets(self) -> list[str]:
        return [
            f"{name}:{number}"
            for name, found in self.sets.items()
            for number, one in enumerate(found, 1)
            if one.deleted_at is None
        ]

    def _look_at_tombstones(self) -> None:
        """Which files go and come with a set is another suite's matter; that no lost one comes is this one's."""
        for path, found in self.versions.items():
            for one, now in zip(found, self.users[0].versions(path) if found else [], strict=True):
                one.deleted_at = now.deleted_at
                if now.deleted_at is None:
                    one.is_lost = False


def check_collections(user: LakeUser, days: Days, max_examples: int, steps: int = 30) -> None:
    """Try any acts of several users and collections in projects of their own, so many times."""
    how = settings(
        max_examples=max_examples,
        stateful_step_count=steps,
        suppress_health_check=list(HealthCheck),
        print_blob=True,
    )
    make: Any = lambda: GarbageMachine(user, days)  # noqa: E731 (it stands for the class, which takes nothing)
    run_state_machine_as_test(make, settings=how)
