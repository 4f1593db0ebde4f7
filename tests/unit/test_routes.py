"""The table of routes: nothing in it is without the base handler, which asks who calls."""

from __future__ import annotations

import re

import pytest

from acai_jupyter.contract.endpoints import ALL, BASE
from acai_server.api.base import BaseHandler
from acai_server.api.routes import UnknownRouteHandler, pattern, routes


@pytest.mark.parametrize(("path", "handler"), routes(), ids=lambda value: value if isinstance(value, str) else "")
def test_every_route_is_one_of_the_contract_with_the_base_handler(path: str, handler: type[BaseHandler]) -> None:
    assert issubclass(handler, BaseHandler)
    known = {pattern(endpoint.path): endpoint for endpoint in ALL}
    assert path in known or handler is UnknownRouteHandler


def test_what_no_route_names_falls_to_the_handler_that_refuses() -> None:
    last, handler = routes()[-1]
    assert handler is UnknownRouteHandler
    assert all(re.fullmatch(last, path) for path in (BASE, f"{BASE}/", f"{BASE}/v2/anything"))
