"""Values as files and back: exactly what they were, or refused by what they hold."""

from __future__ import annotations

import ctypes
import math
import pickle
import socket
import sqlite3
import subprocess
import sys
import threading
import tracemalloc
from contextlib import closing
from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from acai_jupyter.agent import variables
from acai_jupyter.client.http import Client
from acai_jupyter.transfer import values
from acai_jupyter.transfer.values import CannotTravel, Lacking, TooMuch

if TYPE_CHECKING:
    from pathlib import Path

PLAIN = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(max_size=5), inner, max_size=4),
    max_leaves=20,
)
OTHER = st.recursive(
    st.none() | st.integers() | st.binary() | st.complex_numbers(allow_nan=False) | st.dates() | st.text(),
    lambda inner: st.tuples(inner, inner) | st.frozensets(st.integers()) | st.dictionaries(st.integers(), inner),
    max_leaves=10,
)
DTYPES = st.sampled_from(["?", "i1", "<i4", ">i8", "u2", "f2", "f8", ">f4", "c16", "M8[ns]", "m8[s]", "U3", "S4"])
COLUMNS = st.sampled_from(
    ["int64", "Int32", "float32", "bool", "boolean", "str", "object", "category", "datetime64[ns]"]
)


def travelled(value: Any, folder: Path) -> tuple[str, Any]:
    path = str(folder / "value")
    written = values.write(value, path)
    assert values.size_of(path) == written.size_bytes
    return written.form, values.read(path, written.form, written.note)


def same(one: Any, other: Any) -> bool:
    """Whether two values are equal, of the same types, and NaN where the other is."""
    if type(one) is not type(other):
        return False
    if isinstance(one, float):
        return (math.isnan(one) and math.isnan(other)) or (
            one == other and math.copysign(1, one) == math.copysign(1, other)
        )
    if isinstance(one, (list, tuple)):
        return len(one) == len(other) and all(map(same, one, other))
    if isinstance(one, dict):
        return list(one) == list(other) and all(same(one[key], other[key]) for key in one)
    return bool(one == other)


@given(value=PLAIN)
def test_plain_data_is_json_and_comes_back_as_it_was(tmp_path_factory: pytest.TempPathFactory, value: Any) -> None:
    form, back = travelled(value, tmp_path_factory.mktemp("plain"))
    assert (form, same(value, back)) == ("json", True)


@given(value=OTHER)
def test_anything_else_comes_back_as_it_was(tmp_path_factory: pytest.TempPathFactory, value: Any) -> None:
    assert same(value, travelled(value, tmp_path_factory.mktemp("other"))[1])


@given(data=st.data(), dtype=DTYPES, shape=st.lists(st.integers(0, 3), max_size=3), is_fortran=st.booleans())
def test_arrays_are_npy_and_come_back_as_they_were(
    tmp_path_factory: pytest.TempPathFactory, data: st.DataObject, dtype: str, shape: list[int], *, is_fortran: bool
) -> None:
    kind = np.dtype(dtype)
    count = math.prod(shape)
    body = (
        data.draw(st.binary(min_size=count * kind.itemsize, max_size=count * kind.itemsize))
        if kind.kind != "U"
        else b""
    )
    array = np.frombuffer(body, kind).reshape(shape) if body else np.zeros(shape, kind)
    array = np.asarray(array, order="F" if is_fortran else "C")
    form, back = travelled(array, tmp_path_factory.mktemp("arrays"))
    assert (form, back.dtype, back.shape, back.tobytes()) == ("npy", array.dtype, array.shape, array.tobytes())
    assert back.flags.writeable


@given(data=st.data(), kinds=st.lists(COLUMNS, min_size=1, max_size=4), rows=st.integers(1, 5))
def test_frames_are_arrow_and_come_back_as_they_were(
    tmp_path_factory: pytest.TempPathFactory, data: st.DataObject, kinds: list[str], rows: int
) -> None:
    columns = {f"c{at}": column(data, kind, rows) for at, kind in enumerate(kinds)}
    frame = pd.DataFrame(columns)
    index = data.draw(st.sampled_from(["range", "texts", "two"]))
    if index == "texts":
        frame.index = pd.Index([f"row {n}" for n in range(rows)], name="name", dtype="str")
    if index == "two" and len(kinds) > 1:
        frame = frame.assign(k=range(rows)).set_index("k")
    form, back = travelled(frame, tmp_path_factory.mktemp("frames"))
    assert form == "arrow"
    pd.testing.assert_frame_equal(back, frame)
    pd.testing.assert_series_equal(travelled(frame["c0"], tmp_path_factory.mktemp("series"))[1], frame["c0"])


def column(data: st.DataObject, kind: str, rows: int) -> pd.Series:
    numbers = data.draw(st.lists(st.integers(0, 100), min_size=rows, max_size=rows))
    if kind in ("str", "object", "category"):
        texts: list[Any] = [f"t{n % 3}" for n in numbers]
        lacking = data.draw(st.lists(st.booleans(), min_size=rows, max_size=rows))
        texts = [None if lacks and kind == "object" else text for text, lacks in zip(texts, lacking, strict=True)]
        return pd.Series(texts, dtype=kind)
    return pd.Series([n % 2 for n in numbers], dtype="int64").astype(kind)


@pytest.mark.parametrize("kind", ["int64", "str", "object", "category"])
def test_a_frame_without_rows_comes_back_as_it_was(tmp_path: Path, kind: str) -> None:
    frame = pd.DataFrame({"a": pd.Series([], dtype=kind)})
    pd.testing.assert_frame_equal(travelled(frame, tmp_path)[1], frame)


@pytest.mark.parametrize(
    "frame",
    [
        pd.DataFrame({"a": [{}, [1]]}),
        pd.DataFrame([[1, 2]], columns=["same", "same"]),
        pd.DataFrame({("a", "b"): [1]}),
        pd.DataFrame({1: [1.5]}),
        pd.DataFrame(index=range(3)),
        pd.DataFrame(),
        pd.DataFrame({"a": ["x", 1]}),
        pd.DataFrame({"a": pd.Series([None, float("nan"), "x"], dtype="object")}),
        pd.Series([1], name=3),
    ],
    ids=str,
)
def test_a_frame_that_arrow_would_change_is_a_pickle(tmp_path: Path, frame: Any) -> None:
    form, back = travelled(frame, tmp_path)
    assert form == "pickle"
    assert back.equals(frame)


def test_attributes_and_rhythms_of_frames_stay(tmp_path: Path) -> None:
    daily = pd.DataFrame({"a": [1, 2]}, index=pd.date_range("2026-01-01", periods=2, freq="D", tz="Europe/Berlin"))
    form, back = travelled(daily, tmp_path)
    pd.testing.assert_frame_equal(back, daily, check_freq=True)
    assert form == "arrow"
    described = pd.DataFrame({"a": [1]})
    described.attrs = {"unit": "m"}
    assert travelled(described, tmp_path)[1].attrs == {"unit": "m"}


def test_polars_and_arrow_itself(tmp_path: Path) -> None:
    frame = pl.DataFrame({"a": [1, None], "b": ["x", "y"], "c": [[1], [2, 3]], "d": [{"k": 1}, {"k": 2}]})
    form, back = travelled(frame, tmp_path)
    assert (form, back.equals(frame), back.schema) == ("arrow", True, frame.schema)
    series = travelled(frame["b"], tmp_path)[1]
    assert (series.name, series.to_list()) == ("b", ["x", "y"])
    table = pa.table({"a": [1, 2], "b": ["x", None]})
    assert travelled(table, tmp_path)[1].equals(table)


def test_numbers_of_numpy_stay_such(tmp_path: Path) -> None:
    for number in (np.float32(0.1), np.int8(-3), np.bool_(1), np.datetime64("2026-01-01")):
        form, back = travelled(number, tmp_path)
        assert (form, type(back), back) == ("npy", type(number), number)


def test_what_stands_in_two_places_and_is_one_stays_one(tmp_path: Path) -> None:
    inner: list[int] = []
    form, back = travelled([inner, inner], tmp_path)
    assert (form, back[0] is back[1]) == ("pickle", True)
    ring: list[Any] = []
    ring.append(ring)
    back = travelled(ring, tmp_path)[1]
    assert back[0] is back


@pytest.mark.parametrize("is_inside", [False, True])
def test_what_only_exists_here_is_refused_by_what_it_is(tmp_path: Path, *, is_inside: bool) -> None:
    class Holder:
        def __init__(self, value: Any) -> None:
            self.value = value

    with (
        (tmp_path / "log").open("w") as file,
        socket.socket() as connection,
        closing(sqlite3.connect(":memory:")) as database,
        subprocess.Popen(["sleep", "60"]) as program,
    ):
        bound = {
            f"an open file ({tmp_path / 'log'})": file,
            "a socket": connection,
            "a lock": threading.Lock(),
            "a view of memory": memoryview(b"x"),
            "a thread": threading.current_thread(),
            "a generator": (n for n in range(3)),
            "a database connection": database,
            "a running program": program,
            "the connection to ACAI": object.__new__(Client),
        }
        for what, value in bound.items():
            with pytest.raises(CannotTravel) as refused:
                values.write([Holder((value,))] if is_inside else value, str(tmp_path / "value"))
            assert str(refused.value) == f"{'holds' if is_inside else 'is'} {what}"
        program.kill()


def test_a_module_and_what_pickle_itself_refuses_are_told_with_why(tmp_path: Path) -> None:
    with pytest.raises(CannotTravel, match="is a module: import it in the cell"):
        values.write(math, str(tmp_path / "value"))
    with pytest.raises(CannotTravel, match="cannot be pickled: ctypes"):
        values.write((ctypes.c_char_p(b"x"),), str(tmp_path / "value"))


@pytest.mark.parametrize(
    "value",
    ["x" * 2000, np.zeros(300), pd.DataFrame({"a": range(300)}), pl.DataFrame({"a": range(300)}), (b"x" * 2000,)],
    ids=["json", "npy", "pandas", "polars", "pickle"],
)
def test_more_than_was_allowed_is_not_written(tmp_path: Path, value: Any) -> None:
    with pytest.raises(TooMuch):
        values.write(value, str(tmp_path / "value"), 1000)
    assert values.size_of(str(tmp_path / "value")) <= 1000


def test_what_is_lacking_is_named(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    frame, path = pd.DataFrame(np.zeros((2, 2))), str(tmp_path / "value")
    written = values.write(frame, path)
    monkeypatch.setitem(sys.modules, "pyarrow", None)
    with pytest.raises(Lacking, match="pyarrow"):
        values.read(path, written.form, written.note)
    assert travelled(frame, tmp_path)[0] == "pickle"  # what is not there is not used
    with pytest.raises(Lacking, match="ACAI that knows the form 'parquet'"):
        values.read(path, "parquet", {})


def test_without_cloudpickle_what_a_cell_defines_is_refused_by_name(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(sys.modules, "cloudpickle", None)
    assert travelled((1, 2), tmp_path) == ("pickle", (1, 2))

    def fit() -> None: ...

    fit.__module__ = "__main__"
    with pytest.raises(CannotTravel, match=r"needs cloudpickle, which is not installed: it holds .*fit"):
        values.write([fit], str(tmp_path / "value"))


def test_a_million_rows_are_written_in_batches(tmp_path: Path) -> None:
    rows = 1_000_000
    frame = pd.DataFrame({f"c{at}": np.arange(rows, dtype=float) for at in range(20)})  # 160 MB
    tracemalloc.start()
    before = pa.total_allocated_bytes()
    written = values.write(frame, str(tmp_path / "value"))
    _, most = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert written.size_bytes > 150 * 1024**2
    assert most < 64 * 1024**2
    assert pa.default_memory_pool().max_memory() - before < 128 * 1024**2
    back = values.read(str(tmp_path / "value"), written.form, written.note)
    assert back["c19"].iloc[-1] == rows - 1
    back.loc[0, "c0"] = 5.0


@settings(max_examples=50)
@given(name=st.text(max_size=200), number=st.integers(0, 999))
def test_every_variable_has_a_file_of_its_own(name: str, number: int) -> None:
    file = values.file_name(name, number) if name.isidentifier() else "x"
    assert "/" not in file
    assert len(file.encode()) <= 255
    assert file != variables.LIST


@pytest.mark.parametrize("file", ["../secret", "/etc/passwd", "a/b"])
def test_a_list_cannot_name_a_file_elsewhere(tmp_path: Path, file: str) -> None:
    with pytest.raises(ValueError, match="is not a file of the variables"):
        variables.read_value(str(tmp_path), variables.Kept("x", file, "json"))


def test_a_pickle_of_another_python_is_not_given_to_a_cell(tmp_path: Path) -> None:
    kept = variables.write_value("model", 0, (1,), str(tmp_path))
    variables.write_list(str(tmp_path), [kept._replace(note={"python": "2.7"})])
    problem = variables.bring_in(str(tmp_path), {})
    assert problem is not None
    assert problem.startswith("model was pickled by Python 2.7, and this job runs ")


def test_a_pickle_that_cannot_be_read_is_told(tmp_path: Path) -> None:
    (tmp_path / "model").write_bytes(pickle.dumps(1)[:-1])
    kept = variables.Kept("model", "model", "pickle", 1, "", {"python": variables.python()})
    variables.write_list(str(tmp_path), [kept])
    assert "model cannot be read here: " in str(variables.bring_in(str(tmp_path), {}))
