"""The line of `%%acai run` and the cell below it: handles, shells, scripts, names that a job lacks; help and TAB."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest
from IPython.core.completer import provisionalcompleter

from tests.integration.faces import Notebook, ipython
from tests.integration.test_magics import execute, shown

if TYPE_CHECKING:
    from collections.abc import Iterator

    from tests.integration.places import Server

JOBS = "/v1/projects/default/jobs"


@pytest.fixture
def notebook(server: Server, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> Iterator[Notebook]:
    with ipython(server.place, monkeypatch) as shell:
        yield Notebook(shell, capsys)


def count(server: Server) -> int:
    return len(server.get(JOBS)["jobs"])


def refused(notebook: Notebook, text: str) -> str:
    outcome, shown = notebook.run(text)
    assert not outcome.success
    assert shown.startswith("UsageError: ")
    assert len(shown.strip().splitlines()) == 1, shown
    return shown


def test_a_job_is_in_a_variable_and_in_the_underscore_also_when_it_failed(notebook: Notebook) -> None:
    outcome, shown = notebook.run("%%acai run --handle job --detach\nprint('out of sight')")
    assert outcome.success
    assert "watch: %acai attach" in shown
    assert notebook.run("job is _, job.wait().logs()")[0].result == (True, "out of sight\n")
    assert not notebook.run("%%acai run --handle job\nraise ValueError('told')")[0].success
    assert notebook.run("job.state.value, _.reason")[0].result == ("failed", "exit 1")
    outcome, _ = notebook.run("%acai submit -- echo said")
    assert outcome.success
    assert notebook.run("_.wait().logs()")[0].result == "said\n"


def test_a_cell_for_a_shell_is_run_by_sh_as_it_was_typed(notebook: Notebook) -> None:
    cell = "x='{lr} $lr'\necho \"$x $ACAI_PARAM_LR\" | tr a-z A-Z\necho 1 > output/a"
    outcome, shown = notebook.run(f"%%acai run --shell --output made -p lr=0.1\n{cell}")
    assert outcome.success, shown
    assert shown.startswith("{LR} $LR 0.1\n")
    assert "→ made:1" in shown
    outcome, shown = notebook.run("%%acai run --shell\nset -e\nno-such-program\necho never")
    assert not outcome.success
    assert "cell.sh: 3: " in shown  # as JupyterLab counts
    assert "never" not in shown


def test_a_script_is_run_in_place_of_an_empty_cell(server: Server, notebook: Notebook) -> None:
    server.place.write("train.py", "import sys\nprint(sys.argv[1:])")
    outcome, shown = notebook.run("%%acai run --script train.py one two --cpu 1 -- --epochs 3\n")
    assert outcome.success, shown
    assert shown.startswith("['one', 'two', '--epochs', '3']\n")


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("%%acai run\n", "The cell is empty"),
        ("%%acai run --script train.py\nx = 1", "With --script the cell is empty"),
        ("%%acai run --script train.py --shell\n", "one of them"),
        ("%%acai run --script train.py --epochs 3\n", "What is for the script stands behind --: -- --epochs 3"),
        ("%%acai run -- x\nprint(1)", "only a --script takes something after --"),
        ("%%acai run --handle 3x\nprint(1)", "--handle '3x' cannot be the name of a variable"),
        ("%%acai run --shell --send notebook_value\necho", "are for cells in Python"),
        ("%%acai run --send nothing_like_it\nprint(1)", "There is no variable nothing_like_it here."),
        ("%%acai run --send notebook_valu\nprint(1)", "Did you mean notebook_value?"),
        ("%%acai run --send a-b\nprint(1)", "'a-b' cannot be the name of a variable"),
        ("%%acai run --receive made\nprint(1)", "The cell makes no variable made that could be received."),
        ("%%acai run --send np\nprint(np)", "np is a module: import it in the cell"),
        (
            "%%acai run --send files,own\nprint(1)",
            "files holds an open file (log.txt); own is the notebook's own kernel",
        ),
        ("%%acai run --send big --variables-limit 1Ki\nprint(1)", "big is more than 1 KB. To send it all the same say"),
        (
            "%%acai run\nprint('a')\nnotebook_value + 1",
            "Line 3 uses notebook_value, which the job will not have; send it",
        ),
        (
            "%%acai run\nx = np.zeros(3)",
            "Line 2 uses np, which the job will not have; import it there: import numpy as np",
        ),
        ("%%acai run\npritn(3)", "Line 2 uses pritn, which nothing defines. Did you mean print?"),
    ],
)
def test_what_cannot_be_meant_is_one_line_and_no_job(server: Server, notebook: Notebook, text: str, said: str) -> None:
    notebook.run(
        "import numpy as np\nnotebook_value = 3\nfiles = [open('log.txt', 'w')]\nown = get_ipython()\nbig = 'x' * 9999"
    )
    before = count(server)
    assert said in refused(notebook, text)
    assert count(server) == before
    notebook.run("files[0].close()")


def test_a_name_that_may_be_missed_is_told_and_nothing_more(notebook: Notebook) -> None:
    notebook.run("import numpy as np\nframe, other = 1, 2")
    outcome, shown = notebook.run(
        "%%acai run\ndef later():\n    return np.zeros(frame)\nif False:\n    print(other, frame)"
    )
    assert outcome.success, shown
    assert [line for line in shown.splitlines() if "will not have" in line] == [
        "The cell uses frame, which the job will not have; send it with --send frame",
        "The cell uses np, which the job will not have; import it there: import numpy as np",
        "The cell uses other, which the job will not have; send it with --send other",
    ]
    outcome, shown = notebook.run(
        "%%acai run\nfrom os.path import *\nglobals()['frame'] = 3\nprint(frame, [other for other in 'x'])"
    )
    assert outcome.success
    assert shown.startswith("3 ['x']\n")


@pytest.mark.parametrize("line", ["%acai put?", "%acai put ??", "  %acai put?"])
def test_a_question_mark_asks_for_the_help_of_a_verb(notebook: Notebook, line: str) -> None:
    outcome, shown = notebook.run(line)
    assert outcome.success
    assert shown.startswith("usage: %acai put ")


def test_a_question_mark_asks_for_the_help_of_two_words_of_all_and_of_cells(notebook: Notebook) -> None:
    assert notebook.run("%acai fileset create?")[1].startswith("usage: %acai fileset create ")
    assert notebook.run("%acai?")[1].startswith("usage: %acai ")
    assert notebook.run("%%acai run?")[1].startswith("usage: %%acai run ")
    assert notebook.run("%%acai profile?")[1].startswith("usage: %%acai profile ")
    assert "signature" in notebook.run("len?")[1].lower()  # other questions are IPython's


def test_a_real_kernel_has_handles_variables_empty_cells_and_its_interrupts(server: Server) -> None:
    kernel = server.ask("POST", "/api/kernels", {"name": "python3"}, base="").json["id"]

    def interrupt(message: dict[str, Any]) -> None:
        if "begun" in str(message["content"].get("text", "")):
            assert server.ask("POST", f"/api/kernels/{kernel}/interrupt", base="").status == 204

    execute(server, kernel, "%load_ext acai_jupyter\nimport acai_jupyter as acai\nx = {'a': 1}")
    ran = shown(execute(server, kernel, "%%acai run --send x --receive y --handle job\ny = (x, {'{x}': '$x'})"))
    assert "sending x (dict, 8 B)" in ran
    assert "received y (tuple, " in ran
    assert "True ({'a': 1}, {'{x}': '$x'})" in shown(execute(server, kernel, "print(_.number == job.number, y)"))
    server.place.write("said.py", "print('said by a script')")
    assert "said by a script" in shown(execute(server, kernel, "%%acai run --script said.py"))
    assert "usage: %acai put" in shown(execute(server, kernel, "%acai put?"))
    waits = "%%acai run --handle long\nimport time\nprint('begun', flush=True)\ntime.sleep(300)"
    left = execute(server, kernel, waits, interrupt)
    assert "Still running as job" in shown(left)
    assert [m["content"]["ename"] for m in left if m["msg_type"] == "error"] == ["Unwatched"]
    ended = shown(
        execute(server, kernel, "print(isinstance(_, acai.Job), long.has_ended, long.kill().wait().state.value)")
    )
    assert "True False killed" in ended
    server.ask("DELETE", f"/api/kernels/{kernel}", base="")


def completed(notebook: Notebook, text: str) -> set[str]:
    with provisionalcompleter():
        found = list(notebook.shell.Completer.completions(text, len(text)))
    return {text[: one.start] + one.text + text[one.end :] for one in found}


def test_tab_offers_variables_options_sets_jobs_and_paths(server: Server, notebook: Notebook) -> None:
    server.place.write("data/of mine.txt", "x")
    server.place.write("data/numbers.csv", "1")
    notebook.said("put data /tab --as tabbed")
    outcome, _ = notebook.run("frame_of_mine = 1\n_hidden = 2\n")
    outcome, _ = notebook.run("%%acai run --handle done\nprint(1)")
    assert outcome.success
    number = notebook.shell.user_ns["done"].number
    assert completed(notebook, "%%acai ") == {"%%acai run", "%%acai profile"}
    assert completed(notebook, "%%acai profile --des") == {"%%acai profile --design"}
    assert completed(notebook, "%acai --project default --json sub") == {"%acai --project default --json submit"}
    assert completed(notebook, "%%acai run --send frame_") == {"%%acai run --send frame_of_mine"}
    assert completed(notebook, "%%acai run --send a,frame_") == {"%%acai run --send a,frame_of_mine"}
    assert completed(notebook, "%%acai run --input tabb") == {"%%acai run --input tabbed"}
    assert completed(notebook, "%%acai run --receive x --var") == {"%%acai run --receive x --variables-limit"}
    assert completed(notebook, "%%acai run --input /ta") == {"%%acai run --input /tab/"}
    assert completed(notebook, "%acai cat /tab/num") == {"%acai cat /tab/numbers.csv"}
    assert f"%acai logs {number}" in completed(notebook, "%acai logs ")
    assert f"%acai wait 1 {number}" in completed(notebook, "%acai wait 1 ") or number == 1
    assert f"%acai kill {number}" not in completed(notebook, "%acai kill ")
    assert "%acai put data/numbers.csv" in completed(notebook, "%acai put data/num")
    assert "%%acai run --script data/" in completed(notebook, "%%acai run --script dat")
