"""What may stand after the '?' of a request."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import Annotated

import msgspec

from acai_jupyter.contract.lineage import ExportFormat, LineageDirection
from acai_jupyter.contract.prices import CostGroup
from acai_jupyter.contract.query.builtin import SubjectKind
from acai_jupyter.contract.states import UploadState

Limit = Annotated[int, msgspec.Meta(ge=1, le=1000)]
Number = Annotated[int, msgspec.Meta(ge=0, le=2**53 - 1)]


def check_moments(**moments: datetime | None) -> None:
    """Refuse times that do not exist in UTC, in which all times are kept and compared. Decoders name the request."""
    for name, moment in moments.items():
        try:
            if moment is not None:
                moment.astimezone(UTC)
        except OverflowError:
            raise ValueError(f"{name}: {moment} is not between the years 1 and 9999 in UTC") from None


"""What every program and database can count to."""


class NoQuery(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """Nothing."""


class EventQuery(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """Events after `since`; without it, only where the stream is now. Waits so long when there are none."""

    since: Number | None = None
    wait_seconds: Annotated[float, msgspec.Meta(ge=0, le=30)] = 0


class EntryQuery(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """Entries after a path."""

    after: str = ""
    limit: Limit = 1000


class SpecQuery(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """File versions that a spec names, after a path."""

    spec: str
    after: str = ""
    limit: Limit = 1000


class FolderQuery(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """A folder's children, of a file set if one is named, after a name."""

    path: str = "/"
    file_set: str | None = None
    after: str = ""
    limit: Limit = 1000


class VersionQuery(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """A file's versions with a number below `before`."""

    path: str
    before: Number | None = None
    limit: Limit = 1000


class UploadQuery(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """Sessions in a state, older than the one with the id `before`."""

    state: UploadState = UploadState.PENDING
    before: str | None = None
    limit: Limit = 100


class FileSetQuery(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """File sets after a name."""

    after: str = ""
    limit: Limit = 100


class JobQuery(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """Jobs with a number below `before`."""

    before: Number | None = None
    limit: Limit = 100


class SubmissionQuery(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """A name that who submits gives to the submission: sent again under the same one, it is the same, and done once."""

    submission: Annotated[str, msgspec.Meta(max_length=64)] = ""


class OverviewQuery(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """At most so many jobs of each kind."""

    limit: Annotated[int, msgspec.Meta(ge=1, le=100)] = 20


class WaitQuery(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """A job as it is now, or as soon as it has ended, if that is within so many seconds."""

    wait_seconds: Annotated[float, msgspec.Meta(ge=0, le=30)] = 0


class SweepQuery(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """A sweep as it is now, or as soon as more than `ended` of its jobs have ended, if that is within so many seconds.

    Without a number, as soon as all of them have.
    """

    ended: Number | None = None
    wait_seconds: Annotated[float, msgspec.Meta(ge=0, le=30)] = 0


class LogQuery(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """The log of an attempt (without one: the last) from a byte on. Waits so long when there is nothing new.

    Of a job on several nodes it is that of one of them.
    """

    offset: Number = 0
    attempt: Number | None = None
    displays: Number | None = None
    """Also does not wait when what its cell displays was kept anew more often than this."""
    node: Number = 0
    wait_seconds: Annotated[float, msgspec.Meta(ge=0, le=30)] = 0


class LogLines(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """Lines of the log of an attempt (without one: the last), of one of its nodes.

    Those that have a text, or of these the first behind a number or the last before one; with `error` the first that
    tells of an error; else those from a number on.
    """

    text: Annotated[str, msgspec.Meta(max_length=1000)] = ""
    after: Number | None = None
    before: Number | None = None
    error: bool = False
    first: Annotated[int, msgspec.Meta(ge=1, le=2**53 - 1)] = 1
    limit: Limit = 100
    attempt: Number | None = None
    node: Number = 0
    offset: Number = 0
    lines: Number = 0
    """The place at which a search continues: `next` of the last answer."""


class AttemptQuery(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """The log of an attempt (without one: the last) from a byte on; of one on several nodes, that of one of them."""

    attempt: Number | None = None
    offset: Number = 0
    node: Number = 0


class ObjectQuery(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """The signature of a signed URL and what it covers."""

    expires: Number
    signature: str
    size: Number | None = None
    sha256: str | None = None
    parts: str | None = None
    """The id of an object's sending in parts, when this is about one part of it."""
    part: Number | None = None
    first: Number | None = None
    last: Number | None = None
    """The bytes that it is about, when not all of an object may be had: a Range header has to ask for some of these."""


class ThingQuery(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """One thing: a job's number, a file set like `model:2`, or a file version like `/data.csv:3`."""

    thing: str


class ChangeQuery(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """Changes of one thing with a number below `before`."""

    thing: str
    before: Number | None = None
    limit: Limit = 100


class KeyQuery(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """Keys of a kind of things that begin with a prefix."""

    kind: SubjectKind
    prefix: str = ""
    limit: Limit = 100


class NamedQuery(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """What has a name behind `after`."""

    after: str = ""
    limit: Limit = 1000


FIRST = NamedQuery()
"""The first page."""


class NumberedQuery(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """What has a number below `before`."""

    before: Number | None = None
    limit: Limit = 100


class CollectionQuery(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """Waits so long for a running one to go on."""

    wait_seconds: Annotated[float, msgspec.Meta(ge=0, le=30)] = 0


class NeighbourhoodQuery(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """So many steps back and forward, and at most so many file sets."""

    back: Annotated[int, msgspec.Meta(ge=0, le=100)] = 1
    forward: Annotated[int, msgspec.Meta(ge=0, le=100)] = 1
    limit: Annotated[int, msgspec.Meta(ge=1, le=2000)] = 200


class UsesQuery(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """What was done before an action, which is named by its `id`."""

    before: Annotated[str, msgspec.Meta(max_length=4000)] | None = None
    limit: Limit = 100


class ProjectGraphQuery(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """Components that changed last before a file set version was made, and at most so many names of each."""

    before: Annotated[str, msgspec.Meta(max_length=4000)] | None = None
    limit: Annotated[int, msgspec.Meta(ge=1, le=100)] = 20
    names: Annotated[int, msgspec.Meta(ge=1, le=1000)] = 200


class ClosureQuery(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """So many steps (without `depth`: all), and at most so many file sets."""

    direction: LineageDirection = LineageDirection.BACK
    depth: Annotated[int, msgspec.Meta(ge=0, le=100_000)] | None = None
    limit: Annotated[int, msgspec.Meta(ge=1, le=1_000_000)] = 100_000


class PathQuery(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """The other end, and how many ways to list."""

    to: str
    limit: Annotated[int, msgspec.Meta(ge=1, le=1000)] = 20


class AffectedQuery(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """So many steps (without `depth`: all), and at most so many sets and jobs."""

    depth: Annotated[int, msgspec.Meta(ge=0, le=100_000)] | None = None
    limit: Annotated[int, msgspec.Meta(ge=1, le=10_000)] = 1000


class ExportQuery(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """The format; where to go, how far (without `depth`: all the way), and at most so many file sets."""

    format: ExportFormat
    direction: LineageDirection = LineageDirection.BACK
    depth: Annotated[int, msgspec.Meta(ge=0, le=100_000)] | None = None
    limit: Annotated[int, msgspec.Meta(ge=1, le=100_000)] = 10_000


class OriginQuery(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """One file, like /model.bin@best:4, /p:2 or /p."""

    spec: str


class ProfileQuery(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """The name of a template, and which version of its model; without one today's."""

    template: Annotated[str, msgspec.Meta(min_length=1, max_length=300)]
    version: Annotated[str, msgspec.Meta(max_length=16)] = ""


class CostQuery(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """What to add up by, and jobs of what time: submitted from `since` on and before `until`; rows behind the first."""

    by: CostGroup = CostGroup.USER
    since: Annotated[datetime, msgspec.Meta(tz=True)] | None = None
    until: Annotated[datetime, msgspec.Meta(tz=True)] | None = None
    skip: Number = 0
    limit: Annotated[int, msgspec.Meta(ge=1, le=100_000)] = 1000

    def __post_init__(self) -> None:
        check_moments(since=self.since, until=self.until)


class DifferenceQuery(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """Two file sets, or the numbers of two jobs; how far to look back."""

    before: str
    after: str
    depth: Annotated[int, msgspec.Meta(ge=1, le=100)] = 20
