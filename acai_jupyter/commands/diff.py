"""`diff`: how two contents differ and, when jobs made them, why."""

from __future__ import annotations

import sys
from dataclasses import dataclass
from itertools import chain
from typing import TYPE_CHECKING

import msgspec

from acai_jupyter.client import filesets
from acai_jupyter.commands import markup, terminal
from acai_jupyter.commands.reasons import reasons
from acai_jupyter.commands.results import Result
from acai_jupyter.commands.units import files_of, size
from acai_jupyter.contract import endpoints
from acai_jupyter.contract.errors import BadRequest
from acai_jupyter.contract.filesets import Comparison, Difference, DifferenceKind, Without
from acai_jupyter.contract.foreign import one_line
from acai_jupyter.contract.ids import JobNumber
from acai_jupyter.contract.specs import encode_path, parse_input, parse_set

if TYPE_CHECKING:
    from argparse import Namespace
    from collections.abc import Iterator

    from acai_jupyter.client.http import Client
    from acai_jupyter.contract.filesets import Source

SHOWN = 10
"""So many paths of each kind are shown without `--all`."""
HTML_ROWS = 20
"""So many differences are shown in a notebook."""
MARKS = {
    DifferenceKind.ADDED: "+",
    DifferenceKind.REMOVED: "-",
    DifferenceKind.CHANGED: "~",
    DifferenceKind.RENAMED: "→",
}


@dataclass(frozen=True)
class Side:
    """What is compared: its name for people, its files, and what it is called in the graph, if it is in it."""

    name: str
    sources: list[Source]
    thing: str | None = None


class Compared(msgspec.Struct, frozen=True):
    """How two contents differ, and why."""

    before: str
    after: str
    comparison: Comparison | None
    """None when neither has files, as jobs without an output."""
    why: list[str]


def diff(client: Client, arguments: Namespace) -> Result:
    """Compare two sets, specs or jobs; they differ: exit status 1."""
    first, second = arguments.before, arguments.after
    of_jobs = first.isdecimal(), second.isdecimal()
    if any(of_jobs) and not all(of_jobs):
        raise BadRequest("A job is compared with a job. Name its output set to compare that with another.")
    side = _job_side if all(of_jobs) else _set_side
    before, after = side(client, first), side(client, second)
    pages = None
    if before.sources or after.sources:
        pages = filesets.compare(client, _or_none(before, after), _or_none(after, before))
    page = None if pages is None else next(pages)
    why = _why(client, before, after)
    different = page is not None and count(page) > 0
    head = f"{before.name} → {after.name}"
    tail = [f"why: {', '.join(why)}"] if why else []
    if page is not None and pages is not None and arguments.all:
        page = _all(page, pages, head, as_data=arguments.json)
        lines = tail
    else:
        again = f"acai diff {first} {second} --all"
        lines = [head, *(_content(page, again) if page else ["neither has files"]), *tail]
    compared = Compared(before.name, after.name, page, why)
    text = "\n".join(lines)
    return Result(text, compared, "diff", failed=different, html=lambda: _html(compared, arguments.all))


def count(page: Comparison) -> int:
    """How many files differ."""
    return page.added + page.removed + page.changed + page.renamed


def counts(page: Comparison) -> dict[DifferenceKind, int]:
    """How many of each kind."""
    return {kind: getattr(page, kind.value) for kind in DifferenceKind}


def line_of(one: Difference) -> str:
    """Write a difference in one line."""
    before = one_line(encode_path(one.before.path)) if one.before else ""
    after = one_line(encode_path(one.after.path)) if one.after else ""
    if one.kind is DifferenceKind.RENAMED:
        return f"{before} → {after}"
    return f"{MARKS[one.kind]} {after or before}"


def by_kind(page: Comparison, again: str, most: int = SHOWN) -> list[str]:
    """For each kind a line with its number, and its first paths below."""
    lines = []
    for kind, number in counts(page).items():
        if not number:
            continue
        lines.append(f"{files_of(number)} {kind.value}")
        paths = [line_of(one) for one in page.differences if one.kind is kind][:most]
        lines += [f"  {path}" for path in paths]
        if number > len(paths):
            lines.append(f"  … {number - len(paths):,} more: {again}")
    return lines


def summary(page: Comparison) -> str:
    """Say how many of each kind in one line."""
    parts = [f"{number:,} {kind.value}" for kind, number in counts(page).items() if number]
    return ", ".join(parts) or "no difference"


def _html(compared: Compared, was_listed: bool) -> str:
    """Write it for a notebook; what was listed already is not written again."""
    page = compared.comparison
    said = "neither has files" if page is None else summary(page) if count(page) else _content(page, "")[0]
    listed = table_of(page, HTML_ROWS) if page is not None and count(page) and not was_listed else ""
    why = markup.below(f"why: {', '.join(compared.why)}") if compared.why else ""
    return markup.block("diff", markup.title(f"{compared.before} → {compared.after}: {said}"), listed, why)


def table_of(page: Comparison, most: int) -> str:
    """Write the first differences as a table."""
    some = page.differences[:most]
    rest = count(page) - len(some)
    rows = [[one.kind.value, *_sizes(one)] for one in some]
    return markup.table("", ["", "before", "after"], rows, f"… {rest:,} more" if rest else "")


def _sizes(one: Difference) -> list[str]:
    return [f"{encode_path(e.path)}:{e.version} ({size(e.size_bytes)})" if e else "" for e in (one.before, one.after)]


def _content(page: Comparison, again: str) -> list[str]:
    if not count(page):
        return ["the same files" + (f" ({page.renumbered:,} under other version numbers)" if page.renumbered else "")]
    return by_kind(page, again)


def _all(page: Comparison, rest: Iterator[Comparison], head: str, *, as_data: bool) -> Comparison:
    """Write every difference as it comes, or gather them."""
    following = chain.from_iterable(one.differences for one in rest)
    if as_data:
        return msgspec.structs.replace(page, differences=[*page.differences, *following], next=None)
    terminal.write(f"{head}\n{summary(page)}\n", sys.stdout)
    for one in chain(page.differences, following):
        terminal.write(f"  {line_of(one)}\n", sys.stdout)
    return page


# -- what is compared


def _set_side(client: Client, text: str) -> Side:
    spec = parse_input(filesets.spec_of(text))
    if spec.file_set is None or spec.path != "/":
        return Side(str(spec), [str(spec)])
    file_set = client.call(endpoints.GET_FILE_SET, ref=str(spec.file_set))
    return Side(file_set.ref, [f"@{file_set.ref}"], file_set.ref)


def _job_side(client: Client, text: str) -> Side:
    job = client.call(endpoints.GET_JOB, job=JobNumber(int(text)))
    sources: list[Source] = [f"@{job.output}"] if job.output and parse_set(job.output).version != "latest" else []
    return Side(f"job {job.number}", sources, str(job.number))


def _or_none(side: Side, other: Side) -> list[Source]:
    """Return what a side has; a job without an output has nothing, which is written as what is left of something."""
    return side.sources or [Without(other.sources, other.sources)]


def _why(client: Client, before: Side, after: Side) -> list[str]:
    """Say in what the lineages differ; nothing of files that are no whole set."""
    if before.thing is None or after.thing is None:
        return []
    why = client.call(endpoints.EXPLAIN_DIFFERENCE, query={"before": before.thing, "after": after.thing})
    return reasons(why)
