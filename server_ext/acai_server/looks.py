"""What a doctor looks at beside database, store, disk and runner: what only the composition of a server knows of."""

from __future__ import annotations

from datetime import UTC, datetime
from functools import partial
from typing import TYPE_CHECKING, Any

from acai_jupyter.contract.checkups import Check, Finding
from acai_server.cluster import look as look_at_cluster

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from acai_server.checkup.service import Checkups, Look
    from acai_server.clock import Clock
    from acai_server.db.database import Database
    from acai_server.objects.protocol import ObjectStore
    from acai_server.runners.protocol import Runner
    from acai_server.settings import Settings


def checkups_of(
    settings: Settings,
    database: Database,
    objects: ObjectStore,
    runner: Runner,
    notices: Callable[[], list[str]],
    address: Callable[[], str],
    *,
    alone: bool,
) -> Checkups:
    """Return the doctor of a server."""
    from acai_server.checkup.service import Checkups, Ground

    others = tuple(looks(database, objects, runner, address, alone=alone))
    reserved = settings.reserved_disk_mib * 1024**2
    return Checkups(Ground(database, objects, runner, settings.data_folder, reserved, notices, others))


def clock_notice(database: Database, clock: Clock) -> list[str]:
    """Say it when the machine's clock is behind what is written down; times go on from there, and nothing is lost."""
    with database.reading() as work:
        newest = work.events.newest_time()
    behind = 0.0 if newest is None else clock.not_before(newest)
    if behind < 60:  # noqa: PLR2004 (a minute is nothing to bother a person with)
        return []
    late = f"This machine's clock is {behind / 60:.0f} min behind the newest record; set it right."
    return [f"{late} Times go on from that record."]


def looks(
    database: Database, objects: ObjectStore, runner: Runner, address: Callable[[], str], *, alone: bool
) -> Iterator[Look]:
    """Give what there is to look at here."""
    from acai_server.checkup import clocks

    if not alone:
        yield "browser extension", _browser_extension
    if runner.name == "kubernetes":
        yield "cluster", partial(look_at_cluster, runner)
    if database.name != "sqlite":
        yield "clock of the database", partial(clocks.look, "database", database.moment, _now)
    if objects.name == "s3":
        bucket: Any = objects
        yield "clock of the store", partial(clocks.look, "store", bucket.moment, _now)
        yield "uploads from pages", partial(_pages, bucket, address)


def _now() -> datetime:
    return datetime.now(UTC)


def _browser_extension() -> Check:
    """Look where this environment's JupyterLab finds its extensions."""
    from jupyter_core.paths import jupyter_config_path, jupyter_path

    from acai_server import __version__
    from acai_server.checkup import browser

    return browser.look(__version__, jupyter_path(), jupyter_config_path())


def _pages(bucket: Any, address: Callable[[], str]) -> Check:
    """Ask the bucket what a browser asks before a page may send to it."""
    scheme, _, rest = address().partition("://")
    origin = f"{scheme}://{rest.partition('/')[0]}"
    name = "uploads from pages"
    if bucket.lets_pages_send(origin):
        return Check(name, Finding.OK, f"a page of {origin} may send to the bucket")
    said = f"a page of {origin} may not send to the bucket; where pages are to, allow PUT and GET from there by CORS."
    return Check(name, Finding.WARNING, said)
