"""`acai-server backup`, `restore`, `export` and `import`: all that a server keeps, or one project, away and back."""

from __future__ import annotations

import os
from contextlib import closing, contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

from acai_jupyter.contract.errors import SettingsBroken
from acai_server.app import object_store_of
from acai_server.clock import Clock
from acai_server.objects.durable import make_folder
from acai_server.store_owner.mark import claim, refuse_foreign

if TYPE_CHECKING:
    import argparse
    from collections.abc import Callable, Iterable, Iterator

    from acai_jupyter.contract.ids import AttemptId, JobId
    from acai_server.backups.form import Note
    from acai_server.db.database import Database
    from acai_server.db.work import Work
    from acai_server.objects.protocol import ObjectStore
    from acai_server.settings import Settings


def declare(verbs: Any) -> None:
    """Say which words there are."""
    made = verbs.add_parser("backup", help="copy all records and bytes into a folder, while servers run")
    _folder(made, "where to; what is there from the last backup is not copied again")
    put_back = verbs.add_parser("restore", help="put a backup into an empty database and an empty object store")
    _folder(put_back, "the backup")
    taken = verbs.add_parser("export", help="copy one project into a folder, while servers run")
    taken.add_argument("project", metavar="PROJECT", help="the project")
    _folder(taken, "where to")
    brought = verbs.add_parser("import", help="bring an exported project to these settings' server, while it runs")
    _folder(brought, "what was exported")
    brought.add_argument("--project", metavar="NAME", help="what it is to be called here, if not as it was there")


def _folder(parser: argparse.ArgumentParser, what: str) -> None:
    parser.add_argument("folder", metavar="FOLDER", type=lambda text: Path(text).expanduser().absolute(), help=what)


def database_of(settings: Settings) -> Database:
    """Open the database of these settings."""
    from acai_server.db.database import Database

    if not settings.database:
        make_folder(settings.data_folder, mode=0o700)
        (settings.data_folder / "acai.db").touch(mode=0o600)
    return Database(settings.database or f"sqlite:///{settings.data_folder / 'acai.db'}", Clock())


def back_up(settings: Settings, given: argparse.Namespace) -> Iterator[str]:
    """Make a backup of everything, or of a project."""
    from acai_server import __version__
    from acai_server.backups.making import Backup
    from acai_server.db import schema

    objects = objects_of(settings)
    with closing(database_of(settings)) as database:
        schema.check(database)
        claim(database, objects)
        backup = Backup(database, objects, given.folder, _kept(given.folder), __version__)
        note = backup.make(getattr(given, "project", None))
    yield from backup.troubles
    yield f"{_amount(note)} are in {given.folder}."


def restore(settings: Settings, given: argparse.Namespace) -> Iterator[str]:
    """Put a backup into an empty place."""
    from acai_server.backups.restoring import restore as fill

    objects = objects_of(settings)
    with _held(settings), closing(database_of(settings)) as database:
        refuse_foreign(database, objects)
        note = fill(database, objects, given.folder, _kept(given.folder), _interrupted)
        claim(database, objects)
    yield f"{_amount(note)} of {note.made_at:%Y-%m-%d %H:%M} UTC are restored."


def bring(settings: Settings, given: argparse.Namespace) -> Iterator[str]:
    """Import a project."""
    from acai_server.backups.importing import Import
    from acai_server.db import schema

    with closing(database_of(settings)) as database:
        schema.migrate(database) if database.name == "sqlite" else schema.check(database)
        objects = objects_of(settings)
        claim(database, objects)
        note = Import(database, objects, given.folder, _kept(given.folder)).run(given.project)
    yield f"{_amount(note)} are in the project '{given.project or note.project}'. Its users need new tokens."


def objects_of(settings: Settings) -> ObjectStore:
    """Open the object store of these settings."""
    if settings.object_store == "memory":
        reason = "the object store is the memory of a server, which nobody else can read"
        raise SettingsBroken(reason=f"{reason}; nothing of it can be backed up or restored")
    return object_store_of(settings, no_signer())


def _kept(folder: Path) -> ObjectStore:
    from acai_server.objects.filesystem import FilesystemObjectStore

    return FilesystemObjectStore(folder / "objects", no_signer())


def no_signer() -> Any:
    """Return a signer whose URLs lead nowhere: commands hand out none."""
    from acai_server.objects.signing import UrlSigner

    return UrlSigner(b"", lambda: "", lambda: 0.0)


def _interrupted(work: Work, job: JobId, attempt: AttemptId) -> None:
    """Take what held a machine for crashed: whatever it still does, it does for the server that was."""
    from acai_jupyter.contract.states import JobState
    from acai_server.engine.ends import End, conclude

    conclude(work, job, attempt, End(JobState.CRASHED, "its server was restored from a backup"))


@contextmanager
def _held(settings: Settings) -> Iterator[None]:
    """Keep servers out of the data folder meanwhile."""
    from acai_server.host import lock

    held = lock(settings.data_folder)
    if held is None:
        raise SettingsBroken(reason=f"a server has {settings.data_folder}; stop it, or name an empty data folder")
    try:
        yield
    finally:
        os.close(held)


def _amount(note: Note) -> str:
    rows = sum(table.rows for table in note.tables.values())
    return f"{rows:,} records and {note.objects.rows:,} objects of {note.objects_bytes / 1024**2:,.1f} MB"


VERBS: dict[str, Callable[[Settings, argparse.Namespace], Iterable[str]]] = {
    "backup": back_up,
    "restore": restore,
    "export": back_up,
    "import": bring,
}
