"""Cells as jobs, by the real zipapp. Runs on Python 3.8: so does what it tests."""

from __future__ import annotations

import json
import subprocess
import sys
from typing import TYPE_CHECKING, Any

import pytest

from tests.agents import Bench, bench_in

if TYPE_CHECKING:
    from pathlib import Path

FIGURES = """
class Figure:
    number = 1
    def savefig(self, out, format, bbox_inches): out.write(b"drawn")
    def __repr__(self): return "<Figure>"
"""
PYPLOT = """
from matplotlib.figure import Figure
_open = {}
def figure(number=None):
    return _open.setdefault(number or 1, Figure())
def get_fignums(): return list(_open)
def fignum_exists(number): return number in _open
def close(which): _open.clear()
def show(): raise AssertionError("the real one cannot show anything")
"""
IPYTHON = {
    "IPython/__init__.py": "",
    "IPython/display.py": "from IPython.core.display_functions import *",
    "IPython/core/__init__.py": "",
    "IPython/core/display_functions.py": "def display(*values): print('not shown')",
    "IPython/core/formatters.py": (
        "class DisplayFormatter:\n"
        "    def format(self, value, include=None, exclude=None): return {'text/plain': 'formatted %s' % value}, {}\n"
    ),
}


@pytest.fixture
def bare(tmp_path: Path) -> Bench:
    """A bench whose Python has no packages at all."""
    bench = bench_in(tmp_path)
    wrapper = tmp_path / "python"
    wrapper.write_text(f'#!/bin/sh\nexec {sys.executable} -S "$@"\n')
    wrapper.chmod(0o755)
    return bench


def run(bench: Bench, text: str, others: dict[str, str] | None = None, **known: Any) -> Any:
    """Run a cell with a Python that has no packages but those given."""
    files = [("cell.py", text, True), *((name, body, True) for name, body in (others or {}).items())]
    command = [str(bench.folder / "python"), "-u", "cell.py"]
    place = bench.launch(command, tuple((n, b.encode(), c) for n, b, c in files), as_cell=True, **known)
    return bench.end(bench.start(place))


def plain(shown: list[dict[str, Any]]) -> list[str]:
    return [one["data"]["text/plain"] for one in shown]


def test_the_last_expression_is_shown(bare: Bench) -> None:
    done = run(bare, "x = 3\nprint('said')\nx * 2  # six\n")
    assert (done.status, done.log, done.errors) == (0, b"said\n", b"")
    assert plain(bare.displays()) == ["6"]
    assert done.record["displays_bytes"] > 0


@pytest.mark.parametrize("text", ["x = 3", "None", "5;", "5 ;  # no", "", "def f(): return 1", "# only a word"])
def test_nothing_is_shown_where_a_notebook_shows_nothing(bare: Bench, text: str) -> None:
    done = run(bare, text)
    assert (done.status, bare.displays(), done.record["displays_bytes"]) == (0, [], 0)


def sent(**known: Any) -> dict[str, str]:
    """The files of variables, as a client writes them."""
    kept = [{"name": name, "file": name, **one[1]} for name, one in known.items()]
    listed = json.dumps({"version": 1, "python": "3.8", "variables": kept})
    return {".variables/all-variables.json": listed, **{f".variables/{name}": one[0] for name, one in known.items()}}


def test_a_cell_has_what_it_was_sent_and_leaves_what_is_to_be_received(bare: Bench) -> None:
    text = "assert config == {'lr': 0.1}\nmodel = [config['lr'], 'x']\nlazy = iter(model)\nlost = (n for n in model)"
    names = ["model", "lost", "absent"]
    known = {"variables": ".variables", "receive": names}
    done = run(bare, text, sent(config=('{"lr": 0.1}', {"form": "json"})), **known)
    assert done.status == 0
    assert done.log.decode().splitlines() == [
        "acai: lost is a generator.",
        "acai: absent is no variable of the cell when it ends.",
    ]
    assert json.loads(done.outputs[".variables/model"]) == [0.1, "x"]
    listed = json.loads(done.outputs[".variables/all-variables.json"])["variables"]
    assert [(one["name"], one["form"], one["problem"]) for one in listed] == [
        ("model", "json", ""),
        ("lost", "", "is a generator"),
        ("absent", "", "is no variable of the cell when it ends"),
    ]


@pytest.mark.parametrize(
    ("form", "said"),
    [
        ({"form": "npy"}, "x cannot be read here: this job's Python has no numpy"),
        ({"form": "arrow", "note": {"kind": "pandas.DataFrame"}}, "this job's Python has no pandas"),
        ({"form": "pickle", "note": {"python": "3.1"}}, "x was pickled by Python 3.1, and this job runs "),
        ({"form": "parquet"}, "this job's Python has no ACAI that knows the form 'parquet'"),
    ],
)
def test_what_a_job_lacks_for_its_variables_is_named_before_the_cell_runs(
    bare: Bench, form: dict[str, Any], said: str
) -> None:
    done = run(bare, "print('never')", sent(x=("", form)), variables=".variables")
    assert done.status == 1
    assert said in done.log.decode()
    assert b"never" not in done.log


def test_a_cell_that_leaves_well_leaves_its_variables_too(bare: Bench) -> None:
    left = run(bare, "import sys\nx = 1\nsys.exit()", receive=["x"])
    assert (left.status, left.outputs[".variables/x"]) == (0, b"1")
    assert run(bare, "import sys\nx = 1\nsys.exit(3)", receive=["x"]).outputs == {}


def test_await_may_stand_at_the_top(bare: Bench) -> None:
    text = "import asyncio\nasync def f(): return 4\nx = await f()\nawait asyncio.sleep(0, x + 1)"
    assert run(bare, text).status == 0
    assert plain(bare.displays()) == ["5"]


def test_the_cells_own_loop_is_its_own_where_it_awaits_nothing(bare: Bench) -> None:
    assert run(bare, "import asyncio\nasync def f(): return 4\nasyncio.run(f())").status == 0
    assert plain(bare.displays()) == ["4"]


def test_a_traceback_has_the_lines_of_the_cell_and_nothing_of_ours(bare: Bench) -> None:
    done = run(bare, "print('before')\ndef f():\n    return 1 / 0\nf()\n")
    assert done.status == 1
    lines = done.log.decode().splitlines()
    assert lines[:2] == ["before", "Traceback (most recent call last):"]
    assert [line.strip() for line in lines if "File" in line] == [
        'File "cell", line 4, in <module>',
        'File "cell", line 3, in f',
    ]
    assert "    return 1 / 0" in lines
    assert lines[-1] == "ZeroDivisionError: division by zero"


def test_a_mistake_in_the_text_is_told_with_its_line(bare: Bench) -> None:
    done = run(bare, "x = 1\ny = (\n")
    assert done.status == 1
    assert b'File "cell", line 2' in done.log or b'File "cell", line 3' in done.log
    assert b"SyntaxError" in done.log
    assert b"agent" not in done.log


@pytest.mark.parametrize(("text", "status"), [("7", 7), ("None", 0), ("'why'", 1), ("", 0)])
def test_leaving_is_as_in_any_program(bare: Bench, text: str, status: int) -> None:
    done = run(bare, f"import sys\ndisplay(1)\nsys.exit({text})\n2")
    assert done.status == status
    assert plain(bare.displays()) == ["1"]


def test_what_was_shown_before_an_end_by_force_is_kept(bare: Bench) -> None:
    done = run(bare, "display(1)\nimport os\nos.kill(os.getpid(), 9)")
    assert (done.status, plain(bare.displays())) == (137, ["1"])


def test_it_is_the_main_program(bare: Bench) -> None:
    text = (
        "import sys, pickle\nclass A: pass\nprint(__name__, sys.argv, pickle.loads(pickle.dumps(A())).__class__ is A)"
    )
    assert run(bare, text).log == b"__main__ ['cell.py'] True\n"


def test_its_file_stands_beside_its_inputs(bare: Bench) -> None:
    text = "from pathlib import Path\nprint(Path(__file__).name, (Path(__file__).parent / 'beside.py').read_text())"
    assert run(bare, text, {"beside.py": "x = 5"}).log == b"cell.py x = 5\n"


def test_nothing_can_be_read_from_the_keyboard(bare: Bench) -> None:
    assert b"EOFError" in run(bare, "input()").log


def test_it_finds_its_neighbours_and_our_stand_in(bare: Bench) -> None:
    text = "import beside, acai_jupyter\nprint(beside.x)\nacai_jupyter.tag('a', 1)"
    assert run(bare, text, {"beside.py": "x = 5"}).log.splitlines()[:2] == [b"5", b"\x1e[ACAI_TAG_NUM] fileset a:1"]


def test_it_finds_the_real_package_where_there_is_one(bare: Bench) -> None:
    done = run(bare, "import acai_jupyter\nprint(acai_jupyter.it_is)", {"acai_jupyter/__init__.py": "it_is = 'real'"})
    assert done.log == b"real\n"


def test_values_show_what_they_offer(bare: Bench) -> None:
    text = """
class All:
    def __repr__(self): return "all"
    def _repr_html_(self): return "<b>all</b>"
    def _repr_png_(self): return b"png", {"width": 3}
    def _repr_svg_(self): raise ValueError
class Whole:
    def _repr_mimebundle_(self, include=None, exclude=None): return {"a/b": {"c": 1}}
class Own:
    def _ipython_display_(self): print("shown by itself")
display(All(), Whole(), Own(), All)
"""
    done = run(bare, text)
    assert done.log == b"shown by itself\n"
    first, second, third = bare.displays()
    assert first["data"] == {"text/plain": "all", "text/html": "<b>all</b>", "image/png": "cG5n"}
    assert first["metadata"] == {"image/png": {"width": 3}}
    assert second["data"]["a/b"] == {"c": 1}
    assert third["data"]["text/plain"] == "<class '__main__.All'>"


def test_without_ipython_its_display_is_there(bare: Bench) -> None:
    text = """
from IPython.display import HTML, Markdown, display, clear_output, update_display
from IPython import get_ipython
display(1)
clear_output()
handle = display(HTML("<b>"), display_id="here")
display(Markdown("*m*"))
handle.update(HTML("<i>"))
assert get_ipython() is None
"""
    assert run(bare, text).status == 0
    assert [one["data"].get("text/html", one["data"].get("text/markdown")) for one in bare.displays()] == ["<i>", "*m*"]


def test_the_real_formatters_are_used_where_there_are_some(bare: Bench) -> None:
    done = run(bare, "from IPython.display import display\ndisplay([1])\n[2]", IPYTHON)
    assert (done.log, plain(bare.displays())) == (b"", ["formatted [1]", "formatted [2]"])


def test_figures_that_are_shown_or_left_open_are_kept_once(bare: Bench) -> None:
    others = {"matplotlib/__init__.py": "", "matplotlib/figure.py": FIGURES, "matplotlib/pyplot.py": PYPLOT}
    text = """
import os
import matplotlib.pyplot as plt
plt.figure()
plt.show()
print(os.environ["MPLBACKEND"])
plt.figure()
"""
    done = run(bare, text, others)
    assert done.log == b"agg\n"
    assert [one["data"] for one in bare.displays()] == [{"text/plain": "<Figure>", "image/png": "ZHJhd24="}] * 2


def test_more_than_can_be_kept_is_said(bare: Bench) -> None:
    text = "class B:\n    def __repr__(self): return 'x' * 12 * 1024**2\nfor _ in range(4): display(B())\ndisplay(5)"
    assert run(bare, text).status == 0
    shown = plain(bare.displays())
    assert [len(one) for one in shown[:2]] == [12 * 1024**2] * 2
    assert shown[2].startswith("[not kept")
    assert shown[3:] == ["5"]


@pytest.mark.parametrize("way", ["spawn", "forkserver"])
def test_processes_that_are_started_afresh_find_the_cells_functions_and_do_not_run_it_again(
    bare: Bench, way: str
) -> None:
    text = f"""
from multiprocessing import get_context
import os; FACTOR = 3
with open("ran", "a") as f: f.write("once ")
def work(x):
    return x * FACTOR
with get_context("{way}").Pool(1) as pool:
    print(pool.map(work, [1, 2]), open("ran").read())
"""
    done = run(bare, text)
    assert done.log == b"[3, 6] once \n"


def test_its_python_needs_nothing_of_ours(bare: Bench) -> None:
    """It is as the tests above believe: this Python has no packages."""
    done = subprocess.run([str(bare.folder / "python"), "-c", "import IPython"], capture_output=True, check=False)
    assert done.returncode == 1
