"""The user's command: started in a process group of its own, its output copied on as it comes."""

import os
import signal
import subprocess
from io import RawIOBase
from typing import Dict, List, Optional, Sequence

PIECE = 64 * 1024


class Program:
    """One run of a command. `stop` may be called from a signal handler."""

    def __init__(self, command: List[str], folder: str, environment: Dict[str, str]) -> None:
        self._command = command
        self._folder = folder
        self._environment = environment
        self._process: Optional["subprocess.Popen[bytes]"] = None

    def run(self, sinks: Sequence[RawIOBase]) -> int:
        """Run to the end, copying what it prints, in the order it was written, to each sink that takes it."""
        process = subprocess.Popen(
            self._command,
            cwd=self._folder,
            env=self._environment,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            start_new_session=True,
        )
        self._process = process
        assert process.stdout is not None
        with process.stdout as output:
            while True:
                piece = os.read(output.fileno(), PIECE)
                if not piece:
                    break
                sinks = [sink for sink in sinks if _took(sink, piece)]
        code = process.wait()
        return 128 - code if code < 0 else code

    def stop(self, number: int = signal.SIGTERM) -> None:
        """Send a signal to the program and all it started."""
        if self._process is not None and self._process.poll() is None:
            os.killpg(self._process.pid, number)


def _took(sink: RawIOBase, piece: bytes) -> bool:
    """Write to a sink; a full disk ends the log, not the program."""
    try:
        sink.write(piece)
    except OSError:
        return False
    return True
