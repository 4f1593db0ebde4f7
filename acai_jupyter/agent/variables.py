"""The variables of a cell on their way: those that it was sent before it begins, those to be received after its end.

They are files with a list of them, in the same form on both ways. Whoever submitted the cell does the same with them.
"""

import json
import os
import platform
import sys
from typing import Any, Dict, Iterable, List, NamedTuple, Optional

from acai_jupyter.transfer import values

LIST = "all-variables.json"
"""No variable can have this name."""
VERSION = 1


class Kept(NamedTuple):
    """A variable in a folder: where its value is, or in `problem` why it is not."""

    name: str
    file: str = ""
    form: str = ""
    size_bytes: int = 0
    type: str = ""
    note: Optional[Dict[str, Any]] = None
    problem: str = ""


def python() -> str:
    """Return the minor version, which pickles belong to."""
    return "%d.%d" % sys.version_info[:2]


def write_value(name: str, number: int, value: Any, folder: str, most_bytes: Optional[int] = None) -> Kept:
    """Write one value; raises what `transfer.values` does."""
    file = values.file_name(name, number)
    written = values.write(value, os.path.join(folder, file), most_bytes)
    return Kept(name, file, written.form, written.size_bytes, _type(value), written.note)


def write_list(folder: str, kept: Iterable[Kept]) -> None:
    """Write the list, when all values are there."""
    said = {"version": VERSION, "python": python(), "variables": [one._asdict() for one in kept]}
    with open(os.path.join(folder, LIST), "w", encoding="utf-8") as file:
        json.dump(said, file, sort_keys=True)


def read_list(folder: str) -> "List[Kept]":
    """Return what is in a folder; of a list that somebody else wrote only what can be used."""
    with open(os.path.join(folder, LIST), encoding="utf-8") as file:
        said = json.load(file)
    return [Kept(**{name: one[name] for name in Kept._fields if name in one}) for one in said["variables"]]


def read_value(folder: str, kept: Kept) -> Any:
    """Read one value; its file lies in the folder itself."""
    if os.path.basename(kept.file) != kept.file:
        raise ValueError("%r is not a file of the variables" % kept.file)
    return values.read(os.path.join(folder, kept.file), kept.form, kept.note or {})


def pickled_by(kept: Kept) -> str:
    """Return the minor version of Python that a pickle belongs to."""
    return str((kept.note or {}).get("python"))


def bring_in(folder: str, names: Dict[str, Any]) -> Optional[str]:
    """Give a cell what it was sent; returns in a sentence why that cannot be, or nothing."""
    for kept in read_list(folder):
        if kept.form == values.PICKLE and pickled_by(kept) != python():
            return (
                "%s was pickled by Python %s, and this job runs %s: only the same version can read it"
                % (kept.name, pickled_by(kept), platform.python_version())
            )  # fmt: skip
        try:
            names[kept.name] = read_value(folder, kept)
        except values.Lacking as error:
            return "%s cannot be read here: this job's Python has no %s" % (kept.name, error)
        except Exception as error:  # noqa: BLE001 (a pickle can do anything)
            return "%s cannot be read here: %s: %s" % (kept.name, type(error).__name__, error)
    return None


def leave(wanted: List[str], names: Dict[str, Any], folder: str) -> List[str]:
    """Write what is to be received; returns sentences about what cannot be."""
    os.makedirs(folder, exist_ok=True)
    kept = [_left(name, number, names, folder) for number, name in enumerate(wanted)]
    write_list(folder, kept)
    return ["%s %s" % (one.name, one.problem) for one in kept if one.problem]


def _left(name: str, number: int, names: Dict[str, Any], folder: str) -> Kept:
    if name not in names:
        return Kept(name, problem="is no variable of the cell when it ends")
    try:
        return write_value(name, number, names[name], folder)
    except values.CannotTravel as error:
        os.unlink(os.path.join(folder, values.file_name(name, number)))
        return Kept(name, problem=str(error))


def _type(value: Any) -> str:
    kind = type(value)
    module = "" if kind.__module__ in ("builtins", "__main__") else kind.__module__.partition(".")[0] + "."
    return module + kind.__qualname__
