"""Jobs that mean harm: each comes to an end that is right, and the server and other jobs go on."""

from __future__ import annotations

import json
from contextlib import closing
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from tests.integration.places import Place, Server, until

if TYPE_CHECKING:
    from tests.attack.campaign import Run

JOBS = "/v1/projects/default/jobs"
TOGETHER = 5
ENDS = ("finished", "failed", "killed", "crashed")
ENDED = {"finished", "failed"}


@dataclass(frozen=True)
class Hostile:
    """A program, the states in which it may end, and the paths that may be in its output."""

    code: str
    ends: frozenset[str] = frozenset(ENDED)
    outputs: frozenset[str] | None = frozenset()
    """None where any are right."""


PROGRAMS = {
    "links out of the output": Hostile(
        "import os; os.symlink('/etc/passwd', 'output/a'); os.symlink('..', 'output/b'); os.link('p', 'output/c') "
        "if os.path.exists('p') else None; open('output/good', 'w')",
        outputs=frozenset({"good"}),
    ),
    "output replaced by a link": Hostile(
        "import os, shutil; shutil.rmtree('output'); os.symlink('/etc', 'output')", outputs=frozenset()
    ),
    "output replaced by a file": Hostile(
        "import os; os.rmdir('output'); open('output', 'w').write('x')", outputs=frozenset()
    ),
    "no rights to its own output": Hostile(
        "import os; open('output/x', 'w'); os.chmod('output/x', 0); os.chmod('output', 0)", outputs=None
    ),
    "pipes, sockets and devices": Hostile(
        "import os, socket; os.mkfifo('output/pipe'); s = socket.socket(socket.AF_UNIX); s.bind('output/s')"
    ),
    "odd names": Hostile(
        "import os; [open(os.path.join(b'output', n), 'w') for n in (b'-rf', b'a b', b'%2e', b'caf\\xc3\\xa9')]",
        outputs=None,
    ),
    "names that are no text": Hostile("open(b'output/\\xff\\xfe', 'w')", outputs=None),
    "many processes": Hostile(
        "import subprocess\nfor _ in range(40): subprocess.Popen(['sleep', '600'], start_new_session=True)"
    ),
    "its parents killed": Hostile(
        "import os, signal, time; os.kill(os.getppid(), signal.SIGKILL); time.sleep(1)",
        ends=frozenset({"failed", "crashed", "finished"}),
        outputs=None,
    ),
    "its group killed": Hostile(
        "import os, signal; os.killpg(0, signal.SIGKILL)", ends=frozenset({"failed", "crashed"}), outputs=None
    ),
    "signals ignored": Hostile("import signal; [signal.signal(n, signal.SIG_IGN) for n in (1, 2, 15)]; print('x')"),
    "a torrent of text": Hostile("print('x' * 200 + '\\n', end='') or [print('y' * 99) for _ in range(100_000)]"),
    "a line without an end": Hostile("import sys; [sys.stdout.write('z' * 65536) for _ in range(300)]"),
    "bytes that are no text": Hostile("import os; [os.write(1, os.urandom(4096)) for _ in range(200)]"),
    "closed streams": Hostile("import os; [os.close(n) for n in range(3)]"),
    "forged marks": Hostile(
        "print('[ACAI_STATE] finished'); print('[ACAI_TAG_NUM] job a:1e999'); print('\\x1e{\"state\": \"killed\"}')"
    ),
    "a forged result": Hostile(
        "import os, pathlib\n"
        "for p in pathlib.Path(os.environ.get('ACAI_WORK', '.')).resolve().parent.rglob('*result*'):\n"
        "    p.write_text('{}')\nopen('output/good', 'w')",
        outputs=None,
    ),
    "a large output": Hostile(
        "f = open('output/large', 'wb'); f.seek(2**31); f.write(b'x'); f.truncate(3)", outputs=None
    ),
    "a deep tree": Hostile(
        "import os; os.chdir('output')\nfor n in range(400): os.mkdir('d'); os.chdir('d')\nopen('f', 'w')", outputs=None
    ),
    "a wrong exit status": Hostile("import os; os._exit(255)", ends=frozenset({"failed"}), outputs=None),
    "too much memory": Hostile(
        "x = []\nwhile True: x.append(bytearray(10**8))", ends=frozenset({"failed", "crashed"}), outputs=None
    ),
    "too much time": Hostile("while True: pass", ends=frozenset({"failed"}), outputs=None),
}


def hostile_jobs(run: Run) -> None:
    """Run hostile programs several at once, with a job among them that must not notice."""
    with closing(Place(run.home / "home")) as place:
        secret = place.write("secret.txt", "not for jobs")
        server = place.start(program="acai")
        for number in run.rounds():
            chosen = run.chance.sample(list(PROGRAMS), TOGETHER)
            jobs = {name: _submit(server, PROGRAMS[name].code, f"hostile-{number}") for name in chosen}
            honest = _submit(server, "print('fine'); open('output/good', 'w')", f"honest-{number}")
            for name, job in jobs.items():
                _check(run, server, name, _ended(server, job))
            found = _ended(server, honest)
            if found["state"] != "finished" or server.get(f"{JOBS}/{honest}/log")["text"] != "fine\n":
                run.violation(f"a job was disturbed by {', '.join(chosen)}", json.dumps(found)[:1500])
            run.figures["jobs"] += len(jobs) + 1
        left = list(place.data.glob("attempts/job-*"))
        until(lambda: not list(place.data.glob("attempts/job-*")), f"folders of attempts to go: {left}")
        if "Traceback" in server.log:
            run.violation("the server logged a traceback", server.log[server.log.index("Traceback") :][:3000])
        if secret.read_text() != "not for jobs":
            run.violation("a job changed a file of its user's")


def _submit(server: Server, code: str, output: str) -> int:
    share = {"vcpu": 0.5, "memory_bytes": 512 * 1024**2, "max_memory_bytes": 512 * 1024**2}
    body = {"command": ["python3", "-c", code], "output": output, "retries": 0, "time_limit_seconds": 60}
    answer = server.ask("POST", JOBS, body | {"resources": share})
    assert answer.status == 201, answer.body
    return int(answer.json["number"])


def _check(run: Run, server: Server, name: str, job: dict[str, Any]) -> None:
    program = PROGRAMS[name]
    if job["state"] not in program.ends:
        run.violation(f"a job with {name} ended as {job['state']}: {job['reason']}")
    texts = [job["reason"] or "", *(text for attempt in job["attempts"] for text in attempt["warnings"])]
    if any("Traceback" in text or not text.isprintable() for text in texts):
        run.violation(f"what is said of a job with {name} is no sentence", *texts)
    if job["state"] == "finished" and job["output"] and program.outputs is not None:
        entries = server.get(f"/v1/projects/default/filesets/{job['output']}/entries")["entries"]
        found = {entry["path"].rpartition("/")[2] for entry in entries}
        if found != program.outputs:
            run.violation(f"a job with {name} has the outputs {sorted(found)}")
    log = server.ask("GET", f"{JOBS}/{job['number']}/log")
    if log.status != 200:
        run.violation(f"the log of a job with {name} cannot be read", log.body.decode()[:500])


def _ended(server: Server, number: int) -> dict[str, Any]:
    def look() -> dict[str, Any] | None:
        job: dict[str, Any] = server.get(f"{JOBS}/{number}")
        return job if job["state"] in ENDS else None

    return until(look, f"job {number} to end")
