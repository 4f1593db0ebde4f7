"""A load like that of people: each does one thing, looks at it, and does the next; or as fast as answers come."""

from __future__ import annotations

import asyncio
import random
import time
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import aiohttp

if TYPE_CHECKING:
    from collections.abc import Sequence

PROJECT = "/acai/api/v1/projects/default"
SUBMITTED = {"command": ["true"], "output": "made", "parameters": {"lr": 0.1}, "name": "load"}
SEARCHED = {"kind": "job", "query": "params.lr > 0.01 order by created_at desc", "limit": 20}
ACTS: tuple[tuple[str, str, Any, int], ...] = (
    ("POST", "/jobs", SUBMITTED, 201),
    ("GET", "/jobs?limit=20", None, 200),
    ("GET", "/jobs/1/log", None, 200),
    ("POST", "/find", SEARCHED, 200),
)
"""Submit, list, log, search."""
_SECONDS_AT_MOST = aiohttp.ClientTimeout(total=60)


@dataclass
class Answers:
    """How long each answer took, what was not answered as it should be, and for how long all was done."""

    seconds: list[float] = field(default_factory=list)
    errors: list[str] = field(default_factory=list)
    took_seconds: float = 0.0

    def share(self, part: float) -> float:
        """Return within how many milliseconds such a part of them came."""
        return sorted(self.seconds)[min(len(self.seconds) - 1, int(part * len(self.seconds)))] * 1000

    @property
    def rate(self) -> float:
        """Return how many came in a second."""
        return len(self.seconds) / self.took_seconds


def loaded(roots: Sequence[str], tokens: Sequence[str], seconds: float, pause_seconds: float) -> Answers:
    """Let the users of these tokens work at these servers, in turn; without a pause as fast as they are answered."""
    return asyncio.run(_loaded(roots, tokens, seconds, pause_seconds))


async def _loaded(roots: Sequence[str], tokens: Sequence[str], seconds: float, pause_seconds: float) -> Answers:
    found = Answers()
    begun = time.perf_counter()
    async with aiohttp.ClientSession(connector=aiohttp.TCPConnector(limit=0), timeout=_SECONDS_AT_MOST) as session:
        people = (
            _person(session, roots[place % len(roots)], token, place, begun + seconds, pause_seconds, found)
            for place, token in enumerate(tokens)
        )
        await asyncio.gather(*people)
    found.took_seconds = time.perf_counter() - begun
    return found


async def _person(
    session: aiohttp.ClientSession,
    root: str,
    token: str,
    place: int,
    until: float,
    pause_seconds: float,
    found: Answers,
) -> None:
    chance = random.Random(place)
    act = place  # not all begin with the same
    while True:
        if pause_seconds:
            await asyncio.sleep(chance.expovariate(1 / pause_seconds))
        if time.perf_counter() > until:
            return
        method, path, body, wanted = ACTS[act % len(ACTS)]
        act += 1
        begun = time.perf_counter()
        try:
            headers = {"Authorization": f"Bearer {token}"}
            async with session.request(method, f"{root}{PROJECT}{path}", json=body, headers=headers) as answer:
                said = await answer.read()
        except (aiohttp.ClientError, TimeoutError) as error:
            found.errors.append(repr(error))
            continue
        found.seconds.append(time.perf_counter() - begun)
        if answer.status != wanted:
            found.errors.append(f"{method} {path} {answer.status} {said[:200]!r}")
