"""`acai-server reset-clock`: follow the machine's clock again after records were dated ahead of it."""

from __future__ import annotations

import os
from contextlib import closing, contextmanager
from typing import TYPE_CHECKING, Any

from acai_jupyter.contract.errors import BadRequest, Conflict, SettingsBroken
from acai_server.admin_backups import database_of

if TYPE_CHECKING:
    import argparse
    from collections.abc import Callable, Iterable, Iterator
    from pathlib import Path

    from acai_server.settings import Settings


def declare(verbs: Any) -> None:
    """Add the verb."""
    reset = verbs.add_parser("reset-clock", help="let the next start follow this machine's clock, whatever is recorded")
    reset.add_argument("--yes", action="store_true", help="do it; without this, only say what the clocks show")


def reset_clock(settings: Settings, given: argparse.Namespace) -> Iterator[str]:
    """Replace the mark of the time that was recorded last by this machine's time."""
    from acai_server.clock_mark import ClockFile, shown
    from acai_server.db import schema

    file = ClockFile(settings.data_folder / "clock.json")
    with _locked(settings.data_folder), closing(database_of(settings)) as database:
        schema.migrate(database) if database.name == "sqlite" else schema.check(database)
        with database.reading() as work:
            newest, now = work.events.newest_time(), work.clock.now()
        records = "There are no records" if newest is None else f"The newest record is dated {shown(newest)}"
        found = f"{records}; this machine's clock shows {shown(now)}."
        if not given.yes:
            raise BadRequest(
                f"{found} If the machine is right, run 'acai-server reset-clock --yes': the next start follows it."
            )
        if not file.reset(now):
            raise SettingsBroken(reason=f"{settings.data_folder / 'clock.json'} cannot be written")
    yield found
    yield "The next start follows the machine's clock. Records that are dated ahead keep their dates."


@contextmanager
def _locked(folder: Path) -> Iterator[None]:
    """Hold the data folder, so that no server starts."""
    from acai_server.host import lock

    descriptor = lock(folder)
    if descriptor is None:
        raise Conflict(reason=f"a server is using {folder}; stop it first")
    try:
        yield
    finally:
        os.close(descriptor)


VERBS: dict[str, Callable[[Settings, argparse.Namespace], Iterable[str]]] = {"reset-clock": reset_clock}
