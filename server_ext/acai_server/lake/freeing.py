"""Frees contents that nothing refers to, and copies: whole objects of them, and packs that are mostly dead.

What is to go is found in one view of the records. Whatever comes to life afterwards changes a pending session or takes
a number in the order of commits, so each transaction that frees something looks at that first, with the project locked.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from acai_jupyter.contract.garbage import GarbageKind
from acai_server.lake import marking
from acai_server.lake.collecting import EXAMPLES
from acai_server.lake.repacking import Repacking, is_mostly_dead, is_worth_moving

if TYPE_CHECKING:
    from collections.abc import Iterator

    from acai_jupyter.contract.ids import SessionId
    from acai_server.db.garbage import Pack, Piece, Standing
    from acai_server.db.sweeping import UploadRoot
    from acai_server.db.work import Work
    from acai_server.lake.collecting import Run
    from acai_server.lake.repacking import Moving
    from acai_server.lake.tidying import Tidying

_OBJECTS_AT_ONCE = 100
_CONTENTS_AT_ONCE = 500
"""On a full disk a transaction has only the spare room: SQLite may write 8 KiB for each row that it deletes."""


@dataclass(frozen=True)
class Sparing:
    """An object, what is in it, and what of that is not needed there."""

    pack: Pack
    pieces: list[Piece]
    needless: frozenset[int]
    is_dead: bool
    """Whether nothing of that is kept elsewhere: then nobody can be reading it."""

    @property
    def is_all(self) -> bool:
        """Whether nothing of it is needed."""
        return len(self.needless) == len(self.pieces)

    @property
    def living(self) -> list[Piece]:
        """What is needed."""
        return [piece for piece in self.pieces if piece.id not in self.needless]

    @property
    def live_bytes(self) -> int:
        """The bytes of what is needed."""
        return sum(piece.size_bytes for piece in self.living)

    @property
    def is_sound(self) -> bool:
        """Whether what is needed is what was announced."""
        return not any(piece.is_wrong for piece in self.living)


@dataclass
class Round:
    """Objects that are looked at together."""

    standing: Standing
    dead: set[bytes]
    """Hashes that nothing refers to; what comes to life is taken out."""
    packs: dict[int, int] = field(default_factory=dict)
    """Objects of which something may go, with the number of their contents."""
    with_copies: set[int] = field(default_factory=set)
    """Those with contents that are kept elsewhere too."""

    def catch_up(self, work: Work, run: Run) -> None:
        """Take out what came to life since. The project is locked."""
        now = work.garbage.standing(run.project)
        if now != self.standing:
            self.dead.difference_update(work.garbage.since(run.project, self.standing, now))
            self.standing = now

    def spared(self, work: Work, objects: list[int]) -> Iterator[Sparing]:
        """Say of objects what is not needed now."""
        pieces = work.garbage.pieces(objects)
        spare = work.garbage.spare([number for number in objects if number in self.with_copies])
        for pack in work.garbage.packs(objects):
            held = pieces[pack.id]
            dead = {piece.id for piece in held if piece.sha256 in self.dead}
            needless = frozenset(piece.id for piece in held if piece.id in dead or piece.id in spare)
            if needless:
                yield Sparing(pack, held, needless, is_dead=needless == dead)


class Freeing:
    """The step of a collection that frees contents."""

    def __init__(self, run: Run, tidying: Tidying) -> None:
        self._run = run
        self._repacking = Repacking(run, tidying)

    def run(self, dropped: set[SessionId]) -> None:
        """Do it. Sessions that are dropped count as such that no later one is based on; more may come to them."""
        with self._run.database.reading() as work:
            stretches = work.garbage.stretches(self._run.project, self._run.terms.at_once)
        for stretch in stretches:
            self._run.go_on()
            self._free(self._round(stretch, dropped))

    def _round(self, stretch: tuple[int, int], dropped: set[SessionId]) -> Round:
        run = self._run
        with run.database.reading() as work:
            found = Round(work.garbage.standing(run.project), work.garbage.dead(run.project, run.cutoff, stretch))
            run.go_on()
            based = self._take_out_living(work, found.dead, dropped)
        if based and not run.is_dry:
            self._drop(based, found)
        dropped.update(one.session for one in based)
        with run.database.reading() as work:
            weights = work.garbage.needless(run.project, found.dead, stretch)
            packs = {pack.id: pack for pack in work.garbage.packs(sorted(weights))}
        found.with_copies = {number for number, weight in weights.items() if weight.spare}
        found.packs = {
            number: pack.contents
            for number, pack in packs.items()
            if weights[number].contents == pack.contents
            or is_mostly_dead(pack.size_bytes, pack.held_bytes - weights[number].size_bytes, run.terms)
        }
        return found

    def _take_out_living(self, work: Work, dead: set[bytes], dropped: set[SessionId]) -> list[UploadRoot]:
        """Take out what a manifest holds; returns the sessions on which nobody can be based when the rest goes."""
        run = self._run
        if not dead:
            return []
        load, seen = run.loader(work), set[bytes]()
        for root in work.sweeping.set_roots(run.project, run.cutoff if run.is_dry else None):
            marking.take_out(root, load, seen, dead)
        uploads = [one for one in work.sweeping.upload_roots(run.project) if one.session not in dropped]
        for one in uploads:
            if one.in_use:
                marking.take_out(one.root, load, seen, dead)
        return [one for one in uploads if not one.in_use and marking.holds(one.root, load, seen, dead)]

    def _drop(self, based: list[UploadRoot], found: Round) -> None:
        """Let nobody be based on these sessions; what somebody just was lives."""
        run = self._run
        with run.database.writing() as work:
            work.uploads.lock_project(run.project)
            in_use = work.sweeping.drop_roots(run.project, [one.session for one in based])
        if in_use:
            with run.database.reading() as work:
                load, seen = run.loader(work), set[bytes]()
                for one in based:
                    if one.session in in_use:
                        marking.take_out(one.root, load, seen, found.dead)

    def _free(self, found: Round) -> None:
        """Free whole objects first, then move what lives out of the others that are mostly dead."""
        moving: list[Moving] = []
        for objects in _pages(found.packs):
            self._run.go_on()
            if self._run.is_dry:
                with self._run.database.reading() as work:
                    plan = list(found.spared(work, objects))
                self._tell(plan)
            else:
                plan = self._free_page(found, objects)
            worth = [one for one in plan if not one.is_all and is_worth_moving(one, self._run.terms)]
            if self._run.is_dry:
                self._repacking.tell(worth)
            else:
                moving += [(one.pack, one.live_bytes) for one in worth]
        self._repacking.run(found, moving)

    def _free_page(self, found: Round, objects: list[int]) -> list[Sparing]:
        run = self._run
        with run.database.writing() as work:
            work.uploads.lock_project(run.project)
            found.catch_up(work, run)
            work.garbage.lock(objects)
            plan = list(found.spared(work, objects))
            gone = [one for one in plan if one.is_all]
            work.garbage.empty([one.pack.id for one in gone if not one.is_dead], work.clock.now())
            work.garbage.free([one.pack.id for one in gone if one.is_dead])
        run.objects.delete_all(one.pack.key for one in gone if one.is_dead)
        self._tell(gone)
        return plan

    def _tell(self, plan: list[Sparing]) -> None:
        """Report whole objects; one with a copy in it waits with the moved packs, so all of it counts as copies."""
        for one in plan:
            if one.is_all:
                kind = GarbageKind.DELETED_FILES if one.is_dead else GarbageKind.COPIES
                self._run.report.add(kind, len(one.needless), one.pack.size_bytes, self._examples(kind, one))

    def _examples(self, kind: GarbageKind, one: Sparing) -> list[str]:
        """Names of some contents; of one that never was a file's, its object's key."""
        run = self._run
        if not run.report.lacks_examples(kind):
            return []
        some = [piece.sha256 for piece in one.pieces[:EXAMPLES]]
        with run.database.reading() as work:
            return work.garbage.names(run.project, some) or [one.pack.key]


def _pages(packs: dict[int, int]) -> Iterator[list[int]]:
    """Cut objects into pages that one short transaction can free."""
    page: list[int] = []
    count = 0
    for number, contents in packs.items():
        if page and (len(page) >= _OBJECTS_AT_ONCE or count + contents > _CONTENTS_AT_ONCE):
            yield page
            page, count = [], 0
        page.append(number)
        count += contents
    if page:
        yield page
