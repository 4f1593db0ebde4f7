"""Decode into typed values, from any thread.

msgspec works out the fields of a type when it is first used. A second thread that meets the type at that moment reads a
null pointer, and the process ends (msgspec 0.22). So a type is worked out under a lock before it is used: everything
that decodes into a type does it here, which the linter checks.
"""

from __future__ import annotations

from threading import RLock
from typing import TYPE_CHECKING, Any, TypeVar, overload

import msgspec

if TYPE_CHECKING:
    from typing_extensions import Buffer

JsonDecoder = msgspec.json.Decoder
T = TypeVar("T")
_lock = RLock()
_ready: set[Any] = set()


def plain_json(data: Buffer | str) -> Any:
    """Read JSON as dictionaries, lists and so on."""
    return msgspec.json.decode(data)


def from_json(data: Buffer | str, kind: type[T]) -> T:
    """Read JSON as a type of ours."""
    _prepare(kind)
    return msgspec.json.decode(data, type=kind)


def from_msgpack(data: Buffer, kind: type[T]) -> T:
    """Read MessagePack as a type of ours."""
    _prepare(kind)
    return msgspec.msgpack.decode(data, type=kind)


@overload
def convert(value: Any, kind: type[T], *, strict: bool = True) -> T: ...
@overload
def convert(value: Any, kind: Any, *, strict: bool = True) -> Any: ...
def convert(value: Any, kind: Any, *, strict: bool = True) -> Any:
    """Check plain values against a type; unless strict, texts are read as numbers and so on, as in a query."""
    _prepare(kind)
    return msgspec.convert(value, kind, strict=strict)


@overload
def json_decoder(kind: type[T]) -> JsonDecoder[T]: ...
@overload
def json_decoder(kind: Any) -> JsonDecoder[Any]: ...
def json_decoder(kind: Any) -> JsonDecoder[Any]:
    """Make what reads many pieces of JSON as one type."""
    with _lock:
        return JsonDecoder(kind)


def msgpack_decoder(kind: type[T]) -> msgspec.msgpack.Decoder[T]:
    """Make what reads many pieces of MessagePack as one type."""
    with _lock:
        return msgspec.msgpack.Decoder(kind)


def _prepare(kind: Any) -> None:
    if kind not in _ready:
        json_decoder(kind)
        _ready.add(kind)
