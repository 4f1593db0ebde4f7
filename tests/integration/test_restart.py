"""A server that dies while jobs run: started again, it adopts them, and nothing is lost or done twice."""

from __future__ import annotations

import json
import os
import signal
from pathlib import Path

import pytest

from tests.integration.places import Place, Server, until

JOBS = "/v1/projects/default/jobs"
PROGRAM = """
import os, pathlib, time
print("before", flush=True)
while not pathlib.Path({gate!r}).exists():
    time.sleep(0.02)
with open({ran!r}, "a") as ran:
    ran.write("once ")
pathlib.Path("output/made").write_text("made")
print("after")
"""


def waiting_job(place: Place, server: Server) -> tuple[Path, Path]:
    """Submit a job that waits for the first file, and then writes into the second."""
    gate, ran = place.home / "gate", place.home / "ran"
    place.write("program.py", PROGRAM.format(gate=str(gate), ran=str(ran)))
    assert place.acai("submit", "program.py", "--output", "made").returncode == 0
    until(lambda: "before" in server.get(f"{JOBS}/1/log")["text"], "the job beginning")
    return gate, ran


def end_state(server: Server, number: int = 1) -> str | None:
    state = str(server.get(f"{JOBS}/{number}")["state"])
    return state if state in ("finished", "failed", "killed", "crashed") else None


def agent(place: Place) -> int:
    return int(json.loads(next(place.data.glob("attempts/*/process")).read_text())["pid"])


@pytest.mark.parametrize("end", ["kill", "end"])
@pytest.mark.parametrize("ends", ["while it is away", "after it is back"])
def test_a_job_outlives_its_server_and_ends_once(place: Place, end: str, ends: str) -> None:
    first = place.start()
    gate, ran = waiting_job(place, first)
    pid = agent(place)
    getattr(first, end)()
    if ends == "while it is away":
        gate.touch()
        until(lambda: gone(pid), "the agent ending")
    second = place.start()
    if ends == "after it is back":
        until(lambda: second.get(f"{JOBS}/1")["state"] == "running", "the job being known")
        gate.touch()
    assert until(lambda: end_state(second), "the job ending") == "finished"
    assert ran.read_text() == "once "
    job = second.get(f"{JOBS}/1")
    assert (job["output"], len(job["attempts"]), job["attempts"][0]["exit_code"]) == ("made:1", 1, 0)
    assert second.get(f"{JOBS}/1/log")["text"] == "before\nafter\n"
    kinds = [event["kind"] for event in second.get("/v1/projects/default/events?since=0")["events"]]
    assert kinds.count("job_finished") == 1
    assert kinds.count("job_running") == 1
    assert second.ask("GET", "/v1/projects/default/filesets/made:2").code == "file_set_not_found"
    until(lambda: not list(place.data.glob("attempts/*")), "the attempt's folder being removed")


def gone(pid: int) -> bool:
    """Whether a process has ended; one that nobody waits for stays as a zombie where no init reaps it."""
    try:
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] == "Z"
    except OSError:
        return True


def test_a_server_with_pending_jobs_goes_on_before_anybody_asks(place: Place) -> None:
    first = place.start()
    gate, ran = waiting_job(place, first)
    first.kill()
    place.spawn()  # nothing is asked of it
    gate.touch()
    until(lambda: place.sql("SELECT state FROM job") == [("finished",)], "the job finishing")
    assert ran.read_text() == "once "


def test_a_queued_job_is_started_by_the_next_server(place: Place) -> None:
    first = place.start()
    gate, _ = waiting_job(place, first)
    cpus = first.status().json["machine"]["cpus"]
    body = {"command": ["true"], "resources": {"vcpu": min(8, cpus)}}
    assert first.ask("POST", JOBS, body).status == 201
    assert first.get(f"{JOBS}/2")["state"] == "queued"
    first.kill()
    second = place.start()
    gate.touch()
    assert until(lambda: end_state(second, 2), "the second job ending") == "finished"


def test_a_job_whose_agent_was_killed_while_the_server_was_away_says_so_and_is_tried_again(place: Place) -> None:
    first = place.start()
    gate, _ = waiting_job(place, first)
    pid = agent(place)
    first.kill()
    os.killpg(pid, signal.SIGKILL)
    second = place.start()
    gate.touch()
    assert until(lambda: end_state(second), "the job ending") == "finished"
    lost, last = second.get(f"{JOBS}/1")["attempts"]
    crashed = next(step for step in lost["transitions"] if step["state"] == "crashed")
    assert (crashed["reason"], last["exit_code"]) == ("its process is gone, as after a restart of the machine", 0)
    assert second.ask("GET", "/v1/projects/default/filesets/made:2").code == "file_set_not_found"


def test_a_server_that_is_killed_in_the_middle_of_a_put_shows_nothing_half(place: Place) -> None:
    first = place.start()
    for number in range(300):
        place.write(f"many/{number}.txt", os.urandom(20_000))
    with place.shell("put", "many", "/many", "--as", "many") as putting:
        until(lambda: list((place.data / "objects").glob("p*/**/*")) or putting.poll() is not None, "bytes arriving")
        first.kill()
        putting.communicate(timeout=120)
    second = place.start()
    answer = second.ask("GET", "/v1/projects/default/filesets/many")
    if answer.status != 200:  # it was not done before the end
        assert answer.code == "file_set_not_found"
        assert place.sql(
            "SELECT count(*) FROM file_version v JOIN upload_session s ON s.id = v.session_id "
            "WHERE s.commit_number IS NOT NULL"
        ) == [(0,)]
    done = place.acai("put", "many", "/many", "--as", "many")
    assert (done.returncode, "many:1" in done.stdout) == (0, True)
    assert second.get("/v1/projects/default/filesets/many")["file_count"] == 300
