"""A Python value as a file and back: JSON for plain data, npy for arrays, Arrow for frames, a pickle last.

What is read is what was written, of the same type; a form that would change a value is not used for it. Nothing is
imported that the value's own library does not need. Only pickles can run code when they are read.
"""

import json
import os
import sys
from typing import Any, BinaryIO, Callable, Dict, NamedTuple, Optional, Tuple, cast

from acai_jupyter.transfer import frames, pickles
from acai_jupyter.transfer.forms import CannotTravel, Lacking, TooMuch, Unfit

PICKLE = "pickle"
_DEEPEST = 100
_LONGEST_INT_BITS = 10_000
"""Python reads no longer ones from a text."""


class Written(NamedTuple):
    """What is known of a value that was written."""

    form: str
    size_bytes: int
    note: Dict[str, Any]
    """What its form needs to be read as it was."""


def write(value: Any, path: str, most_bytes: Optional[int] = None) -> Written:
    """Write a value to a new file; TooMuch when it would be larger, CannotTravel when nothing can hold it."""
    for form in _FORMS:
        try:
            with open(path, "wb") as file:
                out = _Counted(file, most_bytes)
                try:
                    note = form.write(value, cast("BinaryIO", out))
                except Exception:
                    if out.is_full:  # libraries put errors of their own in the place of ours
                        raise TooMuch from None
                    raise
            return Written(form.name, out.size_bytes, note)
        except Unfit:
            continue
    raise AssertionError("a pickle fits or says why it does not")


def read(path: str, form: str, note: Dict[str, Any]) -> Any:
    """Read what was written; Lacking when a library that is needed is not there."""
    chosen = next((one for one in _FORMS if one.name == form), None)
    if chosen is None:
        raise Lacking("ACAI that knows the form '%s'" % form)
    try:
        return chosen.read(path, note)
    except ImportError as error:
        raise Lacking(error.name or str(error)) from error


class _Counted:
    """A file that takes only so much."""

    def __init__(self, file: BinaryIO, most_bytes: Optional[int]) -> None:
        self._file = file
        self._most = sys.maxsize if most_bytes is None else most_bytes
        self.size_bytes = 0
        self.is_full = False
        self.closed = False

    def write(self, piece: Any) -> int:
        """Take a piece."""
        size = memoryview(piece).nbytes
        if self.size_bytes + size > self._most:
            self.is_full = True
            raise TooMuch
        self._file.write(piece)
        self.size_bytes += size
        return size

    def tell(self) -> int:
        """How much there is."""
        return self.size_bytes

    def flush(self) -> None:
        """Whoever opened the file closes it."""

    def close(self) -> None:
        """See `flush`."""

    def writable(self) -> bool:
        """It is."""
        return True

    def readable(self) -> bool:
        """It is not."""
        return False

    def seekable(self) -> bool:
        """It is not."""
        return False


class _Form(NamedTuple):
    name: str
    write: Callable[[Any, BinaryIO], Dict[str, Any]]
    read: Callable[[str, Dict[str, Any]], Any]


def _write_json(value: Any, out: BinaryIO) -> Dict[str, Any]:
    if not _is_plain(value, set(), 0):
        raise Unfit
    out.write(json.dumps(value).encode())
    return {}


def _read_json(path: str, note: Dict[str, Any]) -> Any:
    del note
    with open(path, "rb") as file:
        return json.loads(file.read().decode())


def _is_plain(value: Any, seen: "set[int]", depth: int) -> bool:
    """Whether JSON has exactly this: no subclass, no tuple, and nothing that stands in two places and is one."""
    kind = type(value)
    if kind is int:
        return bool(value.bit_length() <= _LONGEST_INT_BITS)
    if value is None or kind in (bool, float, str):
        return True
    if kind not in (list, dict) or id(value) in seen or depth > _DEEPEST:
        return False
    seen.add(id(value))
    if kind is list:
        return all(_is_plain(one, seen, depth + 1) for one in value)
    return all(type(key) is str and _is_plain(one, seen, depth + 1) for key, one in value.items())


def _write_npy(value: Any, out: BinaryIO) -> Dict[str, Any]:
    numpy: Any = sys.modules.get("numpy")
    is_scalar = numpy is not None and isinstance(value, _scalars(numpy))
    if numpy is None or not (type(value) is numpy.ndarray or is_scalar):
        raise Unfit
    array = numpy.asarray(value)
    dtype, written = array.dtype, numpy.lib.format
    is_odd = dtype.hasobject or dtype.metadata or dtype.isalignedstruct
    if is_odd or written.descr_to_dtype(written.dtype_to_descr(dtype)) != dtype:
        raise Unfit
    numpy.save(out, array, allow_pickle=False)
    return {"scalar": True} if is_scalar else {}


def _scalars(numpy: Any) -> Tuple[Any, ...]:
    return (numpy.number, numpy.bool_, numpy.datetime64, numpy.timedelta64)


def _read_npy(path: str, note: Dict[str, Any]) -> Any:
    import numpy as np

    array = np.load(path, allow_pickle=False)
    return array[()] if note.get("scalar") else array


_FORMS = (
    _Form("json", _write_json, _read_json),
    _Form("npy", _write_npy, _read_npy),
    _Form("arrow", frames.write, frames.read),
    _Form(PICKLE, pickles.write, pickles.read),
)

__all__ = ["PICKLE", "CannotTravel", "Lacking", "TooMuch", "Written", "file_name", "read", "write"]


def file_name(name: str, number: int) -> str:
    """Return what the file of a variable is called."""
    return name if name.isascii() and len(name) <= _DEEPEST else "variable-%d" % number


def size_of(path: str) -> int:
    """Return how large a file is."""
    return os.stat(path).st_size
