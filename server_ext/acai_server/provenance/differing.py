"""Why two sets or jobs differ: their lineages are compared action by action, from what is nearest back."""

from __future__ import annotations

from collections import deque
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from acai_jupyter.contract.errors import BadRequest, FileSetNotFound, JobNotFound
from acai_jupyter.contract.filesets import CompareSources, Comparison
from acai_jupyter.contract.lineage import Agreement, Cause, WhyDifferent
from acai_jupyter.contract.specs import parse_set
from acai_jupyter.contract.states import ActionKind, InputRole
from acai_server.provenance.facts import facts_of

if TYPE_CHECKING:
    from acai_jupyter.contract.ids import FileSetVersionId, JobNumber, ProjectId
    from acai_server.db.actions import StoredAction
    from acai_server.db.database import Database
    from acai_server.db.filesets import StoredFileSet
    from acai_server.db.work import Work
    from acai_server.provenance.protocols import Comparer

MOST_PAIRS = 200
"""So many pairs of actions are compared."""
SHOWN_PATHS = 5
_LATER = ("platform", "python", "package ")
"""What is told after all else of the same distance."""


@dataclass(frozen=True)
class Side:
    """One of two things that are compared: its name, its set if it is one or made one, and the action behind it."""

    name: str
    file_set: StoredFileSet | None
    action: StoredAction | None

    @property
    def key(self) -> int | None:
        """Names the action, if there is one."""
        return None if self.action is None else self.action.id

    @property
    def job(self) -> JobNumber | None:
        """The job that the action is, if it is one."""
        return None if self.action is None else self.action.job

    @property
    def maker(self) -> str:
        """How people call the action."""
        if self.action is None:
            return "nothing"
        if self.action.job is not None:
            return f"job {self.action.job}"
        return f"{self.action.kind.value} of {self.name} by {self.action.creator}"


class Differing:
    """Compares lineages in one database. `comparer` knows how contents differ."""

    def __init__(self, database: Database, comparer: Comparer) -> None:
        self._database = database
        self._comparer = comparer

    def explain(self, project: ProjectId, before: str, after: str, depth: int) -> WhyDifferent:
        """Tell in what two lineages differ."""
        of_jobs = [text.isascii() and text.isdigit() for text in (before, after)]
        if any(of_jobs) and not all(of_jobs):
            raise BadRequest("A job is compared with a job. Name its output set to compare that with another.")
        with self._database.reading() as work:
            find = _job if all(of_jobs) else _set
            one, other = find(work, project, before), find(work, project, after)
        walk = _Walk(self._database, self._comparer, project)
        walk.contents("files", 0, one.file_set, other.file_set, (one.name, other.name))
        walk.go(one, other, depth)
        return WhyDifferent(
            before=one.name,
            after=other.name,
            causes=sorted(walk.causes, key=lambda cause: (cause.distance, cause.what.startswith(_LATER))),
            same=walk.same,
            jobs=(one.job, other.job),
            is_cut=walk.is_cut,
        )


@dataclass
class _Walk:
    database: Database
    comparer: Comparer
    project: ProjectId
    causes: list[Cause] = field(default_factory=list)
    same: list[Agreement] = field(default_factory=list)
    is_cut: bool = False

    def go(self, before: Side, after: Side, depth: int) -> None:
        """Compare what made two things, then what made that, as far as it differs."""
        queue = deque([(before, after, 1)])
        seen: set[tuple[int | None, int | None]] = set()
        while queue:
            one, other, distance = queue.popleft()
            pair = one.key, other.key
            if pair in seen or pair[0] == pair[1]:
                continue
            seen.add(pair)
            if distance > depth or len(seen) > MOST_PAIRS:
                self.is_cut = True
                continue
            queue.extend((a, b, distance + 1) for a, b in self._compare(one, other, distance))

    def _compare(self, before: Side, after: Side, distance: int) -> list[tuple[Side, Side]]:
        """Compare two actions; returns the inputs that differ, with what made them."""
        one, other, of = before.action, after.action, (before.maker, after.maker)
        if one is None or other is None or one.kind is not other.kind:
            self.causes.append(Cause(distance, "made by", *of, of=(before.name, after.name)))
            return []
        if one.kind is ActionKind.UPLOAD:
            return []
        differing = self._inputs(one, other, distance, of)
        if one.job is not None and other.job is not None:
            self._beside(one, other, distance, of)
            with self.database.reading() as work:
                facts = [facts_of(work, self.project, job) for job in (one.job, other.job)]
            self.causes += facts[0].differing(facts[1], distance, of)
        return differing

    def _inputs(
        self, before: StoredAction, after: StoredAction, distance: int, of: tuple[str, str]
    ) -> list[tuple[Side, Side]]:
        """Versions of one name belong together; what is left over came or went."""
        with self.database.reading() as work:
            old, new = (_by_name(_given(work, self.project, action)) for action in (before, after))
            pairs = [(old.get(name), new.get(name)) for name in dict.fromkeys([*old, *new])]
            sides = [(_maybe_side(work, self.project, a), _maybe_side(work, self.project, b)) for a, b in pairs]
        differing = []
        for (was, now), both in zip(pairs, sides, strict=True):
            self.contents("input", distance, was, now, of)
            if both[0] is not None and both[1] is not None and was is not None and now is not None and was.id != now.id:
                differing.append((both[0], both[1]))
        return differing

    def _beside(self, before: StoredAction, after: StoredAction, distance: int, of: tuple[str, str]) -> None:
        """Compare the code, and the variables that were sent if any were."""
        for role in (InputRole.CODE, InputRole.VARIABLES):
            with self.database.reading() as work:
                was, now = (next(iter(_in_role(work, action, role)), None) for action in (before, after))
            if role is InputRole.CODE or was is not None or now is not None:
                self.contents(role.value, distance, was, now, of, alike=True)

    def contents(
        self,
        what: str,
        distance: int,
        was: StoredFileSet | None,
        now: StoredFileSet | None,
        of: tuple[str, str],
        *,
        alike: bool = False,
    ) -> None:
        """Tell how two sets differ; `alike`: versions with the same files are the same."""
        refs = [None if one is None else one.public.ref for one in (was, now)]
        found = None
        if was is not None and now is not None:
            found = _NO_FILES if was.root == now.root else self._compared(was, now)
        is_same = refs[0] == refs[1] or (alike and found is not None and not _files(found))
        if what == "files":
            is_same = found is not None and not _files(found)
        if is_same:
            self.same.append(Agreement(distance, what, refs[0]))
            return
        count = None if found is None else _files(found)
        paths = [one.path for d in found.differences for one in (d.after or d.before,) if one] if found else []
        self.causes.append(Cause(distance, what, refs[0], refs[1], count, paths, of))

    def _compared(self, was: StoredFileSet, now: StoredFileSet) -> Comparison | None:
        """How the files differ; of a set that is deleted that cannot be said."""
        asked = CompareSources([f"@{was.public.ref}"], [f"@{now.public.ref}"], limit=SHOWN_PATHS)
        try:
            return self.comparer.compare(self.project, asked)
        except FileSetNotFound:
            return None


_NO_FILES = Comparison(0, 0, 0, 0, 0, [], [], [])


def _files(found: Comparison) -> int:
    return found.added + found.removed + found.changed + found.renamed


def _set(work: Work, project: ProjectId, text: str) -> Side:
    return _side(work, project, work.file_sets.find(project, parse_set(text), or_deleted=True))


def _job(work: Work, project: ProjectId, text: str) -> Side:
    found = work.graph.of_job(project, int(text)) if len(text) <= 12 else None  # noqa: PLR2004 (digits of a number)
    if found is None:
        raise JobNotFound(job=text[:40])
    action = work.graph.actions(project, [found])[found]
    made = work.file_sets.by_id(action.outputs)
    return Side(f"job {text}", next(iter(made.values()), None), action)


def _side(work: Work, project: ProjectId, stored: StoredFileSet) -> Side:
    made_by = work.graph.made_by([stored.id])
    actions = work.graph.actions(project, made_by.values())
    return Side(stored.public.ref, stored, next(iter(actions.values()), None))


def _maybe_side(work: Work, project: ProjectId, stored: StoredFileSet | None) -> Side | None:
    return None if stored is None else _side(work, project, stored)


def _given(work: Work, project: ProjectId, action: StoredAction) -> list[StoredFileSet]:
    """The data that went into an action; several sets that were laid together for a job count one by one."""
    found: list[StoredFileSet] = []
    for stored in _in_role(work, action, InputRole.DATA):
        own = action.job is not None and stored.public.name == f"job-{action.job}-input"
        laid = _side(work, project, stored).action if own else None
        found += [stored] if laid is None else _in_role(work, laid, InputRole.DATA)
    return found


def _in_role(work: Work, action: StoredAction, role: InputRole) -> list[StoredFileSet]:
    wanted: list[FileSetVersionId] = [version for version, one in action.inputs if one is role]
    known = work.file_sets.by_id(wanted)
    return [known[version] for version in wanted]


def _by_name(sets: list[StoredFileSet]) -> dict[str, StoredFileSet]:
    found: dict[str, StoredFileSet] = {}
    for one in sets:
        found[one.public.ref if one.public.name in found else one.public.name] = one
    return found
