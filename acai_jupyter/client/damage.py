"""Reports files whose stored bytes could not be read, so that the server looks into them."""

from __future__ import annotations

from contextlib import contextmanager
from typing import TYPE_CHECKING

from acai_jupyter.contract import endpoints
from acai_jupyter.contract.errors import AcaiError, BlobQuarantined
from acai_jupyter.contract.files import DamageReport, ReportedFile
from acai_jupyter.transfer.errors import TransferError, may_be_damage

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from acai_jupyter.client.http import Client
    from acai_jupyter.contract.files import Place

_AT_ONCE = 1000
_NAMED = 3


@contextmanager
def reported(client: Client, places: Iterable[Place]) -> Iterator[None]:
    """Report these files when reading them fails, and name those that the server finds damaged."""
    try:
        yield
    except TransferError as error:
        if may_be_damage(error):
            damaged = _verdict(client, list(places))
            if damaged:
                raise _error(damaged) from error
        raise


def _verdict(client: Client, places: list[Place]) -> list[str]:
    """Return the files that the server found damaged; none when it cannot be asked, as the read failed anyway."""
    damaged: list[str] = []
    for start in range(0, len(places), _AT_ONCE):
        files = [ReportedFile(place.path, place.version) for place in places[start : start + _AT_ONCE]]
        try:
            damaged += client.call(endpoints.REPORT_DAMAGE, DamageReport(files)).damaged
        except AcaiError:
            break
    return damaged


def _error(damaged: list[str]) -> BlobQuarantined:
    named = ", ".join(f"'{name}'" for name in damaged[:_NAMED])
    more = f" and {len(damaged) - _NAMED:,} more files" if len(damaged) > _NAMED else ""
    heal = (
        "Put a good copy of the file to heal it" if len(damaged) == 1 else "Put good copies of the files to heal them"
    )
    said = f"The stored bytes of {named}{more} are damaged. {heal}; acai-server repair looks for other copies."
    return BlobQuarantined(said, what=damaged[0], files=damaged[:_NAMED])
