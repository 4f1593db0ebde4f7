"""What is said of models and machines to people."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

from acai_jupyter.contract.jobs import MIB

if TYPE_CHECKING:
    from acai_jupyter.contract.profiles import LogLinear, Prediction, ProvisionJob
    from acai_server.provisioner.knowledge import Knowledge

PARAMETER = "params."
LARGEST = 2**1000
"""A number beyond is none that a model can count with; whole ones can be longer."""
_MINUTE, _HOUR = 60, 3600
_LEAST_USD = 1e-9
"""Of less nobody counts the zeros."""
_CALLED = {
    "vcpu": "vCPU",
    "memory_gib": "memory in GB",
    "gpus": "GPUs",
    "gpu_type": "type of GPUs",
    "machine": "machine type",
    "input_mb": "input in MB",
    "input_files": "input files",
}


def why(wanted: ProvisionJob, chosen: Prediction | None, nearest: Prediction) -> str:
    """Say why this machine, or what is missing."""
    share = machine(nearest)
    sure = "" if wanted.confidence is None else f" at a confidence of {wanted.confidence:g}"
    if chosen is None:
        return _missing(wanted, nearest, share, sure)
    if wanted.max_seconds is not None and wanted.max_cost_usd is not None:
        return f"{share} is the cheapest within {duration(wanted.max_seconds)} and {money(wanted.max_cost_usd)}{sure}"
    if wanted.max_seconds is not None:
        return f"{share} is the cheapest within {duration(wanted.max_seconds)}{sure}"
    return f"{share} is the fastest within {money(wanted.max_cost_usd or 0.0)}{sure}"


def _missing(wanted: ProvisionJob, nearest: Prediction, share: str, sure: str) -> str:
    if wanted.max_seconds is None and wanted.max_cost_usd is None:
        return "say --max-time or --max-cost to have one chosen"
    seconds, usd = nearest.seconds, nearest.cost_usd
    if wanted.confidence is not None:
        seconds, usd = nearest.high_seconds, nearest.high_cost_usd
    lacks = []
    if wanted.max_seconds is not None and seconds > wanted.max_seconds:
        lacks.append(f"needs {duration(seconds)}; you allowed {duration(wanted.max_seconds)}")
    if wanted.max_cost_usd is not None and usd > wanted.max_cost_usd:
        lacks.append(f"needs {money(usd)}; you allowed {money(wanted.max_cost_usd)}")
    return f"no machine is within that{sure}; the nearest, {share}, {' and '.join(lacks)}"


def would(one: Prediction) -> str:
    """Say what a machine would make of it that is not taken."""
    return f"{machine(one)} would take {duration(one.seconds)} and cost {money(one.cost_usd)}"


def machine(one: Prediction) -> str:
    """Name a share of a machine."""
    share = one.resources
    of_type = f" ({share.gpu_type})" if share.gpu_type else ""
    gpus = f", {share.gpus} GPU{of_type}" if share.gpus else ""
    return f"{share.vcpu:g} vCPU with {share.memory_bytes / MIB:,.0f} MB{gpus}"


def formula(fitted: LogLinear | None, lender: str) -> str:
    """Write the original's form: a factor, and what each number is raised to."""
    if fitted is None:
        return f"too few runs of its own; that of {lender} is in its profile"
    parts = [f"{fitted.factor_seconds:.3g} s"]
    parts += [f"{name}^{exponent:.2f}" for name, exponent in fitted.exponents.items()]
    parts += [f"{factor:.2f} for {word}" for word, factor in fitted.factors.items()]
    return f"{' · '.join(parts)} (R² {fitted.r_squared:.3f} in logarithms)"


def ranges(known: Knowledge) -> dict[str, str]:
    """Say what was tried of each feature."""
    space = known.model.space
    found = {called(one.name): f"{one.low:g} to {one.high:g} ({one.levels} values)" for one in space.numbers}
    found |= {called(one.name): ", ".join(one.seen[:10]) for one in space.words}
    return found | {called(name): f"always {shown(value)}" for name, value in space.constants.items()}


def called(name: str) -> str:
    """Return what people call a feature."""
    return _CALLED.get(name, name.removeprefix(PARAMETER))


def shown(value: object) -> str:
    """Write a value of a feature."""
    return f"{value:g}" if isinstance(value, float | int) and abs(value) <= LARGEST else str(value)[:40]


def duration(seconds: float) -> str:
    """Write a time for people."""
    if seconds < _MINUTE:
        return f"{seconds:.3g} s"
    if seconds < _HOUR:
        return f"{seconds / _MINUTE:.3g} min"
    return f"{seconds / _HOUR:.3g} h"


def money(usd: float) -> str:
    """Write a sum for people."""
    if usd >= 0.01 or usd <= 0:  # noqa: PLR2004 (a cent)
        return f"${usd:,.2f}"
    if usd < _LEAST_USD:
        return f"${usd:.2g}"
    return f"${usd:.{1 - math.floor(math.log10(usd))}f}".rstrip("0")
