"""Attributes of things: reading, changing and finding them."""

from __future__ import annotations

from datetime import datetime
from typing import Annotated, Literal

import msgspec

from acai_jupyter.contract.query.builtin import SubjectKind, ValueType
from acai_jupyter.contract.query.conditions import Condition

MAX_TEXT = 500
"""What is longer is no value to find things by; keep it in a file or a note."""
MAX_THINGS = 5000
MAX_CHANGES = 1000


class Time(msgspec.Struct, frozen=True):
    """A moment, told from a text by its shape: `{"time": "2026-11-01T12:00:00Z"}`."""

    time: datetime


Value = str | int | float | bool | Time
Key = Annotated[str, msgspec.Meta(pattern="^[A-Za-z_][A-Za-z0-9_.-]{0,127}(?!\\n)$")]
Label = Annotated[str, msgspec.Meta(min_length=1, max_length=128)]


class ThingChange(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """What to change on one thing: a job's number, a file set like `model:2`, or a file version like `/data.csv:3`."""

    thing: Annotated[str, msgspec.Meta(max_length=4000)]
    set: Annotated[dict[Key, Value], msgspec.Meta(max_length=MAX_CHANGES)] = {}
    delete: Annotated[list[Key], msgspec.Meta(max_length=MAX_CHANGES)] = []
    add_labels: Annotated[list[Label], msgspec.Meta(max_length=MAX_CHANGES)] = []
    remove_labels: Annotated[list[Label], msgspec.Meta(max_length=MAX_CHANGES)] = []
    expect: Annotated[dict[Key, Value | None], msgspec.Meta(max_length=MAX_CHANGES)] = {}
    """What keys that are set or deleted here have until then, null for nothing. If one has something else, nothing of
    the request is written, and the error `outdated` says what it has."""


class ChangeMetadata(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """Change attributes of many things, of all or, on any error, of none."""

    changes: Annotated[list[ThingChange], msgspec.Meta(min_length=1, max_length=MAX_THINGS)]


class Changed(msgspec.Struct, frozen=True):
    """The things that are different now, as people write them; what was so already is not among them."""

    things: list[str]


class Metadata(msgspec.Struct, frozen=True):
    """All that is known of one thing by key."""

    thing: str
    kind: SubjectKind
    attributes: dict[str, Value]
    tags: list[str]
    built_in: dict[str, Value | list[str] | None]
    parameters: dict[str, Value] = {}


class Change(msgspec.Struct, frozen=True):
    """Who changed what on a thing, and when."""

    number: int
    at: datetime
    user: str
    set: dict[str, Value]
    deleted: list[str]
    added_labels: list[str]
    removed_labels: list[str]


class ChangePage(msgspec.Struct, frozen=True):
    """Changes of one thing, the newest first; `next` is the number to continue below."""

    thing: str
    changes: list[Change]
    next: int | None = None


class KnownKey(msgspec.Struct, frozen=True):
    """A key that can be used, and by whom it is given: the system, somebody here, or nobody yet."""

    key: str
    source: Literal["built_in", "used", "well_known"]
    type: ValueType | None = None


class KeyList(msgspec.Struct, frozen=True):
    """Keys by name: what completion offers."""

    keys: list[KnownKey]


class Order(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """One key to order by. Things without it come last either way."""

    key: Key
    descending: bool = False


class FindThings(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """Ask for the things that a query, or a list of conditions in its place, is true of."""

    kind: SubjectKind
    query: str = ""
    conditions: Annotated[list[Condition], msgspec.Meta(max_length=200)] = []
    columns: Annotated[list[Key], msgspec.Meta(max_length=100)] = []
    """What to tell of each; without it, what the query speaks of."""
    after: Annotated[str, msgspec.Meta(max_length=20_000)] = ""
    limit: Annotated[int, msgspec.Meta(ge=1, le=1000)] = 100
    utc_offset_seconds: Annotated[int, msgspec.Meta(ge=-86_399, le=86_399)] = 0
    """How far the clock of who asks is ahead of UTC: `today()` begins at their midnight."""
    order: Annotated[list[Order], msgspec.Meta(max_length=3)] = []
    """In the place of what the query says of the order."""
    skip: Annotated[int, msgspec.Meta(ge=0, le=10_000_000)] = 0
    """So many of the first are passed over: where somebody scrolled to, rather than the next page."""


class Found(msgspec.Struct, frozen=True):
    """One thing, with a value for each column; null where it has none."""

    thing: str
    values: list[Value | list[str] | None]


class FoundPage(msgspec.Struct, frozen=True):
    """What was found, in the order asked for; `next` continues after it."""

    kind: SubjectKind
    columns: list[str]
    rows: list[Found]
    next: str | None = None


class CountThings(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """Ask how many things a query is true of, and how many of these have which value of some keys."""

    kind: SubjectKind
    query: str = ""
    keys: Annotated[list[Key], msgspec.Meta(max_length=10)] = []
    limit: Annotated[int, msgspec.Meta(ge=1, le=1000)] = 20
    """So many values of each key are told, the most frequent."""
    utc_offset_seconds: Annotated[int, msgspec.Meta(ge=-86_399, le=86_399)] = 0


class FacetValue(msgspec.Struct, frozen=True):
    """A value, and how many things have it."""

    value: Value
    count: int


class Facet(msgspec.Struct, frozen=True):
    """The values of one key, the most frequent first."""

    key: str
    values: list[FacetValue]


class Counted(msgspec.Struct, frozen=True):
    """How many things a query is true of. Of `tags`, a thing counts for each of its labels."""

    count: int
    facets: list[Facet] = []
