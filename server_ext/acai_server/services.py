"""The services of one server, as `app.py` put them together."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable
    from datetime import datetime

    from acai_jupyter.contract.projects import Backends
    from acai_server.credentials.service import Credentials
    from acai_server.engine.service import Engine
    from acai_server.events.service import Events
    from acai_server.lake.service import Lake
    from acai_server.objects.protocol import ObjectStore
    from acai_server.objects.signing import UrlSigner
    from acai_server.provenance.service import Provenance


@dataclass(frozen=True)
class Services:
    """What the API can call."""

    credentials: Credentials
    lake: Lake
    provenance: Provenance
    engine: Engine
    events: Events
    objects: ObjectStore
    signer: UrlSigner
    backends: Backends
    data_folder: str | None
    started_at: datetime
    notices: list[str]
    close: Callable[[], None]
    """Ends the loops and gives back what was opened. Safe to call twice."""
