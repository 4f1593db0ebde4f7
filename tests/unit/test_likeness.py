"""How alike two contents are: what is the same, what is as good as the same, and how the rest differs."""

from __future__ import annotations

import io
import json
import math
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from acai_jupyter.commands.likeness import compare, is_near

JSON = st.recursive(
    st.none() | st.booleans() | st.integers(-(10**9), 10**9) | st.floats(allow_nan=False) | st.text(max_size=8),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(max_size=4), inner, max_size=4),
    max_leaves=12,
)


def _array(*values: Any, **named: Any) -> bytes:
    out = io.BytesIO()
    if named:
        np.savez(out, **named)
    else:
        np.save(out, np.array(values))
    return out.getvalue()


@pytest.mark.parametrize(
    ("path", "before", "after", "how"),
    [
        ("m.json", b'{"a": 1, "b": [2]}', b'{"b": [2.0000000001], "a": 1}', None),
        ("m.json", b'{"a": {"b": [1, 2]}}', b'{"a": {"b": [1, 3]}}', "a.b[1]: 2 → 3"),
        ("m.json", b'{"a": 1}', b"{}", "a: 1 → nothing"),
        ("m.json", b"[1]", b"[1, 2]", "[1]: nothing → 2"),
        ("m.json", b"1", b"true", "all of it: 1 → true"),
        ("m.json", b"{broken", b"{broken too", 'line 1: "{broken" → "{broken too"'),
        ("t.csv", b"a,b\n0.1,x\n", b"a,b\r\n0.10000000001,x\r\n", None),
        ("t.csv", b"a,b\n0.1,x\n", b"a,b\n0.2,x\n", 'line 2: "0.1,x" → "0.2,x"'),
        ("t.csv", b"a\n", b"a\n1\n", 'line 2: nothing → "1"'),
        ("t.txt", b"v1.2.3", b"v1.2.4", 'line 1: "v1.2.3" → "v1.2.4"'),
        ("a.npy", _array(1.0, 2.0), _array(1.0, 2.0 + 1e-9), None),
        ("a.npy", _array(1.0, 2.0), _array(1.0, 2.5), "numbers differ by up to 0.5"),
        ("a.npy", _array(1.0, 2.0), _array(1.0), "float64(2,) → float64(1,)"),
        ("a.npy", _array(math.nan), _array(math.nan), None),
        ("a.npy", _array("a", "b"), _array("a", "c"), "1 values differ"),
        ("a.npz", _array(x=np.ones(2)), _array(x=np.zeros(2)), "x: numbers differ by up to 1"),
        ("a.npz", _array(x=np.ones(2)), _array(y=np.ones(2)), "arrays x → y"),
        ("m.bin", b"\xff\x00ab", b"\xff\x00ac", "other bytes from 3 on (4 B → 4 B)"),
        ("m.bin", b"\xff\x00ab", b"\xff\x00abc", "other bytes from 4 on (4 B → 5 B)"),
    ],
)
def test_each_kind_is_compared_in_its_own_way(path: str, before: bytes, after: bytes, how: str | None) -> None:
    found = compare(path, before, after)
    assert (found.is_equal, found.how) == (how is None, how or "")


def test_what_is_pickled_in_an_array_is_not_opened() -> None:
    out = io.BytesIO()
    np.save(out, np.array([print]), allow_pickle=True)
    assert compare("a.npy", out.getvalue(), out.getvalue() + b"\xff").how.startswith("other bytes from")


def test_a_difference_deep_in_large_contents_is_found() -> None:
    before = b"\xff" * 1_000_000
    after = before[:777_777] + b"\x00" + before[777_778:]
    assert compare("m.bin", before, after).how.startswith("other bytes from 777,777 on")


@given(JSON)
def test_json_is_equal_to_itself_however_it_is_written(value: Any) -> None:
    again = json.dumps(value, indent=1, sort_keys=True).encode()
    assert compare("m.json", json.dumps(value).encode(), again).is_equal


@given(JSON, JSON)
def test_json_that_says_something_else_is_different(one: Any, other: Any) -> None:
    found = compare("m.json", json.dumps(one).encode(), json.dumps(other).encode(), 0.0)
    assert found.is_equal == (_plain(one) == _plain(other))


def _plain(value: Any) -> Any:
    """Make 1 and true two things, and leave 1 and 1.0 one."""
    if isinstance(value, dict):
        return {key: _plain(one) for key, one in value.items()}
    return [_plain(one) for one in value] if isinstance(value, list) else (isinstance(value, bool), value)


@given(st.binary(max_size=200), st.binary(max_size=200), st.sampled_from(["a.json", "a.npy", "a.npz", "a.csv", "a"]))
def test_hostile_contents_are_compared_all_the_same(one: bytes, other: bytes, path: str) -> None:
    found = compare(path, one, other)
    assert found.is_equal or found.how


def test_numbers_are_near_within_the_tolerance_and_a_boolean_is_no_number() -> None:
    assert is_near(1.0, 1.0000001, 1e-6)
    assert not is_near(1.0, 1.001, 1e-6)
    assert is_near(math.nan, math.nan, 1e-6)
    a_boolean = bool(1)
    assert not is_near(1, a_boolean, 1e-6)
    assert not is_near("1", 1, 1e-6)
