"""Questions to the graph. It is written by those who make things, in their own transactions."""

from __future__ import annotations

from typing import TYPE_CHECKING

import msgspec

from acai_jupyter.contract import decoding
from acai_jupyter.contract.errors import JobNotFound
from acai_jupyter.contract.lineage import Affected, LineageDirection
from acai_jupyter.contract.provenance import MadeOf
from acai_jupyter.contract.specs import parse_set
from acai_server.provenance import between
from acai_server.provenance.closures import Lines, close
from acai_server.provenance.components import project_graph
from acai_server.provenance.differing import Differing
from acai_server.provenance.exports import joined, writer_of
from acai_server.provenance.exports.lineage import gather
from acai_server.provenance.origins import Origins
from acai_server.provenance.parts import MAX_DIGITS, Part, named

if TYPE_CHECKING:
    from collections.abc import Iterator

    from acai_jupyter.contract.ids import ActionId, ProjectId
    from acai_jupyter.contract.lineage import FileOrigin, Paths, ProjectGraph, WhyDifferent
    from acai_jupyter.contract.provenance import Graph
    from acai_jupyter.contract.queries import (
        AffectedQuery,
        ClosureQuery,
        ExportQuery,
        NeighbourhoodQuery,
        ProjectGraphQuery,
    )
    from acai_server.db.database import Database
    from acai_server.db.filesets import StoredFileSet
    from acai_server.db.work import Work
    from acai_server.provenance.protocols import Comparer, FileReader

MOST_AFFECTED = 100_000
"""So many affected sets are counted."""


class Provenance:
    """Nodes are file set versions; edges are actions. Deleted sets are tombstones in it."""

    def __init__(self, database: Database, files: FileReader, comparer: Comparer) -> None:
        self._database = database
        self._origins = Origins(database, files)
        self._differing = Differing(database, comparer)

    def project(self, project: ProjectId, query: ProjectGraphQuery) -> ProjectGraph:
        """Return a page of the graph of a project by names."""
        with self._database.reading() as work:
            return project_graph(work, project, query)

    def neighbourhood(self, project: ProjectId, thing: str, query: NeighbourhoodQuery) -> Graph:
        """Return what is around a set or a job, which is named by its number."""
        with self._database.reading() as work:
            part = Part(work, project, query.limit)
            if thing.isascii() and thing.isdigit():
                action = _action(work, project, thing)
                back, forward = part.begin_with_action(action)
                steps, focus = 1, thing
            else:
                stored = _found(work, project, thing)
                back = forward = part.begin_with(stored.id)
                steps, focus = 0, stored.public.ref
            for distance in range(steps, max(query.back, query.forward)):
                back = part.back(back, -distance - 1) if back and distance < query.back else []
                forward = part.forward(forward, distance + 1) if forward and distance < query.forward else []
            return part.graph(focus)

    def sources(self, project: ProjectId, ref: str) -> MadeOf:
        """Return what somebody made a set of."""
        with self._database.reading() as work:
            stored = _found(work, project, ref)
            return decoding.convert({"sources": work.actions.sources_of(stored.id)}, MadeOf)

    def uses(self, project: ProjectId, ref: str, before: str | None, limit: int) -> Graph:
        """Return a page of the actions that used a set, the newest first, with all that they made of what."""
        with self._database.reading() as work:
            stored = _found(work, project, ref)
            part = Part(work, project)
            part.begin_with(stored.id)
            found = work.graph.uses(stored.id, limit + 1, None if before is None else named(work, project, before))
            part.add(found[:limit], 1)
            graph = part.graph(stored.public.ref)
            last = part.name(found[limit - 1]) if len(found) > limit else None
        return msgspec.structs.replace(graph, next=last)

    def closure(self, project: ProjectId, ref: str, query: ClosureQuery) -> Iterator[bytes]:
        """Find all on one side of a set, and give it as lines; what is not there raises at once."""
        return self._lines(project, ref, query).encoded()

    def export(self, project: ProjectId, ref: str, query: ExportQuery, name: str) -> Iterator[bytes]:
        """Find likewise, and give it in the format of other programs, which are told the project's name."""
        lines = self._lines(project, ref, query)
        lineage = gather(self._database, project, lines.encoded(), name=name)
        return joined(writer_of(query.format)(lineage))

    def _lines(self, project: ProjectId, ref: str, query: ClosureQuery | ExportQuery) -> Lines:
        with self._database.reading() as work:
            stored = _found(work, project, ref)
            found = close(work, stored.id, stored.public.ref, query.direction, query.depth, query.limit)
        return Lines(self._database, project, found, query.direction)

    def paths(self, project: ProjectId, ref: str, to: str, limit: int) -> Paths:
        """Return what lies between two sets."""
        with self._database.reading() as work:
            ends = [_found(work, project, one) for one in (ref, to)]
            return between.paths(work, project, ends[0], ends[1], limit)

    def affected(self, project: ProjectId, ref: str, query: AffectedQuery) -> Affected:
        """Return what was made of a set, directly or not."""
        with self._database.reading() as work:
            stored = _found(work, project, ref)
            found = close(work, stored.id, stored.public.ref, LineageDirection.FORWARD, query.depth, MOST_AFFECTED)
            behind = found.versions[1:]
            edges = work.closures.near(found.versions[: found.inside], LineageDirection.FORWARD)
            actions = list(dict.fromkeys(edge[1] for edge in edges))
            of_jobs = work.graph.with_jobs(actions)
            sets = work.file_sets.by_id(behind[: query.limit])
            jobs = work.graph.jobs(project, work.graph.actions(project, of_jobs[: query.limit]).values())
            newest = work.links.which_are_newest(behind[: query.limit])
        return Affected(
            focus=stored.public.ref,
            sets=[sets[version].public for version in behind[: query.limit]],
            jobs=[jobs[action] for action in of_jobs[: query.limit]],
            newest=[sets[version].public.ref for version in newest],
            set_count=len(behind),
            job_count=len(of_jobs),
            is_cut=found.is_cut or max(len(behind), len(of_jobs)) > query.limit,
        )

    def file_origin(self, project: ProjectId, spec: str) -> FileOrigin:
        """Return where a file version is from."""
        return self._origins.find(project, spec)

    def why_different(self, project: ProjectId, before: str, after: str, depth: int) -> WhyDifferent:
        """Return in what the lineages of two sets or jobs differ."""
        return self._differing.explain(project, before, after, depth)


def _found(work: Work, project: ProjectId, ref: str) -> StoredFileSet:
    """The set a question begins with; of it only the place in the graph and the name are asked."""
    return work.file_sets.find(project, parse_set(ref), or_deleted=True, with_aliases=False)


def _action(work: Work, project: ProjectId, number: str) -> ActionId:
    action = work.graph.of_job(project, int(number)) if len(number) <= MAX_DIGITS else None
    if action is None:
        raise JobNotFound(job=number[:40])
    return action
