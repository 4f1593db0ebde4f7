"""Rules of what a project keeps of old versions: which versions they do not keep, and burying those.

The rules speak of data. Sets of code and variables belong to jobs and say how a result was made: they stay.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from typing import TYPE_CHECKING

from acai_jupyter.contract.errors import BadRequest
from acai_server.db.batches import pages
from acai_server.db.retention import Rule
from acai_server.lake.burying import PAGE, bury, let_others_in, unheld

if TYPE_CHECKING:
    from collections.abc import Iterator

    from acai_jupyter.contract.filesets import Retention
    from acai_jupyter.contract.ids import ProjectId, UserId
    from acai_server.db.burials import StoredVersion
    from acai_server.db.database import Database
    from acai_server.db.retention import OutdatedSet
    from acai_server.db.work import Work

EXAMPLES = 5
_MOST = 1_000_000_000
_NAMES_AT_ONCE = 100
_TOLD = 100
_EVER = datetime(9999, 1, 1, tzinfo=UTC)
_NEVER = datetime(1970, 1, 1, tzinfo=UTC)


@dataclass
class Outdated:
    """What the rules do not keep, or what of it was buried."""

    file_sets: list[str] = field(default_factory=list)
    file_versions: int = 0
    size_bytes: int = 0
    """Of the file versions."""
    examples: list[str] = field(default_factory=list)
    """Some of the file versions."""

    def add(self, versions: list[StoredVersion]) -> None:
        """Count file versions."""
        self.file_versions += len(versions)
        self.size_bytes += sum(one.size_bytes for one in versions)
        self.examples += [f"{one.path}:{one.number}" for one in versions[: EXAMPLES - len(self.examples)]]


class Rules:
    """What projects keep."""

    def __init__(self, database: Database) -> None:
        self._database = database

    def get(self, project: ProjectId) -> Retention:
        """Return a project's rules."""
        with self._database.reading() as work:
            return work.retention.get(project)

    def set(self, project: ProjectId, user: UserId, rules: Retention) -> Retention:
        """Put rules in the place of those that were there; empty ones keep everything."""
        if rules.files and rules.keep_last is None and rules.keep_days is None:
            raise BadRequest(reason="'files' says that files follow the rules, and there is none: give one of the two")
        if max(rules.keep_last or 0, rules.keep_days or 0) > _MOST:
            raise BadRequest(reason=f"a rule has at most {_MOST:,}")
        with self._database.writing() as work:
            work.uploads.lock_project(project)
            if work.retention.get(project) != rules:
                work.retention.set(project, rules)
                work.events.record(project, "retention_changed", "retention", user=work.uploads.creator(user))
        return rules

    def outdated(self, project: ProjectId) -> Outdated:
        """Return what would be buried now. Nothing is changed."""
        found = Outdated()
        with self._database.reading() as work:
            rule = _rule(work, project)
            if rule is None:
                return found
            sets = work.retention.file_sets(project, rule)
            found.file_sets = [one.ref for one in sets]
            if work.retention.get(project).files:
                gone = {one.id for one in sets}
                for after, border in _stretches(work, project):
                    versions = work.retention.files(project, rule, after, border)
                    found.add(unheld(work, project, versions, gone))
        return found

    def bury_outdated(self, project: ProjectId, user: UserId | None = None) -> Outdated:
        """Bury what the rules do not keep, a page in a transaction, and return it. `user` is who asked for it."""
        done = Outdated()
        with self._database.reading() as work:
            rule = _rule(work, project)
            found = [] if rule is None else work.retention.file_sets(project, rule)
        for names in pages(dict.fromkeys(one.file_set_id for one in found), _NAMES_AT_ONCE):
            done.file_sets += self._bury_sets(project, user, names)
            let_others_in()
        after: str | None = ""
        while after is not None:
            after = self._bury_files(project, after, done)
            let_others_in()
        return done

    def _bury_sets(self, project: ProjectId, user: UserId | None, names: list[int]) -> list[str]:
        with self._database.writing() as work:
            work.uploads.lock_project(project)
            rule = _rule(work, project)
            going = [] if rule is None else work.retention.file_sets(project, rule, names)
            by_name: dict[int, list[OutdatedSet]] = {}
            for one in going:
                by_name.setdefault(one.file_set_id, []).append(one)
            for file_set, some in sorted(by_name.items()):
                work.file_sets.lock(file_set)
                work.file_sets.mark(file_set, [one.id for one in some], work.clock.now())
            refs = [one.ref for one in going]
            if refs:
                told = {"file_sets": refs[:_TOLD], "count": len(refs), "rule": "retention"}
                who = {} if user is None else {"user": work.uploads.creator(user)}
                subject = refs[0] if len(refs) == 1 else f"{len(refs)} file sets"
                work.events.record(project, "file_sets_removed", subject, **told, **who)
            return refs

    def _bury_files(self, project: ProjectId, after: str, done: Outdated) -> str | None:
        """Bury what the rules do not keep in the next stretch of paths that has any; returns where to go on."""
        with self._database.reading() as work:
            rule = _rule(work, project)
            if rule is None or not work.retention.get(project).files:
                return None
            some = (s for s in _stretches(work, project, after) if work.retention.files(project, rule, *s))
            stretch = next(some, None)
        if stretch is None:
            return None
        with self._database.writing() as work:
            work.uploads.lock_project(project)
            rule = _rule(work, project)
            if rule is not None and work.retention.get(project).files:
                for versions in pages(work.retention.files(project, rule, *stretch), PAGE):
                    going = unheld(work, project, versions)
                    bury(work, project, going)
                    done.add(going)
        return stretch[1]


def _rule(work: Work, project: ProjectId) -> Rule | None:
    """What a project's rules come to now. The newest always stays."""
    rules = work.retention.get(project)
    if rules.keep_last is None and rules.keep_days is None:
        return None
    before = _EVER
    if rules.keep_days is not None:
        now = work.clock.now()
        most = (now - _NEVER) / timedelta(days=1)
        before = now - timedelta(days=min(rules.keep_days, most))
    return Rule(max(rules.keep_last or 1, 1), before)


def _stretches(work: Work, project: ProjectId, after: str = "") -> Iterator[tuple[str, str]]:
    """Cut the paths of a project into stretches."""
    border = work.retention.border(project, after, PAGE)
    while border is not None:
        yield after, border
        after, border = border, work.retention.border(project, border, PAGE)
