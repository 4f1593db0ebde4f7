"""Entry of the command line. Results on standard output, errors on standard error in one line, documented statuses."""

from __future__ import annotations

import json
import os
import sys
from typing import TYPE_CHECKING

from acai_jupyter.commands import verbs
from acai_jupyter.contract.errors import AcaiError

if TYPE_CHECKING:
    from collections.abc import Sequence

INTERRUPTED = 130


def main(argv: Sequence[str] | None = None) -> int:
    """Do one verb and return its exit status.

    0 done, 1 the thing asked for failed, 2 wrong usage, 3 not found, 4 not allowed, 5 no server, 6 conflict.
    """
    words = sys.argv[1:] if argv is None else list(argv)
    try:
        arguments = verbs.parse("acai", words)
        result = verbs.run(arguments)
        text = json.dumps(result.plain(), indent=2) if arguments.json else result.text
        if text:
            print(text, flush=True)
    except AcaiError as error:
        print(error.message, file=sys.stderr)
        return error.exit_status
    except KeyboardInterrupt:
        return INTERRUPTED
    except BrokenPipeError:  # the reader, as `head`, has seen enough
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return 0
    return 1 if result.failed else 0
