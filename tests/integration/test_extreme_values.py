"""Times and numbers at and beyond what databases hold: refused in a sentence, on every route and every database."""

from __future__ import annotations

import json
from contextlib import closing
from typing import TYPE_CHECKING, Any
from urllib.parse import quote, urlencode

import pytest
from msgspec import inspect

from acai_jupyter.contract.endpoints import ALL, Endpoint
from acai_jupyter.contract.routes import Access
from tests.integration.places import Place, Server

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from tests.servers.postgres import Postgres

PROJECT = "/v1/projects/default"
OUTSIDE = ["0001-01-01T00:00:00+23:59", "9999-12-31T23:59:59-23:59"]
TIMES = [
    *OUTSIDE,
    "0001-01-01T00:00:00Z",
    "9999-12-31T23:59:59.999999Z",
    "10000-01-01T00:00:00Z",
    "0000-01-01T00:00:00Z",
]
NUMBERS = [2**31, 2**53, 2**63 - 1, 2**63, 2**64, 10**40, -(2**63), -(2**63) - 1]
FLOATS = [1e18, 1e300, -1e300]
KNOWN: dict[str, Any] = {
    "sources": ["@digits:1"],
    "before": ["@digits:1"],
    "after": ["@digits:1"],
    "spec": "/",
    "ref": "digits:1",
    "fileset": "digits:1",
    "thing": "digits:1",
    "left": "digits:1",
    "right": "digits:1",
    "file": "/digits/1.txt",
    "path": "/digits/1.txt",
    "query": "name = 'digits'",
    "command": ["true"],
    "command_template": "python train.py --epoch {1,2}",
    "sha256": "0" * 64,
    "since": "0",
}
"""What is asked for where a name or a content has to make sense; parts of a path are looked up here too."""
PARTS = {
    "project": ["default"],
    "ref": ["digits:1", "digits:{}", "{}"],
    "key": ["p1/objects/ab/cd/{}"],
    "user": ["admin"],
}


@pytest.fixture(scope="module", params=["sqlite", pytest.param("postgres", marks=pytest.mark.postgres)])
def server(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Server]:
    with closing(Place(tmp_path_factory.mktemp("home"))) as place:
        variables = {"ACAI_REQUESTS_PER_SECOND": "100000"}  # what is asked here comes faster than any person asks
        if request.param == "postgres":
            postgres: Postgres = request.getfixturevalue("postgres_server")
            variables["ACAI_DATABASE"] = postgres.create_database(request.getfixturevalue("postgres_template"))
        place.write("digits/1.txt", "one")
        server = place.start(**variables)
        assert place.acai("put", "digits", "/digits", "--as", "digits").returncode == 0
        yield server


def least(kind: inspect.Type, name: str = "") -> Any:
    """Return a value of a kind that is as small as may be."""
    if name in KNOWN:
        return KNOWN[name]
    make = SMALL.get(type(kind))
    return "a" if make is None else make(kind, name)


def smallest_struct(kind: inspect.StructType, name: str) -> dict[str, Any]:
    del name
    fields = {one.encode_name: least(one.type, one.encode_name) for one in kind.fields if one.required}
    return fields if kind.tag_field is None else fields | {kind.tag_field: kind.tag}


SMALL: dict[type[inspect.Type], Callable[[Any, str], Any]] = {
    inspect.StructType: smallest_struct,
    inspect.UnionType: lambda kind, name: least(kind.types[0], name),
    inspect.EnumType: lambda kind, _name: next(iter(kind.cls)).value,
    inspect.LiteralType: lambda kind, _name: kind.values[0],
    inspect.ListType: lambda kind, name: [least(kind.item_type, name)] if kind.min_length else [],
    inspect.DictType: lambda _kind, _name: {},
    inspect.IntType: lambda kind, _name: max(1, kind.ge or 0),
    inspect.FloatType: lambda kind, _name: max(1, kind.ge or 0),
    inspect.BoolType: lambda _kind, _name: False,
}
LARGE: dict[type[inspect.Type], list[Any]] = {
    inspect.IntType: [*NUMBERS],
    inspect.FloatType: [*FLOATS, *NUMBERS],
    inspect.DateTimeType: [*TIMES],
}


def extremes(kind: inspect.Type, depth: int = 5) -> Iterator[Any]:
    """Yield values of a kind with one number or time in each that no database holds. Some kinds contain themselves."""
    yield from LARGE.get(type(kind), [])
    if depth == 0:
        return
    if isinstance(kind, inspect.UnionType):
        yield from (value for one in kind.types for value in extremes(one, depth - 1))
    elif isinstance(kind, inspect.ListType):
        yield from ([value] for value in extremes(kind.item_type, depth - 1))
    elif isinstance(kind, inspect.DictType):
        yield from ({"a": value} for value in extremes(kind.value_type, depth - 1))
    elif isinstance(kind, inspect.StructType):
        whole = smallest_struct(kind, "")
        for field in kind.fields:
            yield from (whole | {field.encode_name: value} for value in extremes(field.type, depth - 1))


def paths(endpoint: Endpoint[Any]) -> Iterator[str]:
    """Yield addresses with what there is, and with numbers of all sizes in the place of the last name."""
    for number in (1, *NUMBERS):
        path = endpoint.path
        for name in [part.split("}")[0] for part in path.split("{")[1:]]:
            shapes = PARTS.get(name, ["{}"])
            path = path.replace(f"{{{name}}}", quote(shapes[number % len(shapes)].format(number), safe=""))
        yield path


ASKED = [one for one in ALL if one.access is not Access.NOTHING and one.name != "stream_events"]


def test_extremes_are_made_where_numbers_nest() -> None:
    made = [
        json.dumps(one) for endpoint in ASKED if endpoint.body for one in extremes(inspect.type_info(endpoint.body))
    ]
    assert len(made) > 1000
    assert any('"time": "0001' in one for one in made)


@pytest.mark.parametrize("endpoint", ASKED, ids=lambda endpoint: endpoint.name)
def test_no_number_and_no_time_of_a_request_is_a_fault(server: Server, endpoint: Endpoint[Any]) -> None:
    first = next(paths(endpoint))
    asked: list[tuple[str, Any]] = [(path, None) for path in paths(endpoint)]
    asked += [(f"{first}?{urlencode(one)}", None) for one in extremes(inspect.type_info(endpoint.query))]
    if endpoint.body is not None:
        kind = inspect.type_info(endpoint.body)
        asked = [(path, least(kind)) for path, _ in asked]
        asked += [(first, one) for one in extremes(kind)]
    for path, body in asked:
        answer = server.ask(endpoint.method, path, body)
        assert answer.status != 500, (path, json.dumps(body), answer.body)


def test_every_whole_number_of_a_request_has_bounds_that_databases_hold() -> None:
    free = {"parameters", "attributes", "values", "set", "expect"}  # what users measure may be of any size
    for endpoint in ASKED:
        for kind in (endpoint.query, endpoint.body):
            for name in unbounded(inspect.type_info(kind), set()) if kind else ():
                assert name in free, (endpoint.name, name)


def unbounded(kind: inspect.Type, seen: set[type]) -> Iterator[str]:
    """Yield the fields of a struct, and of those in it, that hold whole numbers without bounds."""
    inside = [kind, *getattr(kind, "types", ()), *filter(None, (getattr(kind, "item_type", None),))]
    for one in inside[1:]:
        yield from unbounded(one, seen)
    if isinstance(kind, inspect.StructType) and kind.cls not in seen:
        seen.add(kind.cls)
        for field in kind.fields:
            parts = [field.type, *getattr(field.type, "types", ())]
            parts += [
                part
                for one in parts
                for part in (getattr(one, "value_type", None), getattr(one, "item_type", None))
                if part
            ]
            parts += [part for one in parts for part in getattr(one, "types", ())]
            whole = [one for one in parts if isinstance(one, inspect.IntType)]
            if any(one.le is None or (one.ge is None and one.gt is None) or one.le >= 2**63 for one in whole):
                yield field.encode_name
            for part in parts:
                yield from unbounded(part, seen)


@pytest.mark.parametrize("time", TIMES)
@pytest.mark.parametrize("path", [f"{PROJECT}/costs?since=", f"{PROJECT}/costs?until=", f"{PROJECT}/audit?since="])
def test_a_time_outside_of_the_calendar_is_named(server: Server, path: str, time: str) -> None:
    answer = server.ask("GET", path + quote(time))
    assert answer.status in (200, 400), answer.body
    if time in OUTSIDE:
        assert (answer.status, answer.code) == (400, "bad_request")
        assert "in UTC" in answer.error["message"]


@pytest.mark.parametrize("start", [2**63 - 1, 2**63, 2**64])
def test_a_start_beyond_all_that_can_be_counted_is_named(server: Server, start: int) -> None:
    answer = server.ask("POST", f"{PROJECT}/compare", {"before": ["@digits:1"], "after": [], "start": start})
    assert (answer.status, answer.code) == (400, "bad_request")
    assert "start" in answer.error["message"]


@pytest.mark.parametrize("time", TIMES)
@pytest.mark.parametrize(
    "shape", ["created_at > {}", "created_at > '{}'", "created_at < today() - 99999999d", "size_bytes > 1e999"]
)
def test_no_time_in_a_query_is_a_fault(server: Server, time: str, shape: str) -> None:
    answer = server.ask("POST", f"{PROJECT}/find", {"kind": "file_set", "query": shape.format(time)})
    assert answer.status in (200, 400), answer.body
