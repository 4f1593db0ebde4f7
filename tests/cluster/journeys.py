"""A person who submits to a server whose jobs run on a cluster, and looks at what became of them."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from tests.integration.places import until

if TYPE_CHECKING:
    from tests.integration.places import Place, Server

KINDS = "jobs,pods,secrets,configmaps,services"
"""All that is ever made in a cluster."""
OURS = "app.kubernetes.io/managed-by=acai-jupyter"
LONG = "import time; print('began', flush=True); time.sleep(600)"
MAKES = "open('output/made', 'w').write(open('given/number').read()); print('made', flush=True)"


def said(place: Place, *words: str, status: int = 0) -> str:
    done = place.acai(*words)
    assert done.returncode == status, (done.stdout, done.stderr)
    return done.stdout


def submitted(place: Place, program: str, *words: str) -> int:
    place.write("program.py", program)
    options = ("--cpu", "0.5", "--memory", "512Mi", *words)
    return int(said(place, "submit", "--detach", *options, "program.py").split()[1])


def job(server: Server, number: int) -> Any:
    return server.get(f"/v1/projects/default/jobs/{number}")


def began(server: Server, number: int) -> None:
    until(lambda: "began" in said(server.place, "logs", str(number)), f"job {number} printing")


def ended(server: Server, number: int, *states: str) -> Any:
    """Wait for a job's end; returns it when its attempts ended so."""
    said(server.place, "wait", str(number), status=0 if states[-1] == "finished" else 1)
    found = job(server, number)
    ends = [one["transitions"][-1]["state"] for one in found["attempts"]]
    assert ends == list(states), found
    return found


def reason(found: Any, attempt: int = 0) -> str:
    return str(found["attempts"][attempt]["transitions"][-1]["reason"])


def versions(place: Place, path: str) -> int:
    return len(said(place, "versions", path).splitlines())
