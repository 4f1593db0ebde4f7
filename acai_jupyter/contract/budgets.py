"""Budgets: how much a project, or one of its users, may spend, and what is left of that."""

from __future__ import annotations

from typing import Annotated

import msgspec

Cap = Annotated[float, msgspec.Meta(gt=0)]


class Budget(msgspec.Struct, frozen=True):
    """What may be spent, by all of a project or, with a name, by one user. Null is without a bound."""

    user: str | None = None
    job_usd: float | None = None
    """By each job."""
    month_usd: float | None = None
    """In each calendar month, by the jobs that are submitted in it, in UTC."""
    total_usd: float | None = None
    """In all."""
    stops: bool = True
    """Whether jobs are refused and stopped at the bound; else it is only told."""


class SetBudget(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """What is to be different of the budget of a project, or of one user. Null takes a bound away."""

    user: str | None = None
    job_usd: Cap | msgspec.UnsetType | None = msgspec.UNSET
    month_usd: Cap | msgspec.UnsetType | None = msgspec.UNSET
    total_usd: Cap | msgspec.UnsetType | None = msgspec.UNSET
    stops: bool | msgspec.UnsetType = msgspec.UNSET


class BudgetLeft(msgspec.Struct, frozen=True):
    """How one bound stands: what it is of, how much is spent, and what is left."""

    name: str
    """Like 'the project in 2026-11'."""
    limit_usd: float
    spent_usd: float
    stops: bool
    is_partial: bool = False
    """Whether some of the project is hidden from the caller, so that less may be left than this says."""

    @property
    def left_usd(self) -> float:
        """What may still be spent."""
        return max(0.0, self.limit_usd - self.spent_usd)

    @property
    def is_near(self) -> bool:
        """Whether four fifths are spent."""
        return self.spent_usd >= 0.8 * self.limit_usd


class BudgetList(msgspec.Struct, frozen=True):
    """The budgets of the project and of who asks; to an admin, those of all users. `left` is for who asks."""

    budgets: list[Budget]
    left: list[BudgetLeft]
