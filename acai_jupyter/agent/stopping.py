"""Being asked to end: noticed at once, by whoever waits for something."""

import os
import select
import signal


class Stop:
    """Set by a signal, or by a thread that calls `ask`; what is waited for meanwhile is waited for no more.

    A pipe rather than an event: a signal handler must not take a lock that the code it interrupts may hold.
    """

    def __init__(self) -> None:
        self.is_set = False
        self.signal = int(signal.SIGTERM)
        self.descriptor, self._write = os.pipe()

    def listen(self) -> None:
        """Take the signals that ask a program to end. Only in the main thread."""
        for number in (signal.SIGTERM, signal.SIGINT):
            signal.signal(number, self._hear)

    def wait(self, seconds: float) -> bool:
        """Wait so long, or until it is set; says whether it is."""
        if not self.is_set:
            select.select([self.descriptor], [], [], seconds)
        return self.is_set

    def ask(self) -> None:
        """Set it, as a signal does."""
        self._hear(self.signal, None)

    def _hear(self, number: int, frame: object) -> None:
        del frame
        self.signal = number
        if not self.is_set:
            self.is_set = True
            os.write(self._write, b"x")
