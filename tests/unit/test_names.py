"""Which names a cell uses and will not have: nothing is said that is not so."""

from __future__ import annotations

import builtins
import math
from types import SimpleNamespace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from acai_jupyter.commands import names
from acai_jupyter.commands.names import Missing, look

NAMES = ("a", "b", "c")


@pytest.mark.parametrize(
    ("cell", "missing"),
    [
        ("df.head()", {"df": 1}),
        ("x = [df for df in range(3)]\ny = df", {"df": 2}),
        ("def f(a, *b, c=1, **d):\n    return a + late", {"late": 0}),
        ("class A:\n    z = 1\n    w = z + q", {"q": 0}),
        ("for i in rows:\n    print(i, k)", {"rows": 1, "k": 0}),
        ("import numpy as np\nnp.x(df and zz, lambda u: vv)", {"df": 2, "vv": 0, "zz": 0}),
        ("print(f'{df} {1:{w}}')", {"df": 1, "w": 1}),
        ("await df\n[i async for i in other]", {"df": 1, "other": 0}),
        ("x = one if two else three", {"one": 0, "two": 1, "three": 0}),
        ("1 < one < two", {"one": 1, "two": 0}),
        ("import sys\nsys.exit()\ndf", {"df": 0}),
        ("if a:\n    raise SystemExit\ndf", {"a": 1, "df": 0}),
        ("try:\n    df\nexcept KeyError:\n    pass", {"df": 0}),
        ("match a:\n    case {'k': b, **c}: print(b, c)\n    case [d, *e]: pass", {"a": 0}),
    ],
)
def test_a_name_is_missing_and_its_line_is_told_where_it_is_sure_to_be_used(cell: str, missing: dict[str, int]) -> None:
    assert dict(look(cell).missing) == missing


@pytest.mark.parametrize(
    "cell",
    [
        "try:\n    import a\nexcept ImportError as e:\n    print(e)\nprint(a)",
        "def f():\n    global v\n    v = 1\nf()\nv",
        "(z := 3)\nz",
        "with open('a') as f, open('b') as g:\n    print(f, g)",
        "print(__name__, __file__, display(3), len([]))",
        "def outer():\n    m = 1\n    def inner():\n        nonlocal m\n        m += 1\n    inner()",
        "exec('x = 1')\nx",
        "from os.path import *\njoin('a')",
        "globals()['x'] = 1\nx",
        "try:\n    x\nexcept NameError:\n    pass",
        "x: int = 3\nx",
        "for i, (j, *k) in []:\n    print(i, j, k)",
        "lambda a, *b: (a, b)",
        "{k: v for k, v in [] for w in v if w}",
    ],
)
def test_nothing_is_missing_where_it_is_defined_or_cannot_be_seen(cell: str) -> None:
    assert look(cell).missing == []


def test_what_is_sent_is_not_missing() -> None:
    assert look("df + other", ["df"]).missing == [Missing("other", 1)]


@given(st.lists(st.sampled_from([f"{one} = {other}" for one in NAMES for other in (*NAMES, "1")]), max_size=6))
def test_a_name_that_is_sure_to_be_missed_is_missed(lines: list[str]) -> None:
    cell = "\n".join(lines)
    sure = [one for one in look(cell).missing if one.line]
    if not sure:
        return
    with pytest.raises(NameError):
        exec(cell, {"__builtins__": builtins})


def test_what_to_do_depends_on_what_the_notebook_has() -> None:
    known = {"df": 1, "m": math, "math": math, "In": [], "_": 3, "_i4": "", "get_ipython": SimpleNamespace()}
    assert names.remedy("df", known) == "send it with --send df"
    assert names.remedy("m", known) == "import it there: import math as m"
    assert names.remedy("math", known) == "import it there: import math"
    assert [names.remedy(name, known) for name in ("In", "_", "_i4", "get_ipython", "absent")] == [""] * 5
