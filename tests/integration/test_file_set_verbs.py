"""`fileset`, `diff`, `gc` and completion as they are typed: in a real shell and IPython, before a real server."""

from __future__ import annotations

import json
import os
import pty
import re
import signal
import subprocess
import threading
from typing import TYPE_CHECKING

import pytest
from IPython.core.completer import provisionalcompleter

from acai_jupyter.client.follow import wait
from tests.integration.faces import Notebook, Shell, ipython
from tests.integration.places import BIN, until
from tests.servers.answers import Answer, service

if TYPE_CHECKING:
    from collections.abc import Iterator

    from acai_jupyter.contract.jobs import Job
    from tests.integration.faces import Face
    from tests.integration.places import Server

TRAIN = "import shutil, sys; shutil.copy('digits/1.txt', 'output/m'); open('output/args', 'w').write(str(sys.argv[1:]))"


@pytest.fixture(scope="module")
def digits(server: Server) -> Server:
    """A server with digits:1 of twelve files and digits:2, where one changed, one is new and one has another name."""
    for number in range(12):
        server.place.write(f"digits/{number}.txt", f"number {number}")
    server.place.write("extra.csv", "a,b")
    shell = Shell(server.place)
    shell.said("put digits /digits --as digits")
    shell.said("put extra.csv /extra.csv")
    server.place.write("digits/1.txt", "corrected")
    server.place.write("digits/new.txt", "new")
    (server.place.work / "digits/2.txt").rename(server.place.work / "digits/two.txt")
    shell.said("put digits /digits --as digits")
    return server


@pytest.fixture(params=["shell", "notebook"])
def face(
    request: pytest.FixtureRequest,
    digits: Server,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> Iterator[Face]:
    if request.param == "shell":
        yield Shell(digits.place)
        return
    with ipython(digits.place, monkeypatch) as shell:
        yield Notebook(shell, capsys)


@pytest.fixture
def notebook(digits: Server, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> Iterator[Notebook]:
    with ipython(digits.place, monkeypatch) as shell:
        yield Notebook(shell, capsys)


@pytest.fixture
def name(request: pytest.FixtureRequest) -> str:
    """A name that no other test gives to a set."""
    return re.sub(r"[^a-z0-9]+", "-", request.node.name.lower()).strip("-")[:100]


def test_a_set_is_made_of_specs_updated_cut_and_merged(face: Face, name: str) -> None:
    made = face.said(f"fileset create {name} /digits/@digits:1 /extra.csv:1 --note 'a **note**'")
    assert made.startswith(f"{name}:1 · 13 files, ")
    assert made.endswith(" · made from digits:1\n")
    assert face.said(f"fileset create {name} {name} /digits/1.txt").startswith(f"{name}:2 · 13 files, ")
    assert face.data(f"fileset show {name}")["entries"][1]["version"] == 2
    cut = face.said(f"fileset create {name} @{name}:1 --without /digits/@digits:2")
    assert cut.startswith(f"{name}:3 · 2 files, ")
    assert [one["path"] for one in face.data(f"fileset show {name}:3 --files")["entries"]] == [
        "/digits/2.txt",
        "/extra.csv",
    ]
    same = face.said(f"fileset create {name} {name}:3 --if-changed")
    assert same.startswith(f"{name}:3 holds the same already · 2 files, ")
    created = face.data(f"fileset create {name} {name} digits:2 --if-changed")
    assert (created["is_new"], created["file_set"]["version"], created["file_set"]["file_count"]) == (True, 4, 15)
    assert created["made_from"] == [f"{name}:3", "digits:2"]


def test_a_dry_run_lists_and_makes_nothing(face: Face, name: str) -> None:
    lines = face.said(f"fileset create {name} /digits/3.txt@digits:1 /digits/@digits:1 --dry-run").splitlines()
    assert lines[0] == "/digits/0.txt:1  8 B"
    assert len(lines) == 13
    assert lines[-1] == f"{name} would hold 12 files, 98 B · made from digits:1"
    planned = face.data(f"fileset create {name} digits:1 --dry-run")
    assert (planned["file_count"], len(planned["entries"])) == (12, 12)
    assert f"There is no file set '{name}'" in face.said(f"fileset show {name}", 3)


def test_sets_and_versions_are_listed_with_what_people_want_to_know(face: Face, name: str) -> None:
    face.said(f"fileset create {name} digits:1")
    face.said(f"fileset create {name} digits:2")
    face.said(f"fileset alias {name}:2 best")
    rows = [line.split() for line in face.said("fileset list").splitlines()]
    mine = next(row for row in rows if row[0] == f"{name}:2")
    assert mine[1:3] == ["13", "files"]
    assert mine[-1] == "best"
    face.said(f"fileset rm {name}:1")
    assert [line.split()[0] for line in face.said(f"fileset list {name}").splitlines()] == [f"{name}:2", f"{name}:1"]
    assert face.said(f"fileset list {name}").splitlines()[1].endswith("deleted")
    assert [one["version"] for one in face.data(f"fileset list {name}")["file_sets"]] == [2, 1]
    assert {one["name"] for one in face.data("fileset list")["file_sets"]} >= {name, "digits"}


def test_a_version_shows_what_it_is_and_was_made_of(face: Face, name: str) -> None:
    face.said(f"fileset create {name} digits:1 /extra.csv --note '# Why'")
    face.said(f"fileset alias {name} paper")
    lines = face.said(f"fileset show {name}:paper").splitlines()
    assert lines[0].startswith(f"{name}:1 · 13 files, ")
    assert re.fullmatch(r"made .* by .*, as a creation from digits:1", lines[1])
    assert lines[2:6] == ["aliases paper", "note", "  # Why", "files"]
    assert lines[-1] == f"  … and 3 more: acai fileset show {name}:1 --files"
    full = face.said(f"fileset show {name} --files").splitlines()
    assert len(full) == 6 + 13
    assert full[-1] == "  /extra.csv:1  3 B"
    shown = face.data(f"fileset show {name}")
    assert (shown["file_set"]["aliases"], shown["made_by"]["kind"], len(shown["entries"])) == (
        ["paper"],
        "creation",
        10,
    )


def test_an_alias_stands_for_a_version_wherever_one_can_be_written(face: Face, name: str) -> None:
    face.said(f"fileset create {name} /digits/1.txt:1")
    face.said(f"fileset create {name} /digits/1.txt:2")
    assert "has no aliases" in face.said(f"fileset alias {name}")
    assert face.said(f"fileset alias {name}:1 paper") == f"{name}:paper is {name}:1 now\n"
    assert face.said(f"cat /digits/1.txt@{name}:paper").startswith("number 1")
    assert face.said(f"fileset alias {name} paper") == f"{name}:paper is {name}:2 now\n"
    assert face.said(f"cat /digits/1.txt@{name}:paper").startswith("corrected")
    listed = face.said(f"fileset alias {name}").splitlines()
    assert listed[:2] == [f"{name}:paper  {name}:2", "history"]
    assert [line.partition("paper → ")[2] for line in listed[2:]] == [f"{name}:2", f"{name}:1"]
    assert "paper" in face.said(f"fileset rm {name}:2", 6)
    face.said(f"fileset alias {name} paper --remove")
    assert face.data(f"fileset alias {name}")["aliases"] == {}
    assert len(face.data(f"fileset alias {name}")["changes"]) == 3
    face.said(f"fileset alias {name} paper --remove", 3)
    face.said(f"fileset alias {name} latest", 2)
    face.said(f"fileset alias {name} 7", 2)
    assert "Which alias?" in face.said(f"fileset alias {name} --remove", 2)


def test_a_note_is_written_and_taken_away(face: Face, name: str) -> None:
    face.said(f"fileset create {name} digits:1")
    assert face.said(f"fileset note {name} 'Ten corrected.'") == f"{name}:1 has this note now\n"
    assert "  Ten corrected." in face.said(f"fileset show {name}")
    assert face.data(f"fileset note {name}:1 ''")["note"] == ""
    assert "note" not in face.said(f"fileset show {name}").split()
    face.said(f"fileset note {name} {'x' * 10_001}", 2)


def test_what_was_deleted_is_brought_back(face: Face, name: str) -> None:
    face.said(f"fileset create {name} digits:1")
    face.said(f"fileset create {name} digits:2")
    told = face.said(f"fileset rm {name}:2")
    line = (
        rf"{name}:2 deleted · can be brought back until \d{{4}}-\d\d-\d\d \d\d:\d\d: acai fileset rm --undo {name}:2\n"
    )
    assert re.fullmatch(line, told)
    assert face.data(f"fileset show {name}")["file_set"]["version"] == 1
    assert f"acai fileset rm --undo {name}:2" in face.said(f"fileset show {name}:2", 3)
    assert face.said(f"fileset rm --undo {name}:2") == f"{name}:2 is back\n"
    assert set(face.data(f"fileset rm {name}")["file_sets"]) == {f"{name}:1", f"{name}:2"}
    assert name not in {one["name"] for one in face.data("fileset list")["file_sets"]}
    assert face.said(f"fileset rm --undo {name}").endswith(" are back\n")
    assert face.said(f"fileset rm --undo {name}") == f"nothing of {name} was deleted\n"


def test_files_that_only_a_deleted_set_held_go_with_it(face: Face, digits: Server, name: str) -> None:
    for text in ("one", "two"):
        digits.place.write(f"{name}/a.txt", text)
        face.said(f"put {name} /{name} --as {name}")
    told = face.said(f"fileset rm {name}:1 --files")
    assert " · 1 file version deleted · " in told
    assert face.data(f"versions /{name}/a.txt")["versions"][1]["deleted_at"] is not None
    assert face.said(f"fileset rm --undo {name}:1") == f"{name}:1 is back · 1 file version back\n"


def test_the_projects_rules_are_shown_and_changed(face: Face) -> None:
    assert face.said("fileset retention --keep-last 3 --keep-days 2.5").startswith(
        "Kept: the newest 3 of each set and "
    )
    assert face.data("fileset retention") == {"keep_last": 3, "keep_days": 2.5, "files": False}
    assert "Files that no set holds follow" in face.said("fileset retention --keep-days 7 --files")
    assert face.data("fileset retention")["keep_last"] is None
    assert face.said("fileset retention --off").startswith("All versions are kept.")
    assert face.said("fileset retention").startswith("All versions are kept.")


def test_a_difference_is_an_exit_status_and_a_list(face: Face) -> None:
    assert face.said("diff digits:1 digits:2", 1).splitlines() == [
        "digits:1 → digits:2",
        "1 file added",
        "  + /digits/new.txt",
        "1 file changed",
        "  ~ /digits/1.txt",
        "1 file renamed",
        "  /digits/2.txt → /digits/two.txt",
    ]
    assert face.said("diff @digits:2 digits") == "digits:2 → digits:2\nthe same files\n"
    assert face.said("diff /digits/@digits:1 digits:1") == "/digits/@digits:1 → digits:1\nthe same files\n"
    lines = face.said("diff /extra.csv digits:1", 1).splitlines()
    assert lines[1] == "12 files added"
    assert lines[12] == "  … 2 more: acai diff /extra.csv digits:1 --all"
    assert lines[13:] == ["1 file removed", "  - /extra.csv"]
    full = face.said("diff /extra.csv digits:1 --all", 1).splitlines()
    assert full[:2] == ["/extra.csv → digits:1", "12 added, 1 removed"]
    assert len(full) == 2 + 13
    data = face.data("diff /extra.csv digits:1 --all", 1)
    assert (data["comparison"]["added"], len(data["comparison"]["differences"]), data["why"]) == (12, 13, [])


@pytest.fixture(scope="module")
def jobs(digits: Server) -> list[int]:
    """Four jobs: as it was, with other data, with other code, command and parameters, and one that left nothing."""
    client = digits.client()

    def ran(program: str, line: str) -> int:
        digits.place.write("train.py", program)
        number = Shell(digits.place).data(f"submit train.py {line}")["number"]
        done: Job = wait(client, number)
        assert done.state == "finished"
        return int(number)

    return [
        ran(TRAIN, "--input digits:1 --output model -p lr=0.1 -- --epochs 3"),
        ran(TRAIN, "--input digits:2 --output model -p lr=0.1 -- --epochs 3"),
        ran(TRAIN + "\n", "--input digits:2 --input model:1 --output model -p lr=0.2 -- --epochs 4"),
        ran("", "--input digits:1"),
    ]


def test_a_difference_of_what_jobs_made_says_why(face: Face, jobs: list[int]) -> None:
    first, second, third, nothing = jobs
    lines = face.said("diff model:1 model:2", 1).splitlines()
    assert lines[0] == "model:1 → model:2"
    assert lines[-1] == "why: input digits:1 → digits:2 (3 files), code the same"
    assert face.data("diff model:2 model:3", 1)["why"] == [
        "input model:1 added",
        "code: 1 file differs",
        "command --epochs 3 → --epochs 4",
        "lr 0.1 → 0.2",
    ]
    of_jobs = face.said(f"diff {first} {second}", 1).splitlines()
    assert of_jobs[0] == f"job {first} → job {second}"
    assert of_jobs[1:] == lines[1:]
    assert face.said(f"diff {third} {third}").endswith(f"why: both are of job {third}\n")
    assert face.said(f"diff {nothing} {nothing}").splitlines()[1] == "neither has files"
    assert "2 files removed" in face.said(f"diff {first} {nothing}", 1)
    assert "why" not in face.said("diff model:1 digits:1", 1)
    assert ", as job " in face.said("fileset show model:1")


def test_garbage_is_collected_and_a_dry_run_leaves_it(face: Face) -> None:
    assert face.data("gc --dry-run")["is_dry_run"] is True
    told = face.said("gc --dry-run")
    assert told == "nothing to free\n" or told.splitlines()[-1].endswith(" would be freed · free it: acai gc")
    assert face.data("gc")["state"] == "finished"


@pytest.mark.parametrize(
    ("line", "status", "words"),
    [
        ("fileset create 3x digits", 2, "starts with a letter"),
        ("fileset create a:1 digits", 2, "has letters, digits"),
        ("fileset create latest digits", 2, "reserved"),
        (f"fileset create {'a' * 129} digits", 2, "a name "),
        ("fileset create bad digits/1.txt", 2, "starts with '/'"),
        ("fileset create bad /digits/1.txt:2@digits", 2, "%3A"),
        ("fileset create bad /digits/1.txt:1 /digits/1.txt:2", 2, "leave one out"),
        ("fileset create bad '/digits/a b@c:d%e.txt'", 2, "'/digits/a b@c:d%e.txt' is not a file spec: after ':'"),
        ("fileset create bad /no/file", 3, "There is no file '/no/file'"),
        ("fileset create bad /no/@digits", 3, "There is no folder '/no/'. It is not in file set digits:2."),
        ("fileset create bad '/digits/*.txt'", 3, 'Patterns belong to Python: files["/digits/*.txt"].'),
        ("fileset alias digits nope --remove", 3, "digits has no alias 'nope'."),
        ("fileset create bad digts", 3, "Did you mean digits (latest: digits:2)?"),
        ("fileset create bad digits:9", 3, "The latest is 'digits:2'"),
        ("fileset create bad digits --without digits", 2, "no files"),
        ("fileset create bad digits --without digts", 3, "Did you mean digits"),
        (f"fileset create bad digits --note {'x' * 10_001}", 2, "a note has at most 10,000 characters"),
        (f"fileset note digits {'x' * 10_001}", 2, "a note has at most 10,000 characters"),
        ("fileset create bad digits --without digits --dry-run", 2, "no files; an empty file set is not made"),
        ("fileset create bad:1 digits --dry-run", 2, "has letters, digits"),
        ("fileset list digts", 3, "Did you mean digits"),
        ("fileset show digts", 3, "Did you mean digits"),
        ("fileset show /digits/", 2, "/digits/"),
        ("fileset show digits:none", 3, "digits:2"),
        ("fileset alias digts paper", 3, "Did you mean digits"),
        ("fileset note digits:9 text", 3, "digits:2"),
        ("fileset rm digts", 3, "Did you mean digits"),
        ("fileset rm digits:9", 3, "digits:2"),
        ("fileset retention --keep-last 0", 2, "--keep-last"),
        ("fileset retention --keep-days x", 2, "--keep-days"),
        ("fileset retention --off --keep-last 2", 2, "--off stands alone"),
        ("fileset show", 2, "--help"),
        ("fileset", 2, "--help"),
        ("fileset digits", 2, "invalid choice"),
        ("diff digits", 2, "--help"),
        ("diff digits digts", 3, "Did you mean digits"),
        ("diff 1 digits", 2, "A job is compared with a job"),
        ("diff 998 999", 3, "There is no job 998."),
        ("gc now", 2, "now"),
        ("rm digits:1", 2, "acai fileset rm digits:1"),
    ],
)
def test_a_mistake_is_one_line_that_says_what_is_right(face: Face, line: str, status: int, words: str) -> None:
    assert words in face.said(line, status)
    assert "There is no file set 'bad'" in face.said("fileset show bad", 3)


# -- a collection that takes its time


def collecting(server: Server, *steps: str, ends: bool) -> list[Answer]:
    """What a server answers whose collection goes through some steps, and at last ends or goes on for ever."""
    garbage = [{"kind": "packs", "count": 2, "size_bytes": 2048, "examples": []}]
    one = {"id": "7", "is_dry_run": False, "started_at": "2026-11-01T12:00:00Z", "garbage": garbage}
    found = [one | {"state": "running", "step": step} for step in steps]
    found += [one | {"state": "finished", "step": "done"}] * ends
    return [Answer(200, server.status().body), *(Answer(200, json.dumps(each).encode()) for each in found)]


def test_an_interrupt_leaves_the_collection_and_says_so(digits: Server) -> None:
    with (
        service(*collecting(digits, "looking for what lives", ends=False)) as slow,
        digits.place.shell("gc", ACAI_URL=slow.url, ACAI_TOKEN="x") as process,
    ):
        until(lambda: len(slow.asked) > 2, "the command line following")
        process.send_signal(signal.SIGINT)
        out, err = process.communicate(timeout=120)
    assert (process.returncode, out) == (130, "")
    assert err == "Interrupted. The collection goes on on the server; the same line joins it.\n"


def test_an_interrupt_of_a_cell_leaves_the_collection_and_says_so(
    digits: Server, notebook: Notebook, monkeypatch: pytest.MonkeyPatch
) -> None:
    with service(*collecting(digits, "looking for what lives", ends=False)) as slow:
        monkeypatch.setenv("ACAI_URL", slow.url)
        monkeypatch.setenv("ACAI_TOKEN", "x")

        def interrupt() -> None:
            until(lambda: len(slow.asked) > 2, "the cell following")
            signal.pthread_kill(threading.main_thread().ident or 0, signal.SIGINT)

        other = threading.Thread(target=interrupt)
        other.start()
        outcome, shown = notebook.run("%acai gc")
        other.join()
    assert not outcome.success
    assert shown == "UsageError: Interrupted. The collection goes on on the server; the same line joins it.\n"


def test_a_terminal_is_shown_the_steps_and_everybody_the_table(digits: Server) -> None:
    answers = collecting(digits, "looking for what lives", "looking for what lives", "moving packs", ends=True)
    with service(*answers) as slow:
        ours, theirs = pty.openpty()
        variables = digits.place.environment | {"ACAI_URL": slow.url, "ACAI_TOKEN": "x"}
        done = subprocess.run(
            [BIN / "acai", "gc"], env=variables, stdout=subprocess.PIPE, stderr=theirs, check=True, timeout=60
        )
        seen, out = os.read(ours, 4096).decode(), done.stdout.decode()
        os.close(ours)
        os.close(theirs)
    assert seen.splitlines() == ["looking for what lives", "moving packs"]
    assert out.splitlines() == ["packs  2  2 KB  most of them is dead; what lives is moved", "2 KB freed"]


# -- completion


def completed(notebook: Notebook, text: str) -> set[str]:
    """What an editor shows after a TAB at the end of a text, as the whole line would read."""
    with provisionalcompleter():
        found = list(notebook.shell.Completer.completions(text, len(text)))
    return {text[: one.start] + one.text for one in found}


def test_a_line_is_completed_in_a_notebook(notebook: Notebook) -> None:
    notebook.said("fileset create completed digits:1")
    notebook.said("fileset alias completed paper")
    assert completed(notebook, "%acai filese") == {"%acai fileset"}
    assert completed(notebook, "%acai fileset re") == {"%acai fileset retention"}
    assert "%acai fileset show digits" in completed(notebook, "%acai fileset show ")
    assert completed(notebook, "%acai get @digi") == {"%acai get @digits"}
    assert completed(notebook, "%acai fileset show completed:pa") == {"%acai fileset show completed:paper"}
    assert completed(notebook, "%acai fileset rm digits --un") == {"%acai fileset rm digits --undo"}
    assert '%acai find filesets "accuracy' in completed(notebook, '%acai find filesets "acc')
    assert completed(notebook, '%acai find filesets "file_count > 3 and file_c') == {
        '%acai find filesets "file_count > 3 and file_count'
    }
    assert completed(notebook, "x = 1\n%%acai run --input digi") == {"x = 1\n%%acai run --input digits"}


def test_what_is_not_ours_is_completed_by_others(notebook: Notebook) -> None:
    notebook.shell.user_ns["digits_of_mine"] = 1
    assert completed(notebook, "digits_of") == {"digits_of_mine"}
    assert any("extra.csv" in text for text in completed(notebook, "%acai put ext"))


def test_loading_the_extension_again_completes_once(notebook: Notebook) -> None:
    before = len(notebook.shell.Completer.custom_matchers)
    notebook.run("%reload_ext acai_jupyter")
    assert len(notebook.shell.Completer.custom_matchers) == before


def test_without_a_server_verbs_are_completed_and_nothing_is_said(
    notebook: Notebook, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("ACAI_URL", "http://127.0.0.1:9")
    assert completed(notebook, "%acai fileset sh") == {"%acai fileset show"}
    assert not [text for text in completed(notebook, "%acai fileset show dig") if "digits" in text.split(" ")]
    assert capsys.readouterr().err == ""


@pytest.mark.parametrize(
    ("line", "begun", "printed"),
    [
        ("acai filese", "filese", "fileset\n"),
        ("acai fileset show digi", "digi", "digits\n"),
        ("acai get @digi", "digi", "digits\n"),
        ("acai fileset show digits:", "", "latest\n2\n1\n"),
        ('acai find filesets "version = 1 and file_c', '"version = 1 and file_c', '"version = 1 and file_count\n'),
        ("acai nothing ", "", ""),
    ],
)
def test_a_shell_that_asks_is_told_what_may_stand_in_place_of_its_word(
    digits: Server, line: str, begun: str, printed: str
) -> None:
    def told() -> bool:
        asked = digits.place.acai("acai", begun, "", COMP_LINE=line, COMP_POINT=str(len(line)))
        assert (asked.returncode, asked.stderr) == (0, "")
        return asked.stdout == printed

    until(told, f"{printed!r} after {line!r}")  # a shell is not kept waiting by a server that is slow to answer
