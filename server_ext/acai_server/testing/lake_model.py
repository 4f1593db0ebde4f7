"""Upload sessions against a lake in plain Python: any acts of several users in any order, checked at every step."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import pytest
from hypothesis import HealthCheck, settings
from hypothesis import strategies as st
from hypothesis.stateful import (
    RuleBasedStateMachine,
    invariant,
    precondition,
    rule,
    run_state_machine_as_test,
)

from acai_jupyter.contract.errors import BadRequest, Conflict, FileNotFound
from acai_jupyter.contract.specs import encode_path
from acai_jupyter.contract.states import UploadState
from acai_server.testing.files import children_of
from acai_server.testing.lakes import check_lake

if TYPE_CHECKING:
    from acai_jupyter.contract.uploads import UploadResult
    from acai_server.testing.lakes import LakeUser

PATHS = ("/a", "/a/b", "/a.c", "/é/x%@:", "/é/y")
BODIES = (b"0", b"11", b"222")
SETS = ("s", "t")
FILES = st.dictionaries(st.sampled_from(PATHS), st.sampled_from(BODIES), max_size=4)
SOME_PATHS = st.sets(st.sampled_from(PATHS), min_size=1, max_size=2)
Files = dict[str, bytes]


@dataclass
class Version:
    """A version of a path."""

    body: bytes
    is_deleted: bool = False


@dataclass
class Session:
    """An upload session. What is `shaken` was deleted or restored since it was looked at."""

    key: str
    user: int
    file_set: str | None
    only_changed: bool
    base: Files = field(default_factory=dict)
    held: Files = field(default_factory=dict)
    removed: set[str] = field(default_factory=set)
    unsent: set[bytes] = field(default_factory=set)
    shaken: set[str] = field(default_factory=set)
    result: UploadResult | None = None

    def files(self) -> Files:
        """Return all that it stands for."""
        return {path: body for path, body in (self.base | self.held).items() if path not in self.removed}


class LakeMachine(RuleBasedStateMachine):
    """Acts of two users in one project, done to the lake and to the model."""

    def __init__(self, user: LakeUser) -> None:
        super().__init__()
        first = user.in_a_new_project()
        self.users = [first, first.beside("her")]
        self.versions: dict[str, list[Version]] = {path: [] for path in PATHS}
        self.sets: dict[str, list[dict[str, int]]] = {name: [] for name in SETS}
        self.pending: list[Session] = []
        self.committed: list[Session] = []

    # -- acts

    @rule(who=st.integers(0, 1), files=FILES, file_set=st.sampled_from((None, *SETS)), only_changed=st.booleans())
    def create(self, who: int, files: Files, file_set: str | None, only_changed: bool) -> None:
        """Start a session."""
        upload = self.users[who].begin(files, file_set=file_set, only_changed=only_changed)
        session = Session(upload.id, who, file_set, only_changed)
        self.pending.append(session)
        self._staged(session, files, upload.missing)

    @precondition(lambda self: self.committed)
    @rule(data=st.data(), file_set=st.sampled_from((None, *SETS)))
    def create_over_a_base(self, data: st.DataObject, file_set: str | None) -> None:
        """Start a session that differs from another."""
        base = data.draw(st.sampled_from(self.committed))
        upload = self.users[base.user].begin(base=base.key, only_changed=True, file_set=file_set)
        session = Session(upload.id, base.user, file_set, only_changed=True, base=base.files())
        session.shaken = set(PATHS) & base.shaken
        self.pending.append(session)

    @precondition(lambda self: self.pending)
    @rule(data=st.data(), files=FILES)
    def stage(self, data: st.DataObject, files: Files) -> None:
        """Stage a page."""
        session = data.draw(st.sampled_from(self.pending))
        self._staged(session, files, self.users[session.user].stage(session.key, files))

    @precondition(lambda self: any(session.base for session in self.pending))
    @rule(data=st.data(), paths=SOME_PATHS)
    def leave_out(self, data: st.DataObject, paths: set[str]) -> None:
        """Leave out what the base holds."""
        session = data.draw(st.sampled_from([one for one in self.pending if one.base]))
        self.users[session.user].stage(session.key, {}, paths)
        session.removed |= paths

    @precondition(lambda self: any(session.unsent for session in self.pending))
    @rule(data=st.data())
    def send(self, data: st.DataObject) -> None:
        """Send what is missing."""
        session = data.draw(st.sampled_from([one for one in self.pending if one.unsent]))
        self._send(session)

    @precondition(lambda self: self.pending)
    @rule(data=st.data())
    def commit(self, data: st.DataObject) -> None:
        """Commit a session; what has not been sent is sent when that is said."""
        session = data.draw(st.sampled_from(self.pending))
        user = self.users[session.user]
        files = session.files()
        if not files:
            with pytest.raises(BadRequest, match="holds no files"):
                user.commit(session.key)
            return
        try:
            result = user.commit(session.key)
        except Conflict:
            if not session.unsent:
                raise
            assert user.get(session.key).state is UploadState.PENDING
            self._send(session)
            result = user.commit(session.key)
        self.pending.remove(session)
        self.committed.append(session)
        session.result = result
        self._committed(session, files)

    @precondition(lambda self: self.committed)
    @rule(data=st.data())
    def commit_again(self, data: st.DataObject) -> None:
        """Commit what is committed."""
        session = data.draw(st.sampled_from(self.committed))
        assert self.users[session.user].commit(session.key) == session.result

    @precondition(lambda self: self.pending)
    @rule(data=st.data())
    def abort(self, data: st.DataObject) -> None:
        """Give a session up."""
        session = data.draw(st.sampled_from(self.pending))
        self.users[session.user].abort(session.key)
        self.pending.remove(session)

    @rule(path=st.sampled_from(PATHS), undo=st.booleans(), data=st.data())
    def remove(self, path: str, undo: bool, data: st.DataObject) -> None:
        """Delete versions of a file, or take that back."""
        versions = self.versions[path]
        number = data.draw(st.sampled_from([None, *range(1, len(versions) + 2)]))
        wanted = [n for n, one in enumerate(versions, 1) if number in (None, n) and one.is_deleted is undo]
        spec = encode_path(path) + ("" if number is None else f":{number}")
        needed = {entries[path] for each in self.sets.values() for entries in each if path in entries}
        try:
            done = self.users[0].remove(spec, undo=undo)
        except FileNotFound:
            assert not versions or (number or 0) > len(versions)
            return
        except Conflict:
            assert not undo and needed & set(wanted), f"{spec} is in no set"  # noqa: PT018 (one fact)
            return
        assert done == wanted
        assert undo or not needed & set(wanted), f"{spec} is in a set"
        for one in wanted:
            versions[one - 1].is_deleted = not undo
        if wanted:
            for session in (*self.pending, *self.committed):
                session.shaken.add(path)

    # -- what is true at any time

    @invariant()
    def versions_are_those_of_the_model(self) -> None:
        """Numbers, hashes, tombstones, and what is read."""
        user = self.users[0]
        latest = {path: number for path in PATHS if (number := self._latest(path))}
        assert user.named() == dict(sorted(latest.items()))
        assert user.read() == {path: self.versions[path][number - 1].body for path, number in latest.items()}
        for folder in ("/", *({"/a/"} if "/a/b" in latest else ())):
            assert user.children(folder, None, 2) == children_of(list(latest), folder)

    def teardown(self) -> None:
        """Look at everything once."""
        check_lake(self.users[1])
        for name, each in self.sets.items():
            for number, entries in enumerate(each, 1):
                assert self.users[1].named(f"@{name}:{number}") == entries

    # -- how the model moves

    def _latest(self, path: str) -> int:
        alive = [number for number, one in enumerate(self.versions[path], 1) if not one.is_deleted]
        return alive[-1] if alive else 0

    def _staged(self, session: Session, files: Files, missing: list[int]) -> None:
        bodies = list(files.values())
        session.held |= files
        session.removed -= set(files)
        session.shaken -= set(files)
        session.unsent |= {bodies[position] for position in missing}

    def _send(self, session: Session) -> None:
        self.users[session.user].send(session.key, sorted(session.unsent))
        session.unsent.clear()

    def _committed(self, session: Session, files: Files) -> None:
        """Find out what became of each file, and refuse what may not have."""
        user = self.users[session.user]
        made = 0
        for path, body in files.items():
            known = [(one.body, one.is_deleted) for one in self.versions[path]]
            now = user.versions(path)
            is_new = len(now) > len(known)
            made += is_new
            assert len(now) - len(known) in (0, 1), path
            if path not in session.shaken or not session.only_changed:
                same = bool(self._latest(path)) and self.versions[path][self._latest(path) - 1].body == body
                assert is_new is not (session.only_changed and same), (path, session)
            if is_new:
                self.versions[path].append(Version(body))
        result = session.result
        assert result is not None
        assert (result.new_files, result.unchanged_files) == (made, len(files) - made)
        assert result.size_bytes == sum(map(len, files.values()))
        if session.file_set is not None:
            self._set_made(session, session.file_set, files)

    def _set_made(self, session: Session, name: str, files: Files) -> None:
        entries = self.users[session.user].named(f"@{name}")
        assert entries.keys() == files.keys()
        for path, number in entries.items():
            version = self.versions[path][number - 1]
            assert (version.body, version.is_deleted) == (files[path], False), (path, number)
            assert session.base or path in session.shaken or number == self._latest(path)
        assert session.result is not None
        reused = bool(session.only_changed and self.sets[name] and self.sets[name][-1] == entries)
        assert session.result.file_set == f"{name}:{len(self.sets[name]) + (not reused)}"
        if not reused:
            self.sets[name].append(entries)


def check_sessions(user: LakeUser, max_examples: int, steps: int = 25) -> None:
    """Try any acts of several users in projects of their own, so many times."""
    how = settings(
        max_examples=max_examples,
        stateful_step_count=steps,
        suppress_health_check=list(HealthCheck),
        print_blob=True,
    )
    make: Any = lambda: LakeMachine(user)  # noqa: E731 (it stands for the class, which takes nothing)
    run_state_machine_as_test(make, settings=how)
