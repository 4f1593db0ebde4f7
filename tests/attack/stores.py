"""Object stores and disks that fail now and then: never half of something, never twice, and later the line works."""

from __future__ import annotations

import errno
import shutil
from contextlib import ExitStack, closing
from typing import TYPE_CHECKING

from tests.attack.power.recording import Recorder
from tests.integration.places import Place
from tests.servers.proxy import Proxy, Trouble, proxied
from tests.servers.seaweedfs import seaweedfs

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from pathlib import Path

    from tests.attack.campaign import Run
    from tests.integration.places import Server

LINES = 4
SIZES = (0, 10, 4000, 200_000, 3_000_000)
TROUBLES = (Trouble.BROKEN, Trouble.EXPIRED, Trouble.ANSWER_LOST, Trouble.CLOSED, Trouble.TRUNCATED, Trouble.WRONG)
METHODS = ("GET", "PUT", "POST", "HEAD", "DELETE")
ERRORS = (errno.EIO, errno.ENOSPC)
SENTENCES = 3


def store_faults(run: Run) -> None:
    """Put a proxy in front of a real S3 server that fails requests at random."""
    with ExitStack() as stack:
        s3 = stack.enter_context(seaweedfs())
        proxy = stack.enter_context(proxied(s3.url))
        place = stack.enter_context(closing(Place(run.home / "home")))
        bucket = {"ACAI_OBJECT_STORE": "s3", "ACAI_S3_BUCKET": s3.make_bucket(), "ACAI_S3_ENDPOINT_URL": proxy.url}
        server = place.start(program="acai", **bucket, **s3.environment)
        _Writer(run, server, lambda: _misbehave(run, proxy), proxy.behave).work()


def _misbehave(run: Run, proxy: Proxy) -> str:
    chosen = [(run.chance.choice(TROUBLES), run.chance.choice(METHODS)) for _ in range(run.chance.randint(1, 3))]
    times = [run.chance.choice((1, 2, 30)) for _ in chosen]
    for (trouble, method), count in zip(chosen, times, strict=True):
        proxy.misbehave(trouble, method, times=count, spared=run.chance.randrange(3))
    return ", ".join(f"{count} times {t.name} of {m}" for (t, m), count in zip(chosen, times, strict=True))


def disk_faults(run: Run) -> None:
    """Let writes and syncs below the data folder fail, for clients and server alike."""
    with closing(Place(run.home / "home")) as place:
        disk = place.home / "share"
        disk.mkdir()
        recorder = Recorder(place.home, disk)
        recorder.fault.touch()
        place.environment |= recorder.variables | {"ATTACK_FAULT": str(recorder.fault)}
        server = place.start(program="acai")
        server.status()

        def fail() -> str:
            chosen = run.chance.choice(ERRORS)
            recorder.fault.write_text(f"{chosen} {run.chance.choice((0, 5, 20, 50, 100))}")
            return recorder.fault.read_text()

        _Writer(run, server, fail, lambda: recorder.fault.write_text("") and None).work()


class _Writer:
    """Puts folders while something fails, and knows what has to be there."""

    def __init__(self, run: Run, server: Server, fail: Callable[[], str], mend: Callable[[], object]) -> None:
        self._run = run
        self._server = server
        self._place = server.place
        self._fail = fail
        self._mend = mend
        self._acknowledged: dict[str, dict[str, bytes]] = {}
        self._versions: dict[str, int] = {}

    def work(self) -> None:
        """Attack until the time is used up."""
        for _ in self._run.rounds():
            for _ in range(LINES):
                self._put()
        for name, files in self._acknowledged.items():
            self._hold(name, files, "at the end")
        if self._server.process.poll() is not None or self._server.status().status != 200:
            self._run.violation("the server does not answer any more", self._server.log[-2000:])
        if (found := self._place.sql("PRAGMA integrity_check")) != [("ok",)]:
            self._run.violation("the database is damaged", str(found[:3]))

    def _put(self) -> None:
        run, name = self._run, f"set{self._run.chance.randrange(3)}"
        files = dict(self._acknowledged.get(name, {}))
        for _ in range(run.chance.randint(1, 4)):
            files[f"{run.chance.randrange(6)}.bin"] = run.chance.randbytes(run.chance.choice(SIZES))
        files["new"] = run.chance.randbytes(16)  # what is the same again makes no version
        for path, content in files.items():
            self._place.write(f"{name}/{path}", content)
        line = ("put", name, f"/{name}", "--as", name)
        said = self._fail()
        failed = self._place.acai(*line)
        readable = self._place.acai("ls", f"/{name}")
        self._mend()
        run.figures["requests"] += 1
        if failed.returncode:
            run.figures["refusals"] += 1
            if "Traceback" in failed.stderr or len(failed.stderr.strip().splitlines()) > SENTENCES:
                run.violation(f"a put while the store failed ({said}) did not fail in a sentence", failed.stderr)
            if name in self._acknowledged:
                self._hold(name, self._acknowledged[name], f"after a put that failed ({said})", is_or=files)
        if "Traceback" in readable.stderr:
            run.violation(f"ls while the store failed ({said}) did not fail in a sentence", readable.stderr)
        done = self._place.acai(*line) if failed.returncode else failed
        if done.returncode:
            run.violation(f"the same line did not work when the store was well again ({said})", done.stderr)
            return
        answer = self._server.ask("GET", f"/v1/projects/default/filesets/{name}")
        expected = self._versions.get(name, 0) + 1
        if answer.status != 200 or answer.json["version"] != expected:
            run.figures["doubled" if answer.status == 200 else "lost"] += 1
            run.violation(f"{name} is at {answer.body.decode()[:200]} and not at version {expected} ({said})")
        self._versions[name] = answer.json["version"] if answer.status == 200 else expected
        self._acknowledged[name] = files
        self._hold(name, files, f"after a put ({said})")

    def _hold(self, name: str, files: dict[str, bytes], when: str, is_or: dict[str, bytes] | None = None) -> None:
        """Read a set and compare it with what was acknowledged, or with what was sent and whose answer was lost."""
        target = self._place.home / "got"
        done = self._place.acai("get", f"@{name}", str(target))
        found = dict(_contents(target)) if done.returncode == 0 else {}
        shutil.rmtree(target, ignore_errors=True)
        if found not in (files, is_or):
            self._run.figures["lost"] += 1
            self._run.violation(f"{name} is not what was acknowledged {when}", done.stderr, f"it has {sorted(found)}")


def _contents(folder: Path) -> Iterator[tuple[str, bytes]]:
    for path in folder.rglob("*"):
        if path.is_file():
            yield path.name, path.read_bytes()
