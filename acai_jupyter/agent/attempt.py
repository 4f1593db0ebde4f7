"""One attempt from its launch document to its result record."""

import errno
import io
import json
import os
import signal
import sys
import time
from typing import Any, Dict, List, NamedTuple, Optional, Tuple

from acai_jupyter import trees
from acai_jupyter.agent import outputs
from acai_jupyter.agent.cache import Cache
from acai_jupyter.agent.environment import of_programs, seen
from acai_jupyter.agent.inputs import Inputs
from acai_jupyter.agent.launch import VERSION, Launch
from acai_jupyter.agent.limits import Limits, Share
from acai_jupyter.agent.log import Log
from acai_jupyter.agent.omissions import MAX_NAMED
from acai_jupyter.agent.program import Command, Listener, Program
from acai_jupyter.agent.showing import Showing
from acai_jupyter.agent.stopping import Stop
from acai_jupyter.agent.telling import STDOUT, Telling
from acai_jupyter.agent.usage import Usage
from acai_jupyter.transfer.errors import DiskFull, TransferError

COULD_NOT_START = 125
COULD_NOT_KEEP = 74
MAX_WARNINGS = 100
"""The server refuses a record with more."""
VARIABLES = ".variables"
"""Where among its outputs a cell leaves what is to be received."""
CHECKPOINT = ".checkpoint"
"""Where in the working folder a program leaves what a further attempt is to go on from, and finds it there."""
NOTEBOOK = ".ipynb"
STAND_IN = "stand_in"
"""A folder in the agent's file: where programs find `acai_jupyter` when their environment lacks it."""
_TEXTS = ("--cache", "--environments", "--archives", "--container")
_NUMBERS = ("--cache-bytes", "--environments-bytes", "--archives-bytes")


class Surroundings(NamedTuple):
    """What the runner gives an agent besides the launch document."""

    agent: str
    """The agent's own file."""
    folder: str
    cache: str = ""
    cache_bytes: int = 0
    environments: str = ""
    environments_bytes: int = 0
    archives: str = ""
    archives_bytes: int = 0
    cgroups: Tuple[str, ...] = ()
    container: str = ""
    """Where the control groups of the agent's own container are, whose limits are the program's."""


class Attempt:
    """Downloading, running, uploading; each step is told by a marked line before it begins."""

    def __init__(self, launch: Launch, around: Surroundings, stop: Stop) -> None:
        self._launch = launch
        self._document = launch.document
        self._around = around
        self._stop = stop
        self._work = os.path.join(around.folder, "work")
        self._output = _inside(self._work, self._document["output_folder"])
        self._checkpoint = os.path.join(self._work, CHECKPOINT)
        self._displays = os.path.join(around.folder, "displays")
        self._telling = Telling(str(self._document["key"]))
        self._archives = _archives(around)
        downloading = self._telling.transfer("downloading")
        self._inputs = Inputs(launch, self._work, _cache(around), stop, downloading, self._archives)
        self._showing = Showing(launch, self._displays, self._telling.displays)
        self._log = Log(launch, STDOUT, around.folder, by_lines=bool(around.container))
        share = Share(self._document["vcpu"], self._document["memory_bytes"], self._document.get("gpus", 0))
        self._limits = Limits(share, list(around.cgroups), around.container)
        self._share = share
        self._gang = self._joined()
        self._environment = ""
        """The folder of the program's own environment, where it has one."""
        self._record: Dict[str, Any] = {
            "version": VERSION,
            "exit_code": COULD_NOT_START,
            "reason": "",
            "run_seconds": 0.0,
            "outputs": [],
            "packs": [],
            "warnings": [],
        }

    def run(self) -> int:
        """Run all of it. Whatever happens, a result record is left when the store can be reached."""
        self._record["started_at"] = time.time()
        clock = time.monotonic()
        try:
            self._telling.state("downloading")
            os.makedirs(self._output, exist_ok=True)
            self._inputs.fetch()
            if self._has_environment() and self._has_gathered():
                self._telling.state("running")
                self._execute()
        except (TransferError, OSError) as error:
            self._fail("an input could not be fetched: %s" % error)
            self._record["unread"] = self._inputs.unread
        if self._gang is not None:
            self._gang.end(int(self._record["exit_code"]))
        self._note_stop()
        self._telling.state("uploading")
        self._keep()
        self._record.update(ended_at=time.time(), billed_seconds=time.monotonic() - clock)
        self._send_record()
        return int(self._record["exit_code"])

    def _joined(self) -> Any:
        """Look for the others, where there are any."""
        told = self._document.get("gang")
        if told is None:
            return None
        from acai_jupyter.agent.gang import Gang

        return Gang(told, str(self._document["key"]), self._stop)

    def _has_gathered(self) -> bool:
        """Wait for the others; says whether all may begin."""
        if self._gang is None:
            return True
        missing = self._gang.gather()
        if missing:
            self._record["never_began"] = True
            self._fail("its nodes could not begin together: %s" % missing)
        return not missing

    def _note_stop(self) -> None:
        """Say who ended it, where somebody did: also of a program that had ended well before its gang failed."""
        failure = "" if self._gang is None else self._gang.failure
        if not self._stop.is_set or (failure and 0 < self._record["exit_code"] < COULD_NOT_START):
            return
        self._record.update(was_stopped=True, reason=failure or "it was stopped", followed=bool(failure))
        if self._record["exit_code"] == COULD_NOT_START or (failure and self._record["exit_code"] == 0):
            self._record["exit_code"] = 128 + self._stop.signal

    def _has_environment(self) -> bool:
        """Build what the program is to run in, where that is asked for; says whether it is there."""
        lock = self._document.get("lock")
        if lock is None or self._stop.is_set:
            return True
        from acai_jupyter.agent.archives import ARCHIVE
        from acai_jupyter.agent.environments import BuildFailed, Environments, Machine
        from acai_jupyter.agent.packed import unpacked

        around, log = self._around, self._log
        listener = Listener(log.write, log.wait_seconds, log.flush)
        machine = Machine(self._share, around.cgroups, around.container, self._stop, listener, around.folder)
        self._environments = Environments(machine, around.environments, around.environments_bytes)
        try:
            archive = os.path.join(self._work, ARCHIVE)
            if os.path.isfile(archive):
                self._environment = unpacked(archive, around.folder, lock)
            else:
                self._environment = self._environments.hold(lock, str(self._document["lock_key"]))
            if self._environments.was_changed:
                self._record["warnings"].append("its environment had been changed by a program and was built again")
        except (BuildFailed, OSError) as error:
            reason = str(error) if isinstance(error, BuildFailed) else _said(error)
            self._fail("its environment could not be built: %s" % reason)
        return bool(self._environment)

    def _execute(self) -> None:
        if self._stop.is_set:
            return
        command = self._command()
        program = Program(command, self._limits, self._stop)
        before = time.monotonic()
        if self._document["as_cell"]:
            self._showing.prepare()
        try:
            program.start()
        except OSError as error:
            self._fail("the program could not be started: %s" % (error.strerror or error))
            return
        usage = Usage(program.pid, self._limits, self._work, gpus=self._document.get("gpus", 0))
        usage.start(self._telling.sample)
        self._showing.start()
        self._record["environment"] = seen(command.words, command.environment, self._work)
        code = program.run(Listener(self._log.write, self._log.wait_seconds, self._log.flush))
        self._record["run_seconds"] = time.monotonic() - before
        self._record["usage"] = usage.end()
        self._record["exit_code"] = code
        self._explain(program, code)

    def _explain(self, program: Program, code: int) -> None:
        if program.exceeded_time and not self._stop.is_set:
            # A program that ended well although it was told that its time is over did not do all it was to do.
            limit = self._document["time_limit_seconds"]
            self._record["exit_code"] = code or 128 + signal.SIGTERM
            self._record.update(exceeded_time=True, reason="it ran longer than its limit of %g s" % limit)
        elif self._limits.ran_out_of_memory(code, self._log.tail):
            self._record.update(ran_out_of_memory=True, reason="it ran out of memory")
        elif code == 0:
            warning = self._limits.memory_warning()
            self._record["warnings"] += [warning] if warning else []

    def _command(self) -> Command:
        document = self._document
        words = list(document["command"])
        agent = self._own_agent()
        if document["as_cell"]:
            words[-1:] = [agent, *self._cell(words[-1])]
        environment = dict(os.environ) if self._around.container else of_programs(os.environ)
        environment.update(document["environment"], ACAI_WORK=self._work, ACAI_OUTPUT_FOLDER=document["output_folder"])
        environment["ACAI_CHECKPOINT"] = self._checkpoint
        if self._gang is not None:
            environment.update(self._gang.variables())
        if self._environment:
            from acai_jupyter.agent.environments import variables

            environment = variables(self._environment, environment, self._around.folder)
        before = environment.get("PYTHONPATH")
        stand_in = os.path.join(agent, STAND_IN)
        environment["PYTHONPATH"] = before + os.pathsep + stand_in if before else stand_in
        limit = document.get("time_limit_seconds")
        return Command(words, self._work, environment, limit, document["grace_seconds"])

    def _cell(self, file: str) -> List[str]:
        """Say how the agent is to run a cell's file, or a notebook's."""
        parameters = json.dumps(self._document.get("parameters", {}))
        if not file.endswith(NOTEBOOK):
            return ["cell", file, self._displays, parameters, *self._variables()]
        executed = os.path.join(self._output, os.path.basename(file))
        return ["notebook", file, self._displays, executed, parameters]

    def _variables(self) -> List[str]:
        """Say where a cell's variables are that it is sent, and where to leave which."""
        sent, names = self._document.get("variables", ""), self._document.get("receive", [])
        if not sent and not names:
            return []
        return [os.path.join(self._work, sent) if sent else "", os.path.join(self._output, VARIABLES), ",".join(names)]

    def _own_agent(self) -> str:
        """Copy the agent's file: the installed one may be replaced while the program runs, which imports from it."""
        path = os.path.join(self._around.folder, "agent.pyz")
        with open(self._around.agent, "rb") as source, open(path, "wb") as target:
            target.write(source.read())
        return path

    def _keep(self) -> None:
        """Send what the program has left; if that cannot be done, the attempt has failed."""
        try:
            if self._record["exit_code"] == 0 or self._document["keep_partial"]:
                self._record.update(self._send_files(self._output))
            if self._record["exit_code"] != 0 and self._document.get("keep_checkpoint"):
                self._send_checkpoint()
            self._record["displays_bytes"] = self._showing.end()
            if self._showing.is_too_large:
                self._record["warnings"].append("what the cell displayed last is too large to be kept")
        except Exception as error:  # noqa: BLE001 (whatever a program has left, log and record are sent)
            self._fail("its outputs could not be kept: %s" % _said(error), self._record["exit_code"] or COULD_NOT_KEEP)
            self._record.update(outputs=[], packs=[], checkpoint=[])
            if isinstance(error, DiskFull):
                self._make_room()  # log and result need it
        if self._archives is not None and self._archives.trouble:
            self._record["warnings"].append("its environment could not be kept for others: %s" % self._archives.trouble)
        damaged = self._inputs.damaged
        self._record["damaged_inputs"] = damaged[:MAX_WARNINGS]
        self._record["warnings"] += [
            "the copy of %s in this machine's cache had been changed; the file was fetched again" % path
            for path in damaged[:MAX_NAMED]
        ]
        self._record["warnings"] += self._inputs.changed()[:MAX_WARNINGS]
        self._record["held"] = self._limits.held
        self._record.update(self._log.end())

    def _send_checkpoint(self) -> None:
        """Send what a further attempt is to go on from."""
        packs = self._record["packs"]
        sent = self._send_files(self._checkpoint, first=len(packs))
        self._record.update(checkpoint=sent["outputs"], packs=packs + sent["packs"])

    def _send_files(self, folder: str, first: int = 0) -> Dict[str, Any]:
        """Send the files of a folder that can be recorded; the others are named in warnings."""
        found = outputs.find(folder, self._launch)
        sent = outputs.send(found, self._launch, self._telling.transfer("uploading"), first)
        self._record["warnings"] += found.omissions.warnings() + found.warnings
        return sent

    def _send_record(self) -> None:
        del self._record["warnings"][MAX_WARNINGS:]
        body = json.dumps(self._record, ensure_ascii=False).encode("utf-8", "replace")  # names may be no Unicode
        try:
            self._launch.send("result", io.BytesIO(body), len(body))
        except DiskFull:
            self._make_room()
            self._launch.send("result", io.BytesIO(body), len(body))

    def _make_room(self) -> None:
        trees.remove(self._work)

    def _fail(self, reason: str, exit_code: int = COULD_NOT_START) -> None:
        self._record["exit_code"] = exit_code
        self._record["reason"] = self._record["reason"] or reason


def _cache(around: Surroundings) -> Optional[Cache]:
    try:
        return Cache(around.cache, around.cache_bytes) if around.cache and around.cache_bytes else None
    except OSError:  # a cache that cannot be used is no cache
        return None


def _archives(around: Surroundings) -> Any:
    """Return where archives of environments are kept, if anywhere."""
    if not around.archives:
        return None
    from acai_jupyter.agent.archives import Archives

    return Archives(around.archives, around.archives_bytes)


def _inside(root: str, path: str) -> str:
    """Where a folder is below another; one that would be outside is refused."""
    parts: List[str] = [part for part in path.split("/") if part not in ("", ".")]
    if ".." in parts or path.startswith("/") or not parts:
        raise TransferError("%r is not a folder inside the working folder" % path)
    return os.path.join(root, *parts)


def _said(error: Exception) -> str:
    if isinstance(error, OSError) and error.errno == errno.ENOSPC:
        return "the disk is full"
    return str(error) if isinstance(error, (TransferError, OSError)) else "%s: %s" % (type(error).__name__, error)


def options(words: List[str]) -> Surroundings:
    """Read the arguments that a runner gives, after the launch file: FOLDER and options."""
    found: Dict[str, Any] = {"cgroups": []}
    rest = iter(words[1:])
    for word in rest:
        value = next(rest, "")
        name = word[2:].replace("-", "_")
        if word == "--cgroup":
            found["cgroups"].append(value)
        elif word in _TEXTS:
            found[name] = value
        elif word in _NUMBERS:
            found[name] = int(value)
        else:
            raise SystemExit("agent: %s is no option" % word)
    found["cgroups"] = tuple(found["cgroups"])
    return Surroundings(sys.argv[0], words[0], **found)
