"""The tables of the lake, each made in a folder of its own; all are deleted at the end."""

from __future__ import annotations

import math
import tempfile
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

from benchmarks.lake import folders, large, million, s3
from benchmarks.lake.programs import WorkFailed
from benchmarks.report import Row, Table

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

    from benchmarks.lake.rounds import Plan

GIB = 1024**3
USUAL = ("small", "tiny", "large", "s3-large", "s3-small")
MEASURES: dict[str, tuple[str, Callable[[Plan], list[Row]]]] = {
    "small": ("10,000 files of 10 KB", lambda plan: folders.measure(folders.SMALL, plan)),
    "tiny": ("50,000 files of 1 KB", lambda plan: folders.measure(folders.TINY, plan)),
    "large": ("one file of 1 GiB", lambda plan: large.measure(GIB, plan)),
    "s3-large": ("one file of 1 GiB to S3", lambda plan: s3.measure_large(GIB, plan)),
    "s3-small": ("10,000 files of 10 KB to S3 and back", s3.measure_small),
    "million": ("a million files of 100 bytes", million.measure),
}


def tables(names: Sequence[str] | None, plan: Plan) -> Iterator[Table]:
    """Measure what is named, else all but the million."""
    unknown = set(names or ()) - set(MEASURES)
    if unknown:
        raise SystemExit(f"lake has no rows {', '.join(sorted(unknown))}; there are {', '.join(MEASURES)}.")
    with tempfile.TemporaryDirectory(prefix="acai-lake-", dir=plan.folder) as kept:
        for name in names or USUAL:
            title, measure = MEASURES[name]
            try:
                rows = measure(replace(plan, folder=Path(kept) / name))
            except WorkFailed as error:
                rows = [Row(title, math.nan, "s", math.nan, beside=str(error))]
            yield Table(f"lake {name}", f"{title}; interleaved, median of {plan.rounds}.", rows)
