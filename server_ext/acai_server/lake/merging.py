"""What several specs hold together, for who must not see them differ: a job, whose inputs stand in one folder."""

from __future__ import annotations

from typing import TYPE_CHECKING

from acai_jupyter.contract.filesets import check_files
from acai_server.lake.composing import prepare, stands
from acai_server.lake.flows import FIRST
from acai_server.lake.joining import Agreement
from acai_server.lake.manifests import entry_of
from acai_server.lake.meanings import Folder, PartOfSet, look_up
from acai_server.lake.sources import Sources

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from acai_jupyter.contract.filesets import Entry
    from acai_jupyter.contract.ids import ProjectId, UserId
    from acai_server.db.database import Database
    from acai_server.db.filesets import StoredFileSet
    from acai_server.db.work import Work
    from acai_server.lake.flows import Flow
    from acai_server.lake.meanings import Meaning, Meanings

    Differ = Callable[[str, str, str], Exception]
    """Makes an error of the names of two specs and the path about which they differ."""


class Merged:
    """The files of specs at one moment: read while its transaction lasts, and made a file set of in a later one."""

    def __init__(self, meanings: Meanings, sources: Sources, differ: Differ, database: Database) -> None:
        self._meanings = meanings
        self._sources = sources
        self._differ = differ
        self._database = database
        self._prepared = prepare(meanings, self._flow(), database)

    @property
    def root(self) -> bytes:
        """The hash of their manifest."""
        return self._prepared.root

    @property
    def file_count(self) -> int:
        """How many there are."""
        return self._prepared.file_count

    def entries(self, after: str = "") -> Iterator[Entry]:
        """Iterate over those after a path, by path."""
        return map(entry_of, self._flow(after + FIRST if after else "").leaves())

    def keep_many(self) -> None:
        """Store what takes long before others have to wait for it."""
        self._prepared.keep_many(self._database)

    def stands(self, work: Work) -> bool:
        """Whether the specs still mean the same, now that the project is locked."""
        return stands(work, self._sources, self._meanings)

    def add(self, work: Work, user: UserId, name: str) -> StoredFileSet:
        """Make a file set of them, and the action that says what it was made from."""
        check_files(self.file_count)
        return self._prepared.add(work, self._meanings.project, user, name, self._sources.lists[0])

    def _flow(self, start: str = "") -> Flow:
        def join(one: Flow, other: Flow) -> Flow:
            return Agreement(one, other, self._refuse)

        return self._meanings.flow(self._sources.lists[0], start, join)

    def _refuse(self, path: str) -> None:
        """Say which two of the specs differ about a path."""
        name, content = "", b""
        for source in self._sources.lists[0]:
            leaf = next(self._meanings.flow([source], path).leaves(), None)
            if leaf is None or leaf[0] != path:
                continue
            named = _named(source, self._meanings.of[source])  # type: ignore[index]
            if name and leaf[3] != content:
                raise self._differ(name, named, path)
            name, content = name or named, leaf[3]


def merge(database: Database, work: Work, project: ProjectId, specs: list[str], differ: Differ) -> Merged:
    """Return what specs hold together; the first path about which two differ is refused."""
    sources = Sources(list(specs))
    return Merged(look_up(work, project, sources, must_live=True), sources, differ, database)


def _named(source: object, meaning: Meaning) -> str:
    """A spec for people, with the version of its set."""
    if isinstance(meaning, Folder):
        return str(source)
    if isinstance(meaning, PartOfSet) and meaning.pinned.startswith("@"):
        return meaning.stored.public.ref
    return meaning.pinned
