"""What the provisioner owes to those who ask what runs have taught, whatever the database."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest
from msgspec import structs

from acai_jupyter.contract.budgets import Budget
from acai_jupyter.contract.errors import BadRequest, Conflict, ModelNotFound, ProfileNotFound
from acai_jupyter.contract.jobs import MIB, CreateJob, ResourceLimits, Resources
from acai_jupyter.contract.plans import PlanJob
from acai_jupyter.contract.prices import MachineType, PriceBook, Rate
from acai_jupyter.contract.profiles import Configuration, PredictRuns, ProvisionJob
from acai_jupyter.contract.profilings import CreateProfiling
from acai_jupyter.contract.projects import Machine
from acai_jupyter.contract.queries import NumberedQuery
from acai_server.provisioner.budgets import Budgets
from acai_server.provisioner.costs import Accounts
from acai_server.provisioner.optimiser import grid
from acai_server.provisioner.prices import Prices, Tariff
from acai_server.provisioner.service import Provisioner

if TYPE_CHECKING:
    from acai_jupyter.contract.plans import Expected
    from acai_jupyter.contract.profiles import Provision
    from acai_server.testing.stages import JobUser

GIB = 1024 * MIB
LIMITS = ResourceLimits()
EPOCHS, CPUS = (1, 2, 4), (0.5, 1.0, 2.0)
OVERHEAD_SECONDS = 3.0


def taken(epoch: float, vcpu: float) -> float:
    """How long the program of these tests takes."""
    return 5 + 10 * epoch * (0.2 + 0.8 / vcpu)


def run(user: JobUser, epoch: Any, vcpu: float, memory: int = GIB, **told: Any) -> int:
    """Make one run of it."""
    seconds = told.pop("seconds", None) or taken(epoch, vcpu)
    asked = {"template": "net", "parameters": {"epoch": epoch}, **told.pop("asked", {})}
    number = user.submit(resources=Resources(vcpu, memory), **asked)
    user.run(number, run_seconds=seconds, billed_seconds=seconds + OVERHEAD_SECONDS, **told)
    return number


def profiled(user: JobUser) -> list[int]:
    """Make nine runs of it."""
    return [run(user, epoch, vcpu) for epoch in EPOCHS for vcpu in CPUS]


def provisioner(user: JobUser, book: PriceBook | None = None, *machines: Machine) -> Provisioner:
    """Return one that knows nothing yet."""
    return Provisioner(user.database, Prices(user.database, book or user.book), LIMITS, lambda: machines)


def provision(user: JobUser, epoch: Any = 8, **asked: Any) -> Provision:
    """Ask for a machine."""
    return provisioner(user).provision(user.project, ProvisionJob("net", {"epoch": epoch}, **asked))


def expected(user: JobUser, by: Provisioner | None = None, **asked: Any) -> Expected | None:
    """Ask for a plan."""
    engine = user.another_engine(forecast=by or provisioner(user))
    found = engine.planner.plan(user.project, user.user, PlanJob(CreateJob(["true"], template="net", **asked)))
    return found.expected


def _machine(found: Provision) -> tuple[float, int]:
    assert found.chosen is not None
    return found.chosen.resources.vcpu, found.chosen.resources.memory_bytes


class ProfileSuite:
    """Derive from this with a fixture `user` that gives one in a new project, with a staged runner of their own."""

    @pytest.fixture
    def user(self) -> JobUser:
        raise NotImplementedError

    def test_runs_that_nobody_made_are_predicted_in_what_is_billed(self, user: JobUser) -> None:
        numbers = profiled(user)
        asked = [Configuration({"epoch": 3}, Resources(1.0, GIB)), Configuration({"epoch": 40}, Resources(2.0, GIB))]
        found = provisioner(user).predict(user.project, PredictRuns("net", asked))
        near, far = found.predictions
        assert (found.runs, found.model) == (9, max(numbers))
        assert near.seconds == pytest.approx(taken(3, 1.0) + OVERHEAD_SECONDS, rel=0.1)
        assert far.seconds == pytest.approx(taken(40, 2.0) + OVERHEAD_SECONDS, rel=0.25)
        assert near.cost_usd == pytest.approx(Tariff(user.book).cost_usd(1.0, GIB, near.seconds))
        assert near.outside == []
        assert far.outside == ["epoch 40 is more than was run, 4"]
        assert far.high_seconds / far.low_seconds > near.high_seconds / near.low_seconds

    def test_a_plan_tells_what_the_model_says(self, user: JobUser) -> None:
        profiled(user)
        found = expected(user, parameters={"epoch": 3}, resources=Resources(0.5, GIB))
        assert found is not None
        assert found.runs == 9
        assert found.seconds == pytest.approx(taken(3, 0.5) + OVERHEAD_SECONDS, rel=0.1)
        assert found.min_seconds < found.seconds < found.max_seconds

    def test_a_plan_names_a_faster_and_a_cheaper_machine(self, user: JobUser) -> None:
        profiled(user)
        found = expected(user, parameters={"epoch": 4}, resources=Resources(1.0, 4 * GIB))
        assert found is not None
        assert found.faster is not None
        assert found.cheaper is not None
        assert found.faster.seconds <= 0.75 * found.seconds
        assert found.faster.resources.vcpu > 1.0
        assert found.cheaper.cost_usd <= 0.75 * found.cost_usd
        assert found.cheaper.resources.memory_bytes < 4 * GIB

    def test_a_plan_says_nothing_of_machines_that_runs_do_not_tell_of(self, user: JobUser) -> None:
        for epoch in (1, 2, 3, 4, 5):
            run(user, epoch, 1.0)
        found = expected(user, parameters={"epoch": 4}, resources=Resources(1.0, GIB))
        assert found is not None
        assert (found.faster, found.cheaper) == (None, None)

    def test_a_plan_of_what_was_always_the_same_tells_how_long_that_took(self, user: JobUser) -> None:
        for seconds in (10.0, 20.0, 30.0, 40.0, 50.0):
            run(user, 1, 1.0, seconds=seconds)
        found = expected(user, parameters={"epoch": 1})
        assert found is not None
        assert (found.min_seconds, found.seconds, found.max_seconds) == (13.0, 33.0, 53.0)

    @pytest.mark.parametrize("bound", [{"max_seconds": 60.0}, {"max_cost_usd": 0.001}, {"max_seconds": 90.0}])
    def test_the_machine_is_the_best_of_all(self, user: JobUser, bound: dict[str, float]) -> None:
        profiled(user)
        shares = [Resources(vcpu, memory) for vcpu, memory in grid(LIMITS)]
        asked = PredictRuns("net", [Configuration({"epoch": 8}, share) for share in shares])
        said = provisioner(user).predict(user.project, asked).predictions
        most = bound.get("max_seconds", 1e9), bound.get("max_cost_usd", 1e9)
        within = [one for one in said if one.seconds <= most[0] and one.cost_usd <= most[1]]
        found = provision(user, 8, **bound)
        assert found.machines == len(shares) == 496
        assert found.chosen is not None
        if "max_seconds" in bound:
            assert found.chosen.cost_usd == pytest.approx(min(one.cost_usd for one in within))
        else:
            assert found.chosen.seconds == pytest.approx(min(one.seconds for one in within))

    @pytest.mark.parametrize("bound", [{"max_seconds": 600.0}, {"max_cost_usd": 0.01}])
    def test_no_machine_is_chosen_that_is_larger_than_what_is_here(self, user: JobUser, bound: dict[str, Any]) -> None:
        profiled(user)
        here = Machine(2, 2 * GIB), Machine(1, 4 * GIB)
        shares = [
            Resources(vcpu, memory)
            for vcpu, memory in grid(LIMITS)
            if any(vcpu <= one.cpus and memory <= one.memory_bytes for one in here)
        ]
        asked = PredictRuns("net", [Configuration({"epoch": 8}, share) for share in shares])
        said = provisioner(user).predict(user.project, asked).predictions
        amounts = [one.cost_usd if "max_seconds" in bound else one.seconds for one in said]
        found = provisioner(user, None, *here).provision(user.project, ProvisionJob("net", {"epoch": 8}, **bound))
        assert found.machines == len(shares) == 4 * 7 + 2 * 8
        assert found.chosen is not None
        taken_of_it = found.chosen.cost_usd if "max_seconds" in bound else found.chosen.seconds
        assert taken_of_it == pytest.approx(min(amounts))
        assert all(one.resources in shares for one in (*found.front, *found.neighbours))
        assert found.bound == "jobs here can have at most 2 vCPU and 4 GB of memory"

    def test_it_is_said_when_a_larger_machine_would_have_been_chosen(self, user: JobUser) -> None:
        profiled(user)
        here = Machine(2, 64 * GIB)
        free = provision(user, 8, max_cost_usd=0.01)
        bounded = provisioner(user, None, here)
        found = bounded.provision(user.project, ProvisionJob("net", {"epoch": 8}, max_cost_usd=0.01))
        assert free.chosen is not None
        assert free.chosen.resources.vcpu > 2
        assert found.larger == free.chosen
        assert " is the fastest within $0.01; " in found.sentence
        assert found.sentence.endswith(", but jobs here can have at most 2 vCPU")
        same = bounded.provision(user.project, ProvisionJob("net", {"epoch": 8}, max_seconds=10_000.0))
        assert same.chosen is not None
        assert same.chosen.resources.vcpu == 0.5
        assert (same.larger, "but jobs here" in same.sentence) == (None, False)
        slow = bounded.provision(user.project, ProvisionJob("net", {"epoch": 8}, max_seconds=40.0))
        assert slow.chosen is None
        assert slow.larger is not None
        assert slow.sentence.startswith("no machine is within that; the nearest, 2 vCPU")

    def test_all_nodes_of_a_job_find_room_and_are_paid(self, user: JobUser) -> None:
        profiled(user)
        wanted = ProvisionJob("net", {"epoch": 8}, max_cost_usd=1.0)
        bounded = provisioner(user, None, Machine(4, 8 * GIB))
        alone, both = (bounded.provision(user.project, structs.replace(wanted, nodes=nodes)) for nodes in (1, 2))
        assert alone.chosen is not None
        assert both.chosen is not None
        assert (alone.chosen.resources.vcpu, both.chosen.resources.vcpu) == (4, 2)
        price = Tariff(user.book).cost_usd(2, both.chosen.resources.memory_bytes, both.chosen.seconds)
        assert both.chosen.cost_usd == pytest.approx(2 * price)
        plan = expected(user, parameters={"epoch": 8}, resources=Resources(1.0, GIB), nodes=2)
        one = expected(user, parameters={"epoch": 8}, resources=Resources(1.0, GIB))
        assert plan is not None
        assert one is not None
        assert plan.seconds == one.seconds
        assert plan.cost_usd == pytest.approx(2 * one.cost_usd)
        with pytest.raises(Conflict, match="There is no room for 9 nodes on any machine here"):
            bounded.provision(user.project, structs.replace(wanted, nodes=9))

    def test_a_plan_names_no_machine_that_is_not_here(self, user: JobUser) -> None:
        profiled(user)
        wanted = PlanJob(CreateJob(["true"], template="net", parameters={"epoch": 4}, resources=Resources(1.0, GIB)))
        named = []
        for machines in ((), (Machine(1, 64 * GIB),)):
            engine = user.another_engine(forecast=provisioner(user, None, *machines))
            plan = engine.planner.plan(user.project, user.user, wanted).expected
            assert plan is not None
            named.append(plan.faster)
        assert named[0] is not None
        assert named[1] is None

    def test_of_machine_types_no_more_is_chosen_than_a_job_may_ask_for(self, user: JobUser) -> None:
        profiled(user)
        sizes = MachineType("s", 0.7, int(1.1 * GIB), 0.05), MachineType("xl", 96, 384 * GIB, 4.0)
        tiny = MachineType("tiny", 0.25, GIB // 4, 0.01)
        one = provisioner(user, PriceBook(machines=[*sizes, tiny]))
        front = one.provision(user.project, ProvisionJob("net", {"epoch": 8}))
        assert front.machines == 2
        assert {each.resources for each in front.front} == {Resources(0.5, GIB), Resources(8, 8 * GIB)}

    def test_a_job_that_fits_has_a_plan_where_no_machine_of_the_price_book_does(self, user: JobUser) -> None:
        profiled(user)
        tiny, large = MachineType("tiny", 0.25, GIB // 4, 0.01), MachineType("xl", 8, 8 * GIB, 4.0)
        for book, here in ((PriceBook(machines=[large]), [Machine(4, 4 * GIB)]), (PriceBook(machines=[tiny]), [])):
            by = provisioner(user, book, *here)
            found = expected(user, by, parameters={"epoch": 8}, resources=Resources(1, GIB))
            assert found is not None
            assert (found.faster, found.cheaper) == (None, None)
            with pytest.raises(Conflict, match="There is no room on any machine here: "):
                by.provision(user.project, ProvisionJob("net", {"epoch": 8}))

    def test_to_be_sure_the_upper_end_counts(self, user: JobUser) -> None:
        profiled(user)
        found = provision(user, 8, max_seconds=80.0, confidence=0.9)
        assert found.chosen is not None
        assert found.chosen.high_seconds <= 80.0
        assert "at a confidence of 0.9" in found.sentence

    def test_what_cannot_be_had_is_told_with_what_comes_nearest(self, user: JobUser) -> None:
        profiled(user)
        found = provision(user, 8, max_cost_usd=1e-7)
        assert found.chosen is None
        assert found.nearest.cost_usd == pytest.approx(min(one.cost_usd for one in found.front))
        assert "you allowed $0.0000001" in found.sentence
        assert "you allowed $0.000000002" in provision(user, 8, max_cost_usd=2e-9).sentence

    def test_without_bounds_the_front_is_the_answer(self, user: JobUser) -> None:
        profiled(user)
        found = provision(user, 8)
        assert found.chosen is None
        times = [one.seconds for one in found.front]
        assert times == sorted(times, reverse=True)
        assert len(times) > 3

    def test_machine_types_of_the_book_are_chosen_among(self, user: JobUser) -> None:
        profiled(user)
        book = PriceBook(machines=[MachineType("s", 2, 4 * GIB, 0.1), MachineType("l", 8, 8 * GIB, 0.3)])
        wanted = ProvisionJob("net", {"epoch": 8}, max_seconds=1e6)
        found = provisioner(user, book).provision(user.project, wanted)
        assert found.machines == 2
        assert found.chosen is not None
        assert found.chosen.resources == Resources(2, 4 * GIB)

    def test_a_family_of_machines_is_as_fast_as_its_runs_were(self, user: JobUser) -> None:
        cheap, quick = MachineType("c1.s", 1, 4 * GIB, 0.1), MachineType("c1.l", 4, 4 * GIB, 0.4)
        book = PriceBook(machines=[cheap, quick, MachineType("q2.m", 2, 8 * GIB, 0.3), MachineType("q2.x", 8, GIB, 9)])
        user.engine = user.another_engine(prices=Prices(user.database, book))
        shares = [(machine.vcpu, machine.memory_bytes) for machine in book.machines[:3]]
        for epoch in (1, 2, 4, 8):
            for vcpu, memory in shares:
                factor = 4.0 if memory == 8 * GIB else 1.0
                run(user, epoch, vcpu, memory, seconds=factor * taken(epoch, vcpu))
        one = provisioner(user, book)
        shown = one.profile(user.project, "net")
        assert shown.ranges["machine type"] == "c1, q2"
        assert "epoch^" in shown.log_linear
        assert "for q2" not in shown.log_linear  # it cannot be told from the memory, which all of them have twice of
        asked = PredictRuns("net", [Configuration({"epoch": 6}, Resources(*share)) for share in shares])
        said = [each.seconds for each in one.predict(user.project, asked).predictions]
        wanted = [factor * taken(6, vcpu) for factor, (vcpu, _) in zip((1, 1, 4), shares, strict=True)]
        assert said == pytest.approx(wanted, rel=0.3)
        found = one.provision(user.project, ProvisionJob("net", {"epoch": 6}, max_seconds=1e5))
        assert found.chosen is not None
        assert found.chosen.resources == Resources(1, 4 * GIB)

    def test_machines_with_less_memory_than_runs_used_are_left_out(self, user: JobUser) -> None:
        for epoch in EPOCHS:
            for vcpu in CPUS:
                run(user, epoch, vcpu, 4 * GIB, usage={"max_memory_bytes": 3 * GIB})
        found = provision(user, 8, max_seconds=1000.0)
        assert found.chosen is not None
        assert min(one.resources.memory_bytes for one in [found.chosen, *found.front]) >= 3.6 * GIB

    def test_no_machine_is_chosen_with_as_little_memory_as_was_too_little(self, user: JobUser) -> None:
        number = user.submit(template="net", parameters={"epoch": 9}, resources=Resources(1.0, 2 * GIB))
        user.run(number, exit_code=137, run_seconds=3.0, ran_out_of_memory=True)
        profiled(user)
        found = provision(user, 8, max_seconds=1000.0)
        assert found.chosen is not None
        assert min(one.resources.memory_bytes for one in [found.chosen, *found.front]) == 2.25 * GIB

    def test_runs_whose_time_was_over_tell_that_it_takes_longer(self, user: JobUser) -> None:
        profiled(user)
        one, asked = provisioner(user), PredictRuns("net", [Configuration({"epoch": 30}, Resources(1.0, GIB))])
        before = one.predict(user.project, asked)
        late: dict[str, Any] = {
            "exit_code": 143,
            "reason": "it ran longer than its limit of 2000 s",
            "exceeded_time": True,
        }
        for _ in range(4):
            run(user, 30, 1.0, seconds=2000.0, **late)
        after = one.predict(user.project, asked)
        assert after.runs == 13
        assert after.predictions[0].seconds > 1.3 * before.predictions[0].seconds

    @pytest.mark.parametrize(
        ("parameters", "said"),
        [
            ({"epoch": "foo"}, "epoch was run at 1, 2, 4; you gave 'foo'"),
            ({"lr": 1}, "net has epoch; there is no lr"),
            ({}, "net was run with epoch 1, 2, 4; say which."),
        ],
    )
    def test_values_that_runs_say_nothing_of_are_refused(
        self, user: JobUser, parameters: dict[str, Any], said: str
    ) -> None:
        profiled(user)
        with pytest.raises(BadRequest, match=said):
            provisioner(user).provision(user.project, ProvisionJob("net", parameters, max_seconds=10.0))

    @pytest.mark.parametrize("epoch", [0, -3, -1e300, 1e300, pytest.param(2**900, id="2**900")])
    def test_of_a_value_that_is_too_far_away_nothing_is_said_but_that(self, user: JobUser, epoch: float) -> None:
        profiled(user)
        asked = PredictRuns("net", [Configuration({"epoch": epoch}, Resources(1.0, GIB))])
        found = provisioner(user).predict(user.project, asked)
        (said,) = found.predictions
        assert said.is_vague
        assert 0 < said.low_seconds < said.high_seconds < 1e18
        assert said.low_seconds * 1000 < said.high_seconds
        assert f"epoch {epoch:g} is {'more' if epoch > 0 else 'less'} than was run" in said.outside[0]
        chosen = provision(user, epoch, max_cost_usd=1e300)
        assert chosen.chosen is None
        assert chosen.sentence.startswith("It is too uncertain to decide by; a run at epoch ")
        plan = expected(user, parameters={"epoch": epoch})
        assert plan is not None
        assert (plan.is_vague, plan.advice, plan.faster, plan.cheaper) == (True, found.advice, None, None)

    def test_so_it_is_where_another_profile_lends_its_experience(self, user: JobUser) -> None:
        profiled(user)
        for epoch, vcpu in ((1, 2.0), (4, 0.5)):
            run(user, epoch, vcpu, seconds=3 * taken(epoch, vcpu), asked={"template": "new"})
        asked = [Configuration({"epoch": epoch}, Resources(1.0, GIB)) for epoch in (0, 1e300, 2)]
        found = provisioner(user).predict(user.project, PredictRuns("new", asked))
        assert found.borrowed_from == "net"
        assert [one.is_vague for one in found.predictions] == [True, True, False]
        assert all(0 < one.low_seconds < one.high_seconds < 1e18 for one in found.predictions)

    def test_values_of_which_no_run_tells_leave_a_plan_without_numbers_but_with_the_reason(self, user: JobUser) -> None:
        profiled(user)
        found = expected(user, parameters={"epoch": "foo"})
        assert found is not None
        assert (found.is_vague, found.advice) == (True, "epoch was run at 1, 2, 4; you gave 'foo'.")
        assert found.min_seconds <= found.seconds <= found.max_seconds
        huge = 10**400
        for _ in range(4):
            run(user, huge, 1.0, seconds=10.0, asked={"template": "huge"})
        found = expected(user, parameters={"epoch": huge})
        assert found is not None
        assert found.advice == "epoch was run at 1, 2, 4; you gave a number that is too large."
        assert provisioner(user).profile(user.project, "huge").ranges["epoch"].startswith("always 1000")
        asked = PredictRuns("huge", [Configuration({"epoch": huge}, Resources(1.0, GIB))])
        assert provisioner(user).predict(user.project, asked).predictions[0].seconds == pytest.approx(13.0)

    def test_a_number_that_was_always_the_same_is_no_word_and_not_below_0(self, user: JobUser) -> None:
        for vcpu in (0.5, 1.0, 2.0, 4.0):
            run(user, 3, vcpu)
        asked = PredictRuns("net", [Configuration({"epoch": epoch}, Resources(1.0, GIB)) for epoch in (3, 0, -1)])
        found = provisioner(user).predict(user.project, asked)
        assert [one.is_vague for one in found.predictions] == [False, True, True]
        with pytest.raises(BadRequest, match="epoch was run at 3; you gave 'foo'"):
            provision(user, "foo", max_seconds=10.0)

    def test_what_is_not_named_is_as_in_the_newest_run_when_that_is_to_be_run_again(self, user: JobUser) -> None:
        for batch in (256, 1024):
            for epoch in (1, 2, 4):
                run(user, epoch, 1.0, asked={"parameters": {"epoch": epoch, "batch": batch, "lr": 0.1}})
        last = {"epoch": 3, "batch": 256, "lr": 0.1}
        newest = user.submit(template="net", parameters=last, nodes=2, resources=Resources(1.0, GIB))
        user.schedule()
        user.time.pass_by(30.0)
        for rank in (1, 0):
            user.leave(newest, rank=rank, run_seconds=30.0, billed_seconds=30.0)
        user.end(newest, 0)
        user.look()
        one, wanted = provisioner(user), ProvisionJob("net", {"epoch": 8}, max_cost_usd=1.0)
        with pytest.raises(BadRequest, match=r"net was run with batch 256, 1024; say which\."):
            one.provision(user.project, wanted)
        found = one.provision(user.project, structs.replace(wanted, as_latest=True))
        assert found.parameters == {"epoch": 8, "batch": 256, "lr": 0.1}
        assert (found.as_in_latest, found.latest) == (["batch", "lr"], newest)
        assert found.chosen is not None
        paid = Tariff(user.book).cost_usd(*_machine(found), 2 * found.chosen.seconds)
        assert found.chosen.cost_usd == pytest.approx(paid)

    def test_hints_are_those_of_the_last_profiling_or_what_runs_differ_in(self, user: JobUser) -> None:
        for batch, epoch in ((256, 1), (256, 2), (1024, 1), (1024, 4)):
            run(user, epoch, 1.0, asked={"parameters": {"lr": 0.1, "batch": batch, "epoch": epoch}})
        assert provisioner(user).profile(user.project, "net").hints == ["batch", "epoch"]
        wanted = CreateProfiling(CreateJob(["true"], template="net"), {"epoch": [1, 2], "batch": [256], "lr": [0.1]})
        with user.database.writing() as work:
            work.profilings.create(user.project, user.user, wanted, work.clock.now())
        assert provisioner(user).profile(user.project, "net").hints == ["epoch", "batch", "lr"]

    def test_a_forecast_that_is_too_uncertain_refuses_only_what_its_least_is_too_dear_for(self, user: JobUser) -> None:
        profiled(user)
        with user.database.writing() as work:
            work.budgets.keep(user.project, None, Budget(job_usd=0.01))
        budgets = Budgets(user.database, Accounts(user.database, Prices(user.database, user.book)))
        engine = user.another_engine(forecast=provisioner(user), purse=budgets)
        for epoch in (0, "foo", 2):
            engine.submit(user.project, user.user, CreateJob(["true"], template="net", parameters={"epoch": epoch}))
        with pytest.raises(Conflict, match="This job is expected to cost"):
            engine.submit(user.project, user.user, CreateJob(["true"], template="net", parameters={"epoch": 4000}))

    def test_too_few_runs_are_told(self, user: JobUser) -> None:
        for epoch in (1, 2, 3):
            run(user, epoch, 1.0)
        with pytest.raises(BadRequest, match="net has 3 runs to learn from, and 4 are the least"):
            provision(user)
        with pytest.raises(ProfileNotFound, match="No finished job has the profile 'nothing'"):
            provisioner(user).profile(user.project, "nothing")

    def test_a_new_template_starts_from_the_most_similar_one_and_says_so(self, user: JobUser) -> None:
        profiled(user)
        for epoch in EPOCHS:
            for vcpu in CPUS:
                run(user, epoch, vcpu, seconds=30.0, asked={"template": "flat"})
        for epoch, vcpu in ((1, 2.0), (4, 0.5)):
            run(user, epoch, vcpu, seconds=3 * taken(epoch, vcpu), asked={"template": "new"})
        asked = [Configuration({"epoch": 4}, Resources(2.0, GIB)), Configuration({"epoch": 1}, Resources(0.5, GIB))]
        found = provisioner(user).predict(user.project, PredictRuns("new", asked))
        assert (found.borrowed_from, found.runs) == ("net", 2)
        said = [one.seconds for one in found.predictions]
        wanted = [3 * taken(4, 2.0) + OVERHEAD_SECONDS, 3 * taken(1, 0.5) + OVERHEAD_SECONDS]
        assert said == pytest.approx(wanted, rel=0.25)
        assert provisioner(user).profile(user.project, "new").borrowed_from == "net"
        engine = user.another_engine(forecast=provisioner(user))
        request = CreateJob(["true"], template="new", parameters={"epoch": 2})
        plan = engine.planner.plan(user.project, user.user, PlanJob(request))
        assert plan.expected is not None
        assert plan.expected.borrowed_from == "net"

    def test_what_has_runs_enough_of_its_own_borrows_nothing(self, user: JobUser) -> None:
        profiled(user)
        for epoch in (1, 2, 4, 8):
            for vcpu in (*CPUS, 4.0):
                run(user, epoch, vcpu, seconds=7.0 * epoch, asked={"template": "own"})
        asked = PredictRuns("own", [Configuration({"epoch": 8}, Resources(1.0, GIB))])
        found = provisioner(user).predict(user.project, asked)
        assert found.borrowed_from == ""
        assert found.predictions[0].seconds == pytest.approx(56 + OVERHEAD_SECONDS, rel=0.1)

    def test_others_with_other_parameters_lend_nothing(self, user: JobUser) -> None:
        profiled(user)
        run(user, 1, 1.0, asked={"template": "new", "parameters": {"depth": 1}})
        with pytest.raises(BadRequest, match="new has 1 run to learn from"):
            provisioner(user).predict(
                user.project, PredictRuns("new", [Configuration({"depth": 1}, Resources(1.0, GIB))])
            )

    def test_failed_runs_teach_nothing_and_killed_ones_that_it_takes_longer(self, user: JobUser) -> None:
        profiled(user)
        one = provisioner(user)
        before = one.predict(user.project, PredictRuns("net", [Configuration({"epoch": 30}, Resources(1.0, GIB))]))
        run(user, 30, 1.0, seconds=1.0, exit_code=1)
        for _ in range(4):
            number = user.submit(template="net", parameters={"epoch": 30}, resources=Resources(1.0, GIB))
            user.schedule()
            user.kill(number)
            user.finish(number, 143, run_seconds=2000.0, billed_seconds=2000.0, was_stopped=True)
            user.look()
        after = one.predict(user.project, PredictRuns("net", [Configuration({"epoch": 30}, Resources(1.0, GIB))]))
        assert after.runs == 13
        assert after.predictions[0].seconds > 1.3 * before.predictions[0].seconds

    def test_a_run_whose_clock_made_trouble_teaches_nothing(self, user: JobUser) -> None:
        profiled(user)
        number = user.submit(template="net", parameters={"epoch": 4}, resources=Resources(1.0, GIB))
        user.run(number, run_seconds=0.0, billed_seconds=1.0)
        assert user.job(number).state.value == "finished"
        asked = PredictRuns("net", [Configuration({"epoch": 4}, Resources(1.0, GIB))])
        found = provisioner(user).predict(user.project, asked)
        assert found.runs == 9
        assert found.predictions[0].seconds == pytest.approx(taken(4, 1.0) + OVERHEAD_SECONDS, rel=0.1)

    def test_one_more_run_makes_another_version(self, user: JobUser) -> None:
        profiled(user)
        one = provisioner(user)
        first = one.profile(user.project, "net")
        number = run(user, 8, 4.0)
        second = one.profile(user.project, "net")
        assert (first.model, second.model) == (max(used.job for used in first.runs), number)
        assert len(second.runs) == len(first.runs) + 1

    def test_what_a_version_said_is_explained_by_what_it_knew(self, user: JobUser) -> None:
        first, *_ = profiled(user)
        asked = PredictRuns("net", [Configuration({"epoch": 6}, Resources(1.5, 2 * GIB))])
        said = provisioner(user).predict(user.project, asked)
        shown = provisioner(user).profile(user.project, "net")
        for epoch in (3, 16):
            run(user, epoch, 0.5, seconds=2 * taken(epoch, 0.5))
        user.remove(first)
        book = PriceBook(vcpu=Rate(1.0, 0, 1), gpus={"a10": 1.0, "h100": 2.0})
        later = provisioner(user, book)
        today = later.predict(user.project, asked)
        assert (today.runs, today.version == said.version) == (10, False)
        assert later.predict(user.project, structs.replace(asked, version=said.version)) == said
        assert later.profile(user.project, "net", said.version) == shown
        assert later.profile(user.project, "net").version == today.version
        with pytest.raises(ModelNotFound, match="no model 'other' that you may see; today's is "):
            later.profile(user.project, "net", "other")

    def test_what_a_plan_said_with_the_help_of_another_is_explained_too(self, user: JobUser) -> None:
        profiled(user)
        for epoch, vcpu in ((1, 2.0), (4, 0.5)):
            run(user, epoch, vcpu, seconds=3 * taken(epoch, vcpu), asked={"template": "new"})
        asked: dict[str, Any] = {"parameters": {"epoch": 2}, "resources": Resources(1.0, GIB)}
        engine = user.another_engine(forecast=provisioner(user))
        plan = engine.planner.plan(user.project, user.user, PlanJob(CreateJob(["true"], template="new", **asked)))
        assert plan.expected is not None
        assert plan.expected.borrowed_from == "net"
        run(user, 8, 4.0)
        run(user, 8, 4.0, asked={"template": "new"})
        wanted = PredictRuns("new", [Configuration(**asked)], version=plan.expected.version)
        then = provisioner(user).predict(user.project, wanted)
        assert (then.borrowed_from, then.runs) == ("net", 2)
        assert then.predictions[0].seconds == plan.expected.seconds

    def test_a_profile_shows_its_forms_its_errors_and_its_runs(self, user: JobUser) -> None:
        profiled(user)
        user.lake.put({"/a.py": b"1"}, file_set="code.train")
        run(user, 8, 1.0, asked={"code": "code.train"})
        found = provisioner(user).profile(user.project, "net")
        assert found.log_linear.startswith(("1", "2"))
        assert " · epoch^0." in found.log_linear
        told_as_data = found.coefficients
        assert told_as_data is not None
        assert f"{told_as_data.factor_seconds:.3g} s · epoch^{told_as_data.exponents['epoch']:.2f}" in found.log_linear
        assert 0 < told_as_data.exponents["epoch"] < 1
        assert told_as_data.exponents["vCPU"] < 0
        assert 0.9 < told_as_data.r_squared <= 1
        assert set(found.errors) >= {"log-linear", "sum of parts"}
        assert found.ranges["epoch"] == "1 to 8 (4 values)"
        assert found.ranges["memory in GB"] == "always 1"
        assert [one.has_other_code for one in found.runs] == [False, *[True] * 9]
        told = {one.job: (one.seconds, one.predicted_seconds) for one in found.runs}
        assert all(said == pytest.approx(took, rel=0.3) for took, said in told.values())
        listed = provisioner(user).profiles(user.project, NumberedQuery()).profiles
        assert [(one.template, one.runs, one.latest) for one in listed] == [("net", 10, max(told))]

    def test_what_is_too_uncertain_is_not_chosen_but_what_would_help(self, user: JobUser) -> None:
        for epoch, seconds in ((1, 10.0), (1, 40.0), (2, 15.0), (2, 90.0)):
            run(user, epoch, 1.0, seconds=seconds)
        found = provision(user, 1_000_000, max_seconds=1e12)
        assert found.chosen is None
        assert found.nearest.is_vague
        assert "a run at epoch 1414 would help most" in found.sentence
