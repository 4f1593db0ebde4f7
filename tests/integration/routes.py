"""The routes of the API with something in their places, for tests that go through all of them."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from acai_jupyter.contract.endpoints import Endpoint

PARAMETERS = {
    "project": "default",
    "upload": "0" * 32,
    "key": "p1/objects/ab/abcdef",
    "ref": "digits:1",
    "alias": "paper",
    "collection": "0" * 32,
    "job": "1",
    "sweep": "sweep-1",
    "user": "nobody",
    "token": "none",
    "group": "clinic",
}


def route(endpoint: Endpoint[Any], **parameters: str) -> str:
    return endpoint.path.format(**PARAMETERS | parameters)
