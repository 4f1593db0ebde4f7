"""A program that has the agent loaded and forks one for each attempt: starting and importing is most of what it costs.

`python -I -S nursery.py AGENT DESCRIPTOR`, standard library only, one thread. It ends with the server; what it forked
goes on. Each agent has a keeper between itself and us: it sits in a session of its own, inherits whatever the program
lets go of, ends that when the agent has ended, and writes down the exit status. So nothing depends on who lives longer.
"""

from __future__ import annotations

import codecs
import contextlib
import ctypes
import gc
import importlib
import json
import os
import resource
import select
import signal
import socket
import struct
import sys
import time
import traceback
import zipfile
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Callable

LENGTH = struct.Struct("!I")
STARTED = b"started"
_SIGNALS = {signal.SIGCHLD, signal.SIGTERM, signal.SIGQUIT}
_PATIENCE_SECONDS = 10.0
_TIDYING_SECONDS = 2.0
_PAUSE_SECONDS = 0.005
_SET_PARENT_DEATH_SIGNAL, _SET_NAME, _SET_SUBREAPER = 1, 15, 36
_OOM_SCORE = "300"
"""When the whole machine runs out of memory, jobs go before the server and what else the user has open."""
_NICENESS = 5
_RECORD_BYTES = 200


def main(agent: str, descriptor: int) -> None:
    """Fork for each order that comes, until the server is gone."""
    run = load(agent)
    signal.signal(signal.SIGCHLD, signal.SIG_IGN)  # keepers are reaped by the kernel
    orders = socket.socket(fileno=descriptor)
    while (received := receive(orders)) is not None:
        order, reply = received
        if _hung_up(orders):  # whoever asked will not know of it
            return
        try:
            if os.fork() == 0:
                orders.close()
                keep(order, reply, partial(run_agent, agent, order, run))
        except OSError as error:
            os.write(reply, (error.strerror or "fork").encode())
        os.close(reply)


def load(agent: str) -> Callable[[], int]:
    """Import all that the agent may need, and return what runs it."""
    sys.path.insert(0, agent)
    with zipfile.ZipFile(agent) as archive:
        modules = {name.rpartition(".")[0].replace("/", ".").removesuffix(".__init__") for name in archive.namelist()}
    for module in sorted(modules):
        if module.startswith("acai_jupyter.agent."):
            importlib.import_module(module)
    codecs.lookup("ascii")  # loaded at the first use, which would be in each child
    run: Callable[[], int] = sys.modules["acai_jupyter.agent.main"].main
    gc.collect()
    gc.freeze()  # so that children do not copy pages only to count what refers to what
    return run


def receive(orders: socket.socket) -> tuple[dict[str, Any], int] | None:
    """Return the next order and where to reply; None when the server is gone."""
    head, descriptors, _, _ = socket.recv_fds(orders, LENGTH.size, 1)
    if not head:
        return None
    (missing,) = LENGTH.unpack(head)
    body = b""
    while missing > len(body):
        piece = orders.recv(missing - len(body))
        if not piece:
            return None
        body += piece
    return json.loads(body), descriptors[0]


def _hung_up(orders: socket.socket) -> bool:
    poll = select.poll()
    poll.register(orders, select.POLLRDHUP)
    return bool(poll.poll(0))


def keep(order: dict[str, Any], reply: int, run: Callable[[], None]) -> None:
    """Be the keeper of one attempt, and end with it. Never returns."""
    above = _above()
    try:
        signal.pthread_sigmask(signal.SIG_BLOCK, _SIGNALS)
        signal.signal(signal.SIGCHLD, signal.SIG_DFL)
        os.setsid()
        os.chdir(order["folder"])
        _redirect()
        _prctl(_SET_NAME, b"acai-keeper")
        _prctl(_SET_SUBREAPER, 1)
        if order["bound"]:
            _prctl(_SET_PARENT_DEATH_SIGNAL, int(signal.SIGQUIT))
        _reserve("process")
        _reserve("ended")
        _write("process", identity(os.getpid()))
        keeper = os.getpid()
        agent = os.fork()
        if agent == 0:
            os.close(reply)
            _prctl(_SET_PARENT_DEATH_SIGNAL, int(signal.SIGKILL))
            if os.getppid() != keeper:
                os._exit(1)
            run()
        os.write(reply, STARTED)
        os.close(reply)
        end = _watch(agent)
        end_all()
        _write("ended", end)
        if _above() != above:
            _tidy(order)
    except BaseException as error:  # noqa: BLE001 (whatever it was, this process must not become a second nursery)
        with contextlib.suppress(OSError):
            os.write(reply, str(error).encode())
    finally:
        os._exit(0)


def _above() -> tuple[int, int]:
    """Return the nursery and its server; another when either is gone."""
    nursery = os.getppid()
    with contextlib.suppress(OSError):
        return nursery, int(_fields(nursery)[1])
    return nursery, 0


def run_agent(agent: str, order: dict[str, Any], run: Callable[[], int]) -> None:
    """Be the agent. Never returns."""
    code = 1
    try:
        _prctl(_SET_NAME, b"acai-agent")
        os.environ.clear()
        os.environ.update(order["environment"])
        sys.argv = [agent, *order["arguments"]]
        with contextlib.suppress(OSError):
            Path("/proc/self/oom_score_adj").write_text(_OOM_SCORE)
        os.nice(_NICENESS)
        if order["max_processes"]:
            _limit_processes(order["max_processes"])
        signal.pthread_sigmask(signal.SIG_UNBLOCK, _SIGNALS)
        code = run()
    except SystemExit as end:
        code = end.code if isinstance(end.code, int) else int(end.code is not None)
    except BaseException:  # noqa: BLE001 (as a program of its own would)
        traceback.print_exc()
    finally:
        with contextlib.suppress(OSError, ValueError):
            sys.stdout.flush()
            sys.stderr.flush()
        os._exit(code & 0xFF)


def _limit_processes(count: int) -> None:
    """Keep a program from having many more processes than there are; the kernel counts all that the user has."""
    here = int(Path("/proc/loadavg").read_text().split()[3].partition("/")[2])
    _, most = resource.getrlimit(resource.RLIMIT_NPROC)
    wanted = here + count
    resource.setrlimit(resource.RLIMIT_NPROC, (wanted if most == resource.RLIM_INFINITY else min(wanted, most), most))


def identity(pid: int) -> dict[str, Any]:
    """Say which process this is, so that another that gets its number later is not taken for it."""
    fields = _fields(pid)
    if fields[0] in "ZX":
        raise ProcessLookupError(pid)
    return {"pid": pid, "started": fields[19], "boot": boot()}


def boot() -> str:
    """Return what names this run of the machine."""
    return Path("/proc/sys/kernel/random/boot_id").read_text().strip()


def _fields(pid: int | str) -> list[str]:
    """Return what the kernel says of a process, from its state on."""
    return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()


def _tidy(order: dict[str, Any]) -> None:
    """Remove what no server may ever come back for, and with the last attempt what was above it."""
    paths = list(order["cgroups"])
    if order["bound"]:
        from acai_jupyter import trees  # of the agent's file: it was loaded with the agent

        trees.remove(order["folder"])
        paths.append(order["folder"])
    deadline = time.monotonic() + _TIDYING_SECONDS
    for path in map(Path, paths):
        while not _removed(path) and time.monotonic() < deadline:  # a process may leave its group after it was reaped
            time.sleep(_PAUSE_SECONDS)
        _removed(path.parent)


def _removed(folder: Path) -> bool:
    """Remove a folder that is empty; says whether it is gone."""
    with contextlib.suppress(OSError):  # it is gone, or others are there
        folder.rmdir()
    return not folder.exists()


def _prctl(option: int, value: int | bytes) -> None:
    ctypes.CDLL(None).prctl(option, value, 0, 0, 0)


def _redirect() -> None:
    """Let this process and its agent hold the live channel, and nothing else of the nursery's."""
    printed = os.open("printed", os.O_WRONLY | os.O_APPEND | os.O_CREAT, 0o600)
    nothing = os.open(os.devnull, os.O_RDONLY)
    for source, target in ((nothing, 0), (printed, 1), (printed, 2)):
        os.dup2(source, target)
    os.close(printed)
    os.close(nothing)


def _reserve(name: str) -> None:
    """Take the room for a record: later the disk may be full."""
    Path(f"{name}.part").write_text(" " * _RECORD_BYTES)


def _write(name: str, words: dict[str, Any]) -> None:
    """Write a record that is there whole or not at all."""
    part = Path(f"{name}.part")
    with part.open("r+") as file:
        file.write(json.dumps(words))
    part.replace(name)


def _watch(agent: int) -> dict[str, Any]:
    """Pass on what the server wants until the agent has ended; says with which status, and what was wanted."""
    asked = forced = False
    while True:
        number = signal.sigwait(_SIGNALS)
        if number == signal.SIGTERM:
            asked = True
            os.kill(agent, signal.SIGTERM)
        elif number == signal.SIGQUIT:
            forced = True
            os.kill(agent, signal.SIGKILL)
        while (ended := _reap()) is not None:
            if ended[0] == agent:
                return {"exit_code": os.waitstatus_to_exitcode(ended[1]), "asked": asked, "forced": forced}


def _reap() -> tuple[int, int] | None:
    """Take note of the end of a child; None when none has ended or there is none."""
    try:
        pid, status = os.waitpid(-1, os.WNOHANG)
    except ChildProcessError:
        return None
    return (pid, status) if pid else None


def end_all() -> None:
    """Kill everything below this process, however it detached: the kernel gave it to us when its parent ended."""
    deadline = time.monotonic() + _PATIENCE_SECONDS
    while (below := _stopped_below()) and time.monotonic() < deadline:
        for pid in below:
            _signal(pid, signal.SIGKILL)
        signal.sigtimedwait({signal.SIGCHLD}, 0.1)
        while _reap():
            pass


def _stopped_below() -> set[int]:
    """Return every process below this one, each stopped, so that none forks while we look for the others."""
    found: set[int] = set()
    while fresh := _below() - found:
        for pid in fresh:
            _signal(pid, signal.SIGSTOP)
        found |= fresh
    return found


def _below() -> set[int]:
    try:
        os.waitid(os.P_ALL, 0, os.WEXITED | os.WNOHANG | os.WNOWAIT)
    except ChildProcessError:  # as nearly always: then nothing else is looked at
        return set()
    children: dict[int, list[int]] = {}
    for entry in Path("/proc").glob("[0-9]*"):
        with contextlib.suppress(OSError):
            children.setdefault(int(_fields(entry.name)[1]), []).append(int(entry.name))
    found: set[int] = set()
    todo = [os.getpid()]
    while todo:
        fresh = children.get(todo.pop(), [])
        found.update(fresh)
        todo += fresh
    return found


def _signal(pid: int, number: signal.Signals) -> None:
    with contextlib.suppress(ProcessLookupError, PermissionError):
        os.kill(pid, number)


if __name__ == "__main__":
    main(sys.argv[1], int(sys.argv[2]))
