"""What `provenance` takes."""

from __future__ import annotations

import argparse
from typing import Any

from acai_jupyter.contract.errors import BadRequest

FORMATS = ["text", "json", "dot", "graphml", "prov", "openlineage"]


def add_to(parser: argparse.ArgumentParser) -> None:
    """Add arguments and options."""
    parser.add_argument(
        "spec",
        metavar="SPEC",
        nargs="?",
        help="a set like model:2, a job's number, or a file like /model.bin@best:4 (default: the project)",
    )
    parser.add_argument("--back", action="store_true", help="only what it was made of")
    parser.add_argument("--forward", action="store_true", help="only what was made of it")
    parser.add_argument(
        "--depth", type=_steps, metavar="N", help="so many steps (default: 1 as text, else all the way)"
    )
    parser.add_argument("--to", metavar="SET", help="the ways from one set to the other")
    parser.add_argument("--affected", action="store_true", help="list what would be affected if it changed")
    parser.add_argument(
        "--format",
        choices=FORMATS,
        default="text",
        help="how to write the lineage (default: text)",
    )


def asked(spec: str | None, **given: Any) -> argparse.Namespace:
    """Read what Python was given as a line would be."""
    parser = argparse.ArgumentParser(exit_on_error=False)
    add_to(parser)
    known = parser.parse_args([])
    if given["format"] not in FORMATS:
        raise BadRequest(f"There is no format '{given['format']}': there are {', '.join(FORMATS)}.")
    known.__dict__ |= {"spec": spec, **given}
    return known


def _steps(text: str) -> int:
    if not text.isdecimal() or not 1 <= int(text) <= 100_000:  # noqa: PLR2004 (the server's own border)
        raise argparse.ArgumentTypeError(f"'{text}' is not a number of steps from 1 on")
    return int(text)
