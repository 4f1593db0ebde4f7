"""The services of one server, as `app.py` put them together."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable
    from datetime import datetime

    from acai_jupyter.contract.jobs import ResourceLimits
    from acai_jupyter.contract.projects import Backends
    from acai_jupyter.contract.sign_in import SignInWays
    from acai_server.checkup.service import Checkups
    from acai_server.credentials.service import Credentials
    from acai_server.credentials.sign_ins import SignIns
    from acai_server.engine.service import Engine
    from acai_server.events.service import Events
    from acai_server.lake.service import Lake
    from acai_server.metadata.service import Attributes
    from acai_server.objects.protocol import ObjectStore
    from acai_server.objects.signing import UrlSigner
    from acai_server.provenance.exploring import Drawings
    from acai_server.provenance.service import Provenance
    from acai_server.provisioner.budgets import Budgets
    from acai_server.provisioner.costs import Accounts
    from acai_server.provisioner.prices import Prices
    from acai_server.provisioner.profiler import Profiler
    from acai_server.provisioner.service import Provisioner
    from acai_server.spare import SpareRoom


@dataclass(frozen=True)
class Services:
    """What the API can call."""

    credentials: Credentials
    sign_ins: SignIns
    ways: SignInWays
    lake: Lake
    metadata: Attributes
    provenance: Provenance
    drawings: Drawings
    engine: Engine
    prices: Prices
    accounts: Accounts
    budgets: Budgets
    provisioner: Provisioner
    profiler: Profiler
    events: Events
    checkups: Checkups
    objects: ObjectStore
    signer: UrlSigner
    backends: Backends
    limits: ResourceLimits
    data_folder: str | None
    started_at: datetime
    notices: Callable[[], list[str]]
    """Returns current warnings for users of this server, in sentences."""
    operator_notices: list[str]
    """Warnings that only operators of the server can act on; they name files of theirs."""
    spare: SpareRoom
    close: Callable[[], None]
    """Ends the loops and gives back what was opened. Safe to call twice."""
