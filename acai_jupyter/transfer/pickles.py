"""Pickles of what has no other form: by cloudpickle where it is there, so that functions and classes of a cell travel.

What only exists in this process is refused by what it is, however deep it lies, also where a library would pickle
something else in its place.
"""

import io
import pickle
import socket
import sqlite3
import subprocess
import sys
import threading
import types
from typing import Any, BinaryIO, Dict

from acai_jupyter.transfer.forms import CannotTravel, TooMuch

PROTOCOL = 5
_OWN = "cloudpickle"
_HERE = "__main__"
_KINDS: Dict[str, Any] = {
    "a lock": (type(threading.Lock()), type(threading.RLock()), threading.Condition, threading.Event),
    "a thread": threading.Thread,
    "a socket": socket.socket,
    "a generator": (types.GeneratorType, types.AsyncGeneratorType),
    "a coroutine": types.CoroutineType,
    "a frame of a running program": (types.FrameType, types.TracebackType),
    "a running program": subprocess.Popen,
    "a view of memory": memoryview,
    "a database connection": (sqlite3.Connection, sqlite3.Cursor),
}
_PLACES = {
    "acai_jupyter.client.http": "the connection to ACAI",
    "IPython.core.interactiveshell": "the notebook's own kernel",
    "ipykernel": "the notebook's own kernel",
    "jupyter_client": "the connection to a kernel",
    "zmq": "a socket",
}
"""Modules whose things are bound to this process, and what they are."""


def write(value: Any, out: BinaryIO) -> Dict[str, Any]:
    """Pickle a value, or refuse it by what it holds."""
    if isinstance(value, types.ModuleType):
        raise CannotTravel("is a module: import it in the cell")
    what = what_is_bound(value)
    if what:
        raise CannotTravel("is %s" % what)
    try:
        _pickler()(out, protocol=PROTOCOL).dump(value)
    except (CannotTravel, TooMuch):
        raise
    except RecursionError:
        raise CannotTravel("is nested too deeply") from None
    except Exception as error:
        raise CannotTravel("cannot be pickled: %s" % error) from error
    return {"python": "%d.%d" % sys.version_info[:2]}


def read(path: str, note: Dict[str, Any]) -> Any:
    """Load a pickle, which can do anything: whether it may is for the caller to say."""
    del note
    with open(path, "rb") as file:
        return pickle.load(file)  # noqa: S301 (see above)


def what_is_bound(value: Any) -> str:
    """Return what a value is that only exists in this process; empty for anything else."""
    if isinstance(value, io.IOBase) and not isinstance(value, (io.BytesIO, io.StringIO)):
        name = getattr(value, "name", None)
        return "an open file (%s)" % name if isinstance(name, str) else "an open file"
    for what, kinds in _KINDS.items():
        if isinstance(value, kinds):
            return what
    kind = type(value)
    for module, what in _PLACES.items():
        if (kind.__module__ or "") == module or (kind.__module__ or "").startswith(module + "."):
            return what
    speaks = all(callable(getattr(kind, name, None)) for name in ("commit", "rollback"))
    return "a database connection" if speaks and not isinstance(value, type) else ""


def _pickler() -> Any:
    try:
        import cloudpickle
    except ImportError:
        return _Plain
    base: Any = cloudpickle.Pickler

    class Cloud(base):  # type: ignore[misc]  # its class is known only here
        """Cloudpickle, which would send the contents of an open file in its place."""

        def reducer_override(self, value: Any) -> Any:
            _check(value)
            return super().reducer_override(value)

    return Cloud


class _Plain(pickle.Pickler):
    """What there is without cloudpickle: it cannot send what only the program itself defines."""

    def reducer_override(self, value: Any) -> Any:
        """Refuse what would not be found again."""
        _check(value)
        if isinstance(value, (type, types.FunctionType)) and value.__module__ == _HERE:
            raise CannotTravel("needs %s, which is not installed: it holds %s" % (_OWN, value.__qualname__))
        return NotImplemented


def _check(value: Any) -> None:
    what = what_is_bound(value)
    if what:
        raise CannotTravel("holds %s" % what)
