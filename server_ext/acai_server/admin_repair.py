"""`acai-server repair`: name the damaged contents of a store and what depends on them, and heal them."""

from __future__ import annotations

from contextlib import closing
from pathlib import Path
from typing import TYPE_CHECKING, Any

from acai_jupyter.contract.errors import Conflict, ProjectNotFound, SettingsBroken
from acai_server.admin_backups import database_of, no_signer
from acai_server.app import object_store_of
from acai_server.store_owner.mark import claim

if TYPE_CHECKING:
    import argparse
    from collections.abc import Callable, Generator, Iterable, Iterator

    from acai_jupyter.contract.ids import ProjectId
    from acai_server.db.database import Database
    from acai_server.lake.integrity.repair import Finding
    from acai_server.lake.integrity.sources import Source
    from acai_server.objects.protocol import ObjectStore
    from acai_server.settings import Settings

_NAMED = 5
_OF_DATA_FOLDER = ("failed", "environments")


def declare(verbs: Any) -> None:
    """Declare the verb and its options."""
    verb = verbs.add_parser(
        "repair", help="list damaged files and what depends on them, and heal them, while servers run"
    )
    verb.add_argument("project", metavar="PROJECT", nargs="?", help="only this project")
    verb.add_argument("--read", action="store_true", help="read and hash all contents first, not only suspected ones")
    verb.add_argument(
        "--heal", action="store_true", help="bring back what another copy on this machine or in the store has"
    )
    verb.add_argument(
        "--from",
        dest="folders",
        metavar="FOLDER",
        action="append",
        default=[],
        type=lambda text: Path(text).expanduser().absolute(),
        help="with --heal: look for copies in this folder too, a backup or any files; may be repeated",
    )


def repair(settings: Settings, options: argparse.Namespace) -> Iterator[str]:
    """List damaged contents; with --heal, heal them first. Ends with an error when some are left."""
    from acai_server.db import schema

    if settings.object_store == "memory":
        raise SettingsBroken(reason="the object store is the memory of a server, which this command cannot read")
    for folder in options.folders:
        if not folder.is_dir():
            raise SettingsBroken(reason=f"--from {folder} is not a folder")
    objects = object_store_of(settings, no_signer())
    left = 0
    with closing(database_of(settings)) as database:
        schema.check(database)
        claim(database, objects)  # else every content of another store would be taken for lost
        for project, name in _projects(database, options.project):
            damaged = yield from _repair(settings, options, database, objects, (project, name))
            left += damaged
    if left:
        raise Conflict(
            f"{_contents(left)} still damaged. Put the same files again, restore them, or replay their jobs."
        )
    yield "No content is damaged."


def _projects(database: Database, wanted: str | None) -> list[tuple[ProjectId, str]]:
    with database.reading() as work:
        found = work.damage.projects()
    if wanted is None:
        return found
    chosen = [one for one in found if one[1] == wanted]
    if not chosen:
        raise ProjectNotFound(project=wanted)
    return chosen


def _repair(
    settings: Settings,
    options: argparse.Namespace,
    database: Database,
    objects: ObjectStore,
    project: tuple[ProjectId, str],
) -> Generator[str, None, int]:
    from acai_server.lake.integrity.repair import Repair

    number, name = project
    work = Repair(database, objects, number)
    count = work.examine(reads_all=options.read)
    found = work.findings()
    if found and options.heal:
        sources = list(_sources(settings, options, database, objects, found))
        healed = work.heal([one.content for one in found], sources)
        yield from (f"{name}: healed from {origin}: {healed[origin]:,}." for origin in healed)
        found = work.findings()
    how = "read" if options.read else "looked at"
    yield f"{name}: {count:,} objects {how}, {_contents(len(found))} damaged."
    for one in found:
        yield from _lines(one, name)
    return len(found)


def _sources(
    settings: Settings, options: argparse.Namespace, database: Database, objects: ObjectStore, found: list[Finding]
) -> Iterator[Source]:
    """Give the places to look for copies, the nearest first."""
    from acai_server.lake.integrity.sources import Folder, InputCache, StoredCopies
    from acai_server.objects.filesystem import FilesystemObjectStore

    hashes = {one.content.sha256 for one in found}
    with database.reading() as work:
        places = [place for project, _ in work.damage.projects() for place in work.damage.places(project, hashes)]
    yield StoredCopies("another copy in the store", objects, places)
    cache = settings.of_this_machine().cache
    if cache is not None:
        yield InputCache(cache)
    sizes = {one.content.size_bytes for one in found}
    for folder in options.folders:
        yield StoredCopies(str(folder), FilesystemObjectStore(folder / "objects", no_signer()), places)
        yield Folder(folder, sizes)
    for folder in (settings.data_folder / kept for kept in _OF_DATA_FOLDER):
        yield Folder(folder, sizes)


def _lines(one: Finding, project: str) -> Iterator[str]:
    names = [f"{file.path}:{file.version}" for file in one.files] or ["only deleted versions"]
    yield f"  {_few(names)} ({one.content.size_bytes:,} bytes, SHA-256 {one.content.sha256.hex()[:12]})"
    if one.sets:
        yield f"    in file sets {_few(one.sets)}"
    if one.used_by:
        yield f"    input of jobs {_few([str(job) for job in one.used_by])}"
    if one.made_by is not None:
        yield f"    made by job {one.made_by}; make it again with: acai replay {one.made_by} --project {project}"


def _few(names: list[str]) -> str:
    more = f" and {len(names) - _NAMED:,} more" if len(names) > _NAMED else ""
    return ", ".join(names[:_NAMED]) + more


def _contents(count: int) -> str:
    return f"{count:,} {'content is' if count == 1 else 'contents are'}"


VERBS: dict[str, Callable[[Settings, argparse.Namespace], Iterable[str]]] = {"repair": repair}
