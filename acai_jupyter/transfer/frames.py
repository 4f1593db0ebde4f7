"""Frames in Arrow's file format: of pandas by pyarrow and in batches, of polars by itself, and tables of pyarrow.

Only what comes back exactly as it was is written so.
"""

import sys
from typing import Any, BinaryIO, Callable, Dict, List, Tuple

from acai_jupyter.transfer.forms import TooMuch, Unfit

BATCH_BYTES = 32 * 1024 * 1024
_KINDS = (("pandas", "DataFrame"), ("pandas", "Series"), ("polars", "DataFrame"), ("polars", "Series"))
_TABLE = ("pyarrow", "Table")


def write(value: Any, out: BinaryIO) -> Dict[str, Any]:
    """Write a frame, a series or a table; what is none, or cannot be held exactly, is unfit."""
    kind = next((kind for kind in (*_KINDS, _TABLE) if _is(value, *kind)), None)
    if kind is None:
        raise Unfit
    note = _WRITERS[kind](value, out)
    return {"kind": ".".join(kind), **note}


def read(path: str, note: Dict[str, Any]) -> Any:
    """Read it."""
    library, _, name = note["kind"].partition(".")
    return _READERS[(library, name)](path, note)


def _is(value: Any, library: str, name: str) -> bool:
    """Whether it is of exactly this class; a library that is not loaded has none."""
    module = sys.modules.get(library)
    return module is not None and type(value) is getattr(module, name, None)


# -- pandas


def _write_pandas(frame: Any, out: BinaryIO) -> Dict[str, Any]:
    try:
        import pyarrow as pa
    except ImportError:
        raise Unfit from None
    try:
        note = _note(frame)
        named = _with_names(frame, note)
        schema = pa.Schema.from_pandas(named)
        _check(frame, _first_row(named.iloc[:1], schema, pa), note)
        with pa.ipc.new_file(out, schema) as writer:
            for start, stop in _batches(frame):
                writer.write_batch(pa.RecordBatch.from_pandas(named.iloc[start:stop], schema=schema))
    except TooMuch:
        raise
    except (pa.ArrowException, KeyError, TypeError, ValueError, OverflowError) as error:
        raise Unfit from error
    return note


def _read_pandas(path: str, note: Dict[str, Any]) -> Any:
    import pandas as pd  # noqa: F401 (said to lack before pyarrow looks for it)
    import pyarrow as pa

    with pa.memory_map(path) as file:
        return _as_it_was(pa.ipc.open_file(file).read_all().to_pandas(), note)


def _write_pandas_series(series: Any, out: BinaryIO) -> Dict[str, Any]:
    if not (series.name is None or type(series.name) is str):
        raise Unfit
    return {**_write_pandas(series.to_frame(name="0"), out), "name": series.name}


def _read_pandas_series(path: str, note: Dict[str, Any]) -> Any:
    series = _read_pandas(path, note).iloc[:, 0]
    series.name = note["name"]
    return series


def _note(frame: Any) -> Dict[str, Any]:
    """What Arrow does not say: columns of any object that hold only texts, and the rhythm of an index of times."""
    if frame.attrs or not frame.flags.allows_duplicate_labels or not frame.shape[1]:
        raise Unfit
    objects = [[at, _missing(frame.iloc[:, at])] for at in range(frame.shape[1]) if frame.dtypes.iloc[at] == "object"]
    note: Dict[str, Any] = {"objects": objects} if objects else {}
    if frame.index.dtype == "object" and not all(type(one) is str for one in frame.index):
        raise Unfit
    columns = frame.columns
    if type(columns).__name__ == "RangeIndex":
        note["columns"] = [columns.start, columns.stop, columns.step]
    elif not all(type(one) is str for one in columns):
        raise Unfit
    freq = getattr(frame.index, "freqstr", None)
    return {**note, "freq": freq} if freq and hasattr(frame.index, "tz") else note


def _with_names(frame: Any, note: Dict[str, Any]) -> Any:
    """Arrow's columns have texts for names."""
    if "columns" not in note:
        return frame
    named = frame.copy(deep=False)
    named.columns = [str(at) for at in range(frame.shape[1])]
    return named


def _missing(column: Any) -> str:
    """Return as what a column of texts has what it lacks: 'none' or 'nan'."""
    kinds = {type(one) for one in column.array[column.isna().to_numpy()]}
    others = {type(one) for one in column.array[column.notna().to_numpy()]}
    if others - {str} or (kinds - {type(None)} and kinds - {float}):
        raise Unfit
    return "nan" if kinds == {float} else "none"


def _as_it_was(frame: Any, note: Dict[str, Any]) -> Any:
    for at, missing in note.get("objects", []):
        column = frame.iloc[:, at].astype(object)
        frame.isetitem(at, column.where(column.notna(), None if missing == "none" else float("nan")))
    if "columns" in note:
        import pandas as pd

        frame.columns = pd.RangeIndex(*note["columns"])
    if note.get("freq"):
        frame.index.freq = note["freq"]
    return frame


def _first_row(frame: Any, schema: Any, pa: Any) -> Any:
    """Return it as it will be written, but for what is said of an index that is counted."""
    metadata = pa.Schema.from_pandas(frame).metadata
    return pa.RecordBatch.from_pandas(frame, schema=schema).replace_schema_metadata(metadata)


def _check(frame: Any, first: Any, note: Dict[str, Any]) -> None:
    """See that the first row comes back as it was: columns, types and index."""
    was = frame.iloc[:1]
    now = _as_it_was(first.to_pandas(), {key: value for key, value in note.items() if key != "freq"})
    same_columns = type(was.columns) is type(now.columns) and was.columns.equals(now.columns)
    same_columns = same_columns and list(was.columns.names) == list(now.columns.names)
    same_columns = same_columns and was.columns.dtype == now.columns.dtype
    if not same_columns or list(was.dtypes) != list(now.dtypes) or not _is_same_index(was.index, now.index):
        raise Unfit


def _is_same_index(was: Any, now: Any) -> bool:
    if list(was.names) != list(now.names) or was.nlevels != now.nlevels:
        return False
    if was.nlevels > 1:
        return [level.dtype for level in was.levels] == [level.dtype for level in now.levels]
    return bool(was.dtype == now.dtype)


def _batches(frame: Any) -> List[Tuple[int, int]]:
    rows = len(frame)
    each = max(1, BATCH_BYTES * rows // max(1, int(frame.memory_usage(deep=False).sum())))
    return [(start, min(start + each, rows)) for start in range(0, rows, each)]


# -- polars


def _write_polars(frame: Any, out: BinaryIO) -> Dict[str, Any]:
    polars = sys.modules["polars"]
    if any("Object" in str(dtype) for dtype in frame.dtypes):
        raise Unfit
    try:
        frame.write_ipc(out)
    except (polars.exceptions.PolarsError, TypeError, ValueError) as error:
        raise Unfit from error
    return {}


def _read_polars(path: str, note: Dict[str, Any]) -> Any:
    del note
    import polars as pl

    return pl.read_ipc(path)


def _write_polars_series(series: Any, out: BinaryIO) -> Dict[str, Any]:
    return {**_write_polars(series.to_frame(), out), "name": series.name}


def _read_polars_series(path: str, note: Dict[str, Any]) -> Any:
    return _read_polars(path, note).to_series().alias(note["name"])


# -- pyarrow


def _write_table(table: Any, out: BinaryIO) -> Dict[str, Any]:
    import pyarrow as pa

    with pa.ipc.new_file(out, table.schema) as writer:
        writer.write_table(table)
    return {}


def _read_table(path: str, note: Dict[str, Any]) -> Any:
    del note
    import pyarrow as pa

    with pa.memory_map(path) as file:
        return pa.ipc.open_file(file).read_all()


_WRITERS: Dict[Tuple[str, str], Callable[[Any, BinaryIO], Dict[str, Any]]] = {
    ("pandas", "DataFrame"): _write_pandas,
    ("pandas", "Series"): _write_pandas_series,
    ("polars", "DataFrame"): _write_polars,
    ("polars", "Series"): _write_polars_series,
    _TABLE: _write_table,
}
_READERS: Dict[Tuple[str, str], Callable[[str, Dict[str, Any]], Any]] = {
    ("pandas", "DataFrame"): _read_pandas,
    ("pandas", "Series"): _read_pandas_series,
    ("polars", "DataFrame"): _read_polars,
    ("polars", "Series"): _read_polars_series,
    _TABLE: _read_table,
}
