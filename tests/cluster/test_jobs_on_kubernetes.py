"""A server whose jobs run on a cluster, as a person uses it: the same lines as on a laptop."""

from __future__ import annotations

import os
import sys
from contextlib import closing
from typing import TYPE_CHECKING, Any

import pytest

from tests.cluster.journeys import LONG, OURS, job, said
from tests.integration.places import Place, Server, until
from tests.wheels import requirements, wheel

if TYPE_CHECKING:
    from collections.abc import Iterator

    from tests.servers.cluster import Cluster
    from tests.servers.seaweedfs import Seaweedfs

pytestmark = pytest.mark.timeout(240)
TRAIN = """
import pathlib, sys, acai_jupyter
numbers = [int(path.read_text()) for path in pathlib.Path("digits").glob("*.txt")]
acai_jupyter.tag("sum", sum(numbers))
pathlib.Path("output").mkdir(exist_ok=True)
pathlib.Path("output/sum.txt").write_text(str(sum(numbers)))
print("summed", len(numbers), flush=True)
"""
IMAGE_PYTHON = os.environ.get("KUBE_IMAGE", "").rpartition(":")[2].partition("-")[0]


@pytest.fixture(scope="module")
def variables(shared_namespace: Cluster, s3_for_pods: Seaweedfs) -> dict[str, str]:
    return {
        "ACAI_RUNNER": "kubernetes",
        "ACAI_KUBERNETES_NAMESPACE": shared_namespace.namespace,
        "ACAI_KUBERNETES_IMAGE": shared_namespace.image,
        "ACAI_OBJECT_STORE": "s3",
        "ACAI_S3_BUCKET": s3_for_pods.make_bucket(),
        "ACAI_S3_ENDPOINT_URL": s3_for_pods.url,
        **s3_for_pods.environment,
    }


@pytest.fixture(scope="module")
def server(variables: dict[str, str], tmp_path_factory: pytest.TempPathFactory) -> Iterator[Server]:
    with closing(Place(tmp_path_factory.mktemp("home"))) as place:
        server = place.start(program="acai", **variables)
        for number in range(3):
            place.write(f"digits/{number}.txt", str(number))
        place.write("train.py", TRAIN)
        place.write("long.py", LONG)
        yield server


def submitted(place: Place, *words: str) -> int:
    return int(said(place, "submit", "--detach", *words).split()[1])


def running(server: Server, number: int) -> Any:
    return until(lambda: (found := job(server, number))["state"] == "running" and found, f"job {number} running")


def pods(cluster: Cluster, number: int) -> list[str]:
    """The pods of a job, by the name of its attempts."""
    every = cluster.names("pods", OURS)
    return [pod for pod in every if f"-job-1-{number}-" in pod]


def test_a_script_runs_on_the_cluster_and_its_outputs_are_recorded(server: Server) -> None:
    place = server.place
    said(place, "put", "digits", "/digits", "--as", "digits")
    number = submitted(place, "train.py", "--input", "digits", "--output", "model", "--cpu", "0.5", "--memory", "512Mi")
    said(place, "wait", str(number))
    found = job(server, number)
    assert (found["state"], found["output"], found["attributes"]["sum"]) == ("finished", "model:1", 3)
    assert said(place, "cat", "/model/sum.txt") == "3"
    assert said(place, "logs", str(number)).endswith("summed 3\n")
    assert found["attempts"][-1]["machine"]
    assert "jobs run on the cluster" in said(place, "status")
    assert "its jobs and pods are watched" in said(place, "doctor")


def test_a_log_is_followed_while_the_program_runs_and_a_job_is_killed(server: Server) -> None:
    place = server.place
    number = submitted(place, "long.py")
    with place.shell("logs", "-f", str(number)) as following:
        assert following.stdout is not None
        assert following.stdout.readline() == "began\n"
        said(place, "kill", str(number))
        said(place, "wait", str(number), status=1)
    assert job(server, number)["state"] == "killed"
    assert said(place, "logs", str(number)) == "began\n"


def test_a_program_that_fails_has_failed_and_is_not_tried_again(server: Server) -> None:
    number = submitted(server.place, "--", "python3 -c 'raise SystemExit(3)'")
    said(server.place, "wait", str(number), status=1)
    found = job(server, number)
    assert (found["state"], found["reason"], len(found["attempts"])) == ("failed", "exit 3", 1)


def test_a_pod_that_is_deleted_is_made_again_under_the_same_number(server: Server, shared_namespace: Cluster) -> None:
    program = "import os, sys, time; print('began', flush=True); time.sleep(600 if not sys.argv[1:] else 0)"
    server.place.write("again.py", program)
    number = submitted(server.place, "again.py")
    running(server, number)
    (pod,) = pods(shared_namespace, number)
    shared_namespace.ask("delete", pod, "--wait=false")
    until(lambda: len(job(server, number)["attempts"]) == 2, "a second attempt")
    first = job(server, number)["attempts"][0]["transitions"][-1]
    assert (first["state"], first["reason"]) == ("crashed", "its pod was deleted by somebody")
    running(server, number)
    said(server.place, "kill", str(number))
    said(server.place, "wait", str(number), status=1)


def test_an_image_that_has_no_name_is_the_fault_of_the_job(server: Server) -> None:
    number = submitted(server.place, "--image", "No/Such Image", "train.py")
    said(server.place, "wait", str(number), status=1)
    found = job(server, number)
    assert (found["state"], len(found["attempts"])) == ("failed", 1)
    assert "image" in found["reason"]


PARTS = """
import os, pathlib, sys, time
from acai_jupyter import checkpoint_path, output_path
rank, step = os.environ["RANK"], pathlib.Path(checkpoint_path("step"))
if step.exists():
    print("node", rank, "goes on from", step.read_text())
    pathlib.Path(output_path(rank)).write_text(rank)
    sys.exit()
step.write_text("7")
print("began", flush=True)
time.sleep(600)
"""


def test_a_job_on_several_nodes_goes_on_from_its_checkpoint_when_a_pod_is_lost(
    server: Server, shared_namespace: Cluster
) -> None:
    place = server.place
    place.write("parts.py", PARTS)
    words = ("--nodes", "2", "--cpu", "0.5", "--memory", "512Mi", "--output", "parts")
    number = submitted(place, "parts.py", *words)
    until(lambda: all(said(place, "logs", str(number), "--node", node) for node in "01"), "both print")
    shared_namespace.ask("delete", pods(shared_namespace, number)[1], "--wait=false")
    said(place, "wait", str(number))
    found = job(server, number)
    assert (found["state"], len(found["attempts"])) == ("finished", 2)
    end = found["attempts"][0]["transitions"][-1]
    assert end["state"] == "crashed"
    # which node it was is told where its agent did not hear of the other's end before it ended itself
    assert end["reason"] in ("node 1: its pod was deleted by somebody", "its pod was deleted by somebody")
    assert said(place, "logs", str(number), "--node", "1") == "node 1 goes on from 7\n"
    assert sorted(said(place, "cat", f"/parts/{rank}") for rank in "01") == ["0", "1"]


def test_a_job_has_the_packages_of_its_requirements_where_the_image_has_none(server: Server) -> None:
    place = server.place
    folder = place.write("wheels/none", "").parent
    wheel(folder, "greeter", "1.2", "NAME = 'greeter 1.2'")
    place.write("requirements.txt", requirements(folder, "greeter"))
    place.write("greet.py", "import greeter, sys; print(greeter.NAME, sys.prefix != sys.base_prefix)")
    number = submitted(place, "greet.py", "--env", "requirements.txt", "--cpu", "0.5", "--memory", "512Mi")
    here = "{}.{}".format(*sys.version_info[:2])
    if here == IMAGE_PYTHON:
        said(place, "wait", str(number))
        assert said(place, "logs", str(number)) == "greeter 1.2 True\n"
        assert job(server, number)["attempts"][0]["environment"]["packages"] == {"greeter": "1.2"}
    else:
        said(place, "wait", str(number), status=1)
        assert f"it is for Python {here}, and the image has Python {IMAGE_PYTHON}" in job(server, number)["reason"]


def test_a_job_goes_on_while_its_server_is_away(server: Server, variables: dict[str, str]) -> None:
    place = server.place
    place.write("soon.py", "import time; print('began', flush=True); time.sleep(3); print('ended')")
    number = submitted(place, "soon.py")
    running(server, number)
    server.kill()
    again = place.start(program="acai", **variables)
    said(place, "wait", str(number))
    assert (job(again, number)["state"], len(job(again, number)["attempts"])) == ("finished", 1)
    assert said(place, "logs", str(number)) == "began\nended\n"
    again.end()
