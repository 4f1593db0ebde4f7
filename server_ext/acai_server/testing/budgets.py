"""What budgets owe to whoever rules a project and whoever spends in it, whatever the database."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

import pytest

from acai_jupyter.contract.budgets import Budget, SetBudget
from acai_jupyter.contract.errors import Conflict, TooManyKept, UserNotFound
from acai_jupyter.contract.jobs import CreateJob
from acai_jupyter.contract.prices import PriceBook, Rate
from acai_jupyter.contract.states import JobState, Role
from acai_jupyter.contract.sweeps import CreateSweep
from acai_server.provisioner.budgets import MOST, BudgetKeeper, Budgets
from acai_server.provisioner.costs import Accounts
from acai_server.provisioner.prices import Prices

if TYPE_CHECKING:
    from acai_jupyter.contract.budgets import BudgetLeft
    from acai_server.testing.stages import JobUser

DOLLAR_A_SECOND = PriceBook(vcpu=Rate(3600.0, 0, 1), memory_gb=Rate(0.0, 0, 1))


class Spending:
    """A user whose jobs cost a dollar each second, with the budgets of their project."""

    def __init__(self, user: JobUser) -> None:
        prices = Prices(user.database, DOLLAR_A_SECOND)
        self.user, self.runs = user, 0
        self.accounts = Accounts(user.database, prices)
        self.budgets = Budgets(user.database, self.accounts)
        user.engine = user.another_engine(prices=prices, purse=self.budgets)
        self.keeper = self.another_keeper()

    def another_keeper(self) -> BudgetKeeper:
        """Return one that knows nothing but what is in the database, as that of a further server."""
        return BudgetKeeper(self.user.database, self.budgets, self.accounts, self.user.engine)

    def bound(self, user: str | None = None, **caps: Any) -> None:
        """Set a budget."""
        self.budgets.change(replace(self.user.lake.member, role=Role.ADMIN), SetBudget(user, **caps))

    def left(self) -> dict[str, BudgetLeft]:
        """Return what is left, by what it is of."""
        return {one.name: one for one in self.budgets.listed(self.user.lake.member).left}

    def spend(self, seconds: float, by: JobUser | None = None) -> None:
        """Run a job that takes so long."""
        user = by or self.user
        self.runs += 1  # each is of a kind of its own, so that nobody knows what the next one costs
        user.run(user.submit(template=f"run {self.runs}"), billed_seconds=seconds, run_seconds=seconds)

    def begin(self, **asked: Any) -> int:
        """Let a job run."""
        number = self.user.submit(**asked)
        self.user.schedule()
        self.user.say(number, state="downloading")
        self.user.look()
        return number

    def told(self) -> list[tuple[str, str]]:
        """Return what was told of budgets."""
        with self.user.database.reading() as work:
            found = work.events.after(self.user.project, 0, 10_000).events
        return [(event.kind, event.subject) for event in found if event.kind.startswith("budget_")]


class BudgetSuite:
    """Derive from this with a fixture `user` that gives one in a new project, with a staged runner of their own."""

    @pytest.fixture
    def user(self) -> JobUser:
        raise NotImplementedError

    def test_without_a_budget_nothing_is_bounded(self, user: JobUser) -> None:
        spending = Spending(user)
        spending.spend(1000.0)
        assert spending.left() == {}
        assert user.submit() > 0

    def test_whoever_may_spend_sees_what_is_left(self, user: JobUser) -> None:
        spending = Spending(user)
        spending.bound(month_usd=100, total_usd=500)
        spending.bound(user.name, total_usd=50)
        spending.spend(30.0)
        left = {name: one.left_usd for name, one in spending.left().items()}
        assert left == pytest.approx({"the project in 2026-01": 70, "the project": 470, user.name: 20})

    def test_a_job_that_goes_on_counts_until_now(self, user: JobUser) -> None:
        spending = Spending(user)
        spending.bound(total_usd=100)
        spending.begin()
        user.time.pass_by(40.0)
        assert spending.left()["the project"].left_usd == pytest.approx(60.0, abs=0.1)

    def test_a_month_begins_with_all_of_it(self, user: JobUser) -> None:
        spending = Spending(user)
        spending.bound(month_usd=10, total_usd=15)
        spending.spend(10.0)
        with pytest.raises(Conflict, match=r"^\$10.00 of the \$10.00 of the project in 2026-01 are spent\. An admin"):
            user.submit()
        user.time.pass_by(32 * 86_400)
        spending.spend(5.0)
        with pytest.raises(Conflict, match=r"of the \$15.00 of the project are spent"):
            user.submit()

    def test_what_is_expected_to_cost_more_than_is_left_is_refused(self, user: JobUser) -> None:
        spending = Spending(user)
        spending.bound(total_usd=100, job_usd=30)
        spending.spend(20.0)
        wanted = CreateSweep(CreateJob("true", template="run 1"), {"n": [1, 2, 3, 4, 5]})
        with pytest.raises(Conflict, match=r"are spent, and this is expected to cost \$100.00"):
            user.engine.submit_sweep(user.project, user.user, wanted)
        spending.bound(job_usd=19)
        with pytest.raises(Conflict, match=r"expected to cost \$20.00, and a job of the project may cost \$19.00"):
            user.submit(template="run 1")

    def test_at_the_bound_a_job_is_stopped_and_what_it_left_is_kept(self, user: JobUser) -> None:
        spending = Spending(user)
        spending.bound(total_usd=10)
        number, waits = spending.begin(), user.submit(priority=-1, resources=user.job(1).resources)
        assert user.document(number).keep_partial
        user.time.pass_by(9.0)
        spending.keeper.step()
        assert user.job(number).kill_asked_at is None
        assert spending.told()[-1] == ("budget_near", "the project")
        user.time.pass_by(2.0)
        spending.keeper.step()
        assert user.job(waits).state is JobState.KILLED
        user.finish(number, 143, {"half": b"h"}, run_seconds=11.0, billed_seconds=0.5, was_stopped=True)
        user.look()
        job = user.job(number)
        assert (job.state, job.reason) == (JobState.KILLED, "the $10.00 of the project are spent")
        assert job.partial is not None
        assert spending.told()[-1] == ("budget_spent", "the project")

    def test_it_is_told_once_whichever_server_looks_and_again_of_another_bound(self, user: JobUser) -> None:
        spending = Spending(user)
        spending.bound(total_usd=10, stops=False)
        spending.begin()
        user.time.pass_by(9.0)
        for keeper in (spending.keeper, spending.another_keeper(), spending.another_keeper()):
            keeper.step()
        assert spending.told().count(("budget_near", "the project")) == 1
        user.time.pass_by(2.0)
        for keeper in (spending.another_keeper(), spending.keeper):
            keeper.step()
        assert spending.told().count(("budget_spent", "the project")) == 1
        spending.bound(total_usd=13)
        spending.another_keeper().step()
        assert [kind for kind, _ in spending.told() if kind != "budget_changed"][-1] == "budget_near"

    def test_a_job_that_costs_more_than_one_may_is_stopped_alone(self, user: JobUser) -> None:
        spending = Spending(user)
        spending.bound(job_usd=10)
        first = spending.begin()
        user.time.pass_by(8.0)
        second = spending.begin()
        user.time.pass_by(3.0)
        spending.keeper.step()
        assert user.job(first).kill_asked_at is not None
        assert user.job(second).kill_asked_at is None

    def test_what_is_only_told_stops_nothing(self, user: JobUser) -> None:
        spending = Spending(user)
        spending.bound(total_usd=10, job_usd=5, stops=False)
        number = spending.begin()
        user.time.pass_by(20.0)
        spending.keeper.step()
        assert user.job(number).kill_asked_at is None
        assert user.submit() > number
        assert spending.told()[-1] == ("budget_spent", "the project")

    def test_a_users_budget_is_of_their_jobs_alone(self, user: JobUser) -> None:
        spending, other = Spending(user), user.beside("other")
        spending.bound("other", total_usd=10)
        spending.spend(50.0)
        spending.spend(10.0, by=other)
        with pytest.raises(Conflict, match=r"of the \$10.00 of other are spent"):
            other.submit()
        assert user.submit() > 0
        assert spending.left() == {}

    def test_a_project_has_so_many_budgets_and_no_more(self, user: JobUser) -> None:
        spending = Spending(user)
        spending.bound(total_usd=5.0)
        with user.database.writing() as work:
            for number in range(MOST):
                one = work.users.ensure(f"user-{number}", work.clock.now())
                work.users.join(user.project, one, Role.MEMBER, None)
                if number:
                    work.budgets.keep(user.project, one, Budget(total_usd=1.0))
        with pytest.raises(TooManyKept, match="the project has 1000 budgets, which is the most"):
            spending.bound("user-0", total_usd=1.0)
        spending.bound("user-1", total_usd=2.0)  # who has one already
        spending.bound("user-1", total_usd=None)
        spending.bound("user-0", total_usd=1.0)

    def test_a_bound_is_taken_away_by_itself(self, user: JobUser) -> None:
        spending = Spending(user)
        spending.bound(month_usd=1, total_usd=2)
        spending.bound(month_usd=None)
        assert list(spending.left()) == ["the project"]
        spending.bound(total_usd=None)
        assert spending.budgets.listed(user.lake.member).budgets == []
        with pytest.raises(UserNotFound):
            spending.bound("nobody", total_usd=1)
