"""Functions as programs: their source with what it names, or themselves."""

from __future__ import annotations

import concurrent.futures
import importlib.metadata
import json as js
import math
from collections import OrderedDict
from typing import TYPE_CHECKING, Any

import pytest

from acai_jupyter.commands.functions import RETURNED, call

if TYPE_CHECKING:
    from collections.abc import Callable

SCALE = 3


def scaled(x: float) -> float:
    return x * SCALE


def work(x: float, *more: float, add: float = 0) -> Any:
    """Use much of what is around."""
    return [scaled(x) + sum(more) + add, js.loads("1"), math.pi, list(OrderedDict(a=1))]


def factorial(n: int) -> int:
    return 1 if n < 2 else n * factorial(n - 1)


def closing_over(z: int) -> Callable[[int], int]:
    def inner(x: int) -> int:
        return x + z

    return inner


def with_default(x: int = SCALE) -> int:
    return x


def loss(x: float) -> float:
    return -x


def with_function(x: int, by: Callable[[float], float] = loss) -> float:
    return by(x)


def in_a_submodule(x: str) -> Any:
    return importlib.metadata.version(x), concurrent.futures.Future().done()


def ran(text: str, values: Any) -> Any:
    names = {"__name__": "__main__", **values}
    exec(text, names)
    return names[RETURNED]


@pytest.mark.parametrize(
    ("function", "positional", "keywords"),
    [
        (work, (1.5, 2), {"add": 1}),
        (factorial, (5,), {}),
        (closing_over(3), (4,), {}),
        (lambda x: [x], (3,), {}),
        (sorted, ([2, 1],), {"reverse": True}),
        (with_default, (), {}),
        (with_function, (2,), {}),
        (in_a_submodule, ("pytest",), {}),
        ("a b".split, (), {}),
    ],
)
def test_a_program_gives_what_the_function_gives(
    function: Callable[..., Any], positional: tuple[Any, ...], keywords: dict[str, Any]
) -> None:
    made = call(function, positional, keywords)
    assert ran(made.text, made.values) == function(*positional, **keywords)


def test_the_source_goes_along_with_what_it_names() -> None:
    made = call(work, (1.5,), {})
    assert made.name == "work"
    assert made.values == {"SCALE": 3, "_arguments": (1.5,)}
    lines = made.text.splitlines()
    assert {"import json as js", "import math"} <= set(lines)
    assert "from collections import OrderedDict" in lines
    assert '    """Use much of what is around."""' in lines
    assert lines[-1] == "_returned = work(*_arguments)"


def test_a_submodule_is_imported_where_its_package_does_not_do_that() -> None:
    lines = call(in_a_submodule, ("pytest",), {}).text.splitlines()
    assert {"import concurrent.futures", "import importlib.metadata"} <= set(lines)


def test_what_has_no_source_of_its_own_goes_itself() -> None:
    assert "_function" in call(closing_over(1), (1,), {}).values
    assert "_function" in call(lambda: 1, (), {}).values


def test_a_function_that_waits_is_waited_for() -> None:
    async def fetch() -> int:
        return 3

    assert call(fetch, (), {}).text.endswith("_returned = await fetch()\n")


def test_a_wrong_call_is_an_error_at_once() -> None:
    with pytest.raises(TypeError, match="missing a required argument: 'x'"):
        call(work, (), {})
