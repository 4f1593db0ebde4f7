"""Attributes as the API sees them: reading and changing them, and finding things by them."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta, timezone
from typing import TYPE_CHECKING, Any, Protocol

import msgspec

from acai_jupyter.contract.errors import BadRequest
from acai_jupyter.contract.metadata import Changed, ChangePage, Found, FoundPage, KeyList, KnownKey, Metadata
from acai_jupyter.contract.query.binding import bind
from acai_jupyter.contract.query.builtin import BUILT_IN, PARAMETERS, TAGS, WELL_KNOWN, SubjectKind, ValueType
from acai_jupyter.contract.query.conditions import from_conditions
from acai_jupyter.contract.query.parser import parse
from acai_jupyter.contract.query.tree import Order, Query, keys
from acai_jupyter.contract.specs import encode_path
from acai_server.metadata.changing import change
from acai_server.metadata.cursors import Mark, decode, encode
from acai_server.metadata.things import find_thing, find_things

if TYPE_CHECKING:
    from acai_jupyter.contract.filesets import EntryPage
    from acai_jupyter.contract.ids import ProjectId, UserId
    from acai_jupyter.contract.metadata import ChangeMetadata, Counted, CountThings, FindThings
    from acai_server.db.database import Database
    from acai_server.db.work import Work


class FileReader(Protocol):
    """Knows which file version a spec names, when it names one by way of a file set."""

    def entries(self, project: ProjectId, spec: str, after: str, limit: int) -> EntryPage:
        """Return the file versions that a spec names."""
        ...


class Attributes:
    """Of one database. `files` resolves specs like `/p@set`."""

    def __init__(self, database: Database, files: FileReader) -> None:
        self._database = database
        self._files = files

    def get(self, project: ProjectId, name: str) -> Metadata:
        """Return all that is known of a thing by key."""
        name = self._plain(project, name)
        with self._database.reading() as work:
            thing = find_thing(work, project, name)
            given = work.attributes.of_many(project, thing.kind, [thing.id])[thing.id]
            built_in = list(BUILT_IN[thing.kind])
            return Metadata(
                thing=thing.name,
                kind=thing.kind,
                attributes={key: value for key, value in given.items() if not key.startswith(PARAMETERS)},
                tags=work.attributes.labels_of(project, thing.kind, [thing.id])[thing.id],
                built_in=work.subjects.built_in(thing.kind, [thing.id], built_in)[thing.id],
                parameters={k.removeprefix(PARAMETERS): v for k, v in given.items() if k.startswith(PARAMETERS)},
            )

    def change(self, project: ProjectId, user: UserId, request: ChangeMetadata) -> Changed:
        """Change attributes of things: all of them or, on any error, none."""
        named = [msgspec.structs.replace(one, thing=self._plain(project, one.thing)) for one in request.changes]
        with self._database.writing() as work:
            things = find_things(work, project, [one.thing for one in named])
            changed = change(work, project, user, [(things[one.thing], one) for one in named])
        return Changed(changed)

    def changes(self, project: ProjectId, name: str, before: int | None, limit: int) -> ChangePage:
        """Return who changed what on a thing."""
        name = self._plain(project, name)
        with self._database.reading() as work:
            thing = find_thing(work, project, name)
            found = work.changes.of(thing.kind, thing.id, before, limit + 1)
        return ChangePage(thing.name, found[:limit], found[limit - 1].number if len(found) > limit else None)

    def keys(self, project: ProjectId, kind: SubjectKind, prefix: str, limit: int) -> KeyList:
        """Return the keys that can be used."""
        with self._database.reading() as work:
            used = work.attributes.used(project, kind, prefix, limit)
        built_in = {**BUILT_IN[kind], TAGS: ValueType.LIST}
        found = [KnownKey(key, "built_in", type_) for key, type_ in built_in.items()]
        found += [KnownKey(key, "used", type_) for key, type_ in used.items()]
        found += [KnownKey(key, "well_known") for key in WELL_KNOWN if key not in used]
        fitting = [one for one in found if one.key.startswith(prefix)]
        return KeyList(sorted(fitting, key=lambda one: one.key)[:limit])

    def find(self, project: ProjectId, request: FindThings) -> FoundPage:
        """Return a page of the things that a query is true of."""
        mark = decode(request.after, request)
        now = (mark.now if mark else datetime.now(UTC)).astimezone(
            timezone(timedelta(seconds=request.utc_offset_seconds))
        )
        query = self._query(request, now)
        if mark and request.skip:
            raise BadRequest(reason="'after' and 'skip' at once; give one of them")
        given = mark.given if mark else request.skip
        limit = request.limit if query.limit is None else min(request.limit, query.limit - given)
        columns = request.columns or keys(query)
        if limit <= 0:
            return FoundPage(request.kind, columns, [])
        with self._database.reading() as work:
            after = mark.cursor if mark else request.skip
            rows, cursor = work.search.find(project, request.kind, query, after, limit)
            found = _told(work, project, request.kind, rows, columns)
        given += len(rows)
        is_last = cursor is None or given == query.limit
        following = None if cursor is None or is_last else encode(Mark(now.astimezone(UTC), given, cursor), request)
        return FoundPage(request.kind, columns, found, following)

    def count(self, project: ProjectId, request: CountThings) -> Counted:
        """Return how many things a query is true of, and their values."""
        now = datetime.now(UTC).astimezone(timezone(timedelta(seconds=request.utc_offset_seconds)))
        query = bind(parse(request.query, now), request.kind, now, request.query)
        with self._database.reading() as work:
            return work.facets.count(project, request.kind, query, request.keys, request.limit)

    def _query(self, request: FindThings, now: datetime) -> Query:
        if request.conditions and request.query:
            raise BadRequest(reason="a query and conditions at once; give one of them")
        query = from_conditions(request.conditions) if request.conditions else parse(request.query, now)
        if request.order:
            order = tuple(Order(one.key, one.descending) for one in request.order)
            query = msgspec.structs.replace(query, order=order)
        return bind(query, request.kind, now, request.query)

    def _plain(self, project: ProjectId, name: str) -> str:
        """Name a file version as itself where a file set was named that has it."""
        if not name.startswith("/") or "@" not in name:
            return name
        page = self._files.entries(project, name, "", 2)
        if len(page.entries) != 1:
            raise BadRequest(reason=f"'{name[:80]}' is not one file")
        entry = page.entries[0]
        return f"{encode_path(entry.path)}:{entry.version}"


def _told(work: Work, project: ProjectId, kind: SubjectKind, rows: list[int], columns: list[str]) -> list[Found]:
    """Return what to tell of things, in their order."""
    names = work.subjects.names(kind, rows)
    built_in = [key for key in columns if key in BUILT_IN[kind]]
    told = work.subjects.built_in(kind, rows, built_in) if built_in else {}
    others = [key for key in columns if key not in BUILT_IN[kind]]
    given = work.attributes.of_many(project, kind, rows, others) if others else {}
    labels = work.attributes.labels_of(project, kind, rows) if TAGS in columns else {}
    found = []
    for row in rows:
        values: dict[str, Any] = {**given.get(row, {}), **told.get(row, {}), TAGS: labels.get(row, [])}
        found.append(Found(names[row], [values.get(key) for key in columns]))
    return found
