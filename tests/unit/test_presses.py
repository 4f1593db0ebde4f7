"""Which run of a cell repeats another: what a front end says of it is foreign, and may be anything."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from typing import Any

import pytest

from acai_jupyter.magics.presses import SAME_MOMENT, Presses, press_of

NOON = datetime(2026, 11, 20, 12, tzinfo=UTC)


def asked(cell: Any = "a", page: Any = "one", at: Any = NOON) -> dict[str, Any]:
    return {"header": {"session": page, "date": at}, "metadata": {"cellId": cell}}


@pytest.mark.parametrize(
    ("other", "is_repeated"),
    [
        (asked(page="two"), True),
        (asked(page="two", at=NOON - SAME_MOMENT / 2), True),
        (asked(page="two", at="2026-11-20T12:00:01.5+00:00"), True),
        (asked(page="one"), False),
        (asked(page="two", at=NOON + SAME_MOMENT), False),
        (asked(page="two", at=NOON - timedelta(hours=1)), False),
        (asked(page="two", cell="b"), False),
    ],
)
def test_the_same_cell_from_another_page_at_the_same_moment_is_the_same(
    other: dict[str, Any], is_repeated: bool
) -> None:
    presses = Presses()
    assert presses.repeated(press_of(other, "line")) is None
    presses.begun(press_of(asked(), "line"), 7)
    assert presses.repeated(press_of(other, "line")) == (7 if is_repeated else None)
    assert presses.repeated(press_of(other, "another line")) is None


@pytest.mark.parametrize(
    "said",
    [
        None,
        {},
        [],
        {"header": None, "metadata": 3},
        asked(cell=None),
        asked(cell=""),
        asked(page=7),
        asked(at="yesterday"),
        asked(at=None),
        asked(at=datetime(2026, 11, 20, 12)),  # noqa: DTZ001 (a front end may say no zone)
    ],
)
def test_who_does_not_say_which_cell_and_when_repeats_nothing(said: Any) -> None:
    presses = Presses()
    press = press_of(said, "line")
    assert press is None
    presses.begun(press, 7)
    assert presses.repeated(press) is None
