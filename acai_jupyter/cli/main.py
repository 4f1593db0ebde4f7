"""Entry of the command line. Results on standard output, errors on standard error in one line, documented statuses."""

from __future__ import annotations

import json
import os
import signal
import sys
from itertools import takewhile
from typing import TYPE_CHECKING

from acai_jupyter.commands import terminal, verbs
from acai_jupyter.commands.interrupts import Unwatched
from acai_jupyter.contract.errors import AcaiError

if TYPE_CHECKING:
    from collections.abc import Sequence

INTERRUPTED = 130


def main(argv: Sequence[str] | None = None) -> int:
    """Do one verb and return its exit status.

    0 done, 1 the thing asked for failed, 2 wrong usage, 3 not found, 4 not allowed, 5 no server, 6 conflict.
    """
    words = sys.argv[1:] if argv is None else list(argv)
    if argv is None and "COMP_LINE" in os.environ:  # a shell's `complete -C acai acai` asks
        return complete(os.environ["COMP_LINE"], os.environ.get("COMP_POINT", ""), words)
    status = _status(words)
    if argv is None:  # what ends now keeps its status, however often it is interrupted
        signal.signal(signal.SIGINT, signal.SIG_IGN)
    return status


def _status(words: Sequence[str]) -> int:
    """Do it, show what came of it, and return the exit status."""
    try:
        arguments = verbs.parse("acai", words)
        result = verbs.run(arguments)
        text = json.dumps(result.plain(), indent=2) if arguments.json else result.text
        if text:
            terminal.write(f"{text}\n", sys.stdout)
    except AcaiError as error:
        terminal.write(f"{_in_json(error) if _wants_json(words) else error.message}\n", sys.stderr)
        return error.exit_status
    except Unwatched as left:  # while a job is watched, how to follow it again is said at once
        if not left.was_said:
            terminal.write(f"{left}\n", sys.stderr)
        return INTERRUPTED
    except KeyboardInterrupt:
        terminal.write(f"{verbs.interrupted(words)}\n", sys.stderr)
        return INTERRUPTED
    except BrokenPipeError:  # the reader, as `head`, has seen enough
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return 0
    return result.exit_status if result.exit_status is not None else int(result.failed)


def _wants_json(words: Sequence[str]) -> bool:
    """Whether a line asks for JSON; it may be one that cannot be read."""
    return "--json" in list(takewhile(lambda word: word != "--", words))


def _in_json(error: AcaiError) -> str:
    """Write an error as the server does over HTTP, on a line."""
    said = {"code": error.code, "message": error.message, "details": error.details}
    return json.dumps({"error": said}, default=str)


def complete(line: str, point: str, words: Sequence[str]) -> int:
    """Print what may stand in place of the word that the shell says is begun: its second one."""
    from acai_jupyter.commands.completing import complete as goes_on

    until = line[: int(point)] if point.isdecimal() else line
    begun, found = goes_on(until.lstrip().partition(" ")[2])
    of_shell = words[1] if len(words) > 1 else begun
    more, less = len(begun) - len(of_shell), len(of_shell) - len(begun)  # shells end words at other places than we
    for text in found:
        print(of_shell[: max(less, 0)] + text[max(more, 0) :])
    return 0
