"""The OpenAPI document, made of the contract. Nothing in it is written by hand."""

from __future__ import annotations

import re
from functools import cache
from typing import Any

import msgspec

from acai_jupyter.contract.endpoints import ALL, BASE, Access, Endpoint
from acai_jupyter.contract.events import ErrorBody
from acai_server import __version__

REF = "#/components/schemas/{name}"


@cache
def document() -> dict[str, Any]:
    """Return the whole document."""
    kinds = _kinds()
    schemas, components = msgspec.json.schema_components(kinds, ref_template=REF)
    by_kind = dict(zip(kinds, schemas, strict=True))
    paths: dict[str, dict[str, Any]] = {}
    for endpoint in ALL:
        paths.setdefault(endpoint.path, {})[endpoint.method.lower()] = _operation(endpoint, by_kind)
    return {
        "openapi": "3.1.0",
        "info": {
            "title": "ACAI for Jupyter",
            "version": __version__,
            "license": {"name": "BSD-3-Clause", "identifier": "BSD-3-Clause"},
        },
        "servers": [{"url": BASE}],
        "paths": paths,
        "components": {
            "schemas": _of_queries() | components,
            "securitySchemes": {"token": {"type": "http", "scheme": "bearer"}},
        },
    }


def _of_queries() -> dict[str, Any]:
    """The words that queries choose from."""
    found: dict[str, Any] = {}
    for endpoint in ALL:
        _, components = msgspec.json.schema_components([endpoint.query], ref_template=REF)
        found |= {name: schema for name, schema in components.items() if name != endpoint.query.__name__}
    return found


def _kinds() -> list[Any]:
    bodies = [endpoint.body for endpoint in ALL if endpoint.body is not None]
    return list(dict.fromkeys([*(endpoint.response for endpoint in ALL), *bodies, ErrorBody]))


def _operation(endpoint: Endpoint[Any], schemas: dict[Any, Any]) -> dict[str, Any]:
    operation: dict[str, Any] = {
        "operationId": endpoint.name,
        "summary": endpoint.summary,
        "security": [] if endpoint.access in (Access.NOTHING, Access.SIGNATURE) else [{"token": []}],
        "parameters": [*_path_parameters(endpoint), *_query_parameters(endpoint)],
        "responses": {
            str(endpoint.status): _answer(endpoint, schemas),
            "default": _content("An error.", schemas[ErrorBody]),
        },
    }
    if endpoint.body is not None:
        operation["requestBody"] = {
            "required": True,
            "content": {"application/json": {"schema": schemas[endpoint.body]}},
        }
    return operation


def _answer(endpoint: Endpoint[Any], schemas: dict[Any, Any]) -> dict[str, Any]:
    if len(endpoint.media_types) == 1 and "application/json" in endpoint.media_types:
        return _content("As asked.", schemas[endpoint.response])
    return {"description": "As asked.", "content": {media_type: {} for media_type in endpoint.media_types}}


def _content(description: str, schema: Any) -> dict[str, Any]:
    return {"description": description, "content": {"application/json": {"schema": schema}}}


def _path_parameters(endpoint: Endpoint[Any]) -> list[dict[str, Any]]:
    names = re.findall(r"\{(\w+)\}", endpoint.path)
    return [{"name": name, "in": "path", "required": True, "schema": {"type": "string"}} for name in names]


def _query_parameters(endpoint: Endpoint[Any]) -> list[dict[str, Any]]:
    _, components = msgspec.json.schema_components([endpoint.query], ref_template=REF)
    schema = components[endpoint.query.__name__]
    required = schema.get("required", [])
    return [
        {"name": name, "in": "query", "required": name in required, "schema": kind}
        for name, kind in schema.get("properties", {}).items()
    ]
