"""Real jobs: what a program sees, what is kept of it, and what is said when it goes wrong."""

from __future__ import annotations

import json
import os
from concurrent.futures import ThreadPoolExecutor
from typing import TYPE_CHECKING, Any

import pytest

from acai_jupyter.client.follow import follow_log, wait
from acai_jupyter.contract import endpoints
from tests.integration.places import Server, until

if TYPE_CHECKING:
    from pathlib import Path

JOBS = "/v1/projects/default/jobs"
SETS = "/v1/projects/default/filesets"


def put(server: Server, name: str, files: dict[str, str | bytes], dest: str | None = None) -> None:
    for path, content in files.items():
        server.place.write(f"{name}/{path}", content)
    done = server.place.acai("put", name, dest or f"/{name}", "--as", name)
    assert done.returncode == 0, done.stderr


def submit(server: Server, program: str, *options: str) -> int:
    script = server.place.write("program.py", program)
    done = server.place.acai("submit", "--json", script.name, *options)
    assert done.returncode == 0, done.stderr
    return int(json.loads(done.stdout)["number"])


def run(server: Server, program: str, *options: str) -> dict[str, Any]:
    """Run a program to its end, and return its job."""
    number = submit(server, program, *options)
    wait(server.client(), number)
    found: dict[str, Any] = server.get(f"{JOBS}/{number}")
    return found


def log_of(server: Server, number: int) -> str:
    return "".join(follow_log(server.client(), number))


def paths(server: Server, ref: str) -> list[str]:
    return [entry["path"] for entry in server.get(f"{SETS}/{ref}/entries")["entries"]]


def test_a_program_finds_its_inputs_parameters_and_names(server: Server) -> None:
    put(server, "seen", {"a.txt": "A", "deep/b.txt": "B"}, "/data/seen")
    program = """
        import os, pathlib, sys
        print(pathlib.Path("data/seen/a.txt").read_text(), pathlib.Path("data/seen/deep/b.txt").read_text())
        print(sorted((k, v) for k, v in os.environ.items() if k.startswith("ACAI_")))
        print(pathlib.Path("output").is_dir(), sys.argv[1:], sys.stdin.read() == "")
    """
    program = "\n".join(line.strip() for line in program.splitlines())
    job = run(
        server, program, "--input", "seen", "--output", "shown", "-p", "lr=0.1", "-p", "Name=x y", "--", "--n", "3"
    )
    assert job["state"] == "finished"
    lines = log_of(server, job["number"]).splitlines()
    assert lines[0] == "A B"
    given = dict(eval(lines[1]))
    assert given.pop("ACAI_OUTPUT_FOLDER") == "output"
    assert given.pop("ACAI_WORK").endswith("/work")
    assert given.pop("ACAI_CHECKPOINT").endswith("/work/.checkpoint")
    assert given == {
        "ACAI_JOB": str(job["number"]),
        "ACAI_INPUT": "seen:1",
        "ACAI_OUTPUT": "shown",
        "ACAI_PARAM_LR": "0.1",
        "ACAI_PARAM_NAME": "x y",
    }
    assert lines[2] == "True ['--n', '3'] True"
    assert job["inputs"] == ["seen:1"]


def test_no_secret_of_the_server_reaches_a_program(server: Server) -> None:
    job = run(server, "import os; print(os.environ)")
    log = log_of(server, job["number"])
    assert server.token not in log
    assert "TOKEN" not in log


def test_inputs_cannot_be_changed_by_a_program(server: Server) -> None:
    put(server, "fixed", {"a.txt": "A"})
    job = run(server, "import os; print(oct(os.stat('fixed/a.txt').st_mode & 0o777))", "--input", "fixed")
    assert log_of(server, job["number"]) == "0o444\n"
    run(server, "import os; os.chmod('fixed/a.txt', 0o600); open('fixed/a.txt', 'w').write('B')", "--input", "fixed")
    job = run(server, "print(open('fixed/a.txt').read())", "--input", "fixed")
    assert log_of(server, job["number"]) == "A\n"


def test_a_path_that_two_inputs_claim_is_refused_before_the_job_has_a_number(server: Server) -> None:
    put(server, "left", {"same.txt": "one"}, "/claimed")
    put(server, "right", {"same.txt": "two"}, "/claimed")
    before = server.get(JOBS)["jobs"]
    server.place.write("p.py", "")
    refused = server.place.acai("submit", "p.py", "--input", "left", "--input", "right")
    assert refused.returncode == 2
    assert all(word in refused.stderr for word in ("left:1", "right:1", "claimed/same.txt"))
    assert server.get(JOBS)["jobs"] == before


def test_the_same_content_at_the_same_path_of_two_inputs_is_fine(server: Server) -> None:
    put(server, "twin", {"same.txt": "one"}, "/twins")
    put(server, "twin2", {"same.txt": "one"}, "/twins")
    job = run(server, "print(open('twins/same.txt').read())", "--input", "twin", "--input", "twin2")
    assert job["state"] == "finished"


def test_outputs_become_a_set_with_its_provenance(server: Server) -> None:
    put(server, "source", {"a.txt": "A"})
    program = (
        "import os; os.makedirs('output/deep'); open('output/deep/m.bin', 'wb').write(b'm'); open('output/n', 'w')"
    )
    job = run(server, program, "--input", "source", "--output", "made")
    assert job["output"] == "made:1"
    assert paths(server, "made:1") == ["/made/deep/m.bin", "/made/n"]
    graph = server.get("/v1/projects/default/provenance/made:1/back")
    action = graph["actions"][0]
    assert (action["kind"], action["job"]["number"], action["outputs"]) == ("job", job["number"], ["made:1"])
    assert {"file_set": "source:1", "role": "data"} in action["inputs"]
    again = run(server, program, "--input", "source", "--output", "made")
    assert again["output"] == "made:2"  # always a new version


def test_odd_names_of_outputs_are_kept_as_they_are(server: Server) -> None:
    names = [
        "with space",
        "h\u00e9.txt",
        "\u65e5\u672c\u8a9e/\u5b57",
        "a@b:c%d",
        "'\"$x",
        "-rf",
        ".hidden",
        "\U0001f4a1",
    ]
    program = f"""
import os, pathlib
for name in {names!r}:
    path = pathlib.Path("output", name)
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(name)
pathlib.Path("output", "e\\u0301").write_text("not NFC")
"""
    job = run(server, program, "--output", "odd")
    assert (job["state"], job["reason"]) == ("finished", "")
    assert paths(server, "odd") == sorted(f"/odd/{name}" for name in [*names, "\u00e9"])
    back = run(server, "import pathlib; print(pathlib.Path('odd/with space').read_text())", "--input", "odd")
    assert log_of(server, back["number"]) == "with space\n"


@pytest.mark.parametrize("name", [b"bad\xff", b"new\nline"])
def test_an_output_whose_name_cannot_be_kept_is_named_and_the_others_are_kept(server: Server, name: bytes) -> None:
    program = f"open(b'output/' + {name!r}, 'w'); open('output/fine', 'w'); print('ran')"
    job = run(server, program, "--output", "unkept")
    assert (job["state"], len(job["attempts"])) == ("finished", 1)
    (warning,) = job["attempts"][0]["warnings"]
    assert warning.startswith(f"output {os.fsdecode(name)!a} was not kept: ")
    assert log_of(server, job["number"]) == "ran\n"
    entries = server.get(f"/v1/projects/default/filesets/{job['output']}/entries")["entries"]
    assert [entry["path"] for entry in entries] == ["/unkept/fine"]


def test_links_in_the_output_are_not_followed(server: Server, tmp_path: Path) -> None:
    (tmp_path / "secret").write_text("secret")
    program = f"""
import os
os.symlink({str(tmp_path / "secret")!r}, "output/file")
os.symlink({str(tmp_path)!r}, "output/folder")
os.symlink("/dev/zero", "output/zero")
os.mkfifo("output/pipe")
open("output/real", "w").write("real")
"""
    job = run(server, program, "--output", "linked")
    assert job["state"] == "finished"
    assert paths(server, "linked") == ["/linked/real"]
    kinds = "links and what is no regular file are not kept"
    assert job["attempts"][0]["warnings"] == [f"{kinds}: 'output/file', 'output/folder', 'output/pipe' and 1 more"]


def test_a_job_that_leaves_nothing_makes_an_empty_set_when_one_was_asked_for(server: Server) -> None:
    job = run(server, "print('nothing')", "--output", "empty")
    assert (job["state"], job["output"]) == ("finished", "empty:1")
    assert paths(server, "empty") == []
    assert run(server, "print('nothing')")["output"] is None


def test_a_failed_program_keeps_its_traceback_and_makes_no_set(server: Server) -> None:
    job = run(server, "open('output/half', 'w').write('x')\nraise ValueError('told you')", "--output", "failing")
    assert (job["state"], job["reason"]) == ("failed", "exit 1")
    assert job["output"] is None
    assert "ValueError: told you" in log_of(server, job["number"])
    assert server.ask("GET", f"{SETS}/failing").code == "file_set_not_found"
    waited = server.place.acai("wait", str(job["number"]))
    assert waited.returncode == 1
    assert "failed (exit 1)" in waited.stdout


@pytest.mark.parametrize(
    ("program", "reason"),
    [
        ("import sys; sys.exit(7)", "exit 7"),
        ("import os, signal; os.kill(os.getpid(), signal.SIGKILL)", "exit 137"),
        ("import os; os.abort()", "exit 134"),
    ],
)
def test_how_a_program_ended_is_its_reason(server: Server, program: str, reason: str) -> None:
    assert run(server, program)["reason"] == reason


def test_a_command_that_is_not_there_is_said(server: Server) -> None:
    number = server.ask("POST", JOBS, {"command": ["no-such-command"]}).json["number"]
    assert "could not be started" in wait(server.client(), number).reason


def test_a_large_log_arrives_whole(server: Server) -> None:
    line = "x" * 99
    job = run(server, f"for n in range(50_000): print({line!r})\nprint('the end')")
    assert log_of(server, job["number"]) == f"{line}\n" * 50_000 + "the end\n"
    shown = server.place.acai("logs", str(job["number"]))
    assert shown.stdout == f"{line}\n" * 50_000 + "the end\n"


def test_lines_of_a_log_are_read_by_number_and_the_first_error_is_found(server: Server) -> None:
    job = run(server, "for n in range(1, 50_001): print('line', n)\nprint(end='', flush=True)\nraise KeyError('told')")
    lines = f"{JOBS}/{job['number']}/log/lines"
    middle = server.get(f"{lines}?first=25000&limit=2")
    assert [(one["number"], one["text"]) for one in middle["lines"]] == [(25000, "line 25000"), (25001, "line 25001")]
    assert middle["of"] > 50_000
    error = server.get(f"{lines}?error=true")["lines"]
    assert [(one["number"], one["text"]) for one in error] == [(50_001, "Traceback (most recent call last):")]
    assert server.get(f"{lines}?first={middle['of']}")["lines"][0]["text"].startswith("KeyError")
    for hostile in ("first=0", "first=-1", "limit=1001", f"first={2**60}", "error=maybe", "first=one"):
        assert server.ask("GET", f"{lines}?{hostile}").status in (400, 413), hostile


def test_a_log_that_is_not_utf8_is_shown_as_well_as_it_can_be(server: Server) -> None:
    program = "import sys; sys.stdout.buffer.write(b'\\xff\\xfe ok \\xe6\\x97\\xa5 ' * 20_000 + b'\\xe6')"
    job = run(server, program)
    text = log_of(server, job["number"])
    assert text == "\ufffd\ufffd ok \u65e5 " * 20_000 + "\ufffd"


def test_a_live_log_is_seen_before_the_job_ends(server: Server, tmp_path: Path) -> None:
    gate = tmp_path / "gate"
    program = f"""
import pathlib, sys, time
sys.stdout.buffer.write("début \u65e5".encode()[:-1]); sys.stdout.flush()
while not pathlib.Path({str(gate)!r}).exists():
    time.sleep(0.02)
sys.stdout.buffer.write("\u65e5".encode()[-1:]); print(" fin")
"""
    number = submit(server, program)
    until(lambda: server.get(f"{JOBS}/{number}/log")["text"] == "début ", "the log being seen")
    until(lambda: server.get(f"{JOBS}/{number}")["state"] == "running", "the job being seen to run")
    with server.place.shell("logs", "-f", str(number)) as following:
        gate.touch()
        text, _ = following.communicate(timeout=120)
    assert text == "début \u65e5 fin\n"
    assert server.get(f"{JOBS}/{number}")["state"] == "finished"


def test_a_program_cannot_move_its_job_by_printing(server: Server) -> None:
    program = """
import json
print('\\x1eACAI 00000000000000000000000000000000 {"state":"finished"}')
print('\\x1eACAI {"state":"finished"}')
raise SystemExit(3)
"""
    job = run(server, program)
    assert (job["state"], job["reason"]) == ("failed", "exit 3")
    assert "finished" in log_of(server, job["number"])  # what is not the agent's is the program's


def test_tags_reach_the_job_and_what_it_made(server: Server) -> None:
    job = run(server, "import acai_jupyter; acai_jupyter.tag('accuracy', 0.97); acai_jupyter.tag('model', 'BERT')")
    assert job["attributes"] == {"accuracy": 0.97, "model": "BERT"}


def test_at_most_as_many_jobs_as_fit_run_at_once_and_all_of_them_end(server: Server) -> None:
    numbers = [server.ask("POST", JOBS, {"command": ["true"]}).json["number"] for _ in range(12)]
    for number in numbers:
        assert wait(server.client(), number).state == "finished"


def test_one_request_waits_for_a_jobs_end_and_for_no_longer_than_asked(server: Server) -> None:
    gate = server.place.work / "gate"
    client = server.client()
    number = server.ask("POST", JOBS, {"command": f"until [ -e {gate} ]; do sleep 0.02; done"}).json["number"]
    early = client.call(endpoints.GET_JOB, query={"wait_seconds": 0.2}, job=number)
    assert early.ended_at is None
    with ThreadPoolExecutor(1) as pool:
        late = pool.submit(lambda: client.call(endpoints.GET_JOB, query={"wait_seconds": 30}, job=number))
        gate.touch()
        assert late.result(60).state == "finished"
    assert server.ask("GET", f"{JOBS}/99999?wait_seconds=30").status == 404


def test_what_no_machine_here_can_hold_is_refused(server: Server) -> None:
    machine = server.status().json["machine"]
    server.place.write("p.py", "")
    if machine["cpus"] < 8:
        refused = server.place.acai("submit", "p.py", "--cpu", "8")
        assert refused.returncode == 2
        assert f"more than {machine['cpus']:g}" in refused.stderr
    refused = server.place.acai("submit", "p.py", "--memory", "1Ti")
    assert refused.returncode == 2


def test_jobs_and_entries_come_in_pages(server: Server) -> None:
    client = server.client()
    put(server, "paged", {f"{n:02}.txt": str(n) for n in range(7)})
    first = client.call(endpoints.LIST_ENTRIES, ref="paged", query={"limit": 5})
    rest = client.call(endpoints.LIST_ENTRIES, ref="paged", query={"limit": 5, "after": first.next})
    assert [len(first.entries), len(rest.entries), rest.next] == [5, 2, None]
    page = client.call(endpoints.LIST_JOBS, query={"limit": 2})
    more = client.call(endpoints.LIST_JOBS, query={"limit": 2, "before": page.next})
    assert [job.number for job in (*page.jobs, *more.jobs)] == sorted(
        (job.number for job in (*page.jobs, *more.jobs)), reverse=True
    )


ON_NODES = """
import os, pathlib, sys, time
from acai_jupyter import checkpoint_path, output_path
rank, step = os.environ["RANK"], pathlib.Path(checkpoint_path("step"))
if step.exists():
    print("node", rank, "of", os.environ["WORLD_SIZE"], "goes on from", step.read_text())
    pathlib.Path(output_path(rank)).write_text(rank)
    sys.exit()
print("node", rank, "begins", flush=True)
if rank == "1":
    step.write_text("7")
    sys.exit(3)
time.sleep(600)
"""


def test_a_program_on_two_nodes_is_tried_again_as_a_whole_from_its_checkpoint(server: Server) -> None:
    shares = ("--nodes", "2", "--cpu", "0.5", "--memory", "512Mi")
    job = run(server, ON_NODES, *shares, "--output", "parts")
    ends = [attempt["transitions"][-1]["reason"] for attempt in job["attempts"]]
    assert (job["state"], job["nodes"], ends) == ("finished", 2, ["node 1: exit 3", ""])
    assert paths(server, "parts") == ["/parts/0", "/parts/1"]
    number = str(job["number"])
    assert server.place.acai("logs", number).stdout == "node 0 of 2 goes on from 7\n"
    assert server.place.acai("logs", number, "--node", "1").stdout == "node 1 of 2 goes on from 7\n"
    assert server.place.acai("logs", number, "--node", "1", "--attempt", "1").stdout == "node 1 begins\n"
    assert "its nodes are 0 to 1" in server.place.acai("logs", number, "--node", "2").stderr
