"""`project budget` and `user budget`: what may be spent, and what is left of that."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from acai_jupyter.commands.listings import Listing
from acai_jupyter.commands.results import Result
from acai_jupyter.commands.units import money
from acai_jupyter.contract import endpoints
from acai_jupyter.contract.budgets import SetBudget
from acai_jupyter.contract.errors import BadRequest

if TYPE_CHECKING:
    from argparse import Namespace
    from collections.abc import Sequence

    from acai_jupyter.client.http import Client
    from acai_jupyter.contract.budgets import Budget, BudgetLeft, BudgetList

OFF = 0.0
"""What a line says for no bound."""


def of_project(client: Client, arguments: Namespace) -> Result:
    """Show the budgets, or set bounds of the project."""
    return _result(change(client, None, arguments))


def of_user(client: Client, arguments: Namespace) -> Result:
    """Set bounds of a user."""
    return _result(change(client, arguments.name, arguments))


def change(client: Client, user: str | None, arguments: Namespace) -> BudgetList:
    """Set what is given; without anything only ask."""
    if arguments.report and arguments.stop:
        raise BadRequest("--stop and --report are two ways to go on at a bound; one of them.")
    caps = {"job_usd": arguments.job, "month_usd": arguments.month, "total_usd": arguments.total}
    said: dict[str, Any] = {name: cap or None for name, cap in caps.items() if cap is not None}
    if arguments.report or arguments.stop:
        said["stops"] = not arguments.report
    if not said:
        return client.call(endpoints.GET_BUDGET)
    return client.call(endpoints.SET_BUDGET, SetBudget(user, **said))


def lines(left: Sequence[BudgetLeft]) -> list[str]:
    """Say in a line for each bound what is left of it."""
    return [_line(one) for one in left]


def _line(one: BudgetLeft) -> str:
    if one.left_usd > 0:
        near = ", which is nearly all" if one.is_near else ""
        left = f"{'at most ' if one.is_partial else ''}{money(one.left_usd)} of {money(one.limit_usd)} left"
        spent = f"{money(one.spent_usd)} spent{' on jobs that you can see' if one.is_partial else ''}"
        return f"budget of {one.name}: {left}; {spent}{near}"
    then = "jobs are refused and stopped" if one.stops else "jobs go on all the same"
    return f"budget of {one.name}: nothing of {money(one.limit_usd)} left; {money(one.spent_usd)} spent, and {then}"


def _result(found: BudgetList) -> Result:
    if not found.budgets:
        return Result("There is no budget: nothing bounds what may be spent.", found, "budgets")
    rows = [
        [one.user or "the project", *map(_cap, (one.job_usd, one.month_usd, one.total_usd)), _then(one)]
        for one in found.budgets
    ]
    head = ["of", "each job", "in a month", "in all", "then jobs are"]
    rest = "\n".join(lines(found.left))
    listing = Listing(rows, "<>>><", head, rest=rest, head_is_shown=True)
    return Result(listing.text, found, "budgets", html=listing.html)


def _then(one: Budget) -> str:
    return "stopped" if one.stops else "only told of"


def _cap(usd: float | None) -> str:
    return "any" if usd is None else money(usd)
