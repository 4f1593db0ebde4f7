"""Budgets over HTTP."""

from __future__ import annotations

from typing import TYPE_CHECKING

from acai_jupyter.contract import endpoints
from acai_jupyter.contract.budgets import BudgetList, SetBudget

if TYPE_CHECKING:
    from acai_server.api.call import Call, Operations


def get_budget(call: Call) -> BudgetList:
    """Say what may be spent, and what is left."""
    return call.services.budgets.listed(call.member)


def set_budget(call: Call) -> BudgetList:
    """Set bounds."""
    return call.services.budgets.change(call.member, call.sent(SetBudget))


OPERATIONS: Operations = {endpoints.GET_BUDGET: get_budget, endpoints.SET_BUDGET: set_budget}
