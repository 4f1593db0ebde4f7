"""The user's command: started in a session of its own under its limits, its output handed on as it comes."""

import errno
import os
import select
import signal
import subprocess
import threading
import time
from contextlib import suppress
from typing import Callable, Dict, List, NamedTuple, Optional

from acai_jupyter.agent.limits import Limits, kill_marked
from acai_jupyter.agent.stopping import Stop

PIECE = 256 * 1024
COOKIE = "_ACAI_ATTEMPT"
_PIPE_BYTES = 1024 * 1024
_SET_PIPE_SIZE = 1031
_LAST_WORDS_SECONDS = 1.0
"""How long the output of a program that has ended is waited for, where something it started holds on to it."""


class Command(NamedTuple):
    """What to run, where, and with what."""

    words: List[str]
    folder: str
    environment: Dict[str, str]
    time_limit_seconds: Optional[float]
    grace_seconds: float


class Listener(NamedTuple):
    """Whom the output is handed to, and who is called when the time it asks for is over."""

    took: Callable[[bytes], None]
    wait_seconds: Callable[[], Optional[float]]
    due: Callable[[], None]


class Program:
    """One run of a command."""

    def __init__(self, command: Command, limits: Limits, stop: Stop) -> None:
        self._command = command
        self._limits = limits
        self._stop = stop
        self._deadline: Optional[float] = None
        self._asked = False
        self.exceeded_time = False
        self.pid = 0

    def start(self) -> None:
        """Start it. What cannot be started raises `OSError`."""
        self._limits.prepare()
        try:
            self._process = subprocess.Popen(
                self._command.words,
                cwd=self._command.folder,
                env=self._command.environment,
                stdin=subprocess.DEVNULL,
                stdout=subprocess.PIPE,
                stderr=subprocess.STDOUT,
                start_new_session=True,
                preexec_fn=self._limits.enter,  # noqa: PLW1509 (no thread of ours runs yet)
            )
        except subprocess.SubprocessError as error:
            raise OSError(errno.EPERM, "it could not be put under its limits") from error
        finally:
            self._limits.close()
        self.pid = self._process.pid
        limit = self._command.time_limit_seconds
        self._deadline = None if limit is None else time.monotonic() + limit

    def run(self, listener: Listener) -> int:
        """Hand on what it prints until it ends; nothing that it started in its session is left then."""
        assert self._process.stdout is not None
        output = self._process.stdout.fileno()
        _widen(output)
        ended, said = os.pipe()
        waiter = threading.Thread(target=self._await_end, args=(said,), name="acai-wait", daemon=True)
        waiter.start()
        poll = select.poll()
        for descriptor in (output, ended, self._stop.descriptor):
            poll.register(descriptor, select.POLLIN)
        try:
            self._listen(poll, output, ended, listener)
            self._kill_group()
            self._hear_last_words(output, listener)
            waiter.join()
        finally:
            self._process.stdout.close()
            os.close(ended)
        code = self._process.wait()
        return 128 - code if code < 0 else code

    def _listen(self, poll: "select.poll", output: int, ended: int, listener: Listener) -> None:
        while True:
            ready = dict(poll.poll(self._wait_milliseconds(listener)))
            if ended in ready:
                return  # what is still in the pipe is read afterwards
            if output in ready:
                piece = os.read(output, PIECE)
                if piece:
                    listener.took(piece)
                else:
                    poll.unregister(output)  # it closed its output, and may go on
            if self._stop.is_set and not self._asked:
                poll.unregister(self._stop.descriptor)
                self._ask(self._stop.signal)
            self._keep_time()
            if listener.wait_seconds() == 0:
                listener.due()

    def _wait_milliseconds(self, listener: Listener) -> Optional[int]:
        waits = [] if self._deadline is None else [max(0.0, self._deadline - time.monotonic())]
        asked = listener.wait_seconds()
        waits += [] if asked is None else [asked]
        return int(min(waits) * 1000) + 1 if waits else None

    def _keep_time(self) -> None:
        if self._deadline is None or time.monotonic() < self._deadline:
            return
        if self._asked:
            self._kill_all()
            self._deadline = time.monotonic() + 1.0
        else:
            self.exceeded_time = True
            self._ask(signal.SIGTERM)

    def _ask(self, number: int) -> None:
        """Ask it to end; after the grace time it is ended."""
        self._asked = True
        self._deadline = time.monotonic() + self._command.grace_seconds
        with suppress(OSError):
            os.killpg(self.pid, number)

    def _kill_group(self) -> None:
        """End what the program left running. It has ended, but nobody has taken its status: its number is its own."""
        with suppress(OSError):
            os.killpg(self.pid, signal.SIGKILL)
        if self._asked:
            self._kill_all()
        else:
            self._limits.kill()

    def _kill_all(self) -> None:
        with suppress(OSError):
            os.killpg(self.pid, signal.SIGKILL)
        self._limits.kill()
        cookie = os.environ.get(COOKIE)
        if cookie:
            kill_marked("%s=%s" % (COOKIE, cookie), own=(os.getpid(), os.getppid()))

    def _hear_last_words(self, output: int, listener: Listener) -> None:
        until = time.monotonic() + _LAST_WORDS_SECONDS
        poll = select.poll()
        poll.register(output, select.POLLIN)
        heard = 0
        while heard < _PIPE_BYTES or time.monotonic() < until:  # one that escaped may go on for ever
            if not poll.poll(max(0, int((until - time.monotonic()) * 1000))):
                return
            piece = os.read(output, PIECE)
            if not piece:
                return
            listener.took(piece)
            heard += len(piece)

    def _await_end(self, said: int) -> None:
        """Say that it has ended, without taking its status: until then its number is nobody else's.

        In a container the agent may be the first process: it inherits orphans, and lets go of those that have ended.
        """
        ended = os.waitid(os.P_ALL if os.getpid() == 1 else os.P_PID, self.pid, os.WEXITED | os.WNOWAIT)
        while ended is not None and ended.si_pid != self.pid:
            with suppress(ChildProcessError):
                os.waitpid(ended.si_pid, 0)
            ended = os.waitid(os.P_ALL, 0, os.WEXITED | os.WNOWAIT)
        os.close(said)  # the other end becomes readable


def _widen(descriptor: int) -> None:
    """Let more fit into the pipe, so that a program that prints a lot is stopped less often."""
    with suppress(ImportError, OSError):
        import fcntl

        fcntl.fcntl(descriptor, _SET_PIPE_SIZE, _PIPE_BYTES)
