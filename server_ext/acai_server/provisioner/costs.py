"""What was spent: finished attempts as they were recorded, live ones until now."""

from __future__ import annotations

from datetime import UTC, datetime
from functools import partial
from typing import TYPE_CHECKING

import msgspec

from acai_jupyter.contract.ids import JobId
from acai_jupyter.contract.prices import CostGroup, CostRow, Costs

if TYPE_CHECKING:
    from acai_jupyter.contract.ids import ProjectId
    from acai_server.db.costs import LiveShare
    from acai_server.db.database import Database
    from acai_server.db.work import Work
    from acai_server.provisioner.prices import Prices

_BEGINNING = datetime(1970, 1, 1, tzinfo=UTC)
_END = datetime(9999, 1, 1, tzinfo=UTC)


class Accounts:
    """Adds up what jobs cost."""

    def __init__(self, database: Database, prices: Prices) -> None:
        self._database = database
        self._prices = prices

    def costs(
        self, project: ProjectId, by: CostGroup, since: datetime | None = None, until: datetime | None = None
    ) -> Costs:
        """Return what the jobs that were submitted within a time have cost until now."""
        with self._database.reading() as work:
            return self.within(work, project, by, since, until)

    def live_usd(self, work: Work, project: ProjectId) -> dict[JobId, float]:
        """Return what the attempts that are being billed have cost until now, by job."""
        now, found = work.clock.now(), {}
        for share in work.costs.live(project, CostGroup.JOB, _BEGINNING, _END):
            found[JobId(share.job)] = self._with(CostRow("", 0, 0, 0.0, 0.0), share, now).cost_usd
        return found

    def within(
        self,
        work: Work,
        project: ProjectId,
        by: CostGroup,
        since: datetime | None = None,
        until: datetime | None = None,
    ) -> Costs:
        """Do so inside of a transaction."""
        span = since or _BEGINNING, until or _END
        now = work.clock.now()
        rows = {row.key: row for row in work.costs.rows(project, by, *span)}
        total = work.costs.total(project, *span)
        live = work.costs.live(project, by, *span)
        counted: set[int] = set()
        for share in live:
            rows[share.key] = self._with(rows.get(share.key, CostRow(share.key, 0, 0, 0.0, 0.0)), share, now)
            if share.job not in counted:
                total = self._with(total, share, now)
                counted.add(share.job)
        return Costs(by, sorted(rows.values(), key=partial(_place, by)), total, since, until)

    def _with(self, row: CostRow, share: LiveShare, now: datetime) -> CostRow:
        seconds = max(0.0, (now - share.since).total_seconds())
        paid = seconds * share.nodes
        machine, gpus, kind = (share.vcpu, share.memory_bytes), share.gpus, share.gpu_type
        usd = self._prices.cost_usd(*machine, paid, gpus=gpus, gpu_type=kind, version=share.price_book)
        return msgspec.structs.replace(
            row,
            billed_seconds=row.billed_seconds + seconds,
            cost_usd=row.cost_usd + usd,
            live_jobs=row.live_jobs + 1,
        )


def _place(by: CostGroup, row: CostRow) -> tuple[float, str]:
    return (0.0 if by is CostGroup.DAY else -row.cost_usd), row.key
