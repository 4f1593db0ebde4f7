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
    return msgspec.structs.replace(found, left=call.services.budgets.listed(call.member).left)


OPERATIONS: Operations = {endpoints.GET_PRICES: get_prices, endpoints.GET_COSTS: get_costs}
