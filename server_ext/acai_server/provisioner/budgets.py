"""Holds what is spent against budgets: when jobs are submitted, and while they run."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import UTC, datetime
from typing import TYPE_CHECKING

import msgspec

from acai_jupyter.contract.budgets import Budget, BudgetLeft, BudgetList
from acai_jupyter.contract.errors import Conflict, TooManyKept, UserNotFound
from acai_jupyter.contract.foreign import one_line
from acai_jupyter.contract.prices import CostGroup
from acai_jupyter.contract.states import Role
from acai_server.db import sight
from acai_server.loops import Periodic
from acai_server.provisioner.sentences import money

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

    from acai_jupyter.contract.budgets import SetBudget
    from acai_jupyter.contract.ids import JobId, ProjectId, UserId
    from acai_jupyter.contract.plans import Expected
    from acai_jupyter.contract.prices import Costs
    from acai_server.db.budgets import Notice
    from acai_server.db.database import Database
    from acai_server.db.projects import Member
    from acai_server.db.work import Work
    from acai_server.provisioner.costs import Accounts
    from acai_server.provisioner.protocols import Jobs

INTERVAL_SECONDS = 3.0
FULL = 1.0 - 1e-9
NEAR = 0.8
MOST = 1000
"""Budgets of a project, its own and those of users: each submit looks at all of them."""


@dataclass(frozen=True)
class _Bound:
    """One bound, of whom, and what is spent of it."""

    left: BudgetLeft
    user: UserId | None

    @property
    def share(self) -> float:
        """How much of it is spent."""
        return self.left.spent_usd / self.left.limit_usd


class Budgets:
    """The budgets of projects and of users in them."""

    def __init__(self, database: Database, accounts: Accounts) -> None:
        self._database = database
        self._accounts = accounts

    def listed(self, member: Member) -> BudgetList:
        """Return the budgets that somebody may know of, and what is left for them."""
        with self._database.asking() as work:  # as each status does, mostly where there are none
            if not work.budgets.are_there(member.project_id):
                return BudgetList([], [])
        with self._database.reading() as work:
            found = work.budgets.of(member.project_id)
            left = self.left(work, member.project_id, member.user_id)
        seen = [one for user, one in found if member.role is Role.ADMIN or user in (None, member.user_id)]
        return BudgetList(seen, left)

    def change(self, member: Member, wanted: SetBudget) -> BudgetList:
        """Set bounds of the project, or of one of its users."""
        with self._database.writing() as work:
            work.uploads.lock_project(member.project_id)
            user: UserId | None = None
            if wanted.user is not None:
                there = work.users.find(member.project_id, wanted.user)
                if there is None:
                    raise UserNotFound(user=one_line(wanted.user[:64]))
                user = there[0]
            known = dict(work.budgets.of(member.project_id))
            fields = ("job_usd", "month_usd", "total_usd", "stops")
            said = {name: getattr(wanted, name) for name in fields}
            given = {name: value for name, value in said.items() if value is not msgspec.UNSET}
            if user not in known and len(known) >= MOST:
                raise TooManyKept(owner="the project", limit=MOST, things="budgets")
            before = known.get(user, Budget(wanted.user))
            work.budgets.keep(member.project_id, user, msgspec.structs.replace(before, **given))
            work.events.record(member.project_id, "budget_changed", wanted.user or member.project)
        return self.listed(member)

    def left(self, work: Work, project: ProjectId, user: UserId) -> list[BudgetLeft]:
        """Return what a user may still spend, counting the jobs that the caller can see."""
        is_partial = bool(sight.unseen())
        return [
            msgspec.structs.replace(bound.left, is_partial=is_partial)
            for bound in self._bounds_as_seen(work, project)
            if bound.user in (None, user)
        ]

    def check(
        self, work: Work, project: ProjectId, user: UserId, expected: Callable[[], Expected | None], count: int
    ) -> None:
        """Refuse jobs that are expected to cost more than is left; without a forecast, when nothing is left.

        Of a forecast that is too uncertain to decide by, the least counts.
        """
        if not work.budgets.are_there(project):
            return
        known = expected()
        each = 0.0 if known is None else known.min_cost_usd if known.is_vague else known.cost_usd
        for of, budget in work.budgets.of(project):
            if of in (None, user) and budget.stops and budget.job_usd is not None and each > budget.job_usd:
                told = f"a job of {_whose(budget.user)} may cost {money(budget.job_usd)}"
                raise Conflict(f"This job is expected to cost {money(each)}, and {told}. {RAISE}")
        for bound in self.bounds(work, project):
            if bound.user not in (None, user) or not bound.left.stops:
                continue
            one = bound.left
            if bound.share >= FULL or each * count > one.left_usd:
                if sight.unseen():
                    raise Conflict(_refusal_without_amount(one))
                needs = f", and this is expected to cost {money(each * count)}" if bound.share < FULL else ""
                used = f"{money(one.spent_usd)} of the {money(one.limit_usd)} of {one.name} are spent{needs}"
                raise Conflict(f"{used[:1].upper()}{used[1:]}. {RAISE}")

    def bounds(self, work: Work, project: ProjectId) -> list[_Bound]:
        """Return all bounds of a project except those of single jobs, with everything that was spent."""
        with sight.everything():  # enforcement counts restricted jobs too
            return self._bounds_as_seen(work, project)

    def _bounds_as_seen(self, work: Work, project: ProjectId) -> list[_Bound]:
        found = work.budgets.of(project)
        if not any(one.month_usd is not None or one.total_usd is not None for _, one in found):
            return []
        now = work.clock.now()
        month = datetime(now.year, now.month, 1, tzinfo=UTC)
        in_all = self._accounts.within(work, project, CostGroup.USER)
        in_month = self._accounts.within(work, project, CostGroup.USER, month)
        return [bound for user, one in found for bound in _bounds(user, one, in_all, in_month, f"{month:%Y-%m}")]


RAISE = "An admin of the project can raise it: acai project budget."


def _refusal_without_amount(one: BudgetLeft) -> str:
    """Refuse a job of a user who does not see everything that was spent."""
    return (
        f"The budget of {one.name}, {money(one.limit_usd)}, does not cover this. "
        f"Jobs that you cannot see may have used part of it. {RAISE}"
    )


def _bounds(user: UserId | None, one: Budget, in_all: Costs, in_month: Costs, month: str) -> Iterator[_Bound]:
    for cap, costs, when in ((one.month_usd, in_month, f" in {month}"), (one.total_usd, in_all, "")):
        if cap is not None:
            row = next((row for row in costs.rows if row.key == one.user), None) if one.user else costs.total
            spent = 0.0 if row is None else row.cost_usd
            yield _Bound(BudgetLeft(f"{_whose(one.user)}{when}", cap, spent, one.stops), user)


def _whose(user: str | None) -> str:
    return "the project" if user is None else one_line(user)


def _news(work: Work, project: ProjectId, bounds: Sequence[_Bound]) -> list[Notice]:
    """What was not told yet of bounds, as high as they are now: that they are near, or that they are spent."""
    told = work.budgets.told(project)
    shares = [(one.left, 1.0 if one.share >= FULL else NEAR if one.left.is_near else 0.0) for one in bounds]
    found = [(left.name, left.limit_usd, share) for left, share in shares if share]
    return [one for one in found if one not in told]


class BudgetKeeper(Periodic):
    """Tells of budgets that are nearly spent, and ends the jobs of those that are."""

    def __init__(self, database: Database, budgets: Budgets, accounts: Accounts, jobs: Jobs) -> None:
        super().__init__("budgets", INTERVAL_SECONDS)
        self._database = database
        self._budgets = budgets
        self._accounts = accounts
        self._jobs = jobs

    def step(self) -> bool:
        """Look at all projects with a budget and open jobs."""
        with self._database.reading() as work:
            projects = work.budgets.projects()
        for project in projects:
            self._look(project)
        return False

    def _look(self, project: ProjectId) -> None:
        with self._database.reading() as work:
            bounds = self._budgets.bounds(work, project)
            single = [(of, one) for of, one in work.budgets.of(project) if one.job_usd is not None]
            dear = self._dear(work, project, single)
            news = _news(work, project, bounds)
        spent = [bound for bound in bounds if bound.share >= FULL and bound.left.stops]
        if not news and not spent and not dear:
            return
        with self._database.writing() as work:
            if news:
                self._tell(work, project, bounds)
            for job, of, why in [*dear, *self._of_spent(work, project, spent)]:
                self._jobs.end_for(work, job, of, why)
        self._jobs.wake()

    def _tell(self, work: Work, project: ProjectId, bounds: Sequence[_Bound]) -> None:
        """Tell what another server has not told meanwhile."""
        work.uploads.lock_project(project)
        news = _news(work, project, bounds)
        work.budgets.tell(project, news, work.clock.now())
        for name, _, share in news:
            work.events.record(project, "budget_near" if share < 1 else "budget_spent", name)

    def _of_spent(self, work: Work, project: ProjectId, spent: Sequence[_Bound]) -> Iterator[tuple[JobId, UserId, str]]:
        for one in work.budgets.open_jobs(project) if spent else []:
            bound = next((bound for bound in spent if bound.user in (None, one.user_id)), None)
            if bound is not None:
                yield one.id, one.user_id, f"the {money(bound.left.limit_usd)} of {bound.left.name} are spent"

    def _dear(
        self, work: Work, project: ProjectId, single: Sequence[tuple[UserId | None, Budget]]
    ) -> list[tuple[JobId, UserId, str]]:
        """Jobs that have cost what one of them may."""
        found: list[tuple[JobId, UserId, str]] = []
        live = self._accounts.live_usd(work, project) if single else {}
        for one in work.budgets.open_jobs(project) if single else []:
            spent = one.spent_usd + live.get(one.id, 0.0)
            for of, budget in single:
                assert budget.job_usd is not None
                if of in (None, one.user_id) and budget.stops and spent >= budget.job_usd * FULL:
                    why = f"the {money(budget.job_usd)} that a job of {_whose(budget.user)} may cost are spent"
                    found.append((one.id, one.user_id, why))
                    break
        return found
