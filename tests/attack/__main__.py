"""`make attack ARGS="kills power-loss --seconds 600 --seed 7"`: exit status 1 when a promise was broken."""

from __future__ import annotations

import argparse
import secrets
import sys
import tempfile
import time
from pathlib import Path

import pytest

from tests.attack.campaign import FIGURES, Campaign, Run
from tests.attack.catalogue import CAMPAIGNS, STORES
from tests.servers.process import ServerMissing

SECONDS = 60.0


def main() -> int:
    """Run the campaigns that were named, or all of them, and print a table of figures."""
    parser = argparse.ArgumentParser(
        prog="make attack", description="Attack a server of its own and check its promises."
    )
    listed = "\n".join(f"  {one.name:<14} {one.promise}" for one in CAMPAIGNS.values())
    parser.formatter_class = argparse.RawDescriptionHelpFormatter
    parser.epilog = f"campaigns:\n{listed}"
    parser.add_argument("campaigns", nargs="*", metavar="CAMPAIGN", help="which ones (default: all)")
    parser.add_argument("--seed", default=secrets.token_hex(4), help="the seed of an earlier run (default: a new one)")
    parser.add_argument("--seconds", type=float, default=SECONDS, help=f"time per campaign and backend ({SECONDS:g})")
    parser.add_argument(
        "--backend", choices=STORES, help="where the data is kept, for campaigns with a choice (default: each in turn)"
    )
    parser.add_argument("--folder", help="keep data and logs in this new folder (default: a temporary one)")
    arguments = parser.parse_args()
    if unknown := sorted(set(arguments.campaigns) - set(CAMPAIGNS)):
        parser.error(f"unknown campaign '{unknown[0]}'; there are {', '.join(CAMPAIGNS)}")
    rows = []
    with tempfile.TemporaryDirectory(prefix="acai-attack-", ignore_cleanup_errors=True) as temporary:
        for name in arguments.campaigns or CAMPAIGNS:
            campaign = CAMPAIGNS[name]
            for backend in campaign.backends_for(arguments.backend):
                home = Path(arguments.folder or temporary).absolute() / name / backend
                run = Run(home, arguments.seed, arguments.seconds, backend, _say)
                rows.append((campaign, run, *_carried_out(campaign, run)))
    _say(_table(rows))
    failed = [(campaign, run) for campaign, run, *_ in rows if run.violations]
    for campaign, run in failed:
        backend = f" --backend {run.backend}" if run.backend else ""
        _say(f"{len(run.violations)} violations; again: make attack ARGS='{campaign.name} --seed {run.seed}{backend}'")
    return 1 if failed else 0


def _carried_out(campaign: Campaign, run: Run) -> tuple[float, str]:
    """Run a campaign; returns its duration and why it did not run, if so."""
    _say(f"\n== {campaign.name}: {campaign.promise} (seed {run.seed}{', ' + run.backend if run.backend else ''})")
    began = time.monotonic()
    missing = ""
    try:
        campaign.attack(run)
    except (ServerMissing, pytest.skip.Exception) as error:
        missing = str(error)
    except Exception as error:  # noqa: BLE001 (a campaign that breaks off must not hide the figures of the others)
        run.violation(f"the campaign broke off: {type(error).__name__}: {error}")
    return time.monotonic() - began, missing


def _table(rows: list[tuple[Campaign, Run, float, str]]) -> str:
    """Return the figures as lines of text."""
    head = ("campaign", "backend", "seconds", *FIGURES, "violations")
    lines: list[tuple[str, ...]] = [head]
    for campaign, run, seconds, missing in rows:
        figures = tuple(str(run.figures[name]) if name in run.figures else "-" for name in FIGURES)
        ending = (f"not run: {missing}",) if missing else (*figures, str(len(run.violations)))
        lines.append((campaign.name, run.backend or "-", f"{seconds:.0f}", *ending))
    widths = [max(len(line[at]) for line in lines if len(line) == len(head)) for at in range(len(head))]
    return "\n" + "\n".join(
        "  ".join(cell.ljust(width) for cell, width in zip(line, widths, strict=False)).rstrip() for line in lines
    )


def _say(line: str) -> None:
    sys.stdout.write(f"{line}\n")
    sys.stdout.flush()


if __name__ == "__main__":
    sys.exit(main())
