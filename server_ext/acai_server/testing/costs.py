"""What the accounts owe to whoever asks what was spent, whatever the database."""

from __future__ import annotations

from datetime import timedelta
from typing import TYPE_CHECKING

import pytest

from acai_jupyter.contract.errors import JobRefused
from acai_jupyter.contract.jobs import CreateJob, Resources
from acai_jupyter.contract.plans import PlanJob
from acai_jupyter.contract.prices import MIB, CostGroup, PriceBook, Rate
from acai_server.provisioner.costs import Accounts
from acai_server.provisioner.prices import Prices, Tariff

if TYPE_CHECKING:
    from datetime import datetime

    from acai_jupyter.contract.prices import CostRow, Costs
    from acai_server.testing.stages import JobUser

DEAR = PriceBook(vcpu=Rate(1.0, 0, 1), memory_gb=Rate(0.0, 0, 1))
LARGE = Resources(2, 1024 * MIB)


def prices(user: JobUser, book: PriceBook | None = None) -> Prices:
    """Return the prices of a book."""
    return Prices(user.database, book or user.book)


def costs(user: JobUser, by: CostGroup, since: datetime | None = None, until: datetime | None = None) -> Costs:
    """Ask."""
    return Accounts(user.database, prices(user)).costs(user.project, by, since, until)


def keys(found: Costs) -> dict[str, tuple[int, float]]:
    """Return jobs and seconds by key."""
    return {row.key: (row.jobs, round(row.billed_seconds)) for row in found.rows}


class CostSuite:
    """Derive from this with a fixture `user` that gives one in a new project, with a staged runner of their own."""

    @pytest.fixture
    def user(self) -> JobUser:
        raise NotImplementedError

    def test_what_is_told_to_those_who_watch_is_what_the_jobs_came_to(self, user: JobUser) -> None:
        user.time.pass_by(1)
        number = user.submit()
        user.time.pass_by(7)
        ended = user.run(number, billed_seconds=3600.0)
        user.submit()
        with user.database.reading() as work:
            told = {(one.name, *one.labels.values()): one.value for one in work.metrics.samples()}
        me = user.project_name, user.name
        assert told["acai_jobs", *me, "finished"] == told["acai_jobs", *me, "queued"] == 1
        assert told["acai_waited_seconds_total", *me] == pytest.approx(7, abs=0.1)
        assert told["acai_billed_seconds_total", *me] == pytest.approx(3600)
        assert told["acai_cost_usd_total", *me] == pytest.approx(ended.attempts[0].cost_usd)
        assert ("acai_stored_bytes", *me) not in told, "nobody has sent anything"

    def test_each_attempt_keeps_the_book_that_it_began_under(self, user: JobUser) -> None:
        before = user.run(user.submit(), billed_seconds=3600.0).attempts[0]
        number = user.submit()
        user.schedule()
        user.engine = user.another_engine(prices=prices(user, DEAR))
        user.finish(number, billed_seconds=3600.0)
        user.look()
        across = user.job(number).attempts[0]
        after = user.run(user.submit(), billed_seconds=3600.0).attempts[0]
        assert across.price_book == before.price_book
        assert across.cost_usd == before.cost_usd == pytest.approx(Tariff(PriceBook()).cost_usd(1, 1024 * MIB, 3600))
        assert after.price_book == prices(user, DEAR).version
        assert after.cost_usd == pytest.approx(1.0)

    def test_gpus_are_paid_for_by_their_type(self, user: JobUser) -> None:
        book = PriceBook(Rate(0, 0, 1), Rate(0, 0, 1), gpus={"a10": 1.0, "h100": 9.0})
        user.engine = user.another_engine(prices=Prices(user.database, book))
        with pytest.raises(JobRefused, match="there are a10 and h100; say of which type"):
            user.submit(resources=Resources(gpus=1))
        wanted = Resources(gpus=1, gpu_type="h100")
        plan = user.engine.planner.plan(user.project, user.user, PlanJob(CreateJob("true", resources=wanted)))
        assert plan.usd_per_hour == pytest.approx(9.0)
        number = user.submit(resources=wanted)
        user.run(number, billed_seconds=3600.0, run_seconds=3600.0)
        assert user.job(number).attempts[0].cost_usd == pytest.approx(9.0)
        live = user.submit(resources=wanted)
        user.schedule()
        user.say(live, state="downloading")
        user.look()
        user.time.pass_by(1800)
        accounts = Accounts(user.database, Prices(user.database, book))
        (usd,) = accounts.costs(user.project, CostGroup.USER).rows
        assert usd.cost_usd == pytest.approx(13.5, rel=1e-3)

    def test_books_of_two_runners_and_of_two_regions_are_told_apart(self, user: JobUser) -> None:
        books = [
            Prices(user.database, PriceBook(Rate(usd, 0, 1)), *where)
            for usd, where in ((1, ("process", "")), (1, ("kubernetes", "")), (1, ("kubernetes", "eu")))
        ]
        assert len({one.version for one in books}) == 3
        told = {one.version: (one.runner, one.region) for one in books[0].books().books}
        wanted = [("process", ""), ("kubernetes", ""), ("kubernetes", "eu")]
        assert [told[one.version] for one in books] == wanted

    def test_the_same_book_is_the_same_version_and_old_ones_are_kept(self, user: JobUser) -> None:
        first, dear = prices(user).version, prices(user, DEAR).version
        again = prices(user)
        assert (again.version, prices(user, DEAR).version) == (first, dear)
        kept = {one.version: one.book for one in again.books().books}
        assert kept[first] == user.book
        assert kept[dear] == DEAR
        assert again.books().version == first
        elsewhere = Prices(user.database, DEAR, "process", "eu").version
        assert elsewhere not in (first, dear)

    def test_costs_are_added_up_by_user_tag_and_job(self, user: JobUser) -> None:
        other = user.beside("her")
        one = user.submit(tags=["a", "b"])
        user.run(one, billed_seconds=10.0)
        two = user.submit(tags=["a"])
        user.run(two, billed_seconds=20.0)
        three = other.submit()
        other.run(three, billed_seconds=40.0)
        assert keys(costs(user, CostGroup.USER)) == {"you": (2, 30), "her": (1, 40)}
        assert keys(costs(user, CostGroup.TAG)) == {"a": (2, 30), "b": (1, 10), "": (1, 40)}
        assert keys(costs(user, CostGroup.JOB)) == {str(one): (1, 10), str(two): (1, 20), str(three): (1, 40)}
        found = costs(user, CostGroup.TAG)
        assert found.total.jobs == 3
        assert found.total.billed_seconds == pytest.approx(70.0)
        assert [row.key for row in found.rows] == ["", "a", "b"]

    def test_costs_are_added_up_by_what_the_code_is_from(self, user: JobUser) -> None:
        user.lake.put({"/a.py": b"1"}, file_set="code.train")
        user.run(user.submit(code="code.train"), billed_seconds=10.0)
        user.run(user.submit(), billed_seconds=20.0)
        assert keys(costs(user, CostGroup.NOTEBOOK)) == {"code.train": (1, 10), "": (1, 20)}

    def test_costs_are_told_day_by_day_and_within_a_time(self, user: JobUser) -> None:
        began = user.time.moment
        user.run(user.submit(), billed_seconds=10.0)
        user.time.pass_by(86_400)
        user.run(user.submit(), billed_seconds=20.0)
        days = [(began + timedelta(days=n)).date().isoformat() for n in (0, 1)]
        found = costs(user, CostGroup.DAY)
        assert [(row.key, row.jobs) for row in found.rows] == [(day, 1) for day in days]
        later = costs(user, CostGroup.DAY, since=began + timedelta(hours=1))
        earlier = costs(user, CostGroup.DAY, until=began + timedelta(hours=1))
        assert [row.key for row in later.rows] == days[1:]
        assert [row.key for row in earlier.rows] == days[:1]
        assert later.total.jobs == earlier.total.jobs == 1

    def test_a_live_job_costs_what_it_has_cost_until_now(self, user: JobUser) -> None:
        number = user.submit(resources=LARGE, tags=["a", "b"])
        user.schedule()
        assert costs(user, CostGroup.USER).total.cost_usd == 0
        user.say(number, state="downloading")
        user.look()
        user.time.pass_by(1800)
        row: CostRow = costs(user, CostGroup.TAG).rows[0]
        total = costs(user, CostGroup.TAG).total
        assert row.cost_usd == pytest.approx(Tariff(user.book).cost_usd(2, 1024 * MIB, 1800), rel=1e-3)
        assert (row.live_jobs, total.live_jobs) == (1, 1)
        assert total.cost_usd == pytest.approx(row.cost_usd, rel=1e-3)
        user.finish(number, billed_seconds=0.0)
        user.look()
        assert costs(user, CostGroup.TAG).total.live_jobs == 0

    def test_deleted_jobs_have_cost_what_they_did(self, user: JobUser) -> None:
        number = user.submit()
        user.run(number, billed_seconds=10.0)
        user.remove(number)
        assert costs(user, CostGroup.USER).total.billed_seconds == pytest.approx(10.0)
