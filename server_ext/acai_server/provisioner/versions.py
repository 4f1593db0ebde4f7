"""Versions of models: what each knew, so that what it said can be explained when others have taken its place.

A version is named by what went into it. The same runs make the same model, so it is made again from them, exactly,
whatever has become of the jobs since.
"""

from __future__ import annotations

import hashlib
import zlib
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import msgspec

from acai_jupyter._version import __version__
from acai_jupyter.contract import decoding
from acai_server.db.runs import StoredRun  # noqa: TC001 (msgspec reads it)

if TYPE_CHECKING:
    from acai_server.provisioner.knowledge import Knowledge
    from acai_server.provisioner.prices import Prices

LETTERS = 12


@dataclass(frozen=True)
class Known:
    """What a model was made of: runs, under which price book and by which release; and that of who lent to it."""

    template: str
    runs: list[StoredRun]
    price_book: int
    release: str
    too_little_bytes: int = 0
    lender: Known | None = None


def written(known: Knowledge) -> bytes:
    """Write down what a model knows."""
    return msgspec.json.encode(_known(known))


def name_of(text: bytes) -> str:
    """Return what a version is called."""
    return hashlib.sha256(text).hexdigest()[:LETTERS]


def packed(text: bytes) -> bytes:
    """Return it as it is kept."""
    return zlib.compress(text)


def again(kept: bytes, prices: Prices) -> Knowledge:
    """Make the model again that a version was."""
    return _made(decoding.from_json(zlib.decompress(kept), Known), prices)


def _known(known: Knowledge) -> Known:
    lender = None if known.leans_on is None else _known(known.leans_on)
    book, too_little = known.prices.version, known.too_little_bytes
    return Known(known.template, known.runs, book, __version__, too_little, lender)


def _made(one: Known, prices: Prices) -> Knowledge:
    from acai_server.provisioner.knowledge import learn, lend

    then = prices.at(one.price_book)
    if one.lender is None:
        found = learn(one.template, one.runs, then)
    else:
        found = lend(one.template, one.runs, then, [_made(one.lender, prices)])
    assert found is not None, "it was made of this before"
    return replace(found, too_little_bytes=one.too_little_bytes)
