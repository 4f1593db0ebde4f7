"""Variables of a notebook in a job and back, in a real IPython, with a real server and real jobs behind it."""

from __future__ import annotations

import re
import subprocess
import sys
from typing import TYPE_CHECKING, Any

import pytest

from acai_jupyter.client.http import Client
from acai_jupyter.commands import variables
from acai_jupyter.commands.displays import shown_of
from acai_jupyter.contract.errors import ServerUnreachable
from tests.integration.faces import Notebook, ipython

if TYPE_CHECKING:
    from collections.abc import Iterator

    from tests.integration.places import Server

JOBS = "/v1/projects/default/jobs"


@pytest.fixture
def notebook(server: Server, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> Iterator[Notebook]:
    with ipython(server.place, monkeypatch) as shell:
        yield Notebook(shell, capsys)


def test_frames_arrays_plain_data_and_functions_go_into_a_job_and_come_back(server: Server, notebook: Notebook) -> None:
    notebook.run(
        "import numpy, pandas\n"
        "df = pandas.DataFrame({'a': range(4), 'b': list('wxyz')})\n"
        "weights = numpy.arange(3.0)\n"
        "config = {'lr': 0.1, 'layers': [3, 2]}\n"
        "def twice(x): return 2 * x + config['layers'][1]\n"
    )
    outcome, shown = notebook.run(
        "%%acai run --send df,weights --send config,twice --receive total,doubled --receive Model,model\n"
        "total = float(weights.sum()) + config['lr']\n"
        "doubled = df.assign(a=twice(df.a))\n"
        "class Model:\n    def fit(self): return len(df)\n"
        "model = Model()\n"
        "print(type(df).__module__)"
    )
    assert outcome.success, shown
    assert shown.startswith("sending df (pandas.DataFrame, ")
    assert "received total (float, 3 B), doubled (pandas.DataFrame, " in shown
    names = notebook.shell.user_ns
    assert names["total"] == 3.1
    assert list(names["doubled"].a) == [2, 4, 6, 8]
    assert names["model"].fit() == 4
    assert names["_"].state == "finished"
    job = server.get(JOBS)["jobs"][0]
    assert job["receive"] == ["total", "doubled", "Model", "model"]
    assert job["variables"].startswith("variables.")


def test_a_function_is_a_job_that_gives_what_it_returns(notebook: Notebook) -> None:
    notebook.run(
        "import acai_jupyter as acai, math\nscale = 3\n"
        "def half(x): return x / 2\n"
        "def work(x, *, add=0):\n    print('at work')\n    return {'sum': half(x) * scale + add, 'pi': math.pi}"
    )
    outcome, shown = notebook.run("job = acai.run(work, 4, kwargs={'add': 1}, cpu=1)\njob.result(), job.logs()")
    assert outcome.success, shown
    assert outcome.result == ({"sum": 7.0, "pi": 3.141592653589793}, "at work\n")
    assert notebook.run("await acai.run(lambda n: [n] * scale, 2)")[0].result == [2, 2, 2]
    assert notebook.run("(await acai.run(sorted, [2, 1])), acai.attach(job.number)['_returned']['sum']")[0].result == (
        [1, 2],
        7.0,
    )
    failing, shown = notebook.run("def fails():\n    raise ValueError('told')\nawait acai.run(fails)")
    assert not failing.success
    assert "JobFailed" in shown
    assert "failed (exit 1)" in shown


OTHER_KERNEL = """
import acai_jupyter as acai
try:
    found = acai.attach({number}, trust={trust})
except acai.AcaiError as error:
    print(error, sorted(error.values))
else:
    print(sorted(found.items()))
"""


def in_another_process(server: Server, number: int, *, trust: bool) -> str:
    program = OTHER_KERNEL.format(number=number, trust=trust)
    environment = server.place.environment
    done = subprocess.run([sys.executable, "-c", program], env=environment, capture_output=True, text=True, check=True)
    return done.stdout


def test_pickles_are_read_by_the_kernel_that_submitted_and_elsewhere_by_who_trusts(
    server: Server, notebook: Notebook
) -> None:
    outcome, shown = notebook.run("%%acai run --handle job --receive plain,pair\nplain = [1, 2]\npair = (1, 2)")
    assert outcome.success, shown
    names = notebook.shell.user_ns
    assert (names["plain"], names["pair"]) == ([1, 2], (1, 2))
    number = names["job"].number
    said = in_another_process(server, number, trust=False)
    assert f"pair is a pickle, and this kernel did not submit job {number}." in said
    assert f"%acai attach {number} --trust" in said
    assert said.endswith(" ['plain']\n")
    assert in_another_process(server, number, trust=True) == "[('pair', (1, 2)), ('plain', [1, 2])]\n"
    del names["pair"]
    assert "received plain (list, 6 B), pair (tuple, " in notebook.said(f"attach {number}")
    assert names["pair"] == (1, 2)
    done = server.place.acai("attach", str(number))
    assert f"plain, pair can be had in a notebook: %acai attach {number}" in done.stdout


def test_a_pickle_of_another_python_is_not_read(notebook: Notebook) -> None:
    cell = "import sys\nsys.version_info = (3, 2, 0)\nplain, pair = 3, (4, 5)"
    outcome, shown = notebook.run(f"%%acai run --handle job --receive plain,pair\n{cell}")
    assert not outcome.success
    assert "received plain (int, 1 B)" in shown
    assert "not received: pair is a pickle of Python 3.2, and this is 3." in shown
    assert "pair" not in notebook.shell.user_ns


def test_an_answer_by_an_earlier_job_is_not_this_kernels_own(notebook: Notebook) -> None:
    cell = "--cached --receive plain,pair\nplain = 3\npair = (4, 5)"
    assert notebook.run(f"%%acai run {cell}")[0].success
    outcome, shown = notebook.run(f"%%acai run --handle again {cell}")
    assert not outcome.success
    assert "answered by job" in shown
    assert "received plain (int, 1 B)" in shown
    assert "not received: pair is a pickle, and job " in shown
    assert notebook.run("%acai attach {again} --trust".replace("{again}", str(notebook.shell.user_ns["again"].number)))[
        0
    ]
    other = notebook.run(f"%%acai run --cached --receive plain\n{cell.partition(chr(10))[2]}")[1]
    assert "answered by" not in other  # what is to be received belongs to what makes a job the same


def test_what_does_not_come_back_fails_the_cell_and_the_others_come(server: Server, notebook: Notebook) -> None:
    cell = "good = 1\nlazy = (n for n in range(3))\nif False:\n    absent = 1"
    outcome, shown = notebook.run(f"%%acai run --receive good,lazy,absent --output kept\n{cell}")
    assert not outcome.success
    assert "not received: lazy is a generator" in shown
    assert "not received: absent is no variable of the cell when it ends" in shown
    assert notebook.shell.user_ns["good"] == 1
    assert server.get(JOBS)["jobs"][0]["state"] == "finished"
    failing, shown = notebook.run("%%acai run --receive late\nlate = 1\nraise ValueError('told')")
    assert not failing.success
    assert "late" not in notebook.shell.user_ns
    assert "ValueError: told" in shown


def test_inputs_do_not_stand_where_variables_do(server: Server, notebook: Notebook) -> None:
    server.place.write("odd/x", "x")
    notebook.said("put odd /.variables/ --as odd")
    shown = notebook.run("config = 1\n")[1] + notebook.run("%%acai run --send config --input odd\nprint(config)")[1]
    assert "'.variables/x' of odd:1 lies in .variables/, which is for variables" in shown


def test_more_than_the_limit_comes_back_when_one_says_so(notebook: Notebook) -> None:
    outcome, shown = notebook.run("%%acai run --receive text --variables-limit 1Ki --handle job\ntext = 'x' * 5000")
    assert not outcome.success
    assert "not received: text: " in shown
    line = re.search(r"%acai (attach \d+ --variables-limit \d+)", shown)
    assert line is not None
    assert "text" not in notebook.shell.user_ns
    notebook.said(line[1])
    assert len(notebook.shell.user_ns["text"]) == 5000


def test_a_limit_can_be_set_for_good(notebook: Notebook, monkeypatch: pytest.MonkeyPatch) -> None:
    notebook.run("text = 'x' * 5000")
    monkeypatch.setenv("ACAI_VARIABLES_LIMIT", "1Ki")
    assert "text is more than 1 KB" in notebook.run("%%acai run --send text\nlen(text)")[1]
    monkeypatch.setenv("ACAI_VARIABLES_LIMIT", "much")
    assert "The setting variables_limit in your configuration" in notebook.run("%%acai run --send text\nlen(text)")[1]


def test_sent_variables_are_kept_in_a_role_of_their_own(server: Server, notebook: Notebook) -> None:
    notebook.run("config = {'lr': 0.1}")
    cell = "%%acai run --send config --output roles\nopen('output/x', 'w').write(str(config))"
    assert notebook.run(cell)[0].success
    assert notebook.run(cell)[0].success
    first, second = server.get(JOBS)["jobs"][:2]
    assert first["variables"] == second["variables"]  # the same values are the same version
    assert first["inputs"] == []
    request = server.get(f"{JOBS}/{first['number']}/request")
    assert (request["request"]["variables"], request["inputs"]) == (first["variables"], [])
    graph = server.get("/v1/projects/default/provenance/roles:1/back")
    roles = {one["file_set"]: one["role"] for action in graph["actions"] for one in action["inputs"]}
    assert roles[first["variables"]] == "variables"
    assert first["variables"].partition(":")[0] not in notebook.said("fileset list")
    assert re.search(rf"variables +{first['variables']}\n", notebook.said(f"job {first['number']}"))


@pytest.mark.parametrize(
    ("asked", "said"),
    [
        ({"receive": ["x"]}, "only a cell can be sent variables"),
        ({"receive": ["x y"], "as_cell": True, "code": "@none"}, "'x y' cannot be the name of a variable"),
        ({"receive": ["x", "x"], "as_cell": True, "code": "@none"}, "a variable is to be received twice"),
        ({"receive": ["import"], "as_cell": True, "code": "@none"}, "'import' cannot be the name of a variable"),
    ],
)
def test_a_server_refuses_what_cannot_be_received(server: Server, asked: dict[str, Any], said: str) -> None:
    asked = {**asked, **({"code": "none"} if "code" in asked else {})}
    answer = server.ask("POST", JOBS, {"command": ["python", "cell.py"], **asked})
    assert answer.status == 400, answer.body
    assert said in answer.error["message"]


def test_a_million_rows_go_there_and_back(server: Server, notebook: Notebook) -> None:
    notebook.run(
        "import numpy, pandas\nframe = pandas.DataFrame({'a': numpy.arange(1_000_000.0), 'b': numpy.arange(1_000_000)})"
    )
    cell = "back = frame.assign(a=frame.a * 2)"
    outcome, shown = notebook.run(f"%%acai run --send frame --receive back --memory 1Gi --handle job\n{cell}")
    assert outcome.success, shown
    assert "sending frame (pandas.DataFrame, 15 MB)" in shown
    assert notebook.run("float(back.a.iloc[-1]), len(back), int((back.b == frame.b).sum())")[0].result == (
        1_999_998.0,
        1_000_000,
        1_000_000,
    )
    usage = server.get(f"{JOBS}/{notebook.shell.user_ns['job'].number}")["attempts"][-1]["usage"]
    assert usage["max_memory_bytes"] < 500 * 1024**2


DOUBLED = (
    "%%acai run --send n --receive doubled --output numbers\ndoubled = 2 * n\n_ = open('output/n', 'w').write(str(n))"
)


def test_a_cell_is_done_again_with_the_variables_that_were_sent_or_with_others(
    server: Server, notebook: Notebook
) -> None:
    notebook.run("import acai_jupyter as acai")
    before = max((job["number"] for job in server.get(JOBS)["jobs"]), default=0)  # other tests have the server too
    first, second, third, fourth = range(before + 1, before + 5)
    for n in (2, 3):
        notebook.run(f"n = {n}")
        outcome, shown = notebook.run(DOUBLED)
        assert outcome.success, shown
    sent = [server.get(f"{JOBS}/{number}")["variables"] for number in (first, second)]
    notebook.run("n = 100")
    same = notebook.run(f"acai.replay({first})")[0].result
    assert (same.verdict, [step.again for step in same.steps]) == ("identical", [str(third)])
    assert notebook.run(f"acai.attach({third})")[0].result["doubled"] == 4
    other = notebook.run(f"acai.replay({first}, with_={sent[1]!r})")[0].result
    assert other.verdict == "different"
    differing = {one.path: one.how for one in other.steps[0].outputs.files}
    assert "2" in differing["n"]
    assert any(path.startswith(".variables/") for path in differing)
    assert server.get(f"{JOBS}/{fourth}")["variables"] == sent[1]
    assert notebook.run(f"acai.attach({fourth})")[0].result["doubled"] == 6


class Away(Client):
    """A server that is away when each thing is asked for the first time."""

    missed: frozenset[str] = frozenset()

    def call(self, endpoint: Any, body: Any = None, /, *, query: Any = None, **known: Any) -> Any:
        if endpoint.name not in self.missed:
            self.missed |= {endpoint.name}
            raise ServerUnreachable(where="it")
        return super().call(endpoint, body, query=query, **known)


def test_what_a_job_leaves_is_waited_for_while_the_server_is_away(server: Server, notebook: Notebook) -> None:
    outcome, shown = notebook.run("%%acai run --receive y --handle left\ny = {'a': 1}\ny")
    assert outcome.success, shown
    job = notebook.shell.user_ns["left"].snapshot
    away = Away(server.client().connection)
    assert variables.receive(away, job).values == {"y": {"a": 1}}
    assert [one["data"]["text/plain"] for one in shown_of(away, job)] == ["{'a': 1}"]
    assert {"get_request", "get_displays"} <= away.missed
