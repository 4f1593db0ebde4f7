"""Numbers that JSON has none for. Written as null they would say that there is no bound, or no end."""

from __future__ import annotations

from math import isfinite
from typing import Any

import msgspec

from acai_jupyter.contract.errors import BadRequest
from acai_jupyter.contract.uploads import StageFiles


def encoded(body: msgspec.Struct) -> bytes:
    """Return a request as JSON; one with NaN or infinity in it is refused."""
    data = msgspec.json.encode(body)
    if b"null" in data and not isinstance(body, StageFiles):  # thousands of files, in which there are no such numbers
        _check("it", body)
    return data


def _check(name: str, value: Any) -> None:
    if isinstance(value, float) and not isfinite(value):
        raise BadRequest(f"{name} is {value}, which is no number that can be asked for.")
    if isinstance(value, msgspec.Struct):
        for field in value.__struct_fields__:
            _check(field, getattr(value, field))
    elif isinstance(value, dict):
        for key, one in value.items():
            _check(str(key), one)
    elif isinstance(value, list | tuple):
        for one in value:
            _check(name, one)
