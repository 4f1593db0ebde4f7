"""Scripts, notebooks, commands, folders, zips and cells become jobs of a real server."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from typing import TYPE_CHECKING, Any

import msgspec
import pytest

import acai_jupyter as acai
from acai_jupyter.client import code as snapshots
from acai_jupyter.client.follow import wait
from acai_jupyter.commands import running, verbs
from acai_jupyter.contract import endpoints
from acai_jupyter.contract.errors import BadRequest, FileSetNotFound, NotFound, TooLarge
from acai_jupyter.contract.states import JobState

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

    from acai_jupyter.client.http import Client
    from acai_jupyter.commands.results import Result
    from acai_jupyter.contract.jobs import CreateJob, Job
    from tests.integration.places import Server

LISTS = "import os, sys\nprint(sys.argv[1:], sorted(name for name in os.listdir() if name != 'output'))"


class Desk:
    """A user at work in a folder of this test's own."""

    def __init__(self, server: Server, folder: Path) -> None:
        self.client: Client = server.client()
        self.folder = folder

    def write(self, name: str, content: str | bytes) -> Path:
        path = self.folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(content.encode() if isinstance(content, str) else content)
        return path

    def submit(self, *words: str) -> Result:
        return verbs.run(verbs.parse("acai", ["submit", *words]), self.client)

    def cell(self, text: str, *words: str) -> tuple[Result, list[str]]:
        """Run a cell; returns what was said besides the log."""
        view = Watcher()
        return running.run_cell(self.client, verbs.parse_cell(words), text, view), view.said

    def ended(self, result: Result) -> Job:
        job = wait(self.client, result.value.number)
        assert job.state is JobState.FINISHED, (job.reason, self.log(job))
        return job

    def log(self, job: Job) -> str:
        return acai.job(job.number).logs()

    def request(self, job: Job) -> CreateJob:
        return self.client.call(endpoints.GET_REQUEST, job=job.number).request

    def ran(self, *words: str) -> str:
        """Submit, wait, and return what the program printed."""
        return self.log(self.ended(self.submit(*words)))

    def git(self, *words: str, folder: str = ".") -> str:
        who = ["-c", "user.name=n", "-c", "user.email=n@example.org"]
        done = subprocess.run(["git", *who, *words], cwd=self.folder / folder, check=True, capture_output=True)
        return done.stdout.decode().strip()


class Watcher:
    """Somebody who watches a job."""

    prog = "%acai"
    names = None
    shows_displays = False

    def __init__(self) -> None:
        self.said: list[str] = []

    def say(self, text: str) -> None:
        self.said.append(text)

    def display(self, job: Job, displays: Sequence[dict[str, Any]]) -> None:
        assert job.has_displays
        self.said += [str(one["data"]["text/plain"]) for one in displays]

    def begin(self, result: Result) -> None:
        assert result.kind == "job"

    def show_end_of_log(self, left_out: int, text: str) -> None:
        raise AssertionError((left_out, text))


@pytest.fixture
def desk(server: Server, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Desk:
    for name, value in server.place.environment.items():
        if name.startswith(("XDG_", "HOME")):
            monkeypatch.setenv(name, value)
    folder = tmp_path / "desk"
    folder.mkdir()
    monkeypatch.chdir(folder)
    return Desk(server, folder)


# -- scripts and commands


def test_a_script_gets_its_arguments_parameters_variables_and_inputs(desk: Desk) -> None:
    desk.write("data/1.txt", "one")
    acai.put("data", dest="/data", as_="data")
    program = "import os\nprint(os.environ['ACAI_PARAM_LR'], os.environ['A'], open('data/1.txt').read())\n"
    desk.write("train.py", program + LISTS)
    options = "--input data --output made -p lr=0.1 --env-var A=x --tag stage=draft --tag +new --name n"
    result = desk.submit("train.py", *options.split(), "--", "--epochs", "3")
    number = result.value.number
    assert result.text == f"job {number} queued · why: acai why {number} · log: acai logs -f {number}"
    job = desk.ended(result)
    assert desk.log(job) == "0.1 x one\n['--epochs', '3'] ['data', 'train.py']\n"
    assert (job.name, job.tags, job.attributes["stage"]) == ("n", ["new"], "draft")


def test_the_same_script_again_is_the_same_code(desk: Desk) -> None:
    desk.write("same.py", "print(1)")
    first, again = desk.submit("same.py").value, desk.submit("same.py").value
    assert first.code == again.code == "code.same:1"
    desk.write("same.py", "print(2)")
    assert desk.submit("same.py").value.code == "code.same:2"


def test_a_script_of_a_name_in_another_form_of_unicode_is_run(desk: Desk) -> None:
    desk.write("cafe\u0301.py", "print('here')")
    assert desk.ran("cafe\u0301.py") == "here\n"
    assert desk.ran("--code", ".", "cafe\u0301.py") == "here\n"


def test_a_script_that_is_named_like_an_option_is_none(desk: Desk) -> None:
    desk.write("-x.py", "print('here')")
    assert desk.ran("./-x.py") == "here\n"
    assert desk.ran("--code", ".", "./-x.py") == "here\n"


def test_a_shell_script_is_run_by_a_shell(desk: Desk) -> None:
    desk.write("hello.sh", 'echo "$1 you"')
    assert desk.ran("hello.sh", "--", "oh") == "oh you\n"


def test_a_command_of_several_words_is_run_as_it_is_and_one_word_by_a_shell(desk: Desk) -> None:
    assert desk.ran("--", "echo", "a | cat", "$HOME") == "a | cat $HOME\n"
    assert desk.ran("--", "echo a | tr a b; echo c") == "b\nc\n"


def test_a_command_finds_the_programs_of_whoever_submitted_it(desk: Desk, monkeypatch: pytest.MonkeyPatch) -> None:
    program = desk.write("bin/my-program", "#!/bin/sh\necho mine\n")
    program.chmod(0o755)
    monkeypatch.setenv("PATH", str(program.parent), prepend=os.pathsep)
    assert desk.ran("--", "my-program") == "mine\n"
    assert desk.ran("--", "my-program | cat") == "mine\n"


def test_where_outputs_are_left_and_kept_can_be_said(desk: Desk) -> None:
    where = "--output placed --output-folder results/now --output-root /kept/here"
    job = desk.ended(desk.submit(*where.split(), "--", "echo x > results/now/a"))
    assert job.output == "placed:1"
    assert acai.cat("/kept/here/a") == b"x\n"


def test_what_is_submitted_from_is_kept(desk: Desk) -> None:
    desk.write("kept.py", "")
    captured = desk.request(desk.submit("kept.py").value).captured
    assert captured["python"] == ".".join(map(str, sys.version_info[:3]))
    assert captured["packages"]["msgspec"] == msgspec.__version__
    assert captured["acai"] == acai.__version__
    assert captured["code"]["kind"] == "script"
    assert {"platform", "implementation"} <= captured.keys()


def test_the_same_job_again_can_be_answered_by_the_earlier_one(desk: Desk) -> None:
    desk.write("once.py", "open('output/x', 'w')")
    first = desk.ended(desk.submit("once.py", "--output", "once"))
    again = desk.submit("once.py", "--output", "once", "--cached")
    assert again.value.answered_by == first.number
    assert "finished" in again.text
    assert desk.submit("once.py", "--output", "once", "--cached", "-p", "a=1").value.answered_by is None


@pytest.mark.parametrize(
    ("words", "kind", "said"),
    [
        ("", BadRequest, "Name a script, or a command behind --"),
        ("trian.py", NotFound, "No script ./trian.py. Did you mean ./train.py?"),
        ("train.py --input digts", FileSetNotFound, "There is no file set 'digts'. Did you mean digits"),
        ("folder", BadRequest, "folder is a folder. Give it with --code"),
        ("--code foldr main.py", NotFound, "No folder or zip ./foldr. Did you mean ./folder?"),
        ("--code train.py", BadRequest, "train.py is neither a folder nor a zip"),
        ("--code folder mian.py", NotFound, "No script ./folder/mian.py. Did you mean ./folder/main.py?"),
        ("--code empty -- ls", BadRequest, "There are no files in empty"),
        ("no-notebook.ipynb", NotFound, "No script ./no-notebook.ipynb."),
        ("--code broken.zip -- ls", BadRequest, "The zip broken.zip cannot be unpacked"),
        ("train.py --image x", BadRequest, "jobs on this machine run without"),
    ],
)
def test_what_cannot_be_submitted_is_said_in_one_sentence(
    desk: Desk, words: str, kind: type[Exception], said: str
) -> None:
    for name in ("train.py", "folder/main.py", "digits/1.txt", "broken.zip"):
        desk.write(name, "x = 1")
    (desk.folder / "empty").mkdir()
    acai.put("digits", dest="/digits", as_="digits")
    with pytest.raises(kind) as told:
        desk.submit(*words.split())
    assert said in str(told.value)
    assert len(str(told.value).splitlines()) == 1


# -- folders and zips


def project(desk: Desk) -> None:
    desk.write("project/main.py", f"import lib.part\nprint(lib.part.X)\n{LISTS}")
    desk.write("project/lib/part.py", "X = 5")


def test_a_folder_goes_along_and_its_script_is_named_from_here_or_from_there(desk: Desk) -> None:
    project(desk)
    assert desk.ran("--code", "project", "main.py") == "5\n[] ['lib', 'main.py']\n"
    assert desk.ran("--code", "project", "project/main.py", "--", "a").splitlines()[1].startswith("['a']")
    assert desk.ran("--code", "project", "--", "cat lib/part.py | tr 5 6") == "X = 6"


def test_the_same_folder_is_the_same_version_and_another_file_makes_another(desk: Desk) -> None:
    project(desk)
    words = ("--code", "project", "main.py")
    first = desk.submit(*words).value.code
    assert desk.submit(*words).value.code == first
    desk.write("project/more.txt", "x")
    assert desk.submit(*words).value.code != first
    (desk.folder / "project/more.txt").unlink()
    assert desk.ran(*words).splitlines()[1] == "[] ['lib', 'main.py']"


def test_a_file_of_the_code_that_names_its_interpreter_can_be_run(desk: Desk) -> None:
    desk.write("tools/hello", "#!/bin/sh\necho hello $1\n")
    assert desk.ran("--code", "tools", "--", "./hello", "you") == "hello you\n"


def test_secrets_links_caches_and_old_outputs_stay_at_home(desk: Desk) -> None:
    project(desk)
    names = (
        ".env",
        "sub/.env.local",
        "id_ed25519",
        "lib/__pycache__/x.pyc",
        "output/old",
        ".git/config",
        ".env.example",
    )
    for name in names:
        desk.write(f"project/{name}", "x")
    (desk.folder / "project/away").symlink_to("/etc")
    result = desk.submit("--code", "project", "--", "find . -type f | sort; ls output")
    assert desk.log(desk.ended(result)).split() == ["./.env.example", "./lib/part.py", "./main.py"]
    told = result.text.splitlines()[1]
    assert told == (
        "left out of the code: .env (it may hold a secret), away (a symbolic link that leads to a folder), "
        "id_ed25519 (it may hold a secret) and 1 more; --include sends what you name"
    )


def test_an_acaiignore_leaves_out_and_takes_in(desk: Desk) -> None:
    project(desk)
    desk.write("project/.env", "x")
    desk.write("project/big.bin", "x")
    desk.write("project/.acaiignore", "*.bin\n!.env\n")
    result = desk.submit("--code", "project", "--", "ls -A")
    assert desk.log(desk.ended(result)).split() == [".env", "lib", "main.py", "output"]
    assert "left out" not in result.text


def test_a_secret_goes_along_when_it_is_included(desk: Desk) -> None:
    project(desk)
    for name in (".env", "deploy/.kube/config", ".npmrc", "ca.pem"):
        desk.write(f"project/{name}", "x")
    result = desk.submit("--code", "project", "--include", ".env", "--include", "*.pem", "--", "find . -type f | sort")
    assert desk.log(desk.ended(result)).split() == ["./.env", "./ca.pem", "./lib/part.py", "./main.py"]
    assert "left out of the code: .npmrc (it may hold a secret), deploy/.kube/config (it may" in result.text
    with pytest.raises(BadRequest, match="--include goes with --code"):
        desk.submit("--include", ".env", "--", "true")
    with pytest.raises(BadRequest, match="name what is to be sent"):
        desk.submit("--code", "project", "--include", "*", "--", "true")


def test_too_much_is_refused_with_what_is_largest(desk: Desk) -> None:
    project(desk)
    with desk.write("project/data/big.bin", "").open("wb") as file:
        file.truncate(snapshots.MAX_BYTES + 1)
    with pytest.raises(TooLarge) as told:
        desk.submit("--code", "project", "main.py")
    assert told.value.message.startswith("project is too much to be code: it has 3 files, 256 MB; code is at most ")
    assert "The largest in it: data/ (256 MB), " in told.value.message


def test_a_folder_in_git_has_its_commit_and_what_was_changed_since(desk: Desk) -> None:
    project(desk)
    desk.git("init", "-q", "-b", "trunk", folder="project")
    desk.git("add", "-A", folder="project")
    desk.git("commit", "-q", "-m", "first", folder="project")
    desk.write("project/lib/part.py", "X = 6")
    desk.write("project/.env", "TOKEN=secret")
    captured = desk.request(desk.submit("--code", "project", "main.py").value).captured["code"]
    assert captured["kind"] == "folder"
    assert captured["git"]["commit"] == desk.git("rev-parse", "HEAD", folder="project")
    assert captured["git"]["branch"] == "trunk"
    assert captured["git"]["dirty"]
    assert "+X = 6" in captured["git"]["difference"]
    assert "secret" not in captured["git"]["difference"]


def test_a_zip_is_unpacked(desk: Desk) -> None:
    project(desk)
    shutil.make_archive(str(desk.folder / "packed"), "zip", desk.folder / "project")
    assert desk.ran("--code", "packed.zip", "main.py").startswith("5\n")
    with pytest.raises(NotFound, match=r"There is no mian.py among the code of packed.zip\."):
        desk.submit("--code", "packed.zip", "mian.py")


# -- cells and notebooks


def test_a_cell_shows_its_last_value_and_can_have_code_beside_it(desk: Desk) -> None:
    project(desk)
    desk.write("project/cell.py", "raise SystemExit(3)")
    result, said = desk.cell("import lib.part\nlib.part.X + 1", "--code", "project")
    assert not result.failed
    assert said == ["6"]


def test_a_detached_cell_is_not_waited_for(desk: Desk) -> None:
    result, _ = desk.cell("import time\ntime.sleep(600)", "--detach")
    number = result.value.number
    assert result.text == f"job {number} queued · watch: %acai attach {number}"
    desk.client.call(endpoints.KILL_JOB, job=number)


def test_a_cell_is_kept_as_it_was_typed_below_the_line_of_its_magic(desk: Desk) -> None:
    text = "# ä {x} $y\r\nprint('\u2028')\n"
    result, _ = desk.cell(text)
    code = desk.request(result.value).code
    (entry,) = acai.fileset(str(code))
    assert acai.cat(f"{entry.path}@{code}") == b"\n" + text.encode()


# -- Python, and the real command line


def test_everything_can_be_given_in_python(desk: Desk) -> None:
    desk.write("data/2.txt", "two")
    acai.put("data", dest="/py", as_="py")
    project(desk)
    job = acai.submit(
        "main.py",
        code="project",
        args=["--epochs", 3],
        input=acai.fileset("py"),
        output="of-python",
        parameters={"lr": 0.1, "on": True},
        env_var={"A": "1"},
        tag={"stage": "draft"},
        memory="600Mi",
        cpu=0.5,
        time_limit="5m",
        priority=3,
    )
    asked = desk.client.call(endpoints.GET_REQUEST, job=job.number).request
    assert (asked.inputs, asked.time_limit_seconds, asked.priority) == (["@py:1"], 300, 3)
    assert asked.parameters == {"lr": 0.1, "on": True}
    job.wait()
    assert "['--epochs', '3']" in job.logs()


@pytest.mark.usefixtures("desk")
def test_a_command_in_python_is_a_list_or_a_text() -> None:
    for command, printed in ((["echo", "a | b"], "a | b\n"), ("echo a | tr a b", "b\n")):
        job = acai.submit(command=command)
        job.wait()
        assert job.logs() == printed


def test_a_shell_submits_and_sees_where_the_code_is_from(server: Server) -> None:
    place = server.place
    place.write("shell/main.py", "print(1)")
    place.write("shell/.env", "x")
    done = place.acai("submit", "--code", "shell", "main.py")
    assert done.returncode == 0, done.stderr
    first, second = done.stdout.splitlines()
    assert second == "left out of the code: .env (it may hold a secret); --include sends what you name"
    told = json.loads(place.acai("job", first.split()[1], "--json").stdout)
    assert told["captured"]["code"]["kind"] == "folder"
    assert place.acai("wait", first.split()[1]).returncode == 0
    wrong = place.acai("submit", "shell/mian.py")
    assert (wrong.returncode, wrong.stdout) == (3, "")
    assert wrong.stderr == "No script ./shell/mian.py. Did you mean ./shell/main.py?\n"


# -- what cannot be, in Python


@pytest.mark.parametrize(
    ("asked", "said"),
    [
        ({"parameters": {"l r": 1}}, "parameters cannot have the name 'l r': a name has letters, digits and _, and"),
        ({"parameters": {"lr": [1]}}, "parameters lr is a number, a text, True or False, not [1]."),
        ({"cpu": "many"}, "cpu cannot be so: 'many' is not a number above 0."),
        ({"cpu": 0.3}, "cpu 0.3 cannot be had"),
        ({"retries": 21}, "retries cannot be so: '21' is not a whole number from 0 to 20."),
        ({"env_var": {"A": 1}}, "env_var A is a text, not 1: write '1'."),
        ({"env_var": {"A-B": "1"}}, "env_var cannot have the name 'A-B'"),
        ({"secret": {"A": 1}}, "secret A is a text, not 1: write '1'."),
        (
            {"memory": 5},
            "memory 5 B cannot be had: a job has 512 MB to 8 GB of memory; a number without a unit is bytes",
        ),
        ({"output": 3}, "output is a text, not 3."),
        ({"cached": "yes"}, "cached is True or False, not 'yes'."),
        ({"name": "x" * 201}, "name has 201 characters; 200 is the most."),
    ],
)
@pytest.mark.usefixtures("desk")
def test_what_cannot_be_asked_for_in_python_is_one_sentence(asked: dict[str, Any], said: str) -> None:
    with pytest.raises(BadRequest) as told:
        acai.submit(command=["true"], **asked)
    assert told.value.message.startswith(said)
    assert len(told.value.message.splitlines()) == 1


def test_an_output_is_named_by_a_file_set_and_an_odd_number_is_kept(desk: Desk) -> None:
    desk.write("a.txt", "a")
    acai.put("a.txt", dest="/named/a.txt", as_="named")
    job = acai.submit(
        command="echo $ACAI_PARAM_LR; touch output/b", output=acai.fileset("named"), parameters={"lr": float("nan")}
    )
    made = job.result()
    assert (job.logs(), made and made.ref) == ("nan\n", "named:2")


def test_an_empty_command_is_refused_by_its_sentence(desk: Desk) -> None:
    with pytest.raises(BadRequest, match="The command is empty: its first word says what is to run"):
        desk.submit("--", "")
