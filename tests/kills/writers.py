"""The clients of a campaign: each a thread that has one process after another do what a user or a program does."""

from __future__ import annotations

import json
import random
import shutil
from typing import TYPE_CHECKING

from acai_jupyter.contract.uploads import UploadResult
from tests.kills.clients import KILLED, UNREACHABLE, CommandLine, Ended, Process, RawLine
from tests.kills.contents import ANYONE, Origin
from tests.kills.oracle import Attempt
from tests.kills.raw import Task

if TYPE_CHECKING:
    from collections.abc import Callable

    from tests.integration.places import Place
    from tests.kills.gate import Gate
    from tests.kills.oracle import Oracle
    from tests.kills.running import Serving

MIB = 1024**2
NOT_THERE = (3, 6)
"""Exit statuses of who asked for what is not there, or may not be deleted."""
TRIES = 60


class Writer:
    """One client. `step` is a line of it with all that has to be run again."""

    def __init__(self, name: str, seed: str, place: Place, oracle: Oracle, serving: Serving) -> None:
        self.name = name
        self.process = Process(name, place)
        self._place = place
        self._oracle = oracle
        self._serving = serving
        self._chance = random.Random(f"{seed}-{name}")
        self._counter = 0
        self._home = place.home / "clients" / name
        self._home.mkdir(parents=True)

    def live(self, gate: Gate) -> None:
        """Do one line after the other."""
        while gate.enter():
            try:
                self.step()
            except Exception as error:  # noqa: BLE001 (a campaign does not go on without saying so)
                self._oracle.wrong(f"{self.name} fell over: {type(error).__name__}: {error}")
            finally:
                gate.leave()

    def step(self) -> None:
        """Do one line."""
        raise NotImplementedError

    def _again(self, run: Callable[[], Ended], killed: Callable[[], bool], fine: tuple[int, ...] = ()) -> Ended | None:
        """Run something until it is done; after a kill `killed` says whether to go on."""
        for _ in range(TRIES):
            before = self._serving.generation
            ended = run()
            if ended.status == 0 or ended.status in fine:
                self._oracle.finished += 1
                return ended
            if ended.status == KILLED:
                if not killed():
                    return None
            elif ended.status == UNREACHABLE:
                self._serving.wait_for_another(before)
            else:
                self._oracle.wrong(f"{self.name}, line {self._counter}, ended with {ended.status}: {ended.err[-600:]}")
                return None
        self._oracle.wrong(f"{self.name}, line {self._counter}, does not come to an end: {ended.err[-300:]}")
        return None

    def _origin(self, path: str, size_bytes: int) -> Origin:
        """A content for a path: mostly this writer's own."""
        if self._chance.random() < 0.1 and size_bytes < MIB:
            return Origin(path, ANYONE, self._chance.randrange(3), 500)
        return Origin(path, self.name, self._counter, size_bytes)

    def _small(self) -> int:
        return 0 if self._chance.random() < 0.02 else int(10 ** self._chance.uniform(2, 4.5))

    def _large(self) -> int:
        return self._chance.randrange(10 * MIB, 30 * MIB)


class LineWriter(Writer):
    """Puts a folder, changes it, puts it again."""

    def __init__(self, *known: object) -> None:
        super().__init__(*known)  # type: ignore[arg-type]  # as the base class
        self._folder = self._home / f"folder-{self.name}"
        self._line = CommandLine(self.process, self._folder, "/shared", f"line-{self.name}")
        self._files: dict[str, Origin] = {}
        self._attempt: Attempt | None = None

    def step(self) -> None:
        """Change the folder, and put it until it is there."""
        self._change()
        self._before: list[str] = []
        ended = self._again(self._run, self._killed)
        if ended is None or self._attempt is None:
            return
        said = json.loads(ended.out)
        result = {name: said[name] for name in UploadResult.__struct_fields__}
        self._attempt.answers.append(result)
        if said["left_out_count"] or said["left_out"] or said["dropped"]:  # nothing in the folder is to be left out
            self._oracle.wrong(f"{self.name}, line {self._counter}, left files out: {said}")
        if self._before and result["id"] != self._before[-1]:
            state = self._serving.state_of(self._before[-1])
            if state == "pending":
                self._oracle.wrong(f"{self.name} did not continue its session {self._before[-1]} but made {result}")

    def _run(self) -> Ended:
        pending = self._line.pending
        if pending is not None:
            self._before.append(pending)
        return self._line.run()

    def _killed(self) -> bool:
        """After a kill: mostly the same line again; at times what was begun is aborted, or the folder changes."""
        chance = self._chance.random()
        pending = self._line.pending
        if chance < 0.1 and pending is not None:
            ended = self._again(lambda: self._line.abort(pending), lambda: True, fine=NOT_THERE)
            assert self._attempt is not None
            if ended is not None and ended.status == 0:
                self._attempt.aborted.append(pending)
        elif chance < 0.5:
            self._change()
        return True

    def _change(self) -> None:
        self._counter += 1
        few = len(self._files) > 20
        for _ in range(self._chance.randrange(1, 8 if few else 60)):
            name = (
                f"f{self._chance.randrange(60)}" if self._chance.random() < 0.6 else f"t/{self._chance.randrange(99)}"
            )
            self._write(name, self._small())
        if self._chance.random() < 0.15:
            self._write(f"large{self._chance.randrange(2)}", self._large())
        for path in self._chance.sample(sorted(self._files), self._chance.randrange(9) if few else 0):
            del self._files[path]
            (self._folder / path.removeprefix("/shared/")).unlink()
        self._attempt = Attempt(self.name, f"/{self._folder.name} ", dict(self._files))
        self._oracle.means(self._attempt)

    def _write(self, name: str, size_bytes: int) -> None:
        origin = self._origin(f"/shared/{name}", size_bytes)
        target = self._folder / name
        target.parent.mkdir(parents=True, exist_ok=True)
        target.write_bytes(origin.data)
        self._files[f"/shared/{name}"] = origin


class RawWriter(Writer):
    """Uploads by the API alone: always new versions or only changed ones, on a base, aborted, left."""

    def __init__(self, *known: object) -> None:
        super().__init__(*known)  # type: ignore[arg-type]  # as the base class
        self._last: str | None = None
        self.left: list[tuple[RawLine, Attempt]] = []

    def step(self) -> None:
        """Begin a session, or go on with one that was left."""
        if self.left and self._chance.random() < 0.3:
            line, attempt = self.left.pop(0)
            line.task.end = "commit"
            line.save()
        else:
            line, attempt = self._new()
        self.finish(line, attempt)

    def finish(self, line: RawLine, attempt: Attempt) -> None:
        """Bring a session to the end it is meant to have."""
        ended = self._again(line.run, lambda: self._chance.random() > 0.15)
        self._read(line, attempt)
        if (ended is None or line.task.end == "leave") and not attempt.answers and not attempt.aborted:
            self.left.append((line, attempt))

    def _read(self, line: RawLine, attempt: Attempt) -> None:
        for said in line.journal.lines():
            if "committed" in said and said["committed"] not in attempt.answers:
                attempt.answers.append(said["committed"])
                self._last = said["committed"]["id"]
            if "aborted" in said:
                attempt.aborted.append(said["aborted"])
            self._oracle.tell([tuple(one) for one in said.get("told", [])], f"{self.name} {self._counter}")

    def _new(self) -> tuple[RawLine, Attempt]:
        self._counter += 1
        chance = self._chance
        name = f"{self.name}-{self._counter}"
        paths = [f"/shared/f{n}" for n in range(60)] + [f"/raw/{n}" for n in range(40)]
        files = {path: self._origin(path, self._small()) for path in chance.sample(paths, chance.randrange(1, 50))}
        if chance.random() < 0.2:
            path = f"/raw/large{chance.randrange(3)}"
            files[path] = self._origin(path, self._large())
        if len(files) > 3 and chance.random() < 0.2:  # the same content at two paths
            twice = chance.sample(sorted(files), 2)
            files[twice[0]] = files[twice[1]]
        base = self._last if chance.random() < 0.4 else None
        removed = [path for path in chance.sample(paths, 3) if base is not None and path not in files]
        only_changed = base is not None or chance.random() < 0.3
        task = Task(
            "upload",
            files=files,
            removed=removed,
            base=base,
            only_changed=only_changed,
            file_set=f"raw-{self.name}" if chance.random() < 0.5 else None,
            way=chance.choice(["direct", "signed", "parts"]),
            tells=chance.choice(["each", "last"]),
            pages=chance.randrange(1, 4),
            packs=chance.randrange(1, 4),
            end=chance.choices(["commit", "abort", "leave"], [8, 1, 1])[0],
            label=f"{name}.",
        )
        attempt = Attempt(self.name, task.label, files, removed, base, only_changed)
        self._oracle.means(attempt)
        return RawLine(self.process, task, self._place.home / "journals", name), attempt


class Collector(Writer):
    """Collects garbage, and deletes sets or takes that back."""

    def step(self) -> None:
        """Collect or delete once."""
        self._counter += 1
        known = sorted({answer["file_set"] for attempt in self._oracle.attempts for answer in attempt.answers} - {None})
        task = Task("collect")
        if known and self._chance.random() < 0.6:
            buried = sorted(ref for ref, gone in self._oracle.buried_sets.items() if gone)
            undo = bool(buried) and self._chance.random() < 0.4
            spec, with_files = self._chance.choice(buried if undo else known), not undo and self._chance.random() < 0.8
            task = Task("remove_set", spec=spec, undo=undo, with_files=with_files)
            self._oracle.files_go |= with_files
            if undo:
                self._oracle.brought_back.add(spec)
        line = RawLine(self.process, task, self._place.home / "journals", f"{self.name}-{self._counter}")
        self._again(line.run, lambda: True, fine=NOT_THERE)
        for said in line.journal.lines():
            if "removed_set" in said:
                self._oracle.bury_sets([said["removed_set"]], undo=said["undo"])


class Reader(Writer):
    """Gets files, and deletes some or takes that back."""

    def step(self) -> None:
        """Read or delete once."""
        self._counter += 1
        known = self._oracle.versions()
        deletes = bool(known) and self._chance.random() < 0.5
        task = self._removal(known) if deletes else Task("read", spec=self._chance.choice(self._specs()))
        line = RawLine(self.process, task, self._place.home / "journals", f"{self.name}-{self._counter}")
        ended = self._again(line.run, lambda: deletes, fine=NOT_THERE)
        for said in line.journal.lines():
            self._oracle.tell([tuple(one) for one in said.get("told", [])], f"{self.name} {self._counter}")
            if "removed" in said and ended is not None:
                # What a call did whose answer was lost is so too, and the next one does not name it.
                numbers = {*said["versions"], *_meant(task.spec, known)}
                self._oracle.bury(said["removed"], sorted(numbers), undo=said["undo"])
        shutil.rmtree(self._home / "got", ignore_errors=True)

    def _specs(self) -> list[str]:
        return ["/", "/shared/", "/raw/", "@line-line0", "@line-line1", "@raw-raw0", "@raw-raw1"]

    def _removal(self, known: list[tuple[str, int]]) -> Task:
        buried = sorted(version for version, gone in self._oracle.buried.items() if gone)
        if buried and self._chance.random() < 0.4:
            path, number = self._chance.choice(buried)
            return Task("remove", spec=f"{path}:{number}", undo=True)
        path, number = self._chance.choice(known)
        return Task("remove", spec=path if self._chance.random() < 0.1 else f"{path}:{number}")


def _meant(spec: str, known: list[tuple[str, int]]) -> list[int]:
    """Return the versions that a removal speaks of: the one that it names, or all that were there before."""
    path, _, number = spec.partition(":")
    return [int(number)] if number else [n for file, n in known if file == path]
