"""Lists in pages: one more than was asked for is read, and tells whether there are more."""

from __future__ import annotations

from typing import TYPE_CHECKING, TypeVar

if TYPE_CHECKING:
    from collections.abc import Callable

T = TypeVar("T")
PlaceT = TypeVar("PlaceT")


def cut(found: list[T], limit: int, place: Callable[[T], PlaceT]) -> tuple[list[T], PlaceT | None]:
    """Return what is on the page, and the place of its last one if something comes behind it."""
    return found[:limit], place(found[limit - 1]) if len(found) > limit else None
