"""Whether the clocks of what a server stands on tell the same time: signatures and expiries are counted by them."""

from __future__ import annotations

from typing import TYPE_CHECKING

from acai_jupyter.contract.checkups import Check, Finding

if TYPE_CHECKING:
    from collections.abc import Callable
    from datetime import datetime

LITTLE_SECONDS = 5.0
"""What a Date header, which counts seconds, and a slow answer can make of clocks that agree."""
MUCH_SECONDS = 300.0
"""From here on signed URLs are refused too early or too late; S3 refuses all from a quarter of an hour on."""


def look(whose: str, theirs: Callable[[], datetime], now: Callable[[], datetime]) -> Check:
    """Compare a clock with this machine's, taken before and after it was asked."""
    name = f"clock of the {whose}"
    before, told, after = now(), theirs(), now()
    ahead = max((told - after).total_seconds(), 0.0) or min((told - before).total_seconds(), 0.0)
    if abs(ahead) < LITTLE_SECONDS:
        return Check(name, Finding.OK, "tells the same time as this machine's")
    which = "ahead of" if ahead > 0 else "behind"
    finding = Finding.FAILED if abs(ahead) >= MUCH_SECONDS else Finding.WARNING
    said = f"It is {abs(ahead):.0f} s {which} this machine's; set both by NTP, or signed URLs and expiries are wrong."
    return Check(name, finding, said)
