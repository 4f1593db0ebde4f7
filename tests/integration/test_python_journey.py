"""What people write in Python without any magic, as they write it."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pandas as pd

import acai_jupyter as acai

if TYPE_CHECKING:
    from pathlib import Path

    import pytest

    from tests.integration.places import Server

TRAIN = """
import pathlib, sys, acai_jupyter
print(sys.argv[1:], pathlib.Path("img/a.png").exists())
acai_jupyter.tag("accuracy", 0.97)
pathlib.Path("output/m").write_text("m")
"""


def test_data_jobs_and_results_without_any_magic(
    server: Server, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    for name, value in server.place.environment.items():
        monkeypatch.setenv(name, value)
    monkeypatch.chdir(server.place.work)
    server.place.write("data/img/a.png", "a")
    server.place.write("data/data/train.csv", "x\n1\n2\n")
    server.place.write("extra.txt", "e")
    server.place.write("train.py", TRAIN)
    for text in ("1", "2", "3"):
        server.place.write("data/changes.txt", text)
        acai.put("data", dest="/", as_="train")
    acai.put("extra.txt", dest="/extra.txt")
    extra = "/extra.txt"

    train = acai.fileset("train:latest")
    assert len(train) == 3
    assert len(train["/img/*.png"]) == 1
    assert not train.diff("train:3")
    assert len(train | extra) == 4

    job = acai.submit("train.py", input=train, output="model", cpu=2, memory="2Gi", args=["--epochs", 3])
    lines = [line for line in job.follow() if "ACAI_TAG" not in line]
    assert lines == ["['--epochs', '3'] True"]
    job.wait()
    assert job.attributes["accuracy"] == 0.97
    assert job.output is not None
    job.output.get(f"{tmp_path}/out/")
    assert (tmp_path / "out" / "model" / "m").read_text() == "m"
    assert acai.job(job.number).logs().startswith("['--epochs', '3'] True\n")

    table = acai.find("jobs", "accuracy > 0.9 order by accuracy desc")
    assert isinstance(table, pd.DataFrame)
    assert job.number in [int(one) for one in table["job"]]
    frame = pd.read_csv("acai:///data/train.csv@train:3")
    assert list(frame.x) == [1, 2]
