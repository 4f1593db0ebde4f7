"""Real jobs through bad days: servers and agents that are killed, kills, retries, and two servers on one database."""

from __future__ import annotations

import json
import os
import signal
from contextlib import closing
from typing import TYPE_CHECKING, Any

import pytest

from acai_jupyter.client.follow import wait
from tests.integration.places import Place, Server, until
from tests.lives.campaign import campaign

if TYPE_CHECKING:
    from pathlib import Path

    from tests.servers.postgres import Postgres
    from tests.servers.seaweedfs import Seaweedfs

JOBS = "/v1/projects/default/jobs"
SMALL = {"vcpu": 0.5, "memory_bytes": 512 * 1024**2}
ENDS = ("finished", "failed", "killed", "crashed")


def submit(server: Server, code: str, **asked: Any) -> int:
    body = {"command": ["python", "-c", code], "resources": SMALL} | asked
    answer = server.ask("POST", JOBS, body)
    assert answer.status == 201, answer.body
    return int(answer.json["number"])


def job(server: Server, number: int) -> dict[str, Any]:
    found: dict[str, Any] = server.get(f"{JOBS}/{number}")
    return found


def ended(server: Server, number: int) -> dict[str, Any]:
    wait(server.client(), number)
    return job(server, number)


def running(server: Server, number: int) -> None:
    until(lambda: job(server, number)["state"] == "running", "the job running")


def agent(place: Place) -> int:
    return int(json.loads(next(place.data.glob("attempts/job-*/process")).read_text())["pid"])


@pytest.mark.timeout(300)
def test_every_job_comes_to_its_right_end_when_servers_and_agents_are_killed(tmp_path: Path) -> None:
    assert campaign(tmp_path / "home", jobs=10, kills=4, seed="test", say=print) == []


def test_a_job_whose_agent_was_killed_is_tried_again_and_keeps_both_logs(place: Place) -> None:
    server = place.start()
    gate = place.home / "gate"
    code = f"import os, time\nprint('began', flush=True)\nwhile not os.path.exists({str(gate)!r}): time.sleep(0.02)"
    number = submit(server, code)
    running(server, number)
    until(lambda: "began" in server.get(f"{JOBS}/{number}/log")["text"], "the program printing")
    os.kill(agent(place), signal.SIGKILL)
    until(lambda: len(job(server, number)["attempts"]) == 2, "the second attempt")
    gate.touch()
    found = ended(server, number)
    assert (found["state"], len(found["attempts"])) == ("finished", 2)
    assert found["attempts"][0]["transitions"][-1]["state"] == "crashed"
    for attempt in (1, 2):
        assert server.ask("GET", f"{JOBS}/{number}/log.txt?attempt={attempt}").body == b"began\n"
    assert server.ask("GET", f"{JOBS}/{number}/log.txt?attempt=3").code == "job_not_found"


def test_a_running_program_is_killed_with_all_it_started(place: Place) -> None:
    server = place.start()
    child = (
        "import subprocess, sys, time; subprocess.Popen(['sleep', '3600'], start_new_session=True); time.sleep(3600)"
    )
    number = submit(server, child)
    running(server, number)
    assert server.ask("POST", f"{JOBS}/{number}/kill").status == 200
    found = ended(server, number)
    assert found["state"] == "killed"
    assert found["reason"].startswith("killed by ")
    again = server.ask("POST", f"{JOBS}/{number}/kill")
    assert (again.status, again.code) == (409, "conflict")


def test_a_kill_is_carried_out_by_the_next_server(place: Place) -> None:
    first = place.start()
    number = submit(first, "import signal; signal.signal(signal.SIGTERM, signal.SIG_IGN); signal.pause()")
    running(first, number)
    first.ask("POST", f"{JOBS}/{number}/kill")
    first.kill()
    assert ended(place.start(), number)["state"] == "killed"


def test_a_time_limit_ends_a_program_and_says_so(place: Place) -> None:
    found = ended(server := place.start(), submit(server, "import time; time.sleep(3600)", time_limit_seconds=0.5))
    assert found["state"] == "failed"
    assert "limit" in found["reason"]


def test_a_queued_job_says_why_and_a_follower_may_be_there_before_it_starts(place: Place) -> None:
    server = place.start(ACAI_QUOTA="1")
    gate = place.home / "gate"
    first = submit(server, f"import os, time\nwhile not os.path.exists({str(gate)!r}): time.sleep(0.02)")
    running(server, first)
    second = submit(server, "print('second')")
    waiting = job(server, second)["waiting"]
    assert (waiting["place"], f"job {first} is at work" in waiting["sentence"]) == (1, True)
    with place.shell("logs", "-f", str(second)) as following:
        gate.touch()
        text, _ = following.communicate(timeout=120)
    assert text == "second\n"


def test_a_job_can_be_read_back_deleted_answered_and_compared(place: Place) -> None:
    server = place.start()
    number = submit(server, "open('output/a', 'w').write('x')", output="made", parameters={"lr": 1})
    assert ended(server, number)["output"] == "made:1"
    request = server.get(f"{JOBS}/{number}/request")
    assert request["request"]["parameters"] == {"lr": 1}
    assert request["environment"]["python"]
    again = submit(server, "open('output/a', 'w').write('x')", output="made", parameters={"lr": 1}, cached=True)
    assert (job(server, again)["state"], job(server, again)["answered_by"]) == ("finished", number)
    other = submit(server, "open('output/a', 'w').write('x')", output="made", parameters={"lr": 2})
    assert [miss["what"] for miss in server.get(f"{JOBS}/{other}/miss")["differences"]] == ["parameter lr"]
    assert server.get(f"{JOBS}/{number}/displays") == {"displays": []}
    assert server.ask("POST", f"{JOBS}/{number}/remove", {}).json["deleted_at"] is not None
    assert server.ask("POST", f"{JOBS}/{number}/remove", {"undo": True}).json["deleted_at"] is None


def test_an_attached_server_passes_whole_logs_on(place: Place) -> None:
    server = place.start()
    number = submit(server, "import sys; sys.stdout.buffer.write(b'\\xff\\r\\x1b[1m' + b'x' * 1_000_000)")
    ended(server, number)
    attached = place.start()
    for asked in (server, attached):
        answer = asked.ask("GET", f"{JOBS}/{number}/log.txt")
        assert (answer.status, answer.headers["content-type"]) == (200, "text/plain; charset=utf-8")
        assert answer.body == b"\xff\r\x1b[1m" + b"x" * 1_000_000
        assert asked.ask("GET", f"{JOBS}/99/log.txt").code == "job_not_found"
        assert asked.ask("POST", f"{JOBS}/{number}/log.txt").code == "method_not_allowed"
        assert asked.ask("GET", f"{JOBS}/{number}/log.txt", token=None).status == 401


@pytest.mark.timeout(300)
def test_two_servers_on_one_database_start_no_job_twice(
    tmp_path: Path, postgres_server: Postgres, postgres_template: str, s3_server: Seaweedfs
) -> None:
    url = postgres_server.create_database(postgres_template)
    variables = s3_server.environment | {
        "ACAI_DATABASE": url,
        "ACAI_OBJECT_STORE": "s3",
        "ACAI_S3_BUCKET": s3_server.make_bucket(),
        "ACAI_S3_ENDPOINT_URL": s3_server.url,
        "ACAI_QUOTA": "3",
    }
    ran = tmp_path / "ran"
    code = f"import os, time; open({str(ran)!r}, 'a').write(os.environ['ACAI_JOB'] + ' '); time.sleep(0.05)"
    with closing(Place(tmp_path / "one")) as one, closing(Place(tmp_path / "other")) as other:
        servers = [place.start(program="acai", **variables) for place in (one, other)]
        numbers = [submit(servers[number % 2], code) for number in range(50)]
        for number in numbers:
            assert ended(servers[1], number)["state"] == "finished"
        assert sorted(map(int, ran.read_text().split())) == numbers
        assert all(len(job(servers[0], number)["attempts"]) == 1 for number in numbers)
        spans = [_span(job(servers[0], number)) for number in numbers]
    most = max(sum(begin <= moment < end for begin, end in spans) for moment, _ in spans)
    assert most <= 3
    postgres_server.drop_database(url)


def _span(found: dict[str, Any]) -> tuple[str, str]:
    """From launching to the end."""
    steps = found["attempts"][0]["transitions"]
    return steps[0]["at"], steps[-1]["at"]
