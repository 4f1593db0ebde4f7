"""Predictions and machines for whoever asks."""

from __future__ import annotations

import math
import statistics
from typing import TYPE_CHECKING

import msgspec

from acai_jupyter.contract.errors import BadRequest, Conflict, ModelNotFound
from acai_jupyter.contract.foreign import one_line
from acai_jupyter.contract.jobs import Resources
from acai_jupyter.contract.plans import Expected, OtherMachine
from acai_jupyter.contract.profiles import (
    Configuration,
    Predictions,
    Profile,
    ProfileDetails,
    ProfileList,
    Provision,
    UsedRun,
)
from acai_server.db import pages
from acai_server.provisioner import sentences

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence
    from datetime import datetime

    from acai_jupyter.contract.ids import JobNumber, ProjectId
    from acai_jupyter.contract.jobs import CreateJob, ResourceLimits
    from acai_jupyter.contract.profiles import Prediction, PredictRuns, ProvisionJob
    from acai_jupyter.contract.projects import Machine
    from acai_jupyter.contract.queries import NumberedQuery
    from acai_server.db.database import Database
    from acai_server.db.work import Work
    from acai_server.provisioner.knowledge import Knowledge, Library
    from acai_server.provisioner.machines import Room
    from acai_server.provisioner.observations import Observation
    from acai_server.provisioner.prices import Prices

CLEARLY = 0.75
"""What takes or costs so much of another is clearly less."""


class Provisioner:
    """What runs tell of others; numbers are loaded when somebody asks for the first time."""

    def __init__(
        self,
        database: Database,
        prices: Prices,
        limits: ResourceLimits,
        machines: Callable[[], Sequence[Machine]] = tuple,
    ) -> None:
        self._database = database
        self._prices = prices
        self._limits = limits
        self._machines = machines
        self._loaded: Library | None = None
        self._to_keep: dict[tuple[ProjectId, str], Knowledge] = {}
        self._kept: dict[tuple[ProjectId, str, str], datetime] = {}

    def expect(self, work: Work, project: ProjectId, template: str, request: CreateJob) -> Expected | None:
        """Say how long a job will take and what it will cost; None where its runs do not tell."""
        if work.runs.newest(project, template) is None:
            return None
        known = self._library.find(work, project, template)
        if known is None or not known.varied:
            return None
        self._to_keep[project, template] = known
        try:
            run = Configuration(known.check(request.parameters), request.resources)
        except BadRequest as error:
            return _unknown(known, request, error.message)
        said = known.predict([run], nodes=request.nodes)[0]
        faster, cheaper = self._beside(known, request, said)
        return Expected(
            len(known.runs),
            said.seconds,
            said.low_seconds,
            said.high_seconds,
            said.cost_usd,
            said.low_cost_usd,
            said.high_cost_usd,
            said.outside,
            said.is_vague,
            faster,
            cheaper,
            known.lender,
            known.version,
            known.advice(run) if said.is_vague else "",
        )

    def settle(self) -> None:
        """Write down what was said by which versions of models, outside of other transactions."""
        while self._to_keep:
            (project, _), known = self._to_keep.popitem()
            self._keep(project, known)

    def _beside(
        self, known: Knowledge, request: CreateJob, said: Prediction
    ) -> tuple[OtherMachine | None, OtherMachine | None]:
        """The machines to think of in place of the one that was asked for."""
        from acai_server.provisioner.choices import counted
        from acai_server.provisioner.optimiser import Bounds, choose

        if not known.tells_of_machines or said.is_vague:
            return None, None
        try:
            shares, _ = self._shares(known, request.nodes)
        except Conflict:  # there is nothing else to think of; whether this one fits is said by who takes it in
            return None, None
        others = known.predict([Configuration(request.parameters, share) for share in shares], nodes=request.nodes)
        amounts = counted(others, sure=False)
        bounds = Bounds(max_seconds=CLEARLY * said.seconds), Bounds(max_usd=CLEARLY * said.cost_usd)
        faster, cheaper = (choose(*amounts, bound).chosen for bound in bounds)
        return _other(others, faster), _other(others, cheaper)

    def predict(self, project: ProjectId, wanted: PredictRuns) -> Predictions:
        """Say what runs of a template will take and cost."""
        known = self._known(project, wanted.template, wanted.version)
        runs = [Configuration(known.check(one.parameters), self._fitted(one.resources)) for one in wanted.runs]
        said = known.predict(runs, wanted.coverage)
        vague = next((run for run, one in zip(runs, said, strict=True) if one.is_vague), None)
        advice = "" if vague is None else known.advice(vague)
        told = wanted.template, len(known.runs), known.version, known.newest
        return Predictions(*told, said, advice, known.lender)

    def guess(self, project: ProjectId, template: str, asked: list[Configuration]) -> tuple[int, list[Prediction]]:
        """Say from how many runs what is known of some to come, and that; nothing when it is nothing."""
        with self._database.reading() as work:
            known = None if work.runs.newest(project, template) is None else self._library.find(work, project, template)
        if known is None or not known.varied or not all(known.knows(one.parameters) for one in asked):
            return 0, []
        return len(known.runs), known.predict(asked)

    def observations(self, work: Work, project: ProjectId, template: str) -> list[Observation]:
        """Return the runs of a template as a model sees them."""
        from acai_server.provisioner.knowledge import MOST_RUNS, observed

        return observed(work.runs.of(project, template, MOST_RUNS), self._prices)

    def provision(self, project: ProjectId, wanted: ProvisionJob) -> Provision:
        """Choose a machine."""
        from acai_server.provisioner.choices import Options

        known = self._known(project, wanted.template)
        usual = known.usual.parameters if wanted.as_latest else {}
        parameters = known.check(wanted.parameters, usual)
        if known.usual.is_sample:
            raise BadRequest(f"{wanted.template} was run on a sample of its input only; run it once on all of it.")
        nodes = self._nodes(project, known.usual.number) if wanted.as_latest else wanted.nodes
        shares, too_large = self._shares(known, nodes)
        coverage = 0.8 if wanted.confidence is None else max(0.02, 2 * wanted.confidence - 1)
        asked = [Configuration(parameters, share) for share in (*shares, *too_large)]
        told = known.predict(asked, coverage, nodes)
        choice = Options(wanted, told[: len(shares)], told[len(shares) :])
        chosen, nearest, larger = choice.chosen, choice.nearest, choice.larger
        advice = known.advice(Configuration(parameters, nearest.resources)) if nearest.is_vague else ""
        return Provision(
            template=wanted.template,
            parameters=parameters,
            runs=len(known.runs),
            version=known.version,
            model=known.newest,
            chosen=chosen,
            nearest=nearest,
            neighbours=choice.neighbours,
            front=choice.front,
            machines=len(shares),
            sentence=advice or sentences.why(wanted, chosen, nearest) + self._but(larger),
            latest=known.usual.number,
            max_seconds=wanted.max_seconds,
            max_cost_usd=wanted.max_cost_usd,
            is_sure=wanted.confidence is not None,
            borrowed_from=known.lender,
            as_in_latest=[name for name in usual if name in parameters and name not in wanted.parameters],
            bound=self._room.why(too_large) if too_large else "",
            larger=larger,
        )

    def profiles(self, project: ProjectId, asked: NumberedQuery) -> ProfileList:
        """Return a page of the templates with finished runs."""
        with self._database.reading() as work:
            found = work.runs.templates(project, asked.before, asked.limit + 1)
        profiles = [Profile(name, count, at, number) for name, count, at, number in found]
        return ProfileList(*pages.cut(profiles, asked.limit, lambda one: int(one.latest)))

    def profile(self, project: ProjectId, template: str, version: str = "") -> ProfileDetails:
        """Return what is believed of a template, or was by a version of its model, and from which runs."""
        from acai_server.provisioner.knowledge import shared

        known = self._known(project, template, version)
        shares = [shared(run) for run in known.runs]
        asked = [Configuration(run.parameters, share) for run, share in zip(known.runs, shares, strict=True)]
        said = known.predict(asked)
        newest, coefficients = known.runs[0].code, known.log_linear()
        return ProfileDetails(
            template=template,
            runs=[
                UsedRun(
                    run.number,
                    run.parameters,
                    share,
                    run.billed_seconds,
                    one.seconds,
                    is_bound=not run.is_whole,
                    has_other_code=run.code != newest,
                )
                for run, share, one in zip(known.runs, shares, said, strict=True)
            ],
            version=known.version,
            known_at=self._kept[project, template, known.version],
            model=known.newest,
            form=known.model.near_form,
            form_outside=known.model.far_form,
            log_linear=sentences.formula(coefficients, known.lender),
            coefficients=coefficients,
            errors={name: math.expm1(error) for name, error in known.model.scores.items()},
            ranges=sentences.ranges(known),
            hints=self._hints(project, known),
            borrowed_from=known.lender,
        )

    def _hints(self, project: ProjectId, known: Knowledge) -> list[str]:
        """The parameters that are varied: those of the last profiling, as somebody has ordered them."""
        with self._database.reading() as work:
            profiled = work.profilings.newest_of(project, known.template)
        return known.hints if profiled is None else list(profiled.request.values) or known.hints

    def _known(self, project: ProjectId, template: str, version: str = "") -> Knowledge:
        """What today's model knows, which is kept; or what one that was kept did."""
        with self._database.reading() as work:
            known = self._as_it_was(work, project, template, version) if version else None
            if known is None:
                known = self._library.get(work, project, template)
        if version and known.version != version:
            raise ModelNotFound(template=one_line(template[:80]), version=one_line(version), latest=known.version)
        self._keep(project, known)
        return known

    def _as_it_was(self, work: Work, project: ProjectId, template: str, version: str) -> Knowledge | None:
        """Make a version again; None where it was not kept, or knows runs that whoever asks may not see."""
        from acai_server.provisioner import versions

        kept = work.models.find(project, template, version)
        if kept is None:
            return None
        known = versions.again(kept[0], self._prices)
        return known if work.models.are_seen(project, [run.number for run in known.told_by]) else None

    def _keep(self, project: ProjectId, known: Knowledge) -> None:
        """Write down what a version knows, once."""
        from acai_server.provisioner import versions

        key = project, known.template, known.version
        if key in self._kept:
            return
        with self._database.writing() as work:
            now = work.clock.now()
            work.models.keep(*key, versions.packed(known.written), now)
            found = work.models.find(*key)
        self._kept[key] = now if found is None else found[1]

    def _shares(self, known: Knowledge, nodes: int) -> tuple[list[Resources], list[Resources]]:
        """The machines to choose among, and those that could be asked for and are too large for what is here.

        They are those of the price book, or every share that a job can ask for, as far as runs had memory enough in it.
        """
        from acai_server.provisioner import machines
        from acai_server.provisioner.knowledge import shared

        types = self._prices.book.machines
        usual = self._fitted(shared(known.runs[0])) if not types else Resources()
        shares, room = machines.shares(types, usual, self._limits), self._room
        held = [share for share, fits in zip(shares, room.held(shares, nodes), strict=True) if fits]
        if not held:
            many = f" for {nodes} nodes" if nodes > 1 else ""
            raise Conflict(f"There is no room{many} on any machine here: {room.why(shares)}.")
        least = known.least_memory_bytes()
        enough = [share for share in held if share.memory_bytes >= least] or held
        there = set(held)
        return enough, [one for one in shares if one not in there and one.memory_bytes >= least]

    def _but(self, larger: Prediction | None) -> str:
        """Say which machine would have been taken, and why it cannot be had."""
        return "" if larger is None else f"; {sentences.would(larger)}, but {self._room.why([larger.resources])}"

    @property
    def _room(self) -> Room:
        from acai_server.provisioner.machines import Room

        return Room(self._machines())

    def _nodes(self, project: ProjectId, number: JobNumber) -> int:
        """On how many machines a job ran."""
        with self._database.reading() as work:
            return work.jobs.find(project, number).request.nodes

    def _fitted(self, share: Resources) -> Resources:
        """A share with the type of its GPUs."""
        return msgspec.structs.replace(share, gpu_type=self._prices.gpu_type(share.gpus, share.gpu_type))

    @property
    def _library(self) -> Library:
        if self._loaded is None:
            from acai_server.provisioner.knowledge import Library

            self._loaded = Library(self._prices)
        return self._loaded


def _unknown(known: Knowledge, request: CreateJob, why: str) -> Expected:
    """What others took, and why that tells nothing of this one."""
    times = [run.billed_seconds for run in known.runs if run.is_whole]
    middle, low, high = statistics.median(times), min(times), max(times)
    share = request.resources
    machine = share.vcpu, share.memory_bytes, float(request.nodes)
    each = known.prices.cost_usd(*machine, gpus=share.gpus, gpu_type=share.gpu_type)
    costs = each * middle, each * low, each * high
    return Expected(len(known.runs), middle, low, high, *costs, is_vague=True, advice=why)


def _other(said: list[Prediction], place: int | None) -> OtherMachine | None:
    if place is None or said[place].is_vague:
        return None
    return OtherMachine(said[place].resources, said[place].seconds, said[place].cost_usd)
