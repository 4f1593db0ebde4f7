"""Profilings: runs that are made to learn how long others take."""

from __future__ import annotations

from enum import StrEnum
from typing import Annotated

import msgspec

from acai_jupyter.contract.jobs import MIB, Bytes, CreateJob, ParameterName
from acai_jupyter.contract.sweeps import SweptValues

MAX_RUNS = 1000
"""More possible runs than this are refused: somebody has mistaken what a product is."""
VCPUS = (0.5, 1.0, 2.0)
MEMORIES_BYTES = (512 * MIB, 1024 * MIB, 2048 * MIB)
"""What runs are given unless somebody says otherwise, each with each, as far as a machine has it."""


class Design(StrEnum):
    """Which of the possible runs are made."""

    ADAPTIVE = "adaptive"
    """One by one, each time the one that tells most for its cost, until the interval is narrow."""
    FULL = "full"
    """All of them; when 95 % are in, the rest is ended."""


SAMPLED = "profile_sample"
"""The attribute of a run on a sample: which share of the bytes it had."""


class Sample(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """Some of the files of the inputs, kept as file sets, and how much they are of all."""

    inputs: Annotated[list[str], msgspec.Meta(max_length=100)]
    size_bytes: Annotated[int, msgspec.Meta(ge=0, le=2**60)]
    file_count: Annotated[int, msgspec.Meta(ge=1, le=2**53)]
    of_bytes: Annotated[int, msgspec.Meta(ge=0, le=2**60)]
    of_files: Annotated[int, msgspec.Meta(ge=1, le=2**53)]


class CreateProfiling(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """Make runs of a program with each value of its hints, on each share of a machine, or as many of them as it takes.

    The profile that they make is `template` of the job.
    """

    job: CreateJob
    """What all runs have in common."""
    values: Annotated[dict[ParameterName, SweptValues], msgspec.Meta(max_length=100)] = {}
    """The hints, by name."""
    design: Design = Design.ADAPTIVE
    vcpus: Annotated[list[Annotated[float, msgspec.Meta(gt=0)]], msgspec.Meta(max_length=100)] = []
    """Empty: those of the original that a machine has."""
    memories_bytes: Annotated[list[Bytes], msgspec.Meta(max_length=100)] = []
    """Empty: those of the original that a machine has."""
    max_seconds: Annotated[float, msgspec.Meta(gt=0)] | None = None
    """How long all of it may take, from now on."""
    max_cost_usd: Annotated[float, msgspec.Meta(gt=0)] | None = None
    """What all runs together may cost."""
    sample: Sample | None = None
    """On this runs can be made too, as they are cheaper; what matters is how long it takes on all."""


class ProfilingPlan(msgspec.Struct, frozen=True):
    """What a profiling would be. Times and costs of all possible runs are there when earlier ones tell."""

    template: str
    design: Design
    candidates: int
    """How many runs are possible."""
    at_once: int
    known_runs: int = 0
    """From so many earlier ones is what follows."""
    seconds: float | None = None
    cost_usd: float | None = None


class Profiling(msgspec.Struct, frozen=True):
    """Runs that are being made. They bear a tag, by which they are watched, waited for and ended as a sweep is."""

    template: str
    tag: str
    design: Design
    candidates: int
    sentence: str
    """What is being done, or how it ended."""
    is_over: bool = False
