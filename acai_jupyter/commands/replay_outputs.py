"""Comparing what a job left with what the same job left again, file by file below their roots."""

from __future__ import annotations

from enum import StrEnum
from typing import TYPE_CHECKING, Any

import msgspec

from acai_jupyter.client import filesets
from acai_jupyter.client.downloads import read
from acai_jupyter.commands.likeness import compare, is_near
from acai_jupyter.commands.units import size
from acai_jupyter.contract.specs import encode_path

if TYPE_CHECKING:
    from collections.abc import Iterable

    from acai_jupyter.client.http import Client
    from acai_jupyter.contract.filesets import Entry
    from acai_jupyter.contract.jobs import Job

MAX_COMPARED = 200
"""The contents of so many files that are not the same bytes are looked into."""
MAX_BYTES = 64 * 1024**2
"""Of larger files only the hashes are compared."""


class Verdict(StrEnum):
    """How what came again is, from the best on."""

    IDENTICAL = "identical"
    EQUAL = "equal within tolerance"
    DIFFERENT = "different"


class FileReplay(msgspec.Struct, frozen=True):
    """A file that did not come again as the same bytes."""

    path: str
    """Below the folder of the outputs."""
    verdict: Verdict
    how: str


class Outputs(msgspec.Struct, frozen=True):
    """How two outputs compare."""

    verdict: Verdict
    file_count: int
    files: list[FileReplay]
    attributes: list[str] = []
    """What the jobs said of themselves that is not the same."""


def compare_outputs(client: Client, before: tuple[Job, str], after: tuple[Job, str], tolerance: float) -> Outputs:
    """Compare the outputs of two jobs, each given with the folder that its files are kept below."""
    old, new = (_files(client, job.output, root) for job, root in (before, after))
    told = _attributes(before[0].attributes, after[0].attributes, tolerance)
    return _outputs(client, old, new, told, tolerance)


def compare_sets(client: Client, before: str, after: str, tolerance: float) -> Outputs:
    """Compare two versions of a set that people made."""
    return _outputs(client, _files(client, before, ""), _files(client, after, ""), [], tolerance)


def worst(verdicts: Iterable[Verdict]) -> Verdict | None:
    """Return the worst there is, if there are any."""
    return max(verdicts, key=list(Verdict).index, default=None)


def _outputs(
    client: Client, old: dict[str, Entry], new: dict[str, Entry], told: list[str], tolerance: float
) -> Outputs:
    files = [
        _compared(client, path, old.get(path), new.get(path), tolerance, looks=number < MAX_COMPARED)
        for number, path in enumerate(path for path in sorted({**old, **new}) if not _same(old, new, path))
    ]
    found = [one.verdict for one in files] + ([Verdict.DIFFERENT] if told else [])
    return Outputs(worst(found) or Verdict.IDENTICAL, len(old | new), files, told)


def _files(client: Client, ref: str | None, root: str) -> dict[str, Entry]:
    if ref is None or ":" not in ref:
        return {}
    pages = filesets.resolve(client, [f"@{ref}"])
    found = (entry for page in pages for entry in page.entries)
    return {entry.path.removeprefix(root).lstrip("/"): entry for entry in found}


def _same(old: dict[str, Entry], new: dict[str, Entry], path: str) -> bool:
    return path in old and path in new and old[path].sha256 == new[path].sha256


def _compared(
    client: Client, path: str, old: Entry | None, new: Entry | None, tolerance: float, *, looks: bool
) -> FileReplay:
    if old is None or new is None:
        return FileReplay(path, Verdict.DIFFERENT, "was not there before" if old is None else "is not there any more")
    if not looks or max(old.size_bytes, new.size_bytes) > MAX_BYTES:
        how = f"other bytes ({size(old.size_bytes)} → {size(new.size_bytes)})"
        return FileReplay(path, Verdict.DIFFERENT, how)
    found = compare(path, _content(client, old), _content(client, new), tolerance)
    return FileReplay(path, Verdict.EQUAL if found.is_equal else Verdict.DIFFERENT, found.how)


def _content(client: Client, entry: Entry) -> bytes:
    return b"".join(read(client, f"{encode_path(entry.path)}:{entry.version}"))


def _attributes(before: dict[str, Any], after: dict[str, Any], tolerance: float) -> list[str]:
    """What programs tagged; what only one side has came by hand as well as not."""
    shared = [key for key in before if key in after]
    return [f"{key} {before[key]} → {after[key]}" for key in shared if not is_near(before[key], after[key], tolerance)]
