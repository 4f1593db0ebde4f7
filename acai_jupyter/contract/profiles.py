"""Profiles: what earlier runs of a template tell of others, and which machine to take."""

from __future__ import annotations

from datetime import datetime
from typing import Annotated

import msgspec

from acai_jupyter.contract.ids import JobNumber
from acai_jupyter.contract.jobs import MAX_NODES, ParameterName, Resources

ParameterValue = str | int | float | bool
TemplateName = Annotated[str, msgspec.Meta(min_length=1, max_length=300)]
ModelVersion = Annotated[str, msgspec.Meta(max_length=16)]
Confidence = Annotated[float, msgspec.Meta(ge=0.5, le=0.999)]


class Configuration(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """A run that nobody has made yet: its parameters, and its share of a machine."""

    parameters: dict[ParameterName, ParameterValue] = {}
    resources: Resources = Resources()


class PredictRuns(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """Ask how long runs of a template will take, and what they will cost."""

    template: TemplateName
    runs: Annotated[list[Configuration], msgspec.Meta(min_length=1, max_length=10_000)]
    coverage: Annotated[float, msgspec.Meta(ge=0.5, le=0.998)] = 0.8
    """How many of such runs the interval is to hold."""
    version: ModelVersion = ""
    """Of which version of the model; empty is today's."""


class Prediction(msgspec.Struct, frozen=True):
    """The billed seconds and the cost of a run: the middle, and an interval."""

    resources: Resources
    seconds: float
    low_seconds: float
    high_seconds: float
    cost_usd: float
    low_cost_usd: float
    high_cost_usd: float
    outside: list[str] = []
    """What of it no run has tried, in words; empty inside of what was seen."""
    is_vague: bool = False
    """Whether the interval is too wide to decide by."""


class Predictions(msgspec.Struct, frozen=True):
    """What is said of runs, and by what."""

    template: str
    runs: int
    """From so many."""
    version: str
    """Of the model; its profile can be asked for by that, whatever is run afterwards."""
    model: JobNumber
    """The newest job that it knows of."""
    predictions: list[Prediction]
    advice: str = ""
    """Where one is vague: which run would help most."""
    borrowed_from: str = ""
    """The profile with the same parameters whose experience it leans on, as its own runs are few."""


class ProvisionJob(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """Ask for the machine for a run: the cheapest within a time, the fastest within a cost."""

    template: TemplateName
    parameters: dict[ParameterName, ParameterValue] = {}
    max_seconds: Annotated[float, msgspec.Meta(gt=0)] | None = None
    max_cost_usd: Annotated[float, msgspec.Meta(gt=0)] | None = None
    confidence: Confidence | None = None
    """How sure it is to keep within them; without it the middle of what is expected counts."""
    nodes: Annotated[int, msgspec.Meta(ge=1, le=MAX_NODES)] = 1
    """On so many machines it runs at the same time."""
    as_latest: bool = False
    """Whether it is the newest finished run again: what is not named, parameters and nodes, is as it was there."""


class Provision(msgspec.Struct, frozen=True):
    """The machine to take. Without one within the bounds `chosen` is missing, and `nearest` is what comes closest."""

    template: str
    parameters: dict[str, ParameterValue]
    runs: int
    version: str
    """Of the model."""
    model: JobNumber
    chosen: Prediction | None
    nearest: Prediction
    neighbours: list[Prediction]
    """The next that is faster, and the next that is cheaper."""
    front: list[Prediction]
    """All than which none is both faster and cheaper, from the cheapest on."""
    machines: int
    """Among so many it was chosen: what can be had here of what a job may ask for."""
    sentence: str
    """Why this one, or what is missing."""
    latest: JobNumber
    """The newest finished run, as which a new one can be submitted."""
    max_seconds: float | None = None
    max_cost_usd: float | None = None
    is_sure: bool = False
    """Whether the upper ends count, as a confidence was asked for."""
    borrowed_from: str = ""
    """The profile with the same parameters whose experience it leans on, as its own runs are few."""
    as_in_latest: list[str] = []
    """Which of the parameters nobody named: they are as in the job `latest`."""
    bound: str = ""
    """Why others cannot be had that a job may ask for, in words: what this runner's machines hold."""
    larger: Prediction | None = None
    """What would have been chosen if it could be had."""


class UsedRun(msgspec.Struct, frozen=True):
    """A run that a model was fitted to, and what the model says of it."""

    job: JobNumber
    parameters: dict[str, ParameterValue]
    resources: Resources
    seconds: float
    predicted_seconds: float
    is_bound: bool = False
    """It was ended: it would have taken longer."""
    has_other_code: bool = False
    """It ran other code than the newest, and counts less."""


class Profile(msgspec.Struct, frozen=True):
    """What is known of a template."""

    template: str
    runs: int
    finished_at: datetime
    """When its newest run had finished."""
    latest: JobNumber


class ProfileList(msgspec.Struct, frozen=True):
    """Templates with finished runs, the newest first; `next` is the job's number to go on below."""

    profiles: list[Profile]
    next: int | None = None


class LogLinear(msgspec.Struct, frozen=True):
    """The original's model: seconds as a factor times powers of numbers, and times a factor for each word."""

    factor_seconds: float
    exponents: dict[str, float]
    factors: dict[str, float]
    """Beside the word of each kind that is not named, which is 1."""
    r_squared: float
    """How much of the logarithms of the seconds it explains."""


class ProfileDetails(msgspec.Struct, frozen=True):
    """The model of a template: which forms it believes, and how far off they are."""

    template: str
    runs: list[UsedRun]
    version: str
    """What the model is called, by what it was made of."""
    known_at: datetime
    """When this version was asked for the first time."""
    model: JobNumber
    """The newest job that it knows of."""
    form: str
    """What is believed inside of what was seen."""
    form_outside: str
    log_linear: str
    """The original's form, as a formula."""
    coefficients: LogLinear | None
    """The same as data; null where its own runs are too few for it."""
    errors: dict[str, float]
    """Of each form, how far it typically is off on runs that were left out, as a share."""
    ranges: dict[str, str]
    """What was tried, in words."""
    hints: list[str]
    """The parameters that are varied, in the order of its last profiling; without one, those its runs differ in."""
    borrowed_from: str = ""
    """The profile with the same parameters whose experience it leans on, as its own runs are few."""
