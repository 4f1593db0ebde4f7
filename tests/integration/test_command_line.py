"""`acai` in a shell, with a real server behind it: the whole path, exit statuses, and what is said."""

from __future__ import annotations

import json
import signal
import sqlite3
from contextlib import closing, suppress
from pathlib import Path

import pytest

from acai_jupyter.client.follow import wait
from acai_jupyter.commands import verbs
from tests.integration.places import Place, Server, until


def said(server: Server, *words: str, status: int = 0) -> str:
    """Run the command line, hold its exit status, and return what it said on the right stream."""
    done = server.place.acai(*words)
    assert done.returncode == status, (done.stdout, done.stderr)
    if status in (0, 1) and done.stdout:
        assert done.stderr == ""
        return done.stdout
    assert done.stdout == ""
    assert len(done.stderr.strip().splitlines()) == 1
    return done.stderr


@pytest.fixture(scope="module")
def digits(server: Server) -> Server:
    """A server with the set digits:1."""
    for number in range(3):
        server.place.write(f"digits/{number}.txt", str(number))
    assert "3 files" in said(server, "put", "./digits", "/digits", "--as", "digits")
    return server


def test_the_whole_path_from_files_to_provenance(place: Place) -> None:
    server = place.start()
    place.write("digits/1.txt", "1")
    place.write("digits/2.txt", "2")
    place.write("train.py", "import sys, shutil; print(sys.argv); shutil.copy('digits/1.txt', 'output/model')")
    put = ("put", "./digits", "/digits", "--as", "digits")
    assert "2 files, 2 B" in said(server, *put)
    assert "0 new, 2 unchanged" in (again := said(server, *put))
    assert "digits:1" in again
    place.write("digits/2.txt", "two")
    assert "1 new, 1 unchanged" in (newer := said(server, *put))
    assert "digits:2" in newer
    submitted = said(server, "submit", "train.py", "--input", "digits", "--output", "model", "--", "--epochs", "3")
    assert submitted.startswith("job 1 queued")
    waited = said(server, "wait", "1")
    assert waited.startswith("job 1 · finished · ")
    assert "digits:2 → model:1" in waited
    assert said(server, "logs", "1") == "['train.py', '--epochs', '3']\n"
    assert "finished" in said(server, "job", "1")
    provenance = said(server, "provenance", "model:1")
    assert all(word in provenance for word in ("model:1", "job 1", "digits:2"))
    assert server.get("/v1/projects/default/filesets/digits:1/entries")["entries"][1]["version"] == 1
    assert server.get("/v1/projects/default/filesets/digits:2/entries")["entries"][1]["version"] == 2


def test_every_verb_answers_in_json(digits: Server) -> None:
    digits.place.write("p.py", "open('output/x', 'w')")
    number = json.loads(said(digits, "submit", "p.py", "--output", "jsons", "--json"))["number"]
    assert json.loads(said(digits, "wait", str(number), "--json"))["state"] == "finished"
    assert json.loads(said(digits, "job", str(number), "--json"))["number"] == number
    assert json.loads(said(digits, "logs", str(number), "--json")) == ""
    assert json.loads(said(digits, "provenance", "jsons", "--json"))["focus"] == "jsons:1"
    assert json.loads(said(digits, "status", "--json"))["mode"] == "serving"
    assert json.loads(said(digits, "put", "digits", "/digits", "--as", "digits", "--json"))["file_set"] == "digits:1"


def test_a_typing_slip_in_a_folder_names_the_nearest(digits: Server) -> None:
    assert said(digits, "put", "./digit", "/digits", status=3) == "No folder ./digit. Did you mean ./digits?\n"


def test_a_typing_slip_in_a_set_names_the_nearest(digits: Server) -> None:
    digits.place.write("p.py", "")
    message = said(digits, "submit", "p.py", "--input", "digts", status=3)
    assert "Did you mean digits (latest: digits:1)?" in message
    assert "There is no file set" in message
    assert "The latest is 'digits:1'" in said(digits, "submit", "p.py", "--input", "digits:9", status=3)


@pytest.mark.parametrize(
    "words",
    [
        (),
        ("nothing",),
        ("put",),
        ("put", "digits"),
        ("put", "digits", "no-slash"),
        ("put", "digits", "/x", "--as", "no spaces"),
        ("put", "digits", "/../x"),
        ("put", "digits", "/digits", "--no-such-option"),
        ("logs", "x"),
        ("submit", "p.py", "--cpu", "0.3"),
        ("submit", "p.py", "--memory", "much"),
        ("submit", "p.py", "-p", "1=2"),
        ("submit", "p.py", "--output", "no spaces"),
        ("provenance", "no spaces"),
        ("status", "--", "more"),
    ],
    ids=" ".join,
)
def test_wrong_usage_is_one_line_and_status_2(digits: Server, words: tuple[str, ...]) -> None:
    digits.place.write("p.py", "")
    said(digits, *words, status=2)


@pytest.mark.parametrize(
    "words",
    [
        ("job", "999"),
        ("logs", "999"),
        ("wait", "999"),
        ("wait", "no-such-tag"),
        ("logs", "-f", "999"),
        ("provenance", "nothing"),
        ("submit", "no-such.py"),
        ("put", "no-such", "/x"),
        ("status", "--project", "other"),
    ],
    ids=" ".join,
)
def test_what_is_not_there_is_one_line_and_status_3(digits: Server, words: tuple[str, ...]) -> None:
    if "--project" in words:
        words = ("job", "1", *words[1:])
    said(digits, *words, status=3)


def test_a_wrong_token_is_status_4(digits: Server) -> None:
    refused = digits.place.acai("status", ACAI_URL=digits.root, ACAI_TOKEN="acai_wrong")
    assert refused.returncode == 4
    assert "ACAI_TOKEN" in refused.stderr


def test_no_server_is_status_5(place: Place) -> None:
    alone = place.acai("status")
    assert alone.returncode == 5
    assert "Start JupyterLab" in alone.stderr
    away = place.acai("status", ACAI_URL="http://127.0.0.1:9")
    assert away.returncode == 5
    assert "http://127.0.0.1:9" in away.stderr


def test_a_server_that_is_something_else_is_status_5(digits: Server) -> None:
    other = digits.place.acai("status", ACAI_URL=f"{digits.root}/not-acai", ACAI_TOKEN="x")
    assert other.returncode == 5
    assert "Traceback" not in other.stderr


def test_the_environment_and_the_users_file_name_a_server(place: Place) -> None:
    server = place.start()
    (place.home / "share" / "acai" / "servers" / f"{server.process.pid}.json").unlink()
    assert place.acai("status").returncode == 5
    assert place.acai("status", ACAI_URL=server.root, ACAI_TOKEN=server.token).returncode == 0
    config = place.home / "config" / "acai" / "config.toml"
    config.parent.mkdir(parents=True)
    config.write_text(f'url = "{server.root}"\ntoken = "{server.token}"\n')
    assert place.acai("status").returncode == 0
    config.write_text("url = \n")
    broken = place.acai("status")
    assert (broken.returncode, "config.toml" in broken.stderr) == (2, True)


def running_job(server: Server, gate: Path) -> int:
    program = f"import pathlib, time\nwhile not pathlib.Path({str(gate)!r}).exists(): time.sleep(0.02)"
    server.place.write("waits.py", program)
    number = int(json.loads(said(server, "submit", "waits.py", "--json"))["number"])
    until(lambda: server.get(f"/v1/projects/default/jobs/{number}")["state"] == "running", "the job running")
    return number


@pytest.mark.parametrize("verb", [("wait",), ("logs", "-f")], ids=" ".join)
def test_an_interrupt_is_status_130_and_the_job_goes_on(digits: Server, tmp_path: Path, verb: tuple[str, ...]) -> None:
    gate = tmp_path / "gate"
    number = running_job(digits, gate)
    with digits.place.shell(*verb, str(number)) as process:
        until(lambda: connected(process.pid), "the command line having asked")
        process.send_signal(signal.SIGINT)
        _, err = process.communicate(timeout=120)
    assert process.returncode == 130
    assert "Traceback" not in err
    gate.touch()
    assert wait(digits.client(), number).state == "finished"


def connected(pid: int) -> bool:
    """Whether a process has a socket open."""
    found = []
    for link in Path(f"/proc/{pid}/fd").iterdir():
        with suppress(OSError):
            found.append(str(link.readlink()))
    return any(target.startswith("socket:") for target in found)


def test_a_reader_that_has_seen_enough_is_no_error(digits: Server) -> None:
    digits.place.write("p.py", "for n in range(100_000): print(n)")
    number = json.loads(said(digits, "submit", "p.py", "--json"))["number"]
    wait(digits.client(), number)
    with digits.place.shell("logs", str(number)) as process:
        assert process.stdout is not None
        assert process.stdout.readline() == "0\n"
        process.stdout.close()
        assert process.stderr is not None
        assert process.stderr.read() == ""
        assert process.wait(120) in (0, -signal.SIGPIPE)


def test_links_and_odd_names_are_put_as_they_are(digits: Server, tmp_path: Path) -> None:
    (tmp_path / "secret").write_text("secret")
    folder = digits.place.work / "odd"
    digits.place.write("odd/with space.txt", "1")
    digits.place.write("odd/\u65e5@b:c%.txt", "2")
    (folder / "link").symlink_to(tmp_path / "secret")
    (folder / "folder").symlink_to(tmp_path)
    said(digits, "put", "odd", "/odd", "--as", "odd")
    entries = digits.get("/v1/projects/default/filesets/odd/entries")["entries"]
    assert [entry["path"] for entry in entries] == ["/odd/with space.txt", "/odd/\u65e5@b:c%.txt"]


def test_two_puts_at_once_lose_nothing(digits: Server) -> None:
    for name in ("one", "two"):
        for number in range(20):
            digits.place.write(f"{name}/{number}.txt", f"{name} {number}")
    with (
        digits.place.shell("put", "one", "/at-once", "--as", "at-once") as first,
        digits.place.shell("put", "two", "/at-once", "--as", "at-once") as second,
    ):
        assert (first.wait(120), second.wait(120)) == (0, 0)
    versions = {entry["version"] for entry in digits.get("/v1/projects/default/filesets/at-once:2/entries")["entries"]}
    assert versions == {2}
    with closing(sqlite3.connect(digits.place.data / "acai.db")) as database:
        assert database.execute("PRAGMA integrity_check").fetchone() == ("ok",)


def test_an_error_is_json_where_json_was_asked_for(digits: Server) -> None:
    told = json.loads(said(digits, "job", "999999", "--json", status=3))
    assert list(told) == ["error"]
    assert (told["error"]["code"], told["error"]["details"]["job"]) == ("job_not_found", 999999)
    usage = json.loads(said(digits, "job", "--json", status=2))
    assert usage["error"]["code"] == "bad_request"
    assert not said(digits, "submit", "nothing.py", "--", "--json", status=3).startswith("{")


def test_the_options_of_every_verb_stand_before_it_too(digits: Server) -> None:
    found = json.loads(said(digits, "--json", "--project", "default", "fileset", "show", "digits:1"))
    assert found == json.loads(said(digits, "fileset", "show", "digits:1", "--json", "--project=default"))
    refused = json.loads(said(digits, "--project=default", "--json", "job", "999", status=3))
    assert refused["error"]["code"] == "job_not_found"
    assert json.loads(said(digits, "--json", "statsu", status=2))["error"]["code"] == "bad_request"


@pytest.mark.parametrize(
    ("word", "way"),
    [("statsu", "Did you mean acai status?"), ("run", "acai submit"), ("nothing-like-it", "acai --help lists them")],
)
def test_what_is_no_verb_is_told_with_the_way_to_one(digits: Server, word: str, way: str) -> None:
    assert way in said(digits, word, status=2)


@pytest.mark.parametrize("line", ["--json files QUERY", "files --json QUERY", "files --columns version --json QUERY"])
def test_options_stand_anywhere_in_a_search(digits: Server, line: str) -> None:
    words = ["path = '/digits/0.txt'" if word == "QUERY" else word for word in line.split()]
    found = json.loads(said(digits, "find", *words))
    assert found["rows"][0]["thing"].startswith("/digits/0.txt")
    assert ("version" in found["columns"]) == ("version" in line)


def test_what_would_be_put_is_a_table_in_a_notebook(digits: Server, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(digits.place.work)
    digits.place.write("mixed/<b>.txt", "x")
    digits.place.write("mixed/.git/config", "x")
    result = verbs.run(verbs.parse("%acai", ["put", "--dry-run", "mixed", "/mixed"]), digits.client())
    shown = result._repr_mimebundle_()["text/html"]
    assert shown.count("<table") == 2
    assert "&lt;b&gt;.txt" in shown
    assert ".git/" in shown
