"""The runs of `benchmarks/data`."""

from __future__ import annotations

import csv
import gzip
from collections import defaultdict
from dataclasses import dataclass
from functools import cache
from pathlib import Path

from acai_server.provisioner.observations import Observation

FOLDER = Path(__file__).parents[1] / "data"
CUT_OFF_SECONDS = 600.0
"""Runs of `tf_ec2` were ended then."""


@dataclass(frozen=True)
class Measured:
    """A configuration of a task, how long it took, and what it cost."""

    values: dict[str, float | str]
    seconds: float
    usd: float

    @property
    def run(self) -> Observation:
        """What a model sees of it."""
        return Observation(self.values, self.seconds)


Tasks = dict[tuple[str, ...], list[Measured]]


@cache
def rows(name: str) -> list[dict[str, str]]:
    with gzip.open(FOLDER / f"{name}.csv.gz", "rt") as file:
        return list(csv.DictReader(file))


def mnist(*features: str) -> list[Observation]:
    """Trainings on one machine; the parameters that are left out make repeats."""
    return [
        Observation({one: float(row[one]) for one in features}, float(row["train_s"])) for row in rows("mnist_runtime")
    ]


def tf_ec2() -> list[Observation]:
    """Trainings on clusters that were not cut off."""
    found = []
    for row in rows("tf_ec2"):
        values: dict[str, float | str] = {
            one: float(row[one]) for one in ("total_cores", "learning_rate", "batch_size", "train_rows")
        }
        values |= {"vm_type": row["vm_type"], "sync": "yes" if row["sync"] == "1" else "no"}
        if float(row["train_s"]) < CUT_OFF_SECONDS:
            found.append(Observation(values, float(row["train_s"])))
    return found


def tf_ec2_tasks() -> Tasks:
    """Each setting at each size of the data: on which cluster?"""
    tasks: Tasks = defaultdict(list)
    for row in rows("tf_ec2"):
        key = row["train_rows"].zfill(6), row["learning_rate"], row["batch_size"], row["sync"]
        values: dict[str, float | str] = {"vm_type": row["vm_type"], "total_cores": float(row["total_cores"])}
        tasks[key].append(Measured(values, float(row["train_s"]), float(row["usd"])))
    return dict(tasks)


def scout_tasks() -> Tasks:
    """Each workload: on which cluster?"""
    tasks: Tasks = defaultdict(list)
    for row in rows("scout"):
        nodes = float(row["nodes"])
        family, _, size = row["vm_type"].partition(".")
        values: dict[str, float | str] = {
            "family": family,
            "size": size,
            "nodes": nodes,
            "vcpu": nodes * float(row["vcpu"]),
            "memory_gib": nodes * float(row["mem_gib"]),
        }
        key = row["workload"], row["framework"], row["input"]
        tasks[key].append(Measured(values, float(row["elapsed_s"]), float(row["usd"])))
    return dict(tasks)


def lcdb() -> dict[str, list[Observation]]:
    """Trainings of each learner."""
    found: dict[str, list[Observation]] = defaultdict(list)
    for row in rows("lcdb"):
        values: dict[str, float | str] = {one: float(row[one]) for one in ("size_train", "features", "classes")}
        found[row["learner"]].append(Observation(values, float(row["train_s"])))
    return dict(found)
