"""What `replay` takes on a line."""

from __future__ import annotations

from typing import TYPE_CHECKING

from acai_jupyter.commands.job_options import parameter

if TYPE_CHECKING:
    from argparse import ArgumentParser

TOLERANCE = 1e-6


def add_to(parser: ArgumentParser) -> None:
    """Add the options."""
    parser.add_argument("thing", metavar="THING", help="a job's number, or a file set like model:4")
    parser.add_argument(
        "--with", dest="instead", action="append", default=[], metavar="SET",
        help="a version in place of the one that was used, like digits:2; can be repeated",
    )  # fmt: skip
    parser.add_argument(
        "-p", type=parameter, action="append", default=[], metavar="NAME=VALUE", help="another value of a parameter"
    )
    parser.add_argument("--whole", action="store_true", help="all jobs that it came from, not only the last one")
    parser.add_argument("--output", metavar="NAME", help="the file set that the last job's outputs become")
    parser.add_argument(
        "--tolerance", type=float, default=TOLERANCE, metavar="X", help="how much numbers may differ (default 1e-6)"
    )
    parser.add_argument("--cached", action="store_true", help="take results of identical earlier jobs")
    parser.add_argument("--plan", action="store_true", help="only say what would be done")
