"""Prices and costs over HTTP."""

from __future__ import annotations

from typing import TYPE_CHECKING

import msgspec

from acai_jupyter.contract import endpoints
from acai_jupyter.contract.queries import CostQuery

if TYPE_CHECKING:
    from acai_jupyter.contract.prices import Costs, PriceBooks
    from acai_server.api.call import Call, Operations


def get_prices(call: Call) -> PriceBooks:
    """Return the price books."""
    return call.services.prices.books()


def get_costs(call: Call) -> Costs:
    """Add up what jobs have cost."""
    query = call.queried(CostQuery)
    found = call.services.accounts.costs(call.project, query.by, query.since, query.until)
    end = query.skip + query.limit
    return msgspec.structs.replace(
        found,
        rows=found.rows[query.skip : end],
        left=call.services.budgets.listed(call.member).left,
        next=end if len(found.rows) > end else None,
    )


OPERATIONS: Operations = {endpoints.GET_PRICES: get_prices, endpoints.GET_COSTS: get_costs}
