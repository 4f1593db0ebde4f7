"""The collection of objects that no record of this database owns: listing them, and deleting them when confirmed.

It looks through the whole store, as such objects may name a project that this database does not have.
"""

from __future__ import annotations

from itertools import chain, islice
from typing import TYPE_CHECKING

from acai_jupyter.contract.errors import Conflict
from acai_jupyter.contract.garbage import GarbageKind, UnknownObject
from acai_server.lake.ownership import ownership

if TYPE_CHECKING:
    from collections.abc import Iterator

    from acai_jupyter.contract.ids import ObjectKey
    from acai_server.lake.collecting import Run
    from acai_server.objects.protocol import ListedObject

SHOWN = 1000
_AT_ONCE = 1000
_DIGITS = "123456789"


def sweep_unknown(run: Run, confirmed: int | None) -> None:
    """List the unknown objects; delete them if their number is the one that was confirmed."""
    counted: set[ObjectKey] = set()
    size_bytes = 0
    for page in _unknown(run):
        counted.update(one.key for one in page)
        size_bytes += sum(one.size_bytes for one in page)
        run.report.show_unknown([UnknownObject(*one) for one in page], SHOWN)
    count = len(counted)
    if run.is_dry:
        run.report.add(GarbageKind.UNKNOWN, count, size_bytes)
        return
    if count != confirmed:
        unknown = "1 object is" if count == 1 else f"{count:,} objects are"
        raise Conflict(reason=f"{unknown} unknown now, and the deletion of {confirmed} was confirmed; none was deleted")
    for page in _unknown(run):
        confirmed_page = [one for one in page if one.key in counted]  # what came since was not confirmed
        run.objects.delete_all(one.key for one in confirmed_page)
        run.report.add(GarbageKind.UNKNOWN, len(confirmed_page), sum(one.size_bytes for one in confirmed_page))


def _unknown(run: Run) -> Iterator[list[ListedObject]]:
    objects = chain.from_iterable(run.objects.listed(f"p{digit}") for digit in _DIGITS)
    while page := list(islice(objects, _AT_ONCE)):
        run.go_on()
        with run.database.reading() as work:
            found = set(ownership(work, [one.key for one in page], run.started_at).unknown)
        yield [one for one in page if one.key in found]
