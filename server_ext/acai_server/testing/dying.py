"""Projects and stores in which something happens while garbage is collected."""

from __future__ import annotations

import threading
from functools import partial
from typing import TYPE_CHECKING, Any

from acai_jupyter.contract.errors import Conflict, StoreUnavailable
from acai_jupyter.contract.filesets import CreateFileSet
from acai_server.testing.collecting import chunks_of, needed_chunks, remove_set
from acai_server.testing.lakes import LakeUser, check_lake

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from acai_server.objects.protocol import ListedObject
    from acai_server.testing.collecting import Days


class Dying:
    """A project with a content that a collection would free, and one whose pack it would move."""

    def __init__(self, user: LakeUser, days: Days) -> None:
        self._user = user
        self._living: dict[str, bytes] = {}
        self._sessions: list[str] = []
        self.base = user.put({"/dead": b"dead"}, file_set="dead", only_changed=True).id
        user.put({"/a": b"mostly dead", "/b": b"b"})
        user.put({"/l": b"1"})
        self._create("list")
        remove_set(user, "list")
        remove_set(user, "dead")
        user.remove("/dead")
        user.remove("/a")
        days.go_on()

    def act(self, act: str) -> None:
        """Let the dead come to life, if that can be still."""
        user = self._user
        bodies = {"/new": b"dead", "/new2": b"mostly dead"}
        if act in ("stage", "restage"):
            upload = user.begin({"/new": b"other", "/new2": b"other"} if act == "restage" else bodies)
            if act == "restage":
                missing = user.stage(upload.id, bodies)
                user.send(upload.id, [b"other"])
            else:
                missing = upload.missing
            user.send(upload.id, [list(bodies.values())[position] for position in missing])
            self._sessions.append(upload.id)
        elif act == "commit":
            user.put(bodies, file_set="new")
        elif act == "undo":
            for path in ("/dead", "/a"):
                self._try(partial(user.remove, path, undo=True))
        elif act == "base":
            self._try(lambda: self._sessions.append(user.begin(base=self.base, only_changed=True).id))
        elif act == "set":
            self._try(lambda: remove_set(user, "dead:1", undo=True))
        elif act == "list":
            self._create("again")

    def check(self) -> None:
        """Assert that all can be read that is there."""
        for session in self._sessions:
            self._user.commit(session)
        check_lake(self._user)
        assert self._user.read("/b") == {"/b": b"b"}
        assert needed_chunks(self._user) <= chunks_of(self._user).keys()

    def _create(self, name: str) -> None:
        """Make a set that has always the same list, which no session has."""
        me = self._user.member
        self._user.lake.composing.create(me.project_id, me.user_id, CreateFileSet(name, ["/b", "/l"]))

    def _try(self, act: Callable[[], object]) -> None:
        try:
            act()
        except Conflict as error:
            assert "freed" in error.message or "too long ago" in error.message or "base" in error.message  # noqa: PT017


class Broken:
    """A user whose store breaks at one of its methods."""

    def __init__(self, user: LakeUser, method: str) -> None:
        self._method = method
        self._objects = user.objects
        known: Any = self
        self.user = LakeUser(user.database, known, user.member.user.name, user.member.project)

    def __getattr__(self, name: str) -> Any:
        return self._break if name == self._method else getattr(self._objects, name)

    def _break(self, *_: object, **__: object) -> None:
        raise StoreUnavailable(reason="cut off")


class Held:
    """A user whose store does not list anything before it may."""

    def __init__(self, user: LakeUser) -> None:
        self._objects = user.objects
        self.reached = threading.Event()
        self.go_on = threading.Event()
        known: Any = self
        self.user = LakeUser(user.database, known, user.member.user.name, user.member.project)

    def __getattr__(self, name: str) -> Any:
        return getattr(self._objects, name)

    def listed(self, prefix: str, after: str = "") -> Iterator[ListedObject]:
        """Wait."""
        self.reached.set()
        assert self.go_on.wait(20)
        return self._objects.listed(prefix, after)
